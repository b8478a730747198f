"""Scores of labels: by token, by sequence, and by span, which must be wholly right."""

import warnings
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, count
from numbers import Integral, Real
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_scalar

from skcw._util.checks import (
    check_real,
    check_same_length,
    check_same_lengths,
    check_sample_weight,
)
from skcw._util.limits import LARGEST_BETA, MOST_DIGITS
from skcw._util.ragged import offsets_of, split_rows
from skcw.data.labels import check_label_rows, check_labels, is_integer, listed_in_order
from skcw.data.schemes import (
    odd_outside,
    refuse_foreign_prefixes,
    resolve_scheme,
    span_ends,
    split_label,
)
from skcw.exceptions import OutsideLabelWarning

AVERAGES = ("micro", "macro", "weighted", None)
ALL = ("precision", "recall", "f-score")


def check_label_pair(y_true, y_pred, integers=False):
    """Return both as lists of label lists of the same lengths.

    Where `integers` are allowed, all labels of both may be those.
    """
    true_rows = check_label_rows(y_true, "y_true", integers)
    pred_rows = check_label_rows(y_pred, "y_pred", integers)
    if integers:
        check_one_kind(chain(true_rows, pred_rows))
    check_same_lengths(
        list(map(len, true_rows)),
        list(map(len, pred_rows)),
        ("y_true", "y_pred"),
        ("labels in y_true", "in y_pred"),
    )
    return true_rows, pred_rows


def check_one_kind(rows):
    """Raise if some rows of labels hold strings and others integers."""
    kinds = {type(row[0]) for row in rows if row}
    if int in kinds and len(kinds) > 1:
        raise TypeError(
            "some labels are integers and some are strings, which are never equal; "
            "give the names, or the numbers, of all of them"
        )


def check_label_names(labels, name, integers=False):
    """Return the labels a caller asked for as a list without repeats."""
    names = list(dict.fromkeys(check_labels(labels, name, integers)))
    if not names:
        raise ValueError(f"{name} is empty; name at least one label or pass None")
    return names


def number_labels(*sides):
    """Return all labels once, and those of each side as indices into them."""
    number_of = defaultdict(count().__next__)
    codes = [
        np.fromiter(map(number_of.__getitem__, chain.from_iterable(rows)), np.intp)
        for rows in sides
    ]
    return list(number_of), *codes


def count_labels(names, labels, sides, weight):
    """Count how often each name is right, true and predicted, or add its weights.

    The sides hold indices into `labels` and where they count. Without names the only
    column is of zeros, so that all scores are undefined.
    """
    columns = np.zeros((3, len(labels) + 1), int if weight is None else float)
    for row, (codes, mask) in zip(columns, sides, strict=True):
        here = None if weight is None else weight[mask]
        row[:-1] = np.bincount(codes[mask], here, len(labels))
    column_of = {label: i for i, label in enumerate(labels)}
    named = [column_of.get(name, -1) for name in names]
    return names, columns[:, named or [-1]]


def score_counts(names, columns, *, average, zero_division, beta=1.0, warn_for=ALL):
    """Return precision, recall, F and support, averaged as scikit-learn does.

    Unlike scikit-learn's, the support of an average is the total, not None.
    """
    if not (average is None or isinstance(average, str)) or average not in AVERAGES:
        raise ValueError(f"average is {average!r}; it must be one of {AVERAGES}")
    check_scalar(beta, "beta", Real, min_val=0.0)
    if LARGEST_BETA < beta < np.inf:
        raise ValueError(
            f"beta is {beta!r}; it must be at most {LARGEST_BETA:g}, or inf"
        )
    scores = _scores(columns, average, zero_division, float(beta), warn_for)
    if average is None:
        return tuple(score[: len(names)] for score in scores)
    return scores


def _scores(columns, average, zero_division, beta=1.0, warn_for=ALL):
    right, true, found = columns
    if average == "micro":
        right, true, found = columns.sum(axis=1, keepdims=True)
    value, warn_for = _check_zero_division(zero_division, warn_for)
    precision = _ratio(right, found, value, "precision", "predicted", warn_for)
    recall = _ratio(right, true, value, "recall", "true", warn_for)
    fscore = recall if beta else precision
    if 0 < beta < np.inf:
        right, both = (1 + beta**2) * right, beta**2 * true + found
        fscore = _ratio(right, both, value, "f-score", "true nor predicted", warn_for)
    scores = precision, recall, fscore
    if average is None:
        return *scores, true
    weight = true if average == "weighted" else np.ones(len(true))
    return *(_mean(score, weight) for score in scores), columns[1].sum().item()


def _check_zero_division(value, warn_for):
    """Return the value of an undefined score, and which of them are warned of."""
    if isinstance(value, str) and value == "warn":
        return 0.0, warn_for
    if isinstance(value, Real) and (value in (0, 1) or np.isnan(value)):
        return float(value), ()
    raise ValueError(f"zero_division is {value!r}; it must be 0, 1, nan or 'warn'")


