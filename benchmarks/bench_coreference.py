"""Coreference: are answers about pairs of mentions calibrated, as the thesis asks?

Parts, each of which can be run by itself; results are merged into one JSON file:

curves   mention-ranking models on LitBank, from few features to all of them: F,
         CalibMSE with intervals by document, curves, and the claims of the thesis
samples  shares of drawn clusterings against exact probabilities

    python benchmarks/bench_coreference.py --data-home DIR
    python benchmarks/bench_coreference.py --quick

``--quick`` shows on a few documents that every part works; without the corpus these
are made. Its figures are no measurement.
"""

from pathlib import Path

import _coreference_curves
import _coreference_samples
from _runner import parse, run_parts

NAME = "coreference"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {"curves": _coreference_curves, "samples": _coreference_samples}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
