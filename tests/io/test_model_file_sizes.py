"""Files of taggers hold the weights that were touched, and the same tagger."""

import os

import numpy as np
import pytest
from safetensors.numpy import load_file

import skcw
from skcw import CWSequenceTagger, InferenceModel, PASequenceTagger, load, merge
from skcw.data.packing import COUNTS

# With so many labels few weights of a feature are ever touched.
N_LABELS = 40
FORMS = {"cells": {}, "whole": {"mapped": True}}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    words = rng.integers(300, size=(120, 9))
    X = [[f"w{word}" for word in row] for row in words]
    y = [[f"L{word % N_LABELS}" for word in row] for row in words]
    return X, y


@pytest.fixture(scope="module", params=[CWSequenceTagger, PASequenceTagger])
def tagger(request, data):
    return request.param(random_state=0, max_iter=3).fit(*data)


@pytest.fixture(scope="module")
def paths(tagger, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for form, options in FORMS.items():
        for dtype in (None, "float16"):
            found[form, dtype] = folder / f"{form}-{dtype}"
            tagger.save(found[form, dtype], dtype=dtype, **options)
    return found


def bits(tagger):
    arrays = tagger.belief_.arrays()
    return {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}


@pytest.mark.parametrize("dtype", [None, "float16"])
def test_files_of_cells_and_of_whole_tables_hold_the_same_tagger(paths, dtype):
    assert COUNTS in load_file(paths["cells", dtype])
    assert COUNTS not in load_file(paths["whole", dtype])
    small, large = (load(paths[form, dtype]) for form in FORMS)
    assert bits(small) == bits(large)


def test_a_tagger_comes_back_bit_for_bit(tagger, paths):
    assert bits(load(paths["cells", None])) == bits(tagger)


@pytest.mark.parametrize("dtype", [None, "float16"])
def test_the_runtime_answers_alike(paths, data, dtype):
    first, second = (
        InferenceModel.open(paths[form, dtype]).predict_all(data[0]) for form in FORMS
    )
    assert list(first.labels()) == list(second.labels())
    for a, b in zip(first.confidence(), second.confidence(), strict=True):
        assert np.array_equal(a, b)


def test_a_loaded_tagger_learns_on_alike(paths, data):
    small, large = (load(paths[form, None]).partial_fit(*data) for form in FORMS)
    assert bits(small) == bits(large)


def test_a_loaded_tagger_is_merged_alike(tagger, paths):
    given, loaded = (merge([one, one]) for one in (tagger, load(paths["cells", None])))
    assert bits(given) == bits(loaded)


def test_a_loaded_tagger_gives_the_same_file(paths, tmp_path):
    for form, options in FORMS.items():
        load(paths[form, None]).save(tmp_path / "again", **options)
        assert (tmp_path / "again").read_bytes() == paths[form, None].read_bytes()


def test_the_average_is_stored_once_until_it_is_another_one(tagger, data, tmp_path):
    loaded = skcw.load(_saved(tagger, tmp_path))
    assert "belief.average" not in load_file(tmp_path / "model")
    assert loaded.belief_.average is loaded.belief_.mean
    loaded.partial_fit(*data)
    assert not np.array_equal(loaded.belief_.average, loaded.belief_.mean)
    assert bits(skcw.load(_saved(loaded, tmp_path))) == bits(loaded)


def _saved(tagger, folder):
    tagger.save(folder / "model")
    return folder / "model"


def test_size_is_that_of_the_file(tagger, paths):
    size = os.path.getsize(paths["cells", None])
    # The table of the arrays is left out.
    assert size - 3000 < tagger.size_ <= size
