"""Classification by adaptive regularization of weights."""

from numbers import Real

from skcw._kernels.row_passes import arow_row_pass
from skcw._util.compat import Interval, StrOptions
from skcw.linear_model.gaussian import GaussianRowClassifier


class MultiClassAROW(GaussianRowClassifier):
    """Classifier trained by adaptive regularization of weights.

    The classifier keeps a Gaussian N(μ, Σ) over its weights, with diagonal Σ. A row
    whose true label does not lead its best rivals by a margin of one moves the means
    and narrows the variances of both: with g = f(x, y) - f(x, r) it minimizes
    KL(N(μ, Σ) || old) + (max(0, 1 - μ·g)² + gᵀΣg) / 2r [1]_. Unlike CW it does not
    insist on correcting a row at once, so noisy labels harm it less.

    Parameters
    ----------
    r : float, default=10.0
        How gently to update. (CRFsuite calls it gamma; Jubatus's regularization_weight
        is 1 / r.) Accuracy for r = 0.1, 1, 3, 10: 20 Newsgroups, binary words, .881,
        .917, .924, .921; its tf-idf rows, of length one, .930, .933, .933, .929;
        Amazon domains, binary words, .864, .913, .920, .922. (The default of
        :class:`~skcw.AROWSequenceTagger` is 1; from 0.1 to 30 it changes little there.)
    update : {"single", "sequential", "parallel", "exact"}, default="single"
        Which rivals count, and how: the best one; several, one after the other; several
        from the same start, averaged; or the minimum for several at once (slow).
    n_rivals : int, "all" or None, default=None
        How many rivals count, best first, unless the update is "single"; None means
        all.
    diagonal : {"precision", "covariance"}, default="precision"
        How Σ is kept diagonal: the inverse of the diagonal of the full new precision,
        which is also best among diagonal ones; or the diagonal of the full new
        covariance. The exact update is always of the first kind.
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
        Predict with the weights averaged over all rounds instead of the last ones.
    fit_intercept : bool, default=True
        Learn a constant for every class.
    shuffle : bool, default=True
        Present the rows in a new random order in each pass. The orders depend on what
        the rows are and not on where they stand, so the model does not change when
        rows are given in another order, and a weight of two equals two copies.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied.
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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has names that are all strings.
    n_iter_ : int
        Number of passes made.
    history_ : list of dict
        What each pass found: epoch, wrong rows when presented, dev score, seconds; with
        shards also "bytes_sent" to workers and "bytes_returned" by them.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza and M. Dredze, "Adaptive regularization of weight
       vectors", NIPS 2009.

    Examples
    --------
    >>> from skcw import MultiClassAROW
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
    >>> y = ["a", "b", "c", "a", "b"]
    >>> classifier = MultiClassAROW(random_state=0).fit(X, y)
    >>> classifier.predict([[1, 0, 0], [0, 0, 2]]).tolist()
    ['a', 'c']
    """

    _parameter_constraints: dict = {
        **GaussianRowClassifier._parameter_constraints,
        "r": [Interval(Real, 1e-10, 1e10, closed="both")],
        "diagonal": [StrOptions({"precision", "covariance"})],
    }

    def __init__(
        self,
        r=10.0,
        *,
        update="single",
        n_rivals=None,
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
        self.r = r

    def _run_pass(self, belief, rows, order, n_classes):
        return arow_row_pass(
            belief.mean,
            belief.variance,
            belief.drift,
            belief.rounds,
            rows,
            order,
            n_classes,
            self._n_rivals(n_classes),
            self.r,
            self.update,
            self.diagonal,
        )
