"""Confidence-weighted classification."""

from numbers import Real

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from skcw._compat import Interval, StrOptions
from skcw._kernels.row_passes import cw_row_pass
from skcw.linear_model._gaussian import GaussianRowClassifier

# What the multi-class paper's form is best with, and where rules for φ end.
PAPERS_ETA, MOST_PHI = 0.9, 4.0


class MultiClassCW(GaussianRowClassifier):
    """Classifier trained by confidence-weighted learning.

    The classifier keeps a Gaussian N(μ, Σ) over its weights, with diagonal Σ. For each
    row it moves to the closest Gaussian (in relative entropy) under which the true
    label beats its best rivals with probability η each [1]_, Eqs. (4) to (8): with
    g = f(x, y) - f(x, r), φ = Φ⁻¹(η), M = μ·g and V = gᵀΣg, that is M ≥ φ √V, or
    M ≥ φ V in the form that the paper uses.

    Parameters
    ----------
    eta : float, default=0.9
        The probability η, above one half and below one, with which a corrected label
        must beat each rival. Accuracy for φ = 0.3, 1, 1.5, 3 (η = .62, .84, .93,
        .999): 20 Newsgroups, binary words, .928, .932, .933, .933; Amazon domains,
        counts of bigrams, .946, .951, .952, .946; Enron B, .779, .776, .781, .778.
    phi : float or None, default=None
        φ = Φ⁻¹(η) itself; if given, ``eta`` does not count.
    update : {"single", "sequential", "parallel", "exact"}, default="single"
        Which rivals count, and how: the best one; several, one after the other; several
        from the same start, averaged; or the smallest change that satisfies several
        at once (slow).
    n_rivals : int, "all" or None, default=None
        How many rivals count, best first, unless the update is "single". None is all.
    step : {"variance", "stdev"}, default="variance"
        The form of the constraint, M ≥ φ V or M ≥ φ √V. With the latter predictions
        do not depend on the initial variance nor on the scale of the features, and
        larger φ are best: at φ = 1, 2, 3, 4 .922, .931, .934, .933 on 20 Newsgroups,
        .937, .942, .946, .951 on Amazon domains, .759, .776, .773, .774 on Enron B.
    bound : {"outer", "inner"}, default="outer"
        Ask for η of every pair of labels; or for 1 - (1 - η) / (K - 1), so that the
        label beats all of the K - 1 others together with probability η.
    diagonal : {"precision", "covariance", "optimal"}, default="precision"
        How Σ is kept diagonal: the inverse of the diagonal of the full new precision;
        the diagonal of the full new covariance; or the update that is best among
        diagonal ones, found by a one-dimensional search, for one rival. The exact
        update is always of the last kind. The first is best for words (.932 against
        .923 on 20 Newsgroups); a few dense features want the second: on scikit-learn's
        digits ``step="stdev"`` has .964 with it at φ = 3 and .875 without.
    initial_variance : float, default=1.0
        The prior variance of every weight.
    variance_scale : float or {"log_loss", "calibration"}, default=1.0
        What the variances are multiplied by when probabilities are computed; labels
        do not depend on it. A name chooses it in ``fit`` on held-out folds: by the
        logarithmic loss, or by the error of the predicted labels' probabilities over
        20 bins, which can choose extremes where nearly all labels are right. That
        costs one more training per fold.
    scale_cv : int, splitter or None, default=None
        The folds by which ``variance_scale`` is chosen; None means 5.
    max_iter : int, default=5
        Number of passes over the training rows.
    averaging : bool, default=False
        Predict with the weights averaged over all rounds instead of the last ones. The
        paper does not; with it accuracy was .925 against .932 on 20 Newsgroups, .948
        (.951) on Amazon domains, .854 (.841) on Enron A and .781 (.776) on Enron B.
    fit_intercept : bool, default=True
        Learn a constant for every class.
    shuffle : bool, default=True
        Present the rows in a new random order in each pass. The orders depend on what
        the rows are and not on where they stand, so the model does not change when
        rows are given in another order, and a weight of two equals two copies.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. One above 1 multiplies φ for the rows of the class; one
        below 1 multiplies the weight of the rows.
    early_stopping : bool, default=False
        Hold out a share of every class, keep the pass with the best accuracy on it,
        and stop after ``n_iter_no_change`` passes without gain.
    validation_fraction : float, default=0.1
        The share that ``early_stopping`` holds out.
    n_iter_no_change : int, default=3
        Passes without gain after which training stops.
    tol : float, default=1e-4
        The least gain that counts.
    warm_start : bool, default=False
        Let ``fit`` continue from the present weights instead of the prior.
    random_state : int, RandomState or None, default=None
        Seed of the orders and of the held-out share.
    dtype : {"float32", "float64"}, default="float32"
        Precision in which weights are stored.
    verbose : int, default=0
        Above 0, a line per pass goes to the standard error stream.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        The weights; for two classes those of the second less those of the first.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        The constants.
    coef_variance_ : ndarray
        The variance of each weight, in the shape of ``coef_``.
    intercept_variance_ : ndarray
        The variance of each constant.
    variance_scale_ : float
        What the variances are multiplied by in predictions.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has names that are all strings.
    n_iter_ : int
        Number of passes made.
    history_ : list of dict
        What each pass found: epoch, wrong rows when presented, dev score, seconds.

    Notes
    -----
    ``predict`` returns the label with the highest mean score, and ``predict_proba``
    follows it. The label that is most probable under the Gaussian, the Bayes rule, is
    another one in few rows and was no better on any set (nor was it in the paper).
    Accuracy by the mean and by the Bayes rule, rows that differ, log-loss and RMSE over
    20 bins of both, with ``variance_scale`` as it comes; then log-loss and RMSE with
    ``variance_scale="log_loss"``, and those of maximum entropy:

    ========  ==========  ==========  ============  ============  ==========  ==========
    set       % right     differ      log-loss      RMSE          fitted      maxent
    ========  ==========  ==========  ============  ============  ==========  ==========
    20 News   93.3, 93.2  29 of 5655  .446, .446    .240, .239    .295, .062  .388, .056
    Amazon 4  94.1, 94.0  2 of 2400   .266, .266    .154, .153    .192, .035  .416, .081
    Enron A   84.0, 83.9  10 of 941   .685, .686    .116, .106    .682, .109  .789, .147
    Enron B   75.5, 74.8  14 of 951   .928, .928    .131, .124    .918, .071  .857, .124
    Reuters   99.0, 99.0  0 of 2277   .103, .103    .111, .111    .041, .035  .057, .066
    ========  ==========  ==========  ============  ============  ==========  ==========

    References
    ----------
    .. [1] K. Crammer, M. Dredze and A. Kulesza, "Multi-class confidence weighted
       algorithms", EMNLP 2009.

    Examples
    --------
    >>> from skcw import MultiClassCW
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
    >>> y = ["a", "b", "c", "a", "b"]
    >>> classifier = MultiClassCW(random_state=0).fit(X, y)
    >>> classifier.predict([[1, 0, 0], [0, 0, 2]]).tolist()
    ['a', 'c']

    How sure it is, as a probability:

    >>> classifier.predict_confidence([[1, 0, 0], [0, 0, 2]]).round(1).tolist()
    [0.9, 0.7]
    """

    _parameter_constraints: dict = {
        **GaussianRowClassifier._parameter_constraints,
        "eta": [Interval(Real, 0.5, 1, closed="neither"), StrOptions({"auto"})],
        "phi": [Interval(Real, 1e-10, 1e10, closed="both"), None],
        "C": [Interval(Real, 1e-10, 1e10, closed="both"), None],
        "step": [StrOptions({"variance", "stdev"})],
        "bound": [StrOptions({"outer", "inner"})],
        "diagonal": [StrOptions({"precision", "covariance", "optimal"})],
    }

    def __init__(
        self,
        eta="auto",
        *,
        phi=None,
        C=2.0,
        update="single",
        n_rivals=None,
        step="stdev",
        bound="outer",
        diagonal="precision",
        initial_variance=1.0,
        variance_scale="shadow",
        scale_cv=None,
        max_iter=5,
        averaging=False,
        fit_intercept=True,
        shuffle=True,
        class_weight=None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=3,
        tol=1e-4,
        warm_start=False,
        random_state=None,
        dtype="float32",
        verbose=0,
    ):
        super().__init__(
            update=update,
            n_rivals=n_rivals,
            diagonal=diagonal,
            initial_variance=initial_variance,
            variance_scale=variance_scale,
            scale_cv=scale_cv,
            max_iter=max_iter,
            averaging=averaging,
            fit_intercept=fit_intercept,
            shuffle=shuffle,
            class_weight=class_weight,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            warm_start=warm_start,
            random_state=random_state,
            dtype=dtype,
            verbose=verbose,
        )
        self.eta = eta
        self.phi = phi
        self.C = C
        self.step = step
        self.bound = bound

    def _check_settings(self, n_classes):
        super()._check_settings(n_classes)
        several = self.update in ("sequential", "parallel") and self._k(n_classes) > 1
        if self.diagonal == "optimal" and several:
            raise ValueError(
                f"diagonal='optimal' serves updates for one rival, but update="
                f"{self.update!r} considers {self._k(n_classes)}; choose "
                "update='exact', its form for several"
            )

    def _prepare(self, rows, whole):
        if self.phi is not None:
            self.phi_ = float(self.phi)
        elif self.eta != "auto":
            self.phi_ = float(ndtri(self.eta))
        elif self.step == "variance":
            self.phi_ = float(ndtri(PAPERS_ETA))
        elif whole or not hasattr(self, "phi_"):
            n_rows, n_features = rows.counts()
            self.phi_ = float(np.clip(np.sqrt(n_features / n_rows), 1.0, MOST_PHI))

    def _phi(self, n_classes):
        """Return φ for every rival."""
        if self.bound == "outer":
            return self.phi_
        # By the logarithm of the upper tail, which no phi makes zero.
        return -ndtri_exp(log_ndtr(-self.phi_) - np.log(n_classes - 1))

    def _demand(self, by_class):
        # A row is as sure as it must be after one presentation: more would be in
        # vain, so weights above one ask for so many times the confidence.
        if by_class is None:
            return None, None
        return np.minimum(by_class, 1.0), np.maximum(by_class, 1.0)

    def _run_pass(self, belief, rows, order, n_classes):
        return cw_row_pass(
            belief.mean,
            belief.variance,
            belief.drift,
            belief.rounds,
            rows,
            order,
            n_classes,
            self._k(n_classes),
            self._phi(n_classes),
            self.update,
            self.step,
            self.diagonal,
            np.inf if self.C is None else self.C,
            self.initial_variance,
        )
