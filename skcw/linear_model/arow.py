"""Classification by adaptive regularization of weights."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from skcw._kernels.row_passes import arow_row_pass
from skcw._util.compat import Interval, StrOptions
from skcw.linear_model.gaussian import GaussianRowClassifier


@dataclass(eq=False, repr=False, match_args=False)
class MultiClassAROW(GaussianRowClassifier):
    """Classifier trained by adaptive regularization of weights.

    The classifier keeps a Gaussian N(μ, Σ) over its weights, with diagonal Σ. A row
    whose true label does not lead its best rivals by a margin of one moves the means
    and narrows the variances of both: with g = f(x, y) - f(x, r) it minimizes KL(N(μ,
    Σ) || old) + (max(0, 1 - μ·g)² + gᵀΣg) / 2r [1]_. Unlike CW it does not insist on
    correcting a row at once, so noisy labels harm it less.

    Parameters
    ----------
    r : float, default=10.0
        How gentle updates are: the larger, the smaller the steps. CRFsuite calls it
        ``gamma``; Jubatus's regularization_weight is 1 / r.
    update : {"single", "sequential", "parallel", "exact"}, default="single"
        Which rivals count, and how: the best one; several, one after the other; several
        from the same start, averaged; or the minimum for several at once (slow).
    n_rivals : int, "all" or None, default=None
        How many rivals count, best first, unless the update is "single"; None means
        all.
    diagonal : {"precision", "covariance"}, default="precision"
        How Σ is kept diagonal: the inverse of the diagonal of the full new precision,
        the best diagonal update; or the diagonal of the full new covariance. The exact
        update is always of the first kind.
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

    r: float = 10.0
    _: KW_ONLY
    update: str = "single"
    n_rivals: Any = None
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
        "r": [Interval(Real, 1e-10, 1e10, closed="both")],
        "diagonal": [StrOptions({"precision", "covariance"})],
    }

    def _bound_kernel(self, n_classes):
        return partial(
            arow_row_pass,
            n_labels=n_classes,
            k=self._n_rivals(n_classes),
            r=self.r,
            update=self.update,
            diagonal=self.diagonal,
        )
