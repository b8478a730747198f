"""Plain text: a format of corpora, and predictions in positions of its characters."""

from typing import NamedTuple

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


class TextPredictions:
    """What a model predicts for a plain text, which is tokenized and scored once.

    ``pipeline.predict_text(text)`` and ``model.predict_text(text)`` return one.

    Parameters
    ----------
    text : str
        The text.
    sentences : list of list of TextToken
        Its tokens.
    predictions : Predictions
        Those of the model for the sentences.

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
    """

    def __init__(self, text, sentences, predictions):
        self.text = text
        self.sentences = sentences
        self.predictions = predictions

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
        rows = self.predictions.entities(**options)
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
        sure = self.predictions.confidence(**options)
        rows = zip(self.sentences, self.predictions.labels(), sure, strict=True)
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
    templates = getattr(extractor, "templates", ())
    atoms = [atom for template in templates for atom in template.atoms]
    read = {view.column for view, _ in atoms if view.column is not None}
    return [extractor.columns[column] for column in sorted(read)]


def check_words_alone(columns):
    """Raise if a model looks at further columns, which a plain text does not have."""
    if len(columns) > 1:
        raise ValueError(
            f"the model looks at the columns {', '.join(columns)}, but a plain text "
            "has words alone; train a model on words: X.select(['word']), or --columns "
            "word"
        )


def predictions_of_text(predict_all, text, tokenizer, columns=None):
    """Return what a model predicts for a text.

    Parameters
    ----------
    predict_all : callable
        Returns `Predictions` for a list of lists of words.
    text : str
        The text.
    tokenizer : Tokenizer or None
        Splits the text; None is the default one.
    columns : list of str, default=None
        The columns that the model looks at, of which a text has the first.

    Returns
    -------
    found : TextPredictions
        The predictions, with their positions.
    """
    check_words_alone(columns or ())
    sentences = (tokenizer or Tokenizer()).split(text)
    words = [[token.word for token in sentence] for sentence in sentences]
    return TextPredictions(text, sentences, predict_all(words))


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
        check_words_alone(names[:n_needed])
        return X

    def echoed(self, row, sentence, added):
        """Return a line for each token: text, start, end and the added columns."""
        columns = (map(str, values) for values in zip(*row, strict=True))
        lines = map("\t".join, zip(*columns, *as_text(added).values(), strict=True))
        return ("\n".join(lines) + "\n\n").encode(self.opened.encoding)


def read_text(source, encoding):
    """Return the text of a file, with its line ends as they are."""
    return b"".join(utf8_lines(source, encoding)).decode("utf-8")
