"""The figures of the docstrings: what parameters, features and maps change.

Parts, each of which can be run by itself; results are merged into one JSON file:

taggers     C, r, phi, diagonals, cost-augmented decoding, class weights, unknown tokens
rows        phi, C, updates, diagonals, averaging and r of classifiers, areas under ROC
tags        the HMM and maximum entropy on parts of speech
calibrated  the maps of a calibrated tagger
features    the ready sets of features
made        how hard the corpora and reviews are that skcw.datasets makes

    OMP_NUM_THREADS=1 python benchmarks/bench_defaults.py --data-home DIR --seeds 2
    python benchmarks/bench_defaults.py --quick

``tests/house/test_docstring_figures.py`` ties docstrings to the results. ``--quick``
shows on small subsets that every part works; its figures are no measurement.
"""

from pathlib import Path

import _defaults_calibrated
import _defaults_features
import _defaults_made
import _defaults_rows
import _defaults_taggers
import _defaults_tags
from _corpora import check_corpora
from _runner import parse, run_parts

NAME = "defaults"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "taggers": _defaults_taggers,
    "rows": _defaults_rows,
    "tags": _defaults_tags,
    "calibrated": _defaults_calibrated,
    "features": _defaults_features,
    "made": _defaults_made,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
