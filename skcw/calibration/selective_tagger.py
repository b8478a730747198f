"""``SelectiveTagger``: accepts labels at a bounded risk and reviews the rest."""

import warnings
from itertools import chain
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.utils.validation import check_is_fitted

from skcw._util.checks import check_same_length, check_same_lengths, check_sample_weight
from skcw._util.compat import Interval, StrOptions, _fit_context
from skcw._util.limits import MOST_IN_A_FILE
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import object_rows, split_rows
from skcw.calibration.calibrated_tagger import (
    MOST_KNOWN,
    PREFIT,
    TAGGERS,
    encodes,
)
from skcw.calibration.checks import check_groups, check_level, check_risks
from skcw.calibration.conformal import (
    conformal_threshold,
    entity_candidates,
    entity_scores,
    scores_of_truth,
)
from skcw.calibration.risk_control import (
    RiskThreshold,
    promise_for,
    recall_threshold,
    risk_threshold,
)
from skcw.calibration.selective_answers import SelectiveAnswers, measured
from skcw.confidence.acceptance import (
    ENTITY,
    SENTENCE,
    UNITS,
    checked_selection,
    difference_in_words,
    unit_confidence,
    unlike,
)
from skcw.confidence.held_out import reusable_rows
from skcw.confidence.tallies import SPAN_EVENTS
from skcw.data.labels import check_label_rows, encode_labels, listed
from skcw.data.saved import saved_flag, saved_number, shortened
from skcw.data.schemes import extract_spans
from skcw.exceptions import ExchangeabilityWarning, NoPromiseWarning
from skcw.metrics import token_correct
from skcw.tagging import BaseSequenceTagger
from skcw.tagging.base import WrappedTagger
from skcw.tagging.crf import as_tagger


