"""What a classifier remembers of the rows that it has learned from."""

import pickle
from copy import deepcopy

import numpy as np
from sklearn.base import clone

import skcw
from skcw import MultiClassCW
from skcw._model import training_hashes
from skcw.io.model_files import read_model
from tests.linear_model.classifiers import every_classifier

RNG = np.random.RandomState(0)
X = RNG.normal(size=(60, 4))
Y = np.arange(60) % 3


@every_classifier
def test_rows_are_recognized_whatever_they_were_learned_by(Classifier):
    weight = np.arange(40) > 0
    classifier = Classifier(random_state=0).fit(X[:40], Y[:40], weight)
    assert classifier.train_overlap(X[39::-1]) == 39 / 40
    assert classifier.train_overlap(X[40:]) == 0.0
    classifier.partial_fit(X[40:50], Y[40:50] + 1, classes=[3])
    assert classifier.train_overlap(X[1:50]) == 1.0
    assert classifier.train_overlap(X[50:]) == 0.0
    assert classifier.fit(X[50:], Y[50:]).train_overlap(X[:50]) == 0.0


def test_pieces_are_remembered_as_the_whole_with_counts(monkeypatch):
    twice = np.concatenate([X, X[:7]]), np.concatenate([Y, Y[:7]])
    whole = MultiClassCW().fit(*twice)
    pieces = MultiClassCW()
    for i in range(0, 67, 5):
        pieces.partial_fit(*(part[i : i + 5] for part in twice), classes=[0, 1, 2])
    for one, other in zip(whole.training_hashes_, pieces.training_hashes_, strict=True):
        np.testing.assert_array_equal(one, other)
    counts = whole.training_hashes_[1]
    assert training_hashes.repeated_share(counts) == 14 / 67
    halves = [MultiClassCW().fit(X[i:], Y[i:]) for i in (0, 30)]
    counts = skcw.merge(halves).training_hashes_[1]
    assert sorted(counts.tolist()) == [1] * 30 + [2] * 30
    monkeypatch.setattr(training_hashes, "MOST_HASHES", 20)
    sample = clone(whole).fit(X[:40], Y[:40])
    assert len(sample.training_hashes_[0]) == 20
    assert sample.train_overlap(X[:40]) == 1.0
    assert 0.3 < sample.train_overlap(X) < 0.95


def test_copies_in_memory_remember_and_files_do_only_if_asked(tmp_path):
    classifier = MultiClassCW().fit(X, Y)
    assert deepcopy(classifier).train_overlap(X) == 1.0
    copies = [pickle.loads(pickle.dumps(classifier))]
    for asked in (False, True):
        classifier.save(tmp_path / "model", train_hashes=asked)
        assert ("training_hashes" in read_model(tmp_path / "model")[1]) == asked
        copies.append(skcw.load(tmp_path / "model"))
    for copy in copies[:2]:
        assert np.isnan(copy.train_overlap(X))
        # What came before is not known.
        assert np.isnan(copy.partial_fit(X[:5], Y[:5]).train_overlap(X))
    assert copies[2].train_overlap(X) == 1.0
    assert np.isnan(skcw.merge([classifier, copies[0]]).train_overlap(X))
