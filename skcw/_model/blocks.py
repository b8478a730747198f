"""Train on a corpus in blocks: one block is in memory at a time.

What learning about unknown tokens and judging of confidence need to know of the whole
corpus is gathered in a few passes over the blocks. If the sequences come in the same
order, the weights are those of a corpus in memory, bit for bit.
"""

from collections import Counter

import numpy as np

from skcw._model.checkpoint import digest_of
from skcw._model.corpus import WholeCorpus
from skcw._model.examples import (
    Examples,
    TokenSizes,
    norm_counts,
    token_breadths,
    token_norms,
)
from skcw._model.spilling import joined
from skcw._model.training_hashes import batch_hashes, remembered
from skcw.data.batch import SequenceBatch
from skcw.data.schemes import first_violation, scheme_faults


class BlockCorpus:
    """The blocks of a corpus, with what the kernels read besides.

    Parameters
    ----------
    spilled : Spilled
        The corpus.
    belief : Belief
        Where training starts.
    with_norm : bool
        Whether costs count in units of the length of a token's features.
    held_out : ndarray of int, default=()
        The sequences not to learn from, ascending, counted over all blocks.
    """

    in_memory = False

    def __init__(self, spilled, belief, with_norm, held_out=()):
        self.spilled, self.belief, self.with_norm = spilled, belief, with_norm
        self.held_out = held_out
        self.n_blocks, self.folder = len(spilled.blocks), spilled.folder

    def parts(self, held_out=None):
        """Return all blocks, those without some sequences, and these in memory."""
        if held_out is None:
            return self, self, None
        given = self.belief, self.with_norm
        examples = taken(self.spilled, held_out)
        rest = BlockCorpus(self.spilled, *given, held_out)
        return self, rest, WholeCorpus(examples.corpus(*given), None)

    def chosen(self, number):
        """Return the sequences of a block to learn from, or None for all."""
        return self.learned(number) if len(self.held_out) else None

    def learned(self, number):
        """Return the sequences of a block to learn from."""
        everything = np.arange(self.spilled.blocks[number].n_sequences)
        return np.delete(everything, _in_block(self.spilled, number, self.held_out))

    def corpus_of(self, number):
        """Return a block as the kernels read it."""
        return examples_of(self.spilled, number).corpus(self.belief, self.with_norm)

    def order(self, rng, shuffle):
        """Return the order of the blocks in a pass, and the seed of that within."""
        if not shuffle:
            return np.arange(self.n_blocks), None
        order = rng.permutation(self.n_blocks)
        return order, rng.randint(np.iinfo(np.int32).max)

    def in_order(self, order):
        """Yield the blocks, and the sequences of each, in the order of a pass."""
        blocks, seed = order
        for block in blocks.tolist():
            learned = self.learned(block)
            if seed is not None:
                learned = np.random.RandomState([seed, block]).permutation(learned)
            yield block, learned

    def close(self, number):
        """Give back the memory of a block."""
        self.spilled.blocks[number].file.close()


def examples_of(spilled, number):
    """Return the examples of a block."""
    batch, gold = spilled.blocks[number].open(spilled.n_features, spilled.vocabulary)
    return Examples(batch, gold, None)


def taken(spilled, positions):
    """Return the examples at some positions, counted over all blocks."""
    parts = []
    for number, block in enumerate(spilled.blocks):
        own = _in_block(spilled, number, positions)
        parts.append(examples_of(spilled, number).take(own))
        parts[-1] = parts[-1]._replace(batch=parts[-1].batch._compact())
        block.file.close()
    batches = [part.batch for part in parts]
    batch = joined(batches, spilled.n_features, spilled.vocabulary)
    return Examples(batch, np.concatenate([part.codes for part in parts]), None)


def _in_block(spilled, number, positions):
    """Return which of some sequences are in a block, counted from its beginning."""
    sizes = [block.n_sequences for block in spilled.blocks]
    first = sum(sizes[:number])
    low, high = np.searchsorted(positions, [first, first + sizes[number]])
    return np.asarray(positions[low:high], dtype=np.int64) - first


class BlockExamples:
    """What `Examples` is for a corpus in memory, gathered by looking at all blocks.

    Parameters
    ----------
    spilled : Spilled
        The blocks.
    """

    def __init__(self, spilled):
        self.spilled, known = spilled, (spilled.n_features, spilled.vocabulary)
        # Knows the features, and holds no sequence.
        self.batch = SequenceBatch([0], [0], [], None, *known)
        self._faults, norms = Counter(), np.zeros(1, dtype=np.int64)
        self._counts = np.zeros(len(spilled.labels), dtype=np.int64)
        totals, self._hashes, used = np.zeros(2), remembered([]), []
        for batch, gold in spilled.opened():
            hashes = batch_hashes(batch)[batch.lengths > 0]
            self._hashes = remembered(hashes, self._hashes)
            used.append(batch.lengths > 0)
            self._faults.update(scheme_faults(spilled.labels, gold, batch.offsets))
            self._counts += np.bincount(gold, minlength=len(self._counts))
            if batch.values is None:
                norms = _added(norms, norm_counts(batch.indptr))
            else:
                totals += token_norms(batch).sum(), token_breadths(batch).sum()
        self._used = np.concatenate(used)
        self._total_sizes = totals + float(norms @ np.sqrt(np.arange(len(norms))))

    def corpus(self, belief, with_norm=False):
        """Return what the kernels read to train a belief."""
        return BlockCorpus(self.spilled, belief, with_norm)

    def take(self, positions):
        """Return the examples at some positions, in memory."""
        return taken(self.spilled, positions)

    def present(self):
        """Return the positions of the sequences that count: not the empty ones."""
        return np.flatnonzero(self._used)

    def n_words(self):
        """Return how many words there are."""
        return int(self._counts.sum())

    def label_counts(self, n_labels):
        """Return how often each label occurs."""
        return self._counts

    def token_sizes(self):
        """Return the mean length of the feature vectors of the words, and breadth."""
        return TokenSizes(
            *(total / self.n_words() or 1.0 for total in self._total_sizes.tolist())
        )

    def faults(self, labels):
        """Return how many sequences break each scheme."""
        return dict(self._faults)

    def violations(self, forbidden):
        """Return how many sequences break the constraints, and the first of them."""
        n_broken, first, before = 0, -1, 0
        for batch, gold in self.spilled.opened():
            broken, at = first_violation(forbidden, gold, batch.offsets)
            if broken and first < 0:
                first = before + at
            n_broken += broken
            before += len(batch)
        return n_broken, first

    def hashes(self, before=()):
        """Return the hashes to keep of the sequences."""
        return self._hashes

    def described(self):
        """Return what other examples differ in, in few words and short hashes."""
        blocks = self.spilled.blocks
        digests = " ".join(block.file.digest for block in blocks).encode()
        return {
            "the number of sequences": len(self._used),
            "the number of words": self.n_words(),
            "the number of features": self.spilled.n_features,
            "the number of blocks": len(blocks),
            "the hash of the sequences": digest_of(np.frombuffer(digests, np.uint8)),
        }


def _added(counts, more):
    """Return the sum of two lists of counts, of which one may be shorter."""
    longer = np.zeros(max(len(counts), len(more)), dtype=np.int64)
    longer[: len(counts)] += counts
    longer[: len(more)] += more
    return longer
