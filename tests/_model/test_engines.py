"""Importing changes nothing in joblib; engines are met when a training uses them."""

import subprocess
import sys

import joblib
from joblib import parallel_config
from joblib.parallel import ThreadingBackend

from skcw._model import shards as _shards
from skcw._model.shards import Workers


def test_importing_registers_nothing_in_joblib():
    code = """
import joblib.parallel as parallel
before = dict(parallel.BACKENDS), dict(parallel.EXTERNAL_BACKENDS)
import skcw
skcw.CWSequenceTagger().fit([["a"]], [["A"]])
assert before == (dict(parallel.BACKENDS), dict(parallel.EXTERNAL_BACKENDS))
"""
    subprocess.run([sys.executable, "-c", code], check=True)


class Engine(ThreadingBackend):
    """Somebody's engine."""


def test_an_engine_is_used_in_its_own_form(monkeypatch):
    met = []

    def watched(backend):
        met.append(backend)
        return backend

    monkeypatch.setitem(_shards.ENGINES, "Engine", watched)
    engine = Engine()
    with parallel_config(backend=engine, n_jobs=2), Workers(2) as workers:
        assert list(workers.run(abs, [-1, 2, -3])) == [1, 2, 3]
    assert met == [engine]
    with Workers(2) as workers:
        assert list(workers.run(abs, [-1])) == [1]
    assert met == [engine]
    assert "Engine" not in joblib.parallel.BACKENDS
