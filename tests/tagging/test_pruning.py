"""Pruning: weights near zero are set back, and what has none is forgotten."""

import numpy as np
import pytest

import skcw
from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    InferenceModel,
    PASequenceTagger,
    PerceptronSequenceTagger,
    make_tagging_pipeline,
)
from skcw.confidence.settings import scale_unit
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ForeignBatchError
from skcw.tagging.weights import pruned
from skcw.utils.laws import make_tagged
from tests.tagging.test_edges import WORDS, switches
from tests.tagging.test_edges import pipeline as pipeline_of

TAGGERS = [
    CWSequenceTagger(random_state=0),
    CWSequenceTagger(random_state=0, dtype="float64", averaging=False),
    CWSequenceTagger(random_state=0, learn_unknown_token=False),
    AROWSequenceTagger(random_state=0),
    PASequenceTagger(random_state=0),
    PerceptronSequenceTagger(random_state=0),
]
# Scales are products of floats.
ROUNDING = 1e-9


@pytest.fixture(scope="module")
def data():
    return make_tagged(CWSequenceTagger(), seed=0, n_sequences=60, noise=0.1)


@pytest.fixture
def tagger(data):
    return CWSequenceTagger(random_state=0).fit(*data)


def sizes(belief):
    """Return how far the weights of features are from zero, row by row."""
    weights = np.abs(belief.feature_weights().astype(float))
    if belief.variance is None:
        return weights
    return weights / np.sqrt(belief.feature_weights("variance"))


@pytest.mark.parametrize("example", TAGGERS, ids=repr)
@pytest.mark.parametrize("share", [0.25, 0.9])
def test_weights_nearest_to_zero_go_and_others_stay(example, share, data):
    example.fit(*data)
    before = example.belief_
    after = pruned(before, share)
    was, now = before.feature_weights(), after.feature_weights()
    gone = (was != 0) & (now == 0)
    kept = now != 0
    assert 0 < np.count_nonzero(gone) <= share * np.count_nonzero(was)
    assert sizes(before)[gone].max() <= sizes(before)[kept].min()
    assert np.array_equal(was[kept], now[kept])
    assert np.array_equal(before.transition_weights(), after.transition_weights())
    if before.variance is not None:
        variance = after.feature_weights("variance")
        assert (variance[gone] == before.prior_variance).all()
        assert np.array_equal(variance[kept], before.feature_weights("variance")[kept])
    assert (after.average is after.mean) == (before.average is before.mean)
    after.check()


def test_rows_without_weights_are_gone(tagger):
    after = pruned(tagger.belief_, 0.9)
    assert after.n_rows < tagger.belief_.n_rows
    rows = after.mean.reshape(-1, after.width)
    beside = np.arange(after.n_rows) != after.unknown_row
    beside[: after.width + 1] = False
    assert (rows[beside] != 0).any(axis=1).all()


def test_the_row_of_unknown_words_stays(tagger):
    before, after = tagger.belief_, pruned(tagger.belief_, 0.99)
    first, second = (b.mean.reshape(-1, b.width) for b in (before, after))
    assert np.array_equal(first[before.unknown_row], second[after.unknown_row])


@pytest.mark.parametrize("example", TAGGERS, ids=repr)
@pytest.mark.parametrize("drop_features", [False, True])
def test_a_share_of_zero_changes_no_label(example, data, drop_features):
    before = example.fit(*data).predict(data.X)
    example.prune(0, drop_features=drop_features)
    assert list(example.predict(data.X)) == list(before)


def test_features_without_weights_are_forgotten_and_can_be_learned_again(tagger, data):
    names = set(tagger.feature_names_)
    weights = tagger.prune(0.9, drop_features=False).state_features_
    assert set(tagger.feature_names_) == names
    tagger.prune(0)
    assert set(tagger.feature_names_) == {name for name, _ in weights} < names
    assert dict(tagger.state_features_) == dict(weights)
    tagger.partial_fit(*data)
    assert set(tagger.feature_names_) == names


