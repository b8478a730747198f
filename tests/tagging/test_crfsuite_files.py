"""Files of CRFsuite: what CRFSequenceTagger reads, refuses and writes."""

import struct
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from skcw import load
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ModelFileError
from skcw.tagging import CRFSequenceTagger

X, Y = make_tagged_corpus(60, random_state=0, return_X_y=True)
X_NEW, _ = make_tagged_corpus(60, random_state=1, return_X_y=True)


@pytest.fixture(scope="module")
def fitted():
    return CRFSequenceTagger(c1=0.05, c2=0.05, max_iter=20).fit(X, Y)


def overwritten(model, place, number):
    """Return a model with another number at a place of its header or its features."""
    return model[:place] + struct.pack("<I", number) + model[place + 4 :]


# The header has 48 bytes and that of the features 12; a feature is its kind, its
# source, its label and its weight.
@pytest.mark.parametrize(
    "damage",
    [
        lambda m: m[:-9],
        lambda m: b"no model",
        lambda m: overwritten(m, 28, len(m) - 2),
        lambda m: overwritten(m, 28, 2**31),
        lambda m: overwritten(m, 56, 10**6),
        lambda m: overwritten(m, 64, 10**6),
        lambda m: overwritten(m, 68, 10**6),
        lambda m: overwritten(m, 76, 0x7FF80000),
    ],
)
def test_damaged_models_of_crfsuite_are_refused(fitted, damage, tmp_path):
    path = tmp_path / "model"
    fitted.to_crfsuite(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ModelFileError, match="model: the"):
        CRFSequenceTagger.from_crfsuite(path)


@pytest.mark.parametrize("constraints", ["BIO", "auto"])
def test_a_model_of_crfsuite_takes_constraints(fitted, tmp_path, constraints):
    fitted.to_crfsuite(tmp_path / "model")
    ours = CRFSequenceTagger.from_crfsuite(tmp_path / "model", constraints=constraints)
    assert ours.constraints_ == "BIO"
    bound = clone(fitted).set_params(constraints="BIO").fit(X, Y)
    assert_array_equal(ours.predict(X_NEW), bound.predict(X_NEW))
    ours.save(tmp_path / "ours")
    again = load(tmp_path / "ours")
    assert_array_equal(again.predict(X_NEW), bound.predict(X_NEW))
    with pytest.raises(ValueError, match="constraints"):
        CRFSequenceTagger.from_crfsuite(tmp_path / "model", constraints="nonsense")


def test_a_file_for_crfsuite_that_cannot_be_written_leaves_the_old_one(
    fitted, tmp_path, monkeypatch
):
    path = tmp_path / "model"
    path.write_bytes(b"older")

    def fail(self, data):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="no space left"):
        fitted.to_crfsuite(path)
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]
