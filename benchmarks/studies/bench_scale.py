"""Past memory, past one core, past one machine.

Parts, each of which can be run by itself; results are merged into one JSON file:

shards     scores after equal passes with 2 to 64 shards, and after more passes
speedup    a pass by two processes, the bytes that travel, a pass by number of shards
workers    two workers beside one: a pass in shards, all of fit, several models
large      memory, time and files as labels grow; half precision, pruning

    python benchmarks/studies/bench_scale.py --data-home DIR
    python benchmarks/studies/bench_scale.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks

from common.corpora import CONLL
from common.rows import FOLDERS
from common.runner import Part, main
from studies import large, shards, workers

PARTS = {
    "shards": Part(shards.run_shards, shards.render_shards),
    "speedup": Part(shards.run_speedup, shards.render_speedup),
    "workers": Part(workers.run, workers.render),
    "large": Part(large.run, large.render),
}


if __name__ == "__main__":
    main(__file__, PARTS, (*CONLL, *FOLDERS))