def _ratio(part, whole, value, metric, missing, warn_for):
    """Return part / whole; where that is undefined, a value and a warning."""
    undefined = whole == 0
    if metric in warn_for and undefined.any():
        where = "due to" if len(whole) == 1 else "in labels with"
        warnings.warn(
            f"{metric.capitalize()} is ill-defined and being set to 0.0 {where} no "
            f"{missing} samples. Use `zero_division` parameter to control this "
            "behavior.",
            UndefinedMetricWarning,
            # This function, the two that score or report, and the public one.
            stacklevel=5,
        )
    return np.where(undefined, value, part / np.where(undefined, 1, whole))


def _mean(scores, weight):
    """Return the mean of the scores that are not NaN."""
    kept = ~np.isnan(scores)
    if not kept.any():
        return np.nan
    weight = weight[kept]
    return float(np.average(scores[kept], weights=weight if weight.any() else None))


def report_counts(names, columns, *, digits, output_dict, zero_division):
    """Return a report as scikit-learn's, with a row per name and three averages."""
    check_scalar(digits, "digits", Integral, min_val=0, max_val=MOST_DIGITS)
    scores = zip(*_scores(columns, None, zero_division), strict=True)
    rows = list(zip(map(str, names or ["(none)"]), scores, strict=True))
    for average in ("micro", "macro", "weighted"):
        rows.append((f"{average} avg", _scores(columns, average, zero_division)))
    heads = "precision", "recall", "f1-score", "support"
    if output_dict:
        return {
            name: dict(zip(heads, map(float, scores), strict=True))
            for name, scores in rows[0 if names else 1 :]
        }
    width = max(digits, *(len(name) for name, _ in rows))
    lines = [" " * width + " " + "".join(f" {head:>9}" for head in heads), ""]
    for name, (*shares, support) in rows:
        cells = "".join(f" {share:>9.{digits}f}" for share in shares)
        lines.append(f"{name:>{width}} {cells} {support:>9}")
    lines.insert(-3, "")
    return "\n".join([*lines, ""])


