"""Rows as the kernels read them, and the weight of each row."""

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from skcw._kernels.row_passes import (
    hash_order,
    row_keys,
    salted_hashes,
    seen_features,
    table_sums,
)
from skcw._model.training import size_to_judge
from skcw._util.checks import (
    check_sample_weight,
    check_weight_values,
    check_weighted_labels,
)
from skcw._util.limits import LARGEST_ROW_VALUE, MOST_FEATURES, MOST_PRESENTATIONS
from skcw._util.ragged import joined_ranges, offsets_of

# At most every third row is held out to learn confidence, and no fewer than these.
LEAST_STEP, FEWEST_ROWS = 3, 20


@dataclass(frozen=True)
class Rows:
    """Compressed sparse rows with their labels' codes and their weights.

    ``bias`` is the intercept's place in the tables, or -1 without one. ``weight`` says
    how often each row is presented. ``class_factor`` multiplies the learner's strength
    for the rows of each class: φ for CW.
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    bias: int
    gold: np.ndarray | None = None
    weight: np.ndarray | None = None
    class_factor: np.ndarray | None = None

    def __len__(self):
        return len(self.indptr) - 1

    def scores(self, table):
        """Return the score of each row under each column of a table of means."""
        return table_sums(
            table, self.indptr, self.indices, self.values, self.bias, False
        )

    def spreads(self, table):
        """Return the variances of the scores, given a table of variances."""
        return table_sums(
            table, self.indptr, self.indices, self.values, self.bias, True
        )

    @cached_property
    def keys(self):
        """A number per row that depends on its content and label alone."""
        return row_keys(self.indptr, self.indices, self.values, self.gold)

    @cached_property
    def distinct(self):
        """The first of each different row, by their keys; and which each row equals."""
        order = hash_order(self.keys)
        keys = self.keys[order]
        new = np.ones(len(keys), dtype=bool)
        new[1:] = keys[1:] != keys[:-1]
        copy_of = np.empty(len(keys), dtype=np.int64)
        copy_of[order] = np.cumsum(new) - 1
        return order[new], copy_of

    def repeats(self):
        """Return how often each different row is there."""
        first, copy_of = self.distinct
        return np.bincount(copy_of, weights=self.weight, minlength=len(first))

    @cached_property
    def seen(self):
        """Whether each feature up to the last one occurs."""
        return seen_features(self.indices)

    @cached_property
    def touched(self):
        """The features of the rows in order, and the intercept if there is one."""
        features = np.flatnonzero(self.seen)
        return features if self.bias < 0 else np.append(features, self.bias)

    def changed(self, table):
        """Return the rows of a table that learning from these rows may change."""
        touched = self.touched
        return table[touched] if 2 * len(touched) < len(table) else table

    def counts(self):
        """Return how many different rows there are, and how many features they have.

        Rows of weight 0 do not count.
        """
        counted = self.values != 0.0
        if self.weight is not None:
            counted &= np.repeat(self.weight > 0, np.diff(self.indptr))
        seen = self.seen if counted.all() else seen_features(self.indices[counted])
        return np.count_nonzero(self.repeats()), np.count_nonzero(seen)


def compressed_rows(X, dtype, fit_intercept):
    """Return checked dense or CSR rows in compressed form, without duplicates."""
    if X.shape[1] > MOST_FEATURES:
        raise ValueError(
            f"X has {X.shape[1]} features, but at most {MOST_FEATURES} are possible"
        )
    rows = X if sparse.issparse(X) else sparse.csr_array(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    _check_magnitude(rows.data)
    return Rows(
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.data, dtype=dtype),
        X.shape[1] if fit_intercept else -1,
    )


class HeldOut(NamedTuple):
    """Rows that a training is judged by: which they are, and each different one once.

    The weights of the latter tell how often each is there.
    """

    mask: np.ndarray
    rows: Rows


def held_out_to_judge(rows):
    """Return rows of all classes to judge by; None where there are too few.

    Which they are depends on their content: copies of a row go together, and the order
    does not matter. A class of one or two rows is not among them.
    """
    (first, copy_of), repeats = rows.distinct, rows.repeats()
    gold, present = rows.gold[first], repeats > 0
    n_rows = np.count_nonzero(present)
    step = max(LEAST_STEP, round(n_rows / size_to_judge(n_rows)))
    chosen = np.zeros(len(first), dtype=bool)
    for label in np.unique(gold[present]):
        # They come in the order of their keys, which is random.
        chosen[np.flatnonzero(present & (gold == label))[step - 1 :: step]] = True
    if np.count_nonzero(chosen) < FEWEST_ROWS:
        return None
    alone = replace(take_rows(rows, first[chosen]), weight=repeats[chosen])
    return HeldOut(chosen[copy_of], alone)


def hold_out(rows, fraction, rng):
    """Hold out a share of every class to judge each pass by: (the rest, them).

    Which rows are held out depends on the number of rows and their labels alone. A row
    of weight 0 is in neither part.
    """
    present = np.arange(len(rows))
    if rows.weight is not None:
        present = present[rows.weight > 0]
    try:
        kept, held_out = train_test_split(
            present, test_size=fraction, stratify=rows.gold[present], random_state=rng
        )
    except ValueError as error:
        raise ValueError(
            f"early stopping cannot hold out a share of {fraction} of every class: "
            f"{error}"
        ) from error
    return take_rows(rows, np.sort(kept)), take_rows(rows, np.sort(held_out))


def take_rows(rows, positions):
    """Return the rows at these positions."""
    lengths = np.diff(rows.indptr)[positions]
    entries = joined_ranges(rows.indptr[positions], lengths)
    return replace(
        rows,
        indptr=offsets_of(lengths),
        indices=rows.indices[entries],
        values=rows.values[entries],
        gold=rows.gold[positions],
        weight=None if rows.weight is None else rows.weight[positions],
    )


def salted_order(keys, salt):
    """Return the order of rows by a hash of their keys and a random number."""
    return hash_order(salted_hashes(keys, salt))


def _check_magnitude(values):
    if len(values) == 0:
        return
    largest = max(values.max(), -values.min())
    if largest > LARGEST_ROW_VALUE:
        raise ValueError(
            f"X holds a value of magnitude {largest:g}; above "
            f"{LARGEST_ROW_VALUE:g} its square may overflow. Scale the features, for "
            "instance with sklearn.preprocessing.MaxAbsScaler"
        )


def row_weights(sample_weight, n_rows):
    """Return the weight of each row, or None; a number holds for all rows."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, sample_weight)
    return check_sample_weight(sample_weight, n_rows, "rows")


