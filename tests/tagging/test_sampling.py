"""Whole labelings drawn from the belief of a tagger."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.exceptions import NotFittedError

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    PerceptronSequenceTagger,
    make_tagging_pipeline,
)
from skcw.exceptions import NoLegalLabelingError
from tests.integration.corpora import features, news

X, Y = features(n_sequences=60)
N_DRAWS = 4000
# A count that is rarer than this, to either side, is not that of its probability. Five
# deviations of a normal number are as rare.
RARE = 2.9e-7
ASKED = [[], *features(seed=1, n_sequences=25)[0], []]


@pytest.fixture(scope="module")
def tagger():
    return CWSequenceTagger(max_iter=3, random_state=0).fit(X, Y)


def agreement(labelings, labels):
    """Return the share of labelings that have each of these labels."""
    shares = [
        np.array(rows) == row for rows, row in zip(labelings, labels, strict=True)
    ]
    return np.concatenate([same.mean(axis=0) for same in shares if same.size])


def rarity(share, probability):
    """Return how likely a share of the draws is to lie so far to its side, exactly."""
    count, p = np.rint(share * N_DRAWS), np.clip(probability, 0.0, 1.0)
    tails = binom.cdf(count, N_DRAWS, p), binom.sf(count - 1, N_DRAWS, p)
    return np.minimum(*tails)


@pytest.mark.parametrize(("fixed", "method"), [(True, "kd-fixed"), (False, "kd-pc")])
@pytest.mark.parametrize("n", [1, 8, 21])
def test_the_share_that_agrees_is_the_confidence_of_the_draws(tagger, fixed, method, n):
    options = {"variance_scale": 0.5, "random_state": 3}
    labelings = tagger.sample(ASKED, n, fixed, **options)
    confidence = tagger.predict_confidence(ASKED, method, n_draws=n, **options)
    found = agreement(labelings, tagger.predict(ASKED))
    np.testing.assert_allclose(found, np.concatenate(confidence), rtol=1e-12)


@pytest.mark.parametrize(
    ("tagger", "method"),
    [
        (AROWSequenceTagger(max_iter=2, random_state=0), "kd-pc"),
        (PerceptronSequenceTagger(max_iter=2, random_state=0), "kd-fixed"),
    ],
)
def test_taggers_with_variances_draw_by_them(tagger, method):
    tagger.fit(X, Y)
    found = agreement(tagger.sample(ASKED, 9), tagger.predict(ASKED))
    confidence = tagger.predict_confidence(ASKED, method, n_draws=9)
    np.testing.assert_allclose(found, np.concatenate(confidence), rtol=1e-12)


def test_every_sequence_has_n_labelings_of_its_length(tagger):
    rows = tagger.sample(ASKED, 5)
    assert type(rows) is np.ndarray and rows.shape == (len(ASKED),)
    for row, sequence in zip(rows, ASKED, strict=True):
        assert [len(labels) for labels in row] == [len(sequence)] * 5
        known = set(tagger.classes_.tolist())
        assert all(type(x) is str and x in known for labels in row for x in labels)
    assert tagger.sample([], 5).shape == (0,)


def test_a_labeling_depends_on_the_seed_and_its_sequence_alone(tagger):
    rows = tagger.sample(ASKED, 12, variance_scale=1.0).tolist()
    assert tagger.sample(ASKED[::-1], 12, variance_scale=1.0).tolist() == rows[::-1]
    assert tagger.sample(ASKED[3:4], 12, variance_scale=1.0).tolist() == rows[3:4]
    first = [row[:7] for row in rows]
    assert tagger.sample(ASKED, 7, variance_scale=1.0).tolist() == first
    other = tagger.sample(ASKED, 12, variance_scale=1.0, random_state=1).tolist()
    assert other != rows


def test_labels_of_a_sample_fit_together():
    tagger = CWSequenceTagger(max_iter=1, constraints="BIO", random_state=0).fit(X, Y)
    for row in tagger.sample(ASKED, 8, variance_scale=5.0):
        for labels in row:
            for before, after in zip(["O", *labels], labels, strict=False):
                begun = after[0] != "I" or before[1:] == after[1:]
                assert begun, f"{after} cannot follow {before}"


def test_several_workers_draw_the_same():
    many = ASKED * 40
    one = CWSequenceTagger(max_iter=2, random_state=0).fit(X, Y)
    rows = one.sample(many, 9)
    assert one.set_params(n_jobs=2).sample(many, 9).tolist() == rows.tolist()


def test_a_pipeline_samples_by_its_tagger():
    words, labels = news(n_sequences=40)
    pipeline = make_tagging_pipeline(["word"], CWSequenceTagger(random_state=0))
    pipeline.fit(words, labels)
    rows = pipeline.sample(words[:5], 4, True, variance_scale=2.0)
    alone = pipeline.tagger.sample(
        pipeline.encode(words[:5]), 4, True, variance_scale=2
    )
    assert rows.tolist() == alone.tolist()
    crf = make_tagging_pipeline(["word"], CRFSequenceTagger()).fit(words, labels)
    assert [len(row) for row in crf.sample(words[:3], 4)] == [4] * 3


@pytest.mark.parametrize("n", [0, -1, 1.5, "3"])
def test_a_number_of_labelings_is_positive_and_whole(tagger, n):
    with pytest.raises(ValueError, match="n_draws must be a positive integer"):
        tagger.sample(ASKED, n)


def test_what_cannot_be_served_is_refused(tagger):
    with pytest.raises(NotFittedError):
        CWSequenceTagger().sample(ASKED, 3)
    for name in ("draws", "temperature", "k"):
        with pytest.raises(TypeError, match=rf"draws from .* have no option '{name}'"):
            tagger.sample(ASKED, 3, **{name: 4})
    perceptron = PerceptronSequenceTagger(max_iter=1).fit(X, Y)
    with pytest.raises(ValueError, match="needs a variance"):
        perceptron.sample(ASKED, 3, unit_variance=False)


@pytest.fixture(scope="module")
def hmm():
    return HMMSequenceTagger().fit(*news(n_sequences=60))


WORDS = [[], *news(seed=1, n_sequences=6)[0], []]


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_labelings_of_a_hidden_markov_model_have_its_marginals(hmm, temperature):
    options = {"temperature": temperature}
    rows = hmm.sample(WORDS, N_DRAWS, **options)
    confidence = np.concatenate(hmm.predict_confidence(WORDS, "marginal", **options))
    found = agreement(rows, hmm.predict(WORDS))
    assert (rarity(found, confidence) > RARE).all()


def test_whole_labelings_of_a_hidden_markov_model_have_their_probabilities(hmm):
    rows = hmm.sample(WORDS, N_DRAWS)
    for row, best in zip(rows, hmm.predict_nbest(WORDS, 3), strict=True):
        for labels, log_p in best:
            share, p = np.mean([one == labels for one in row]), np.exp(log_p)
            assert rarity(share, p) > RARE


def test_a_labeling_of_a_hidden_markov_model_depends_on_its_sequence_alone(hmm):
    rows = hmm.sample(WORDS, 12).tolist()
    assert [len(row) for row in rows] == [12] * len(WORDS)
    assert hmm.sample(WORDS[::-1], 12).tolist() == rows[::-1]
    assert hmm.sample(WORDS, 7).tolist() == [row[:7] for row in rows]
    assert hmm.sample(WORDS, 12, random_state=1).tolist() != rows
    assert hmm.sample([], 5).shape == (0,)


def test_a_hidden_markov_model_draws_what_constraints_allow():
    tagger = HMMSequenceTagger(constraints="BIO").fit(*news(n_sequences=60))
    rows = tagger.sample(WORDS, 50, temperature=50.0)
    for labels in (labels for row in rows for labels in row):
        for before, after in zip(["O", *labels], labels, strict=False):
            assert after[0] != "I" or before[1:] == after[1:]
    single = HMMSequenceTagger(constraints=(["N"], [[False]])).fit([["a"]], [["N"]])
    with pytest.raises(NoLegalLabelingError, match="no labeling of sequence 1"):
        single.sample([["a"], ["a", "a"]], 2)


def test_options_of_a_hidden_markov_model_are_not_ignored(hmm):
    with pytest.raises(
        TypeError, match=r"draws from the .* have no option 'variance_scale'"
    ):
        hmm.sample(WORDS, 2, variance_scale=1.0)
    fixed = hmm.sample(WORDS, 9, unit_variance=True, variance_scale=0.1)
    confidence = hmm.predict_confidence(
        WORDS, "kd-fixed", n_draws=9, variance_scale=0.1
    )
    found = agreement(fixed, hmm.predict(WORDS))
    np.testing.assert_allclose(found, np.concatenate(confidence), rtol=1e-12)
