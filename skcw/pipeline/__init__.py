"""Features and a tagger in one estimator, saved in one file."""

from typing import TYPE_CHECKING

from skcw._util.lazy import lazy_names

if TYPE_CHECKING:
    from skcw.pipeline.tagging_pipeline import TaggingPipeline, make_tagging_pipeline

__all__ = ["TaggingPipeline", "make_tagging_pipeline"]

# The component for spaCy tags without scikit-learn.
__getattr__, __dir__ = lazy_names(
    __name__, dict.fromkeys(__all__, "skcw.pipeline.tagging_pipeline")
)