def class_weights(class_weight, classes, codes, weight, one_pass):
    """Return the weight of each class, or None when all are one."""
    if class_weight is None:
        return None
    if class_weight != "balanced":
        known = classes.tolist()
        if not one_pass:
            # Labels may come later, piece by piece.
            check_weighted_labels(class_weight, known)
        return _check_class_weights([class_weight.get(label, 1.0) for label in known])
    if one_pass:
        raise ValueError(
            "class_weight='balanced' needs all of the data at once; give partial_fit "
            "a dict"
        )
    # As scikit-learn balances, but a weight of two counts like two rows.
    count = np.bincount(codes, weights=weight, minlength=len(classes))
    present = count > 0
    balanced = np.ones(len(classes))
    balanced[present] = count.sum() / count[present] / np.count_nonzero(present)
    return balanced


def _check_class_weights(given):
    try:
        by_class = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"class_weight gives the classes the weights {given}; they must be numbers"
        ) from None
    if not (np.isfinite(by_class).all() and (by_class >= 0).all() and by_class.any()):
        raise ValueError(
            f"class_weight gives the classes the weights {by_class.tolist()}; they "
            "must be finite, not negative and not all zero"
        )
    check_weight_values(by_class, "classes", place=lambda _: "a class_weight")
    return by_class


def row_repeats(weight, by_class, codes):
    """Return how often each row is presented: its weight times that of its class."""
    if by_class is not None:
        weight = by_class[codes] if weight is None else weight * by_class[codes]
    if weight is not None and weight.max() > MOST_PRESENTATIONS:
        heavy = np.argmax(weight)
        raise ValueError(
            f"row {heavy} has the weight {weight[heavy]:g}; a row of weight w is "
            f"presented w times, at most {MOST_PRESENTATIONS:.0e}: scale the weights"
        )
    if by_class is not None:
        # The product may be too small where neither factor is.
        place = "row {}, by its weight times that of its class, counts what".format
        check_weight_values(weight, "rows", place=place)
    return weight


def are_text(classes):
    """Tell whether labels are strings, in whatever kind of array."""
    return all(isinstance(label, str) for label in classes.tolist())
