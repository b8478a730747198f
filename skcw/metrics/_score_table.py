"""All scores of confidence by name, as intervals and comparisons take them."""

from skcw.metrics._score_cores import CalibrationMSE, RootCalibrationMSE

SCORES = {
    "calibration_mse": CalibrationMSE,
    "root_calibration_mse": RootCalibrationMSE,
}
