"""``CalibratedTagger``: a tagger whose confidences are probabilities."""

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skcw._util.checks import check_sample_weight
from skcw._util.compat import HasMethods, Interval, StrOptions, _fit_context
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import object_rows
from skcw.calibration.answers import LEAST_WORD, CalibratedAnswers
from skcw.calibration.calibrators import MAPS, LabelMaps, map_maker
from skcw.confidence.held_out import (
    HeldOut,
    ask_folds,
    held_out_entities,
    held_out_rivals,
    held_out_words,
    reusable_rows,
    some_entities,
)
from skcw.confidence.settings import check_saved_options
from skcw.confidence.tallies import SPAN_EVENTS
from skcw.data.saved import saved_flag, saved_kind, shortened
from skcw.tagging import BaseSequenceTagger
from skcw.tagging.base import WrappedTagger
from skcw.tagging.crf import as_tagger

PREFIT = "prefit"
# Of a new part of a corpus up to a tenth of the words are in sentences that the
# training part has too (CoNLL-2002); more is not an accident.
MOST_KNOWN = 0.25


# Ours, and those in the manner of sklearn-crfsuite.
TAGGERS = [HasMethods(["fit", "predict_all"]), HasMethods(["fit", "predict_marginals"])]


class CalibratedTagger(WrappedTagger):
    """Tagger whose confidence is the probability that a label is right.

    A monotone map from confidence to the share of right labels is learned from words
    that the tagger has not learned from. Labels do not change: ``predict`` returns those
    of the tagger.

    Parameters
    ----------
    tagger : estimator
        A tagger or a :class:`skcw.TaggingPipeline`. It is copied and fitted, unless it
        is fitted already and `cv` is ``"prefit"`` or the tagger is wrapped in
        :class:`sklearn.frozen.FrozenEstimator`: then it stays as it is and all words
        given to ``fit`` are used for the map.
    map : str, default="isotonic"
        ``"isotonic"``, ``"sigmoid"``, ``"temperature"``, ``"beta"`` or ``"identity"``,
        which leaves confidences as they are. The first two also map distances, such as
        those of ``method="delta"``, to probabilities.
    cv : int, splitter, iterable, "prefit" or None, default=None
        Folds of sequences, five by default. For each fold a copy of the tagger learns
        from the others and judges it. The tagger that predicts learns from all words.
        Groups are respected by giving the folds themselves,
        ``list(GroupKFold().split(X, y, groups))``. ``save`` writes None for folds that
        are not given as a number.
    ensemble : bool, default=True
        Whether to learn one map per fold and take the mean of their results, or a
        single map from the words of all folds.
    per_label : bool, default=False
        Whether to learn one map per predicted label instead of one for all. With
        several maps, words of different labels may change their order.
    min_words : int, default=200
        A label with fewer words to learn from, or with right or wrong ones only, uses
        the common map.
    entity_confidence : str, default=None
        An event of ``predict_entities``, such as ``"exact"``: a second map is learned
        from the predicted entities and whether they are in the truth. By default the
        confidence of an entity is that of its least sure word, which is not the
        probability that the whole entity is right.
    keep_order : bool, default=True
        Whether words whose confidences differ keep their order where the map is flat.
        This changes the result by at most 0.00001.
    method : str, default=None
        The method of the tagger's ``predict_confidence``; None is its own default.
    variance_scale, temperature : float, default=None
        Options of the method. What ``fit_confidence`` has chosen is used where a fitted
        tagger is calibrated as it is; copies know nothing of it.
    n_best, n_draws : int, default=None
        Options of the method.
    allow_training_data : bool, default=False
        Whether a tagger may be calibrated on words that it has learned from. It is surer
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
        The maps, whose mean is taken: each has ``common`` and ``by_label``.
    entity_maps_ : list of LabelMaps
        The same for entities; empty without `entity_confidence`.
    rival_maps_ : list of LabelMaps
        The same for the marginals of labels that are not predicted, one map for each
        label with at least `min_words`: they make ``label_table``, and so questions
        such as "is this an NN?", calibrated label by label. They are smooth, ``"beta"``
        if `map` is ``"isotonic"``.
    classes_, n_iter_, history_ : object
        Those of the tagger.

    See Also
    --------
    skcw.calibration.IsotonicCalibrator : What a map is.
    sklearn.calibration.CalibratedClassifierCV : The same for classifiers.

    Notes
    -----
    RMSE over 20 bins and log loss of "is this label right?" on the test sets of NP
    chunks, Spanish and Dutch names; a CW tagger has learned from 3,000 sentences, and
    five folds of these have taught the map:

    ======================  ===================  ===================
    marginals               RMSE                 log loss
    ======================  ===================  ===================
    uncalibrated            .0238, .0253, .0231  .0864, .0650, .0534
    isotonic                .0264, .0245, .0253  .0861, .0641, .0529
    isotonic, one map       .0229, .0236, .0239  .0858, .0641, .0531
    sigmoid                 .0240, .0248, .0250  .0863, .0644, .0534
    temperature             .0265, .0247, .0252  .0869, .0646, .0534
    beta                    .0252, .0253, .0238  .0861, .0643, .0532
    beta for each label     .0246, .0251, .0239  .0854, .0645, .0529
    ======================  ===================  ===================

    A CW tagger has already learned how sure to be: maps are for other taggers, for other
    methods of confidence and for text that differs. With one map for all labels the
    order of the words, and so the average precision of finding wrong ones, stays what
    it was. Maps for each label change it: on Spanish from .492 to .481.

    scikit-learn's ``ensemble=True`` keeps the classifiers of all folds and lets them
    vote. Here the labels would change with it, so the maps alone are averaged.

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
    array([1. , 1. , 1. , 1. , 0.9, 1. ])

    A fitted tagger is calibrated on other sentences than it has learned from:

    >>> fitted = CWSequenceTagger(random_state=0)
    >>> fitted = fitted.fit(X[:200], y[:200])
    >>> calibrated = CalibratedTagger(fitted, cv="prefit")
    >>> calibrated.fit(X[:200], y[:200])
    Traceback (most recent call last):
    ValueError: the tagger has learned from 100 % of these words...
    >>> calibrated.fit(X[200:], y[200:]).predict_single(X[0]) == fitted.predict(X)[0]
    True
    """

    _parameter_constraints: dict = {
        "tagger": TAGGERS,
        "map": [StrOptions(set(MAPS))],
        "cv": ["cv_object", StrOptions({PREFIT})],
        "ensemble": ["boolean"],
        "per_label": ["boolean"],
        "min_words": [Interval(Integral, 1, None, closed="left")],
        "entity_confidence": [StrOptions(set(SPAN_EVENTS)), None],
        "keep_order": ["boolean"],
        "method": [str, None],
        "variance_scale": [Interval(Real, 0, None, closed="neither"), None],
        "temperature": [Interval(Real, 0, None, closed="neither"), None],
        "n_best": [Interval(Integral, 1, None, closed="left"), None],
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
        per_label=False,
        min_words=200,
        entity_confidence=None,
        keep_order=True,
        method=None,
        variance_scale=None,
        temperature=None,
        n_best=None,
        n_draws=None,
        allow_training_data=False,
        n_jobs=None,
    ):
        self.tagger = tagger
        self.map = map
        self.cv = cv
        self.ensemble = ensemble
        self.per_label = per_label
        self.min_words = min_words
        self.entity_confidence = entity_confidence
        self.keep_order = keep_order
        self.method = method
        self.variance_scale = variance_scale
        self.temperature = temperature
        self.n_best = n_best
        self.n_draws = n_draws
        self.allow_training_data = allow_training_data
        self.n_jobs = n_jobs

    def _has_prefit(self):
        return isinstance(self.cv, str) and self.cv == PREFIT

    def __sklearn_clone__(self):
        copy = super().__sklearn_clone__()
        if self._has_prefit():
            # A copy without what the tagger has learned would have nothing to calibrate.
            copy.tagger = self.tagger
        return copy

    @changes_at_once
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
            How much each sequence counts, for the tagger and for the map.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        make = map_maker(self.map, self.method, self.keep_order)
        X, y = reusable_rows(X), list(y) if isinstance(y, Iterator) else y
        if self._has_prefit() or isinstance(self.tagger, FrozenEstimator):
            frozen = isinstance(self.tagger, FrozenEstimator)
            tagger = self.tagger.estimator if frozen else self.tagger
            found = [self._ask_unseen(tagger, X, y, sample_weight)]
        else:
            tagger, found = self._fit_and_ask(X, y, sample_weight)
        if not found:
            raise ValueError("no fold has a word of positive weight to learn from")
        words, entities, rivals = zip(*found, strict=True)
        maps, entity_maps = self._learn_maps(make, words), []
        if self.entity_confidence:
            entity_maps = self._learn_maps(make, some_entities(entities))
        self.rival_maps_ = self._learn_rival_maps(rivals)
        self.tagger_ = as_tagger(tagger)
        self.maps_, self.entity_maps_ = maps, entity_maps
        self.confidence_options_ = self._options()
        return self

    def _learn_maps(self, make, held_out):
        if not self.ensemble:
            held_out = [HeldOut.joined(held_out)]
        least = self.min_words if self.per_label else None
        return [LabelMaps.learn(make, one, least) for one in held_out]

    def _learn_rival_maps(self, rivals):
        """Return maps of the marginals of labels that are not predicted, by label."""
        some = [one for one in rivals if one is not None]
        if not self.ensemble and some:
            some = [HeldOut.joined(some)]
        # Steps would call a label impossible wherever it never was the true one.
        smooth = "beta" if self.map == "isotonic" else self.map
        make = map_maker(smooth, "marginal", self.keep_order)
        return [LabelMaps.learn(make, one, self.min_words) for one in some]

    def _held_out(self, tagger, X, y, weight):
        """Return held-out words, entities if wanted, and rivals of a fitted tagger."""
        options, answers = self._options(), as_tagger(tagger).predict_all(X)
        words = held_out_words(answers, y, options, weight)
        rivals = held_out_rivals(answers, y, weight)
        if not self.entity_confidence:
            return words, None, rivals
        event = self.entity_confidence
        return words, held_out_entities(answers, y, event, options, weight), rivals

    def _options(self):
        names = ("method", "variance_scale", "temperature", "n_best", "n_draws")
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}

    def _ask_unseen(self, tagger, X, y, sample_weight):
        """Return held-out words; raise if the fitted tagger has learned from them."""
        if encodes(tagger):
            X = tagger.encode(X)
        if not self.allow_training_data and isinstance(tagger, BaseSequenceTagger):
            share = tagger.train_overlap(X)
            if share > MOST_KNOWN:
                raise ValueError(
                    f"the tagger has learned from {100 * share:.0f} % of these words, "
                    "so they do not tell how often it is right. Give others, or "
                    "let cv make folds; allow_training_data=True calibrates on them "
                    "anyway"
                )
        return self._held_out(tagger, X, y, check_sample_weight(sample_weight, len(X)))

    def _fit_and_ask(self, X, y, sample_weight):
        """Return a tagger that has learned from all words, and the words of folds."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        tagger = clone(self.tagger).fit(X, y, **weights)
        copy = clone(self.tagger)
        if encodes(tagger) and not isinstance(tagger, Pipeline):
            X = tagger.encode(X)
            if "min_count" in copy.get_params(deep=False):
                # Encoding has left rare features out already, and cannot do so twice.
                copy.set_params(min_count=1)
        found = ask_folds(
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

    @reads_at_once
    def predict_all(self, X):
        """Return an object that answers any question about X.

        The inner tagger encodes and scores the sequences once.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        answers : CalibratedAnswers
            With the methods of :class:`skcw.confidence.Predictions`.
        """
        check_is_fitted(self)
        return CalibratedAnswers(self.tagger_.predict_all(X), self)

    @property
    def confidence_methods_(self):
        """The only method: the one that the maps were learned for, by its name."""
        check_is_fitted(self)
        name, inner = self.default_method_, self.tagger_.confidence_methods_
        spans = None
        if self.entity_confidence not in (None, LEAST_WORD):
            # Whole spans may have another default than words.
            spans = inner[self.confidence_options_.get("method", "marginal")].spans
        own = {"probability": True, "any_label": True}
        return {name: replace(inner[name], **own, spans=spans, sequences=None)}

    @property
    def default_method_(self):
        """The method that the maps were learned for."""
        check_is_fitted(self)
        return self.confidence_options_.get("method") or self.tagger_.default_method_

    def _check_asked(self, method, options):
        """Raise at what the maps were not learned for."""
        if method not in (None, self.confidence_options_.get("method")):
            learned = self.default_method_
            if method != learned:
                raise ValueError(
                    f"method is {method!r}, but the maps were learned for {learned!r}; "
                    f"set method={method!r} and fit again, or ask tagger_"
                )
        if options:
            raise TypeError(
                f"a calibrated tagger has no option {min(options)!r}; set it before "
                "fit, or ask tagger_"
            )

    def _plain_params(self):
        # Folds that are not a number cannot be written, and no longer matter.
        params = super()._plain_params()
        if not isinstance(self.cv, Integral | str | None):
            params["cv"] = None
        return {**params, "tagger": None}

    def _saved_state(self):
        check_is_fitted(self)
        if not isinstance(self.tagger_, BaseSequenceTagger):
            raise ValueError(
                f"a {type(self.tagger_).__name__} cannot be saved without pickle; "
                "pickle the calibrated tagger, or save one of skcw's"
            )
        header, arrays = self.tagger_.to_saved()
        state = {
            "tagger": header,
            "frozen": isinstance(self.tagger, FrozenEstimator),
            "maps": [maps.state() for maps in self.maps_],
            "entity_maps": [maps.state() for maps in self.entity_maps_],
            "rival_maps": [maps.state() for maps in self.rival_maps_],
            "options": self.confidence_options_,
        }
        return state, arrays

    def _restore(self, state, arrays):
        self.maps_, self.entity_maps_, self.rival_maps_ = (
            [LabelMaps.from_state(maps) for maps in saved_kind(state[name], name, list)]
            for name in ("maps", "entity_maps", "rival_maps")
        )
        self.tagger_ = BaseSequenceTagger.from_saved(state["tagger"], arrays)
        self.confidence_options_ = saved_kind(state["options"], "options", dict)
        self._check_restored()
        if saved_flag(state["frozen"], "frozen"):
            self.tagger = FrozenEstimator(self.tagger_)
        else:
            self.tagger = self.tagger_ if self._has_prefit() else clone(self.tagger_)

    def _check_restored(self):
        """Raise unless there are the maps and the method that answers ask for."""
        options = dict(self.confidence_options_)
        methods, method = self.tagger_.confidence_methods_, options.pop("method", None)
        check_saved_options(options)
        if method is not None and method not in methods:
            raise ValueError(f"the tagger has no method {shortened(method)}")
        if not self.maps_ or (self.entity_confidence and not self.entity_maps_):
            raise ValueError("a map is missing")


def encodes(tagger):
    """Tell whether a tagger encodes sequences; some need to read their words."""
    return isinstance(tagger, BaseSequenceTagger) and hasattr(tagger, "encode")
