"""Features and a tagger in one estimator, saved in one file."""

from skcw.pipeline.tagging_pipeline import TaggingPipeline, make_tagging_pipeline

__all__ = ["TaggingPipeline", "make_tagging_pipeline"]