def test_batches_that_were_encoded_before_are_refused(tagger, data):
    batch = tagger.encode(data.X)
    tagger.prune(0.5, drop_features=False)
    tagger.predict(batch)
    tagger.prune(0.5)
    with pytest.raises(ForeignBatchError):
        tagger.predict(batch)


def test_edges_keep_their_weights():
    model = pipeline_of(WORDS).fit(*switches(150, 0))
    tagger = model.tagger
    before = dict(tagger.edge_features_)
    assert before
    model.prune(0.5)
    after = dict(tagger.edge_features_)
    assert 0 < len(after) < len(before)
    assert after == {names: before[names] for names in after}


def test_draws_spread_as_far_as_before(tagger, data):
    tagger.fit_confidence(*data, "kd-pc", n_values=3, n_draws=5)
    before = dict(tagger.confidence_["kd-pc"]["values"])
    spread = before["variance_scale"] * scale_unit(tagger.belief_)
    fit = tagger.prune(0.5).confidence_["kd-pc"]
    after = fit["values"]
    assert after["variance_scale"] < before["variance_scale"]
    assert after["variance_scale"] * scale_unit(tagger.belief_) == pytest.approx(
        spread, rel=ROUNDING
    )
    assert after == before | {"variance_scale": after["variance_scale"]}
    assert "curves" not in fit


def test_remembered_sentences_are_forgotten_with_the_numbers_of_features(data):
    tagger = CWSequenceTagger(random_state=0).fit(*data)
    assert tagger.prune(0.5, drop_features=False).train_overlap(data.X) == 1.0
    assert np.isnan(tagger.prune(0.5).train_overlap(data.X))


@pytest.mark.parametrize("features", ["ner", ["word", lambda tokens, i: ["bias"]]])
def test_a_pruned_pipeline_is_smaller_and_works(features, tmp_path):
    X, y = make_tagged_corpus(100, random_state=0, return_X_y=True)
    model = make_tagging_pipeline(features, CWSequenceTagger(random_state=0)).fit(X, y)
    score, names = model.score(X, y), len(model.tagger.vocabulary_)
    size = model.tagger.size_
    model.prune(0.5)
    assert len(model.tagger.vocabulary_) < names
    assert model.tagger.size_ < size
    # A loss of a hundredth is far above what was measured.
    assert model.score(X, y) > score - 0.01
    labels = list(model.predict(X))
    if features == "ner":
        model.save(tmp_path / "model")
        assert list(skcw.load(tmp_path / "model").predict(X)) == labels
        assert (
            list(InferenceModel.open(tmp_path / "model").predict_all(X).labels())
            == labels
        )
    assert len(model.partial_fit(X, y).tagger.vocabulary_) == names


def test_hashed_and_numeric_features_have_no_names_to_forget(data):
    X = [np.random.RandomState(len(y)).rand(len(y), 4) for y in data.y]
    tagger = CWSequenceTagger(random_state=0).fit(X, data.y).prune(0.5)
    assert tagger.n_features_in_ == len(tagger.belief_.row_of) == 4
    assert len(tagger.predict(X)) == len(X)


@pytest.mark.parametrize("share", [-0.1, 1, 1.5, True, "half", None, float("nan")])
def test_other_shares_are_refused_and_change_nothing(tagger, share):
    belief = tagger.belief_
    with pytest.raises(ValueError, match=r"share is .* from 0 .* to less than 1"):
        tagger.prune(share)
    assert tagger.belief_ is belief


def test_only_taggers_that_learn_online_can_be_pruned():
    assert not hasattr(CRFSequenceTagger(), "prune")
    assert not hasattr(make_tagging_pipeline(["word"], CRFSequenceTagger()), "prune")
    with pytest.raises(ValueError, match="not fitted"):
        CWSequenceTagger().prune()
