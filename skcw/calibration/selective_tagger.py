"""``SelectiveTagger``: accepts labels at a bounded risk and reviews the rest."""

import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skcw._util.checks import check_same_length, check_same_lengths, check_sample_weight
from skcw._util.compat import Interval, StrOptions, _fit_context
from skcw._util.limits import MOST_IN_A_FILE
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import object_rows, split_rows
from skcw.calibration.calibrated_tagger import (
    PREFIT,
    TAGGERS,
    CalibratingTagger,
    encodes,
    fitted_before,
)
from skcw.calibration.risk_control import (
    RiskThreshold,
    conformal_sets,
    entity_candidates,
    entity_scores,
    group_numbers,
    recall_threshold,
    risk_threshold,
    scores_of_truth,
    warn_of_refusals,
)
from skcw.calibration.selective_classifier import SelectiveMixin
from skcw.confidence.acceptance import (
    ENTITY,
    MOST_SENTENCES,
    SENTENCE,
    UNITS,
    accepted,
    checked_selection,
    exchangeability_failures,
    exchangeability_warning,
    sentence_means,
    unit_confidence,
)
from skcw.confidence.foreign import predictions_of
from skcw.confidence.held_out import reusable_rows, right_entities
from skcw.confidence.predictions import Entity, Layer, Predictions
from skcw.confidence.tallies import SPAN_EVENTS
from skcw.data import SequenceBatch
from skcw.data.labels import check_label_rows, encode_labels, listed
from skcw.data.saved import saved_number
from skcw.data.schemes import extract_spans
from skcw.exceptions import ExchangeabilityWarning
from skcw.metrics import token_correct
from skcw.tagging.crf import as_tagger


def unit_outcomes(predictions, y, unit):
    """Return whether each word, entity or sentence is right, a row per sentence.

    Parameters
    ----------
    predictions : Predictions
        Those of a tagger.
    y : sequences of str
        The true labels.
    unit : {"word", "entity", "sentence"}
        What is judged.

    Returns
    -------
    correct : ndarray of shape (n_sequences,), dtype object
        An array of bool for each sentence.
    n_true : ndarray of int, shape (n_sequences,)
        The number of true entities of each sentence; of words or of one.
    """
    rows = check_label_rows(y, "y")
    check_same_lengths(predictions.lengths, [len(row) for row in rows])
    if unit == ENTITY:
        n_true = [len(set(extract_spans(row))) for row in rows]
        right = right_entities(predictions.entities(), rows)
        return object_rows(right), np.array(n_true)
    words = token_correct(rows, predictions.labels())
    words = object_rows(np.asarray(row, dtype=bool) for row in words)
    if unit == SENTENCE:
        words = object_rows(np.array([row.all()]) for row in words)
    return words, np.array([len(row) for row in words])


def _of(groups, numbers):
    return None if groups is None else np.asarray(groups)[numbers]


SELECTION = "selection"
_NAMES_OF_INFINITY = ("inf", "-inf")


CONFIDENCE, KNOWN = "confidence", "number of known features per word"


class SelectiveLayer(Layer):
    """Adds what is accepted, and conformal sets, to the answers of a tagger.

    Parameters
    ----------
    below : Layer or ModelLayer
        The answers of the tagger inside.
    tagger : SelectiveTagger
        The fitted selective tagger.
    """

    def __init__(self, below, tagger):
        super().__init__(below)
        self._tagger = tagger

    def accepted(self, risk):
        """Return what is accepted at a risk: an array of bool for each sentence."""
        threshold = self._tagger.get_threshold(risk).threshold
        selection = self._tagger._selection_rule()
        return accepted(Predictions(self), selection, threshold)

    def sets(self):
        """Return the labels that each token may have, or the possible entities."""
        least = self._tagger.conformal_threshold_
        if self._tagger.unit != ENTITY:
            table = self.label_table(None, {})
            return split_rows(conformal_sets(table, least, self.classes), self.offsets)
        # Where even full sets miss too many, they are full.
        least = -np.inf if np.isnan(least) else least
        rows = entity_candidates(Predictions(self), self._tagger.n_best)
        return object_rows(
            [Entity(*span, score) for span, score in _sorted(row) if score >= least]
            for row in rows
        )


def _sorted(row):
    """Return spans with their scores, from left to right."""
    return sorted(row.items(), key=lambda item: (item[0][1], item[0][2], item[0][0]))


