"""Why a token got its label."""

from typing import NamedTuple

import numpy as np


class Contribution(NamedTuple):
    """What one feature adds to the decision for a label and against its rival.

    Parameters
    ----------
    feature : str
        Its name; "after A" and "before A" are the transitions.
    value : float
        What it adds to the margin.
    std : float
        The standard deviation of that.

    Examples
    --------
    >>> from skcw.tagging import Contribution
    >>> Contribution("w=Madrid", 1.5, 0.2).feature
    'w=Madrid'
    """

    feature: str
    value: float
    std: float


class TokenExplanation(NamedTuple):
    """The decision at one token: label, best rival, and what spoke for the label.

    Parameters
    ----------
    label : str
        The predicted label.
    rival : str or None
        The best label to replace it; None when there is no other.
    margin : float
        The score lost by replacing it, which is the sum of the contributions.
    std : float
        The standard deviation of the margin; 0 for learners without variance.
    contributions : tuple of Contribution
        What each feature adds to the margin, largest first.

    Examples
    --------
    >>> from skcw.tagging import TokenExplanation
    >>> TokenExplanation("PER", "LOC", 1.5, 0.2, ()).rival
    'LOC'
    """

    label: str
    rival: str | None
    margin: float
    std: float
    contributions: tuple


def explain_sequence(belief, classes, names, batch, labels):
    """Explain every token of the one sequence of a batch.

    Parameters
    ----------
    belief : Belief
        The weights.
    classes : list of str
        The labels.
    names : sequence of str
        The feature names.
    batch : SequenceBatch
        One sequence.
    labels : ndarray of int
        Its predicted labels.

    Returns
    -------
    explanations : list of TokenExplanation
        One per token, contributions from the largest to the smallest in size.
    """
    mean = belief.weights.astype(np.float64).reshape(-1, belief.width)
    variance = None
    if belief.variance is not None:
        variance = belief.variance.astype(np.float64).reshape(-1, belief.width)
    return [
        _explain_token(mean, variance, belief, classes, names, batch, labels, t)
        for t in range(batch.n_tokens)
    ]


def _explain_token(mean, variance, belief, classes, names, batch, labels, t):
    entries = slice(int(batch.indptr[t]), int(batch.indptr[t + 1]))
    features = batch.indices[entries]
    values = np.ones(len(features)) if batch.values is None else batch.values[entries]
    rows = belief.row_of[features]
    label = int(labels[t])
    before = int(labels[t - 1]) if t else None
    after = int(labels[t + 1]) if t + 1 < len(labels) else None

    def against(rival):
        """Yield (name, contribution, variance) for the label against one rival."""
        for feature, row, x in zip(features, rows, values, strict=True):
            yield names[feature], (row, label, x), (row, rival, x)
        if before is not None:
            yield f"after {classes[before]}", (before, label, 1), (before, rival, 1)
        if after is not None:
            yield f"before {classes[after]}", (label, after, 1), (rival, after, 1)

    def margin(rival):
        return sum(
            mean[i, j] * x - mean[k, m] * x
            for _, (i, j, x), (k, m, _) in against(rival)
        )

    rivals = [j for j in range(len(classes)) if j != label]
    if not rivals:
        return TokenExplanation(classes[label], None, np.inf, 0.0, ())
    rival = min(rivals, key=margin)
    parts = []
    for name, (i, j, x), (k, m, _) in against(rival):
        spread = 0.0 if variance is None else x * x * (variance[i, j] + variance[k, m])
        value = float(x * (mean[i, j] - mean[k, m]))
        parts.append(Contribution(name, value, float(np.sqrt(spread))))
    parts.sort(key=lambda part: -abs(part.value))
    return TokenExplanation(
        classes[label],
        classes[rival],
        float(sum(part.value for part in parts)),
        float(np.sqrt(sum(part.std**2 for part in parts))),
        tuple(parts),
    )
