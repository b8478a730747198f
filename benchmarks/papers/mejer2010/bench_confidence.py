"""Mejer & Crammer (2010), section 5: which confidence finds the wrong words.

The part "paper" has NP chunking, Spanish and Dutch names, the paper's learners with
plain and with cost-augmented decoding, beside a tuned CRF, and the paper's claims.

    python benchmarks/papers/mejer2010/bench_confidence.py --data-home DIR --jobs 2
    python benchmarks/papers/mejer2010/bench_confidence.py --quick

``--cache`` names a folder that keeps what is done, so that a run that was interrupted
goes on where it stopped.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks

from common.corpora import CONLL
from common.runner import Part, main
from papers.mejer2010 import confidence

PARTS = {
    "paper": Part(confidence.run, confidence.render),
}


if __name__ == "__main__":
    main(__file__, PARTS, CONLL)
