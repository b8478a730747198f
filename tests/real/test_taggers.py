"""Figures that the docstrings of taggers state; where SKCW_DATA names the folder."""

import pytest

from skcw import (
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    make_tagging_pipeline,
)
from skcw.datasets import fetch_ark_twitter, fetch_conll2002, fetch_ud_ewt
from skcw.metrics import span_f1_score

pytestmark = pytest.mark.real_data

# Solvers and processors round differently: a few words more or less.
POINTS = 0.15


@pytest.mark.parametrize(
    ("load", "unseen", "accuracy"),
    [
        (fetch_ud_ewt, "spelling", 92.86),
        (fetch_ud_ewt, "vocabulary", 89.50),
        (fetch_ark_twitter, "spelling", 86.27),
        (fetch_ark_twitter, "prior", 74.27),
    ],
    ids=["ewt-spelling", "ewt-vocabulary", "ark-spelling", "ark-prior"],
)
def test_the_hidden_markov_model_is_as_good_as_it_says(load, unseen, accuracy):
    tagger = HMMSequenceTagger(unseen).fit(*load(return_X_y=True))
    found = 100 * tagger.score(*load(subset="test", return_X_y=True))
    assert found == pytest.approx(accuracy, abs=POINTS)


def test_the_maximum_entropy_tagger_is_as_good_as_it_says():
    tagger = make_tagging_pipeline("pos", MaxEntSequenceTagger(random_state=0))
    tagger.fit(*fetch_ark_twitter(return_X_y=True))
    found = 100 * tagger.score(*fetch_ark_twitter(subset="test", return_X_y=True))
    assert found == pytest.approx(85.00, abs=2 * POINTS)


def test_names_are_found_among_words_never_seen(data_home):
    """Spanish names by their words alone: .467 without, .513 with what is learned."""
    train, test = (
        fetch_conll2002("es", data_home=data_home, subset=part, return_X_y=True)
        for part in ("train", "test")
    )
    X, X_test = ([[w[0] for w in row] for row in part[0]] for part in (train, test))

    def score(**options):
        tagger = CWSequenceTagger(random_state=0, calibrate_confidence=False, **options)
        tagger.fit(X[:1000], train[1][:1000])
        return span_f1_score(test[1], tagger.predict(X_test))

    assert score() > score(learn_unknown_token=False) + 0.02
