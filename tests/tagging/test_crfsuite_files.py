"""Files of CRFsuite: what CRFSequenceTagger reads, refuses and writes."""

import struct
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skcw import load, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ModelFileError
from skcw.tagging import CRFSequenceTagger
from skcw.tagging import crfsuite_files as _crfsuite_files

MARGINALS = 1e-6

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


def crfsuite_file(path, X, y):
    """Train by CRFsuite alone, into a file."""
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"max_iterations": 5, "feature.minfreq": 0})
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    trainer.train(str(path))


def assert_crfsuite_agrees(path, tagger, X, items=None):
    """Open a file by CRFsuite and compare every label and every marginal."""
    theirs = pycrfsuite.Tagger()
    theirs.open(str(path))
    try:
        assert set(theirs.labels()) == set(tagger.classes_)
        tables = tagger.predict_marginals(X)
        for labels, table, tokens in zip(
            tagger.predict(X), tables, X if items is None else items, strict=True
        ):
            assert theirs.tag(tokens) == labels
            found = [
                [theirs.marginal(label, i) for label in row]
                for i, row in enumerate(table)
            ]
            ours = [list(row.values()) for row in table]
            assert_allclose(ours, found, rtol=0, atol=MARGINALS)
        return theirs.info()
    finally:
        theirs.close()


def test_a_loaded_tagger_writes_what_the_trained_one_writes(fitted, tmp_path):
    fitted.save(tmp_path / "ours")
    loaded = load(tmp_path / "ours")
    loaded.to_crfsuite(tmp_path / "loaded")
    fitted.to_crfsuite(tmp_path / "trained")
    assert (tmp_path / "loaded").read_bytes() == (tmp_path / "trained").read_bytes()
    assert_crfsuite_agrees(tmp_path / "loaded", fitted, X_NEW)


def test_crfsuite_lists_the_weights_of_a_written_file(fitted, tmp_path):
    fitted.to_crfsuite(tmp_path / "model")
    info = assert_crfsuite_agrees(tmp_path / "model", fitted, X_NEW[:3])
    # CRFsuite prints six decimals.
    states = {pair: round(w, 6) for pair, w in fitted.state_features_.items()}
    assert info.state_features == pytest.approx(states, abs=1e-6)
    assert info.transitions == pytest.approx(fitted.transition_features_, abs=1e-6)


def test_a_loaded_tagger_of_numeric_columns_is_written(tmp_path):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in (4, 2, 6)]
    y = [["a" if row[0] > 0 else "b" for row in table] for table in X]
    tagger = CRFSequenceTagger(c2=0.1).fit(X, y)
    tagger.save(tmp_path / "ours")
    load(tmp_path / "ours").to_crfsuite(tmp_path / "model")
    items = [
        [{f"x{i}": value for i, value in enumerate(row)} for row in table.tolist()]
        for table in X
    ]
    assert_crfsuite_agrees(tmp_path / "model", tagger, X, items)


def test_the_tagger_of_a_loaded_pipeline_is_written(tmp_path):
    pipeline = make_tagging_pipeline(["word", "word[-1]"], CRFSequenceTagger(c2=0.1))
    words = [[token[0] for token in tokens] for tokens in X]
    pipeline.fit(words, Y).save(tmp_path / "ours")
    loaded = load(tmp_path / "ours")
    loaded[-1].to_crfsuite(tmp_path / "model")
    batch = loaded[0].transform(words[:5])
    assert_crfsuite_agrees(tmp_path / "model", loaded[-1], batch, batch.to_lists())


@pytest.mark.parametrize("name", ["a\0b", "\0", "\ud800", "x\udfffy"])
def test_names_that_crfsuite_would_cut_or_cannot_read_are_refused(name):
    X, y = [[["c"], [name, "c"]]], [["x", "y"]]
    with pytest.raises(ValueError, match="there is a feature"):
        CRFSequenceTagger().fit(X, y)
    with pytest.raises(ValueError, match="label"):
        CRFSequenceTagger().fit([[["c"]]], [[name]])
    # What was never seen in training has no weight, whatever it is called.
    tagger = CRFSequenceTagger().fit([[["c"], ["d"]]], y)
    assert tagger.predict(X)[0] == tagger.predict([[["c"], ["c"]]])[0]


names = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)


@given(
    attributes=st.lists(names, min_size=1, max_size=60, unique=True),
    labels=st.lists(names, min_size=1, max_size=12, unique=True),
)
def test_a_written_file_equals_that_of_crfsuite(attributes, labels, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    items = [[name] for name in attributes]
    y = [labels[i % len(labels)] for i in range(len(items))]
    crfsuite_file(folder / "theirs", [items], [y])
    tagger = CRFSequenceTagger.from_crfsuite(folder / "theirs")
    tagger.to_crfsuite(folder / "ours")
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()


def test_a_model_too_large_for_crfsuite_leaves_the_old_file(
    fitted, tmp_path, monkeypatch
):
    path = tmp_path / "model"
    path.write_bytes(b"older")
    monkeypatch.setattr(_crfsuite_files, "MAX_BYTES", 30_000)
    with pytest.raises(ValueError, match="more than 30000 bytes"):
        fitted.to_crfsuite(path)
    assert path.read_bytes() == b"older"
