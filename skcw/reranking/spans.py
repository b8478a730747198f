"""The spans of many labelings, read at once."""

from typing import NamedTuple

import numpy as np

from skcw._util.ragged import offsets_of, split_rows
from skcw.data.labels import encode_labels
from skcw.data.schemes import span_ends, split_label
from skcw.tagging import BaseSequenceTagger


class LabelingSpans:
    """The spans of many labelings, read at once.

    Parameters
    ----------
    codes : ndarray of int
        The numbers of the labels of all labelings, joined.
    lengths : ndarray of int64
        The length of each labeling.
    labels : list of str
        The labels.

    Attributes
    ----------
    labeling, start, stop, kind : ndarray of int64
        Of each span its labeling, where it is and the number of its label.
    names : list of str
        The labels of spans.
    offsets : ndarray of int64
        Where each labeling begins.
    """

    def __init__(self, codes, lengths, labels):
        self.labels = labels
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


class CodedNbest(NamedTuple):
    """The n best labelings of a sentence as numbers of labels, with their scores.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_candidates, n_tokens)
        The labelings, all different.
    scores : ndarray of float64, shape (n_candidates,)
        Their scores.
    """

    codes: np.ndarray
    scores: np.ndarray

    @classmethod
    def rows(cls, tagger, X, n, labels):
        """Return those of sequences by a tagger, with the numbers of some labels."""
        if type(tagger).predict_nbest is not BaseSequenceTagger.predict_nbest:
            return [cls.of(row, labels) for row in tagger.predict_nbest(X, n)]
        answers, number = tagger.predict_all(X), {y: k for k, y in enumerate(labels)}
        codes, total, found = answers.layer.nbest(n)
        own = np.array([number[y] for y in answers.classes], dtype=np.int32)
        codes = np.ascontiguousarray(own[codes].T)
        rows = split_rows(codes, answers.offsets)
        return [
            cls(row[:, :k].T, scores[:k])
            for row, scores, k in zip(rows, total, found.tolist(), strict=True)
        ]

    @classmethod
    def of(cls, row, labels):
        """Return that of labelings with scores, each labeling where it comes first."""
        known = {tuple(y): score for y, score in reversed(list(row))}
        first = list(dict.fromkeys(tuple(y) for y, _ in row))
        codes, lengths, _ = encode_labels(map(list, first), labels, grow=False)
        scores = np.array([known[y] for y in first], dtype=np.float64)
        return cls(codes.reshape(len(first), int(lengths[0])), scores)


def joined_codes(rows):
    """Return the codes of all labelings of some sentences, and their lengths."""
    shapes = np.array([row.codes.shape for row in rows], dtype=np.int64).reshape(-1, 2)
    parts = [np.empty(0, np.int32), *(row.codes.ravel() for row in rows)]
    return np.concatenate(parts), np.repeat(shapes[:, 1], shapes[:, 0])
