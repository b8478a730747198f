"""Features of a corpus that comes in parts."""

import os

from skcw.data import iter_columns
from skcw.features import WindowFeatures

# How many words of a file are read at a time.
PART_WORDS = 50_000


class StreamedFeatures:
    """Window features that learn from one part of a corpus after the other.

    Parameters
    ----------
    steps : list of (str, estimator)
        The steps of a pipeline.
    source : str, path-like, list of these, callable or iterable
        Column files, or pairs of sentences and labels.
    """

    def __init__(self, steps, source):
        self.features = steps[0][1]
        if len(steps) != 2 or type(self.features) is not WindowFeatures:
            kinds = ", ".join(type(step).__name__ for _, step in steps)
            raise TypeError(
                "a stream needs a pipeline of WindowFeatures and a tagger; the steps "
                f"are {kinds}"
            )
        self.features._validate_params()
        if self.features.n_features is not None and self.features.min_count > 1:
            raise ValueError(
                "min_count needs the names of features; hashing by n_features has none"
            )
        if steps[1][1].min_count > 1:
            raise ValueError("set min_count on the features, not on the tagger")
        self.source = source
        self.extractor = self.first = None

    def parts(self):
        """Return an iterator of sentences and labels."""
        source = self.source
        if isinstance(source, (str, os.PathLike)):
            source = [source]
        if isinstance(source, (list, tuple)) and all(
            isinstance(name, (str, os.PathLike)) for name in source
        ):
            return self._of_files(source)
        return source() if callable(source) else source

    def _of_files(self, names):
        for name in names:
            for block in iter_columns(name, block_tokens=PART_WORDS):
                yield block.split_label()

    def learn(self, X, vocabulary):
        """Return the features of some sentences; new ones follow those known."""
        X = X if hasattr(X, "__len__") else list(X)
        if self.extractor is None:
            self.first = X
            _, self.extractor = self.features._prepared(X)
        return self.extractor.learn(X, vocabulary)

    def keep(self, corpus):
        """Fit the features to what was found in the whole corpus."""
        self.features.columns_ = self.extractor.columns
        self.features.templates_ = self.extractor.templates
        self.features.vocabulary_ = corpus.vocabulary
        self.features.n_features_out_ = corpus.n_features
