"""Where a training is: what a checkpoint saves, and what continues from one."""

import numpy as np

from skcw._model.checkpoint import KeptProgress
from skcw._model.gaussian import Belief
from skcw.data.saved import FLOATS, saved_array, saved_number

# How the arrays of the belief in training are called in a checkpoint; the best belief
# so far has the names of one in a model.
PREFIX = "training."


class Progress(KeptProgress):
    """The belief in training, the passes made, and what they found.

    Parameters
    ----------
    belief : Belief
        Where the training starts, compact.
    unseen : ndarray
        The features that occur in nothing that is learned from.
    monitor : Monitor
        Keeps the history.
    keeper : Keeper or None
        Saves it now and then.
    """

    def __init__(self, belief, unseen, monitor, keeper=None):
        self.expanded, self.n_rows = belief.expanded_for_training()
        self.expanded.unseen = unseen
        super().__init__(monitor, keeper)
        # Of the pass at hand: the sequences presented, and what was wrong in them.
        self.presented = self.wrong_sequences = self.wrong_tokens = 0
        self.resume()

    @property
    def piece_words(self):
        """How many words to present before it may be saved; None for a pass."""
        return None if self.keeper is None else self.keeper.piece_words

    def compacted(self):
        """Return a compact copy of the belief."""
        return self.expanded.compacted(self.n_rows)

    def present(self, plan, corpus, options):
        """Learn from some sequences of a pass, and save if it is time."""
        expanded = self.expanded
        found = plan.run_pass(
            expanded.mean,
            expanded.variance,
            expanded.average,
            (expanded.row_of, self.n_rows, expanded.rounds),
            corpus,
            options,
        )
        self.end_presentation(*found)
        self.presented += len(options.order)

    def end_presentation(self, n_rows, rounds, wrong_sequences, wrong_tokens):
        """Note the rows in use, the rounds made, and how much was wrong."""
        self.n_rows, self.expanded.rounds = n_rows, rounds
        self.wrong_sequences += int(wrong_sequences)
        self.wrong_tokens += int(wrong_tokens)

    def end_piece(self):
        """Save within a pass, if it is time."""
        if self.keeper is not None and self.keeper.is_due():
            self.save()

    def end_pass(self, plan, judge, traffic, words):
        """Record a pass and what traveled in it; return whether to stop."""
        sequences, tokens = self.wrong_sequences, self.wrong_tokens
        self.presented = self.wrong_sequences = self.wrong_tokens = 0
        return self.monitor.end_pass(
            plan.found(sequences, tokens) | traffic,
            f"{tokens} wrong words in {sequences} sequences{words}",
            judge,
        )

    def _state(self):
        expanded = self.expanded
        size = self.n_rows * expanded.width
        parts = {
            "mean": expanded.mean,
            "variance": expanded.variance,
            "drift": expanded.average,
        }
        arrays = {PREFIX + n: p[:size] for n, p in parts.items() if p is not None}
        arrays[f"{PREFIX}row_of"] = expanded.row_of
        header = {
            "n_rows": self.n_rows,
            "rounds": expanded.rounds,
            "presented": self.presented,
            "wrong_sequences": self.wrong_sequences,
            "wrong_tokens": self.wrong_tokens,
        }
        return header, arrays

    def _restore(self, header, arrays):
        expanded = self.expanded
        self.n_rows = saved_number(header["n_rows"], "n_rows", 1, whole=True)
        size = self.n_rows * expanded.width
        kinds = FLOATS
        parts = (("mean", "mean"), ("variance", "variance"), ("average", "drift"))
        for name, saved in parts:
            target = getattr(expanded, name)
            if target is not None:
                target[:size] = saved_array(arrays, PREFIX + saved, kinds, (size,))
        rows = saved_array(arrays, f"{PREFIX}row_of", ("i4",), expanded.row_of.shape)
        if len(rows) and not expanded.width <= rows.min() <= rows.max() < self.n_rows:
            raise ValueError("a feature refers to a row that does not exist")
        expanded.row_of[:] = rows
        expanded.rounds = saved_number(header["rounds"], "rounds", 0.0)
        self.presented = header["presented"]
        self.wrong_sequences = header["wrong_sequences"]
        self.wrong_tokens = header["wrong_tokens"]

    def _best(self, arrays, rounds):
        return Belief.from_arrays(self.expanded.n_labels, arrays, rounds)


def pieces(order, lengths, n_words):
    """Return an order of sequences in pieces of about so many words each.

    Parameters
    ----------
    order : ndarray of int
        The sequences in the order in which they are presented.
    lengths : ndarray of int
        The number of words of each sequence.
    n_words : int or None
        The size of a piece; None for one piece.

    Returns
    -------
    pieces : list of ndarray
        The order, cut.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._model.sequence_progress import pieces
    >>> pieces(np.array([2, 0, 1]), np.array([3, 1, 4]), 5)
    [array([2, 0]), array([1])]
    """
    if n_words is None or not len(order):
        return [order]
    ends = np.cumsum(lengths[order])
    cuts = np.searchsorted(ends, np.arange(n_words, ends[-1], n_words)) + 1
    return [piece for piece in np.split(order, np.unique(cuts)) if len(piece)]
