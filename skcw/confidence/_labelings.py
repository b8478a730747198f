"""The lead of the best labeling of a sequence over the second best one."""

import numpy as np

from skcw.data._ragged import joined_ranges


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
    >>> from skcw._belief import Belief
    >>> from skcw._decoding import Decoder
    >>> from skcw.confidence._labelings import labeling_lead
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
