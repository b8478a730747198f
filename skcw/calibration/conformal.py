"""Conformal sets of labels and entities, by conformal risk control."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_scalar

from skcw._util.ragged import object_rows
from skcw.calibration.risk_control import check_max_errors, check_risks, flat_groups
from skcw.data.schemes import extract_spans
from skcw.metrics.pairs import as_float64, flatten


def conformal_threshold(
    score: Any,
    risk: float = 0.1,
    *,
    n_missing: int = 0,
    groups: ArrayLike | None = None,
    max_errors_per_group: float | None = None,
) -> float:
    """Return the threshold of scores by which sets contain the truth.

    A set holds everything with at least this score. In new sequences from the same
    distribution, the expected number of truths outside of their sets is at most `risk`
    times the expected number of truths.

    Parameters
    ----------
    score : array of shape (n,), or a sequence of such
        The scores of the true labels of tokens or rows, or of the true entities, by a
        model that was not trained on them.
    risk : float, default=0.1
        The share of truths that may be outside of their sets.
    n_missing : int, default=0
        How many further truths are in no set, however low the threshold: entities that
        are not among the candidates.
    groups : array of shape (n,) or (n_sequences,), default=None
        The sequence of each truth; by default each row, or each number of flat input.
    max_errors_per_group : float, default=None
        The most truths that the sets of one sequence can miss; by default as in
        :func:`risk_threshold`.

    Returns
    -------
    threshold : float
        ``-inf`` if there are too few sequences: only full sets are safe. ``nan`` if
        even those miss too many.

    Notes
    -----
    Conformal risk control with the loss "truths missed − risk · truths" of a sequence,
    which is at most `max_errors_per_group`: the sum over calibration sequences, plus
    the largest loss of a new one, must not be positive.

    References
    ----------
    A. N. Angelopoulos et al., *Conformal risk control*, 2024, Theorem 1.

    Examples
    --------
    >>> from skcw.calibration import conformal_threshold
    >>> conformal_threshold([0.9, 0.2, 0.7, 0.8, 0.6, 0.95, 0.5, 0.4, 0.85, 0.99], 0.3)
    0.5
    """
    if np.ndim(risk) > 0:
        raise ValueError(f"risk is {risk!r}; it must be one number")
    (alpha,) = check_risks(risk)
    check_scalar(n_missing, "n_missing", Integral, min_val=0)
    flat, lengths = flatten(score, "score")
    flat = as_float64(flat, "score", "scores must be numbers")
    if not len(flat) or np.isnan(flat).any():
        raise ValueError("score must hold at least one number, and no NaN")
    flat, group = np.nan_to_num(flat), flat_groups(groups, len(flat), lengths)
    most = check_max_errors(max_errors_per_group, np.bincount(group)) * (1.0 - alpha)
    allowed = alpha * (len(flat) + n_missing) - most
    if allowed < 0:
        return -np.inf
    if n_missing > allowed:
        return np.nan
    return float(np.sort(flat)[min(int(allowed - n_missing), len(flat) - 1)])


def conformal_sets(table: ArrayLike, threshold: float, classes: Any) -> list[Any]:
    """Return the labels of each row that reach a threshold; the best one always does.

    Parameters
    ----------
    table : array of shape (n_rows, n_labels)
        The score of every label.
    threshold : float
        What :func:`conformal_threshold` returned.
    classes : sequence
        The labels.

    Returns
    -------
    sets : list of list
        Labels, the most probable first.

    Examples
    --------
    >>> from skcw.calibration import conformal_sets
    >>> conformal_sets([[0.7, 0.25, 0.05], [0.1, 0.1, 0.8]], 0.2, ["A", "B", "C"])
    [['A', 'B'], ['C']]
    """
    table, names = np.asarray(table, dtype=np.float64), list(classes)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise ValueError(
            f"table has the shape {table.shape}; it must have a row for each token and "
            f"a column for each of the {len(names)} classes"
        )
    if np.isnan(table).any():
        raise ValueError("table must hold numbers, but some are NaN")
    if any(isinstance(name, float) and name != name for name in names):
        raise ValueError("classes holds NaN, which is no label")
    check_scalar(threshold, "threshold", Real)
    order = np.argsort(-table, axis=1, kind="stable")
    # Where even full sets miss too many, they are full.
    least = -np.inf if threshold != threshold else float(threshold)
    sizes = np.maximum((table >= least).sum(axis=1), 1)
    return [
        [names[k] for k in row[:size]]
        for row, size in zip(order.tolist(), sizes.tolist(), strict=True)
    ]


def scores_of_truth(table, classes, labels):
    """Return the scores of the true labels in a table.

    Parameters
    ----------
    table : array of shape (n, n_labels)
        The score of every label.
    classes : sequence
        The labels of the columns.
    labels : sequence of length n
        The true labels.

    Returns
    -------
    scores : ndarray of shape (n,)
        NaN where the table has no such label, so that no set can contain it.
    """
    column = {label: k for k, label in enumerate(classes)}
    codes = np.array([column.get(label, -1) for label in labels], dtype=np.intp)
    scores = np.asarray(table, dtype=np.float64)[
        np.arange(len(codes)), np.maximum(codes, 0)
    ]
    return np.where(codes >= 0, scores, np.nan)


def entity_candidates(predictions, n_best):
    """Return the spans of the n best labelings, each with a score.

    The score of a span is the share of the labelings that mark it, each weighted by
    the probability that the tagger gives it.

    Parameters
    ----------
    predictions : Predictions
        Those of a tagger.
    n_best : int
        How many labelings.

    Returns
    -------
    candidates : ndarray of shape (n_sequences,), dtype object
        A dict for each sequence: ``(label, start, end)`` -> score from 0 to 1.
    """
    rows, all_shares = [], predictions.labeling_shares(n_best)
    for labelings, shares in zip(predictions.nbest(n_best), all_shares, strict=True):
        found = {}
        for (labels, _), share in zip(labelings, shares.tolist(), strict=True):
            for span in map(tuple, extract_spans(labels)):
                found[span] = found.get(span, 0.0) + share
        rows.append({span: min(share, 1.0) for span, share in found.items()})
    return object_rows(rows)


def entity_scores(candidates, y):
    """Return the scores of the true entities, and how many are no candidates.

    Parameters
    ----------
    candidates : sequence of dict
        What :func:`entity_candidates` returned.
    y : sequences of str
        The true labels.

    Returns
    -------
    scores : list of list of float
        Those of the true entities of each sequence that are among its candidates.
    n_missing : int
        The number of the others.
    """
    scores, n_missing = [], 0
    for row, labels in zip(candidates, y, strict=True):
        truth = [tuple(span) for span in extract_spans(labels)]
        known = [row[span] for span in truth if span in row]
        n_missing += len(truth) - len(known)
        scores.append(known)
    return scores, n_missing
