"""Precision, recall and F over spans: a span counts if it is wholly right."""

import warnings
from typing import Any

import numpy as np

from skcw._util.checks import check_sample_weight
from skcw.data.schemes import extract_spans, odd_outside, resolve_scheme
from skcw.exceptions import OutsideLabelWarning
from skcw.metrics.token_scores import (
    check_label_names,
    check_label_pair,
    encode_pairs,
    report_pairs,
    score_pairs,
)


def span_precision_recall_fscore_support(
    y_true,
    y_pred,
    *,
    beta=1.0,
    labels=None,
    average=None,
    scheme="auto",
    strict=False,
    sample_weight=None,
    zero_division=0.0,
):
    """Compute precision, recall, F and support of the predicted spans.

    A predicted span is right if a true span of the same sequence has the same
    label, the same start and the same end. The other span scores are parts of
    this one and share its parameters.

    Parameters
    ----------
    y_true, y_pred : list or 1-D object array of sequences of str
        True and predicted labels. Empty sequences are legal and hold no spans.
    beta : float, default=1.0
        Weight of recall in the F score.
    labels : list of str, default=None
        Labels of spans (``"PER"``, not ``"B-PER"``) to score, in this order; all
        that occur, sorted, if None.
    average : {"micro", "macro", "weighted"} or None, default=None
        How to sum up the labels, as in scikit-learn; None gives arrays with one
        entry per label.
    scheme, strict :
        How labels are read, see :func:`extract_spans`. With ``strict`` and
        ``"auto"`` the scheme is detected once, from all labels of both sides.
    sample_weight : array of shape (n_sequences,), default=None
        One weight per sequence; each of its spans counts that much. An integer
        weight is the same as repeating the sequence.
    zero_division : {0.0, 1.0, np.nan, "warn"}, default=0.0
        Value of a score whose denominator is zero, such as the precision of a
        label never predicted, or any score if there are no spans at all.
        ``"warn"`` stands for 0.0 with scikit-learn's warning.

    Returns
    -------
    precision, recall, fscore : float, or array of shape (n_labels,)
        The scores.
    support : int or float, or array of shape (n_labels,)
        Number (or weight) of true spans; the total if averaged.

    Examples
    --------
    >>> from skcw.metrics.span_scores import span_precision_recall_fscore_support
    >>> y_true = [["B-PER", "I-PER", "O"], ["B-LOC", "O"]]
    >>> y_pred = [["B-PER", "I-PER", "O"], ["B-LOC", "I-LOC"]]
    >>> precision, recall, fscore, support = span_precision_recall_fscore_support(
    ...     y_true, y_pred)
    >>> recall.tolist()
    [0.0, 1.0]
    >>> span_precision_recall_fscore_support(y_true, y_pred, average="micro")
    (0.5, 0.5, 0.5, 2)
    """
    pairs = _pair_spans(y_true, y_pred, labels, scheme, strict, sample_weight)
    return score_pairs(
        pairs,
        average=average,
        zero_division=zero_division,
        beta=beta,
    )


def span_f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    average: str | None = "micro",
    scheme: Any = "auto",
    strict: Any = False,
    sample_weight: Any = None,
    zero_division: Any = 0.0,
) -> Any:
    """Compute F1, the harmonic mean of span precision and recall.

    Parameters
    ----------
    y_true, y_pred, labels, scheme, strict, sample_weight, zero_division :
        As in :func:`span_precision_recall_fscore_support`.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        How to sum up the labels. The micro average is what conlleval prints as
        the overall figure and what shared tasks report.

    Returns
    -------
    f1 : float, or array of shape (n_labels,)
        The score; an array if ``average`` is None.

    Examples
    --------
    >>> from skcw.metrics import span_f1_score
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC", "O"]]
    >>> y_pred = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "O", "O"]]
    >>> span_f1_score(y_true, y_pred)
    0.8

    ``average=None`` gives one score per label, here LOC and PER:

    >>> span_f1_score(y_true, y_pred, average=None).round(2).tolist()
    [0.67, 1.0]
    """
    pairs = _pair_spans(y_true, y_pred, labels, scheme, strict, sample_weight)
    return score_pairs(
        pairs, average=average, zero_division=zero_division, warn_for=("f-score",)
    )[2]


