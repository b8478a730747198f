"""``skcw.InferenceModel``: a saved model that predicts with NumPy alone."""

import os
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from os import PathLike
from threading import Lock
from typing import Any, NamedTuple, Self

from skcw._model.decoding import Decoder
from skcw._model.gaussian import Belief
from skcw._util.limits import LARGEST_SETTING, LEAST_SETTING
from skcw._util.text_table import Table
from skcw.confidence.acceptance import checked_selection
from skcw.confidence.predictions import ModelLayer, Predictions
from skcw.confidence.settings import saved_confidence
from skcw.data.batch import SequenceBatch
from skcw.data.encoder import check_batch, encode_any, without_needless
from skcw.data.saved import saved_flag, saved_kind, saved_number, saved_texts
from skcw.data.schemes import saved_forbidden
from skcw.data.vocabulary import Vocabulary
from skcw.exceptions import ModelFileError
from skcw.features.joining import opened_extractor
from skcw.io.model_files import naming, read_model
from skcw.io.text_answers import (
    columns_besides_words,
    columns_read,
    predictions_of_text,
)
from skcw.io.tokenizer import Tokenizer, saved_tokenizer

# The models that this process has opened once and for all, by their files.
_opened = {}
_opening = Lock()
# What of a model's confidence is written into its file besides the fitted values.
CONFIDENCE = ("margin", "temperature", "default", "seed", "is_rule")


def serving_state(
    confidence,
    *,
    has_constraints=False,
    border_rows=None,
    log_probability=False,
    reads_words=False,
):
    """Return the settings that inference needs besides arrays, as plain values.

    Taggers write them into their files, so that a model predicts without their classes.

    Parameters
    ----------
    confidence : ModelConfidence
        Its confidence methods.
    has_constraints : bool, default=False
        Whether the file holds an array of forbidden steps.
    border_rows : tuple of int or None, default=None
        The rows of weights for the first and for the last token of a sequence.
    log_probability : bool, default=False
        Whether scores are logarithms of probabilities up to a constant.
    reads_words : bool, default=False
        Whether features without weights are left out, and new words represented by
        their spelling where the encoder keeps them: features of a pipeline do not.

    Returns
    -------
    serving : dict
        Values that JSON can hold.
    """
    return {
        "confidence": {name: getattr(confidence, name) for name in CONFIDENCE},
        "own_unit": confidence.belief.own_unit,
        "has_constraints": has_constraints,
        "border_rows": None if border_rows is None else list(border_rows),
        "log_probability": log_probability,
        "reads_words": reads_words,
    }


class Layers(NamedTuple):
    """The state of the tagger in a file, and what stands around it there."""

    state: dict
    features: dict | None
    tokenizer: Tokenizer | None
    selection: dict | None


def saved_layers(header):
    """Return the parts of a saved model, from the outside in.

    Parameters
    ----------
    header : dict
        The header of its file.

    Returns
    -------
    layers : Layers
        The parts, not checked yet.
    """
    features = tokenizer = selection = None
    while True:
        state = saved_kind(header["state"], "state", dict)
        if header["class"] == "TaggingPipeline":
            features, tokenizer = state["features"], saved_tokenizer(state)
        elif header["class"] == "SelectiveTagger":
            selection = state["selection"]
        else:
            return Layers(state, features, tokenizer, selection)
        header = saved_kind(state["tagger"], "tagger", dict)


def can_serve(header, *, words=False):
    """Tell whether a model can answer without its estimator.

    Parameters
    ----------
    header : dict
        The header of its file.
    words : bool, default=False
        Whether it must also make features from words.

    Returns
    -------
    can : bool
        Whether :class:`InferenceModel` can open it.
    """
    try:
        layers = saved_layers(header)
    except (LookupError, TypeError, ValueError):
        # `skcw.load` says what is missing.
        return False
    serving = layers.state.get("serving")
    if not isinstance(serving, dict) or (words and layers.features is None):
        return False
    return layers.features is not None or not serving.get("reads_words")


