"""How far claimed probabilities are from the frequencies they claim, in one number."""

from skcw.metrics._cores.binned import (
    AdaptiveCalibrationError,
    CalibrationMSE,
    ExpectedCalibrationError,
    MaximumCalibrationError,
    RootCalibrationMSE,
)
from skcw.metrics._estimates import estimate
from skcw.metrics._weighted_pairs import check_pairs


def calibration_mse(
    confidence,
    correct,
    *,
    strategy="adaptive",
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
    r"""Compute CalibMSE, the mean squared distance of a calibration curve.

    With the mean confidence :math:`\hat q_j` and the share :math:`\hat p_j` of right
    words in bin j, which holds :math:`n_j` words, it is [1]_

    .. math:: \sum_j n_j (\hat q_j - \hat p_j)^2 / \sum_j n_j.

    Parameters
    ----------
    confidence : array of shape (n_words,), or a sequence of such
        A probability for each word, from 0 to 1: all words in one flat array, or a row
        for each sentence as ``predict_confidence`` returns them.
    correct : array of bool of shape (n_words,), or a sequence of such
        Whether what it is the probability of came true, in the same layout; for
        predicted labels :func:`label_matches` tells.
    strategy : {"adaptive", "uniform", "quantile"}, default="adaptive"
        How bins are made; see :func:`calibration_bins`, also for what becomes of equal
        confidences.
    bin_size : int, default=None
        Words in an adaptive bin; the root of the number of words, rounded down, if
        None. Fewer words than that make one bin.
    n_bins : int, default=None
        Number of uniform (20 if None) or quantile bins (10 if None).
    sample_weight : array of shape (n_words,), or a sequence of such, default=None
        How often each word counts, in the same layout; one if None. A word of weight 2
        is the same as that word twice.
    groups : array of shape (n_words,) or (n_rows,), default=None
        The sentence of each word or the text of each row. Words of one group are not
        independent, and intervals take that into account. If None each row is a group,
        and in flat arrays each word is one.
    interval : {"bootstrap", "percentile", "normal"} or None, default=None
        How an interval is computed; None for the score alone. ``"bootstrap"`` covers;
        the others are far too high for errors of calibration and there for comparison:
        see :func:`skcw.metrics.intervals.score_interval`.
    confidence_level : float, default=0.95
        How often the interval shall hold what it is an interval of.
    n_resamples : int, default=1000
        Number of resamples for an interval.
    random_state : int, RandomState instance or None, default=0
        Rules the resamples.
    progress : bool, default=False
        Whether resampling shows a progress bar.

    Returns
    -------
    score : float or Estimate
        From 0 to 1; lower is better. With an interval, an :class:`Estimate` of
        ``value``, ``low`` and ``high``. The interval is one of the true error, to which
        chance adds in the score: of a good model the score may lie above ``high``.

    See Also
    --------
    root_calibration_mse : Its root, on the scale of probabilities.
    calibration_bins : The bins themselves.
    brier_decomposition : Miscalibration without bins.

    Notes
    -----
    Doubling ``bin_size`` never raises the score, as neighbours are joined and their
    errors may cancel. Chance does not cancel: the score of perfect probabilities is
    about :math:`\overline{p (1 - p)} / b` with b words a bin and goes to 0 with b, so
    compare scores of the same number of words and the same bins.

    It is no error if all words are right or all are wrong, or if all confidences are
    equal, which makes one bin.

    References
    ----------
    .. [1] K. Nguyen, "Calibration for natural language processing systems", honors
       thesis.

    Examples
    --------
    >>> from skcw.metrics import calibration_mse
    >>> confidence = [0.2, 0.4, 0.8, 1.0]
    >>> correct = [False, True, True, True]
    >>> round(calibration_mse(confidence, correct), 6)
    0.025
    >>> round(calibration_mse(confidence, correct, bin_size=1), 6)
    0.11
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    core = CalibrationMSE(pairs, strategy=strategy, bin_size=bin_size, n_bins=n_bins)
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )


def root_calibration_mse(
    confidence,
    correct,
    *,
    strategy="adaptive",
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
    """Compute the root of CalibMSE, which is on the scale of probabilities.

    Parameters
    ----------
    confidence, correct, strategy, bin_size, n_bins, sample_weight, groups :
        As in :func:`calibration_mse`.
    interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    score : float or Estimate
        From 0 to 1; lower is better. 0.03 says that words claim three in a hundred too
        much or too little, as a mean of squares.

    See Also
    --------
    calibration_mse : Its square.

    Examples
    --------
    >>> from skcw.metrics import root_calibration_mse
    >>> score = root_calibration_mse([0.2, 0.4, 0.8, 1.0], [0, 1, 1, 1], bin_size=2)
    >>> round(score, 6)
    0.158114
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    core = RootCalibrationMSE(
        pairs, strategy=strategy, bin_size=bin_size, n_bins=n_bins
    )
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )


