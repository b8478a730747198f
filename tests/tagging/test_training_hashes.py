"""What a tagger remembers of the sequences that it has learned from."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from skcw import (
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    make_tagging_pipeline,
)
from skcw._model import training_hashes as _training_hashes
from skcw._model.training_hashes import (
    MOST_HASHES,
    batch_hashes,
    known_share,
    remembered,
)
from skcw.calibration import CalibratedTagger
from skcw.datasets import make_tagged_corpus
from skcw.io.model_files import read_model
from tests.integration.corpora import features

HASHES = st.lists(st.integers(0, 2**64 - 1), max_size=30)
TAGGERS = [
    CWSequenceTagger(),
    CRFSequenceTagger(),
    HMMSequenceTagger(),
    MaxEntSequenceTagger(),
]


@given(HASHES, HASHES)
def test_what_comes_in_pieces_is_remembered_as_a_whole(one, other):
    whole = remembered(one + other)
    assert whole.tolist() == sorted({*one, *other})
    np.testing.assert_array_equal(remembered(other, remembered(one)), whole)


def test_of_many_sequences_the_smallest_hashes_are_kept_in_any_order():
    hashes = np.random.default_rng(0).integers(
        0, 2**64, 2 * MOST_HASHES, dtype=np.uint64
    )
    kept = remembered(hashes)
    np.testing.assert_array_equal(kept, np.sort(hashes)[:MOST_HASHES])
    half = remembered(hashes[::2])
    np.testing.assert_array_equal(remembered(hashes[1::2], half), kept)


def test_the_share_is_one_of_words_not_of_sequences():
    memory = remembered([3, 9])
    hashes = np.array([3, 4, 9], dtype=np.uint64)
    assert known_share(memory, hashes, [1, 6, 1]) == 0.25
    assert known_share(memory, hashes, [0, 0, 0]) == 0.0


def test_hashes_that_could_not_be_kept_do_not_count(monkeypatch):
    monkeypatch.setattr(_training_hashes, "MOST_HASHES", 2)
    memory = remembered([1, 2, 3, 4])
    assert memory.tolist() == [1, 2]
    learned = np.array([2, 3, 4], dtype=np.uint64)
    assert known_share(memory, learned, [5, 5, 5]) == 1.0


def test_a_sample_of_a_large_corpus_still_tells_the_share():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**64, 4 * MOST_HASHES, dtype=np.uint64)
    memory = remembered(hashes)
    asked = hashes[:4000].copy()
    asked[:1000] = rng.integers(0, 2**64, 1000, dtype=np.uint64)
    share = known_share(memory, asked, np.ones(len(asked)))
    # About a thousand of the hashes asked for are small enough to tell.
    assert share == pytest.approx(0.75, abs=0.06)


@pytest.mark.parametrize("tagger", TAGGERS)
def test_a_share_of_the_training_data_is_recognized_in_any_order(tagger):
    X, y = features(n_sequences=40)
    tagger.fit(X[:20], y[:20])
    assert tagger.train_overlap(X[:20][::-1]) == 1.0
    words = [len(labels) for labels in y]
    expected = sum(words[:20]) / sum(words)
    # Short sentences of one half may be in the other as well.
    assert expected <= tagger.train_overlap(X) < expected + 0.05


def test_features_that_were_too_rare_to_learn_do_not_hide_a_sequence():
    X, y = features(n_sequences=20)
    tagger = CWSequenceTagger(min_count=3).fit(X, y)
    assert tagger.train_overlap(X) == 1.0


@pytest.mark.parametrize("tagger", TAGGERS)
def test_a_pipeline_knows_what_its_tagger_knows(tagger):
    X, y = make_tagged_corpus(60, random_state=0, return_X_y=True)
    pipeline = make_tagging_pipeline("ner", tagger).fit(X[:40], y[:40])
    assert pipeline.train_overlap(X[:40]) == 1.0
    assert pipeline.train_overlap(X[40:]) < 0.1


@pytest.mark.parametrize("tagger", TAGGERS)
def test_a_saved_tagger_remembers_what_it_has_learned_from(tagger, tmp_path):
    X, y = features(n_sequences=20)
    tagger.fit(X[:10], y[:10]).save(tmp_path / "tagger", train_hashes=True)
    same = type(tagger).load(tmp_path / "tagger")
    assert same.train_overlap(X[:10]) == 1.0
    assert same.train_overlap(X[10:]) == tagger.train_overlap(X[10:]) < 0.5


@pytest.mark.parametrize("tagger", TAGGERS)
def test_a_fitted_tagger_is_not_calibrated_on_its_training_words(tagger):
    X, y = features(n_sequences=60)
    calibrated = CalibratedTagger(tagger.fit(X[:40], y[:40]), cv="prefit")
    n_known = round(tagger.train_overlap(X, "sentence") * 60)
    assert 40 <= n_known < 60
    with pytest.raises(ValueError, match=f"in {n_known} of 60 sentences"):
        calibrated.fit(X, y)
    with pytest.raises(ValueError, match="unit is 'entity'"):
        tagger.train_overlap(X, "entity")
    calibrated.fit(X[40:], y[40:])


def test_words_among_other_features_and_in_pieces_are_remembered():
    tokens, y = make_tagged_corpus(40, random_state=0, return_X_y=True)
    X = [[[f"word={word}", f"pos={pos}"] for word, pos in row] for row in tokens]
    tagger = HMMSequenceTagger(word_prefix="word=")
    for start in (0, 10):
        tagger.partial_fit(X[start : start + 10], y[start : start + 10])
    assert tagger.train_overlap(X[:20]) == 1.0
    assert tagger.train_overlap(tagger.encode(X[:20])) == 1.0
    assert tagger.train_overlap(X[20:]) < 0.1
    assert tagger.fit(X[:10], y[:10]).train_overlap(X[10:20]) < 0.1


def test_the_hash_of_a_sequence_depends_on_order_places_and_values():
    tagger = CWSequenceTagger()
    rows = [["a", "b"], ["b", "a"], ["a", "b", "a"], [["a", "b"]], ["a"], [{"a": 2}]]
    batch = tagger.fit(rows, [["O"] * len(row) for row in rows]).encode(rows)
    assert len(set(batch_hashes(batch).tolist())) == len(rows)


@pytest.mark.parametrize("tagger", TAGGERS)
def test_no_hash_of_a_sentence_is_saved_unless_asked_for(tagger, tmp_path):
    X, y = features(n_sequences=20)
    tagger = clone(tagger).fit(X, y)
    assert np.isnan(pickle.loads(pickle.dumps(tagger)).train_overlap(X))
    assert deepcopy(tagger).train_overlap(X) == 1.0
    tagger.save(tmp_path / "tagger")
    _, arrays = read_model(tmp_path / "tagger")
    assert not [name for name in arrays if "hash" in name]
    assert np.isnan(type(tagger).load(tmp_path / "tagger").train_overlap(X))
    tagger.save(tmp_path / "tagger", train_hashes=True)
    _, arrays = read_model(tmp_path / "tagger")
    assert len(arrays["training_hashes"]) <= 20
    assert tagger.train_overlap(X) == 1.0
