"""Engines by name: found where they are installed, else with a word on how to."""

import pytest
from joblib import Parallel, delayed, parallel_config, register_parallel_backend

from skcw._model import shards as _engines
from skcw._model.shards import ENGINES, offer_engines


@pytest.fixture
def offered(monkeypatch):
    """Return what joblib would be told."""
    found = {}
    monkeypatch.setattr(_engines, "register_parallel_backend", found.__setitem__)
    return found


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_that_is_not_installed_names_the_extra(name, offered, monkeypatch):
    monkeypatch.setattr(_engines, "find_spec", lambda package: None)
    offer_engines()
    register_parallel_backend(f"absent {name}", offered[name])
    with pytest.raises(ImportError, match=rf"pip install 'skcw\[{name}\]'"):
        parallel_config(f"absent {name}")


def test_an_engine_that_is_installed_is_imported_when_it_is_asked_for(
    offered, monkeypatch
):
    place = "joblib.parallel", "ThreadingBackend"
    monkeypatch.setattr(_engines, "ENGINES", {"here": ("joblib", place)})
    offer_engines()
    register_parallel_backend("here", offered["here"])
    with parallel_config("here", n_jobs=2):
        assert Parallel()(delayed(abs)(k) for k in (-1, -2)) == [1, 2]


def test_all_are_offered_and_none_is_imported_for_that(offered, monkeypatch):
    monkeypatch.setattr(_engines, "find_spec", lambda package: package)
    monkeypatch.setattr(_engines, "import_module", None)
    offer_engines()
    assert offered.keys() == {"dask", "ray", "spark"}
