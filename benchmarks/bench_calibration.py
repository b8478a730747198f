"""Calibration: the thesis's taggers, its synthetic studies, coverage, and speed.

Parts, each of which can be run by itself; results are merged into one JSON file:

thesis     UD-EWT with the query "NN", ARK tweets with "V": HMM, CRFs and CW
ablation   ARK: a CRF whose groups of features are added one by one
synthetic  CalibMSE by the size of bins and of samples, where the truth is known
coverage   how often intervals and bands hold the truth, by simulation
speed      every score of a million pairs, and its interval for 50,000 words

    OMP_NUM_THREADS=1 python benchmarks/bench_calibration.py --data-home DIR
    python benchmarks/bench_calibration.py --quick

``--cache`` names a folder that keeps what the taggers have answered, so that a run
that was interrupted goes on where it stopped. ``--quick`` shows on small subsets that
every part works; without the corpora it uses one that is made. Its figures are no
measurement.
"""

from pathlib import Path

import _calibration_ablation
import _calibration_intervals
import _calibration_speed
import _calibration_synthetic
import _calibration_thesis
from _calibration_corpora import check_tagged
from _runner import parse, run_parts

NAME = "calibration"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "thesis": _calibration_thesis,
    "ablation": _calibration_ablation,
    "synthetic": _calibration_synthetic,
    "coverage": _calibration_intervals,
    "speed": _calibration_speed,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    if {"thesis", "ablation"} & set(parts):
        check_tagged(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
