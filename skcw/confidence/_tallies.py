"""Tallies: counts of labels, sequences and spans over many labelings of a batch.

A tally is called as ``tally(labelings, tokens, sequences)`` with labelings (draws,
tokens of a piece) and the slices of the batch that the piece is. Pieces never share a
token, so that several threads may call it.
"""

import numpy as np

from skcw._kernels.draws import add_votes
from skcw.data._schemes import split_label

# What has to be right of an entity: see ``predict_entities`` of the taggers.
SPAN_EVENTS = ("least-word", "all-words", "boundary", "exact")


class Votes:
    """How many labelings give each token each label.

    Parameters
    ----------
    n_tokens, n_labels : int
        The size of the batch.

    Attributes
    ----------
    counts : ndarray of int32, shape (n_tokens, n_labels)
        The votes so far.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.confidence._tallies import Votes
    >>> votes = Votes(2, 3)
    >>> votes(np.array([[0, 2], [1, 2]], dtype=np.int32), slice(0, 2), slice(0, 1))
    >>> votes.counts
    array([[1, 1, 0],
           [0, 0, 2]], dtype=int32)
    """

    def __init__(self, n_tokens, n_labels):
        self.counts = np.zeros((n_tokens, n_labels), dtype=np.int32)

    def __call__(self, labelings, tokens, sequences):
        """Count the labelings of a piece."""
        add_votes(labelings, self.counts[tokens])


class Labelings:
    """The labelings themselves, to ask anything of them.

    Parameters
    ----------
    n_draws, n_tokens : int
        How many labelings there will be, and the size of the batch.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_draws, n_tokens)
        The labelings in the order of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.confidence._tallies import Labelings
    >>> labelings = Labelings(2, 3)
    >>> labelings(np.array([[0, 2], [1, 2]]), slice(0, 2), slice(0, 1))
    >>> labelings(np.array([[5]]), slice(2, 3), slice(1, 2))
    >>> labelings(np.array([[6]]), slice(2, 3), slice(1, 2))
    >>> labelings.codes
    array([[0, 2, 5],
           [1, 2, 6]], dtype=int32)
    """

    def __init__(self, n_draws, n_tokens):
        self.codes = np.zeros((n_draws, n_tokens), dtype=np.int32)
        # The draws of a piece come one group after another.
        self._seen = np.zeros(n_tokens + 1, dtype=np.int64)

    def __call__(self, labelings, tokens, sequences):
        """Count the labelings of a piece."""
        first = self._seen[tokens.start]
        self.codes[first : first + len(labelings), tokens] = labelings
        self._seen[tokens] += len(labelings)


class Agreement:
    """How many labelings agree with a given one, by token and by whole sequence.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_tokens,)
        The labeling to compare with.
    offsets : ndarray of int64, shape (n_sequences + 1,), default=None
        Where sequences begin; without them, tokens alone are counted.

    Attributes
    ----------
    tokens : ndarray of int32, shape (n_tokens,)
        How many labelings have the same label there.
    sequences : ndarray of int32, shape (n_sequences,)
        How many are the same all over the sequence; for an empty one, all.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.confidence._tallies import Agreement
    >>> agreement = Agreement(np.array([0, 2]), np.array([0, 2]))
    >>> agreement(np.array([[0, 2], [1, 2]]), slice(0, 2), slice(0, 1))
    >>> agreement.tokens, agreement.sequences
    (array([1, 2], dtype=int32), array([1], dtype=int32))
    """

    def __init__(self, codes, offsets=None):
        self.codes, self.offsets = codes, offsets
        self.tokens = np.zeros(len(codes), dtype=np.int32)
        n_sequences = 0 if offsets is None else len(offsets) - 1
        self.sequences = np.zeros(n_sequences, dtype=np.int32)

    def __call__(self, labelings, tokens, sequences):
        """Count the labelings of a piece."""
        # Draws lie side by side in memory.
        same = self.codes[tokens, None] == labelings.T
        self.tokens[tokens] += same.sum(axis=1, dtype=np.int32)
        if self.offsets is None:
            return
        borders = self.offsets[sequences.start : sequences.stop + 1] - tokens.start
        agree = _all_same(same.T, borders[:-1], borders[1:])
        self.sequences[sequences] += agree.sum(axis=0, dtype=np.int32)


class SpanAgreement:
    """How many labelings agree with a given one on each of some spans.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_tokens,)
        The labeling to compare with.
    starts, stops : ndarray of int, shape (n_spans,)
        The tokens of the spans, counted over the batch; starts must not fall, and no
        span may cross the border of a sequence.
    offsets : ndarray of int64, shape (n_sequences + 1,)
        Where sequences begin.
    continues : ndarray of bool, shape (n_labels, n_labels), default=None
        ``continues[i, j]``: label j after label i continues the same entity. If it
        is given, a labeling must also begin and end the span where it does.

    Attributes
    ----------
    spans : ndarray of int32, shape (n_spans,)
        How many labelings agree.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.confidence._tallies import SpanAgreement
    >>> tally = SpanAgreement(np.array([1, 2, 0]), [0], [2], np.array([0, 3]))
    >>> tally(np.array([[1, 2, 2], [0, 2, 0]]), slice(0, 3), slice(0, 1))
    >>> tally.spans
    array([1], dtype=int32)
    """

    def __init__(self, codes, starts, stops, offsets, continues=None):
        self.codes = codes
        self.starts, self.stops = np.asarray(starts), np.asarray(stops)
        self.offsets = offsets
        self.continues = continues
        self.spans = np.zeros(len(self.starts), dtype=np.int32)

    def __call__(self, labelings, tokens, sequences):
        """Count the labelings of a piece."""
        first, last = np.searchsorted(self.starts, [tokens.start, tokens.stop])
        starts = self.starts[first:last] - tokens.start
        stops = self.stops[first:last] - tokens.start
        agree = _all_same(labelings == self.codes[tokens], starts, stops)
        if self.continues is not None:
            begins = self.offsets[sequences] - tokens.start
            goes_on = _continues(labelings, self.continues, begins)
            agree &= ~(goes_on[:, starts] | goes_on[:, stops])
        self.spans[first:last] += agree.sum(axis=0, dtype=np.int32)