def measures(predictions, X, batch, method=None):
    """Return the measures by which sentences are compared, in the mean of each one.

    Parameters
    ----------
    predictions : Predictions
        Those of a tagger.
    X : sequences
        The sentences as they were given.
    batch : SequenceBatch or sequences
        The same with the features that the tagger knows. These are counted if the
        tagger has extracted them.
    method : str, default=None
        The method of ``predict_confidence``.

    Returns
    -------
    measures : dict of str to list of float
        The confidence and, if they were counted, the number of known features.
    """
    words = predictions.layer.confidence(method, {})
    found = {CONFIDENCE: sentence_means(words, predictions.offsets)}
    if isinstance(batch, SequenceBatch) and not isinstance(X, SequenceBatch):
        found[KNOWN] = sentence_means(np.diff(batch.indptr), predictions.offsets)
    return {name: _thinned(values).tolist() for name, values in found.items()}


def _thinned(values):
    """Return not too many of the values, evenly spread over their ranks."""
    values = np.sort(values)
    if len(values) <= MOST_SENTENCES:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_SENTENCES).astype(np.intp)]


@dataclass(eq=False, repr=False, match_args=False)
class SelectiveTagger(SelectiveMixin, CalibratingTagger):
    """Selective prediction: accepts confident predictions at a controlled risk.

    On sentences that the tagger has not been trained on, ``fit`` finds the lowest
    threshold of confidence such that, with probability `confidence_level`, at most the
    share `risk` of all that is accepted is wrong. The rest is left for review. Labels
    do not change: ``predict`` returns those of the tagger.

    Parameters
    ----------
    estimator : estimator
        A tagger or a :class:`skcw.TaggingPipeline`, which is cloned and fitted; or a
        fitted one, with ``cv="prefit"`` or inside
        :class:`sklearn.frozen.FrozenEstimator`.
    risk : float or sequence of float, default=0.01
        The largest share of errors among what is accepted. The bound of each risk holds
        with probability `confidence_level`; ``accept`` uses the first by default.
    confidence_level : float, default=0.95
        The probability with which the bound holds.
    unit : {"word", "entity", "sentence"}, default="word"
        What is accepted. A predicted entity is right if the truth has it, from its
        first to its last token and of its type; a sentence if all its labels are right.
    recall : bool, default=False
        Whether `risk` is the share of the true entities that are missed by what is
        accepted, and not that of errors among it. Then the threshold is the highest one
        that keeps it, and `unit` must be ``"entity"``.
    cv : "prefit" or None, default=None
        With ``"prefit"`` the tagger is fitted, and all sentences given to ``fit`` are
        for calibration. Otherwise a random part of them trains it.
    calibration_size : float, default=0.3
        The share of the sentences (or groups) given to ``fit`` that calibrates.
    set_risk : float, default=None
        The share of truths that sets may miss, for ``predict_sets``; `risk` if None.
    n_best : int, default=10
        The number of labelings from which the sets of entities are taken.
    confidence_method : str, default=None
        The method of the tagger's ``predict_confidence``; None is its own default.
    entity_confidence : str, default=None
        The event of ``predict_entities`` by which entities are ranked.
    max_errors_per_group : float, default=None
        The largest number of errors among what is accepted of one sentence; 3 by
        default, more for documents. See :func:`risk_threshold`.
    allow_training_data : bool, default=False
        Whether a fitted tagger may be calibrated on its training data.
    random_state : int, RandomState instance or None, default=0
        Chooses the sentences for calibration.

    Attributes
    ----------
    estimator_ : estimator
        The fitted tagger that predicts.
    thresholds_ : list of RiskThreshold
        The threshold for each risk.
    conformal_threshold_ : float
        The score that a label or an entity needs to be in a set.
    reference_ : dict of str to list of float
        Measures of the calibration sentences, with which new ones are compared.
    classes_, n_iter_, history_ : object
        Those of the tagger.

    See Also
    --------
    risk_threshold : The same for confidences of any model.
    SelectiveClassifier : The same for classifiers.

    Examples
    --------
    >>> from skcw import CWSequenceTagger, make_tagging_pipeline
    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.calibration import SelectiveTagger
    >>> X, y = make_tagged_corpus(1500, random_state=0, return_X_y=True)
    >>> tagger = make_tagging_pipeline("ner", CWSequenceTagger(random_state=0))
    >>> tagger = SelectiveTagger(tagger, risk=0.02).fit(X, y)
    >>> print(tagger.thresholds_[0])
    accepted 95.0... % of the words; at most 2 % of them are wrong, with 95 % certainty
    >>> new, _ = make_tagged_corpus(1, random_state=1, return_X_y=True)
    >>> tagger.accept(new)[0][:5]
    array([False, False,  True,  True,  True])
    """

    estimator: Any
    _: KW_ONLY
    risk: Any = 0.01
    confidence_level: float = 0.95
    unit: str = "word"
    recall: bool = False
    cv: str | None = None
    calibration_size: float = 0.3
    set_risk: float | None = None
    n_best: int = 10
    confidence_method: str | None = None
    entity_confidence: str | None = None
    max_errors_per_group: float | None = None
    allow_training_data: bool = False
    random_state: int | np.random.RandomState | None = 0

    _layer = SelectiveLayer
    _parameter_constraints = {
        "estimator": TAGGERS,
        "risk": [Real, "array-like"],
        "confidence_level": [Real],
        "unit": [StrOptions(set(UNITS))],
        "recall": ["boolean"],
        "cv": [StrOptions({PREFIT}), None],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
        "set_risk": [Real, None],
        "n_best": [Interval(Integral, 1, None, closed="left")],
        "confidence_method": [str, None],
        "entity_confidence": [StrOptions(set(SPAN_EVENTS)), None],
        "max_errors_per_group": [Interval(Real, 1, None, closed="left"), None],
        "allow_training_data": ["boolean"],
        "random_state": ["random_state"],
    }

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the tagger, unless it is fitted already, and find the thresholds.

        Parameters
        ----------
        X : iterable of sequences
            The sentences, in any form that the tagger takes.
        y : iterable of sequences of str
            Their labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            How much each sentence counts for the tagger. All count the same for the
            thresholds.
        groups : array-like of shape (n_sequences,), default=None
            What is exchangeable if sentences are not, such as their documents.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        self._check_parameters()
        if self.recall and self.unit != "entity":
            raise ValueError('recall=True is about entities; set unit="entity" too')
        X = reusable_rows(X)
        y = object_rows(listed(y, "y"))
        check_same_length(len(X), encode_labels(y)[1].size)
        if groups is not None:
            groups = group_numbers(groups)
            if groups.shape != (len(X),):
                raise ValueError(
                    f"groups has the shape {groups.shape}; it must hold one for each "
                    f"of the {len(X)} sentences: a sentence cannot be split"
                )
        weight = check_sample_weight(sample_weight, len(y))
        tagger, rest = self._fitted(X, y, weight, groups)
        X, y, groups = X[rest], y[rest], _of(groups, rest)
        self.estimator_ = tagger = as_tagger(tagger)
        batch = _encoded(tagger, X)
        if fitted_before(self) is not None:
            self._refuse_known(tagger, batch)
        found = predictions_of(tagger, batch)
        self.thresholds_ = self._risk_thresholds(found, y, groups)
        self.conformal_threshold_ = self._conformal_threshold(found, y, groups)
        self.reference_ = measures(found, X, batch, self.confidence_method)
        noun = "sentences" if groups is None else "groups"
        warn_of_refusals(self.thresholds_, noun)
        return self

    def _risk_thresholds(self, predictions, y, groups):
        correct, n_true = unit_outcomes(predictions, y, self.unit)
        unit, how = UNITS[self.unit], (self.confidence_method, self.entity_confidence)
        sure = unit_confidence(predictions, self.unit, *how)
        if not sum(map(len, sure)):
            raise ValueError(
                f"the calibration sentences have no {unit} that the tagger predicts, "
                "so there is nothing to accept"
            )
        found = risk_threshold, correct, sure
        if self.recall:
            found = recall_threshold, correct, sure, n_true
        return self._bounds(*found, groups=groups, unit=unit)

    def _conformal_threshold(self, predictions, y, groups):
        if self.unit == ENTITY:
            candidates = entity_candidates(predictions, self.n_best)
            rows, n_missing = entity_scores(candidates, y)
        else:
            table, labels = predictions.label_table(), list(chain.from_iterable(y))
            scores = scores_of_truth(table, predictions.classes, labels)
            # A label that the tagger has never seen is in no set.
            n_missing = int(np.isnan(scores).sum())
            rows = split_rows(scores, predictions.offsets)
            rows = [row[~np.isnan(row)] for row in rows]
        full = [i for i, row in enumerate(rows) if len(row)]
        rows = [np.asarray(rows[i]) for i in full]
        return self._set_threshold(rows, n_missing, _of(groups, full))

    def _split(self, y, groups):
        # Empty sentences must not change the result.
        full = np.flatnonzero([len(row) > 0 for row in y])
        groups = _of(groups, full)
        n_units = len(full if groups is None else np.unique(groups))
        if n_units < 2:
            raise ValueError(
                f"{n_units} sequences or groups that are not empty cannot both train "
                'and calibrate a tagger; give more, or a fitted one with cv="prefit"'
            )
        return (full[part] for part in super()._split(y[full], groups))

    @property
    def selection_(self):
        """What a saved model needs to accept: the thresholds and their reference."""
        check_is_fitted(self)
        return {
            **self._selection_rule(),
            "thresholds": [
                {name: _finite(value) for name, value in each._asdict().items()}
                for each in self.thresholds_
            ],
            "reference": self.reference_,
            "source": getattr(self, "source_", None),
        }

    def _selection_rule(self):
        """Return what is accepted, and by which confidence."""
        return {
            "unit": self.unit,
            "method": self.confidence_method,
            "entity_confidence": self.entity_confidence,
        }

    @reads_at_once
    def accept(
        self, X: Iterable[Any], risk: float | None = None, *, check: bool = True
    ) -> np.ndarray:
        """Return which words, entities or sentences are accepted.

        Parameters
        ----------
        X : iterable of sequences
            New sentences.
        risk : float, default=None
            One of `risk`; None is the first.
        check : bool, default=True
            Whether to warn if these sentences do not look like those of calibration.

        Returns
        -------
        accepted : ndarray of shape (n_sequences,), dtype object
            One array of bool per sentence: for its words, for its predicted entities,
            or a single one for all of it.
        """
        check_is_fitted(self)
        batch = _encoded(self.estimator_, X)
        found = self.predict_all(batch)
        differences = self._differences(found, X, batch) if check else []
        if differences:
            text = exchangeability_warning(differences)
            # The line that calls, above the decorator.
            warnings.warn(text, ExchangeabilityWarning, stacklevel=3)
        return found.accepted(risk)

    def predict_sets(self, X: Iterable[Any]) -> np.ndarray:
        """Return sets that contain the truth but for the share `set_risk` of them.

        Parameters
        ----------
        X : iterable of sequences
            New sentences.

        Returns
        -------
        sets : ndarray of shape (n_sequences,), dtype object
            Per sentence a list with the labels of each token, the most probable first;
            if `unit` is ``"entity"`` a list of entities from the n best labelings.
        """
        return self.predict_all(X).sets()

    def exchangeability(self, X: Iterable[Any]) -> list[str]:
        """Return how sentences differ from those of calibration, if they do.

        Confidence and the number of known features, in the mean of each sentence, are
        compared by the test of Kolmogorov and Smirnov.

        Parameters
        ----------
        X : iterable of sequences
            New sentences, 30 or more.

        Returns
        -------
        differences : list of str
            In words; empty if they look alike.
        """
        check_is_fitted(self)
        batch = _encoded(self.estimator_, X)
        return self._differences(self.predict_all(batch), X, batch)

    def _differences(self, predictions, X, batch):
        new = measures(predictions, X, batch, self.confidence_method)
        return exchangeability_failures(self.reference_, new)

    @property
    def confidence_methods_(self):
        """The methods of ``predict_confidence`` that the tagger supports, by name."""
        check_is_fitted(self)
        return self.estimator_.confidence_methods_

    @property
    def default_method_(self):
        """The method of ``predict_confidence`` that is used if none is named."""
        check_is_fitted(self)
        return self.estimator_.default_method_

    def _own_state(self):
        return {
            "conformal_threshold": _finite(self.conformal_threshold_),
            SELECTION: self.selection_,
        }

    def _restore_own(self, state):
        """Raise unless the tagger has the confidences that the thresholds are of."""
        selection, threshold = state[SELECTION], state["conformal_threshold"]
        checked_selection(selection)
        if threshold not in (None, *_NAMES_OF_INFINITY):
            saved_number(threshold, "conformal_threshold")
        if not selection["thresholds"]:
            raise ValueError("there is no threshold")
        self._check_parameters()
        method = self.confidence_method
        if (self.unit, method) != (selection["unit"], selection["method"]):
            raise ValueError("the thresholds are of another unit or method")
        self._check_method(method)
        saved_number(self.n_best, "n_best", 1, MOST_IN_A_FILE, whole=True)
        self.thresholds_ = [
            RiskThreshold(**{name: _from_finite(v) for name, v in values.items()})
            for values in selection["thresholds"]
        ]
        self.conformal_threshold_ = _from_finite(threshold)
        self.reference_ = selection["reference"]
        self.source_ = selection["source"]


def _encoded(tagger, X):
    """Return sentences in compiled form, whose known features can be counted."""
    return tagger.encode(X) if encodes(tagger) else reusable_rows(X)


def _finite(value):
    """Return what JSON can hold: infinite numbers by their names."""
    odd = isinstance(value, float) and not np.isfinite(value)
    return str(value) if odd else value


def _from_finite(value):
    return float(value) if value in _NAMES_OF_INFINITY else value
