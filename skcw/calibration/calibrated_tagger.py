"""``CalibratedTagger``: a tagger whose confidences are probabilities."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skcw._util.checks import check_sample_weight
from skcw._util.compat import HasMethods, Interval, StrOptions, _fit_context
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import object_rows, split_rows
from skcw.calibration.calibrators import CALIBRATORS, LabelCalibrators, calibrator_maker
from skcw.confidence.foreign import predictions_of
from skcw.confidence.held_out import (
    LEAST_RIVAL,
    HeldOut,
    held_out_entities,
    held_out_rivals,
    held_out_words,
    of_folds,
    reusable_rows,
    some_entities,
)
from skcw.confidence.methods import METHODS, ServedMethods
from skcw.confidence.predictions import Layer, Predictions
from skcw.confidence.settings import check_saved_options
from skcw.confidence.tallies import SPAN_EVENTS
from skcw.data.saved import saved_flag, saved_kind, shortened
from skcw.tagging import BaseSequenceTagger
from skcw.tagging.base import WrappedTagger
from skcw.tagging.crf import as_tagger

PREFIT = "prefit"
# Corpora repeat sentences: of a new part a tenth of the tokens may well be known.
MOST_KNOWN = 0.25
# The event that the confidences of words are enough for.
LEAST_WORD = "least-word"
TRACE = 1e-9
# The fitted calibrators, and their names in a file.
SAVED_MAPS = (
    ("calibrators_", "maps"),
    ("entity_calibrators_", "entity_maps"),
    ("rival_calibrators_", "rival_maps"),
)


# Ours, and those in the manner of sklearn-crfsuite.
TAGGERS = [HasMethods(["fit", "predict_all"]), HasMethods(["fit", "predict"])]


def shared_rest(table, codes, confidence):
    """Return a table in which the predicted label has its confidence.

    The other labels share the rest as they do in the table; evenly where it gives them
    nothing.

    Parameters
    ----------
    table : ndarray of shape (n_tokens, n_labels)
        The marginals.
    codes : ndarray of int, shape (n_tokens,)
        The predicted labels.
    confidence : ndarray of shape (n_tokens,)
        Their confidence.

    Returns
    -------
    table : ndarray of float64, shape (n_tokens, n_labels)
        Every row sums to one.
    """
    n_tokens, n_labels = table.shape
    if n_labels == 1:
        return np.ones_like(table)
    predicted = np.arange(n_tokens), codes
    others = table.copy()
    others[predicted] = 0.0
    total = others.sum(axis=1, keepdims=True)
    even = np.full_like(others, 1.0 / (n_labels - 1))
    share = np.divide(others, total, out=even, where=total > 0)
    share *= (1.0 - confidence)[:, None]
    share[predicted] = confidence
    return share


class CalibratedLayer(Layer):
    """The answers of a calibrated tagger: confidences mapped to probabilities.

    Labels and labelings are those of the layer below.

    Parameters
    ----------
    below : Layer or ModelLayer
        The answers of the tagger inside.
    tagger : CalibratedTagger
        The fitted calibrated tagger.
    """

    def __init__(self, below, tagger):
        super().__init__(below)
        self._tagger = tagger
        options = dict(tagger.confidence_options_)
        self._method, self._options = options.pop("method", None), options

    @property
    def confidence_methods(self):
        """The only method: the one that the calibrators were fitted for."""
        return self._tagger.confidence_methods_

    def confidence(self, method, options):
        """Return the probability that each predicted label is right."""
        self._tagger._check_asked(method, options)
        return self._by_token

    @cached_property
    def _by_token(self):
        calibrators = self._tagger.calibrators_
        label = None
        if any(each.by_label for each in calibrators):
            label = np.array(self.classes, dtype=str)[self.codes]
        sure = self.below.confidence(self._method, self._options)
        return mean_probability(calibrators, np.asarray(sure, np.float64), label)

    def label_table(self, method, options):
        """Return the probability of every label at every token.

        The predicted label has its confidence; the others share the rest as their
        calibrated marginals do.
        """
        self._tagger._check_asked(method, options)
        table = self._rivals(self.below.label_table("marginal", {}))
        return shared_rest(table, self.codes, self._by_token)

    def _rivals(self, table):
        """Return how probable each label is that was not predicted."""
        calibrators = self._tagger.rival_calibrators_
        tokens, labels = np.nonzero(table >= LEAST_RIVAL)
        if not calibrators or not len(tokens):
            return table
        names, found = np.array(self.classes, dtype=str)[labels], table.copy()
        marginals = table[tokens, labels]
        # A label of probability zero keeps a trace, so that there is a rest to share.
        found[tokens, labels] = mean_probability(calibrators, marginals, names)
        return found + TRACE * table

    def marginals(self):
        """Return the probability of every label at every token."""
        return self.label_table(None, {})

    def label_confidence(self, codes, method, options):
        """Return the probability of given labels."""
        return self.label_table(method, options)[np.arange(len(codes)), codes]

    def pair_confidence(self, left, right, method, options):
        """Raise: the confidence in pairs of labels is not calibrated."""
        raise ValueError(
            "the confidence in pairs of labels is not calibrated; ask estimator_ for it"
        )

    def sequence_confidence(self, method, options):
        """Raise: the confidence in whole sequences is not calibrated."""
        raise ValueError(
            "the confidence in whole sequences is not calibrated; ask estimator_ for it"
        )

    def entities(self, entity_confidence, method, options):
        """Return the entities with their calibrated confidence."""
        tagger = self._tagger
        tagger._check_asked(method, options)
        event = tagger.entity_confidence or LEAST_WORD
        if entity_confidence not in (None, event):
            raise ValueError(
                f"entity_confidence is {entity_confidence!r}, but confidences were "
                f"calibrated for {event!r}; set entity_confidence="
                f"{entity_confidence!r} and fit again, or ask estimator_"
            )
        rows = list(self.below.entities(event, self._method, self._options))
        if not tagger.entity_calibrators_:
            tokens = split_rows(self._by_token, self.offsets)
            pairs = zip(rows, tokens, strict=True)
            sure = [row[e.start : e.end].min() for found, row in pairs for e in found]
        else:
            label = np.array([e.label for row in rows for e in row], dtype=str)
            sure = np.array([e.confidence for row in rows for e in row], np.float64)
            sure = mean_probability(tagger.entity_calibrators_, sure, label)
        each = map(float, sure)
        return [[e._replace(confidence=next(each)) for e in row] for row in rows]


def mean_probability(calibrators, confidence, label):
    """Return the mean of the probabilities that several calibrators give."""
    return np.mean([each(confidence, label) for each in calibrators], axis=0)


def prefit_clone(self):
    """Return a clone of an estimator around another, which stays if it is fitted."""
    copy = BaseEstimator.__sklearn_clone__(self)
    if is_prefit(self):
        # An unfitted copy of the inner estimator could not be calibrated.
        copy.estimator = self.estimator
    return copy


def is_prefit(around):
    """Tell whether the estimator inside is fitted already, as `cv` says."""
    return isinstance(around.cv, str) and around.cv == PREFIT


def fitted_before(around):
    """Return the inner estimator if it is fitted already, or None."""
    if isinstance(around.estimator, FrozenEstimator):
        return around.estimator.estimator
    return around.estimator if is_prefit(around) else None


class CalibratingTagger(WrappedTagger):
    """Base of the taggers that calibrate another one on sequences new to it."""

    __sklearn_clone__ = prefit_clone

    @reads_at_once
    def predict_all(self, X: Iterable[Any]) -> Predictions:
        """Return an object that answers any question about X.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        answers : Predictions
            Those of the tagger, with calibrated confidence or with ``accepted(risk)``
            and ``sets()``.
        """
        check_is_fitted(self)
        inner = predictions_of(self.estimator_, X)
        return Predictions(self._layer(inner.layer, self), inner.X)

    def _refuse_known(self, tagger, X):
        """Raise if a fitted tagger was trained on the sequences, where it can tell."""
        if self.allow_training_data or not hasattr(tagger, "train_overlap"):
            return
        share = tagger.train_overlap(X)
        if share > MOST_KNOWN:
            n_known = round(tagger.train_overlap(X, "sentence") * len(X))
            raise ValueError(
                f"the tagger has learned from {100 * share:.0f} % of these words, in "
                f"{n_known} of {len(X)} sentences, so they do not tell how often it is "
                'right. Give others, or do without cv="prefit"; '
                "allow_training_data=True calibrates on them anyway"
            )

    def _plain_params(self):
        # Folds that are not a number cannot be written, and no longer matter.
        cv = self.cv if isinstance(self.cv, Integral | str | None) else None
        return {**super()._plain_params(), "estimator": None, "cv": cv}

    def _saved_state(self):
        check_is_fitted(self)
        if not isinstance(self.estimator_, BaseSequenceTagger):
            raise ValueError(
                f"a {type(self.estimator_).__name__} cannot be saved without pickle; "
                f"pickle the {type(self).__name__}, or save one of skcw's"
            )
        header, arrays = self.estimator_.to_saved()
        frozen = isinstance(self.estimator, FrozenEstimator)
        return {"tagger": header, "frozen": frozen, **self._own_state()}, arrays

    def _restore(self, state, arrays):
        found = BaseSequenceTagger.from_saved(state["tagger"], arrays)
        self.estimator_ = found
        self._restore_own(state)
        if saved_flag(state["frozen"], "frozen"):
            self.estimator = FrozenEstimator(found)
        else:
            self.estimator = found if is_prefit(self) else clone(found)

    def _check_method(self, method):
        """Raise unless the tagger has the method of a model file."""
        if method is not None and method not in self.estimator_.confidence_methods_:
            raise ValueError(f"the tagger has no method {shortened(method)}")


@dataclass(eq=False, repr=False, match_args=False)
class CalibratedTagger(CalibratingTagger):
    """Tagger whose confidence is the probability that a label is right.

    A monotone map from confidence to the share of right labels is fitted on sequences
    that the tagger has not been trained on. Labels do not change: ``predict`` returns
    those of the tagger.

    Parameters
    ----------
    estimator : estimator
        A tagger or a :class:`skcw.TaggingPipeline`; it is cloned and fitted. One that
        is fitted already, with ``cv="prefit"`` or inside
        :class:`sklearn.frozen.FrozenEstimator`, stays as it is, and all of the data
        given to ``fit`` calibrates it. A tagger of another package needs ``predict``
        and ``predict_marginals`` (or ``predict_confidence``).
    method : str, default="isotonic"
        The map: ``"isotonic"``, ``"sigmoid"``, ``"temperature"``, ``"beta"``, or
        ``"identity"``, which leaves confidences as they are. The first two also map
        distances, such as those of ``confidence_method="delta"``, to probabilities.
        With fewer than about a thousand tokens prefer ``"beta"`` or ``"sigmoid"``.
    confidence_method : str, default=None
        The method of the tagger's ``predict_confidence``; None is its own default.
    cv : int, splitter, iterable, "prefit" or None, default=None
        Folds of sequences, five by default. A clone is fitted without each fold and
        predicts it; the tagger that predicts is fitted on all of the data. For grouped
        data give the folds, ``list(GroupKFold().split(X, y, groups))``. ``save`` writes
        None unless `cv` is a number or a name.
    ensemble : bool, default=True
        Whether to fit one map per fold and average their probabilities, or a single
        map on the tokens of all folds.
    per_label : bool, default=False
        Whether each predicted label has a map of its own. Then tokens of different
        labels may change their order.
    min_words : int, default=200
        A label with fewer tokens, or with only right or only wrong ones, uses the map
        common to all labels.
    entity_confidence : str, default=None
        An event of ``predict_entities``, such as ``"exact"``: a further map is fitted
        on whether predicted entities are right. By default the confidence of an entity
        is that of its least confident token, which is not the probability that the
        whole entity is right.
    keep_order : bool, default=True
        Whether tokens of different confidence keep their order where the map is flat.
        This changes the result by at most 0.00001.
    variance_scale, temperature : float, default=None
        Options of the confidence method. What ``fit_confidence`` has chosen is used for
        a tagger that is fitted already; clones do not have it.
    n_best, n_draws : int, default=None
        Options of the confidence method.
    allow_training_data : bool, default=False
        Whether a tagger may be calibrated on its training data, of which it is too
        confident. Otherwise folds must not overlap, and of the data given to a fitted
        tagger at most a quarter may be known to it.
    n_jobs : int, default=None
        How many folds are fitted at once, in threads.

    Attributes
    ----------
    estimator_ : estimator
        The fitted tagger that predicts.
    calibrators_ : list of LabelCalibrators
        The calibrators, whose mean is taken: each has ``common`` and ``by_label``.
    entity_calibrators_ : list of LabelCalibrators
        The same for entities; empty without `entity_confidence`.
    rival_calibrators_ : list of LabelCalibrators
        The same for the marginals of labels that are not predicted, by label where
        there are at least `min_words`. They calibrate ``label_table``, and so questions
        such as "is this an NN?". They are smooth, ``"beta"`` for ``"isotonic"``.
    classes_, n_iter_, history_ : object
        Those of the tagger.

    See Also
    --------
    skcw.calibration.IsotonicCalibrator : Calibrates confidences without a tagger.
    sklearn.calibration.CalibratedClassifierCV : The same for classifiers.

    Notes
    -----
    A tagger that is trained by margins has learned its confidence as it was fitted:
    calibrate other taggers, other methods of confidence, or text of another kind. With
    one map for all labels the ranking of the tokens stays as it was; maps by label
    change it.

    scikit-learn's ``ensemble=True`` lets the classifiers of all folds vote. Here labels
    would change with it, so only the maps are averaged.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.calibration import CalibratedTagger
    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.features import WindowFeatures
    >>> tokens, y = make_tagged_corpus(300, random_state=0, return_X_y=True)
    >>> X = WindowFeatures("ner").fit_transform(tokens)
    >>> tagger = CalibratedTagger(CWSequenceTagger(random_state=0), method="beta")
    >>> tagger.fit(X[:200], y[:200]).predict_confidence(X[200:])[0][1:].round(1)
    array([1., 1., 1., 1., 1., 1.])

    A fitted tagger is calibrated on data that it has not been trained on:

    >>> fitted = CWSequenceTagger(random_state=0)
    >>> fitted = fitted.fit(X[:200], y[:200])
    >>> calibrated = CalibratedTagger(fitted, cv="prefit")
    >>> calibrated.fit(X[:200], y[:200])
    Traceback (most recent call last):
    ValueError: the tagger has learned from 100 % of these words...
    >>> calibrated.fit(X[200:], y[200:]).predict_single(X[0]) == fitted.predict(X)[0]
    True
    """

    estimator: Any
    _: KW_ONLY
    method: str = "isotonic"
    confidence_method: str | None = None
    cv: Any = None
    ensemble: bool = True
    per_label: bool = False
    min_words: int = 200
    entity_confidence: str | None = None
    keep_order: bool = True
    variance_scale: float | None = None
    temperature: float | None = None
    n_best: int | None = None
    n_draws: int | None = None
    allow_training_data: bool = False
    n_jobs: int | None = None

    _layer = CalibratedLayer
    _parameter_constraints = {
        "estimator": TAGGERS,
        "method": [StrOptions(set(CALIBRATORS))],
        "confidence_method": [str, None],
        "cv": ["cv_object", StrOptions({PREFIT})],
        "ensemble": ["boolean"],
        "per_label": ["boolean"],
        "min_words": [Interval(Integral, 1, None, closed="left")],
        "entity_confidence": [StrOptions(set(SPAN_EVENTS)), None],
        "keep_order": ["boolean"],
        "variance_scale": [Interval(Real, 0, None, closed="neither"), None],
        "temperature": [Interval(Real, 0, None, closed="neither"), None],
        "n_best": [Interval(Integral, 1, None, closed="left"), None],
        "n_draws": [Interval(Integral, 1, None, closed="left"), None],
        "allow_training_data": ["boolean"],
        "n_jobs": [Integral, None],
    }

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Iterable[Any], y: Iterable[Any], sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the calibrators, and the tagger unless it is fitted already.

        Parameters
        ----------
        X : iterable of sequences
            The sequences, in any form that the tagger takes.
        y : iterable of sequences of str
            Their labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            How much each sequence counts, for the tagger and for the calibrators.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        make = calibrator_maker(self.method, self.confidence_method, self.keep_order)
        X, y = reusable_rows(X), list(y) if isinstance(y, Iterator) else y
        tagger = fitted_before(self)
        if tagger is not None:
            found = [self._held_out_data(tagger, X, y, sample_weight)]
        else:
            tagger, found = self._fit_on_folds(X, y, sample_weight)
        if not found:
            raise ValueError(
                "no fold has a token of positive weight to calibrate on; give more "
                "sequences, or other weights"
            )
        tokens, entities, rivals = zip(*found, strict=True)
        least = self.min_words if self.per_label else None
        self.calibrators_ = self._fit_calibrators(make, tokens, least)
        self.entity_calibrators_ = []
        if self.entity_confidence:
            entities = some_entities(entities)
            self.entity_calibrators_ = self._fit_calibrators(make, entities, least)
        rivals = [one for one in rivals if one is not None]
        # Steps would call a label impossible wherever it never was the true one.
        smooth = "beta" if self.method == "isotonic" else self.method
        make = calibrator_maker(smooth, "marginal", self.keep_order)
        self.rival_calibrators_ = self._fit_calibrators(make, rivals, self.min_words)
        self.estimator_ = as_tagger(tagger)
        self.confidence_options_ = self._options()
        return self

    def _fit_calibrators(self, make, held_out, least):
        if not self.ensemble and held_out:
            held_out = [HeldOut.joined(held_out)]
        return [LabelCalibrators.learn(make, one, least) for one in held_out]

    def _held_out(self, tagger, X, y, weight):
        """Return held-out tokens, entities if wanted, and rivals of a fitted tagger."""
        options, predictions = self._options(), predictions_of(as_tagger(tagger), X)
        tokens, entities = held_out_words(predictions, y, options, weight), None
        rivals = held_out_rivals(predictions, y, weight)
        if self.entity_confidence:
            event = self.entity_confidence
            entities = held_out_entities(predictions, y, event, options, weight)
        return tokens, entities, rivals

    def _options(self):
        names = ("variance_scale", "temperature", "n_best", "n_draws")
        given = {"method": self.confidence_method}
        given |= {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}

    def _held_out_data(self, tagger, X, y, sample_weight):
        """Return the same of data; raise if the tagger was trained on them."""
        if encodes(tagger):
            X = tagger.encode(X)
        self._refuse_known(tagger, X)
        return self._held_out(tagger, X, y, check_sample_weight(sample_weight, len(X)))

    def _fit_on_folds(self, X, y, sample_weight):
        """Return a tagger fitted on all data, and what clones say of held-out folds."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        tagger = clone(self.estimator).fit(X, y, **weights)
        copy = clone(self.estimator)
        # A pipeline learns its features without the fold, too.
        if encodes(tagger) and not isinstance(tagger, Pipeline):
            X = tagger.encode(X)
            if "min_count" in copy.get_params(deep=False):
                # Encoding has left rare features out already, and cannot do so twice.
                copy.set_params(min_count=1)
        found = of_folds(
            copy,
            X,
            object_rows(y),
            self._held_out,
            cv=self.cv,
            weight=check_sample_weight(sample_weight, len(X)),
            n_jobs=self.n_jobs,
            allow_overlap=self.allow_training_data,
        )
        return tagger, found

    @property
    def confidence_methods_(self):
        """The only method: the one that the calibrators were fitted for, by name."""
        check_is_fitted(self)
        name = self.default_method_
        inner = getattr(self.estimator_, "confidence_methods_", METHODS)
        spans = None
        if self.entity_confidence not in (None, LEAST_WORD):
            # Whole spans may have another default than words.
            spans = inner[self.confidence_options_.get("method", "marginal")].spans
        own = {"probability": True, "any_label": True}
        method = replace(inner[name], **own, spans=spans, sequences=None)
        return ServedMethods({name: method})

    @property
    def default_method_(self):
        """The method that the calibrators were fitted for."""
        check_is_fitted(self)
        usual = getattr(self.estimator_, "default_method_", "marginal")
        return self.confidence_options_.get("method", usual)

    def _check_asked(self, method, options):
        """Raise at what the calibrators were not fitted for."""
        if method not in (None, self.default_method_):
            raise ValueError(
                f"method is {method!r}, but the calibrators were fitted for "
                f"{self.default_method_!r}; set confidence_method={method!r} and fit "
                "again, or ask estimator_"
            )
        if options:
            raise TypeError(
                f"a calibrated tagger has no option {min(options)!r}; set it before "
                "fit, or ask estimator_"
            )

    def _own_state(self):
        return {
            **{n: [maps.state() for maps in getattr(self, a)] for a, n in SAVED_MAPS},
            "options": self.confidence_options_,
        }

    def _restore_own(self, state):
        for attribute, name in SAVED_MAPS:
            maps = saved_kind(state[name], name, list)
            setattr(self, attribute, [LabelCalibrators.from_state(m) for m in maps])
        self.confidence_options_ = saved_kind(state["options"], "options", dict)
        options = dict(self.confidence_options_)
        self._check_method(options.pop("method", None))
        check_saved_options(options)
        needed = [self.calibrators_]
        if self.entity_confidence:
            needed.append(self.entity_calibrators_)
        if not all(needed):
            raise ValueError("a calibrator is missing")


def encodes(tagger):
    """Tell whether a tagger encodes sequences; some need to read their words."""
    return isinstance(tagger, BaseSequenceTagger) and hasattr(tagger, "encode")
