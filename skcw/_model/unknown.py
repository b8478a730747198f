"""Learn weights for tokens without any known feature.

Features that occur once tell what features that never occurred will be like. So
tokens with no other features are hidden now and then: presented with the one feature
that stands for "nothing known", which new tokens have when the tagger predicts.

The labels of hidden tokens are learned one by one, but spans are judged as a whole, and
a wrong guess costs more than none. So in the end the weights of that feature are taken
as many times as serves best where all such tokens are hidden at once.
"""

from copy import copy
from typing import NamedTuple

import numpy as np

from skcw._model.corpus import pieces, with_tokens_hidden
from skcw._model.decoding import Decoder
from skcw._model.spilling import joined
from skcw._util.ragged import joined_ranges, offsets_of
from skcw.data.batch import SequenceBatch
from skcw.exceptions import NoLegalLabelingError

# A token is hidden in one pass of so many. With a half or a tenth instead of a quarter
# of the passes the scores were the same within chance.
TURNS = 4
# How many times the weights of unknown tokens are tried to be taken. The first is what
# was learned: another has to score better by so much.
STRENGTHS, LEAST_GAIN = (1.0, 0.0, 0.5, 1.5), 0.002
# About so many words are enough to choose by.
MOST_WORDS = 10_000


class Hidden(NamedTuple):
    """Sequences with all tokens hidden that can be, and their true labels.

    Steps between tokens keep their features, if there are any, as they do in training.
    """

    batch: SequenceBatch
    gold: np.ndarray
    edges: SequenceBatch | None


class Views:
    """A corpus as it is presented in turn, and the features that it lacks.

    ``feature`` stands for what is not known, if that is learned; ``unseen`` are the
    features that do not occur, and ``trial`` is None where no token can be hidden.

    Parameters
    ----------
    corpus : WholeCorpus or BlockCorpus
        The encoded sequences.
    belief : Belief
        Where training starts.
    hiding : bool
        Whether tokens are to be hidden.
    """

    def __init__(self, corpus, belief, hiding):
        self.corpus, self.unseen = corpus, belief.unseen
        self.feature = self.trial = self._once = self._occurrences = None
        # How many tokens that can be hidden come before each block.
        self._n_before = np.zeros(corpus.n_blocks + 1, dtype=np.int64)
        # What has been made of a corpus in memory.
        self._kept = {}
        if belief.unknown_row is not None:
            self.feature = len(belief.row_of)
            self._look_at_all(belief, hiding)

    def part(self, corpus, hiding=True):
        """Return the views of a part of the sequences, without hiding if so wanted."""
        views = copy(self)
        views.corpus = corpus
        if not hiding:
            views._once = None
        return views

    def unseen_without(self, held_out):
        """Return the features that do not occur in what other views leave."""
        if self.feature is None:
            return self.unseen
        # Sums of fractional weights may differ in the last bits.
        left = self._occurrences - held_out._count_features() > 1e-6
        return self._new[~left[self._new]]

    def _count_features(self):
        """Return how often each feature occurs in what is learned from."""
        occurrences = np.zeros(self.feature)
        for number in range(self.corpus.n_blocks):
            corpus, batch = self._read(number)
            given = corpus.weight, self.corpus.chosen(number), self.feature
            occurrences += occurrences_of(batch, *given)
            self.corpus.close(number)
        return occurrences

    def _look_at_all(self, belief, hiding):
        occurrences = self._occurrences = self._count_features()
        self._new = belief.unseen
        self.unseen = belief.unseen[occurrences[belief.unseen] == 0]
        once = np.zeros(self.feature, dtype=bool)
        once[belief.unseen] = hiding
        self._once = once & (occurrences > 0) & (occurrences <= 1)
        if self._once.any():
            self.trial = self._trial()
        if self.trial is None:
            self._once = None

    def _trial(self):
        """Return sequences learned from that have such tokens, all of them hidden."""
        counts = [self._count(number) for number in range(self.corpus.n_blocks)]
        n_alone, n_owners, n_words = np.array(counts).T
        np.cumsum(n_alone, out=self._n_before[1:])
        if not self._n_before[-1]:
            return None
        step = 1 + int(n_words.sum()) // MOST_WORDS
        parts, before = [], 0
        for number in range(self.corpus.n_blocks):
            owners = self._owners(number)[-before % step :: step]
            if len(owners):
                given = *self._read(number), owners, self._alone(number)
                parts.append(hidden_part(*given))
            before += int(n_owners[number])
            self.corpus.close(number)
        if not parts:
            return None
        edges = None
        if parts[0].edges is not None:
            most = max(part.edges.n_features for part in parts)
            edges = joined([part.edges for part in parts], most)
        batch = joined([part.batch for part in parts], parts[0].batch.n_features)
        return Hidden(batch, np.concatenate([part.gold for part in parts]), edges)

    def _count(self, number):
        """Return how many tokens of a block can be hidden, their owners, and words."""
        _, batch = self._read(number)
        owners = self._owners(number)
        words = int(batch.lengths[owners].sum())
        n_alone = len(self._alone(number))
        self.corpus.close(number)
        return n_alone, len(owners), words

    def _made(self, name, make, *given):
        """Return what is made of a corpus in memory once, and of a block each time."""
        if not self.corpus.in_memory:
            return make(*given)
        if name not in self._kept:
            self._kept[name] = make(*given)
        return self._kept[name]

    def _read(self, number):
        """Return a block as the kernels read it, and as a batch."""
        corpus = self.corpus.corpus_of(number)
        batch = SequenceBatch._unchecked(*corpus[:4], self.feature)._compact()
        return corpus, batch

    def _alone(self, number):
        """Return the tokens of a block that can be hidden."""
        return self._made("alone", self._find_alone, number)

    def _find_alone(self, number):
        _, batch = self._read(number)
        return tokens_with_only(self._once, batch, np.diff(batch.indptr))

    def _owners(self, number):
        """Return the sequences of a block with such tokens."""
        corpus, batch = self._read(number)
        given = self.corpus.chosen(number), self._alone(number)
        return owners_of(batch, corpus.weight, *given)

    def plain(self, number):
        """Return a block that hides nothing, and the tokens to hide in each turn."""
        return self._made("plain", self._make_plain, number)

    def _make_plain(self, number):
        if self.feature is None:
            return self.corpus.corpus_of(number), []
        corpus, batch = self._read(number)
        turns = []
        if self._once is not None:
            alone, before = self._alone(number), self._n_before[number]
            starts = (np.roll(np.arange(TURNS), 1) - before) % TURNS
            turns = [alone[first::TURNS] for first in starts]
        empty = np.flatnonzero(np.diff(batch.indptr) == 0)
        return with_tokens_hidden(corpus, empty, self.feature), turns

    def presented(self, number, turn):
        """Return a block with the tokens hidden whose turn it is, if it is any's."""
        return self._made(turn, self._hide, number, turn)

    def _hide(self, number, turn):
        corpus, turns = self.plain(number)
        if turn is None:
            return corpus
        return with_tokens_hidden(corpus, turns[turn], self.feature)

    def pieces(self, number, n_passes, order, presented, n_words):
        """Yield what the kernels read and the sequences to present, piece by piece."""
        turn = self.turn_of(number, n_passes)
        for block, sequences in self.corpus.in_order(order):
            if presented and presented >= len(sequences):
                presented -= len(sequences)
                continue
            corpus = self.presented(block, turn)
            rest = sequences[presented:]
            for piece in pieces(rest, np.diff(corpus.offsets), n_words):
                yield corpus, piece
            presented = 0
            self.corpus.close(block)

    def turn_of(self, number, n_passes):
        """Return which tokens a pass hides: a number, or None. The last hides none."""
        if self._once is None or number + 1 == n_passes:
            return None
        return number % TURNS