def token_accuracy_score(
    y_true: Iterable[Any],
    y_pred: Iterable[Any],
    *,
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Compute the share of tokens that got their true label.

    Parameters
    ----------
    y_true, y_pred : list or 1-D object array of sequences of str or of int
        True and predicted labels.
    sample_weight : array of shape (n_sequences,), default=None
        One weight per sequence; each of its tokens counts that much.
    zero_division : float, default=0.0
        Value if there are no tokens (of positive weight) at all.

    Returns
    -------
    accuracy : float
        From 0 to 1.

    Examples
    --------
    >>> from skcw.metrics import token_accuracy_score
    >>> token_accuracy_score([["N", "V"], ["N", "N"]], [["N", "V"], ["N", "V"]])
    0.75
    """
    true_rows, pred_rows = check_label_pair(y_true, y_pred, integers=True)
    sizes = list(map(len, true_rows))
    hits = [sum(map(eq, *rows)) for rows in zip(true_rows, pred_rows, strict=True)]
    return _weighted_share(hits, sizes, sample_weight, zero_division)


def sequence_accuracy_score(
    y_true: Iterable[Any],
    y_pred: Iterable[Any],
    *,
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Compute the share of sequences without a single wrong label.

    Parameters
    ----------
    y_true, y_pred : list or 1-D object array of sequences of str or of int
        True and predicted labels. An empty sequence has no wrong label: it counts
        as right.
    sample_weight : array of shape (n_sequences,), default=None
        One weight per sequence.
    zero_division : float, default=0.0
        Value if there are no sequences at all.

    Returns
    -------
    accuracy : float
        From 0 to 1, for sequences of equal and of different lengths alike.

    Examples
    --------
    >>> from skcw.metrics import sequence_accuracy_score
    >>> sequence_accuracy_score([["N", "V"], ["N", "N"]], [["N", "V"], ["N", "V"]])
    0.5
    """
    true_rows, pred_rows = check_label_pair(y_true, y_pred, integers=True)
    hits = list(map(eq, true_rows, pred_rows))
    return _weighted_share(hits, [1] * len(hits), sample_weight, zero_division)


def token_f1_score(
    y_true: Iterable[Any],
    y_pred: Iterable[Any],
    *,
    labels: Any = None,
    exclude: Any = ("O",),
    average: str | None = "micro",
    sample_weight: ArrayLike | None = None,
    zero_division: Any = 0.0,
) -> Any:
    """Compute F1 over tokens, by default of all labels but ``"O"``.

    Parameters
    ----------
    y_true, y_pred : list or 1-D object array of sequences of str or of int
        True and predicted labels.
    labels : list of str or of int, default=None
        Labels to score, in this order; if None, all that occur but ``exclude``,
        sorted by type and then prefix.
    exclude : collection of str or of int, default=("O",)
        Labels left out where ``labels`` is None. ``exclude=()`` scores them all, as
        the ``flat_*`` scores of sklearn-crfsuite do; where labels are integers and 0
        stands for ``"O"`` it is ``exclude=(0,)``.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        How to sum up the labels, as in scikit-learn; None gives an array with one
        entry per label.
    sample_weight : array of shape (n_sequences,), default=None
        One weight per sequence; each of its tokens counts that much.
    zero_division : {0.0, 1.0, np.nan, "warn"}, default=0.0
        Value of a score whose denominator is zero; ``"warn"`` stands for 0.0 with
        scikit-learn's warning.

    Returns
    -------
    f1 : float, or array of shape (n_labels,)
        The score; an array if ``average`` is None.

    See Also
    --------
    span_f1_score : The same over whole spans, which is what readers expect of
        chunks and names.

    Examples
    --------
    >>> from skcw.metrics import token_f1_score
    >>> y_true = [["B-PER", "I-PER", "O", "O"]]
    >>> y_pred = [["B-PER", "I-PER", "I-PER", "O"]]
    >>> token_f1_score(y_true, y_pred)
    0.8
    """
    counts = _count_tokens(y_true, y_pred, labels, exclude, sample_weight)
    return score_counts(
        *counts, average=average, zero_division=zero_division, warn_for=("f-score",)
    )[2]


def token_classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    exclude: Any = ("O",),
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = 0.0,
) -> Any:
    """Report precision, recall, F1 and support of every label, token by token.

    Parameters
    ----------
    y_true, y_pred, labels, exclude, sample_weight, zero_division :
        As in :func:`token_f1_score`: all labels but ``"O"`` are reported unless
        ``labels`` or ``exclude`` say otherwise.
    digits : int, default=2
        Decimals in the text; ignored with ``output_dict``.
    output_dict : bool, default=False
        Return the figures as a dict of dicts instead of a text.

    Returns
    -------
    report : str or dict
        Rows are the labels, then ``micro avg``, ``macro avg``, ``weighted avg``,
        whichever labels are chosen. If no label is left the text has one row,
        ``(none)``, and the dict only the averages.

    Examples
    --------
    >>> from skcw.metrics import token_classification_report
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "I-PER", "I-PER", "O"]]
    >>> print(token_classification_report(y_true, y_pred))
                  precision    recall  f1-score   support
    <BLANKLINE>
           B-LOC       0.00      0.00      0.00         1
           B-PER       1.00      1.00      1.00         1
           I-PER       0.50      1.00      0.67         1
    <BLANKLINE>
       micro avg       0.67      0.67      0.67         3
       macro avg       0.50      0.67      0.56         3
    weighted avg       0.50      0.67      0.56         3
    <BLANKLINE>
    """
    counts = _count_tokens(y_true, y_pred, labels, exclude, sample_weight)
    return report_counts(
        *counts, digits=digits, output_dict=output_dict, zero_division=zero_division
    )


def _weighted_share(hits, sizes, sample_weight, zero_division):
    """Return the weighted sum of hits over that of sizes, both given per sequence."""
    weight = check_sample_weight(sample_weight, len(sizes))
    if_nothing = check_real("zero_division", zero_division)
    if weight is None:
        right, total = sum(hits), sum(sizes)
    else:
        right, total = weight @ np.asarray(hits), weight @ np.asarray(sizes)
    return float(right / total) if total else if_nothing


def _count_tokens(y_true, y_pred, labels, exclude, sample_weight):
    names = None if labels is None else check_label_names(labels, "labels", True)
    excluded = set(check_labels(exclude, "exclude", integers=True))
    rows = check_label_pair(y_true, y_pred, integers=True)
    weight = _weight_of_tokens(sample_weight, rows[0])
    seen, true, pred = number_labels(*rows)
    if names is None:
        kept = [_plain(label) for label in seen if label not in excluded]
        names = sorted(kept, key=_by_type_then_prefix)
    every = slice(None)
    sides = (true, true == pred), (true, every), (pred, every)
    return count_labels(names, seen, sides, weight)


def _weight_of_tokens(sample_weight, rows):
    """Return the weight of each token, given one of each row; None stays None."""
    weight = check_sample_weight(sample_weight, len(rows))
    return None if weight is None else np.repeat(weight, list(map(len, rows)))


def _plain(label):
    """Return a label as a plain str, whatever its subclass."""
    return str(label) if isinstance(label, str) else label


def _by_type_then_prefix(label):
    """Sort key that keeps B-PER and I-PER together."""
    if isinstance(label, int):
        return label
    _, kind = split_label(label)
    return kind, label


