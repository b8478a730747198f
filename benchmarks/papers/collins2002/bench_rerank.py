"""Collins (2002): rerankers of n-best lists, and what global features add to a tagger.

Parts, each of which can be run by itself; results are merged into one JSON file:

tables   CoNLL-2002: entity boundaries and entities, two base taggers, three rerankers,
         the oracle, and processor time
sizes    rerankers with their defaults, on a hundred to thousands of sentences: whether
         to rerank, and how, is chosen on held-out training sentences
curves   F1 over rounds of boosting and over passes of the perceptron, as a picture
splits   the gain over the CW tagger on several random splits

    python benchmarks/papers/collins2002/bench_rerank.py --data-home DIR --cache DIR
    python benchmarks/papers/collins2002/bench_rerank.py --quick

``--cache`` keeps the n-best lists, which take longest.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks

from common.corpora import CONLL
from common.runner import Part, main
from papers.collins2002 import scores, sizes

PARTS = {
    "tables": Part(scores.run_tables, scores.render_tables),
    "sizes": Part(sizes.run, sizes.render),
    "curves": Part(scores.run_curves, scores.render_curves, (scores.draw, "curves")),
    "splits": Part(scores.run_splits, scores.render_splits),
}


if __name__ == "__main__":
    main(__file__, PARTS, CONLL)
