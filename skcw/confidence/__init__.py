"""Predictions, and the confidence in their tokens, entities and sequences.

``predict_all`` of a tagger or of ``skcw.InferenceModel`` returns `Predictions`. The
methods of confidence are the rows of a table, ``skcw.confidence.methods.METHODS``.
"""

from skcw.confidence.predictions import Predictions

__all__ = ["Predictions"]