@dataclass(eq=False, repr=False, match_args=False)
class InferenceModel:
    """A saved tagger or pipeline that can predict but not learn.

    It imports neither scikit-learn nor SciPy, so it opens in a fraction of the time of
    the estimator in the same file, which ``skcw.load`` returns. The predictions are the
    same. Only ``skcw.load`` opens calibrated taggers, ``MaxEntSequenceTagger``, and an
    ``HMMSequenceTagger`` that was saved without features.

    Parameters
    ----------
    decoder : Decoder
        The weights.
    confidence : ModelConfidence
        Its confidence methods.
    classes : list of str
        The labels.
    features : FeatureExtractor, default=None
        Makes features from columns of words; None if sequences have features already.
    vocabulary : Vocabulary, default=None
        The names of the features; None for numeric columns and for hashed features.
    log_probability : bool, default=False
        Whether scores are logarithms of probabilities up to a constant.
    reads_words : bool, default=False
        Whether features without weights are left out.
    selection : dict, default=None
        The thresholds of a selective tagger, with their bounds.
    tokenizer : Tokenizer, default=None
        Splits plain text into tokens; None is the default one.
    reading : dict, default=None
        How the command line read the corpus.

    See Also
    --------
    skcw.load : Opens the estimator, which can continue to learn.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from skcw import InferenceModel, make_tagging_pipeline
    >>> X, y = [["Ann", "left"], ["Bob", "left"]], [["B-PER", "O"], ["B-PER", "O"]]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "names.skcw"
    ...     make_tagging_pipeline(["word"]).fit(X, y).save(path)
    ...     answers = InferenceModel.open(path).predict_all([["Ann", "left", "Bob"]])
    ...     answers.labels()[0]
    ['B-PER', 'O', 'B-PER']
    """

    decoder: Any
    confidence: Any
    classes: list[str]
    _: KW_ONLY
    features: Any = None
    vocabulary: Any = None
    log_probability: bool = False
    reads_words: bool = False
    selection: dict[Any, Any] | None = None
    tokenizer: Any = None
    reading: dict[Any, Any] | None = None

    @classmethod
    def open(cls, path: str | PathLike[str], *, mapped: bool = False) -> Self:
        """Return the model in a file.

        Parameters
        ----------
        path : str or path-like
            A file that ``save`` of a tagger or of a pipeline wrote.
        mapped : bool, default=False
            Whether to map the arrays into memory, as in ``skcw.load``.

        Returns
        -------
        model : InferenceModel
            The model.
        """
        header, arrays = read_model(path, mapped=mapped)
        with naming(path):
            return cls.from_saved(header, arrays)

    @classmethod
    def for_words(cls, path: str | PathLike[str], *, mapped: bool = False) -> Any:
        """Return the model in a file if it can make features from words, else None.

        Parameters
        ----------
        path : str or path-like
            A file that ``save`` of a tagger or of a pipeline wrote.
        mapped : bool, default=False
            Whether to map the arrays into memory, as in ``skcw.load``.

        Returns
        -------
        model : InferenceModel or None
            None of a model that ``skcw.load`` alone can open, and of one without
            features.
        """
        header, arrays = read_model(path, mapped=mapped)
        if not can_serve(header, words=True):
            return None
        with naming(path):
            return cls.from_saved(header, arrays)

    @classmethod
    def open_once(cls, path: str | PathLike[str]) -> Self:
        """Return the model in a file, mapped; a process opens it only the first time.

        For functions that an engine such as Dask, Ray or Spark sends to its workers
        and calls for each part of a corpus. A file that was written again is opened
        again.

        Parameters
        ----------
        path : str or path-like
            A file that ``save`` of a tagger or of a pipeline wrote.

        Returns
        -------
        model : InferenceModel
            The model, the same object each time.
        """
        found = os.stat(path)
        state = found.st_ino, found.st_mtime_ns, found.st_size
        with _opening:
            known = _opened.get(os.fspath(path))
            if known is None or known[0] != state:
                known = state, cls.open(path, mapped=True)
                _opened[os.fspath(path)] = known
        return known[1]

    @classmethod
    def from_saved(cls, header: dict[Any, Any], arrays: dict[Any, Any]) -> Self:
        """Return the model that the header and the arrays of a file describe.

        Parameters
        ----------
        header : dict
            Its header.
        arrays : dict of str to ndarray
            Its arrays.

        Returns
        -------
        model : InferenceModel
            The model.
        """
        if not can_serve(header):
            state = header["state"]
            serves = isinstance(state.get("serving"), dict) and "features" not in state
            without = " without features" if serves else ""
            raise ModelFileError(
                f"it holds a {header['class']}{without}, which skcw.InferenceModel "
                "cannot serve; open it with skcw.load, which needs scikit-learn"
            )
        state, features, tokenizer, selection = saved_layers(header)
        serving = state["serving"]
        classes = saved_texts(state["classes"], "classes")
        belief = _saved_belief(classes, arrays, serving)
        forbidden = None
        if saved_flag(serving["has_constraints"], "has_constraints"):
            forbidden = saved_forbidden(arrays, len(classes))
        vocabulary = Vocabulary.from_arrays(arrays)
        if vocabulary is not None:
            vocabulary.check(len(belief.row_of))
        if features is not None:
            features = opened_extractor(features, arrays, len(belief.row_of))
        return cls(
            Decoder(belief, forbidden, borders=_borders(belief, serving)),
            saved_confidence(belief, state["confidence"], serving["confidence"]),
            classes,
            features=features,
            vocabulary=vocabulary,
            log_probability=saved_flag(serving["log_probability"], "log_probability"),
            reads_words=saved_flag(serving["reads_words"], "reads_words"),
            selection=None if selection is None else checked_selection(selection),
            tokenizer=tokenizer,
            reading=header.get("reading"),
        )

    def __repr__(self):
        about = ", ".join(f"{value} {name}" for name, value in self._about()[:3])
        return f"InferenceModel({about})"

    def _repr_html_(self):
        return Table(["InferenceModel", ""], self._about())._repr_html_()

    def _about(self):
        """Return what a reader wants to know about the model, by name."""
        features = self.features
        columns = ", ".join(columns_read(features)) if features is not None else None
        about = [
            ("labels", len(self.classes)),
            ("features", len(self.confidence.belief.row_of)),
            ("weights", self.confidence.belief.weights.size),
            ("reads the columns", columns or "features as they are given"),
            ("confidence", self.confidence.default),
        ]
        if self.selection is not None:
            risks = [f"{one['risk']:g}" for one in self.selection["thresholds"]]
            about.append(("accepts at a risk of", ", ".join(risks)))
        return about

    def predict_all(self, X: Iterable[Any]) -> Predictions:
        """Return all that the model predicts for sequences.

        Parameters
        ----------
        X : sequences
            ``TokenColumns``, or lists of words or of tuples, as ``fit`` of the pipeline
            has read them; or, if a tagger was saved, sequences with features.

        Returns
        -------
        answers : Predictions
            With ``labels()``, ``confidence()``, ``entities()``, ``nbest(n)`` and so on,
            each computed once, and only if it is called.
        """
        scored = self.decoder.open(self._encoded(X))
        model = scored, self.confidence, self.classes, self.log_probability
        return Predictions(ModelLayer(*model), X)

    def predict_text(self, text: str | Iterable[str], *, progress: bool = False) -> Any:
        """Return all that the model predicts for a plain text, or for each of several.

        Parameters
        ----------
        text : str or iterable of str
            The text, or many: a list, a column of a data frame, a generator. It is
            split into sentences and tokens as in the model's corpus.
        progress : bool, default=False
            Whether to show a bar that counts texts.

        Returns
        -------
        answers : TextPredictions, or list or iterator of TextPredictions
            With ``entities()``, which know where they stand in the text. One for each
            text where there are many; these are asked about in batches, one by one as
            they are read if `text` has no length, such as a generator.
        """
        if self.features is None:
            raise ValueError(
                "the model has no features, so it cannot read text; save a pipeline of "
                "features and a tagger"
            )
        read = self.tokenizer, self._missing, progress
        return predictions_of_text(self.predict_all, text, *read)

    @cached_property
    def _missing(self):
        """The columns besides words that the features look at."""
        return columns_besides_words(self.features)

    @cached_property
    def _known(self):
        """Which features have weights."""
        belief = self.confidence.belief
        return belief.row_of != belief.width

    def _encoded(self, X):
        if self.features is not None:
            batch = self.features.extract(X)
            return without_needless(batch, self._known) if self.reads_words else batch
        n_features = len(self.confidence.belief.row_of)
        if isinstance(X, SequenceBatch):
            return check_batch(X, self.vocabulary, n_features)
        columns = n_features if self.vocabulary is None else None
        return encode_any(X, self.vocabulary, grow=False, n_columns=columns)


def _saved_belief(classes, arrays, serving):
    belief = Belief.from_arrays(len(classes), arrays)
    if serving["own_unit"] is not None:
        belief.own_unit = saved_number(
            serving["own_unit"], "own_unit", LEAST_SETTING, LARGEST_SETTING
        )
    return belief


def _borders(belief, serving):
    """Return what labels score at the two ends of a sequence, or None."""
    if serving["border_rows"] is None:
        return None
    for row in serving["border_rows"]:
        saved_number(row, "border_rows", belief.width, belief.n_rows - 1, whole=True)
    if len(serving["border_rows"]) != 2:
        raise ValueError("border_rows are not two")
    weights = belief.weights.reshape(-1, belief.width)
    return weights[serving["border_rows"], : belief.n_labels]
