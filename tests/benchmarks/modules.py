"""Modules of the folder benchmarks/, which is no package, for tests to import."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@cache
def benchmark_module(name):
    """Return a module of the benchmarks that imports none of the others."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