class BoundaryAgreement:
    """How many labelings mark an entity exactly at each of some spans.

    Parameters
    ----------
    starts, stops : ndarray of int, shape (n_spans,)
        The tokens of the spans, counted over the batch; starts must not fall.
    offsets : ndarray of int64, shape (n_sequences + 1,)
        Where sequences begin.
    continues : ndarray of bool, shape (n_labels, n_labels)
        ``continues[i, j]``: label j after label i continues the same entity.
    outside : ndarray of bool, shape (n_labels,) or (n_spans, n_labels)
        Which labels mark no entity; or, by span, none of the right type.

    Attributes
    ----------
    spans : ndarray of int32, shape (n_spans,)
        How many labelings agree.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.confidence._tallies import BoundaryAgreement
    >>> outside, continues = np.array([True, False]), np.array([[0, 0], [0, 1]], bool)
    >>> tally = BoundaryAgreement([0], [2], np.array([0, 3]), continues, outside)
    >>> tally(np.array([[1, 1, 0], [1, 1, 1]]), slice(0, 3), slice(0, 1))
    >>> tally.spans
    array([1], dtype=int32)
    """

    def __init__(self, starts, stops, offsets, continues, outside):
        self.starts, self.stops = np.asarray(starts), np.asarray(stops)
        self.offsets = offsets
        self.continues = continues
        shape = len(self.starts), len(continues)
        self.inside = ~np.broadcast_to(outside, shape)
        self.spans = np.zeros(len(self.starts), dtype=np.int32)

    def __call__(self, labelings, tokens, sequences):
        """Count the labelings of a piece."""
        first, last = np.searchsorted(self.starts, [tokens.start, tokens.stop])
        starts = self.starts[first:last] - tokens.start
        stops = self.stops[first:last] - tokens.start
        begins = self.offsets[sequences] - tokens.start
        goes_on = _continues(labelings, self.continues, begins)
        first_labels = labelings[:, starts]
        agree = self.inside[np.arange(first, last), first_labels] & (first_labels >= 0)
        agree &= _all_same(goes_on[:, :-1], starts + 1, stops)
        agree &= ~(goes_on[:, starts] | goes_on[:, stops])
        self.spans[first:last] += agree.sum(axis=0, dtype=np.int32)


def _continues(labelings, continues, begins):
    """Tell for every border before a token whether an entity crosses it."""
    goes_on = np.zeros((len(labelings), labelings.shape[1] + 1), dtype=bool)
    goes_on[:, 1:-1] = continues[labelings[:, :-1], labelings[:, 1:]]
    goes_on[:, begins] = False
    return goes_on


def _all_same(same, starts, stops):
    """Tell for every labeling and range whether all of the range is the same."""
    wrong = np.zeros((len(same), same.shape[1] + 1), dtype=np.int32)
    np.cumsum(~same, axis=1, out=wrong[:, 1:])
    return wrong[:, stops] == wrong[:, starts]


def span_tally(codes, spans, offsets, borders=None):
    """Return the tally of spans: of their words, or of entities with such borders."""
    if borders is None:
        return SpanAgreement(codes, *spans, offsets)
    return BoundaryAgreement(*spans, offsets, *borders)


def span_borders(labels, codes, starts, span_event):
    """Return what ``BoundaryAgreement`` asks of entities; None if words are asked.

    Parameters
    ----------
    labels : sequence of str
        The names of the labels.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    starts : ndarray of int64, shape (n_spans,)
        The first token of each span.
    span_event : {"all-words", "boundary", "exact"}
        What has to be right.

    Returns
    -------
    continues, outside : (ndarray, ndarray) or None
        Which label continues the entity of which, and which labels mark no entity.
    """
    if span_event == "all-words":
        return None
    continues, kinds = continues_matrix(labels)
    outside = kinds < 0
    if span_event == "exact":
        # Any labels will do that mark an entity of this type.
        outside = kinds[codes[starts]][:, None] != kinds
    return continues, outside


def continues_matrix(labels):
    """Tell which label continues the entity of which, and the type of each label.

    They are read as :func:`skcw.data.extract_spans` reads them.

    Parameters
    ----------
    labels : sequence of str
        The labels, such as ``B-PER``.

    Returns
    -------
    continues : ndarray of bool, shape (n_labels, n_labels)
        ``continues[i, j]``: j after i belongs to the same entity.
    kinds : ndarray of int64, shape (n_labels,)
        The number of each label's type; -1 marks no entity.
    """
    roles, types = np.array([split_label(label) for label in labels]).T
    goes_on = np.isin(roles, ["I", "E"])
    open_ended = np.isin(roles, ["B", "I"])
    continues = open_ended[:, None] & goes_on & (types[:, None] == types)
    _, kinds = np.unique(types, return_inverse=True)
    return continues, np.where(roles == "O", -1, kinds)
