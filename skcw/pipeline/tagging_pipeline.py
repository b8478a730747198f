"""A pipeline of features and a tagger that is a tagger itself."""

import os
from collections.abc import Iterable
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcw._model.blocks import BlockExamples
from skcw._util.checks import refuse_table
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw.confidence.predictions import Predictions
from skcw.data import SequenceBatch
from skcw.data.saved import saved_texts
from skcw.data.vocabulary import Vocabulary
from skcw.features import JoinedFeatures, WindowFeatures
from skcw.features.joined_features import is_joined, join_features
from skcw.io import Tokenizer, iter_columns
from skcw.io.text_answers import columns_besides_words, predictions_of_text
from skcw.io.tokenizer import saved_tokenizer
from skcw.tagging import BaseSequenceTagger, CWSequenceTagger
from skcw.tagging.base import only_sequence
from skcw.tagging.explanation import with_tokens
from skcw.tagging.out_of_core import check_streamable, spilled

# How many words of a file are read at a time.
PART_WORDS = 50_000


class StreamedFeatures:
    """Window features that learn from one part of a corpus after the other.

    Parameters
    ----------
    steps : list of (str, estimator)
        The steps of a pipeline.
    source : str, path-like, list of these, callable or iterable
        Column files, or pairs of sentences and labels.
    """

    def __init__(self, steps, source):
        self.features = steps[0][1]
        if len(steps) != 2 or type(self.features) is not WindowFeatures:
            kinds = ", ".join(type(step).__name__ for _, step in steps)
            raise TypeError(
                "a stream needs a pipeline of WindowFeatures and a tagger; the steps "
                f"are {kinds}"
            )
        self.features._validate_params()
        if self.features.n_features is not None and self.features.min_count > 1:
            raise ValueError(
                "min_count needs the names of features; hashing by n_features has none"
            )
        if steps[1][1].min_count > 1:
            raise ValueError("set min_count on the features, not on the tagger")
        self.source = source
        self.extractor = self.first = None

    def parts(self):
        """Return an iterator of sentences and labels."""
        source = self.source
        if isinstance(source, (str, os.PathLike)):
            source = [source]
        if isinstance(source, (list, tuple)) and all(
            isinstance(name, (str, os.PathLike)) for name in source
        ):
            return self._of_files(source)
        return source() if callable(source) else source

    def _of_files(self, names):
        for name in names:
            for block in iter_columns(name, block_tokens=PART_WORDS):
                yield block.split_label()

    def learn(self, X, vocabulary):
        """Return the features of some sentences; new ones follow those known."""
        X = X if hasattr(X, "__len__") else list(X)
        if self.extractor is None:
            self.first = X
            _, self.extractor = self.features._prepared(X)
        return self.extractor.learn(X, vocabulary)

    def keep(self, corpus):
        """Fit the features to what was found in the whole corpus."""
        self.features.columns_ = self.extractor.columns
        self.features.templates_ = self.extractor.templates
        self.features._keep_names(corpus)


def _tagger_has(name):
    """Return a check whether the tagger of a pipeline has a method."""
    return lambda self: hasattr(self.tagger, name)


def _of_tagger(name, summary):
    """Return a method that encodes sequences and calls that of the tagger."""

    def method(self, X, *args, **options):
        return getattr(self.tagger, name)(self.encode(X), *args, **options)

    method.__name__ = name
    method.__doc__ = f"""{summary}

        It is there if the tagger has it, and takes the same options.

        Parameters
        ----------
        X : sequences
            The sequences, as for ``fit``.
        *args, **options : object
            Those of ``{name}`` of the tagger.

        Returns
        -------
        found : object
            The answer of the tagger.
        """
    return available_if(_tagger_has(name))(reads_at_once(method))


