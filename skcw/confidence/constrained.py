"""Probabilities of spans and labelings by forward-backward under constraints."""

import numpy as np

# Steps of several sequences at once take room for so many numbers.
ROOM = 1 << 20


def path_probability(decoder, batch, codes, temperature):
    """Return the probability of one labeling of each sequence.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The labelings.
    temperature : float
        What scores are divided by.

    Returns
    -------
    probability : ndarray of float64, shape (n_sequences,)
        One for an empty sequence.
    """
    log_z = np.zeros(len(batch))

    def work(piece, tokens, sequences):
        log_z[sequences] = decoder.marginals(piece, temperature)[1]

    decoder.each_piece(work, batch)
    score = decoder.path_scores(batch, codes) / temperature
    return np.exp(np.minimum(score - log_z, 0.0))


def span_probability(decoder, batch, codes, spans, temperature, borders=None):
    """Return the probability of each span.

    The sum over all labelings in which the span is right, divided by the sum over all
    labelings: a forward pass inside the span that only legal labels may take part in,
    between the usual messages from both of its sides.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    spans : (ndarray, ndarray)
        Where spans start and stop, counted over the batch, in order.
    temperature : float
        What scores are divided by.
    borders : (ndarray, ndarray), default=None
        ``continues`` and ``outside`` of :class:`skcw.confidence.BoundaryAgreement`: an
        entity must have these borders. By default the words must have their labels.

    Returns
    -------
    probability : ndarray of float64, shape (n_spans,)
        One for each span.
    """
    starts, stops = map(np.asarray, spans)
    log_share = np.zeros(len(starts))
    n = decoder.n_labels
    transitions = decoder.transitions[:n, :n].astype(np.float64) / temperature
    owner = np.searchsorted(batch.offsets, starts, side="right") - 1
    if borders is not None:
        continues, outside = borders[0], np.broadcast_to(borders[1], (len(starts), n))

    def work(piece, tokens, sequences):
        low, high = np.searchsorted(owner, [sequences.start, sequences.stop])
        if low == high:
            return
        mine = slice(low, high)
        scores = decoder.scores(piece)[:, :n].astype(np.float64) / temperature
        used, row = np.unique(owner[mine] - sequences.start, return_inverse=True)
        ends = piece.offsets[used], piece.offsets[used + 1]
        lattices = _Lattices(scores, transitions, *ends)
        where = row, starts[mine] - tokens.start, stops[mine] - tokens.start
        if borders is None:
            log_share[mine] = lattices.of_labels(*where, codes[tokens])
        else:
            log_share[mine] = lattices.of_entities(*where, continues, outside[mine])

    decoder.each_piece(work, batch)
    return np.exp(np.minimum(log_share, 0.0))


class _Lattices:
    """Forward and backward messages of several sequences, as logarithms.

    All sequences take a step at once.
    """

    def __init__(self, scores, transitions, begins, ends):
        self.scores, self.transitions = scores, transitions
        self.begins, self.ends = begins, ends
        self.ahead, self.back = scores.copy(), np.zeros_like(scores)
        lengths = ends - begins
        for t in range(1, lengths.max()):
            at = begins[lengths > t] + t
            self.ahead[at] += _onwards(self.ahead[at - 1], transitions)
        for t in range(2, lengths.max() + 1):
            at = ends[lengths >= t] - t
            self.back[at] = _onwards(self._after(at + 1), transitions.T)
        self.log_z = _log_sum(self.ahead[ends - 1], axis=1)

    def _after(self, at):
        return self.scores[at] + self.back[at]

    def of_labels(self, row, starts, stops, codes):
        """Return the log-probability that the words of spans have these labels."""
        total = self.ahead[starts, codes[starts]]
        for t in range(1, (stops - starts).max()):
            on = stops - starts > t
            at = starts[on] + t
            total[on] += self.transitions[codes[at - 1], codes[at]]
            total[on] += self.scores[at, codes[at]]
        return total + self.back[stops - 1, codes[stops - 1]] - self.log_z[row]

    def of_entities(self, row, starts, stops, continues, outside):
        """Return the log-probability that entities have exactly these borders."""
        within = np.where(continues, self.transitions, -np.inf)
        across = np.where(continues, -np.inf, self.transitions)
        message, leaving = self.ahead[starts], self.back[stops - 1]
        after = starts > self.begins[row]
        at = starts[after]
        message[after] = self.scores[at] + _onwards(self.ahead[at - 1], across)
        message[outside] = -np.inf
        for t in range(1, (stops - starts).max()):
            on = stops - starts > t
            at = starts[on] + t
            message[on] = self.scores[at] + _onwards(message[on], within)
        before = stops < self.ends[row]
        leaving[before] = _onwards(self._after(stops[before]), across.T)
        return _log_sum(message + leaving, axis=1) - self.log_z[row]


def _onwards(messages, transitions):
    """Return what messages (n, n_labels) become after a transition."""
    out = np.empty_like(messages)
    size = max(1, ROOM // transitions.size)
    for first in range(0, len(out), size):
        part = slice(first, first + size)
        out[part] = _log_sum(messages[part, :, None] + transitions, axis=1)
    return out


def _log_sum(rows, axis):
    """Return the logarithm of the sum of exponentials; of nothing, minus infinity."""
    most = np.max(rows, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(rows - shift).sum(axis=axis, keepdims=True)) + shift
    return np.squeeze(total, axis)
