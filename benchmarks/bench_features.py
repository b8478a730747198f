"""Native features against features built in Python, and the command on long files.

Parts, each of which can be run by itself; results are merged into one JSON file:

speed    CoNLL-2000: columns to features, to a fitted model, to labels; peak memory
stream   `skcw tag` of one and of ten million words: time and memory

    python benchmarks/bench_features.py --data-home DIR
    python benchmarks/bench_features.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it
uses one that is made. Its figures are no measurement.
"""

from pathlib import Path

import _features_speed
import _features_stream
from _corpora import check_corpora
from _runner import parse, run_parts

NAME = "features"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {"speed": _features_speed, "stream": _features_stream}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