def token_correct(y_true: Any, y_pred: Any) -> np.ndarray:
    """Tell which tokens got their true label.

    Parameters
    ----------
    y_true, y_pred : list or array of str or int, or of sequences of those
        True and predicted labels: both flat, or both with a sequence of labels for
        each sentence.

    Returns
    -------
    correct : ndarray of bool, or 1-D object array of such
        True where the labels agree: one array if the labels are flat, else one array
        per sequence. It is the first argument of :func:`error_average_precision` and
        similar scores.

    Examples
    --------
    >>> from skcw.metrics import token_correct
    >>> token_correct(["N", "V", "N"], ["N", "N", "N"]).tolist()
    [True, False, True]
    >>> token_correct([["N", "V"], ["N"]], [["N", "N"], ["N"]])[0].tolist()
    [True, False]
    """
    if isinstance(y_true, np.ndarray):
        y_true = y_true.tolist()
    if not isinstance(y_true, (str, bytes)):
        y_true = listed_in_order(y_true, "y_true")
        if y_true and (isinstance(y_true[0], str) or is_integer(y_true[0])):
            return _flat_matches(y_true, y_pred)
    true_rows, pred_rows = check_label_pair(y_true, y_pred, integers=True)
    matches = joined_matches(true_rows, pred_rows)
    return split_rows(matches, offsets_of(list(map(len, true_rows))))


def joined_matches(true_rows, pred_rows):
    """Return which labels agree, of all rows in one array; the rows are checked."""
    flat = chain.from_iterable
    return np.fromiter(map(eq, flat(true_rows), flat(pred_rows)), dtype=bool)


def _flat_matches(y_true, y_pred):
    true = check_labels(y_true, "y_true", integers=True)
    pred = check_labels(y_pred, "y_pred", integers=True)
    check_one_kind([true, pred])
    check_same_length(len(true), len(pred), ("y_true", "y_pred"), "labels")
    return np.fromiter(map(eq, true, pred), dtype=bool, count=len(true))


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
    >>> from skcw.metrics.label_scores import span_precision_recall_fscore_support
    >>> y_true = [["B-PER", "I-PER", "O"], ["B-LOC", "O"]]
    >>> y_pred = [["B-PER", "I-PER", "O"], ["B-LOC", "I-LOC"]]
    >>> precision, recall, fscore, support = span_precision_recall_fscore_support(
    ...     y_true, y_pred)
    >>> recall.tolist()
    [0.0, 1.0]
    >>> span_precision_recall_fscore_support(y_true, y_pred, average="micro")
    (0.5, 0.5, 0.5, 2)
    """
    counts = _count_spans(y_true, y_pred, labels, scheme, strict, sample_weight)
    return score_counts(
        *counts, average=average, zero_division=zero_division, beta=beta
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
    counts = _count_spans(y_true, y_pred, labels, scheme, strict, sample_weight)
    return score_counts(
        *counts, average=average, zero_division=zero_division, warn_for=("f-score",)
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
    counts = _count_spans(y_true, y_pred, labels, scheme, strict, sample_weight)
    return report_counts(
        *counts, digits=digits, output_dict=output_dict, zero_division=zero_division
    )


def _count_spans(y_true, y_pred, labels, scheme, strict, sample_weight):
    names = None if labels is None else check_label_names(labels, "labels")
    rows = check_label_pair(y_true, y_pred)
    weight = _weight_of_tokens(sample_weight, rows[0])
    seen, *codes = number_labels(*rows)
    _warn_of_outside(seen)
    scheme = resolve_scheme(scheme, seen)
    if strict:
        for name, side in zip(("y_true", "y_pred"), rows, strict=True):
            refuse_foreign_prefixes(side, scheme, name)
    offsets = offsets_of(list(map(len, rows[0])))
    read = scheme if strict else None
    (true, true_kinds), (found, kinds) = (
        span_ends(seen, side, offsets, read) for side in codes
    )
    known = list(dict.fromkeys(split_label(label)[1] for label in seen))
    right = (true > 0) & (true == found) & (true_kinds == kinds)
    sides = (kinds, right), (true_kinds, true > 0), (kinds, found > 0)
    if names is None:
        begun = np.append(true_kinds[true > 0], kinds[found > 0])
        names = sorted(known[kind] for kind in np.unique(begun))
    return count_labels(names, known, sides, weight)


def _warn_of_outside(labels):
    """Warn if a label seems to stand for "O", which alone is outside of all spans."""
    odd = odd_outside(labels)
    if odd is not None:
        warnings.warn(
            f'the label {odd!r} seems to mean that a token is in no span, but only "O" '
            "does: it is counted as a span of its own. Rename it first: "
            f"convert_labels(y, 'IOB2', outside={odd!r})",
            OutsideLabelWarning,
            # This function, the one that counts spans, and the score.
            stacklevel=4,
        )
