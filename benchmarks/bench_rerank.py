"""Rerankers of n-best lists: what global features add to a tagger.

Parts, each of which can be run by itself; results are merged into one JSON file:

tables   CoNLL-2002: entity boundaries and entities, two base taggers, three rerankers,
         the oracle, and processor time
sizes    rerankers as they come, on a hundred to thousands of sentences: whether to
         rerank, and how, is chosen on held-out training sentences
curves   F1 over rounds of boosting and over passes of the perceptron, as a picture
splits   the gain over the CW tagger on several random splits
speed    boosting and voting on made lists: 40,000 sentences of 20 candidates

    python benchmarks/bench_rerank.py --data-home DIR --cache FOLDER
    python benchmarks/bench_rerank.py --quick

``--cache`` keeps the n-best lists, which take longest. ``--quick`` shows on a corpus
that is made that every part works; its figures are no measurement.
"""

from pathlib import Path

import _rerank_curves
import _rerank_sizes
import _rerank_speed
import _rerank_splits
import _rerank_tables
from _runner import parse, run_parts

NAME = "rerank"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "tables": _rerank_tables,
    "sizes": _rerank_sizes,
    "curves": _rerank_curves,
    "splits": _rerank_splits,
    "speed": _rerank_speed,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
