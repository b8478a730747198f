"""The spans of many labelings, read at once."""

import numpy as np

from skcw._util.ragged import offsets_of
from skcw.data.labels import encode_labels
from skcw.data.schemes import span_ends, split_label


class LabelingSpans:
    """The spans of many labelings, read at once.

    Parameters
    ----------
    labelings : list of lists of str
        The labelings.

    Attributes
    ----------
    labeling, start, stop, kind : ndarray of int64
        Of each span its labeling, where it is and the number of its label.
    names, labels : list of str
        The labels of spans, and those of tokens.
    codes, offsets : ndarray
        The numbers of the labels of tokens, and where each labeling begins.
    """

    def __init__(self, labelings):
        codes, lengths, self.labels = encode_labels(labelings)
        self.names = list(dict.fromkeys(split_label(label)[1] for label in self.labels))
        self.codes, self.offsets = codes, offsets_of(lengths)
        ends, kinds = np.zeros((2, 0), dtype=np.int64)
        if self.labels:
            ends, kinds = span_ends(self.labels, codes, self.offsets)
        at = np.flatnonzero(ends)
        self.labeling = np.searchsorted(self.offsets, at, side="right") - 1
        first = self.offsets[self.labeling]
        self.start, self.stop, self.kind = at - first, ends[at] - first, kinds[at]

    def of_labeling(self, c):
        """Return the labels of the spans of a labeling by where they are."""
        first, end = np.searchsorted(self.labeling, [c, c + 1])
        parts = (self.start, self.stop, self.kind)
        return {
            (start, stop): self.names[kind]
            for start, stop, kind in zip(
                *(part[first:end].tolist() for part in parts), strict=True
            )
        }

    def keys(self, sentence, n_tokens):
        """Return a number for each span of each sentence, the same for the same span.

        Parameters
        ----------
        sentence : ndarray of int64, shape (n_labelings,)
            The sentence of each labeling.
        n_tokens : ndarray of int64, shape (n_sentences,)
            Their lengths.
        """
        begins = offsets_of(n_tokens)[sentence[self.labeling]]
        place = (begins + self.start) * (int(n_tokens.max(initial=0)) + 1)
        return (place + self.stop - self.start) * len(self.names) + self.kind
