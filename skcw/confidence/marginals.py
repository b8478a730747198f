"""Probabilities of labels, spans and labelings by forward-backward; draws from them."""

from functools import cached_property
from itertools import pairwise

import numpy as np

# Steps of several sequences at once take room for so many numbers.
ROOM = 1 << 20
# With more noise than this nothing is left to be told apart.
MOST_NOISE = 30.0


def chosen(table, codes):
    """Return the column of each row that codes name; without codes, the table."""
    return table if codes is None else table[np.arange(len(table)), codes]


def marginal(scored, codes, settings, noise=0.0):
    """Return the forward-backward marginal of each label at a temperature."""
    shape = scored.n_tokens if codes is not None else (scored.n_tokens, scored.n_labels)
    out = np.empty(shape)

    def work(piece, tokens, sequences):
        table, _ = piece.marginals(settings.temperature, noise)
        out[tokens] = chosen(table, None if codes is None else codes[tokens])

    scored.each_piece(work)
    return np.clip(out, 0.0, 1.0)


def noisy_marginal(scored, codes, settings):
    """Return marginals flattened as noise in the scores of words would on average.

    A label that loses at one word by an odds ratio has exp(v) times the ratio if noise
    of variance v is added to the score of every label. What neighbors say about a word
    comes by way of their own scores: along a path of n other labels, exp(n v) times. So
    words are less sure where all of a long entity may be wrong. This is one
    forward-backward, no draw of noise.
    """
    return marginal(scored, codes, settings, min(settings.variance_scale, MOST_NOISE))


def marginal_pairs(scored, left, right, settings):
    """Return the probability of pairs of labels of neighbors at a temperature.

    The sum over all labelings with label i at token t and label j at the one behind it:
    the forward message to i, the transition, and the backward message from j.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    left, right : ndarray of int, shape (n_pairs,)
        The labels i and j of each pair.
    settings : Settings
        With the ``temperature`` that scores are divided by.

    Returns
    -------
    probability : ndarray of float64, shape (n_tokens, n_pairs)
        The row of a token is about it and the one behind it; 0 for the last token of a
        sequence.
    """
    out = np.zeros((scored.n_tokens, len(left)))
    total = np.zeros(len(scored))

    def work(piece, tokens, sequences):
        used = np.flatnonzero(piece.lengths)
        if not len(used):
            return
        lattices = _Messages(piece, settings.temperature, used)
        total[sequences.start + used] = lattices.log_z
        if np.isfinite(lattices.log_z).all():
            out[tokens] = lattices.of_pairs(left, right)

    scored.each_piece(work)
    scored.check_legal(total)
    return out


def marginal_sequences(scored, codes, settings):
    """Return the probability of one labeling of each sequence at a temperature.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The labelings.
    settings : Settings
        With the ``temperature`` that scores are divided by.

    Returns
    -------
    probability : ndarray of float64, shape (n_sequences,)
        One for an empty sequence.
    """
    log_z = np.zeros(len(scored))

    def work(piece, tokens, sequences):
        log_z[sequences] = piece.marginals(settings.temperature)[1]

    scored.each_piece(work)
    score = scored.path_scores(codes) / settings.temperature
    return np.exp(np.minimum(score - log_z, 0.0))


