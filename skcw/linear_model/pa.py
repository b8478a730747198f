"""Multi-class passive-aggressive classification."""

from numbers import Integral, Real

from skcw._kernels.row_passes import pa_row_pass
from skcw._util.compat import Interval, StrOptions
from skcw.linear_model.base import RowClassifier


class MultiClassPA(RowClassifier):
    """Classifier trained by multi-class passive-aggressive learning.

    For each row the weights move as little as possible so that the true label leads
    each of its k best rivals by one, with a slack that all of them share and that
    costs C per unit [1]_: min ½‖w - w_t‖² + C ξ with w·g_r ≥ 1 - ξ for every rival r.

    Parameters
    ----------
    C : float, default=1.0
        The largest step, that is the most that a row may move the weights. (The
        default of :class:`~skcw.PASequenceTagger` is 0.3; from 0.03 to 1 it changes
        little there.)
    n_rivals : int or "all", default=1
        How many rivals count, best first.
    max_iter : int, default=5
        Number of passes over the training rows.
    averaging : bool, default=True
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
        common weights, side by side, and merges what they have moved. The result
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
    .. [1] K. Crammer and Y. Singer, "Ultraconservative online algorithms for multiclass
       problems", JMLR 2003; R. McDonald, K. Crammer and F. Pereira, "Large margin
       online learning algorithms for scalable structured classification", 2004.

    Examples
    --------
    >>> from skcw import MultiClassPA
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
    >>> y = ["a", "b", "c", "a", "b"]
    >>> MultiClassPA(random_state=0).fit(X, y).predict([[0, 0, 2]]).tolist()
    ['c']
    """

    _parameter_constraints: dict = {
        **RowClassifier._parameter_constraints,
        "C": [Interval(Real, 1e-10, 1e10, closed="both")],
        "n_rivals": [Interval(Integral, 1, None, closed="left"), StrOptions({"all"})],
    }

    def __init__(
        self,
        C=1.0,
        *,
        n_rivals=1,
        max_iter=5,
        averaging=True,
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
        self.C = C
        self.n_rivals = n_rivals

    def _run_pass(self, belief, rows, order, n_classes):
        k = (
            n_classes - 1
            if self.n_rivals == "all"
            else min(self.n_rivals, n_classes - 1)
        )
        return pa_row_pass(
            belief.mean, belief.drift, belief.rounds, rows, order, n_classes, k, self.C
        )
