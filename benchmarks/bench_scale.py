"""Past memory, past one core, past one machine.

Parts, each of which can be run by itself; results are merged into one JSON file:

shards     scores after equal passes with 2 to 64 shards, and after more passes
speedup    a pass by two processes, the bytes that travel, a pass by number of shards
digests    the same weights from this process, loky, Dask, Ray and Spark
memory     a corpus made on the fly, of up to 100 million words: memory and speed
faults     the log of a training that was killed and resumed, with digests
one_core   training of taggers and classifiers beside their peers; resting sequences
large      memory, time and files as labels grow; half precision, pruning

    python benchmarks/bench_scale.py --data-home DIR
    python benchmarks/bench_scale.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it uses
one that is made. Its figures are no measurement.
"""

from pathlib import Path

import _scale_digests
import _scale_faults
import _scale_large
import _scale_memory
import _scale_one_core
import _scale_shards
import _scale_speedup
from _corpora import check_corpora
from _runner import parse, run_parts

NAME = "scale"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "shards": _scale_shards,
    "speedup": _scale_speedup,
    "digests": _scale_digests,
    "memory": _scale_memory,
    "faults": _scale_faults,
    "one_core": _scale_one_core,
    "large": _scale_large,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
