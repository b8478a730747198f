"""Crammer, Dredze & Kulesza (2009): multi-class confidence-weighted learning of text.

Parts, each of which can be run by itself; results are merged into one JSON file:

tables   Tables 2 and 3, with McNemar tests
fig1     accuracy after every pass
fig2     probabilities of CW after every pass, and of maxent (Enron B)

    OMP_NUM_THREADS=1 python benchmarks/papers/crammer2009/bench_multiclass.py \\
        --data-home DIR --cache DIR --jobs 2
    python benchmarks/papers/crammer2009/bench_multiclass.py --quick

``--cache`` names a folder that keeps what is done, so that a run that was interrupted
goes on where it stopped.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks

from common.rows import FOLDERS
from common.runner import Part, main
from papers.crammer2009 import figures, tables

PARTS = {
    "tables": Part(tables.run, tables.render),
    "fig1": Part(figures.run_fig1, figures.render_fig1, (figures.draw_fig1, "fig1")),
    "fig2": Part(figures.run_fig2, figures.render_fig2, (figures.draw_fig2, "fig2")),
}


if __name__ == "__main__":
    main(__file__, PARTS, FOLDERS)
