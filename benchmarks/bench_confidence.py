"""Confidence in words: all methods against a tuned CRF, and their speed.

Parts, each of which can be run by itself; results are merged into one JSON file:

paper    section 5 of Mejer & Crammer (2010): NP chunking, Spanish and Dutch names, the
         paper's learners with plain and with cost-augmented decoding, and its claims
methods  the same sets with the defaults of skcw, all methods
speed    CoNLL-2000: seconds and memory, beside CRFsuite's marginals

    python benchmarks/bench_confidence.py --data-home DIR --cache DIR --jobs 2
    python benchmarks/bench_confidence.py --quick

``--cache`` names a folder that keeps what is done, so that a run that was interrupted
goes on where it stopped. ``--quick`` shows on small subsets that every part works;
without the corpora it uses one that is made. Its figures are no measurement.
"""

from pathlib import Path

import _confidence_methods
import _confidence_paper
import _confidence_speed
from _corpora import check_corpora
from _runner import parse, run_parts

NAME = "confidence"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "paper": _confidence_paper,
    "methods": _confidence_methods,
    "speed": _confidence_speed,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
