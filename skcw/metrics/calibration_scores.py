"""How far claimed probabilities are from the frequencies they claim, in one number."""

from skcw.metrics._estimates import estimate
from skcw.metrics._score_cores import CalibrationMSE, RootCalibrationMSE
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
    pairs = check_pairs(confidence, correct, sample_weight, groups)
    core = CalibrationMSE(pairs, strategy=strategy, bin_size=bin_size, n_bins=n_bins)
    return estimate(
        core, interval, confidence_level, n_resamples, random_state, progress
    )
