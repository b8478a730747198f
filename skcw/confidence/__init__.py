"""Confidence in words, spans and sequences: methods and answers.

``ask`` of a tagger or of ``skcw.Model`` returns `Answers`, whose entities are `Entity`.
`METHODS` has one row for each name that ``method=`` takes.
"""

from skcw.confidence.answers import Answers, Entity
from skcw.confidence.methods import METHODS, Method

__all__ = ["METHODS", "Answers", "Entity", "Method"]
