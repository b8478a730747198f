"""Reranking: choose among the n best labelings by features of the whole."""

from skcw.reranking._base import BaseReranker
from skcw.reranking._boosting import BoostingReranker
from skcw.reranking._candidates import CandidateLists
from skcw.reranking._errors import candidate_errors, oracle_scores
from skcw.reranking._gaussian import AROWReranker, CWReranker
from skcw.reranking._global_features import GlobalFeatures
from skcw.reranking._score import ScoreReranker
from skcw.reranking._selection import Trial
from skcw.reranking._tagger import Choice, RerankedTagger
from skcw.reranking._voted import VotedPerceptronReranker

__all__ = [
    "AROWReranker",
    "BaseReranker",
    "BoostingReranker",
    "CWReranker",
    "CandidateLists",
    "Choice",
    "GlobalFeatures",
    "RerankedTagger",
    "ScoreReranker",
    "Trial",
    "VotedPerceptronReranker",
    "candidate_errors",
    "oracle_scores",
]
