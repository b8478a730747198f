"""Train on a corpus in blocks: one block is in memory at a time.

What learning about unknown tokens and judging of confidence need to know of the whole
corpus is gathered in a few passes over the blocks. If the sequences come in the same
order, the weights are those of a corpus in memory, bit for bit.
"""

from collections import Counter

import numpy as np

from skcw._model.checkpoint import digest_of
from skcw._model.corpus import pieces, with_tokens_hidden
from skcw._model.examples import SHADOW_SHARE, Examples, norm_counts
from skcw._model.spilling import joined
from skcw._model.training_hashes import batch_hashes, remembered
from skcw._model.unknown import (
    MOST_WORDS,
    TURNS,
    Hidden,
    hidden_part,
    occurrences_of,
    owners_of,
    tokens_with_only,
)
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

    def __init__(self, spilled, belief, with_norm, left_out=None):
        self.spilled, self.belief, self.with_norm = spilled, belief, with_norm
        self.left_out = left_out

    def without_share(self, seed):
        """Return the corpus as a shadow sees it."""
        return BlockCorpus(self.spilled, self.belief, self.with_norm, seed)

    def views(self, hiding):
        """Return how the blocks are presented to a learner."""
        return BlockViews(self, hiding)

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


class BlockViews:
    """The blocks as they are presented in turn; what `Views` is for a corpus in memory.

    Parameters
    ----------
    corpus : BlockCorpus
        The blocks.
    hiding : bool
        Whether tokens are to be hidden.
    """

    def __init__(self, corpus, hiding):
        self.corpus, belief = corpus, corpus.belief
        self.n_blocks = len(corpus.spilled.blocks)
        self.folder, self.feature = corpus.spilled.folder, None
        self.unseen, self.trial, self.once = belief.unseen, None, None
        # How many tokens that can be hidden come before each block.
        self.n_before = np.zeros(self.n_blocks + 1, dtype=np.int64)
        self.knows_unknown = belief.unknown_row is not None
        if self.knows_unknown:
            self._look_at_all(belief, hiding)

    def _look_at_all(self, belief, hiding):
        self.feature = len(belief.row_of)
        occurrences = np.zeros(self.feature, dtype=np.int64)
        for number in range(self.n_blocks):
            batch, learned = self._batch(number)[0], self.corpus.positions(number)[0]
            found = occurrences_of(batch, None, learned, self.feature)
            occurrences += found.astype(np.int64)
            self.corpus.close(number)
        self.unseen = belief.unseen[occurrences[belief.unseen] == 0]
        if not hiding:
            return
        once = np.zeros(self.feature, dtype=bool)
        once[belief.unseen] = True
        self.once = once & (occurrences > 0) & (occurrences <= 1)
        counts = [self._count(number) for number in range(self.n_blocks)]
        n_alone, _, n_words = np.array(counts).T
        np.cumsum(n_alone, out=self.n_before[1:])
        if not self.n_before[-1]:
            self.once = None
            return
        step = 1 + int(n_words.sum()) // MOST_WORDS
        self.trial = self._trial(step, [n for _, n, _ in counts])

    def _batch(self, number):
        """Return a block as `views_of` reads a corpus, and its kernel arrays."""
        data = self.corpus.read(number)
        arrays = data.corpus(self.corpus.belief, self.corpus.with_norm)
        return SequenceBatch._unchecked(*arrays[:4], self.feature)._compact(), arrays

    def _alone(self, batch):
        return tokens_with_only(self.once, batch, np.diff(batch.indptr))

    def _count(self, number):
        """Return how many tokens of a block can be hidden, their owners, and words."""
        batch, _ = self._batch(number)
        alone = self._alone(batch)
        owners = owners_of(batch, None, self.corpus.positions(number)[0], alone)
        counts = len(alone), len(owners), int(batch.lengths[owners].sum())
        self.corpus.close(number)
        return counts

    def _trial(self, step, n_owners):
        """Return every `step`-th of the sequences with such tokens, all hidden."""
        parts, before = [], 0
        for number in range(self.n_blocks):
            batch, arrays = self._batch(number)
            alone = self._alone(batch)
            owners = owners_of(batch, None, self.corpus.positions(number)[0], alone)
            chosen = owners[-before % step :: step]
            if len(chosen):
                parts.append(hidden_part(arrays, batch, chosen, alone))
            before += n_owners[number]
            self.corpus.close(number)
        edges = None
        if parts[0].edges is not None:
            most = max(part.edges.n_features for part in parts)
            edges = joined([part.edges for part in parts], most)
        batch = joined([part.batch for part in parts], parts[0].batch.n_features)
        return Hidden(batch, np.concatenate([part.gold for part in parts]), edges)

    def order(self, rng, shuffle):
        """Return the order of the blocks in a pass, and the seed of that within."""
        if not shuffle:
            return np.arange(self.n_blocks), None
        order = rng.permutation(self.n_blocks)
        return order, rng.randint(np.iinfo(np.int32).max)

    def pieces(self, number, n_passes, order, presented, n_words):
        """Yield what the kernels read and the sequences to present, piece by piece."""
        turn = self.turn_of(number, n_passes)
        blocks, seed = order
        for block in blocks.tolist():
            learned, _ = self.corpus.positions(block)
            if presented >= len(learned):
                presented -= len(learned)
                continue
            if seed is not None:
                learned = np.random.RandomState([seed, block]).permutation(learned)
            corpus = self._presented(block, turn)
            rest = learned[presented:]
            for piece in pieces(rest, np.diff(corpus.offsets), n_words):
                yield corpus, piece
            presented = 0
            self.corpus.close(block)

    def turn_of(self, number, n_passes):
        """Return which tokens a pass hides: a number, or None. The last hides none."""
        if self.once is None or number + 1 == n_passes:
            return None
        return number % TURNS

    def learned(self, number):
        """Return the positions of the sequences of a block that are learned from."""
        return self.corpus.positions(number)[0]

    def close(self, number):
        """Give back the memory of a block."""
        self.corpus.close(number)

    def plain(self, number):
        """Return a block that hides nothing, and the tokens to hide in each turn."""
        if not self.knows_unknown:
            data = self.corpus.read(number)
            return data.corpus(self.corpus.belief, self.corpus.with_norm), []
        batch, arrays = self._batch(number)
        empty = np.flatnonzero(np.diff(batch.indptr) == 0)
        turns = []
        if self.once is not None:
            alone, before = self._alone(batch), self.n_before[number]
            starts = (np.roll(np.arange(TURNS), 1) - before) % TURNS
            turns = [alone[first::TURNS] for first in starts]
        return with_tokens_hidden(arrays, empty, self.feature), turns

    def _presented(self, number, turn):
        """Return a block with the tokens hidden whose turn it is."""
        corpus, turns = self.plain(number)
        if turn is None:
            return corpus
        return with_tokens_hidden(corpus, turns[turn], self.feature)


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
