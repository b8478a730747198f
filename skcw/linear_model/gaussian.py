"""Base class of classifiers with a Gaussian over their weights: their probabilities.

The scale of the variances is learned from rows that the first passes leave out, before
the others learn them as well, or by cross-validation.
"""

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skcw._model.row_training import predictions
from skcw._model.rows import FEWEST_ROWS, held_out_to_judge, row_weights
from skcw._util.checks import check_real
from skcw._util.compat import Interval, StrOptions, _safe_indexing
from skcw._util.one_step import reads_at_once
from skcw.exceptions import UnlearnedConfidenceWarning
from skcw.linear_model.base import RowClassifier, sklearn_shape
from skcw.linear_model.probabilities import (
    DISTRIBUTIONS,
    fit_softmax,
    gaussian_distribution,
    in_deviations,
    logistic_distribution,
    margin_of,
    with_caution,
    with_predicted_first,
)
from skcw.metrics import root_calibration_mse
from skcw.metrics.losses import CLIP

N_DRAWS = 1000
# How many rivals the joint update considers by default.
JOINT_RIVALS = 4
HELD_OUT = "held-out"
# How sure a model is that has not learned it.
UNLEARNED = {"variance_scale_": 1.0, "noise_": None, "shrinkage_": None}
# The range of scales that cross-validation searches.
SCALES = (1e-6, 1e6)


def _log_loss(distribution, codes):
    """Return the mean loss -log Pr[true label], with the clip of `skcw.metrics`."""
    truth = distribution[np.arange(len(codes)), codes]
    return -np.log(np.maximum(truth, CLIP)).mean()


def _calibration_error(distribution, codes):
    """Return the root CalibMSE of the predicted labels' probabilities."""
    return root_calibration_mse(
        distribution.argmax(axis=1) == codes,
        np.clip(distribution.max(axis=1), 0.0, 1.0),
    )


LOSSES = {"log_loss": _log_loss, "root_calibration_mse": _calibration_error}


