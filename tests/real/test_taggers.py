"""Figures that the docstrings of taggers state; where SKCW_DATA names the folder."""

import pytest

from skcw import HMMSequenceTagger, MaxEntSequenceTagger, make_tagging_pipeline
from skcw.datasets import fetch_ark_twitter, fetch_ud_ewt

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
