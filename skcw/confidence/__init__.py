"""Confidence in words, spans and sequences: methods and answers.

``predict_all`` of a tagger or of ``skcw.InferenceModel`` returns `Predictions`, whose entities are `Entity`.
`METHODS` has one row for each name that ``method=`` takes.
"""

from skcw.confidence.answers import Entity, Predictions
from skcw.confidence.methods import METHODS, Method

__all__ = ["METHODS", "Entity", "Method", "Predictions"]