class GaussianRowClassifier(RowClassifier):
    """Base of CW and AROW: updates for one or several rivals, and probabilities."""

    _parameter_constraints = {
        **RowClassifier._parameter_constraints,
        "update": [StrOptions({"single", "sequential", "parallel", "exact"})],
        "n_rivals": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"all"}),
            None,
        ],
        # Far from where single precision ends, and above the least variance kept.
        "initial_variance": [Interval(Real, 1e-10, 1e10, closed="both")],
        "variance_scale": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({HELD_OUT, *LOSSES}),
        ],
        "scale_cv": ["cv_object"],
    }

    def _initial_variance(self):
        return self.initial_variance

    def _check_settings(self, n_classes):
        if self.update == "single" and self.n_rivals not in (None, 1):
            raise ValueError(
                f"update='single' considers one rival, but n_rivals is "
                f"{self.n_rivals!r}; choose another update for several"
            )

    def _n_rivals(self, n_classes):
        """Return how many rivals an update considers."""
        if self.update == "single":
            return 1
        if self.n_rivals is None and self.update == "joint":
            return min(JOINT_RIVALS, n_classes - 1)
        if self.n_rivals in (None, "all"):
            return n_classes - 1
        return min(self.n_rivals, n_classes - 1)

    def _learn_scale(self, X, y, *options):
        if self.variance_scale in LOSSES:
            self.variance_scale_ = cross_validated_scale(self, X, y, *options)
            self.noise_ = self.shrinkage_ = None

    def _fitted(self, belief, classes):
        if isinstance(self.variance_scale, str):
            # Until they are learned, as a callback may see it, the last ones stay.
            learned = {name: getattr(self, name, UNLEARNED[name]) for name in UNLEARNED}
        else:
            scale = check_real("variance_scale", self.variance_scale)
            learned = {**UNLEARNED, "variance_scale_": scale}
        return {**super()._fitted(belief, classes), **learned}

    def _held_out_to_judge(self, rows):
        if self.variance_scale != HELD_OUT:
            return None
        return held_out_to_judge(rows)

    def _learn_variance(self, belief, unseen, judged):
        if self.variance_scale != HELD_OUT:
            return
        vars(self).update(UNLEARNED)
        if unseen is not None and len(unseen) >= FEWEST_ROWS:
            judged = predictions(belief, unseen)
        if judged is not None:
            rows, *columns = judged
            tables = (sklearn_shape(table, len(self.classes_)) for table in columns)
            found = fit_softmax(*tables, rows.gold, rows.weight)
            self.variance_scale_, self.noise_, self.shrinkage_ = found

    def _warn_if_unlearned(self):
        """Warn if ``fit`` had too few rows to learn the scale of confidence."""
        if self.variance_scale == HELD_OUT and self.noise_ is None:
            warnings.warn(
                "the classifier has learned from too few rows to calibrate its "
                "probabilities, so they are those of its belief alone; fit on more, or "
                "give a number as variance_scale",
                UnlearnedConfidenceWarning,
                # The line that asks, above the method and its decorator.
                stacklevel=4,
            )

    @reads_at_once
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For more than two classes the mean scores, the highest of which is
            predicted. For two classes one number per row, positive for the second of
            them: M / √V, the mean score in standard deviations.

        Notes
        -----
        For two classes scikit-learn asks that the scores rank rows as ``predict_proba``
        does, Φ(M / √V). They also rank better than M = ``X @ coef_.T + intercept_``.
        """
        if len(getattr(self, "classes_", ())) != 2:
            return super().decision_function(X)
        scores, spreads = self._scores_and_spreads(X)
        return np.nan_to_num(in_deviations(scores, self._widened(spreads)))

    @reads_at_once
    def predict_distribution(
        self,
        X: Any,
        method: str = "exact",
        *,
        n_draws: int = N_DRAWS,
        random_state: int | np.random.RandomState | None = 0,
    ) -> np.ndarray:
        """Return the probability that each label's score is the highest.

        The weights are drawn from the belief, with variances times
        ``variance_scale_``, and noise of variance ``noise_`` is added, if there is
        any. As every label has its own weights, the scores of a row are independent
        Gaussians.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        method : {"exact", "draws"}, default="exact"
            By quadrature, right to 1e-6 and deterministic; or as the share of draws
            that put the label first, the paper's way. All rows share the draws, so
            that the answer for a row does not depend on the others.
        n_draws : int, default=1000
            How many draws.
        random_state : int, RandomState or None, default=0
            Controls the draws.

        Returns
        -------
        distribution : ndarray of shape (n_samples, n_classes)
            Rows that sum to one. The label that ``predict`` returns is nearly always
            the most probable one; ``predict_proba`` makes it so.
        """
        if method not in DISTRIBUTIONS:
            raise ValueError(
                f"method is {method!r}; it must be one of {', '.join(DISTRIBUTIONS)}"
            )
        scores, spreads = self._scores_and_spreads(X)
        self._warn_if_unlearned()
        spreads = self._widened(spreads)
        return gaussian_distribution(scores, spreads, method, n_draws, random_state)

    @reads_at_once
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the labels, the predicted one's the highest.

        Where ``fit`` has learned noise, it is the softmax of the scores, divided by a
        temperature T of the row's own: T² = 6 / π² times the mean of the variances of
        its scores, noise included. That gives the noise the shape of Gumbel's
        distribution, with heavier tails than a Gaussian's. Each score is first lowered
        by ``shrinkage_`` times its standard deviation under the belief: a label that
        was neither true nor the best rival among such rows has kept a score near zero,
        which says little.

        Otherwise it is ``predict_distribution(X)``. In either case, where another label
        is more probable than the one with the highest mean score, the two exchange
        their probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Rows that sum to one.
        """
        scores_and_spreads = self._scores_and_spreads(X)
        self._warn_if_unlearned()
        return self._proba(*scores_and_spreads)

    def _proba(self, scores, spreads):
        widened = self._widened(spreads)
        if self.noise_ is not None:
            cautious = with_caution(scores, spreads, self.shrinkage_)
            distribution = logistic_distribution(cautious, widened)
        else:
            distribution = gaussian_distribution(scores, widened, "exact")
        return with_predicted_first(distribution, scores)

    @reads_at_once
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of ``predict_proba``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Minus infinity where a probability is zero.
        """
        scores_and_spreads = self._scores_and_spreads(X)
        self._warn_if_unlearned()
        with np.errstate(divide="ignore"):
            return np.log(self._proba(*scores_and_spreads))

    @reads_at_once
    def predict_confidence(self, X: Any, method: str = "probability") -> np.ndarray:
        """Return the confidence in each predicted label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        method : {"probability", "margin", "normalized-margin"}, default="probability"
            The predicted label's probability, as in ``predict_proba``; M, by which
            its score leads that of the next label; or M / √V, the same in standard
            deviations of that difference under the belief, without what
            ``variance_scale`` makes of them. The last two rank rows but are not
            probabilities.

        Returns
        -------
        confidence : ndarray of shape (n_samples,)
            One number per row.
        """
        scores, spreads = self._scores_and_spreads(X)
        if method == "probability":
            self._warn_if_unlearned()
            return self._proba(scores, spreads).max(axis=1)
        if method not in ("margin", "normalized-margin"):
            raise ValueError(
                f"method is {method!r}; it must be one of 'probability', "
                "'margin', 'normalized-margin'"
            )
        # Noise that is the same in all rows would leave the margin alone.
        return margin_of(scores, spreads, normalized=method != "margin")

    def _scores_and_spreads(self, X):
        """Return the means and variances of the scores, in scikit-learn's shape."""
        rows = self._read(X)
        spreads = rows.spreads(self.belief_.variance)
        return self._scores(rows), sklearn_shape(spreads, len(self.classes_))

    def _widened(self, spreads):
        """Return the variances of the scores with the scale and the noise learned."""
        widened = spreads * self.variance_scale_
        if self.noise_ is not None:
            # Two classes have one score, the difference of two.
            widened += self.noise_ * (2.0 if self._is_binary else 1.0)
        return widened

    @property
    def coef_variance_(self):
        """The variance of each weight, in the shape of ``coef_``."""
        return self._columns(self.belief_.variance)[:, :-1]

    @property
    def intercept_variance_(self):
        """The variance of each intercept, in the shape of ``intercept_``."""
        return self._columns(self.belief_.variance)[:, -1]


