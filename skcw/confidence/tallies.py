"""Tallies: how many labelings agree on labels, spans and sequences."""

import numpy as np

from skcw._kernels.draws import add_votes
from skcw._util.ragged import joined_ranges
from skcw.data.schemes import split_label


def labeling_lead(scored, *, in_deviations=False):
    """Return by how much each sequence's best labeling leads the second best.

    With Δ = Φ(x, best) - Φ(x, second) the lead is μ·Δ, and its standard deviation under
    the belief √(ΔᵀΣΔ).

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    in_deviations : bool, default=False
        Whether to divide the lead by that deviation.

    Returns
    -------
    lead : ndarray of float64, shape (n_sequences,)
        Infinite for a sequence that has one labeling only.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw._model.decoding import Decoder
    >>> from skcw.confidence.tallies import labeling_lead
    >>> from skcw.data import SequenceEncoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], []])
    >>> labeling_lead(Decoder(Belief.start(2, 3)).open(batch))
    array([ 0., inf])
    """
    if in_deviations and scored.decoder.belief.variance is None:
        raise ValueError("this model keeps no variances, so no lead in deviations")
    codes, total, found = scored.k_best(2)
    lead = np.full(len(scored), np.inf)
    several = found > 1
    lead[several] = np.maximum(total[several, 0] - total[several, 1], 0.0)
    if not in_deviations:
        return lead
    variance = _labeling_variance(scored, *codes)
    # If no weight tells the two apart, the lead is certain, or a tie.
    ratio = np.where(lead == 0.0, 0.0, np.inf)
    return np.divide(lead, np.sqrt(variance), out=ratio, where=variance > 0.0)


