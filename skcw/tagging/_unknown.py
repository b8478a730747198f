"""Learn weights for tokens without any known feature.

Features that occur once tell what features that never occurred will be like. So
tokens with no other features are hidden now and then: presented with the one feature
that stands for "nothing known", which new tokens have when the tagger predicts.
"""

from typing import NamedTuple

import numpy as np

from skcw.data._batch import SequenceBatch
from skcw.data._ragged import joined_ranges, offsets_of

# A token is hidden in one pass of so many. With a half or a tenth instead of a quarter
# of the passes the scores were the same within chance.
TURNS = 4


class Views(NamedTuple):
    """The corpus as it is presented in turn, and the features that it lacks.

    ``plain`` hides nothing; ``hidden`` is empty where no token can be hidden.
    """

    plain: tuple
    hidden: list
    unseen: np.ndarray

    def of_pass(self, number, n_passes):
        """Return the corpus of a pass. The last one hides nothing."""
        if not self.hidden or number + 1 == n_passes:
            return self.plain
        return self.hidden[number % len(self.hidden)]


def views_of(corpus, belief, positions, hiding):
    """Return how a corpus is presented to a learner that starts from a belief.

    Parameters
    ----------
    corpus : Corpus
        The encoded sequences.
    belief : Belief
        Where training starts.
    positions : ndarray or None
        The sequences that are learnt from, or None for all.
    hiding : bool
        Whether tokens are to be hidden.

    Returns
    -------
    views : Views
        The corpus, once or in turns.
    """
    if belief.unknown_row is None:
        return Views(corpus, [], belief.unseen)
    feature = len(belief.row_of)
    batch = SequenceBatch.unchecked(*corpus[:4], feature).compact()
    occurrences = _occurrences(batch, corpus.weight, positions, feature)
    unseen = belief.unseen[occurrences[belief.unseen] == 0]
    sizes = np.diff(batch.indptr)
    empty = np.flatnonzero(sizes == 0)
    plain = _replaced(corpus, batch, empty, feature)
    if not hiding:
        return Views(plain, [], unseen)
    once = np.zeros(feature, dtype=bool)
    once[belief.unseen] = True
    once &= (occurrences > 0) & (occurrences <= 1)
    alone = _tokens_with_only(once, batch, sizes)
    if not len(alone):
        return Views(plain, [], unseen)
    hidden = [
        _replaced(corpus, batch, np.union1d(empty, alone[first::TURNS]), feature)
        for first in np.roll(np.arange(TURNS), 1)
    ]
    return Views(plain, hidden, unseen)


def _tokens_with_only(features, batch, sizes):
    """Return the tokens that have features, and none but these."""
    full = np.flatnonzero(sizes > 0)
    # Most tokens can be told by their first feature.
    some = full[features[batch.indices[batch.indptr[full]]]]
    if not len(some):
        return some
    entries = joined_ranges(batch.indptr[some], sizes[some])
    found = features[batch.indices[entries]]
    return some[np.logical_and.reduceat(found, offsets_of(sizes[some])[:-1])]


def _occurrences(batch, weight, positions, n_features):
    """Return how often each feature occurs in what is learnt from."""
    if weight is None and positions is None:
        return np.bincount(batch.indices, minlength=n_features)
    times = np.zeros(len(batch))
    chosen = slice(None) if positions is None else positions
    times[chosen] = 1.0 if weight is None else weight[chosen]
    sizes = np.diff(batch.indptr[batch.offsets])
    return np.bincount(batch.indices, np.repeat(times, sizes), minlength=n_features)


def _replaced(corpus, batch, tokens, feature):
    """Return a corpus in which some tokens have that one feature alone."""
    if not len(tokens):
        return corpus
    changed = batch.replaced(tokens, feature)
    norm = corpus.norm
    if norm is not None:
        norm = norm.copy()
        norm[tokens] = 1.0
    return corpus._replace(
        offsets=changed.offsets,
        indptr=changed.indptr,
        indices=changed.indices,
        values=changed.values,
        norm=norm,
    )