def cross_validated_scale(classifier, X, y, *options):
    """Return the scale with the least loss on held-out folds."""
    measure = LOSSES[classifier.variance_scale]
    scores, spreads, codes = _fold_predictions(classifier, X, y, *options)

    def loss(exponent):
        spread = spreads * 10.0**exponent
        distribution = gaussian_distribution(scores, spread, "exact")
        return measure(with_predicted_first(distribution, scores), codes)

    # A coarse grid first: the calibration error has more than one valley.
    grid = np.linspace(*np.log10(SCALES), 25)
    best = grid[np.argmin([loss(exponent) for exponent in grid])]
    step = grid[1] - grid[0]
    found = minimize_scalar(loss, bounds=(best - step, best + step), method="bounded")
    return float(10.0 ** (found.x if found.fun <= loss(best) else best))


def _fold_predictions(classifier, X, y, sample_weight, n_shards, checkpoint):
    """Return scores, spreads and codes of rows that copies have not learned from."""
    weight = row_weights(sample_weight, len(y))
    folds = check_cv(classifier.scale_cv, y, classifier=True)
    parts = []
    for number, (seen, unseen) in enumerate(folds.split(X, y), 1):
        copy = clone(classifier).set_params(variance_scale=1.0)
        own_weight = None if weight is None else weight[seen]
        own = None if checkpoint is None else checkpoint.of_fold(number)
        options = {"n_shards": n_shards, "checkpoint": own}
        copy.fit(_safe_indexing(X, seen), y[seen], own_weight, **options)
        if len(copy.classes_) != len(classifier.classes_):
            raise ValueError(
                "a fold lacks a class, so a variance scale cannot be chosen by "
                "cross-validation; give a number as variance_scale, or scale_cv with "
                "fewer folds"
            )
        if weight is not None:
            unseen = unseen[weight[unseen] > 0]
        codes = np.searchsorted(copy.classes_, y[unseen])
        parts.append((*copy._scores_and_spreads(_safe_indexing(X, unseen)), codes))
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))
