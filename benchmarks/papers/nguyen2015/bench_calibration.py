"""Nguyen's thesis (2015): taggers, synthetic studies, and coverage of intervals.

Parts, each of which can be run by itself; results are merged into one JSON file:

thesis     UD-EWT with the query "NN", ARK tweets with "V": HMM, CRFs and CW
synthetic  CalibMSE by the size of bins and of samples, where the truth is known
coverage   how often intervals and bands hold the truth, by simulation

    OMP_NUM_THREADS=1 python benchmarks/papers/nguyen2015/bench_calibration.py \\
        --data-home DIR
    python benchmarks/papers/nguyen2015/bench_calibration.py --quick

``--cache`` names a folder that keeps what the taggers have answered.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks

from common.runner import Part, main
from common.tagged import TAGGED
from papers.nguyen2015 import coverage, synthetic, taggers

PARTS = {
    "thesis": Part(taggers.run, taggers.render),
    "synthetic": Part(synthetic.run, synthetic.render, (synthetic.draw, "synthetic")),
    "coverage": Part(coverage.run, coverage.render),
}


if __name__ == "__main__":
    main(__file__, PARTS, TAGGED)
