"""Plain text: a format of corpora, and predictions in positions of its characters."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from skcw._util.checks import refuse_table
from skcw._util.marked_text import SHOWN, sentences_html
from skcw.data.schemes import are_spans
from skcw.data.text_lines import utf8_lines
from skcw.io.corpora import RecordFile, as_text
from skcw.io.json_records import Sentence
from skcw.io.tokenizer import Tokenizer


class TextEntity(NamedTuple):
    """An entity of a text, which reads ``text[start:end]`` there.

    Parameters
    ----------
    label : str
        Its label, without prefix.
    start : int
        The position of its first character.
    end : int
        One past the position of its last character.
    confidence : float
        How confident the tagger is of it.
    text : str
        The text of the entity.

    Examples
    --------
    >>> from skcw.io.text_answers import TextEntity
    >>> TextEntity("PER", 5, 8, 0.9, "Ann").label
    'PER'
    """

    label: str
    start: int
    end: int
    confidence: float
    text: str


# How many words are asked about at a time where there are many texts.
BATCH_WORDS = 20_000


class SharedPredictions:
    """Predictions for the sentences of several texts, each computed once for all.

    Parameters
    ----------
    predict_all : callable
        Returns `Predictions` for a list of lists of words.
    sentences : list of list of TextToken
        The sentences of all texts.
    """

    def __init__(self, predict_all, sentences):
        self.predict_all = predict_all
        self.predictions = self.of(sentences)
        self._kept = {}

    def of(self, sentences):
        """Return the predictions for some sentences by themselves."""
        return self.predict_all([[token.word for token in row] for row in sentences])

    def rows(self, name, options, first, n):
        """Return what the predictions say about n sentences from the first on."""
        key = name, repr(sorted(options.items()))
        if key not in self._kept:
            self._kept[key] = getattr(self.predictions, name)(**options)
        return self._kept[key][first : first + n]


class TextPredictions:
    """What a model predicts for a plain text, which is tokenized and scored once.

    ``pipeline.predict_text(text)`` and ``model.predict_text(text)`` return one.

    Parameters
    ----------
    text : str
        The text.
    sentences : list of list of TextToken
        Its tokens.
    shared : SharedPredictions
        Those of the model for the sentences of this text and of others.
    first : int, default=0
        The number of its first sentence among them.

    Attributes
    ----------
    text : str
        The text.
    sentences : list of list of TextToken
        Its tokens with their positions.
    predictions : Predictions
        All of the predictions, in positions of tokens.

    Examples
    --------
    >>> from skcw import make_tagging_pipeline
    >>> X = [["Ann", "left", "."], ["Bob", "left", "."]]
    >>> y = [["B-P", "O", "O"], ["B-P", "O", "O"]]
    >>> pipeline = make_tagging_pipeline(["word", "initial"]).fit(X, y)
    >>> found = pipeline.predict_text("Bob left. Ann left.")
    >>> [(e.label, e.start, e.end, e.text) for e in found.entities()]
    [('P', 0, 3, 'Bob'), ('P', 10, 13, 'Ann')]
    >>> texts = ["Ann left.", "", "Bob left?"]
    >>> [[e.text for e in found.entities()] for found in pipeline.predict_text(texts)]
    [['Ann'], [], ['Bob']]
    """

    def __init__(self, text, sentences, shared, first=0):
        self.text = text
        self.sentences = sentences
        self._shared = shared
        self._first = first

    @cached_property
    def predictions(self):
        """All of the predictions, in positions of tokens."""
        whole = self._shared.predictions
        alone = len(whole) == len(self.sentences)
        return whole if alone else self._shared.of(self.sentences)

    def _rows(self, name, options):
        return self._shared.rows(name, options, self._first, len(self.sentences))

    def entities(self, **options):
        """Return the entities of the text, from its beginning to its end.

        Parameters
        ----------
        **options : object
            Those of ``Predictions.entities``, such as ``entity_confidence``.

        Returns
        -------
        entities : list of TextEntity
            Their labels, places and confidences.
        """
        return [entity for entity, _, _ in self._placed(options)]

    def _placed(self, options):
        """Yield the entities with the positions of their tokens in the whole text."""
        before = 0
        rows = self._rows("entities", options)
        for tokens, row in zip(self.sentences, rows, strict=True):
            for label, first, last, confidence in row:
                start, end = tokens[first].start, tokens[last - 1].end
                text = self.text[start:end]
                found = TextEntity(label, start, end, confidence, text)
                yield found, before + first, before + last
            before += len(tokens)

    def tokens(self, **options):
        """Return the tokens of the text with their labels and confidences.

        Parameters
        ----------
        **options : object
            Those of ``Predictions.confidence``, such as ``method``.

        Returns
        -------
        tokens : list of list of (TextToken, str, float)
            One list for each sentence.
        """
        sure, found = self._rows("confidence", options), self._rows("labels", {})
        rows = zip(self.sentences, found, sure, strict=True)
        return [
            list(zip(tokens, labels, by_token.tolist(), strict=True))
            for tokens, labels, by_token in rows
        ]

    def to_dict(self, entity_confidence=None, **options):
        """Return text, tokens and entities as values that JSON can hold.

        Parameters
        ----------
        entity_confidence : str, default=None
            That of ``Predictions.entities``.
        **options : object
            Those of ``Predictions.confidence``, for tokens and entities.

        Returns
        -------
        found : dict
            ``text``, ``tokens`` and ``spans``, with the names that Prodigy and spaCy
            use: ``start`` and ``end`` in characters, ``token_start`` and ``token_end``
            (inclusive) in tokens.
        """
        tokens = []
        for s, row in enumerate(self.tokens(**options)):
            for (_, start, end), label, confidence in row:
                tokens.append(
                    {
                        "id": len(tokens),
                        "text": self.text[start:end],
                        "start": start,
                        "end": end,
                        "sentence": s,
                        "label": label,
                        "confidence": confidence,
                    }
                )
        options = {"entity_confidence": entity_confidence, **options}
        spans = [
            {
                "label": label,
                "start": start,
                "end": end,
                "token_start": first,
                "token_end": last - 1,
                "text": text,
                "confidence": confidence,
            }
            for (label, start, end, confidence, text), first, last in self._placed(
                options
            )
        ]
        return {"text": self.text, "tokens": tokens, "spans": spans}

    def _repr_html_(self):
        shown = self.sentences[:SHOWN]
        is_whole = len(shown) == len(self.sentences)
        text = self.text if is_whole else self.text[: shown[-1][-1].end]
        places = [[(token.start, token.end) for token in row] for row in shown]
        answers = self.predictions
        return sentences_html(text, places, answers, are_spans(answers.classes))

    def __repr__(self):
        n_words = sum(map(len, self.sentences))
        return f"TextPredictions({len(self.sentences)} sentences, {n_words} words)"


def columns_read(extractor):
    """Return the names of the columns that features read, in their order.

    Parameters
    ----------
    extractor : FeatureExtractor, JoinedExtractor or None
        Fitted features; None if they are not of skcw.

    Returns
    -------
    names : list of str
        The names.
    """
    # What a function reads of a token, nobody knows.
    if any(
        hasattr(part, "function") for part in getattr(extractor, "parts", {}).values()
    ):
        return list(extractor.columns)
    templates = getattr(extractor, "templates", ())
    atoms = [atom for template in templates for atom in template.atoms]
    read = {view.column for view, _ in atoms if view.column is not None}
    return [extractor.columns[column] for column in sorted(read)]


def columns_besides_words(extractor):
    """Return the names of the columns that features read and a plain text lacks."""
    return [name for name in columns_read(extractor) if name != extractor.columns[0]]


def check_words_alone(missing):
    """Raise if a model reads columns besides words, which plain text lacks."""
    if missing:
        raise ValueError(
            f"the model looks at the columns {', '.join(missing)}, but a plain text "
            "has words alone; train a model on words: "
            "TokenColumns.from_sequences(X).select(['word']), or --columns word"
        )


def predictions_of_text(predict_all, text, tokenizer, missing=(), progress=False):
    """Return what a model predicts for a text, or for each of several.

    Parameters
    ----------
    predict_all : callable
        Returns `Predictions` for a list of lists of words.
    text : str or iterable of str
        The text, or the texts.
    tokenizer : Tokenizer or None
        Splits the text; None is the default one.
    missing : list of str, default=()
        The columns besides words that the model looks at.
    progress : bool, default=False
        Whether to show a bar that counts texts.

    Returns
    -------
    found : TextPredictions, list or iterator of them
        The predictions, with their positions; an iterator if the texts have no length.
    """
    check_words_alone(missing)
    split = (tokenizer or Tokenizer()).split
    if isinstance(text, str):
        sentences = split(text)
        return TextPredictions(
            text, sentences, SharedPredictions(predict_all, sentences)
        )
    refuse_table(text, "text")
    if not isinstance(text, Iterable) or isinstance(text, (bytes, Mapping)):
        raise TypeError(f"text is a {type(text).__name__}; give a string or many")
    found = _in_batches(predict_all, _watched(text, progress), split)
    return list(found) if hasattr(text, "__len__") else found


def _watched(texts, progress):
    """Return texts whose number a bar shows, if it is to be shown."""
    if not progress:
        return texts
    from tqdm import tqdm

    return tqdm(texts, unit=" texts")


def _in_batches(predict_all, texts, split):
    """Yield the predictions for texts, many of which are asked about at once."""
    batch, n_words = [], 0
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"text {number} is {text!r}; a text is a string")
        batch.append((text, split(text)))
        n_words += sum(map(len, batch[-1][1]))
        if n_words >= BATCH_WORDS:
            yield from _batch_predictions(predict_all, batch)
            batch, n_words = [], 0
    yield from _batch_predictions(predict_all, batch)


def _batch_predictions(predict_all, batch):
    shared = SharedPredictions(predict_all, [row for _, rows in batch for row in rows])
    first = 0
    for text, sentences in batch:
        yield TextPredictions(text, sentences, shared, first)
        first += len(sentences)


class TextFile(RecordFile):
    """Plain text, which is held in memory as a whole.

    Parameters
    ----------
    opened : Opened
        The file after a first look.
    """

    def records(self, label, with_labels):
        """Yield the line, the positions and the sentence of each; without labels."""
        text = read_text(self.opened.source, self.opened.encoding)
        line, before = 1, 0
        for row in (self.opened.tokenizer or Tokenizer()).split(text):
            start, end = row[0].start, row[-1].end
            line += text.count("\n", before, start)
            before = start
            columns = {"word": [token.word for token in row]}
            places = [(token.start - start, token.end - start) for token in row]
            yield line, row, Sentence(columns, None, text[start:end], places)

    def select(self, X, names, n_needed):
        """Return the words, whatever a model calls them."""
        check_words_alone(names[1:n_needed])
        return X

    def echoed(self, row, sentence, added):
        """Return a line for each token: text, start, end and the added columns."""
        columns = (map(str, values) for values in zip(*row, strict=True))
        lines = map("\t".join, zip(*columns, *as_text(added).values(), strict=True))
        return ("\n".join(lines) + "\n\n").encode(self.opened.encoding)


def read_text(source, encoding):
    """Return the text of a file, with its line ends as they are."""
    return b"".join(utf8_lines(source, encoding)).decode("utf-8")
