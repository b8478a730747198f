"""Scores of labels: by token, by sequence, and by span, which must be wholly right."""

import warnings
from collections.abc import Iterable
from itertools import chain
from numbers import Integral, Real
from operator import eq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import classification_report, precision_recall_fscore_support
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
from skcw.data.schemes import extract_spans, odd_outside, resolve_scheme, split_label
from skcw.exceptions import OutsideLabelWarning

AVERAGES = ("micro", "macro", "weighted", None)
ALL = ("precision", "recall", "f-score")

# Every label that is not scored, among them "no span here".
UNSCORED = -1


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


class LabelPairs(NamedTuple):
    """One true and one predicted label per item, as indices into ``names``.

    The last pair is always (UNSCORED, UNSCORED). It changes no count, keeps the
    arrays from being empty, and makes scikit-learn report a micro average where
    it would otherwise switch to accuracy.
    """

    names: list
    true: np.ndarray
    pred: np.ndarray
    weight: np.ndarray | None

    @property
    def scored(self):
        """Indices of the labels to score; a phantom where there are none."""
        return np.arange(max(1, len(self.names)))


def encode_pairs(true, pred, names, weight=None):
    """Return the pairs with the labels in ``names`` as indices, others UNSCORED."""
    index = {name: i for i, name in enumerate(names)}
    if weight is not None:
        weight = np.append(weight, 1.0)
    return LabelPairs(names, _encode(true, index), _encode(pred, index), weight)


def _encode(labels, index):
    codes = (index.get(label, UNSCORED) for label in labels)
    return np.fromiter(chain(codes, (UNSCORED,)), dtype=np.intp)


def _as_float(value):
    """Return a number as the type by which scikit-learn knows it."""
    return float(value) if isinstance(value, Real) else value


def score_pairs(pairs, *, average, zero_division, beta=1.0, warn_for=ALL):
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
    beta = float(beta)
    *scores, support = precision_recall_fscore_support(
        pairs.true,
        pairs.pred,
        beta=beta,
        labels=pairs.scored,
        average=average,
        warn_for=warn_for,
        sample_weight=pairs.weight,
        zero_division=_as_float(zero_division),
    )
    if average is None:
        n = len(pairs.names)
        return *(score[:n] for score in scores), support[:n]
    return *(float(score) for score in scores), _total_support(pairs)


def _total_support(pairs):
    scored = pairs.true != UNSCORED
    if pairs.weight is None:
        return int(scored.sum())
    return float(pairs.weight[scored].sum())


def report_pairs(pairs, *, digits, output_dict, zero_division):
    """Return scikit-learn's report with a row per name and three averages."""
    check_scalar(digits, "digits", Integral, min_val=0, max_val=MOST_DIGITS)
    phantom = [] if pairs.names else ["(none)"]
    report = classification_report(
        pairs.true,
        pairs.pred,
        labels=pairs.scored,
        target_names=list(map(str, pairs.names)) or phantom,
        sample_weight=pairs.weight,
        digits=digits,
        output_dict=output_dict,
        zero_division=_as_float(zero_division),
    )
    if output_dict:
        return {name: row for name, row in report.items() if name not in phantom}
    return report


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
    hits = [sum(map(eq, *rows)) for rows in zip(true_rows, pred_rows, strict=True)]
    sizes = [len(row) for row in true_rows]
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
    hits = [all(map(eq, *rows)) for rows in zip(true_rows, pred_rows, strict=True)]
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
    pairs = _pair_tokens(y_true, y_pred, labels, exclude, sample_weight)
    return score_pairs(
        pairs, average=average, zero_division=zero_division, warn_for=("f-score",)
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
    pairs = _pair_tokens(y_true, y_pred, labels, exclude, sample_weight)
    return report_pairs(
        pairs, digits=digits, output_dict=output_dict, zero_division=zero_division
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


def _pair_tokens(y_true, y_pred, labels, exclude, sample_weight):
    names = None if labels is None else check_label_names(labels, "labels", True)
    excluded = set(check_labels(exclude, "exclude", integers=True))
    true_rows, pred_rows = check_label_pair(y_true, y_pred, integers=True)
    weight = check_sample_weight(sample_weight, len(true_rows))
    if names is None:
        seen = set().union(*true_rows, *pred_rows) - excluded
        names = sorted(map(_plain, seen), key=_by_type_then_prefix)
    if weight is not None:
        sizes = np.array([len(row) for row in true_rows], dtype=np.intp)
        weight = np.repeat(weight, sizes)
    flat = chain.from_iterable
    return encode_pairs(flat(true_rows), flat(pred_rows), names, weight)


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
    pairs = _pair_spans(y_true, y_pred, labels, scheme, strict, sample_weight)
    return score_pairs(pairs, average=average, zero_division=zero_division, beta=beta)


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
