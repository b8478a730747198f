"""Train on a corpus in blocks: one block is in memory at a time.

What learning about unknown tokens and judging of confidence need to know of the whole
corpus is gathered in a few passes over the blocks. If the sequences come in the same
order, the weights are those of a corpus in memory, bit for bit.
"""

from collections import Counter

import numpy as np

from skcw._model.checkpoint import digest_of
from skcw._model.examples import SHADOW_SHARE, Examples, norm_counts
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
    left_out : int or None, default=None
        The seed of the choice of sequences that a shadow leaves out; None for none.
    """

    in_memory = False

    def __init__(self, spilled, belief, with_norm, left_out=None):
        self.spilled, self.belief, self.with_norm = spilled, belief, with_norm
        self.left_out = left_out
        self.n_blocks, self.folder = len(spilled.blocks), spilled.folder

    def without_share(self, seed):
        """Return the corpus as a shadow sees it."""
        return BlockCorpus(self.spilled, self.belief, self.with_norm, seed)

    def blocks(self, positions=None):
        """Return the blocks to learn from: as a shadow sees them, if that is given."""
        return positions or self

    def chosen(self, number):
        """Return the sequences of a block to learn from, or None for all."""
        return None if self.left_out is None else self.positions(number)[0]

    def learned(self, number):
        """Return the sequences of a block to learn from."""
        return self.positions(number)[0]

    def positions(self, number):
        """Return the sequences of a block that are learned from, and the others."""
        n = self.spilled.blocks[number].n_sequences
        if self.left_out is None:
            return np.arange(n), np.arange(0)
        order = np.random.RandomState([self.left_out, number]).permutation(n)
        cut = round(SHADOW_SHARE * n)
        return np.sort(order[cut:]), np.sort(order[:cut])

    def read(self, number):
        """Return the examples of a block."""
        spilled = self.spilled
        block = spilled.blocks[number]
        batch, gold = block.open(spilled.n_features, spilled.vocabulary)
        return Examples(batch, gold, None)

    def corpus_of(self, number):
        """Return a block as the kernels read it."""
        return self.read(number).corpus(self.belief, self.with_norm)

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

    def unseen_examples(self, n_words):
        """Return examples that a shadow has left out, with about so many words."""
        found, n_found = [], 0
        for number in range(len(self.spilled.blocks)):
            part = self.read(number).take(self.positions(number)[1])
            found.append(part.first(n_words - n_found))
            n_found += found[-1].batch.n_tokens
            self.close(number)
            if n_found >= n_words:
                break
        spilled = self.spilled
        batches = [part.batch._compact() for part in found]
        batch = joined(batches, spilled.n_features, spilled.vocabulary)
        return Examples(batch, np.concatenate([part.codes for part in found]), None)


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
        total, self._hashes = 0.0, remembered([])
        for batch, gold in spilled.opened():
            hashes = batch_hashes(batch)[batch.lengths > 0]
            self._hashes = remembered(hashes, self._hashes)
            self._faults.update(scheme_faults(spilled.labels, gold, batch.offsets))
            self._counts += np.bincount(gold, minlength=len(self._counts))
            if batch.values is None:
                norms = _added(norms, norm_counts(batch.indptr))
            else:
                sums = np.append(0.0, np.cumsum(np.square(batch.values, dtype=float)))
                total += float(np.sqrt(np.diff(sums[batch.indptr])).sum())
        self._total_norm = total + float(norms @ np.sqrt(np.arange(len(norms))))

    def corpus(self, belief, with_norm=False):
        """Return what the kernels read to train a belief."""
        return BlockCorpus(self.spilled, belief, with_norm)

    def n_words(self):
        """Return how many words there are."""
        return int(self._counts.sum())

    def label_counts(self, n_labels):
        """Return how often each label occurs."""
        return self._counts

    def token_norm(self):
        """Return the mean length of the feature vectors of the words."""
        return self._total_norm / self.n_words() or 1.0

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
            "the number of sequences": sum(block.n_sequences for block in blocks),
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
