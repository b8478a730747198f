"""From columns of words to labels in one estimator, which saves into one file."""

from skcw.pipeline._pipeline import TaggingPipeline, make_tagging_pipeline

__all__ = ["TaggingPipeline", "make_tagging_pipeline"]
