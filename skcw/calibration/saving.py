"""The tagger inside a calibrated one, in a file."""

from skcw.exceptions import ModelFileError
from skcw.tagging import BaseSequenceTagger

# How to read what a header describes. Pipelines, which stand above, add themselves.
READERS = {"tagger": BaseSequenceTagger._from_model}


def restored_tagger(header, arrays):
    """Return the fitted tagger that was saved as part of another."""
    kind = "pipeline" if "features" in header else "tagger"
    if kind not in READERS:
        raise ModelFileError(
            "the file holds a calibrated pipeline; open it with skcw.load"
        )
    return READERS[kind]("the tagger in the file", header, arrays)
