"""A reranked tagger is a tagger: it obeys the laws of all of them."""

from skcw import (
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
)
from skcw.reranking import (
    AROWReranker,
    BoostingReranker,
    CWReranker,
    RerankedTagger,
    VotedPerceptronReranker,
)
from skcw.utils.checks import parametrize_with_tagger_checks

CW = CWSequenceTagger(max_iter=3, shuffle=False, averaging=False, random_state=0)
TAGGERS = [
    RerankedTagger(
        CW,
        VotedPerceptronReranker(score_scale=5.0),
        cv=2,
        n_best=10,
        held_out_folds=1,
    ),
    RerankedTagger(
        HMMSequenceTagger("vocabulary"),
        BoostingReranker(40, validation_fraction=None),
        cv=3,
        held_out_folds=0,
    ),
    RerankedTagger(
        MaxEntSequenceTagger(C=10.0, min_count=1, solver="lbfgs"),
        CWReranker(shuffle=False),
        cv=2,
        min_count=1,
        held_out_folds=0,
    ),
    RerankedTagger(
        CRFSequenceTagger(max_iter=15),
        AROWReranker(shuffle=False),
        cv=2,
        loss="labels",
        held_out_folds=0,
    ),
]


@parametrize_with_tagger_checks(TAGGERS)
def test_reranked_taggers_obey_the_laws(tagger, check):
    check(tagger)
