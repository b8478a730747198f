"""Classwise calibration error: the errors of the probabilities of all classes."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from skcw._kernels.score_loops import draw_classes
from skcw.data.labels import listed, listed_in_order
from skcw.metrics.binnings import make_cells, recalibrated, steps_between
from skcw.metrics.calibration_errors import ExpectedCalibrationError, FilledBins
from skcw.metrics.pairs import (
    Pairs,
    check_groups,
    check_same_layout,
    check_weight,
    place_of,
)
from skcw.metrics.score import (
    Alternatives,
    Score,
    Truth,
    deviation,
    latent_correlation,
    registered,
    thresholds,
)

# Rows of probabilities that sum to one up to float32 leave nothing to other classes.
INCOMPLETE = 1e-5


@registered("classwise_calibration_error")
class ClasswiseError(Score):
    """The mean over classes of their expected calibration errors.

    Parameters
    ----------
    class_pairs : list of Pairs
        The tokens as pairs of each class; weights and groups are the same in all.
    **options
        Those of `ExpectedCalibrationError`.
    """

    interval_methods = ("inversion",)
    compared_by = None

    def __init__(self, class_pairs, **options):
        super().__init__(class_pairs[0])
        self.errors = [
            ExpectedCalibrationError(pairs, **options) for pairs in class_pairs
        ]

    @classmethod
    def from_arrays(
        cls,
        y,
        proba,
        sample_weight=None,
        groups=None,
        *,
        classes=None,
        labels=None,
        **options,
    ):
        """Return the score of true labels and a table of probabilities."""
        table = check_class_table(y, proba, classes, labels, sample_weight, groups)
        return cls(table, **options)

    def value(self, weight=None):
        """Return the mean over classes."""
        return sum(error.value(weight) for error in self.errors) / len(self.errors)

    def influence(self):
        """Return the contribution of each token to the mean over classes."""
        return sum(error.influence() for error in self.errors) / len(self.errors)

    def resampled(self, counts):
        """Return the means over classes of their resampled scores."""
        return np.mean([error.resampled(counts) for error in self.errors], axis=0)

    def alternatives(self):
        """Return worse and worse calibration of all classes."""
        return ClassAlternatives(self)


def classwise_calibration_error(
    y: Any,
    proba: Any,
    *,
    classes: Iterable[Any] | None = None,
    labels: Iterable[Any] | None = None,
    norm: str = "l1",
    debiased: bool = False,
    strategy: str = "uniform",
    bin_size: int | None = None,
    n_bins: int | None = None,
    sample_weight: Any = None,
) -> float:
    """Compute the mean over classes of their expected calibration errors.

    For each class the probability of that class is compared with how often it is the
    true one [1]_, whether or not it was predicted.

    Parameters
    ----------
    y : array of labels of shape (n_tokens,), or a sequence of such
        The true labels: all tokens in one flat array, or one sequence per sentence. A
        label without a probability counts as right for no class.
    proba : array of shape (n_tokens, n_classes), or a sequence of rows
        Probabilities of all classes for each token in the same layout: one table as
        ``predict_proba`` returns it, or a row for each sentence, which is such a table
        or a list of dicts from label to probability as ``predict_marginals`` returns
        them.
    classes : sequence of labels, default=None
        The classes in the order of the columns, ``estimator.classes_``. If None they
        are the names of the columns of a DataFrame, the labels in the dicts, or the
        sorted labels in ``y``.
    labels : sequence of labels, default=None
        Which classes the mean is over; all if None. Name those of interest if one
        class, such as ``"O"``, is nearly always right.
    norm : {"l1", "l2"}, default="l1"
        Whether distances are counted by size or squared.
    debiased : bool, default=False
        Whether the bias by chance is subtracted; see
        :func:`expected_calibration_error`.
    strategy : {"uniform", "quantile", "adaptive"}, default="uniform"
        How bins are made; see :func:`calibration_bins`.
    bin_size : int, default=None
        Tokens in an adaptive bin; the root of the number of tokens if None.
    n_bins : int, default=None
        Number of uniform or quantile bins; 15 if None.
    sample_weight : array of shape (n_tokens,), or a sequence of such, default=None
        How often each token counts, in the same layout; one if None.

    Returns
    -------
    error : float
        From 0 to 1; lower is better. Each class counts the same, rare ones too, and
        most tokens have a small probability of most classes: more classes make it
        lower.

    See Also
    --------
    expected_calibration_error : The same for one question per token.

    References
    ----------
    .. [1] M. Kull et al., "Beyond temperature scaling: obtaining well-calibrated
       multi-class probabilities with Dirichlet calibration", NeurIPS 2019.

    Examples
    --------
    >>> from skcw.metrics import classwise_calibration_error
    >>> proba = [[0.8, 0.2], [0.8, 0.2], [0.3, 0.7]]
    >>> error = classwise_calibration_error(["N", "N", "V"], proba, classes=["N", "V"])
    >>> round(error, 6)
    0.233333

    Rows of dicts know their labels:

    >>> rows = [[{"N": 0.8, "V": 0.2}, {"N": 0.8, "V": 0.2}], [{"N": 0.3, "V": 0.7}]]
    >>> error = classwise_calibration_error([["N", "N"], ["V"]], rows)
    >>> round(error, 6)
    0.233333
    """
    return ClasswiseError.from_arrays(
        y,
        proba,
        sample_weight,
        classes=classes,
        labels=labels,
        norm=norm,
        debiased=debiased,
        strategy=strategy,
        bin_size=bin_size,
        n_bins=n_bins,
    ).value()


class ClassAlternatives(Alternatives):
    """As `BinnedAlternatives`, for the mean over classes of the errors of each.

    Each token has one true class, and tries the likeliest first: a sentence with high
    numbers is one in which unlikely classes are true. If the claims of a token sum
    to less than one, the rest belongs to no class.

    Parameters
    ----------
    score : ClasswiseError
        The score.
    """

    def __init__(self, score):
        pairs = [error.pairs for error in score.errors]
        self._bins = [FilledBins(error) for error in score.errors]
        self.start = np.stack([each.q for each in pairs], axis=1)
        goal = np.stack([recalibrated(each) for each in pairs], axis=1)
        self.step = steps_between(self.start, goal)
        self._complete = self.start.sum(axis=1) >= 1 - INCOMPLETE
        self._order = np.argsort(-_with_none(self.start), axis=1, kind="stable")
        self._cells = [
            make_cells(bins.part, each.q)
            for bins, each in zip(self._bins, pairs, strict=True)
        ]
        self._ends = np.cumsum([len(cells.starts) - 1 for cells in self._cells])
        self._cell = self._cell_of_tries()
        observed = float(np.mean([bins.observed for bins in self._bins]))
        first = np.arange(len(self.start)), self.start.argmax(axis=1)
        likely = self._table(1)[first]
        outcome = np.stack([each.y for each in pairs], axis=1)
        # How much sentences share in whether the likeliest class is true.
        _, _, weight, group, _ = score.pairs
        shared = latent_correlation(outcome[first] - likely, likely, weight, group)
        super().__init__(observed, score.pairs, None, shared)

    def _table(self, t):
        """Return the probabilities of the classes at t."""
        table = np.clip(self.start + t * self.step, 0.0, 1.0)
        total = table.sum(axis=1)
        fill = np.where(self._complete | (total > 1), total, 1.0)
        return table / np.where(fill > 0, fill, 1.0)[:, None]

    def shifted(self, t):
        """Return the truth at t."""
        table = self._table(t)
        tried = np.take_along_axis(_with_none(table), self._order, axis=1)
        each = [(b, b.share @ p) for b, p in zip(self._bins, table.T, strict=True)]
        added = sum(bins.contributions(right) for bins, right in each) / len(each)
        return Truth(
            thresholds(np.minimum(np.cumsum(tried, axis=1), 1.0)),
            float(np.mean([bins.score(right) for bins, right in each])),
            deviation(added, self.group),
        )

    def draw(self, truths, latent):
        """Return the scores of classes drawn under each truth, (n_truths, n_draws)."""
        right = np.empty((len(truths), len(latent.normal), self._ends[-1]))
        draw_classes(
            *latent[:2],
            self.group,
            *latent[2:],
            np.stack([truth.limit for truth in truths]),
            self._cell,
            self.weight,
            np.empty_like(latent.normal),
            right,
        )
        by_class = np.split(right, self._ends[:-1], axis=2)
        each = zip(self._bins, self._cells, by_class, strict=True)
        scores = [bins.score(cells.in_bins(sums)) for bins, cells, sums in each]
        return np.mean(scores, axis=0)

    def _cell_of_tries(self):
        """Return the cell of each token for each class that it tries; -1 for none."""
        begins = np.concatenate(([0], self._ends[:-1]))
        columns = [c.of_token + b for c, b in zip(self._cells, begins, strict=True)]
        of_class = np.stack([*columns, np.full_like(columns[0], -1)], axis=1)
        tried = np.take_along_axis(of_class, self._order, axis=1)
        return np.ascontiguousarray(tried, dtype=np.intc)


def _with_none(table):
    """Return probabilities with a last column for no class at all."""
    return np.hstack([table, np.maximum(0.0, 1 - table.sum(axis=1, keepdims=True))])


def check_class_table(y, proba, classes, labels, sample_weight, groups):
    """Return the tokens as a list of `Pairs`, one for each class asked for."""
    proba = list(proba) if isinstance(proba, Iterator) else proba
    tokens, lengths = _flat_tokens(proba)
    if not len(tokens):
        raise ValueError("there are no tokens to judge; proba must hold at least one")
    truth = _flat_labels(y, len(tokens), lengths)
    if classes is None:
        classes = _column_names(proba, truth)
    classes = _check_classes(classes, tokens, truth)
    columns = _check_labels(labels, classes)
    table = _check_table(tokens, classes, lengths)
    weight = check_weight(sample_weight, len(table), lengths, "proba")
    group = check_groups(groups, len(table), lengths, "proba")
    column_of = {label: column for column, label in enumerate(classes)}
    true_column = np.array([column_of.get(label, -1) for label in truth])
    return [
        Pairs(
            q=table[:, column].astype(np.float64),
            y=(true_column == column).astype(np.float64),
            weight=weight,
            group=group,
            dtype=table.dtype.type,
        ).counted()
        for column in columns
    ]


def _flat_tokens(proba):
    """Return a table or a list of dicts with all tokens, and the lengths of the rows.

    The lengths are None if the tokens came without rows.
    """
    if getattr(proba, "ndim", 0) == 2:
        return _table(proba), None
    tokens, lengths = listed_in_order(proba, "proba"), None
    if not (tokens and isinstance(tokens[0], Mapping)):
        tokens = rows = [_row(row, f"proba[{i}]") for i, row in enumerate(tokens)]
        first = next((row[0] for row in rows if len(row)), None)
        if first is None:
            return [], None
        if isinstance(first, Mapping) or np.ndim(first):
            lengths = np.array([len(row) for row in rows])
            tokens = list(chain.from_iterable(rows))
    if not isinstance(tokens[0], Mapping):
        return _table(tokens), lengths
    for index, token in enumerate(tokens):
        if not isinstance(token, Mapping):
            raise TypeError(
                f"{place_of('proba', index, lengths)} is of type "
                f"{type(token).__name__} beside dicts from label to probability; give "
                "a dict for every token"
            )
    return tokens, lengths


def _row(row, name):
    """Return the tokens of a sentence; those of a DataFrame are not its columns."""
    return np.asarray(row) if getattr(row, "ndim", 0) == 2 else listed(row, name)


def _column_names(proba, truth):
    """Return the names of the columns of a DataFrame, or of one per row; else None.

    A DataFrame made without names has numbers instead, which may not be labels.
    """
    tables = [proba] if hasattr(proba, "columns") else proba
    tables = [table for table in tables if hasattr(table, "columns")]
    if not tables:
        return None
    names, *others = [list(table.columns) for table in tables]
    if any(other != names for other in others):
        raise ValueError(
            "the tables in proba have different columns; give each the same, in the "
            "same order"
        )
    numbered = names == list(range(len(names)))
    return None if numbered and not set(names) & set(truth) else names


def _table(tokens):
    """Return tokens with a number for each class as a 2-D array of floats."""
    try:
        table = np.asarray(tokens)
        if table.dtype.kind != "f":
            table = table.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        # Rows of several lengths, no numbers, or too large ones.
        table = None
    if table is None or table.ndim != 2:
        raise ValueError(
            "proba must hold a probability of each class for each token: an array of "
            "shape (n_tokens, n_classes), or one such array per sentence"
        )
    return table


def _flat_labels(y, n_tokens, lengths):
    """Return the true labels of all tokens in one list."""
    if isinstance(y, (str, bytes)):
        raise TypeError("y is a single string; it must hold one label per token")
    labels = y.tolist() if isinstance(y, np.ndarray) else listed_in_order(y, "y")
    in_rows = [
        hasattr(item, "__len__") and not isinstance(item, str) for item in labels
    ]
    label_lengths = None
    if labels and all(in_rows):
        label_lengths = np.array([len(row) for row in labels])
        labels = [str(s) if isinstance(s, str) else s for row in labels for s in row]
    elif any(in_rows):
        raise ValueError("y mixes labels and rows of labels; give one or the other")
    check_same_layout(n_tokens, lengths, len(labels), label_lengths, "y", "proba")
    return labels


def _check_classes(classes, tokens, truth):
    """Return the label of each column."""
    is_table = isinstance(tokens, np.ndarray)
    if classes is None:
        try:
            classes = sorted(set(truth if is_table else chain.from_iterable(tokens)))
        except TypeError as error:
            raise TypeError(
                "labels are of types that have no common order; give classes, one for "
                "each column"
            ) from error
    classes = listed_in_order(classes, "classes")
    if len(set(classes)) != len(classes):
        raise ValueError("classes holds a label twice; each column has its own")
    if is_table and tokens.shape[1] != len(classes):
        raise ValueError(
            f"proba has {tokens.shape[1]} columns but there are {len(classes)} "
            "classes; give classes=estimator.classes_, one for each column"
        )
    return classes


def _check_labels(labels, classes):
    """Return the columns of the labels that were asked for."""
    if labels is None:
        return range(len(classes))
    if isinstance(labels, (str, bytes)):
        raise TypeError(f"labels is a single string; write [{labels!r}]")
    labels = list(dict.fromkeys(listed(labels, "labels")))
    unknown = [label for label in labels if label not in classes]
    if unknown or not labels:
        what = f"holds {unknown[0]!r}" if unknown else "is empty"
        raise ValueError(
            f"labels {what}; they must be among {', '.join(map(str, classes))}"
        )
    return [classes.index(label) for label in labels]


def _check_table(tokens, classes, lengths):
    """Return the probabilities as an array; a label that a dict lacks has none."""
    table = tokens
    if not isinstance(table, np.ndarray):
        table = _table(
            [[token.get(label, 0.0) for label in classes] for token in tokens]
        )
    bad = np.flatnonzero(~((table >= 0) & (table <= 1)).all(axis=1))
    if bad.size:
        place = place_of("proba", bad[0], lengths)
        raise ValueError(
            f"{place} is {table[bad[0]].tolist()}; probabilities must be from 0 to 1"
        )
    return table
