"""Encode a corpus of any size into blocks on disk, reading it once.

Features are numbered as they appear. If there are more than memory has room for, those
that were rarest so far are forgotten, and may begin again: blocks written before are
brought up to date when all has been read.
"""

import os
from typing import NamedTuple

import numpy as np

from skcw._model.gaussian import padded
from skcw._model.shards import ShardFile, write_shard
from skcw._util.checks import check_same_lengths
from skcw.data.batch import SequenceBatch
from skcw.data.labels import encode_labels
from skcw.data.vocabulary import Vocabulary

# What memory is needed for, measured in bytes with room to spare: a name among the
# features with the copy that grows, a weight with its variance, average and copies, and
# a word with its features as it is read, hidden and presented.
BYTES_PER_NAME, BYTES_PER_WEIGHT, BYTES_PER_WORD = 240, 20, 1200
FEWEST_WORDS, MOST_WORDS = 5_000, 500_000


class Budget(NamedTuple):
    """How much of a corpus may be in memory at a time.

    Parameters
    ----------
    n_bytes : int
        The memory, besides that of Python and its libraries.
    max_features : int or None, default=None
        The most features to keep; None is as many as memory has room for.
    min_count : int, default=1
        Features that occur fewer times are left out.
    """

    n_bytes: int
    max_features: int | None = None
    min_count: int = 1

    @property
    def block_words(self):
        """The number of words of a block: a quarter of the memory."""
        return int(
            np.clip(self.n_bytes // 4 // BYTES_PER_WORD, FEWEST_WORDS, MOST_WORDS)
        )

    def most_features(self, n_labels):
        """Return how many features there may be: half of the memory."""
        each = BYTES_PER_NAME + BYTES_PER_WEIGHT * padded(max(n_labels, 1))
        room = max(self.n_bytes // 2 // each, 1)
        return room if self.max_features is None else min(room, self.max_features)


class Block(NamedTuple):
    """A part of a corpus in a file."""

    file: ShardFile
    n_sequences: int
    n_words: int
    # How often features had been forgotten when it was written.
    generation: int

    def open(self, n_features, vocabulary=None):
        """Return its sequences and the codes of their labels, mapped."""
        _, arrays = self.file.open()
        batch = SequenceBatch._unchecked(
            arrays["offsets"],
            arrays["indptr"],
            arrays["indices"],
            arrays.get("values"),
            n_features,
            vocabulary,
        )
        return batch, arrays["gold"]


class Spilled(NamedTuple):
    """A corpus in blocks, with what they have in common."""

    blocks: list
    vocabulary: Vocabulary | None
    n_features: int
    labels: list
    # Where the user wants temporary files to be; None for anywhere.
    folder: str | None = None

    def opened(self):
        """Yield the sequences and labels of each block, one after the other."""
        for block in self.blocks:
            yield block.open(self.n_features, self.vocabulary)
            block.file.close()


class Spiller:
    """Writes encoded sequences into blocks of a folder.

    Parameters
    ----------
    folder : str
        Where to write.
    budget : Budget
        How much memory there is.
    learn : callable
        ``learn(X, vocabulary)`` encodes sequences; new features follow those known.
    dtype : str
        The type of values.
    """

    def __init__(self, folder, budget, learn, dtype):
        self.folder, self.budget, self.learn, self.dtype = folder, budget, learn, dtype
        self.vocabulary, self.n_features, self.labels = Vocabulary.empty(), 0, []
        self.counts = np.zeros(0, dtype=np.int64)
        # For each time that features were forgotten, a file: their numbers afterwards,
        # or -1. In memory they would grow with the corpus.
        self.renumberings = []
        self.blocks, self.held = [], []

    def add(self, X, y):
        """Encode some sequences, and write a block when there are enough."""
        batch = self.learn(X, self.vocabulary).with_precision(self.dtype)._compact()
        codes, lengths, self.labels = encode_labels(y, self.labels)
        check_same_lengths(batch.lengths, lengths)
        self.vocabulary, self.n_features = batch.vocabulary, batch.n_features
        if self.vocabulary is not None:
            counts = np.bincount(batch.indices, minlength=self.n_features)
            counts[: len(self.counts)] += self.counts
            self.counts = counts
        self.held.append((batch, codes))
        if sum(batch.n_tokens for batch, _ in self.held) >= self.budget.block_words:
            self._write()
            most = self.budget.most_features(len(self.labels))
            if self.n_features > 2 * most:
                self._forget(most)

    def _write(self):
        batch = joined([batch for batch, _ in self.held], self.n_features)
        gold = np.concatenate([codes for _, codes in self.held])
        self.held.clear()
        self.blocks.append(self._written(f"block-{len(self.blocks)}", batch, gold))

    def _written(self, name, batch, gold):
        arrays = {
            "offsets": batch.offsets,
            "indptr": batch.indptr,
            "indices": batch.indices,
            "values": batch.values,
            "gold": gold,
        }
        file = write_shard(self.folder, name, arrays)
        return Block(file, len(batch), batch.n_tokens, len(self.renumberings))

    def _forget(self, most, least=1):
        """Keep the features that occurred most often, and at least so many times."""
        if self.vocabulary is None:
            return
        keep = self.counts >= least
        if keep.sum() > most:
            # Of those that occurred as often the first ones stay.
            keep[np.argsort(-self.counts, kind="stable")[most:]] = False
        if keep.all():
            return
        number = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        name = f"numbers-{len(self.renumberings)}"
        self.renumberings.append(write_shard(self.folder, name, {"number": number}))
        self.vocabulary = self.vocabulary.select(keep)
        self.counts, self.n_features = self.counts[keep], len(self.vocabulary)

    def finish(self):
        """Return the corpus, all blocks of which have the same features."""
        if self.held:
            self._write()
        if not self.labels:
            raise ValueError("the source holds no words, so there is nothing to learn")
        self._forget(self.budget.most_features(len(self.labels)), self.budget.min_count)
        self._renumber()
        return Spilled(self.blocks, self.vocabulary, self.n_features, self.labels)

    def _renumber(self):
        """Bring the blocks up to date that were written before features were lost."""
        number = None
        for generation in reversed(range(len(self.renumberings))):
            file = self.renumberings[generation]
            here = file.open()[1]["number"]
            number = here.copy() if number is None else _followed(here, number)
            _remove(file)
            for position, block in enumerate(self.blocks):
                if block.generation == generation:
                    self.blocks[position] = self._renumbered(position, block, number)

    def _renumbered(self, position, block, number):
        """Return a block with other numbers, in a file of its own."""
        batch, gold = block.open(self.n_features)
        indices = number[batch.indices]
        fresh = batch._renumbered(indices, self.n_features)._filtered(indices >= 0)
        # A file that is mapped must not be written to.
        written = self._written(f"final-{position}", fresh, gold)
        _remove(block.file)
        return written


def _remove(file):
    """Remove a file that is no longer needed."""
    file.close()
    os.unlink(file.path)


def _followed(first, second):
    """Return the numbers after two renumberings."""
    return np.where(first >= 0, second[first], -1).astype(np.int32)


def joined(batches, n_features, vocabulary=None):
    """Return several batches as one.

    Parameters
    ----------
    batches : list of SequenceBatch
        The batches, compact, numbered by beginnings of one vocabulary.
    n_features : int
        How many features there are.
    vocabulary : Vocabulary, default=None
        Their names.

    Returns
    -------
    batch : SequenceBatch
        The sequences of all of them.
    """
    if len(batches) == 1:
        only = batches[0]
        parts = only.offsets, only.indptr, only.indices, only.values
        return SequenceBatch._unchecked(*parts, n_features, vocabulary)
    values = None
    given = [batch.values for batch in batches if batch.values is not None]
    if given:
        dtype = given[0].dtype
        values = np.concatenate(
            [
                np.ones(len(b.indices), dtype) if b.values is None else b.values
                for b in batches
            ]
        )
    return SequenceBatch._unchecked(
        _steps([batch.offsets for batch in batches]),
        _steps([batch.indptr for batch in batches]),
        np.concatenate([batch.indices for batch in batches]),
        values,
        n_features,
        vocabulary,
    )


def _steps(parts):
    """Return the borders of all parts, one after the other."""
    ends = np.cumsum([part[-1] for part in parts])
    shifted = [part[1:] + end for part, end in zip(parts[1:], ends, strict=False)]
    return np.concatenate([parts[0], *shifted])