def span_classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    scheme: Any = "auto",
    strict: Any = False,
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = 0.0,
) -> Any:
    """Report precision, recall, F1 and support of every span label.

    Parameters
    ----------
    y_true, y_pred, labels, scheme, strict, sample_weight, zero_division :
        As in :func:`span_precision_recall_fscore_support`.
    digits : int, default=2
        Decimals in the text; ignored with ``output_dict``.
    output_dict : bool, default=False
        Return the figures as a dict of dicts instead of a text.

    Returns
    -------
    report : str or dict
        Rows are the labels, then ``micro avg``, ``macro avg``, ``weighted avg``,
        laid out as by :func:`sklearn.metrics.classification_report`. If there is
        no span on either side the text has one row, ``(none)``, and the dict
        only the averages.

    Examples
    --------
    >>> from skcw.metrics import span_classification_report
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC", "O"]]
    >>> y_pred = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "O", "O"]]
    >>> print(span_classification_report(y_true, y_pred))
                  precision    recall  f1-score   support
    <BLANKLINE>
             LOC       1.00      0.50      0.67         2
             PER       1.00      1.00      1.00         1
    <BLANKLINE>
       micro avg       1.00      0.67      0.80         3
       macro avg       1.00      0.75      0.83         3
    weighted avg       1.00      0.67      0.78         3
    <BLANKLINE>
    """
    pairs = _pair_spans(y_true, y_pred, labels, scheme, strict, sample_weight)
    return report_pairs(
        pairs, digits=digits, output_dict=output_dict, zero_division=zero_division
    )


def _pair_spans(y_true, y_pred, labels, scheme, strict, sample_weight):
    """Return one pair of labels per place where either side has a span.

    A place is a sequence, a start and an end. The side without a span there has
    None for a label, so that label-wise counts over the pairs are exactly the
    true positives, false positives and false negatives of the spans.
    """
    names = None if labels is None else check_label_names(labels, "labels")
    true_rows, pred_rows = check_label_pair(y_true, y_pred)
    weight = check_sample_weight(sample_weight, len(true_rows))
    seen = set().union(*true_rows, *pred_rows)
    _warn_of_outside(seen)
    scheme = resolve_scheme(scheme, seen)
    true, pred, counts = [], [], []
    for i, (true_row, pred_row) in enumerate(zip(true_rows, pred_rows, strict=True)):
        found = len(true)
        at_place = {
            (start, end): label
            for label, start, end in _spans_of("y_true", i, true_row, scheme, strict)
        }
        for label, start, end in _spans_of("y_pred", i, pred_row, scheme, strict):
            true.append(at_place.pop((start, end), None))
            pred.append(label)
        true.extend(at_place.values())
        pred.extend([None] * len(at_place))
        counts.append(len(true) - found)
    if names is None:
        names = sorted({*true, *pred} - {None})
    if weight is not None:
        weight = np.repeat(weight, np.array(counts, dtype=np.intp))
    return encode_pairs(true, pred, names, weight)


def _warn_of_outside(labels):
    """Warn if a label seems to stand for "O", which alone is outside of all spans."""
    odd = odd_outside(labels)
    if odd is not None:
        warnings.warn(
            f'the label {odd!r} seems to mean that a token is in no span, but only "O" '
            "does: it is counted as a span of its own. Rename it first: "
            f"convert_labels(y, 'IOB2', outside={odd!r})",
            OutsideLabelWarning,
            # This function, the one that pairs spans, and the score.
            stacklevel=4,
        )


def _spans_of(name, i, row, scheme, strict):
    try:
        return extract_spans(row, scheme, strict)
    except ValueError as error:
        raise ValueError(f"{name}[{i}]: {error}") from None
