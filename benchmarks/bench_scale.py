"""Past memory, past one core, past one machine.

Parts, each of which can be run by itself; results are merged into one JSON file:

memory     a corpus made on the fly, of up to 100 million words: memory and speed
faults     the log of a training that was killed and resumed, with digests

    python benchmarks/bench_scale.py --data-home DIR
    python benchmarks/bench_scale.py --quick

``--quick`` shows on small subsets that every part works. Its figures are no
measurement.
"""

from pathlib import Path

import _scale_faults
import _scale_memory
from _runner import parse, run_parts

NAME = "scale"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "memory": _scale_memory,
    "faults": _scale_faults,
}


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    run_parts(parts, PARTS, settings, NAME)


if __name__ == "__main__":
    main()