def expected_calibration_error(
    confidence,
    correct,
    *,
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
    r"""Compute the expected calibration error, ECE.

    With the mean confidence :math:`\hat q_j` and the share :math:`\hat p_j` of right
    words in bin j, which holds :math:`n_j` words, it is

    .. math:: \sum_j n_j |\hat q_j - \hat p_j| / \sum_j n_j,

    or with ``norm="l2"`` the root of the mean square.

    Parameters
    ----------
    confidence, correct, sample_weight, groups :
        As in :func:`calibration_mse`.
    norm : {"l1", "l2"}, default="l1"
        Whether distances are counted by size or squared.
    debiased : bool, default=False
        Whether what chance adds is taken off [1]_. Scores are then comparable between
        bins of another size and samples of another number of words.
    strategy : {"uniform", "quantile", "adaptive"}, default="uniform"
        How bins are made; see :func:`calibration_bins`.
    bin_size : int, default=None
        Words in an adaptive bin; the root of the number of words if None.
    n_bins : int, default=None
        Number of uniform or quantile bins; 15 if None.
    interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    error : float or Estimate
        From 0 to 1; lower is better. A debiased error that would be below 0 is 0.

    See Also
    --------
    adaptive_calibration_error : The same in bins of equal mass.
    maximum_calibration_error : The largest distance of a bin.

    Notes
    -----
    If words are independent, the accuracy of a bin has the variance
    :math:`s_j^2 = \hat p_j (1 - \hat p_j) / (n_j - 1)`. Debiasing takes :math:`s_j^2`
    off the square of each distance :math:`d_j`, and off its size the growth that
    normal noise brings, :math:`E|d_j + s_j z| - |d_j|`. One word does not tell its own
    variance: bins of one word count as no distance.

    References
    ----------
    .. [1] A. Kumar, P. Liang and T. Ma, "Verified uncertainty calibration", NeurIPS
       2019.

    Examples
    --------
    >>> from skcw.metrics import expected_calibration_error
    >>> confidence = [0.7, 0.7, 0.7, 0.7, 0.7]
    >>> correct = [True, True, True, True, False]
    >>> round(expected_calibration_error(confidence, correct), 6)
    0.1
    >>> expected_calibration_error(confidence, correct, norm="l2", debiased=True)
    0.0
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    core = ExpectedCalibrationError(
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


def adaptive_calibration_error(
    confidence,
    correct,
    *,
    norm="l1",
    debiased=False,
    n_bins=None,
    sample_weight=None,
    groups=None,
    interval=None,
    confidence_level=0.95,
    n_resamples=1000,
    random_state=0,
    progress=False,
):
    """Compute the expected calibration error in bins of equal mass, ACE.

    Parameters
    ----------
    confidence, correct, sample_weight, groups :
        As in :func:`calibration_mse`.
    norm, debiased, n_bins :
        As in :func:`expected_calibration_error`.
    interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    error : float or Estimate
        From 0 to 1; lower is better.

    See Also
    --------
    expected_calibration_error : The same in bins of equal width.

    References
    ----------
    .. [1] J. Nixon et al., "Measuring calibration in deep learning", CVPR Workshops
       2019.

    Examples
    --------
    >>> from skcw.metrics import adaptive_calibration_error
    >>> error = adaptive_calibration_error([0.2, 0.4, 0.8, 1.0], [0, 1, 1, 1], n_bins=2)
    >>> round(error, 6)
    0.15
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    core = AdaptiveCalibrationError(pairs, norm=norm, debiased=debiased, n_bins=n_bins)
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )


def maximum_calibration_error(
    confidence,
    correct,
    *,
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
    """Compute the largest distance between confidence and accuracy of a bin, MCE.

    Parameters
    ----------
    confidence, correct, sample_weight, groups :
        As in :func:`calibration_mse`.
    strategy, bin_size, n_bins :
        As in :func:`expected_calibration_error`.
    interval, confidence_level, n_resamples, random_state, progress :
        As in :func:`calibration_mse`.

    Returns
    -------
    error : float or Estimate
        From 0 to 1; lower is better. One word in a bin of its own may decide it, so
        prefer bins of equal mass (``strategy="quantile"``) for few words.

    See Also
    --------
    expected_calibration_error : The mean instead of the largest.

    Examples
    --------
    >>> from skcw.metrics import maximum_calibration_error
    >>> round(maximum_calibration_error([0.2, 0.4, 0.8, 1.0], [0, 1, 1, 1]), 6)
    0.6
    """
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    core = MaximumCalibrationError(
        pairs, strategy=strategy, bin_size=bin_size, n_bins=n_bins
    )
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )
