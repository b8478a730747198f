"""Mejer & Crammer (2010), sections 3 and 4: the online learners, and CW against a CRF.

Parts, each of which can be run by itself; results are merged into one JSON file:

table1   sentences, words and features of the paper's sets
table2   F of the online learners in 10-fold cross-validation, with paired tests
fig1     precision against recall after every pass (the same fits as table2)
claims   what the paper says of precision, recall and passes (the same fits)
table3   CW against a tuned CRF on a 75/25 split

    python benchmarks/papers/mejer2010/bench_tagging.py --data-home DIR --cache DIR
    python benchmarks/papers/mejer2010/bench_tagging.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks

from common.corpora import CONLL
from common.runner import Part, main
from papers.mejer2010 import claims, table3, tables

PARTS = {
    "table1": Part(tables.run_table1, tables.render_table1),
    "table2": Part(tables.run_table2, tables.render_table2),
    "fig1": Part(tables.run_fig1, tables.render_fig1, (tables.draw_fig1, "fig1")),
    "claims": Part(claims.run, claims.render),
    "table3": Part(table3.run, table3.render),
}


if __name__ == "__main__":
    main(__file__, PARTS, CONLL)
