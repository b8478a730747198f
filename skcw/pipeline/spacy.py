"""A component for spaCy pipelines: entities with confidences, by a model of skcw.

Needs spaCy: ``pip install skcw[spacy]``. Where skcw is installed, spaCy finds the
component by itself; ``import skcw.pipeline.spacy`` registers it, too::

    nlp = spacy.blank("es")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("skcw", config={"model": "names.skcw"})
"""

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Self
from weakref import finalize

from skcw.confidence.inference_model import InferenceModel
from skcw.io.loading import load
from skcw.io.text_answers import columns_read

__all__ = ["EntityComponent"]

FACTORY = "skcw"
FILE = "model.skcw"
# Attributes of spaCy's tokens that stand for columns of a model.
COLUMNS = {"word": "text", "pos": "tag_", "lemma": "lemma_"}
# How much each score counts where spaCy sums them up: as those of its own ``ner``.
SCORES = {"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None}
DEFAULTS = {"model": None, "columns": COLUMNS, "overwrite_ents": False, "method": None}


class EntityComponent:
    """Component that sets ``doc.ents`` by a model of skcw, with confidences.

    ``span._.confidence`` of an entity, and ``token._.confidence`` of every token, are
    what the model says. Sentences are those that a component before this one has
    found, such as ``sentencizer``; without any, the whole text is one. Words should be
    cut as in the corpus of the model.

    Parameters
    ----------
    model : str, path-like or fitted estimator, default=None
        A file that ``skcw train`` or ``save`` wrote, or a model that can be asked.
    columns : dict of str to str, default=None
        The attributes of tokens that are the columns of the model; by default ``word``
        is ``text``, ``pos`` is ``tag_`` and ``lemma`` is ``lemma_``.
    overwrite_ents : bool, default=False
        Whether entities that are there already give way. Otherwise those of the model
        fill the gaps.
    method : str, default=None
        The method of confidence; None is the default of the model.

    Examples
    --------
    >>> import spacy
    >>> from skcw import make_tagging_pipeline
    >>> from skcw.pipeline.spacy import EntityComponent
    >>> X, y = [["Ann", "left"], ["Bob", "left"]], [["B-PER", "O"], ["B-PER", "O"]]
    >>> model = make_tagging_pipeline(["word"]).fit(X, y)
    >>> doc = EntityComponent(model)(spacy.blank("en")("Bob left"))
    >>> [(entity.text, entity.label_) for entity in doc.ents]
    [('Bob', 'PER')]
    >>> 0 < doc.ents[0]._.confidence <= 1
    True
    """

    def __init__(
        self,
        model: Any = None,
        columns: dict[str, str] | None = None,
        overwrite_ents: bool = False,
        method: str | None = None,
    ) -> None:
        _add_extensions()
        self.columns = {**COLUMNS, **(columns or {})}
        self.overwrite_ents = overwrite_ents
        self.method = method
        self._path, self._model = None, model
        if isinstance(model, (str, PathLike)):
            self._open(model)

    def _open(self, path):
        self._path, self._model = Path(path), opened(path)

    # spaCy has plans of its own for an attribute called model.
    def _asked(self):
        """Return the model; raise if there is none."""
        if self._model is None:
            raise ValueError(
                "the component skcw has no model; give it one: "
                'nlp.add_pipe("skcw", config={"model": "names.skcw"})'
            )
        return self._model

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Any]],
        *,
        nlp: Any = None,
        model: str | None = None,
    ) -> None:
        """Open the model that ``[initialize.components.skcw]`` of a config names.

        ``nlp.initialize`` calls this. Nothing is learned from the examples.

        Parameters
        ----------
        get_examples : callable
            Ignored.
        nlp : spacy.language.Language, default=None
            Ignored.
        model : str, default=None
            The file; None keeps the model that is there.
        """
        if model is not None:
            self._open(model)
        self._asked()

    def score(self, examples: Iterable[Any], **options: Any) -> dict[str, Any]:
        """Score entities as spaCy's own component ``ner`` does.

        ``nlp.evaluate`` calls this.

        Parameters
        ----------
        examples : iterable of spacy.training.Example
            The documents with their true entities.
        **options : object
            As ``spacy.scorer.get_ner_prf`` takes them.

        Returns
        -------
        scores : dict
            ``ents_p``, ``ents_r``, ``ents_f`` and ``ents_per_type``; None without any
            true entities.
        """
        from spacy.scorer import get_ner_prf
        from spacy.training import validate_examples

        examples = list(examples)
        validate_examples(examples, "EntityComponent.score")
        return get_ner_prf(examples, **options)

    def __call__(self, doc):
        """Find the entities of a document.

        Parameters
        ----------
        doc : spacy.tokens.Doc
            The document.

        Returns
        -------
        doc : spacy.tokens.Doc
            The same, with entities.
        """
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Any], batch_size: int = 128) -> Iterator[Any]:
        """Find the entities of documents, many at a time.

        Parameters
        ----------
        stream : iterable of spacy.tokens.Doc
            The documents.
        batch_size : int, default=128
            How many are asked about at once.

        Yields
        ------
        doc : spacy.tokens.Doc
            The same, with entities.
        """
        from spacy.util import minibatch

        for docs in minibatch(stream, size=batch_size):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs):
        """Ask about the sentences of all documents at once."""
        sentences = [_sentences(doc) for doc in docs]
        flat = [tokens for rows in sentences for tokens in rows]
        names = self._columns_read()
        answers = self._asked().predict_all(
            [[self._row(t, names) for t in s] for s in flat]
        )
        by_word = iter(answers.confidence(self.method))
        by_entity = iter(answers.entities(method=self.method))
        for doc, rows in zip(docs, sentences, strict=True):
            found = []
            for tokens in rows:
                for token, sure in zip(tokens, next(by_word).tolist(), strict=True):
                    token._.confidence = sure
                found += _spans(doc, tokens, next(by_entity))
            self._set(doc, found)

    def _columns_read(self):
        """Return the columns that the model looks at."""
        features = _features_of(self._asked())
        names = columns_read(features)
        # Columns count from the first, so none may be left out before another.
        if names:
            names = features.columns[: features.columns.index(names[-1]) + 1]
        missing = [name for name in names[1:] if name not in self.columns]
        if missing:
            raise ValueError(
                f"the model looks at the column {missing[0]!r}; say which attribute of "
                f'a token it is: config={{"columns": {{"{missing[0]}": "tag_"}}}}'
            )
        return names

    def _row(self, token, names):
        """Return a token as the model reads it."""
        word = getattr(token, self.columns["word"])
        if len(names) < 2:
            return word
        row = (word, *(getattr(token, self.columns[name]) for name in names[1:]))
        if not all(row):
            name = names[row.index("")]
            raise ValueError(
                f"the model looks at the column {name!r}, but "
                f"token.{self.columns[name]} of {token.text!r} is empty: put a "
                "component that sets it before skcw"
            )
        return row

    def _set(self, doc, spans):
        """Set the entities; of those that overlap, one side gives way."""
        mine, theirs = spans, list(doc.ents)
        first, second = (mine, theirs) if self.overwrite_ents else (theirs, mine)
        taken = {i for span in first for i in range(span.start, span.end)}
        second = [s for s in second if taken.isdisjoint(range(s.start, s.end))]
        doc.ents = sorted([*first, *second], key=lambda span: span.start)

    def to_disk(
        self, path: str | PathLike[str], *, exclude: Iterable[Any] = ()
    ) -> None:
        """Write the model into a folder, when the spaCy pipeline is saved.

        Parameters
        ----------
        path : path-like
            The folder.
        exclude : iterable of str, default=()
            Ignored.
        """
        Path(path).mkdir(parents=True, exist_ok=True)
        target = Path(path) / FILE
        if self._path is None:
            self._asked().save(target)
        else:
            copyfile(self._path, target)

    def from_disk(
        self, path: str | PathLike[str], *, exclude: Iterable[Any] = ()
    ) -> Self:
        """Open the model that `to_disk` wrote.

        Parameters
        ----------
        path : path-like
            The folder.
        exclude : iterable of str, default=()
            Ignored.

        Returns
        -------
        self : EntityComponent
            The component.
        """
        self._open(Path(path) / FILE)
        return self

    def to_bytes(self, *, exclude: Iterable[Any] = ()) -> Any:
        """Return the file of the model.

        Parameters
        ----------
        exclude : iterable of str, default=()
            Ignored.

        Returns
        -------
        data : bytes
            What `from_bytes` reads.
        """
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            return (Path(folder) / FILE).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[Any] = ()) -> Self:
        """Open the model that `to_bytes` returned.

        Parameters
        ----------
        data : bytes
            The file.
        exclude : iterable of str, default=()
            Ignored.

        Returns
        -------
        self : EntityComponent
            The component.
        """
        # The arrays are mapped: the file stays as long as the component.
        folder = mkdtemp()
        finalize(self, rmtree, folder, ignore_errors=True)
        (Path(folder) / FILE).write_bytes(data)
        return self.from_disk(folder)


