"""The multi-class perceptron."""

from skcw._kernels.row_passes import perceptron_row_pass
from skcw.linear_model.base import RowClassifier


class MultiClassPerceptron(RowClassifier):
    """Classifier trained by the multi-class perceptron.

    A row whose true label does not have the highest score moves the weights of that
    label towards it and those of its best rival away from it [1]_. scikit-learn's
    ``Perceptron`` trains one model per class against the rest; this one compares
    classes with each other.

    Parameters
    ----------
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
    .. [1] M. Collins, "Discriminative training methods for hidden Markov models",
       EMNLP 2002.

    Examples
    --------
    >>> from skcw import MultiClassPerceptron
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
    >>> y = ["a", "b", "c", "a", "b"]
    >>> MultiClassPerceptron(random_state=0).fit(X, y).predict([[0, 0, 2]]).tolist()
    ['c']
    """

    def __init__(
        self,
        *,
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

    def _run_pass(self, belief, rows, order, n_classes):
        return perceptron_row_pass(
            belief.mean, belief.drift, belief.rounds, rows, order, n_classes
        )
