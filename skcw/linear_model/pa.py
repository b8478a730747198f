"""Multi-class passive-aggressive classification."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real

import numpy as np

from skcw._kernels.row_passes import pa_row_pass
from skcw._util.compat import Interval, StrOptions
from skcw.linear_model.base import RowClassifier


@dataclass(eq=False, repr=False, match_args=False)
class MultiClassPA(RowClassifier):
    """Classifier trained by multi-class passive-aggressive learning.

    For each row the weights move as little as possible so that the true label leads
    each of its k best rivals by one, with a slack that all of them share and that costs
    C per unit [1]_: min ½‖w - w_t‖² + C ξ with w·g_r ≥ 1 - ξ for every rival r.

    Parameters
    ----------
    C : float, default=1.0
        The largest step: the most that a row may move the weights.
    n_rivals : int or "all", default=1
        How many rivals count, best first.
    max_iter : int, default=5
        Number of passes over the training rows.
    averaging : bool, default=True
        Predict with the weights averaged over all rounds instead of the last ones.
    fit_intercept : bool, default=True
        Learn a constant for every class.
    shuffle : bool, default=True
        Present the rows in a new random order in each pass. The orders depend on the
        content of the rows alone, so a weight of two equals two copies, and the order
        in which rows are given does not matter.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied.
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

    C: float = 1.0
    _: KW_ONLY
    n_rivals: int | str = 1
    max_iter: int = 5
    averaging: bool = True
    fit_intercept: bool = True
    shuffle: bool = True
    class_weight: dict | str | None = None
    early_stopping: bool | dict = False
    warm_start: bool = False
    random_state: int | np.random.RandomState | None = None
    dtype: str = "float32"
    verbose: int = 0

    _parameter_constraints = {
        **RowClassifier._parameter_constraints,
        "C": [Interval(Real, 1e-10, 1e10, closed="both")],
        "n_rivals": [Interval(Integral, 1, None, closed="left"), StrOptions({"all"})],
    }

    def _bound_kernel(self, n_classes):
        most = n_classes - 1
        k = most if self.n_rivals == "all" else min(self.n_rivals, most)
        return partial(pa_row_pass, n_labels=n_classes, k=k, budget=self.C)