def opened(path):
    """Return the model in a file, without scikit-learn where that is possible."""
    served = InferenceModel.for_words(path)
    if served is not None:
        return served
    model = load(path)
    if _pipeline_of(model) is None:
        raise ValueError(
            f"{path} holds a {type(model).__name__} without features: it cannot read "
            "words; save a pipeline of features and a tagger"
        )
    return model


def _pipeline_of(model):
    """Return the pipeline that a model is or is built around, or None."""
    from skcw.tagging.base import layers

    return next((layer for layer in layers(model) if hasattr(layer, "steps")), None)


def _features_of(model):
    """Return what makes features from words; None if it is not known what they read."""
    if isinstance(model, InferenceModel):
        return model.features
    pipeline = _pipeline_of(model)
    first = None if pipeline is None else pipeline.steps[0][1]
    return getattr(first, "extractor_", None)


def _sentences(doc):
    """Return the tokens of each sentence without those that are blank."""
    sentences = doc.sents if doc.has_annotation("SENT_START") else [doc]
    rows = [[token for token in tokens if not token.is_space] for tokens in sentences]
    return [tokens for tokens in rows if tokens]


def _spans(doc, tokens, entities):
    """Return the entities of a sentence as spans of the document."""
    from spacy.tokens import Span

    spans = []
    for label, first, last, confidence in entities:
        span = Span(doc, tokens[first].i, tokens[last - 1].i + 1, label=label)
        span._.confidence = confidence
        spans.append(span)
    return spans


def _add_extensions():
    """Give tokens and spans the attribute ``_.confidence``."""
    try:
        from spacy.tokens import Span, Token
    except ImportError as error:
        raise ImportError(
            "skcw.pipeline.spacy needs spaCy: pip install 'skcw[spacy]'"
        ) from error
    for kind in (Span, Token):
        if not kind.has_extension("confidence"):
            kind.set_extension("confidence", default=None)


def make_component(nlp, name, model, columns, overwrite_ents, method):
    """Return the component; spaCy calls this."""
    # A saved pipeline names its components in meta.json; it has a copy of each model,
    # whose place spaCy tells later, and the file in its config may be gone.
    saved = nlp.meta.setdefault(FACTORY, [])
    if name not in saved:
        saved.append(name)
    elif model is not None and not Path(model).exists():
        model = None
    return EntityComponent(model, columns, overwrite_ents, method)


def _register():
    """Tell spaCy of the component, if there is a spaCy."""
    try:
        from spacy.language import Language
    except ImportError:
        return
    Language.factory(
        FACTORY,
        func=make_component,
        default_config=DEFAULTS,
        assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
        default_score_weights=SCORES,
    )


_register()
