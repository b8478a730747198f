"""Reranking n-best lists by features of whole labelings."""

from skcw.reranking.base import BaseReranker
from skcw.reranking.boosting import BoostingReranker
from skcw.reranking.candidates import CandidateLists, oracle_scores
from skcw.reranking.global_features import GlobalFeatures
from skcw.reranking.online import AROWReranker, CWReranker, VotedPerceptronReranker
from skcw.reranking.tagger import RerankedTagger

__all__ = [
    "AROWReranker",
    "BaseReranker",
    "BoostingReranker",
    "CWReranker",
    "CandidateLists",
    "GlobalFeatures",
    "RerankedTagger",
    "VotedPerceptronReranker",
    "oracle_scores",
]
