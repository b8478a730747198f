"""What features of one's own data buy: clusters, vectors, and a richer ready set.

Parts, each of which can be run by itself; results are merged into one JSON file:

clusters   Spanish and Dutch names with clusters and vectors of the training text
chunking   the ready set "chunking" on CoNLL-2000, with one model and the mean of eight
scheme     the same with labels in IOBES
edges      templates of CRF++ with and without transitions that look at words

    python benchmarks/bench_doors.py --data-home DIR
    python benchmarks/bench_doors.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it
uses one that is made. Its figures are no measurement.
"""

from pathlib import Path

import _doors_chunking
import _doors_clusters
import _doors_edges
import _doors_scheme
from _corpora import check_corpora
from _runner import parse, run_parts

NAME = "doors"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "clusters": _doors_clusters,
    "chunking": _doors_chunking,
    "scheme": _doors_scheme,
    "edges": _doors_edges,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
