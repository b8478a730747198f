"""What one question costs: tagging at the command line, and asking a model in Python.

Parts, each of which can be run by itself; results are merged into one JSON file:

command  CPU seconds of `skcw tag`: its start, the test columns, with confidence
asking   CPU seconds of `confidence_pairs` and of a list of labels, beside one question

    python benchmarks/bench_house.py --data-home DIR
    python benchmarks/bench_house.py --data-home DIR --before CHECKOUT
    python benchmarks/bench_house.py --quick

``--before`` takes the folder of another version with its kernels built in place. Both
are measured in turns, so that what else the machine does falls on both alike. Figures
are medians over ``--seeds`` rounds.

``--quick`` shows on small subsets that every part works; without the corpora it
uses one that is made. Its figures are no measurement.
"""

from pathlib import Path

import _house_asking
import _house_command
from _corpora import check_corpora
from _runner import parse, run_parts

NAME = "house"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {"command": _house_command, "asking": _house_asking}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
