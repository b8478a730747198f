"""Which pass a training has kept, as the command line tells it."""

from skcw import CWSequenceTagger
from skcw.cli.learners import kept_passes
from skcw.datasets import make_tagged_corpus
from skcw.features.basic import basic_features

CORPUS = make_tagged_corpus(100, random_state=0)
X, Y = [basic_features(sentence) for sentence in CORPUS.tokens], CORPUS.labels


def test_the_best_of_the_passes_that_were_scored():
    # The sequences held out are too few to judge confidence by, so that others are.
    early = {"validation_fraction": 0.02, "n_iter_no_change": 2}
    tagger = CWSequenceTagger(random_state=0, early_stopping=early, max_iter=20)
    tagger.fit(X, Y)
    scores = {r["epoch"]: r["dev_score"] for r in tagger.history_ if "dev_score" in r}
    assert 1 not in scores
    assert kept_passes(tagger) == max(scores, key=scores.get)


def test_without_scores_none_is_kept():
    assert kept_passes(CWSequenceTagger(max_iter=2).fit(X, Y)) is None
