"""True and predicted labels: checked once, and counted as scikit-learn counts them."""

from itertools import chain
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.metrics import classification_report, precision_recall_fscore_support
from sklearn.utils import check_scalar

from skcw._limits import LARGEST_BETA, MOST_DIGITS
from skcw.data._checks import check_same_lengths
from skcw.data._labels import check_label_rows, check_labels

AVERAGES = ("micro", "macro", "weighted", None)

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


def score_pairs(pairs, *, average, zero_division, beta=1.0, warn_for=()):
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
