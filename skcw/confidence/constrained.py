"""Probabilities of spans and labelings by forward-backward under constraints."""

import numpy as np


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

    decoder._each_piece(work, batch)
    score = decoder.path_scores(batch, codes) / temperature
    return np.clip(np.exp(score - log_z), 0.0, 1.0)


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
    out = np.ones(len(starts))
    n = decoder.n_labels
    transitions = decoder.transitions[:n, :n].astype(np.float64) / temperature
    owner = np.searchsorted(batch.offsets, starts, side="right") - 1
    if borders is not None:
        continues, outside = borders[0], np.broadcast_to(borders[1], (len(starts), n))

    def work(piece, tokens, sequences):
        scores = decoder.scores(piece)[:, :n].astype(np.float64) / temperature
        low, high = np.searchsorted(owner, [sequences.start, sequences.stop])
        own, firsts = np.unique(owner[low:high], return_index=True)
        bounds = low + np.append(firsts, high - low)
        for s, first_span, last_span in zip(own, bounds, bounds[1:], strict=False):
            begin, end = batch.offsets[[s, s + 1]]
            lattice = _Lattice(
                scores[begin - tokens.start : end - tokens.start], transitions
            )
            for i in range(first_span, last_span):
                span = starts[i] - begin, stops[i] - begin
                if borders is None:
                    out[i] = lattice.of_path(*span, codes[starts[i] : stops[i]])
                else:
                    out[i] = lattice.of_entity(*span, continues, outside[i])

    decoder._each_piece(work, batch)
    return np.clip(out, 0.0, 1.0)


class _Lattice:
    """Forward and backward messages of one sequence, as logarithms."""

    def __init__(self, scores, transitions):
        self.scores, self.transitions = scores, transitions
        n = len(scores)
        self.alpha, self.beta = np.empty_like(scores), np.zeros_like(scores)
        self.alpha[0] = scores[0]
        for t in range(1, n):
            self.alpha[t] = scores[t] + self._onwards(self.alpha[t - 1])
        for t in range(n - 2, -1, -1):
            after = transitions + scores[t + 1] + self.beta[t + 1]
            self.beta[t] = _log_sum(after, axis=1)
        self.log_z = _log_sum(self.alpha[-1])

    def _onwards(self, message, allowed=None):
        steps = message[:, None] + self.transitions
        if allowed is not None:
            steps = np.where(allowed, steps, -np.inf)
        return _log_sum(steps, axis=0)

    def _entering(self, start, continues):
        """Return the messages into `start` from where no entity goes on."""
        if start == 0:
            return self.alpha[start]
        return self.scores[start] + self._onwards(self.alpha[start - 1], ~continues)

    def _leaving(self, stop, continues):
        """Return the messages out of the token before `stop`, ending its entity."""
        if stop == len(self.scores):
            return self.beta[stop - 1]
        after = self.transitions + self.scores[stop] + self.beta[stop]
        return _log_sum(np.where(continues, -np.inf, after), axis=1)

    def of_path(self, start, stop, codes):
        """Return the probability that the words of a span have these labels."""
        inside = self.transitions[codes[:-1], codes[1:]].sum()
        inside += self.scores[np.arange(start + 1, stop), codes[1:]].sum()
        whole = self.alpha[start, codes[0]] + inside + self.beta[stop - 1, codes[-1]]
        return np.exp(whole - self.log_z)

    def of_entity(self, start, stop, continues, outside):
        """Return the probability that an entity has exactly these borders."""
        message = np.where(outside, -np.inf, self._entering(start, continues))
        for t in range(start + 1, stop):
            message = self.scores[t] + self._onwards(message, continues)
        return np.exp(_log_sum(message + self._leaving(stop, continues)) - self.log_z)


def _log_sum(rows, axis=None):
    """Return the logarithm of the sum of exponentials; of nothing, minus infinity."""
    most = np.max(rows, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(rows - shift).sum(axis=axis, keepdims=True)) + shift
    return total.item() if axis is None else np.squeeze(total, axis)
