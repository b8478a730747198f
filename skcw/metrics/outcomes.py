"""Which predicted labels are right: what every figure of confidence starts from."""

from itertools import accumulate, chain, pairwise
from operator import eq

import numpy as np

from skcw.metrics._checks import check_label_pair, check_labels, listed_in_order


def label_matches(y_true, y_pred):
    """Tell which words got their true label.

    Parameters
    ----------
    y_true, y_pred : list or array of str, or of sequences of str
        True and predicted labels: both flat, or both with a sequence of labels for
        each sentence.

    Returns
    -------
    correct : ndarray of bool, or 1-D object array of such
        True where the labels agree: one array if the labels are flat, else one array
        per sequence. It is what :func:`error_average_precision` and its neighbours
        take beside the confidences.

    Examples
    --------
    >>> from skcw.metrics import label_matches
    >>> label_matches(["N", "V", "N"], ["N", "N", "N"]).tolist()
    [True, False, True]
    >>> label_matches([["N", "V"], ["N"]], [["N", "N"], ["N"]])[0].tolist()
    [True, False]
    """
    if isinstance(y_true, np.ndarray):
        y_true = y_true.tolist()
    if not isinstance(y_true, (str, bytes)):
        y_true = listed_in_order(y_true, "y_true")
        if y_true and isinstance(y_true[0], str):
            return _flat_matches(y_true, y_pred)
    true_rows, pred_rows = check_label_pair(y_true, y_pred)
    flat = chain.from_iterable
    matches = np.fromiter(map(eq, flat(true_rows), flat(pred_rows)), dtype=bool)
    ends = accumulate(map(len, true_rows), initial=0)
    correct = np.empty(len(true_rows), dtype=object)
    for i, (start, stop) in enumerate(pairwise(ends)):
        correct[i] = matches[start:stop]
    return correct


def _flat_matches(y_true, y_pred):
    true, pred = check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred")
    if len(true) != len(pred):
        raise ValueError(f"y_true has {len(true)} labels but y_pred has {len(pred)}")
    return np.fromiter(map(eq, true, pred), dtype=bool, count=len(true))
