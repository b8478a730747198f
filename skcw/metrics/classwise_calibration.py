"""Whether the probability of every class is what it claims, not only of the best."""

from skcw.metrics._class_table import check_class_table
from skcw.metrics._cores.base import Score
from skcw.metrics._cores.binned import ExpectedCalibrationError
from skcw.metrics._estimates import estimate


class ClasswiseError(Score):
    """The mean over classes of their expected calibration errors.

    Parameters
    ----------
    class_pairs : list of Pairs
        The words as pairs of each class; weights and groups are the same in all.
    **options
        Those of `ExpectedCalibrationError`.
    """

    def __init__(self, class_pairs, **options):
        super().__init__(class_pairs[0])
        self.errors = [
            ExpectedCalibrationError(pairs, **options) for pairs in class_pairs
        ]

    def value(self, weight=None):
        """Return the mean over classes."""
        return sum(error.value(weight) for error in self.errors) / len(self.errors)


def classwise_calibration_error(
    proba,
    y,
    *,
    classes=None,
    labels=None,
    norm="l1",
    debiased=False,
    strategy="uniform",
    bin_size=None,
    n_bins=None,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    """Compute the mean over classes of their expected calibration errors.

    For each class the probability of that class is compared with how often it is the
    true one [1]_, whether or not it was predicted.

    Parameters
    ----------
    proba : array of shape (n_words, n_classes), or a sequence of rows
        Probabilities of all classes for each word: one table as ``predict_proba``
        returns it, or a row for each sentence, which is such a table or a list of dicts
        from label to probability as ``predict_marginals`` returns them.
    y : array of labels of shape (n_words,), or a sequence of such
        The true labels in the same layout. A label without a probability is right for
        no class.
    classes : sequence of labels, default=None
        The classes in the order of the columns, ``estimator.classes_``. If None they
        are the names of the columns of a DataFrame, the labels in the dicts, or the
        sorted labels in ``y``.
    labels : sequence of labels, default=None
        Which classes the mean is over; all if None. Name those of interest if one
        class, such as ``"O"``, is nearly always right.
    norm, debiased, strategy, bin_size, n_bins :
        As in :func:`expected_calibration_error`.
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; one if None.
    groups, interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    error : float or Estimate
        From 0 to 1; lower is better. Each class counts the same, rare ones too, and
        most words have a small probability of most classes: more classes make it lower.

    See Also
    --------
    expected_calibration_error : The same for one question a word.

    References
    ----------
    .. [1] M. Kull et al., "Beyond temperature scaling: obtaining well-calibrated
       multi-class probabilities with Dirichlet calibration", NeurIPS 2019.

    Examples
    --------
    >>> from skcw.metrics import classwise_calibration_error
    >>> proba = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7]]
    >>> error = classwise_calibration_error(proba, ["N", "N", "V"], classes=["N", "V"])
    >>> round(error, 6)
    0.233333

    Rows of dicts know their labels:

    >>> rows = [[{"N": 0.8, "V": 0.2}, {"N": 0.8, "V": 0.2}], [{"N": 0.3, "V": 0.7}]]
    >>> error = classwise_calibration_error(rows, [["N", "N"], ["V"]])
    >>> round(error, 6)
    0.233333
    """
    pairs = check_class_table(proba, y, classes, labels, sample_weight, groups)
    core = ClasswiseError(
        pairs,
        norm=norm,
        debiased=debiased,
        strategy=strategy,
        bin_size=bin_size,
        n_bins=n_bins,
    )
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )
