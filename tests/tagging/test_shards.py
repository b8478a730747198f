"""Training in shards: one result, whoever computes it, close to that in one piece."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    load,
)
from skcw._model import sequence_shards as _dealing
from skcw.data import SequenceEncoder
from skcw.datasets import make_tagged_corpus
from skcw.features.basic import basic_features
from skcw.io.loading import without_seconds
from skcw.utils.laws import weights
from tests.reference import mixing

LEARNERS = [
    CWSequenceTagger, AROWSequenceTagger, PASequenceTagger, PerceptronSequenceTagger
]  # fmt: skip
DOUBLE = 1e-8  # sums in another order

CORPUS = make_tagged_corpus(120, random_state=0)
X, Y = [basic_features(sentence) for sentence in CORPUS.tokens], CORPUS.labels
DEV = {"X_dev": X[:30], "y_dev": Y[:30]}


def assert_same(one, other):
    """Two taggers are the same, bit for bit, and so is what they tell of training."""
    found, expected = weights(one), weights(other)
    assert found.keys() == expected.keys()
    for name in found:
        assert_array_equal(found[name], expected[name])
    assert without_seconds(one.history_) == without_seconds(other.history_)
    assert one.confidence_ == other.confidence_


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_shard_is_training_without_shards(learner):
    assert_same(
        learner(random_state=0).fit(X, Y, n_shards=1), learner(random_state=0).fit(X, Y)
    )


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_the_result_does_not_depend_on_who_computes_it(learner, backend):
    alone = learner(random_state=0).fit(X, Y, n_shards=3)
    with parallel_config(backend):
        other = learner(random_state=0, n_jobs=2).fit(X, Y, n_shards=3)
    assert_same(other, alone)


VARIANTS = {
    "dev": ({"max_iter": 6}, DEV),
    "early stopping": ({"early_stopping": {"validation_fraction": 0.3}}, {}),
    "weights": ({}, {"sample_weight": np.arange(120) % 3 / 2}),
    "models": ({"n_models": 2}, {}),
    "mean of four": ({"n_models": 4, "max_iter": 3}, {}),
    "no average": ({"averaging": False, "dtype": "float64"}, {}),
    "no shuffle": ({"shuffle": False, "learn_unknown_token": False}, {}),
    "no confidence": ({"calibrate_confidence": False, "class_weight": {"O": 0.5}}, {}),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_that_training_can_do_it_can_do_in_shards(variant):
    options, given = VARIANTS[variant]
    tagger = CWSequenceTagger(random_state=0, **options)
    alone = tagger.fit(X, Y, n_shards=3, **given)
    score = alone.score(X, Y)
    with parallel_config("threading"):
        again = CWSequenceTagger(random_state=0, n_jobs=2, **options)
        assert_same(again.fit(X, Y, n_shards=3, **given), alone)
    assert score > 0.95


def test_features_of_transitions_are_learned_in_shards(tmp_path):
    words = [[token[0] for token in sentence] for sentence in CORPUS.tokens]
    rows = [[[word, f"label[-1]&{word}"] for word in row] for row in words]
    batch = SequenceEncoder().fit_transform(rows)
    tagger = CWSequenceTagger(random_state=0).fit(batch, Y, n_shards=3)
    assert len(tagger.edge_features_) > 0
    assert tagger.score(batch, Y) > 0.97
    with parallel_config("loky"):
        other = CWSequenceTagger(random_state=0, n_jobs=2).fit(batch, Y, n_shards=3)
    assert_same(other, tagger)
    tagger.save(tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").coef_, tagger.coef_)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_pass_is_the_merge_of_passes_over_the_shards(learner):
    options = {"shuffle": False, "calibrate_confidence": False, "constraints": None}
    options |= {"learn_unknown_token": False, "dtype": "float64"}
    if learner is CWSequenceTagger:
        options["phi"] = 0.5  # that of "auto" would follow the features of each shard
    batch = SequenceEncoder().fit_transform(X)
    tagger = learner(max_iter=1, **options).fit(batch, Y, n_shards=3)
    shards = []
    for k in range(3):
        data = batch[k::3], Y[k::3], tagger.classes_
        last = learner(averaging=False, **options).partial_fit(*data)
        average = learner(**options).partial_fit(*data)
        shards.append((*tables(last), tables(average)[0], float(len(Y[k::3]))))
    zeros = np.zeros(len(shards[0][0]))
    prior = None if shards[0][1] is None else zeros + 1.0
    _, variance, average, _ = mixing.merged(zeros, prior, zeros, 0.0, shards)
    found, own_variance = tables(tagger)
    assert_allclose(found, average, atol=DOUBLE)
    if variance is not None:
        assert_allclose(own_variance, variance, rtol=DOUBLE)


def test_the_first_pass_is_cut_into_pieces_each_from_the_merge_of_those_before():
    seen, weights = [], []

    class Watching(CWSequenceTagger):
        def _bound_kernel(self, breadth):
            kernel = super()._bound_kernel(breadth)

            def watching(mean, *given):
                seen.append(len(given[-1].order))
                weights.append(float(np.abs(mean).sum()))
                return kernel(mean, *given)

            return watching

    options = {
        "calibrate_confidence": False,
        "learn_unknown_token": False,
        "random_state": 0,
    }
    Watching(max_iter=2, **options).fit(X, Y, n_shards=5)
    first, second = seen[:25], seen[25:]
    assert set(first) <= {len(X) // 25, len(X) // 25 + 1}
    assert sum(first) == sum(second) == len(X)
    assert len(second) == 5
    assert weights[:5] == [0.0] * 5
    assert min(weights[5:]) > 0.0


def test_a_shard_of_one_sequence_is_learned_in_one_piece():
    tagger = CWSequenceTagger(random_state=0, calibrate_confidence=False)
    tagger.fit(X[:5], Y[:5], n_shards=5)
    assert tagger.history_[0]["bytes_sent"] < tagger.history_[1]["bytes_sent"]


def tables(tagger):
    """Return all weights and all variances, or None."""
    means = np.concatenate([tagger.coef_.ravel(), tagger.transition_coef_.ravel()])
    if not hasattr(tagger, "coef_variance_"):
        return means, None
    variances = tagger.coef_variance_.ravel(), tagger.transition_variance_.ravel()
    return means, np.concatenate(variances)


@given(st.integers(1, 9), st.integers(0, 3))
@settings(max_examples=15)
def test_every_sequence_is_in_one_shard(n_shards, seed):
    seen = []

    class Watched(_dealing.WholeDeal):
        def _shard(self, positions, *given):
            seen.extend(positions.tolist())
            return super()._shard(positions, *given)

    options = {"max_iter": 1, "calibrate_confidence": False}
    tagger = CWSequenceTagger(random_state=seed, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skcw._model.sequence_shards.WholeDeal", Watched)
        tagger.fit(X[:9], Y[:9], n_shards=n_shards)
    assert sorted(seen) == (list(range(9)) if n_shards > 1 else [])


def test_a_label_that_most_shards_lack_is_learned():
    rare = X[:40] + [[["w=rare"], ["w=odd"]]]
    labels = [*Y[:40], ["B-RARE", "O"]]
    tagger = CWSequenceTagger(random_state=0).fit(rare, labels, n_shards=8)
    assert tagger.predict([[["w=rare"], ["w=odd"]]])[0] == ["B-RARE", "O"]


def test_sequences_without_tokens_do_no_harm():
    empty = [[], [], *X[:4]]
    tagger = CWSequenceTagger(random_state=0)
    tagger.fit(empty, [[], [], *Y[:4]], n_shards=6)
    assert tagger.predict(empty)[0] == []


def test_more_shards_than_sequences_are_refused_and_nothing_changes():
    tagger = CWSequenceTagger(random_state=0).fit(X, Y)
    before = weights(tagger)
    with pytest.raises(ValueError, match="n_shards is 5, but there are only 4"):
        tagger.fit(X[:4], Y[:4], n_shards=5)
    for name, array in weights(tagger).items():
        assert_array_equal(array, before[name])


@pytest.mark.parametrize("n_shards", [0, -1, 1.5, "two"])
def test_a_number_of_shards_that_is_none_is_refused(n_shards):
    with pytest.raises(ValueError, match="n_shards"):
        CWSequenceTagger().fit(X[:5], Y[:5], n_shards=n_shards)


def test_warm_start_goes_on_in_shards():
    tagger = CWSequenceTagger(random_state=0, max_iter=2).fit(X, Y, n_shards=3)
    more = tagger.set_params(warm_start=True).fit(X, Y, n_shards=3)
    assert more.score(X, Y) > 0.97


@pytest.mark.parametrize("n_merges", [1, 3])
def test_the_bytes_that_travel_are_told(n_merges, capsys, monkeypatch):
    monkeypatch.setattr(_dealing.SequenceShards, "few", 3 if n_merges == 1 else 1)
    tagger = CWSequenceTagger(random_state=0, max_iter=2, verbose=1)
    tagger.set_params(calibrate_confidence=False).fit(X, Y, n_shards=3)
    first, second = tagger.history_
    # The first pass starts from the prior, of which only transitions are sent; if it
    # has three pieces, the others start from something.
    assert 0 < first["bytes_sent"] < n_merges * second["bytes_sent"]
    assert (first["bytes_sent"] > second["bytes_sent"]) == (n_merges > 1)
    assert first["bytes_returned"] > second["bytes_returned"] > 0
    assert capsys.readouterr().err.count(" MB for 3 shards, ") == 2


def test_sequences_of_weight_zero_are_in_no_shard():
    weight = np.ones(len(X))
    weight[80:] = 0.0
    options = {
        "random_state": 0,
        "calibrate_confidence": False,
        "learn_unknown_token": False,
    }
    some = CWSequenceTagger(**options).fit(X, Y, weight, n_shards=3)
    few = CWSequenceTagger(**options).fit(X[:80], Y[:80], n_shards=3)
    assert some.predict(X).tolist() == few.predict(X).tolist()
    with pytest.raises(ValueError, match="only 80 sequences"):
        CWSequenceTagger(**options).fit(X, Y, weight, n_shards=90)
