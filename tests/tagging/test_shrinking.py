"""Sequences that moved nothing are left out of some passes."""

import numpy as np
import pytest

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.utils.laws import make_tagged
from tests.kernels.problems import bytes_of

all_online = pytest.mark.parametrize(
    "Tagger",
    [
        CWSequenceTagger,
        AROWSequenceTagger,
        PASequenceTagger,
        PerceptronSequenceTagger,
    ],
)


@pytest.fixture(scope="module")
def train():
    return make_tagged(CWSequenceTagger(), seed=0, n_sequences=60, noise=0.3)


def trained(Tagger, train, sample_weight=None, **parameters):
    options = {"random_state": 0, "max_iter": 8, "calibrate_confidence": False}
    tagger = Tagger(**options | parameters)
    return tagger.fit(train.X, train.y, sample_weight)


def bits(tagger):
    return bytes_of(tagger.belief_)


@all_online
def test_shrinking_changes_the_model_and_keeps_what_it_predicts(Tagger, train):
    whole, shrunk = (trained(Tagger, train, shrinking=n) for n in (0, 2))
    assert bits(whole) != bits(shrunk)
    assert shrunk.score(train.X, train.y) >= whole.score(train.X, train.y) - 0.02


@all_online
def test_the_same_seed_gives_the_same_bits(Tagger, train):
    found = {
        str(bits(trained(Tagger, train, shrinking=2, n_models=3, n_jobs=n)))
        for n in (1, 1, 2)
    }
    assert len(found) == 1


@all_online
def test_a_single_pass_leaves_nothing_out(Tagger, train):
    one = trained(Tagger, train, max_iter=1)
    assert bits(trained(Tagger, train, max_iter=1, shrinking=3)) == bits(one)


@pytest.mark.parametrize(
    "Tagger", [CWSequenceTagger, AROWSequenceTagger, PerceptronSequenceTagger]
)
def test_nothing_rests_where_every_sequence_has_a_rival(Tagger, train):
    # With such costs the best labeling is never the true one.
    hard = {"cost": 1e6, "constraints": None}
    moved = trained(Tagger, train, **hard)
    assert bits(trained(Tagger, train, shrinking=4, **hard)) == bits(moved)


@all_online
def test_partial_fit_presents_everything(Tagger, train):
    def streamed(shrinking):
        tagger = Tagger(random_state=0, shrinking=shrinking, calibrate_confidence=False)
        for _ in range(4):
            tagger.partial_fit(train.X, train.y)
        return bits(tagger)

    assert streamed(2) == streamed(0)


@all_online
def test_what_weighs_nothing_still_teaches_nothing(Tagger, train):
    weight = np.ones(len(train.X))
    # The labels are numbered by the sequences before.
    weight[40:] = 0.0
    wrong = train.y[:40] + [["O"] * len(row) for row in train.y[40:]]
    options = {"shrinking": 2, "constraints": None, "sample_weight": weight}
    one = trained(Tagger, train, **options)
    assert bits(trained(Tagger, train._replace(y=wrong), **options)) == bits(one)


@pytest.mark.parametrize("shrinking", [-1, 1.5, "often", None, 10**7])
def test_other_numbers_of_passes_are_refused(shrinking, train):
    with pytest.raises(ValueError, match="'shrinking' parameter"):
        trained(CWSequenceTagger, train, shrinking=shrinking)


@all_online
def test_shards_and_resting_sequences_exclude_each_other(Tagger, train):
    with pytest.raises(ValueError, match="in shards no sequence rests"):
        trained(Tagger, train, shrinking=2, n_shards=2)
