"""From columns of words to labels in one estimator, which saves into one file."""

from skcw.pipeline._loading import load
from skcw.pipeline._making import make_tagging_pipeline
from skcw.pipeline._tagging import TaggingPipeline

__all__ = ["TaggingPipeline", "load", "make_tagging_pipeline"]
