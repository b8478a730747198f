"""Learn weights for tokens without any known feature.

Features that occur once tell what features that never occurred will be like. So
tokens with no other features are hidden now and then: presented with the one feature
that stands for "nothing known", which new tokens have when the tagger predicts.

The labels of hidden tokens are learned one by one, but spans are judged as a whole, and
a wrong guess costs more than none. So in the end the weights of that feature are taken
as many times as serves best where all such tokens are hidden at once.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skcw._model.corpus import pieces, with_tokens_hidden
from skcw._model.decoding import Decoder
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


@dataclass(frozen=True)
class Views:
    """The corpus as it is presented in turn, and the features that it lacks.

    ``plain`` hides nothing; ``turns`` are the tokens to hide in each of several
    passes, none where no token can be hidden, and ``trial`` is then None. ``feature``
    stands for what is not known, if that is learned. ``positions`` are the sequences
    that are learned from, None for all of them.
    """

    plain: tuple
    turns: list
    unseen: np.ndarray
    trial: Hidden | None = None
    feature: int | None = None
    positions: np.ndarray | None = None
    # Where the files of a training are to be; anywhere.
    folder = None

    @cached_property
    def hidden(self):
        """The corpus of each turn."""
        return [with_tokens_hidden(self.plain, t, self.feature) for t in self.turns]

    def learned(self):
        """Return the positions of the sequences that are learned from."""
        if self.positions is not None:
            return self.positions
        return np.arange(len(self.plain.offsets) - 1)

    def order(self, rng, shuffle):
        """Return the sequences in the order of a pass."""
        positions = self.learned()
        return rng.permutation(positions) if shuffle else positions

    def pieces(self, number, n_passes, order, presented, n_words):
        """Yield what the kernels read and the sequences to present, piece by piece."""
        corpus = self.of_pass(number, n_passes)
        rest = order[presented:]
        for piece in pieces(rest, np.diff(corpus.offsets), n_words):
            yield corpus, piece

    def of_pass(self, number, n_passes):
        """Return the corpus of a pass."""
        turn = self.turn_of(number, n_passes)
        return self.plain if turn is None else self.hidden[turn]

    def turn_of(self, number, n_passes):
        """Return which tokens a pass hides: a number, or None. The last hides none."""
        if not self.turns or number + 1 == n_passes:
            return None
        return number % len(self.turns)


def views_of(corpus, belief, positions, hiding):
    """Return how a corpus is presented to a learner that starts from a belief.

    Parameters
    ----------
    corpus : Corpus
        The encoded sequences.
    belief : Belief
        Where training starts.
    positions : ndarray or None
        The sequences that are learned from, or None for all.
    hiding : bool
        Whether tokens are to be hidden.

    Returns
    -------
    views : Views
        The corpus, once or in turns.
    """
    if belief.unknown_row is None:
        return Views(corpus, [], belief.unseen, positions=positions)
    feature = len(belief.row_of)
    batch = SequenceBatch._unchecked(*corpus[:4], feature)._compact()
    occurrences = occurrences_of(batch, corpus.weight, positions, feature)
    unseen = belief.unseen[occurrences[belief.unseen] == 0]
    sizes = np.diff(batch.indptr)
    empty = np.flatnonzero(sizes == 0)
    plain = with_tokens_hidden(corpus, empty, feature)
    if not hiding:
        return Views(plain, [], unseen, feature=feature, positions=positions)
    once = np.zeros(feature, dtype=bool)
    once[belief.unseen] = True
    once &= (occurrences > 0) & (occurrences <= 1)
    alone = tokens_with_only(once, batch, sizes)
    if not len(alone):
        return Views(plain, [], unseen, feature=feature, positions=positions)
    turns = [alone[first::TURNS] for first in np.roll(np.arange(TURNS), 1)]
    trial = _trial(corpus, batch, positions, alone)
    return Views(plain, turns, unseen, trial, feature, positions)


def _trial(corpus, batch, positions, alone):
    """Return sequences learned from that have such tokens, all of them hidden."""
    owners = owners_of(batch, corpus.weight, positions, alone)
    owners = owners[:: 1 + int(batch.lengths[owners].sum()) // MOST_WORDS]
    return hidden_part(corpus, batch, owners, alone)


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
    if weight is None and positions is None:
        return np.bincount(batch.indices, minlength=n_features)
    times = _times(batch, weight, positions)
    sizes = np.diff(batch.indptr[batch.offsets])
    return np.bincount(batch.indices, np.repeat(times, sizes), minlength=n_features)


def _times(batch, weight, positions):
    """Return how often each sequence is presented in a pass."""
    times = np.zeros(len(batch))
    chosen = slice(None) if positions is None else positions
    times[chosen] = 1.0 if weight is None else weight[chosen]
    return times