def marginal_spans(scored, codes, spans, borders, settings):
    """Return the probability of each span at a temperature.

    The sum over all labelings in which the span is right, divided by the sum over all
    labelings: a forward pass inside the span that only legal labels may take part in,
    between the usual messages from both of its sides.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    spans : (ndarray, ndarray)
        Where spans start and stop, counted over the batch, in order.
    borders : (ndarray, ndarray) or None
        ``continues`` and ``outside`` of ``BoundaryAgreement``: an
        entity must have these borders. With None the words must have their labels.
    settings : Settings
        With the ``temperature`` that scores are divided by.

    Returns
    -------
    probability : ndarray of float64, shape (n_spans,)
        One for each span.
    """
    starts, stops = map(np.asarray, spans)
    log_share = np.zeros(len(starts))
    owner = np.searchsorted(scored.offsets, starts, side="right") - 1
    if borders is not None:
        shape = len(starts), scored.n_labels
        continues, outside = borders[0], np.broadcast_to(borders[1], shape)

    def work(piece, tokens, sequences):
        low, high = np.searchsorted(owner, [sequences.start, sequences.stop])
        if low == high:
            return
        mine = slice(low, high)
        used, row = np.unique(owner[mine] - sequences.start, return_inverse=True)
        lattices = _Messages(piece, settings.temperature, used)
        where = row, starts[mine] - tokens.start, stops[mine] - tokens.start
        if borders is None:
            log_share[mine] = lattices.of_labels(*where, codes[tokens])
        else:
            log_share[mine] = lattices.of_entities(*where, continues, outside[mine])

    scored.each_piece(work)
    return np.exp(np.minimum(log_share, 0.0))


def draw_chains(scored, n_draws, temperature, seed):
    """Return labelings, each drawn with its probability given the sequence.

    Sums run forward, then labels are drawn from the last to the first, each given the
    one behind it. The shares of labels tend to the forward-backward marginals.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    n_draws : int
        How many labelings of each.
    temperature : float
        What scores are divided by.
    seed : int
        The seed. A labeling depends on it, the model and its sequence alone.

    Returns
    -------
    codes : ndarray of int32, shape (n_draws, n_tokens)
        The labelings.
    """
    codes = np.zeros((n_draws, scored.n_tokens), dtype=np.int32)
    total = np.zeros(len(scored))

    def draw(piece, tokens, sequences):
        lattices = _Messages(piece, temperature, np.flatnonzero(piece.lengths))
        for number, (begin, end) in enumerate(pairwise(piece.offsets.tolist())):
            if begin < end:
                ahead = lattices.ahead[begin:end]
                total[sequences.start + number] = ahead[-1].max()
                here = slice(tokens.start + begin, tokens.start + end)
                chance = _chances(lattices.scores[begin:end], n_draws, seed)
                squares = _own(lattices.transitions, slice(begin, end))
                _draw_back(ahead, squares, chance, codes[:, here])

    scored.each_piece(draw)
    scored.check_legal(total)
    return codes