def owners_of(batch, weight, positions, alone):
    """Return the sequences learned from that have such tokens."""
    times = _times(batch, weight, positions)
    owners = np.unique(np.searchsorted(batch.offsets, alone, "right") - 1)
    return owners[times[owners] > 0]


def hidden_part(corpus, batch, owners, alone):
    """Return some sequences with all such tokens hidden, and those without features."""
    tokens = joined_ranges(batch.offsets[owners], batch.lengths[owners])
    few = batch[owners]._compact()
    hidden = np.flatnonzero(np.isin(tokens, alone) | (np.diff(few.indptr) == 0))
    edges = None
    if corpus.edges is not None:
        n_rows = 1 + int(corpus.edges[1].max(initial=0))
        steps = SequenceBatch._unchecked(corpus.offsets, *corpus.edges, n_rows)
        edges = steps[owners]._compact()
    return Hidden(few._replaced(hidden, batch.n_features), corpus.gold[tokens], edges)


def with_fitting_row(belief, trial, forbidden, score):
    """Return a belief that makes as much of unknown tokens as serves best.

    Parameters
    ----------
    belief : Belief
        What was learned, compact.
    trial : Hidden
        What to choose by.
    forbidden : ndarray or None
        The constraints.
    score : callable
        ``score(gold, guess, offsets)`` judges the codes of labels.

    Returns
    -------
    belief : Belief
        The same with other weights for unknown tokens, or as it was.
    """
    found = []
    for strength in STRENGTHS:
        # Large tables are not copied to leave them as they are.
        tried = belief if strength == 1.0 else belief.with_unknown_row_times(strength)
        decoder = Decoder(tried, forbidden)
        try:
            guess, _ = decoder.open(trial.batch, trial.edges).viterbi()
        except NoLegalLabelingError:
            # Labels of the training data may break the constraints, here and there.
            return belief
        found.append(score(trial.gold, guess, trial.batch.offsets))
    best = int(np.argmax(found))
    if found[best] < found[0] + LEAST_GAIN:
        return belief
    return belief.with_unknown_row_times(STRENGTHS[best])


def tokens_with_only(features, batch, sizes):
    """Return the tokens that have features, and none but these."""
    full = np.flatnonzero(sizes > 0)
    # Most tokens can be told by their first feature.
    some = full[features[batch.indices[batch.indptr[full]]]]
    if not len(some):
        return some
    entries = joined_ranges(batch.indptr[some], sizes[some])
    found = features[batch.indices[entries]]
    return some[np.logical_and.reduceat(found, offsets_of(sizes[some])[:-1])]


def occurrences_of(batch, weight, positions, n_features):
    """Return how often each feature occurs in what is learned from."""
    if positions is not None:
        batch = batch[positions]._compact()
        weight = None if weight is None else weight[positions]
    if weight is None:
        return np.bincount(batch.indices, minlength=n_features)
    sizes = np.diff(batch.indptr[batch.offsets])
    return np.bincount(batch.indices, np.repeat(weight, sizes), minlength=n_features)


def _times(batch, weight, positions):
    """Return how often each sequence is presented in a pass."""
    times = np.zeros(len(batch))
    chosen = slice(None) if positions is None else positions
    times[chosen] = 1.0 if weight is None else weight[chosen]
    return times
