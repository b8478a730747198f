"""Sequence taggers against CRFsuite, and against the paper they come from.

Parts, each of which can be run by itself; results are merged into one JSON file:

speed    CoNLL-2000 chunking: time, memory and F1 beside CRFsuite's, and the goals
scaling  time per pass against the number of tokens and of labels
table1   sentences, words and features of the paper's sets
table2   F of the online learners in 10-fold cross-validation, with paired tests
fig1     precision against recall after every pass (the same fits as table2)
claims   what the paper says of precision, recall and passes (the same fits)
table3   CW against a tuned CRF on a 75/25 split
vowpal   CoNLL-2000 chunking: Vowpal Wabbit (extra "benchmark") beside CW and CRFsuite

    python benchmarks/bench_tagging.py --data-home DIR
    python benchmarks/bench_tagging.py --data-home DIR --parts speed,scaling
    python benchmarks/bench_tagging.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it
uses one that is made. Its figures are no measurement.
"""

from pathlib import Path

import _tagging_claims
import _tagging_fig1
import _tagging_scaling
import _tagging_speed
import _tagging_table1
import _tagging_table2
import _tagging_table3
import _tagging_vowpal
from _corpora import check_corpora
from _runner import parse, run_parts

NAME = "tagging"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "speed": _tagging_speed,
    "scaling": _tagging_scaling,
    "table1": _tagging_table1,
    "table2": _tagging_table2,
    "fig1": _tagging_fig1,
    "claims": _tagging_claims,
    "table3": _tagging_table3,
    "vowpal": _tagging_vowpal,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
