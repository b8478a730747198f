"""Parts of labelings, such as entities, whose features are made once per sentence."""

from itertools import chain

import numpy as np

from skcw._kernels.ranking import drop_shared, join_rows
from skcw._util.ragged import joined_ranges, offsets_of
from skcw.reranking.hashed_names import EntityHashes, HashedTexts


class Rows:
    """Rows of hashed features of parts, and which labelings have which.

    Parameters
    ----------
    sentence : ndarray of int64
        The sentence of each row.
    indptr, hashes : ndarray
        The hashes of its features.
    labeling, row : ndarray of int64
        Pairs of a labeling and a row.
    names : callable
        Returns the features of a row as strings.
    """

    def __init__(self, sentence, indptr, hashes, labeling, row, names):
        self.sentence, self.indptr, self.hashes = sentence, indptr, hashes
        self.labeling, self.row, self.names = labeling, row, names

    @classmethod
    def of_names(cls, sentence, names, labeling, row):
        """Return the rows of lists of names."""
        hashes = HashedTexts.of(list(chain.from_iterable(names))).value
        indptr = offsets_of([len(some) for some in names])
        return cls(
            np.array(sentence, dtype=np.int64),
            indptr,
            hashes,
            np.array(labeling, dtype=np.int64),
            np.array(row, dtype=np.int64),
            names.__getitem__,
        )

    @classmethod
    def joined(cls, parts, of):
        """Return the rows of several, sentence by sentence.

        Parameters
        ----------
        parts : list of Rows
            The rows.
        of : ndarray of int64
            The sentence of each labeling.
        """
        sentence = np.concatenate([part.sentence for part in parts])
        order = np.argsort(sentence, kind="stable")
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        entries = joined_ranges(offsets_of(counts)[order], counts[order])
        hashes = np.concatenate([part.hashes for part in parts])[entries]
        before = offsets_of([len(part.sentence) for part in parts])
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        pairs = zip(parts, before[:-1], strict=True)
        row = place[np.concatenate([part.row + first for part, first in pairs])]
        labeling = np.concatenate([part.labeling for part in parts])

        def names(r):
            k = int(order[r])
            part = int(np.searchsorted(before, k, side="right")) - 1
            return parts[part].names(k - int(before[part]))

        by_labeling = np.argsort(labeling, kind="stable")
        starts = offsets_of(np.bincount(labeling, minlength=len(of)))
        indptr = offsets_of(counts[order])
        joined = cls(sentence[order], indptr, hashes, starts, row[by_labeling], names)
        # How many labelings the sentence of each row has.
        joined.n_labelings = np.bincount(of)[joined.sentence]
        return joined


def entity_rows(spans, of, words, templates, strings):
    """Return the rows of the features of single entities."""
    n_tokens = words.lengths
    keys = spans.keys(of, n_tokens)
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    sentence = of[spans.labeling[first]]
    start, stop, kind = spans.start[first], spans.stop[first], spans.kind[first]
    label = HashedTexts.of(spans.names)[kind]
    hashes = EntityHashes(words, label, sentence, start, stop)
    if "entities" in templates:
        hashes.of_borders()
    if "types" in templates:
        hashes.of_types()

    def names(r):
        found = strings(int(sentence[r]), int(start[r]), int(stop[r]))
        return [f"{spans.names[kind[r]]} {name}" for name in found]

    return Rows(sentence, *hashes.rows(), spans.labeling, row, names)


def neighbor_rows(spans, of, name):
    """Return the rows of the labels of entities that follow each other."""
    pair = np.flatnonzero(spans.labeling[1:] == spans.labeling[:-1])
    kinds, n = (spans.kind[pair], spans.kind[pair + 1]), len(spans.names)
    sentence = of[spans.labeling[pair]]
    keys = (sentence * n + kinds[0]) * n + kinds[1]
    keys, row = np.unique(keys, return_inverse=True)
    # Each once, however often a labeling has it.
    pairs = np.unique(spans.labeling[pair] * (len(keys) + 1) + row)
    labeling, row = np.divmod(pairs, len(keys) + 1)
    names = [
        [name(spans.names[one], spans.names[other])]
        for one, other in zip(keys // n % n, keys % n, strict=True)
    ]
    return Rows.of_names(keys // (n * n), names, labeling, row)


def union_rows(rows, numbers, n_features, telling=False):
    """Return the features of labelings, joined from those of their parts.

    Parameters
    ----------
    rows : Rows
        Joined rows.
    numbers : ndarray of int32
        The numbers of their features; -1 for those left out.
    n_features : int
        How many features there are.
    telling : bool, default=False
        Whether to leave out what all labelings of a sentence have, at least where it is
        of one part: rankings do not depend on it.

    Returns
    -------
    indptr, indices : ndarray
        The features of each labeling in growing order.
    """
    kept = numbers >= 0
    owner = np.repeat(np.arange(len(rows.sentence)), np.diff(rows.indptr))[kept]
    keys = np.sort(owner * max(n_features, 1) + numbers[kept])
    new = np.ones(len(keys), dtype=bool)
    new[1:] = keys[1:] != keys[:-1]
    owner, indices = np.divmod(keys[new], max(n_features, 1))
    indptr = offsets_of(np.bincount(owner, minlength=len(rows.sentence)))
    starts, parts, indices = rows.labeling, rows.row, indices.astype(np.int32)
    if telling:
        n_having = np.bincount(parts, minlength=len(rows.sentence))
        shared = n_having == rows.n_labelings
        stamp = np.full(n_features, -1, dtype=np.int64)
        n = drop_shared(rows.sentence, shared.view(np.uint8), indptr, indices, stamp)
        indices = indices[:n]
    counts = offsets_of(np.diff(indptr)[parts])
    sizes = counts[starts[1:]] - counts[starts[:-1]]
    room = np.empty(int(sizes.max(initial=0)) + 1, dtype=np.int32)
    out, ends = np.empty(counts[-1] + 1, np.int32), np.zeros(len(starts), np.int64)
    join_rows(indptr, indices, starts, parts, ends, out, room)
    return ends, out[: ends[-1]].copy()
