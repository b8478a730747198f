"""A tagger whose confidences are probabilities."""

from collections.abc import Iterator
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from skcw._compat import HasMethods, Interval, StrOptions, _fit_context
from skcw.calibration._checks import check_weights
from skcw.calibration._entities import (
    CalibratedEntities,
    judge_entities,
    some_entities,
)
from skcw.calibration._judging import (
    Judged,
    flat_labels,
    flat_numbers,
    judge,
    judge_folds,
    rows_to_read_twice,
)
from skcw.calibration._label_maps import LabelMaps, map_maker
from skcw.calibration._passing import (
    PassedAnswers,
    can_encode,
    shared_rest,
    unfrozen,
)
from skcw.calibration.maps import MAPS
from skcw.calibration.saving import PREFIT, SavedCalibration
from skcw.confidence.whole import DEFINITIONS
from skcw.data.ragged import object_rows, offsets_of, split_rows
from skcw.tagging import BaseSequenceTagger

# Of a new part of a corpus up to a tenth of the words are in sentences that the
# training part has too (CoNLL-2002); more is no accident.
MOST_KNOWN = 0.25


class CalibratedTagger(
    CalibratedEntities, SavedCalibration, PassedAnswers, BaseSequenceTagger
):
    """Tagger whose confidence is the probability that a label is right.

    A monotone map is learnt from words that the tagger has not learnt from: how often
    was it right when it was that sure? Labels stay what they are, ``predict`` is the
    tagger's own.

    Parameters
    ----------
    tagger : estimator
        A tagger or a :class:`skcw.TaggingPipeline`. It is copied and fitted, unless it
        is fitted already and `cv` is ``"prefit"`` or the tagger is wrapped in
        :class:`sklearn.frozen.FrozenEstimator`: then it stays as it is and all words
        given to ``fit`` serve the map.
    map : str, default="isotonic"
        ``"isotonic"``, ``"sigmoid"``, ``"temperature"``, ``"beta"`` or ``"identity"``,
        which leaves confidences as they are. The first two also map distances, such as
        those of ``method="delta"``, to probabilities.
    cv : int, splitter, iterable, "prefit" or None, default=None
        Folds of sequences, five by default. For each fold a copy of the tagger learns
        from the others and judges it. The tagger that predicts learns from all words.
        Groups are respected by giving the folds themselves,
        ``list(GroupKFold().split(X, y, groups))``. ``save`` writes None for folds that
        are no number.
    ensemble : bool, default=True
        Whether to learn a map from each fold and to take the mean of what they say, or
        one map from the words of all folds.
    pooled : bool, default=True
        Whether all labels share one map, or each predicted label has its own. Words of
        different labels may then change places.
    min_words : int, default=200
        A label with fewer words to learn from, or with right or wrong ones only, uses
        the common map.
    entities : str, default=None
        A definition of ``predict_entities`` such as ``"exact"``: a second map is learnt
        from the entities that the tagger predicts, which the truth has or not. By
        default an entity is as sure as its least sure word, which is no probability
        that the whole entity is right.
    keep_order : bool, default=True
        Whether words whose confidences differ keep their order where the map is flat:
        the result is off by at most 0.00001 for it.
    method : str, default=None
        The method of the tagger's ``predict_confidence``; None is its own default.
    scale, temperature : float, default=None
        Options of the method. What ``fit_confidence`` has chosen is used where a fitted
        tagger is calibrated as it is; copies know nothing of it.
    k, n_draws : int, default=None
        Options of the method.
    allow_training_data : bool, default=False
        Whether a tagger may be calibrated on words that it has learnt from. It is surer
        of them than of any others, and nearly always right. Without it folds must not
        test on what they train on, and of the words given to a fitted tagger up to a
        quarter may be in sentences that it knows, for corpora repeat some.
    n_jobs : int, default=None
        How many folds are fitted at once, in threads.

    Attributes
    ----------
    tagger_ : estimator
        The fitted tagger that predicts.
    maps_ : list of LabelMaps
        The maps, whose mean is taken: each has ``pooled`` and ``by_label``.
    entity_maps_ : list of LabelMaps
        The same for entities; empty without `entities`.
    classes_, n_iter_, history_ : object
        Those of the tagger.

    See Also
    --------
    skcw.calibration.IsotonicMap : What a map is.
    sklearn.calibration.CalibratedClassifierCV : The same for classifiers.

    Notes
    -----
    Measured on 4,000 sentences of NP chunks, Spanish and Dutch names, with a CW tagger
    that has learnt from 3,000 and five folds of them:

    ======================  ===================  =====================
    marginals               RMSE over 20 bins    log score
    ======================  ===================  =====================
    as they come            .0182, .0262, .0242  .0835, .0723, .0488
    isotonic                .0187, .0218, .0260  .0835, .0702, .0495
    isotonic, one map       .0180, .0211, .0263  .0835, .0704, .0501
    sigmoid                 .0180, .0221, .0241  .0835, .0700, .0485
    temperature             .0182, .0225, .0246  .0835, .0701, .0485
    beta                    .0178, .0209, .0243  .0835, .0699, .0485
    beta for each label     .0182, .0223, .0245  .0833, .0692, .0484
    ``kd-fixed``            RMSE over 20 bins    log score
    as they come            .0361, .0219, .0264  .0930, .0688, .0503
    isotonic                .0187, .0216, .0240  .0836, .0678, .0488
    beta                    .0211, .0217, .0248  .0844, .0677, .0486
    ======================  ===================  =====================

    With one map for all labels the order of the words, and so the average precision of
    finding wrong ones, stays what it was. Maps for each label change it; on Spanish it
    rose from .469 to .474, on NP chunks it fell by .0001.

    Log scores of "the truth has this name": .389 and .363 (Spanish, Dutch) by the least
    sure word with a beta map, .373 and .355 with ``entities="exact"``.

    scikit-learn's ``ensemble=True`` keeps the classifiers of all folds and lets them
    vote. Here the labels would change with it, and it does not pay: the mean of what
    five taggers, each with its isotonic map, thought of the labels above had an RMSE of
    .0201, .0228, .0257, and found wrong words with a precision of .326, .436, .478
    instead of .328, .469, .528.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.calibration import CalibratedTagger
    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.features import WindowFeatures
    >>> tokens, y = make_tagged_corpus(300, random_state=0, return_X_y=True)
    >>> X = WindowFeatures("ner").fit_transform(tokens)
    >>> tagger = CalibratedTagger(CWSequenceTagger(random_state=0), map="beta")
    >>> tagger.fit(X[:200], y[:200]).predict_confidence(X[200:])[0][1:].round(1)
    array([1., 1., 1., 1., 1., 1.])

    A fitted tagger is calibrated on other sentences than it has learnt from:

    >>> fitted = CWSequenceTagger(random_state=0).fit(X[:200], y[:200])
    >>> calibrated = CalibratedTagger(fitted, cv="prefit")
    >>> calibrated.fit(X[:200], y[:200])
    Traceback (most recent call last):
    ValueError: the tagger has learnt from 100 % of these words...
    >>> calibrated.fit(X[200:], y[200:]).predict_single(X[0]) == fitted.predict(X)[0]
    True
    """

    _parameter_constraints: dict = {
        "tagger": [HasMethods(["fit", "predict", "predict_confidence"])],
        "map": [StrOptions(set(MAPS))],
        "cv": ["cv_object", StrOptions({PREFIT})],
        "ensemble": ["boolean"],
        "pooled": ["boolean"],
        "min_words": [Interval(Integral, 1, None, closed="left")],
        "entities": [StrOptions(set(DEFINITIONS)), None],
        "keep_order": ["boolean"],
        "method": [str, None],
        "scale": [Interval(Real, 0, None, closed="neither"), None],
        "temperature": [Interval(Real, 0, None, closed="neither"), None],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "n_draws": [Interval(Integral, 1, None, closed="left"), None],
        "allow_training_data": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        tagger,
        *,
        map="isotonic",
        cv=None,
        ensemble=True,
        pooled=True,
        min_words=200,
        entities=None,
        keep_order=True,
        method=None,
        scale=None,
        temperature=None,
        k=None,
        n_draws=None,
        allow_training_data=False,
        n_jobs=None,
    ):
        self.tagger = tagger
        self.map = map
        self.cv = cv
        self.ensemble = ensemble
        self.pooled = pooled
        self.min_words = min_words
        self.entities = entities
        self.keep_order = keep_order
        self.method = method
        self.scale = scale
        self.temperature = temperature
        self.k = k
        self.n_draws = n_draws
        self.allow_training_data = allow_training_data
        self.n_jobs = n_jobs

    def __sklearn_clone__(self):
        copy = super().__sklearn_clone__()
        if self._has_prefit():
            # A copy without what the tagger has learnt had nothing to calibrate.
            copy.tagger = self.tagger
        return copy

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Learn the map, and the tagger if it is not fitted already.

        Parameters
        ----------
        X : iterable of sequences
            The sequences, in any form that the tagger takes.
        y : iterable of sequences of str
            Their labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            What each sequence counts, for the tagger and for the map.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        make = map_maker(self.map, self.method, self.keep_order)
        X, y = rows_to_read_twice(X), list(y) if isinstance(y, Iterator) else y
        if self._has_prefit() or isinstance(self.tagger, FrozenEstimator):
            tagger = unfrozen(self.tagger)
            judged = [self._judge_unseen(tagger, X, y, sample_weight)]
        else:
            tagger, judged = self._fit_and_judge(X, y, sample_weight)
        if not judged:
            raise ValueError("no fold has a word that counts: there is nothing to map")
        words, entities = zip(*judged, strict=True)
        maps, entity_maps = self._learn_maps(make, words), []
        if self.entities:
            entity_maps = self._learn_maps(make, some_entities(entities))
        self.tagger_, self.maps_, self.entity_maps_ = tagger, maps, entity_maps
        self.confidence_options_ = self._options()
        return self

    def _learn_maps(self, make, judged):
        if not self.ensemble:
            judged = [Judged.joined(judged)]
        least = None if self.pooled else self.min_words
        return [LabelMaps.learn(make, one, least) for one in judged]

    def _judge(self, tagger, X, y, weight):
        """Return what a fitted tagger says of words and of entities, if asked."""
        options = self._options()
        words = judge(tagger, X, y, options, weight)
        if not self.entities:
            return words, None
        return words, judge_entities(tagger, X, y, self.entities, options, weight)

    def _options(self):
        names = ("method", "scale", "temperature", "k", "n_draws")
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}

    def _judge_unseen(self, tagger, X, y, sample_weight):
        """Return what a fitted tagger says of words that must be new to it."""
        if can_encode(tagger):
            X = tagger.encode(X)
        if not self.allow_training_data and hasattr(tagger, "training_share"):
            share = tagger.training_share(X)
            if share > MOST_KNOWN:
                raise ValueError(
                    f"the tagger has learnt from {100 * share:.0f} % of these words, "
                    "so that they do not tell how often it is right. Give others, or "
                    "let cv make folds; allow_training_data=True calibrates on them "
                    "all the same"
                )
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, len(X), "sequence")
        return self._judge(tagger, X, y, sample_weight)

    def _fit_and_judge(self, X, y, sample_weight):
        """Return a tagger that has learnt from all words, and the words of folds."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        tagger = clone(self.tagger).fit(X, y, **weights)
        copy = clone(self.tagger)
        if can_encode(tagger):
            # Encoding has left rare features out already, and cannot do so twice.
            X = tagger.encode(X)
            if "min_count" in copy.get_params(deep=False):
                copy.set_params(min_count=1)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, len(X), "sequence")
        judged = judge_folds(
            copy,
            X,
            object_rows(y),
            self._judge,
            cv=self.cv,
            weight=sample_weight,
            n_jobs=self.n_jobs,
            allow_overlap=self.allow_training_data,
        )
        return tagger, judged

    def predict_confidence(self, X, method=None):
        """Return the probability that each predicted label is right.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        method : str, default=None
            None, or the method that the maps were learnt for.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            A float array per sequence.
        """
        check_is_fitted(self)
        self._check_method(method)
        X = self._reusable(X)
        rows = self.tagger_.predict_confidence(X, **self.confidence_options_)
        flat, label = flat_numbers(rows), None
        if any(maps.by_label for maps in self.maps_):
            label = flat_labels(self.tagger_.predict(X))
        mapped = self._mapped(self.maps_, flat, label)
        return split_rows(mapped, offsets_of([len(row) for row in rows]))

    def _check_method(self, method):
        """Raise at another method than that which the maps were learnt for."""
        learnt = self.confidence_options_.get("method")
        if method not in (None, learnt):
            raise ValueError(
                f"method is {method!r}, but the maps were learnt for "
                f"{learnt or 'the default of the tagger'!r}; set method={method!r} "
                "and fit again, or ask tagger_"
            )

    def _mapped(self, maps, confidence, label):
        return np.mean([each(confidence, label) for each in maps], axis=0)

    def predict_marginals(self, X):
        """Return a probability of every label, in the form of sklearn-crfsuite.

        The predicted label has its confidence; the others share the rest as they do in
        the marginals of the tagger.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        marginals : ndarray of shape (n_sequences,), dtype object
            A list per sequence with a dict per token: label -> probability.
        """
        check_is_fitted(self)
        X = self._reusable(X)
        rows = zip(
            self.tagger_.predict_marginals(X),
            self.predict(X),
            self.predict_confidence(X),
            strict=True,
        )
        return object_rows([*map(shared_rest, *row)] for row in rows)

    def _reusable(self, X):
        check_is_fitted(self)
        if isinstance(self.tagger_, BaseSequenceTagger):
            return self.tagger_._reusable(X)
        return rows_to_read_twice(X)