class _Messages:
    """Forward and backward messages of several sequences, as logarithms.

    All sequences take a step at once.
    """

    def __init__(self, piece, temperature, used):
        n = piece.n_labels
        self.scores = piece.scores[:, :n].astype(np.float64) / temperature
        # One square for all tokens, or one for each.
        width = piece.transitions.shape[1]
        squares = piece.transitions.reshape(-1, width, width)[:, :n, :n]
        self.transitions = squares.astype(np.float64) / temperature
        self.begins, self.ends = piece.offsets[used], piece.offsets[used + 1]
        self.lengths = self.ends - self.begins

    @cached_property
    def ahead(self):
        """The log sum over all labelings of the tokens up to each label."""
        ahead = self.scores.copy()
        for t in range(1, self.lengths.max(initial=0)):
            at = self.begins[self.lengths > t] + t
            ahead[at] += _one_step(ahead[at - 1], _own(self.transitions, at))
        return ahead

    @cached_property
    def back(self):
        """The log sum over all labelings of the tokens behind each label."""
        back = np.zeros_like(self.scores)
        for t in range(2, self.lengths.max(initial=0) + 1):
            at = self.ends[self.lengths >= t] - t
            after = self.scores[at + 1] + back[at + 1]
            back[at] = _one_step(after, _turned(_own(self.transitions, at + 1)))
        return back

    @cached_property
    def log_z(self):
        """The log sum over all labelings of each sequence."""
        return _log_sum(self.ahead[self.ends - 1], axis=1)

    def _after(self, at):
        return self.scores[at] + self.back[at]

    def of_labels(self, row, starts, stops, codes):
        """Return the log-probability that the words of spans have these labels."""
        total = self.ahead[starts, codes[starts]]
        for t in range(1, (stops - starts).max()):
            on = stops - starts > t
            at = starts[on] + t
            square = at if len(self.transitions) > 1 else 0
            total[on] += self.transitions[square, codes[at - 1], codes[at]]
            total[on] += self.scores[at, codes[at]]
        return total + self.back[stops - 1, codes[stops - 1]] - self.log_z[row]

    def of_pairs(self, left, right):
        """Return the probability of pairs of labels of each token and the next."""
        out = np.zeros((len(self.scores), len(left)))
        row = np.repeat(np.arange(len(self.ends)), self.lengths)
        last = np.zeros(len(self.scores), dtype=bool)
        last[self.ends - 1] = True
        at = np.flatnonzero(~last)
        joint = self.ahead[at][:, left] + self._after(at + 1)[:, right]
        joint += _own(self.transitions, at + 1)[:, left, right]
        joint -= self.log_z[row[at], None]
        out[at] = np.exp(np.minimum(joint, 0.0))
        return out

    def of_entities(self, row, starts, stops, continues, outside):
        """Return the log-probability that entities have exactly these borders."""
        within = np.where(continues, self.transitions, -np.inf)
        across = np.where(continues, -np.inf, self.transitions)
        message, leaving = self.ahead[starts], self.back[stops - 1]
        after = starts > self.begins[row]
        at = starts[after]
        ahead = _one_step(self.ahead[at - 1], _own(across, at))
        message[after] = self.scores[at] + ahead
        message[outside] = -np.inf
        for t in range(1, (stops - starts).max()):
            on = stops - starts > t
            at = starts[on] + t
            message[on] = self.scores[at] + _one_step(message[on], _own(within, at))
        before = stops < self.ends[row]
        at = stops[before]
        leaving[before] = _one_step(self._after(at), _turned(_own(across, at)))
        return _log_sum(message + leaving, axis=1) - self.log_z[row]


def _own(squares, at):
    """Return the squares of some tokens, or the one that all share."""
    return squares if len(squares) == 1 else squares[at]


def _turned(squares):
    return squares.transpose(0, 2, 1)


def _one_step(messages, squares):
    """Return what messages (n, n_labels) become after a transition."""
    out = np.empty_like(messages)
    size = max(1, ROOM // squares[:1].size) if len(squares) else 1
    for first in range(0, len(out), size):
        part = slice(first, first + size)
        out[part] = _log_sum(messages[part, :, None] + _own(squares, part), axis=1)
    return out


def _log_sum(rows, axis):
    """Return the logarithm of the sum of exponentials; of nothing, minus infinity."""
    most = np.max(rows, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(rows - shift).sum(axis=axis, keepdims=True)) + shift
    return np.squeeze(total, axis)


def _chances(scores, n_draws, seed):
    """Return numbers from [0, 1) that depend on the seed and the sequence alone."""
    # Only draws of labelings need it, and hashlib loads a large library.
    from hashlib import blake2b

    digest = blake2b(scores.tobytes(), digest_size=8).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest, "little")])
    return rng.random((n_draws, len(scores)))


def _draw_back(ahead, squares, chance, codes):
    """Draw the last label of each labeling, then those before it."""
    n_draws, length = chance.shape
    onward = np.zeros((n_draws, ahead.shape[1]))
    for t in range(length - 1, -1, -1):
        codes[:, t] = _drawn(ahead[t] + onward, chance[:, t])
        onward = squares[min(t, len(squares) - 1)][:, codes[:, t]].T


def _drawn(logits, chance):
    """Return a label for each row of log odds; one that is ruled out never is."""
    top = logits.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0  # no labeling is legal: the caller says so
    reached = np.cumsum(np.exp(logits - top), axis=1)
    # Below the whole sum, even if the product was rounded up to it.
    place = np.minimum(chance * reached[:, -1], np.nextafter(reached[:, -1], 0.0))
    return np.minimum((reached <= place[:, None]).sum(axis=1), logits.shape[1] - 1)
