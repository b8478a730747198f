"""A short run of the fuzzer of model files, with fixed seeds."""

import numpy as np
import pytest

import skcw
from skcw.exceptions import ModelFileError
from skcw.io.model_files import seal
from tests.fuzz.crfsuite_files import CRFSUITE_OPTIONS, crfsuite_case
from tests.fuzz.isolation import DOCUMENTED_ERROR, OK, run_cases
from tests.fuzz.model_files import ACCIDENTS, INTENT, OPTIONS, Pieces, case_of
from tests.fuzz.saved_models import NAMES, saved_model

N_CASES = 40


@pytest.mark.parametrize("name", NAMES)
def test_no_mutated_model_breaks_anything(name):
    report = run_cases(case_of(name), range(N_CASES), **OPTIONS)
    assert not report.findings, "\n".join(map(str, report.findings))
    assert report.counts[DOCUMENTED_ERROR] > N_CASES / 4
    assert report.counts.total() == N_CASES


def test_no_mutated_file_of_crfsuite_breaks_anything():
    report = run_cases(crfsuite_case(), range(400), **CRFSUITE_OPTIONS)
    assert not report.findings, "\n".join(map(str, report.findings))
    assert min(report.counts[OK], report.counts[DOCUMENTED_ERROR]) > 20


@pytest.mark.parametrize("accident", dict.fromkeys(ACCIDENTS), ids=lambda f: f.__name__)
def test_every_accident_is_noticed(accident, tmp_path):
    whole, path = saved_model("CW"), tmp_path / "model"
    for seed in range(50):
        changed = accident(whole, np.random.default_rng(seed))
        path.write_bytes(changed)
        if changed != whole:
            with pytest.raises(ModelFileError, match=str(path)):
                skcw.load(path)


def test_every_byte_counts(tmp_path):
    whole, path = saved_model("numbers"), tmp_path / "model"
    # All of them would take a while; a prime meets every place of a word.
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ModelFileError, match=str(path)):
            skcw.load(path)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_taken_apart_and_put_together_is_opened(name, tmp_path):
    Pieces(saved_model(name)).write(tmp_path / "model")
    assert skcw.load(tmp_path / "model")


@pytest.mark.parametrize("change", dict.fromkeys(INTENT), ids=lambda f: f.__name__)
def test_every_mutation_changes_the_file(change, tmp_path):
    whole, path = saved_model("pipeline"), tmp_path / "model"
    Pieces(whole).write(path)
    same, different = path.read_bytes(), 0
    for seed in range(20):
        pieces = Pieces(whole)
        change(pieces, np.random.default_rng(seed))
        pieces.write(path)
        different += path.read_bytes() != same
    assert different > 10


def test_a_sealed_file_can_be_sealed_again(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(saved_model("CW"))
    seal(path)
    assert path.read_bytes() == saved_model("CW")