def _labeling_variance(scored, first, second):
    """Return ΔᵀΣΔ of two labelings of every sequence.

    A weight that Δ holds several times moves as one: its counts are summed before they
    are squared.
    """
    belief = scored.decoder.belief
    ways = [_of_features, _of_transitions]
    if scored.edges is not None:
        ways.append(_of_edges)
    parts = [find(scored, first, second) for find in ways]
    owner, weight, value, variance = map(np.concatenate, zip(*parts, strict=True))
    out = np.zeros(len(scored))
    if not len(owner):
        return out
    order = np.lexsort((weight, owner))
    owner, weight = owner[order], weight[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (owner[1:] != owner[:-1]) | (weight[1:] != weight[:-1])
    starts = np.flatnonzero(is_new)
    summed = np.add.reduceat(value[order], starts)
    spread = summed**2 * belief.variance[variance[order][starts]]
    np.add.at(out, owner[starts], spread)
    return out


def _of_features(scored, first, second):
    """Return the sequence, weight, value and place of the variance of Δ's features."""
    tokens = np.flatnonzero(first != second)
    return _entries(scored, scored.batch, tokens, first, second, (0, 0))


def _of_edges(scored, first, second):
    """Return the same of Δ's features that look at the label before."""
    differs = first != second
    differs[1:] |= differs[:-1]
    # The first token of a sequence has none of them, whatever stands before it.
    tokens = np.flatnonzero(differs)
    before = [codes[tokens - 1] for codes in (first, second)]
    return _entries(scored, scored.edges, tokens, first, second, before)


def _entries(scored, batch, tokens, first, second, shifts):
    """Return the same of the features of some tokens of a batch.

    `shifts` are added to the numbers of features in the two labelings.
    """
    belief = scored.decoder.belief
    begins = batch.indptr[tokens]
    counts = batch.indptr[tokens + 1] - begins
    entries = joined_ranges(begins, counts)
    features = [
        batch.indices[entries].astype(np.int64)
        + np.repeat(np.broadcast_to(shift, len(tokens)), counts)
        for shift in shifts
    ]
    value = np.ones(len(entries))
    if batch.values is not None:
        value = batch.values[entries].astype(np.float64)
    owner = np.repeat(_owners(batch)[tokens], counts)
    width = belief.width
    labels = [np.repeat(codes[tokens], counts) for codes in (first, second)]
    both = list(zip(features, labels, strict=True))
    # By feature, not by row: features that no update has touched share one row.
    weight = [(feature + width) * width + label for feature, label in both]
    place = [belief.row_of[f].astype(np.int64) * width + k for f, k in both]
    return (
        np.tile(owner, 2),
        np.concatenate(weight),
        np.concatenate([value, -value]),
        np.concatenate(place),
    )


def _of_transitions(scored, first, second):
    """Return the same of Δ's transitions, which are the first weights of all."""
    owner, width = _owners(scored.batch), scored.decoder.belief.width
    inside = np.flatnonzero(owner[1:] == owner[:-1])
    steps = [
        codes[inside].astype(np.int64) * width + codes[inside + 1]
        for codes in (first, second)
    ]
    differs = steps[0] != steps[1]
    weight = np.concatenate([step[differs] for step in steps])
    sign = np.repeat([1.0, -1.0], np.count_nonzero(differs))
    return np.tile(owner[inside[differs]], 2), weight, sign, weight


def _owners(batch):
    """Return the sequence of every token."""
    return np.repeat(np.arange(len(batch)), batch.lengths)


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
    >>> from skcw.confidence.tallies import Votes
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
    >>> from skcw.confidence.tallies import Labelings
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
    >>> from skcw.confidence.tallies import Agreement
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

    Attributes
    ----------
    spans : ndarray of int32, shape (n_spans,)
        How many labelings agree.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.confidence.tallies import SpanAgreement
    >>> tally = SpanAgreement(np.array([1, 2, 0]), [0], [2])
    >>> tally(np.array([[1, 2, 2], [0, 2, 0]]), slice(0, 3), slice(0, 1))
    >>> tally.spans
    array([1], dtype=int32)
    """

    def __init__(self, codes, starts, stops):
        self.codes = codes
        self.starts, self.stops = np.asarray(starts), np.asarray(stops)
        self.spans = np.zeros(len(self.starts), dtype=np.int32)

    def __call__(self, labelings, tokens, sequences):
        """Count the labelings of a piece."""
        mine = slice(*np.searchsorted(self.starts, [tokens.start, tokens.stop]))
        places = self.starts[mine] - tokens.start, self.stops[mine] - tokens.start
        agree = self._agree(labelings, tokens, sequences, mine, *places)
        self.spans[mine] += agree.sum(axis=0, dtype=np.int32)

    def _agree(self, labelings, tokens, sequences, mine, starts, stops):
        return _all_same(labelings == self.codes[tokens], starts, stops)


class BoundaryAgreement(SpanAgreement):
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
    >>> from skcw.confidence.tallies import BoundaryAgreement
    >>> outside, continues = np.array([True, False]), np.array([[0, 0], [0, 1]], bool)
    >>> tally = BoundaryAgreement([0], [2], np.array([0, 3]), continues, outside)
    >>> tally(np.array([[1, 1, 0], [1, 1, 1]]), slice(0, 3), slice(0, 1))
    >>> tally.spans
    array([1], dtype=int32)
    """

    def __init__(self, starts, stops, offsets, continues, outside):
        super().__init__(None, starts, stops)
        self.offsets, self.continues = offsets, continues
        shape = len(self.starts), len(continues)
        self.inside = ~np.broadcast_to(outside, shape)

    def _agree(self, labelings, tokens, sequences, mine, starts, stops):
        begins = self.offsets[sequences] - tokens.start
        goes_on = _continues(labelings, self.continues, begins)
        first = labelings[:, starts]
        inside = self.inside[np.arange(mine.start, mine.stop), first] & (first >= 0)
        ends = ~(goes_on[:, starts] | goes_on[:, stops])
        return inside & ends & _all_same(goes_on[:, :-1], starts + 1, stops)


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
        return SpanAgreement(codes, *spans)
    return BoundaryAgreement(*spans, offsets, *borders)


def span_borders(labels, codes, starts, entity_confidence):
    """Return what ``BoundaryAgreement`` asks of entities; None if words are asked.

    Parameters
    ----------
    labels : sequence of str
        The names of the labels.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    starts : ndarray of int64, shape (n_spans,)
        The first token of each span.
    entity_confidence : {"all-words", "boundary", "exact"}
        What has to be right.

    Returns
    -------
    continues, outside : (ndarray, ndarray) or None
        Which label continues the entity of which, and which labels mark no entity.
    """
    if entity_confidence == "all-words":
        return None
    continues, kinds = continues_matrix(labels)
    outside = kinds < 0
    if entity_confidence == "exact":
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