def unit_outcomes(answers, y, unit):
    """Return whether each word, entity or sentence is right, a row per sentence.

    Parameters
    ----------
    answers : Predictions
        What a tagger says.
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
    check_same_lengths(answers.lengths, [len(row) for row in rows])
    if unit == ENTITY:
        truth = [set(map(tuple, extract_spans(row))) for row in rows]
        found = [
            np.array([tuple(entity[:3]) in spans for entity in entities], dtype=bool)
            for entities, spans in zip(answers.entities(), truth, strict=True)
        ]
        return object_rows(found), np.array([len(spans) for spans in truth])
    words = token_correct(rows, answers.labels())
    words = object_rows(np.asarray(row, dtype=bool) for row in words)
    if unit == SENTENCE:
        words = object_rows(np.array([row.all()]) for row in words)
    return words, np.array([len(row) for row in words])


def promises_of(tagger, answers, y, groups):
    """Return the promises that a selective tagger can make.

    Parameters
    ----------
    tagger : SelectiveTagger
        Its parameters tell what is promised.
    answers : Predictions
        What the fitted tagger inside says of the calibration sentences.
    y : sequences of str
        Their true labels.
    groups : array of shape (n_sequences,) or None
        The group of each sentence.

    Returns
    -------
    promises : list of RiskThreshold
        One for each risk.
    """
    correct, n_true = unit_outcomes(answers, y, tagger.unit)
    sure = unit_confidence(
        answers, tagger.unit, tagger.method, tagger.entity_confidence
    )
    if not sum(map(len, sure)):
        raise ValueError(
            f"the calibration sentences have no {UNITS[tagger.unit]} that the tagger "
            "predicts, so there is nothing to accept"
        )
    risks = np.atleast_1d(tagger.risk).tolist()
    given = {
        "level": tagger.level,
        "groups": groups,
        "unit": UNITS[tagger.unit],
        "max_errors_per_group": tagger.max_errors_per_group,
    }
    if tagger.recall:
        return recall_threshold(correct, sure, n_true, risks, **given)
    return risk_threshold(correct, sure, risks, **given)


def set_threshold_of(tagger, answers, y, groups):
    """Return what labels, or entities, must score to be in sets.

    Parameters
    ----------
    tagger, answers, y, groups : object
        As in :func:`promises_of`.

    Returns
    -------
    threshold : float
        See :func:`conformal_threshold`.
    """
    risk = tagger.set_risk
    risk = float(np.atleast_1d(tagger.risk)[0]) if risk is None else risk
    given = {"max_errors_per_group": tagger.max_errors_per_group}
    if tagger.unit == ENTITY:
        rows, missing = entity_scores(entity_candidates(answers, tagger.n_best), y)
        rows, sentence = _with_truths(rows)
        given |= {"n_missing": missing, "groups": _of(groups, sentence)}
        return conformal_threshold(rows, risk, **given) if rows else np.nan
    labels = list(chain.from_iterable(y))
    scores = scores_of_truth(answers.label_table(), answers.classes, labels)
    # A label that the tagger has never seen is in no set.
    rows = [row[~np.isnan(row)] for row in split_rows(scores, answers.offsets)]
    rows, sentence = _with_truths(rows)
    given |= {"n_missing": int(np.isnan(scores).sum()), "groups": _of(groups, sentence)}
    return conformal_threshold(rows, risk, **given) if rows else np.nan


def _with_truths(rows):
    """Return the rows that are not empty, and their numbers."""
    numbers = [i for i, row in enumerate(rows) if len(row)]
    return [np.asarray(rows[i]) for i in numbers], numbers


def _of(groups, numbers):
    return None if groups is None else np.asarray(groups)[numbers]


SELECTION = "selection"
_NAMES_OF_INFINITY = ("inf", "-inf")


class SelectiveTagger(WrappedTagger):
    """Tagger that accepts what is sure enough and leaves the rest to review.

    From sentences that the tagger has not learned from, ``fit`` finds the lowest
    threshold by which, with probability `level`, at most the share `risk` of all that
    is accepted is wrong. Labels do not change: ``predict`` returns those of the tagger.

    Parameters
    ----------
    tagger : estimator
        A tagger or a :class:`skcw.TaggingPipeline`, which is copied and fitted; or a
        fitted one, with ``cv="prefit"`` or inside
        :class:`sklearn.frozen.FrozenEstimator`.
    risk : float or sequence of float, default=0.01
        The largest share of wrong units among those accepted. Several are kept each
        with probability `level`; ``accept`` uses the first unless told otherwise.
    level : float, default=0.95
        The probability with which the promise holds.
    unit : {"word", "entity", "sentence"}, default="word"
        What is accepted. A predicted entity is right if the truth has it, from its
        first to its last word and of its type; a sentence if all its labels are right.
    recall : bool, default=False
        Whether `risk` is the share of the true entities that are missed by what is
        accepted, and not that of the wrong ones among it. Then the threshold is the
        highest one that keeps it, and `unit` must be ``"entity"``.
    cv : "prefit" or None, default=None
        With ``"prefit"`` the tagger is fitted, and all sentences given to ``fit`` are
        for calibration. Otherwise it learns from a random part of them.
    calibration_size : float, default=0.3
        The share of the sentences (or groups) given to ``fit`` that calibrates.
    set_risk : float, default=None
        The share of truths that sets may miss, for ``predict_sets``; `risk` if None.
    n_best : int, default=10
        How many labelings the sets of entities are taken from.
    method : str, default=None
        The method of the tagger's ``predict_confidence``; None is its own default.
    entity_confidence : str, default=None
        The event of ``predict_entities`` by which entities are ranked.
    max_errors_per_group : float, default=None
        The most wrong units that one sentence may have among its accepted ones; 3 by
        default, more for documents. See :func:`risk_threshold`.
    allow_training_data : bool, default=False
        Whether a fitted tagger may be calibrated on words that it has learned from.
    random_state : int, RandomState instance or None, default=0
        Chooses the sentences for calibration.

    Attributes
    ----------
    tagger_ : estimator
        The fitted tagger that predicts.
    thresholds_ : list of RiskThreshold
        Threshold and promise for each risk.
    set_threshold_ : float
        What a label or an entity must score to be in a set.
    reference_ : dict of str to list of float
        What was measured of the calibration sentences, to tell others from them.
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
    accepted 94.08 % of the words; at most 2 % of them are wrong, with 95 % certainty
    >>> new, _ = make_tagged_corpus(1, random_state=1, return_X_y=True)
    >>> tagger.accept(new)[0][:5]
    array([False, False,  True,  True,  True])
    """

    _parameter_constraints: dict = {
        "tagger": TAGGERS,
        "risk": [Real, "array-like"],
        "level": [Real],
        "unit": [StrOptions(set(UNITS))],
        "recall": ["boolean"],
        "cv": [StrOptions({PREFIT}), None],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
        "set_risk": [Real, None],
        "n_best": [Interval(Integral, 1, None, closed="left")],
        "method": [str, None],
        "entity_confidence": [StrOptions(set(SPAN_EVENTS)), None],
        "max_errors_per_group": [Interval(Real, 1, None, closed="left"), None],
        "allow_training_data": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        tagger,
        *,
        risk=0.01,
        level=0.95,
        unit="word",
        recall=False,
        cv=None,
        calibration_size=0.3,
        set_risk=None,
        n_best=10,
        method=None,
        entity_confidence=None,
        max_errors_per_group=None,
        allow_training_data=False,
        random_state=0,
    ):
        self.tagger = tagger
        self.risk = risk
        self.level = level
        self.unit = unit
        self.recall = recall
        self.cv = cv
        self.calibration_size = calibration_size
        self.set_risk = set_risk
        self.n_best = n_best
        self.method = method
        self.entity_confidence = entity_confidence
        self.max_errors_per_group = max_errors_per_group
        self.allow_training_data = allow_training_data
        self.random_state = random_state

    def __sklearn_clone__(self):
        copy = super().__sklearn_clone__()
        if self.cv == PREFIT:
            # A copy without what the tagger has learned would have nothing to calibrate.
            copy.tagger = self.tagger
        return copy

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None, groups=None):
        """Learn the tagger, if it is not fitted already, and find the thresholds.

        Parameters
        ----------
        X : iterable of sequences
            The sentences, in any form that the tagger takes.
        y : iterable of sequences of str
            Their labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            How much each sentence counts for the tagger. All count the same for the
            promise.
        groups : array-like of shape (n_sequences,), default=None
            What is exchangeable beyond a sentence, such as the document of each one.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        check_risks(self.risk), check_level(self.level)
        if self.recall and self.unit != "entity":
            raise ValueError('recall=True is about entities; set unit="entity" too')
        X = reusable_rows(X)
        y = object_rows(listed(y, "y"))
        check_same_length(len(X), encode_labels(y)[1].size)
        tagger, X, y, groups = self._fitted(X, y, sample_weight, groups)
        tagger = as_tagger(tagger)
        batch = _encoded(tagger, X)
        answers = tagger.predict_all(batch)
        promises = promises_of(self, answers, y, groups)
        threshold = set_threshold_of(self, answers, y, groups)
        self.reference_ = measured(answers, X, batch, self.method)
        self.tagger_, self.thresholds_, self.set_threshold_ = (
            tagger,
            promises,
            threshold,
        )
        for promise in promises:
            if not promise.holds:
                noun = "sentences" if groups is None else "groups"
                text = f"{promise.refusal(noun)}. All is left to review"
                warnings.warn(text, NoPromiseWarning, stacklevel=2)
        return self

    def _fitted(self, X, y, sample_weight, groups):
        """Return a fitted tagger, and the sentences that calibrate it."""
        if groups is not None:
            groups = check_groups(groups)
            if groups.shape != (len(X),):
                raise ValueError(
                    f"groups has the shape {groups.shape}; it must hold one for each "
                    f"of the {len(X)} sentences: a sentence cannot be split"
                )
        frozen = isinstance(self.tagger, FrozenEstimator)
        if frozen or self.cv == PREFIT:
            tagger = self.tagger.estimator if frozen else self.tagger
            self._refuse_known(tagger, X)
            return tagger, X, y, groups
        train, rest = self._split(y, groups)
        weights = {}
        weight = check_sample_weight(sample_weight, len(y))
        if weight is not None:
            weights["sample_weight"] = weight[train]
        tagger = clone(self.tagger).fit(X[train], y[train], **weights)
        return tagger, X[rest], y[rest], None if groups is None else groups[rest]

    def _split(self, y, groups):
        """Return the numbers of the sentences that teach and of those that calibrate.

        Those without words teach nothing; they must not change the result.
        """
        positions = np.flatnonzero([len(row) > 0 for row in y])
        kind = ShuffleSplit if groups is None else GroupShuffleSplit
        groups = None if groups is None else groups[positions]
        n_units = len(positions if groups is None else np.unique(groups))
        if n_units < 2:
            raise ValueError(
                f"{n_units} sequences or groups that are not empty cannot both teach "
                'and calibrate a tagger; give more, or a fitted one with cv="prefit"'
            )
        chosen = {"test_size": self.calibration_size, "random_state": self.random_state}
        (parts,) = kind(1, **chosen).split(positions, groups=groups)
        return (np.sort(positions[part]) for part in parts)

    def _refuse_known(self, tagger, X):
        """Raise if a fitted tagger has learned from the sentences, where it can know."""
        if self.allow_training_data or not hasattr(tagger, "train_overlap"):
            return
        share = tagger.train_overlap(X)
        if share > MOST_KNOWN:
            raise ValueError(
                f"the tagger has learned from {100 * share:.0f} % of these words, so "
                "that they do not tell how often it is right. Give others; "
                "allow_training_data=True calibrates on them all the same"
            )

    @reads_at_once
    def predict_all(self, X):
        """Return an object that answers any question about X.

        Parameters
        ----------
        X : iterable of sequences
            The sentences.

        Returns
        -------
        answers : SelectiveAnswers
            Those of the tagger, with ``accepted(risk)`` and ``sets()`` besides.
        """
        check_is_fitted(self)
        return SelectiveAnswers(self.tagger_.predict_all(X), self)

    @property
    def selection_(self):
        """What a saved model needs to accept: units, promises and their reference."""
        check_is_fitted(self)
        return {
            "unit": self.unit,
            "method": self.method,
            "entity_confidence": self.entity_confidence,
            "promises": [_plain_promise(promise) for promise in self.thresholds_],
            "reference": self.reference_,
            "source": getattr(self, "source_", None),
        }

    def promise(self, risk=None):
        """Return the promise that was made for a risk.

        Parameters
        ----------
        risk : float, default=None
            One of `risk`; None is the first.

        Returns
        -------
        promise : RiskThreshold
            Its threshold, and what it promises.
        """
        check_is_fitted(self)
        return promise_for(self.thresholds_, risk)

    @reads_at_once
    def accept(self, X, risk=None, *, check=True):
        """Tell which words, entities or sentences are accepted.

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
        batch = _encoded(self.tagger_, X)
        answers = self.predict_all(batch)
        if check:
            differences = self._differences(answers, X, batch)
            if differences:
                warnings.warn(unlike(differences), ExchangeabilityWarning, stacklevel=2)
        return answers.accepted(risk)

    def predict_sets(self, X):
        """Return sets that contain the truth but for the share `set_risk` of them.

        Parameters
        ----------
        X : iterable of sequences
            New sentences.

        Returns
        -------
        sets : ndarray of shape (n_sequences,), dtype object
            Per sentence a list with the labels of each word, the most probable first;
            if `unit` is ``"entity"`` a list of entities out of the n best labelings.
        """
        return self.predict_all(X).sets()

    def exchangeability(self, X):
        """Tell in what sentences differ from those of calibration, if they do.

        Confidence and the share of known features, in the mean of each sentence, are
        compared by the test of Kolmogorov and Smirnov.

        Parameters
        ----------
        X : iterable of sequences
            New sentences; fewer than 30 tell nothing.

        Returns
        -------
        differences : list of str
            In words; empty if they look alike.
        """
        check_is_fitted(self)
        batch = _encoded(self.tagger_, X)
        return self._differences(self.predict_all(batch), X, batch)

    def _differences(self, answers, X, batch):
        new = measured(answers, X, batch, self.method)
        return difference_in_words(self.reference_, new)

    @property
    def confidence_methods_(self):
        """The methods of ``predict_confidence`` that the tagger supports, by name."""
        check_is_fitted(self)
        return self.tagger_.confidence_methods_

    @property
    def default_method_(self):
        """The method of ``predict_confidence`` that is used if none is named."""
        check_is_fitted(self)
        return self.tagger_.default_method_

    def _plain_params(self):
        return {**super()._plain_params(), "tagger": None}

    def _saved_state(self):
        check_is_fitted(self)
        if not isinstance(self.tagger_, BaseSequenceTagger):
            raise ValueError(
                f"a {type(self.tagger_).__name__} cannot be saved without pickle; "
                "pickle the selective tagger, or save one of skcw's"
            )
        header, arrays = self.tagger_.to_saved()
        state = {
            "tagger": header,
            "frozen": isinstance(self.tagger, FrozenEstimator),
            "conformal_threshold": _finite(self.set_threshold_),
            SELECTION: self.selection_,
        }
        return state, arrays

    def _restore(self, state, arrays):
        selection = checked_selection(state[SELECTION])
        self.tagger_ = BaseSequenceTagger.from_saved(state["tagger"], arrays)
        if saved_flag(state["frozen"], "frozen"):
            self.tagger = FrozenEstimator(self.tagger_)
        else:
            self.tagger = self.tagger_ if self.cv == PREFIT else clone(self.tagger_)
        threshold = state["conformal_threshold"]
        if threshold not in (None, *_NAMES_OF_INFINITY):
            saved_number(threshold, "conformal_threshold")
        self._check_restored(selection)
        self.thresholds_ = [_restored_promise(one) for one in selection["promises"]]
        self.set_threshold_ = _from_finite(threshold)
        self.reference_ = selection["reference"]
        self.source_ = selection["source"]

    def _check_restored(self, selection):
        """Raise unless the tagger can be asked for what is to be accepted."""
        if not selection["promises"]:
            raise ValueError("there is no promise")
        check_risks(self.risk), check_level(self.level)
        if any(getattr(self, k) != selection[k] for k in ("unit", "method")):
            raise ValueError("the promises are about something else")
        methods = self.tagger_.confidence_methods_
        if self.method is not None and self.method not in methods:
            raise ValueError(f"the tagger has no method {shortened(self.method)}")
        saved_number(self.n_best, "n_best", 1, MOST_IN_A_FILE, whole=True)


def _encoded(tagger, X):
    """Return sentences in compiled form, whose known features can be counted."""
    return tagger.encode(X) if encodes(tagger) else reusable_rows(X)


def _plain_promise(promise):
    return {name: _finite(value) for name, value in promise._asdict().items()}


def _restored_promise(values):
    numbers = {name: _from_finite(value) for name, value in values.items()}
    return RiskThreshold(**numbers)


def _finite(value):
    """Return what JSON can hold: infinite numbers by their names."""
    odd = isinstance(value, float) and not np.isfinite(value)
    return str(value) if odd else value


def _from_finite(value):
    return float(value) if value in _NAMES_OF_INFINITY else value
