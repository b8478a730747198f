"""Multi-class classification of text: CW against other learners, and its speed.

Parts, each of which can be run by itself; results are merged into one JSON file:

tables   Tables 2 and 3 of Crammer, Dredze & Kulesza (2009), with McNemar tests
fig1     accuracy after every pass
fig2     probabilities of CW after every pass, and of maxent (Enron B)
rules    labels by the mean or by the exact distribution; scales of the variances
fits     20 Newsgroups: seconds and accuracy of tuned and converged peers; Vowpal Wabbit
         comes with the extra "benchmark"
speed    20 Newsgroups: seconds of predictions and updates, and memory

    OMP_NUM_THREADS=1 python benchmarks/bench_multiclass.py --data-home DIR --jobs 2
    python benchmarks/bench_multiclass.py --quick

``--cache`` names a folder that keeps what is done, so that a run that was interrupted
goes on where it stopped. ``--quick`` shows on small subsets that every part works;
without the corpora it uses reviews that are made. Its figures are no measurement.
"""

from pathlib import Path

import _multiclass_fig1
import _multiclass_fig2
import _multiclass_fits
import _multiclass_rules
import _multiclass_speed
import _multiclass_tables
from _multiclass_data import check_sets
from _runner import parse, run_parts

NAME = "multiclass"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "tables": _multiclass_tables,
    "fig1": _multiclass_fig1,
    "fig2": _multiclass_fig2,
    "rules": _multiclass_rules,
    "fits": _multiclass_fits,
    "speed": _multiclass_speed,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_sets(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