class TaggingPipeline(BaseSequenceTagger, Pipeline):
    """Features and a tagger in one estimator, with all methods of a tagger.

    A plain :class:`sklearn.pipeline.Pipeline` has ``predict`` and ``score`` only. This
    one is a tagger, whose tokens are words or tuples of columns. ``predict_all``
    extracts features once for all predictions.

    Parameters
    ----------
    steps : list of (str, estimator)
        Transformers, the last of which makes a ``SequenceBatch``, and a tagger:
        ``[("features", WindowFeatures()), ("tagger", CWSequenceTagger())]``.
    tokenizer : Tokenizer, default=None
        Splits plain text for ``predict_text``; by default it splits tokens as in the
        sentences given to ``fit``.
    transform_input : list of str, default=None
        As in :class:`sklearn.pipeline.Pipeline`.
    memory : str or object with the joblib.Memory interface, default=None
        Where to keep fitted transformers.
    verbose : bool, default=False
        Whether to print the time of each step.

    Attributes
    ----------
    tokenizer_ : Tokenizer
        Splits plain text into sentences and tokens; saved with the model.

    See Also
    --------
    make_tagging_pipeline : Makes one with fewer words.
    load : Opens a saved one.

    Examples
    --------
    >>> from skcw import CWSequenceTagger, TaggingPipeline
    >>> from skcw.features import WindowFeatures
    >>> X = [["Ann", "met", "Bob", "Smith"], ["Bob", "left"]]
    >>> y = [["B-PER", "O", "B-PER", "I-PER"], ["B-PER", "O"]]
    >>> pipeline = TaggingPipeline(
    ...     [("features", WindowFeatures(["word[-1..1]"])),
    ...      ("tagger", CWSequenceTagger(random_state=0))]
    ... ).fit(X, y)
    >>> pipeline.predict_single(["Ann", "left"])
    ['B-PER', 'O']
    >>> pipeline.predict_entities([["Bob", "Smith"]])[0][0].label
    'PER'
    """

    def __init__(
        self,
        steps: list[Any],
        *,
        tokenizer: Any = None,
        transform_input: list[str] | None = None,
        memory: Any = None,
        verbose: bool = False,
    ) -> None:
        options = {"transform_input": transform_input, "memory": memory}
        Pipeline.__init__(self, steps, verbose=verbose, **options)
        self.tokenizer = tokenizer

    @property
    def tagger(self):
        """The last step."""
        return self.steps[-1][1]

    @changes_at_once
    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        sample_weight: ArrayLike | None = None,
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Any] | None = None,
        **params: Any,
    ) -> Self:
        """Learn features and weights from labeled sequences.

        Parameters
        ----------
        X : sequences
            What the first step reads: lists of words or of tuples, or
            ``TokenColumns``.
        y : sequences of str
            The labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            Weights for the tagger.
        X_dev : sequences, default=None
            Sequences by which the tagger judges each pass, in the form of X.
        y_dev : sequences of str, default=None
            Their labels.
        **params : object
            Parameters of the steps in the manner of scikit-learn's pipelines, such as
            ``tagger__sample_weight``.

        Returns
        -------
        self : TaggingPipeline
            The fitted pipeline.
        """
        refuse_table(X, "X")
        given = {"sample_weight": sample_weight, "X_dev": X_dev, "y_dev": y_dev}
        for key in given:
            named = f"{self.steps[-1][0]}__{key}"
            if named in params and given[key] is not None:
                raise ValueError(f"give either {key} or {named}, not both")
            given[key] = params.pop(named, given[key])
        if (given["X_dev"] is None) != (given["y_dev"] is None):
            raise ValueError("give both X_dev and y_dev by name, or neither")
        X = X if hasattr(X, "__len__") else list(X)
        if given["X_dev"] is not None:
            self._fit_with_dev(X, y, params, **given)
            return self._with_tokenizer(X)
        weight = given["sample_weight"]
        if weight is not None:
            routed = get_config()["enable_metadata_routing"]
            prefix = "" if routed else f"{self.steps[-1][0]}__"
            params[f"{prefix}sample_weight"] = weight
        super().fit(X, y, **params)
        return self._with_tokenizer(X)

    def _with_tokenizer(self, X):
        """Note how the words of training sentences are cut, for plain text."""
        given = self.tokenizer
        self.tokenizer_ = Tokenizer.from_corpus(X) if given is None else given
        return self

    def _fit_with_dev(self, X, y, params, sample_weight, X_dev, y_dev):
        """Fit the steps one by one: a plain pipeline would not encode X_dev."""
        own = f"{self.steps[-1][0]}__"
        of_tagger = {
            k.removeprefix(own): params.pop(k) for k in [*params] if k.startswith(own)
        }
        if sample_weight is not None:
            of_tagger["sample_weight"] = sample_weight
        # A last step that does nothing lets the others use the memory.
        encoder = Pipeline(
            [*self.steps[:-1], ("end", "passthrough")],
            memory=self.memory,
            verbose=self.verbose,
        )
        batch = encoder.fit_transform(X, y, **params)
        self.steps = [*encoder.steps[:-1], self.steps[-1]]
        dev = {"X_dev": encoder.transform(X_dev), "y_dev": y_dev}
        self.tagger.fit(batch, y, **dev, **of_tagger)
        return self

    @available_if(_tagger_has("partial_fit"))
    @changes_at_once
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Continue with one pass over more sequences; new features may appear.

        Parameters
        ----------
        X : sequences
            The sequences, as for ``fit``.
        y : sequences of str
            The labels.
        classes : sequence of str, default=None
            Labels to know in advance, in this order.
        sample_weight : array-like of shape (n_sequences,), default=None
            Weights for the tagger.

        Returns
        -------
        self : TaggingPipeline
            The fitted pipeline.
        """
        sentences = X = X if hasattr(X, "__len__") else list(X)
        for _, step in self.steps[:-1]:
            X = step.partial_fit(X, y).transform(X)
        self.tagger.partial_fit(X, y, classes=classes, sample_weight=sample_weight)
        return self if hasattr(self, "tokenizer_") else self._with_tokenizer(sentences)

    @available_if(_tagger_has("prune"))
    @changes_at_once
    def prune(self, share=0.25, *, drop_features=True):
        """Set the weights nearest to zero back to the prior, for a smaller model.

        Parameters
        ----------
        share : float, default=0.25
            The share of the weights that training has moved to be set back.
        drop_features : bool, default=True
            Whether to forget the names of features without any weight.

        Returns
        -------
        self : TaggingPipeline
            The pipeline. It can be trained further, forgotten features included.
        """
        before = self.tagger.vocabulary_
        names = self.tagger.prune(share, drop_features=drop_features).vocabulary_
        for _, step in self.steps[:-1]:
            # A step that numbers features does it as the tagger does.
            known = getattr(step, "vocabulary_", None)
            if names is not before and isinstance(known, Vocabulary):
                step.vocabulary_, step.n_features_out_ = names, len(names)
        return self

    @available_if(_tagger_has("fit_stream"))
    @changes_at_once
    def fit_stream(
        self,
        source,
        *,
        memory="1G",
        max_features=None,
        folder=None,
        X_dev=None,
        y_dev=None,
        n_shards=1,
        checkpoint=None,
    ):
        """Learn from column files or a stream that do not fit into memory.

        As :meth:`skcw.CWSequenceTagger.fit_stream`, for words instead of features. The
        first step must be :class:`skcw.features.WindowFeatures`. With its
        ``n_features`` set, features are hashed, and no names take memory. How plain
        text is cut into words is learned from the first part of the source.

        Parameters
        ----------
        source : str, path-like, list of these, callable or iterable
            Column files whose last column holds the labels, also compressed by gzip; or
            a function that returns an iterator of pairs (X, y), or such an iterator:
            some sequences, as for ``fit``, and their labels.
        memory : int or str, default="1G"
            About how much memory to use, besides that of Python and its libraries:
            bytes, or a size such as ``"500M"``.
        max_features : int, default=None
            The most features to keep; by default as many as half of the memory has
            room for. If there are more, the rarest are forgotten.
        folder : str or path-like, default=None
            Where to put the temporary files; by default where the system has them.
        X_dev : sequences, default=None
            As for ``fit``.
        y_dev : sequences of str, default=None
            As for ``fit``.
        n_shards : int, default=1
            Learn this many shards side by side.
        checkpoint : skcw.Checkpoint, default=None
            Where to save the training now and then, to continue it after a crash.

        Returns
        -------
        self : TaggingPipeline
            The fitted pipeline.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("give both X_dev and y_dev, or neither")
        streamed = StreamedFeatures(self.steps, source)
        self.tagger._validate_params()
        check_streamable(self.tagger, X_dev)
        limits = memory, max_features, streamed.features.min_count, folder
        learn = streamed.learn
        with spilled(streamed.parts, self.tagger, learn, *limits) as corpus:
            streamed.keep(corpus)
            dev = None if X_dev is None else (streamed.features.transform(X_dev), y_dev)
            options = {"dev": dev, "n_shards": n_shards, "checkpoint": checkpoint}
            data = BlockExamples(corpus)
            self.tagger._learn(data, [], corpus.labels, True, **options)
        return self._with_tokenizer(streamed.first)

    @reads_at_once
    def encode(self, X: Iterable[Any]) -> Any:
        """Return sequences in compiled form, to be used several times.

        Parameters
        ----------
        X : sequences
            The sequences; features not known are left out.

        Returns
        -------
        batch : SequenceBatch
            Their features, which every method takes in place of X, the tagger's too.
        """
        check_is_fitted(self)
        return X if isinstance(X, SequenceBatch) else self[:-1].transform(X)

    @reads_at_once
    def predict_all(self, X: Iterable[Any]) -> Predictions:
        """Return all predictions for X: labels, confidence, entities and so on.

        Features are extracted and scored once.

        Parameters
        ----------
        X : sequences
            The sequences, as for ``fit``.

        Returns
        -------
        answers : Predictions
            The predictions of the tagger.
        """
        answers = self.tagger.predict_all(self.encode(X))
        # The tagger has seen features alone.
        return Predictions(answers.layer, X)

    def predict_text(self, text: str | Iterable[str], *, progress: bool = False) -> Any:
        """Return all predictions for a plain text, or for each of several.

        Parameters
        ----------
        text : str or iterable of str
            The text, or many: a list, a column of a data frame, a generator. Sentences
            and words are found by ``tokenizer_``.
        progress : bool, default=False
            Whether to show a bar that counts texts.

        Returns
        -------
        answers : TextPredictions, or list or iterator of TextPredictions
            With ``entities()``, which know where they stand in the text. One for each
            text where there are many; these are asked about in batches, one by one as
            they are read if `text` has no length, such as a generator.
        """
        check_is_fitted(self)
        reading = self.text_reading()
        return predictions_of_text(self.predict_all, text, **reading, progress=progress)

    def text_reading(self) -> dict[Any, Any]:
        """Return how plain text is read, as arguments by name.

        Returns
        -------
        reading : dict
            The tokenizer, and the columns besides words that the features look at.
        """
        extractor = getattr(self.steps[0][1], "extractor_", None)
        tokenizer = getattr(self, "tokenizer_", self.tokenizer)
        return {"tokenizer": tokenizer, "missing": columns_besides_words(extractor)}

    @property
    def default_method_(self):
        """The method of ``predict_confidence`` that is used if none is named."""
        return self.tagger.default_method_

    @property
    def confidence_methods_(self):
        """The methods of ``predict_confidence`` that the tagger supports, by name."""
        return self.tagger.confidence_methods_

    train_overlap = _of_tagger(
        "train_overlap",
        "Return the share of the tokens that the tagger has learned from.",
    )
    accept = _of_tagger("accept", "Return which tokens a selective tagger accepts.")
    predict_sets = _of_tagger(
        "predict_sets", "Return sets of labels or entities that contain the truth."
    )

    @available_if(_tagger_has("explain"))
    @reads_at_once
    def explain(self, sequence, token=None, *, against=None):
        """Explain the label of every token of one sequence.

        Parameters
        ----------
        sequence : sequence of tokens
            One sequence, or ``TokenColumns`` of one.
        token : int, default=None
            Explain this token alone, counted from 0.
        against : str, default=None
            Compare the label of `token` with this one, or with the best label of this
            type: ``explain(sequence, token=3, against="LOC")`` tells why not LOC.

        Returns
        -------
        explanations : Explanations
            A list, shown as a table, with a ``TokenExplanation`` per token: the label,
            its rival, the margin between them and each feature's contribution to it,
            with standard deviations.
        """
        batch = self.encode(only_sequence(sequence))
        explained = self.tagger.explain(batch, token=token, against=against)
        return with_tokens(explained, sequence, token)

    @available_if(_tagger_has("fit_confidence"))
    @changes_at_once
    def fit_confidence(self, X, y, method=None, **options):
        """Choose the parameters of a confidence method of the tagger.

        Parameters
        ----------
        X : sequences
            Labeled sequences that the pipeline has not learned from; or, with ``cv``,
            those it has learned from.
        y : sequences of str
            Their labels.
        method : str, default=None
            The method of ``predict_confidence`` to tune.
        **options : object
            Those of the tagger's ``fit_confidence``: ``metric``, ``cv``, ``n_values``,
            ``n_draws`` and ``random_state``.

        Returns
        -------
        self : TaggingPipeline
            The pipeline; features and weights stay as they are.
        """
        self.tagger.fit_confidence(self.encode(X), y, method, **options)
        return self

    def _plain_params(self):
        return {"steps": []}

    def _saved_state(self):
        check_is_fitted(self)
        kinds = [type(step) for _, step in self.steps]
        if len(kinds) != 2 or kinds[0] not in (WindowFeatures, JoinedFeatures):
            raise ValueError(
                "only WindowFeatures or JoinedFeatures followed by a tagger can be "
                "saved without pickle; the steps are "
                f"{', '.join(kind.__name__ for kind in kinds)}"
            )
        (name, features), (tagger_name, tagger) = self.steps
        _check_common_names(features, tagger)
        state, names = features.to_saved()
        header, arrays = tagger.to_saved()
        state = {"steps": [name, tagger_name], "features": state, "tagger": header}
        if hasattr(self, "tokenizer_"):
            state["tokenizer"] = self.tokenizer_.settings()
        # The tagger may know fewer names; the others have no weight yet.
        return state, names | arrays

    def _restore(self, state, arrays):
        name, tagger_name = saved_texts(state["steps"], "steps")
        kind = JoinedFeatures if "parts" in state["features"] else WindowFeatures
        features = kind.from_saved(state["features"], arrays)
        features._validate_params()
        tagger = BaseSequenceTagger.from_saved(state["tagger"], arrays)
        if getattr(tagger, "vocabulary_", None) is not None:
            # One object instead of two equal ones: comparing them costs nothing.
            features.vocabulary_ = tagger.vocabulary_
        # No other parameter is taken from a file.
        self.__init__([(name, features), (tagger_name, tagger)])
        self.tokenizer_ = saved_tokenizer(state)


