"""Confidence-weighted classification."""

from numbers import Real

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from skcw._kernels.row_passes import cw_row_pass
from skcw._util.compat import Interval, StrOptions
from skcw.linear_model.gaussian import GaussianRowClassifier

# The η that the form of the multi-class paper is best with.
VARIANCE_FORM_ETA = 0.9
# The rule for φ stays within this range.
PHI_RANGE = (1.0, 4.0)


class MultiClassCW(GaussianRowClassifier):
    """Classifier trained by confidence-weighted learning.

    The classifier keeps a Gaussian N(μ, Σ) over its weights, with diagonal Σ. For each
    row it moves to the closest Gaussian (in relative entropy) under which the true
    label beats each of its best rivals with probability η [1]_, Eqs. (4) to (8): with
    g = f(x, y) - f(x, r), φ = Φ⁻¹(η), M = μ·g and V = gᵀΣg, that is M ≥ φ √V, or
    M ≥ φ V in the form that the paper uses. A row that would need too long a step is
    corrected in part [2]_.

    Parameters
    ----------
    phi : float or "auto", default="auto"
        Standard deviations φ by which a corrected label must beat each rival. The
        papers give the probability η = Φ(φ) instead: write
        ``phi=scipy.stats.norm.ppf(0.9)`` for η = 0.9. "auto" sets
        φ = √(features / rows), from 1 to 4, counting different rows and the features
        that they have: where features are few, no weights can satisfy all rows, and
        where they are many, larger φ are better. Accuracy with φ = 1, 2, 3 and with the
        rule: 20 Newsgroups, binary words, .911, .919, .925, .926; digits .971, .962,
        .938, .971. With ``step="variance"`` "auto" is Φ⁻¹(0.9).
    C : float, default=2.0
        The largest step, as soft confidence-weighted learning has it [2]_: α is at most
        C times the α with which the row would move a model that knows nothing.
        ``float("inf")`` corrects rows at once, whatever it takes, as in [1]_. On rows
        that no weights tell apart (40 features, 5 classes, a tenth of the labels wrong)
        accuracy is .72 with infinity and .90 with 2. The exact update and
        ``diagonal="optimal"`` have no C.
    update : {"joint", "single", "sequential", "parallel", "exact"}, default="joint"
        Which rivals count, and how: several from the same start, each moving the means
        by 2 / (k + 1) of its step, which satisfies k rivals that are alike; the best
        one; several, one after the other; several from the same start, averaged; or the
        smallest change that satisfies several at once (slow). The papers have the last
        four. Where classes overlap "joint" has less log loss than "single": Enron A,
        binary words, .439 against .468, tf-idf .450 (.483), Enron B .711 (.739), then
        .706 (.740). Two classes have one rival, and all updates but "exact" are one.
    n_rivals : int, "all" or None, default=None
        How many rivals count, best first, unless the update is "single"; None means
        4 with "joint" (1 with ``diagonal="optimal"``) and all with the others.
    step : {"stdev", "variance"}, default="stdev"
        The form of the constraint, M ≥ φ √V or M ≥ φ V. With the former predictions
        do not depend on the initial variance nor on the scale of the features; the
        latter is that of the multi-class paper, which is
        ``MultiClassCW(norm.ppf(0.9), update="single", step="variance", C=inf,
        variance_scale=1.0)``.
    bound : {"outer", "inner"}, default="outer"
        Ask for η in every pair of labels; or for 1 - (1 - η) / (K - 1), so that the
        label beats all of the K - 1 others together with probability η.
    diagonal : {"precision", "covariance", "optimal"}, default="precision"
        How Σ is kept diagonal: the inverse of the diagonal of the full new precision;
        the diagonal of the full new covariance; or the update that is best among
        diagonal ones, found by a one-dimensional search, for one rival. The exact
        update is always of the last kind. The first is best for words (.929 against
        .915 on 20 Newsgroups with the paper's update).
    initial_variance : float, default=1.0
        The prior variance of every weight.
    variance_scale : float or {"shadow", "log_loss", "root_calibration_mse"}
        What the variances are multiplied by when probabilities are computed, "shadow"
        by default; labels do not depend on it. "shadow" learns it in ``fit``, together
        with noise that is the same everywhere and caution towards labels of which
        little is known, from rows that were not learned from: a second model, the
        shadow, is fitted on two thirds of the rows, and the three have the least log
        loss on the last third (on each third in turn with fewer than 1500 rows; with
        fewer than 20 nothing is learned, the scale is 1, and asking for probabilities
        warns). That costs about one more training, about three with fewer than 1500
        rows. "log_loss" and "root_calibration_mse" choose the scale alone on held-out
        folds: by that loss, or by the root CalibMSE of the predicted labels'
        probabilities. That costs one more training per fold.
    scale_cv : int, splitter or None, default=None
        The folds for "log_loss" and "root_calibration_mse"; None means 5.
    max_iter : int, default=5
        Number of passes over the training rows.
    averaging : bool, default=False
        Predict with the weights averaged over all rounds instead of the last ones. The
        paper does not; with it accuracy of the paper's update was .924 against .929 on
        20 Newsgroups, .935 (.938) on Amazon domains, .842 (.847) on Enron A.
    fit_intercept : bool, default=True
        Learn a constant for every class.
    shuffle : bool, default=True
        Present the rows in a new random order in each pass. The orders depend on what
        the rows are and not on where they stand, so the model does not change when
        rows are given in another order, and a weight of two equals two copies.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied. With
        ``C=inf``, where one presentation corrects a row, weights above 1 multiply φ
        instead.
    n_shards : int, default=1
        Split the rows into this many shards. Every pass learns each of them from the
        common Gaussian, side by side, and merges what they have moved. The result
        depends on data, ``random_state`` and this number, never on who computes it: the
        workers of ``joblib.parallel_config``, one by default. Each shard needs a row;
        ``partial_fit`` learns in one piece.
    early_stopping : bool, default=False
        Hold out a share of every class, keep the pass with the best accuracy on it,
        and stop after ``n_iter_no_change`` passes without gain.
    validation_fraction : float, default=0.1
        The share that ``early_stopping`` holds out.
    n_iter_no_change : int, default=3
        Passes without gain after which training stops.
    tol : float, default=1e-4
        The smallest gain that counts as an improvement.
    warm_start : bool, default=False
        Let ``fit`` continue from the present weights instead of the prior.
    random_state : int, RandomState or None, default=None
        Controls the order of the rows and the choice of the held-out share.
    dtype : {"float32", "float64"}, default="float32"
        Precision in which weights are stored.
    verbose : int, default=0
        Above 0, one line per pass is printed to standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        The weights; for two classes those of the second less those of the first. One
        row per class, as in scikit-learn; taggers have one row per feature.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        The constants.
    coef_variance_ : ndarray
        The variance of each weight, in the shape of ``coef_``.
    intercept_variance_ : ndarray
        The variance of each constant.
    variance_scale_ : float
        What the variances are multiplied by in predictions; what is learned is at most
        1e6.
    noise_ : float or None
        The variance of the noise that a shadow has found in every label's score; None
        without a shadow or with too few rows. Without noise the probabilities are
        exactly those of the Gaussian.
    shrinkage_ : float or None
        By how many of its standard deviations each label's score is lowered before the
        probabilities are computed; None where ``noise_`` is. With two classes it is 0.
    phi_ : float
        The φ of the last training; ``partial_fit`` keeps what "auto" was at first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has names that are all strings.
    n_iter_ : int
        Number of passes made.
    history_ : list of dict
        What each pass found: epoch, wrong rows when presented, dev score, seconds; with
        shards also "bytes_sent" to workers and "bytes_returned" by them.

    Notes
    -----
    ``predict`` returns the label with the highest mean score, and ``predict_proba``
    follows it.

    :class:`~skcw.CWSequenceTagger` has the same parameters under the same names. Its
    defaults are others (φ = 0.25, C = 1, 10 passes, averaged weights): they were
    measured on corpora of sentences, those here on sets of texts.

    Log loss as it comes, and of logistic regression whose C was chosen by
    cross-validation (means of five splits, binary words, then tf-idf): Amazon domains
    .176, .231, then .159, .174; Amazon sentiment .395, .413, then .403, .386; Enron A
    .471, .504, then .481, .486; Enron B .769, .829, then .762, .771; Reuters .102,
    .126, then .088, .095; SMS .039, .046, then .052, .058. Of 18 sets and forms of rows
    the first is at most the last in 14, and at worst 15 % above it (shades of digits,
    .115 and .100).

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

    _parameter_constraints: dict = {
        **GaussianRowClassifier._parameter_constraints,
        "update": [StrOptions({"joint", "single", "sequential", "parallel", "exact"})],
        "phi": [Interval(Real, 1e-10, 1e10, closed="both"), StrOptions({"auto"})],
        "C": [Interval(Real, 1e-10, None, closed="both")],
        "step": [StrOptions({"variance", "stdev"})],
        "bound": [StrOptions({"outer", "inner"})],
        "diagonal": [StrOptions({"precision", "covariance", "optimal"})],
    }

    def __init__(
        self,
        phi="auto",
        *,
        C=2.0,
        update="joint",
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
        n_shards=1,
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
            n_shards=n_shards,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            warm_start=warm_start,
            random_state=random_state,
            dtype=dtype,
            verbose=verbose,
        )
        self.phi = phi
        self.C = C
        self.step = step
        self.bound = bound

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
        hard = np.isinf(self.C) or self.update == "exact" or self.diagonal == "optimal"
        if by_class is None or not hard:
            return by_class, None
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
            self._n_rivals(n_classes),
            self._phi(n_classes),
            self.update,
            self.step,
            self.diagonal,
            self.C,
            self.initial_variance,
        )
