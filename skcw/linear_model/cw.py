"""Confidence-weighted classification."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from skcw._kernels.row_passes import cw_row_pass
from skcw._util.compat import Interval, StrOptions
from skcw.linear_model.gaussian import GaussianRowClassifier

# The η that the form of the multi-class paper is best with.
VARIANCE_FORM_ETA = 0.9
# The rule for φ stays within this range, and that for C below this bound.
PHI_RANGE, MOST_C = (1.0, 4.0), 2.0


@dataclass(eq=False, repr=False, match_args=False)
class MultiClassCW(GaussianRowClassifier):
    """Classifier trained by confidence-weighted learning.

    The classifier keeps a Gaussian N(μ, Σ) over its weights, with diagonal Σ. For each
    row it moves to the closest Gaussian (in relative entropy) under which the true
    label beats each of its best rivals with probability η [1]_, Eqs. (4) to (8): with g
    = f(x, y) - f(x, r), φ = Φ⁻¹(η), M = μ·g and V = gᵀΣg, that is M ≥ φ √V, or M ≥ φ V
    in the form that the paper uses. A row that would need too long a step is corrected
    in part [2]_. The paper's own learner is ``MultiClassCW(norm.ppf(0.9),
    update="single", step="variance", C=inf, variance_scale=1.0)``.

    Parameters
    ----------
    phi : float or "auto", default="auto"
        Standard deviations φ by which a corrected label must beat each rival. For the
        papers' probability η write ``phi=scipy.stats.norm.ppf(eta)``. "auto" is
        √(features / rows), from 1 to 4; with ``step="variance"`` it is Φ⁻¹(0.9).
    C : float or "auto", default="auto"
        The largest step, as a multiple of the step with which the row would move a
        model that knows nothing [2]_. "auto" is φ, but at most 2. ``float("inf")``
        corrects rows at once, as in [1]_; lower it for noisy labels. The exact update
        and ``diagonal="optimal"`` have no C.
    update : {"joint", "single", "sequential", "parallel", "exact"}, default="joint"
        Which rivals count, and how: several from the same start, each moving the means
        by 2 / (k + 1) of its step; the best one; several, one after the other; several
        from the same start, averaged; or the smallest change that satisfies several at
        once (slow). The papers have the last four.
    n_rivals : int, "all" or None, default=None
        How many rivals count, best first, unless the update is "single"; None means 4
        with "joint" (1 with ``diagonal="optimal"``) and all with the others.
    step : {"stdev", "variance"}, default="stdev"
        The form of the constraint, M ≥ φ √V or M ≥ φ V. With the former predictions do
        not depend on the initial variance nor on the scale of the features; the latter
        is that of the multi-class paper.
    bound : {"outer", "inner"}, default="outer"
        Ask for η in every pair of labels; or for 1 - (1 - η) / (K - 1), so that the
        label beats all of the K - 1 others together with probability η.
    diagonal : {"precision", "covariance", "optimal"}, default="precision"
        How Σ is kept diagonal: the inverse of the diagonal of the full new precision;
        the diagonal of the full new covariance; or the best diagonal update for one
        rival, found by a one-dimensional search. The exact update is of the last kind.
    initial_variance : float, default=1.0
        The prior variance of every weight.
    variance_scale : float or {"held-out", "log_loss", "root_calibration_mse"}
        What variances are multiplied by in probabilities; labels hardly depend on it.
        "held-out", the default, learns it in ``fit``, together with noise and
        shrinkage, by log loss on rows that the first passes leave out and the model
        learns afterwards. "log_loss" and "root_calibration_mse" choose the scale alone,
        by cross-validation, which takes as many more trainings. A number, such as 1.0,
        is taken as it is.
    scale_cv : int, splitter or None, default=None
        The folds for "log_loss" and "root_calibration_mse"; None means 5.
    max_iter : int, default=5
        Number of passes over the training rows.
    averaging : bool, default=False
        Predict with the weights averaged over all rounds instead of the last ones.
    fit_intercept : bool, default=True
        Learn a constant for every class.
    shuffle : bool, default=True
        Present the rows in a new random order in each pass. The orders depend on the
        content of the rows alone, so a weight of two equals two copies, and the order
        in which rows are given does not matter.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied. With
        ``C=inf``, weights above 1 multiply φ instead.
    early_stopping : bool or dict, default=False
        True holds out a share of every class, keeps the pass with the best accuracy on
        it and stops after some passes without gain. A dict sets any of
        ``validation_fraction`` (0.1), ``n_iter_no_change`` (3) and ``tol`` (1e-4), the
        least gain that counts.
    warm_start : bool, default=False
        Let ``fit`` continue from the present weights instead of the prior.
    random_state : int, RandomState or None, default=None
        Controls the order of the rows and the choice of held-out rows.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the weights.
    verbose : int, default=0
        Above 0, one line per pass is printed to standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        The weights; for two classes those of the second less those of the first.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        The constants.
    phi_ : float
        The φ in force.
    coef_variance_ : ndarray
        The variance of each weight, in the shape of ``coef_``.
    intercept_variance_ : ndarray
        The variance of each constant.
    variance_scale_ : float
        What variances are multiplied by in predictions.
    noise_ : float or None
        The variance of the noise that was found in every label's score, if any.
    shrinkage_ : float or None
        By how many of its standard deviations each score is lowered in probabilities.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has names that are all strings.
    n_iter_ : int
        Number of passes made.
    history_ : list of dict
        What each pass found: wrong rows, dev score, seconds.

    References
    ----------
    .. [1] K. Crammer, M. Dredze and A. Kulesza, "Multi-class confidence weighted
       algorithms", EMNLP 2009.
    .. [2] J. Wang, P. Zhao and S. C. H. Hoi, "Exact soft confidence-weighted learning",
       ICML 2012.

    Examples
    --------
    >>> from skcw import MultiClassCW
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
    >>> y = ["a", "b", "c", "a", "b"]
    >>> classifier = MultiClassCW(random_state=0).fit(X, y)
    >>> classifier.predict([[1, 0, 0], [0, 0, 2]]).tolist()
    ['a', 'c']

    With the probability η = 0.9 of the papers:

    >>> from scipy.stats import norm
    >>> round(MultiClassCW(norm.ppf(0.9), random_state=0).fit(X, y).phi_, 2)
    1.28

    How sure it is, as a probability:

    >>> classifier.predict_confidence([[1, 0, 0], [0, 0, 2]]).round(1).tolist()
    [0.9, 0.7]
    """

    phi: float | str = "auto"
    _: KW_ONLY
    C: float | str = "auto"
    update: str = "joint"
    n_rivals: Any = None
    step: str = "stdev"
    bound: str = "outer"
    diagonal: str = "precision"
    initial_variance: float = 1.0
    variance_scale: float | str = "held-out"
    scale_cv: Any = None
    max_iter: int = 5
    averaging: bool = False
    fit_intercept: bool = True
    shuffle: bool = True
    class_weight: dict | str | None = None
    early_stopping: bool | dict = False
    warm_start: bool = False
    random_state: int | np.random.RandomState | None = None
    dtype: str = "float32"
    verbose: int = 0

    _parameter_constraints = {
        **GaussianRowClassifier._parameter_constraints,
        "update": [StrOptions({"joint", "single", "sequential", "parallel", "exact"})],
        "phi": [Interval(Real, 1e-10, 1e10, closed="both"), StrOptions({"auto"})],
        "C": [Interval(Real, 1e-10, None, closed="both"), StrOptions({"auto"})],
        "step": [StrOptions({"variance", "stdev"})],
        "bound": [StrOptions({"outer", "inner"})],
        "diagonal": [StrOptions({"precision", "covariance", "optimal"})],
    }

    def _n_rivals(self, n_classes):
        # The best diagonal is known for one rival.
        if (self.update, self.n_rivals, self.diagonal) == ("joint", None, "optimal"):
            return 1
        return super()._n_rivals(n_classes)

    def _check_settings(self, n_classes):
        super()._check_settings(n_classes)
        several = self.update != "exact" and self._n_rivals(n_classes) > 1
        if self.diagonal == "optimal" and several:
            raise ValueError(
                f"diagonal='optimal' is for updates with one rival, but update="
                f"{self.update!r} considers {self._n_rivals(n_classes)}; choose "
                "update='single', or update='exact', its form for several"
            )

    def _prepare(self, rows, whole):
        if self.phi != "auto":
            self.phi_ = float(self.phi)
        elif self.step == "variance":
            self.phi_ = float(ndtri(VARIANCE_FORM_ETA))
        elif whole or not hasattr(self, "phi_"):
            n_rows, n_features = rows.counts()
            self.phi_ = float(np.clip(np.sqrt(n_features / n_rows), *PHI_RANGE))

    def _phi(self, n_classes):
        """Return φ for every rival."""
        if self.bound == "outer":
            return self.phi_
        # By the logarithm of the upper tail, which no phi makes zero.
        return -ndtri_exp(log_ndtr(-self.phi_) - np.log(n_classes - 1))

    def _split_class_weights(self, by_class):
        # After a hard step a row is as sure as it must be. To present it again changes
        # nothing, so weights above one multiply the confidence asked for instead.
        soft = self.C == "auto" or np.isfinite(self.C)
        hard = not soft or self.update == "exact" or self.diagonal == "optimal"
        if by_class is None or not hard:
            return by_class, None
        return np.minimum(by_class, 1.0), np.maximum(by_class, 1.0)

    def _bound_kernel(self, n_classes):
        phi = self._phi(n_classes)
        return partial(
            cw_row_pass,
            n_labels=n_classes,
            k=self._n_rivals(n_classes),
            phi=phi,
            update=self.update,
            step=self.step,
            diagonal=self.diagonal,
            # Few features cannot fit all rows, so none of these should count too much.
            budget=min(phi, MOST_C) if self.C == "auto" else self.C,
            prior=self.initial_variance,
        )
