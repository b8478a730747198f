"""Modules of the folder benchmarks/, which is no package, for tests to import."""

import importlib
import sys
from pathlib import Path

BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")


def benchmark_module(name):
    """Return a module of the benchmarks, such as ``common.vowpal``."""
    if BENCHMARKS not in sys.path:
        sys.path.append(BENCHMARKS)
    return importlib.import_module(name)