def _check_common_names(features, tagger):
    """Raise unless the tagger has learned from what the features make now."""
    names, known = features.vocabulary_, tagger.vocabulary_
    if known is None or names is None:
        # Hashed features have no names.
        same = names is known
    else:
        same = len(names) >= len(known) and names.agrees_with(known)
    if not same:
        raise ValueError(
            "the tagger was not fitted on what these features make; fit the pipeline"
        )


def make_tagging_pipeline(
    features: Any = "ner", tagger: Any = None, **options: Any
) -> Any:
    """Return a pipeline of window features and a tagger.

    Parameters
    ----------
    features : str, list, callable or transformer, default="ner"
        A ready set or lines of :class:`skcw.features.WindowFeatures`; a function of
        tokens and a position; word vectors; a list of such parts, as
        :class:`skcw.features.JoinedFeatures` takes them: ``["ner", my_function]``; or a
        transformer of your own.
    tagger : BaseSequenceTagger, default=None
        The tagger; ``CWSequenceTagger()`` if None.
    **options : dict
        Further parameters of :class:`skcw.features.WindowFeatures`, such as
        ``lexicons`` or ``min_count``.

    Returns
    -------
    pipeline : TaggingPipeline
        With the steps ``features`` and ``tagger``.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skcw import make_tagging_pipeline
    >>> from skcw.datasets import make_tagged_corpus
    >>> X, y = make_tagged_corpus(100, random_state=0, return_X_y=True)
    >>> grid = {"features__min_count": [1, 2], "tagger__phi": [0.5, 1.0]}
    >>> search = GridSearchCV(make_tagging_pipeline("ner"), grid, cv=2).fit(X, y)
    >>> sorted(search.best_params_)
    ['features__min_count', 'tagger__phi']
    """
    if not hasattr(features, "transform"):
        features = _features_of(features, options)
    elif options:
        raise TypeError(
            f"set {', '.join(options)} on the transformer {features!r} itself"
        )
    tagger = CWSequenceTagger() if tagger is None else tagger
    return TaggingPipeline([("features", features), ("tagger", tagger)])


def _features_of(features, options):
    """Return the transformer that features stand for."""
    if not is_joined(features):
        return WindowFeatures(features, **options)
    parts = list(features) if isinstance(features, (list, tuple)) else [features]
    # Lines and ready sets that stand side by side are one part.
    lines = [part for part in parts if isinstance(part, (str, tuple))]
    others = [part for part in parts if not isinstance(part, (str, tuple))]
    if lines:
        return join_features(WindowFeatures(lines, **options), *others)
    if options:
        raise TypeError(f"{', '.join(options)}: options of lines, but there are none")
    return join_features(*others)
