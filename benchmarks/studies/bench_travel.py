"""Defaults on data they were not made for: learning and confidence that travel.

Parts, each of which can be run by itself; results are merged into one JSON file:

words       taggers: 7 corpora x 4 feature sets x 3 sizes, beside a tuned CRF
confidence  the paper's three sets: errors left after review, beside a tuned CRF
rows        classifiers: corpora of documents, beside tuned ones of scikit-learn

    python benchmarks/studies/bench_travel.py --data-home DIR --cache DIR --seeds 3
    python benchmarks/studies/bench_travel.py --quick

``--cache`` names a folder that keeps what is done and is not done again: empty its
folder ``ours`` when the package has changed. ``--learners`` takes names of CW, CW x8,
AROW, PA, perceptron and CRF, ``--corpora`` of built-in, ARK, NP, Dutch, Spanish,
CoNLL-2000 and EWT XPOS: these only; what else the cache holds is shown with them.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks

from common.corpora import CONLL
from common.rows import FOLDERS
from common.runner import Part, main
from common.tagged import TAGGED
from studies import travel_confidence, travel_rows, travel_words

PARTS = {
    "words": Part(travel_words.run, travel_words.render),
    "confidence": Part(travel_confidence.run, travel_confidence.render),
    "rows": Part(travel_rows.run, travel_rows.render),
}


if __name__ == "__main__":
    main(__file__, PARTS, (*CONLL, *TAGGED, *FOLDERS))
