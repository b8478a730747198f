"""Reranking: choose among the n best labelings by features of the whole."""

from skcw.reranking.base import BaseReranker, ScoreReranker
from skcw.reranking.boosting import BoostingReranker
from skcw.reranking.candidates import CandidateLists, candidate_errors, oracle_scores
from skcw.reranking.global_features import GlobalFeatures
from skcw.reranking.online import AROWReranker, CWReranker, VotedPerceptronReranker
from skcw.reranking.selection import Trial
from skcw.reranking.tagger import Choice, RerankedTagger

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
