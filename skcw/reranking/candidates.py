"""Lists of candidates, and the errors in them."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcw._kernels.ranking import Lists
from skcw._util.checks import check_same_length
from skcw._util.limits import (
    LARGEST_CANDIDATE_SCORE,
    MOST_CANDIDATE_FEATURES,
    MOST_NUMBERED,
)
from skcw._util.ragged import (
    RaggedRows,
    check_steps,
    joined_ranges,
    object_rows,
    offsets_of,
    own_copy,
    split_rows,
)
from skcw.data.labels import encode_labels
from skcw.metrics.label_scores import span_precision_recall_fscore_support
from skcw.reranking.spans import LabelingSpans, joined_codes

# The logarithm of the smallest number that double precision tells from zero.
LEAST_LOG = -745.0


class CandidateLists(RaggedRows):
    """Lists of candidates: for each its score by the base model and its features.

    Rerankers read such lists. An index gives some of the lists, so that scikit-learn
    can cut them into folds. It takes 4 bytes per feature of a candidate and 16 per
    candidate, besides the labelings if there are any.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_lists + 1,)
        List i has the candidates ``offsets[i]`` to ``offsets[i + 1]``, at least one.
    scores : ndarray of float64, shape (n_candidates,)
        The score of each by the base model: a log-probability, or any score that is
        larger for better ones. Minus infinity, a probability of zero, becomes 745 less
        than the best of the list: that is where double precision ends. Where all have
        minus infinity they are alike.
    indptr : ndarray of int64, shape (n_candidates + 1,)
        Candidate c has the features ``indices[indptr[c]:indptr[c + 1]]``.
    indices : ndarray of int32
        Numbers of features.
    n_features : int
        How many features there are.
    labelings : ndarray of shape (n_lists,), dtype object, default=None
        The labelings of the candidates, a list per list.

    See Also
    --------
    GlobalFeatures : Makes them from n-best lists.

    Examples
    --------
    >>> from skcw.reranking import CandidateLists
    >>> lists = CandidateLists.from_rows([[([0, 2], -0.1), ([1], -2.3)], [([], 0.0)]])
    >>> lists
    CandidateLists(2 lists, 3 candidates, 3 features)
    >>> lists[:1].scores
    array([-0.1, -2.3])
    """

    def __init__(
        self,
        offsets: ArrayLike,
        scores: ArrayLike,
        indptr: ArrayLike,
        indices: ArrayLike,
        n_features: int,
        labelings: ArrayLike | None = None,
    ) -> None:
        # Copies, for the arrays are the caller's, who may change them later.
        self.offsets = own_copy("offsets", whole_numbers("offsets", offsets), np.int64)
        self.indptr = own_copy("indptr", whole_numbers("indptr", indptr), np.int64)
        indices = whole_numbers("indices", indices)
        self.n_features = check_count("n_features", n_features, least=0)
        self.labelings = labelings
        self.scores = np.array(scores, dtype=np.float64)
        self._check(indices)
        self.indices = own_copy("indices", indices, np.int32)
        self.scores = _finite_scores(self.scores, self.offsets)
        self._sort()

    def _check(self, indices):
        check_steps("offsets", self.offsets, len(self.scores))
        check_steps("indptr", self.indptr, len(indices))
        if len(self.indptr) != len(self.scores) + 1:
            raise ValueError(
                f"there are {len(self.scores)} scores, but features of "
                f"{len(self.indptr) - 1} candidates"
            )
        empty = np.flatnonzero(self.lengths == 0)
        if empty.size:
            raise ValueError(
                f"list {empty[0]} has no candidate; leave out what cannot be ranked"
            )
        outside = (indices < 0) | (indices >= self.n_features)
        if outside.any():
            raise ValueError(
                f"a candidate has the feature {indices[outside.argmax()]}, but "
                f"features are numbered from 0 to {self.n_features - 1}"
            )
        if self.n_features > MOST_CANDIDATE_FEATURES:
            raise ValueError(
                f"there are {self.n_features} features, more than "
                f"{MOST_CANDIDATE_FEATURES}; number those that occur from 0 on"
            )
        if self.labelings is not None:
            check_same_length(
                len(self), len(self.labelings), ("offsets", "labelings"), "lists"
            )

    def _sort(self):
        """Bring the features of each candidate into growing order, each once."""
        owner = np.repeat(np.arange(len(self.scores)), np.diff(self.indptr))
        step = np.diff(self.indices) > 0
        if (step | (np.diff(owner) > 0)).all():
            return
        order = np.lexsort((self.indices, owner))
        indices, owner = self.indices[order], owner[order]
        kept = np.ones(len(indices), dtype=bool)
        kept[1:] = (np.diff(indices) > 0) | (np.diff(owner) > 0)
        self.indices = np.ascontiguousarray(indices[kept])
        counts = np.bincount(owner[kept], minlength=len(self.scores))
        self.indptr = offsets_of(counts)

    @classmethod
    def from_rows(cls, rows: Any, n_features: Any = None) -> Self:
        """Return the lists of rows of ``(features, score)``, one pair per candidate."""
        rows = [list(row) for row in rows]
        pairs = [pair for row in rows for pair in row]
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise TypeError("each candidate must be a pair (features, score)")
        features = [whole_numbers("features", ids).ravel() for ids, _ in pairs]
        indices = np.concatenate([np.empty(0, dtype=np.int64), *features])
        if n_features is None:
            n_features = int(indices.max(initial=-1)) + 1
            if n_features > MOST_NUMBERED:
                raise ValueError(
                    f"a candidate has the feature {n_features - 1}; number the "
                    "features from 0 without gaps, for each has a weight"
                )
        return cls(
            offsets_of([len(row) for row in rows]),
            [score for _, score in pairs],
            offsets_of([len(ids) for ids in features]),
            indices,
            n_features,
        )

    @property
    def n_candidates(self):
        """The number of candidates of all lists."""
        return len(self.scores)

    @property
    def nbytes(self):
        """The memory that the lists take, without labelings."""
        arrays = self.offsets, self.scores, self.indptr, self.indices
        return sum(array.nbytes for array in arrays)

    def _row(self, position):
        return self._slice(position, position + 1)

    def _slice(self, start, stop):
        return self._take(np.arange(start, stop))

    def _take(self, positions):
        lengths = self.lengths[positions]
        labelings = None if self.labelings is None else self.labelings[positions]
        order = joined_ranges(self.offsets[positions], lengths)
        return self._ordered(offsets_of(lengths), order, labelings)

    def _ordered(self, offsets, order, labelings):
        """Return the lists that some candidates make, unchecked."""
        counts = np.diff(self.indptr)[order]
        copy = object.__new__(type(self))
        copy.offsets, copy.scores = offsets, self.scores[order]
        copy.indptr = offsets_of(counts)
        copy.indices = self.indices[joined_ranges(self.indptr[order], counts)]
        copy.n_features, copy.labelings = self.n_features, labelings
        return copy

    def reordered(self, orders: Iterable[Any]) -> Self:
        """Return the same lists with their candidates in other orders.

        Parameters
        ----------
        orders : iterable of arrays of int
            For each list the positions of its candidates.

        Returns
        -------
        lists : CandidateLists
            The lists.
        """
        orders = list(orders)
        order = np.concatenate([np.empty(0, dtype=np.int64), *orders])
        labelings = self.labelings
        if labelings is not None:
            pairs = zip(labelings, orders, strict=True)
            labelings = object_rows([row[j] for j in order] for row, order in pairs)
        return self._ordered(
            self.offsets, order + np.repeat(self.offsets[:-1], self.lengths), labelings
        )

    def opened(self, score_scale: Any = 1.0) -> Any:
        """Return the lists as the kernels read them, their scores scaled."""
        scores = self.scores if score_scale == 1.0 else self.scores * score_scale
        return Lists(self.offsets, self.indptr, self.indices, scores)

    def rows(self, flat: Any) -> Any:
        """Return numbers of candidates as one array per list."""
        return split_rows(flat, self.offsets)

    def __repr__(self):
        return (
            f"CandidateLists({len(self)} lists, {self.n_candidates} candidates, "
            f"{self.n_features} features)"
        )


def _finite_scores(scores, offsets):
    """Return scores without minus infinity; raise at NaN and infinity."""
    usable = (np.abs(scores) <= LARGEST_CANDIDATE_SCORE) | np.isneginf(scores)
    bad = np.flatnonzero(~usable)
    if bad.size:
        i = int(np.searchsorted(offsets, bad[0], side="right")) - 1
        raise ValueError(
            f"list {i}, candidate {bad[0] - offsets[i]} has the score "
            f"{scores[bad[0]]}; scores must be minus infinity or numbers up to "
            f"{LARGEST_CANDIDATE_SCORE:g} in size"
        )
    zero = np.isneginf(scores)
    if not zero.any():
        return scores
    best = np.repeat(np.maximum.reduceat(scores, offsets[:-1]), np.diff(offsets))
    least = np.where(np.isneginf(best), 0.0, best + LEAST_LOG)
    return np.where(zero, least, scores)


def check_lists(X, n_features=None):
    """Return candidate lists; raise unless they have the features of a reranker."""
    if not isinstance(X, CandidateLists):
        X = CandidateLists.from_rows(X, n_features)
    if n_features is not None and X.n_features != n_features:
        raise ValueError(
            f"the candidates have {X.n_features} features, but the reranker was fitted "
            f"on {n_features}"
        )
    return X


def check_errors(y, lists):
    """Return the errors of all candidates in one array.

    Parameters
    ----------
    y : iterable of sequences of float
        For each list the errors of its candidates.
    lists : CandidateLists
        The lists.

    Returns
    -------
    errors : ndarray of float64, shape (n_candidates,)
        The errors.
    """
    if y is None:
        raise ValueError("y is None; give the errors of each list's candidates")
    rows = [np.asarray(row, dtype=np.float64) for row in y]
    check_same_length(len(lists), len(rows), what="lists")
    for i, (row, n) in enumerate(zip(rows, lists.lengths.tolist(), strict=True)):
        if row.shape != (n,):
            raise ValueError(
                f"list {i} has {n} candidates, but y has {row.size} numbers of errors"
            )
    errors = np.concatenate([np.empty(0), *rows])
    bad = np.flatnonzero(~(np.isfinite(errors) & (errors >= 0)))
    if bad.size:
        i = int(np.searchsorted(lists.offsets, bad[0], side="right")) - 1
        raise ValueError(f"y of list {i} is {rows[i]}; errors are numbers from 0 on")
    return errors


def closest_candidates(lists, errors):
    """Return the candidate of each list with the fewest errors.

    Of equal ones it is that with the highest score, and of those the first.

    Parameters
    ----------
    lists : CandidateLists
        The lists.
    errors : ndarray of float64, shape (n_candidates,)
        The errors.

    Returns
    -------
    closest : ndarray of int64, shape (n_lists,)
        Numbers of candidates, counted through all lists.
    """
    owner = np.repeat(np.arange(len(lists)), lists.lengths)
    order = np.lexsort((-lists.scores, errors, owner))
    return order[lists.offsets[:-1]]


def first_maxima(values, offsets):
    """Return the position in each row of its first largest value."""
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-values, owner))
    return order[offsets[:-1]] - offsets[:-1]


def check_count(name, value, least=1):
    """Return an integer that is not too small; raise at anything else."""
    if not isinstance(value, Integral) or value < least:
        kind = "a positive integer" if least == 1 else f"an integer from {least} on"
        raise ValueError(f"{name} must be {kind}, got {value!r}")
    return int(value)


def whole_numbers(name, values):
    """Return an array of signed integers; raise at anything else but whole numbers."""
    found = np.asarray(values)
    if not found.size:
        return np.empty(found.shape, dtype=np.int64)
    if found.dtype.kind == "u" and found.max() <= np.iinfo(np.int64).max:
        found = found.astype(np.int64)
    if found.dtype.kind != "i":
        raise TypeError(
            f"{name} must be whole numbers of at most 64 bits, got {found.flat[0]!r}"
        )
    return found


def is_scored_labeling(pair):
    """Tell whether something is labels and a score, as ``predict_nbest`` gives them."""
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        return False
    labels, score = pair
    known = type(score) is float or isinstance(score, Real)
    return known and not isinstance(labels, str)


LOSSES = ("labels", "entities")


def candidate_errors(labelings, y, loss="labels"):
    """Return how many errors each candidate of each sentence has.

    Parameters
    ----------
    labelings : iterable of lists of labelings
        The candidates of each sentence.
    y : iterable of sequences of str
        The true labels.
    loss : {"labels", "entities"}, default="labels"
        Whether wrong labels are counted, or entities that are missing or too many.

    Returns
    -------
    errors : ndarray of shape (n_sentences,), dtype object
        One float array per sentence.

    Examples
    --------
    >>> from skcw.reranking.candidates import candidate_errors
    >>> candidates = [[["B-PER", "I-PER"], ["B-PER", "O"]]]
    >>> candidate_errors(candidates, [["B-PER", "O"]])[0]
    array([1., 0.])
    >>> candidate_errors(candidates, [["B-PER", "O"]], loss="entities")[0]
    array([2., 0.])
    """
    if loss not in LOSSES:
        raise ValueError(f"loss is {loss!r}; it must be one of {', '.join(LOSSES)}")
    return labeling_errors(labelings, y, loss)[0]


def labeling_errors(labelings, y, loss):
    """Return how many errors candidates have, and the denominators of their rates.

    One less the share of errors is the accuracy, or the F1 of the entities.

    Parameters
    ----------
    labelings : iterable of lists of labelings
        The candidates of each sentence.
    y : iterable of sequences of str
        The true labels.
    loss : {"labels", "entities"}
        The kind of errors.

    Returns
    -------
    errors, sizes : ndarray of shape (n_sentences,), dtype object
        One float array per sentence: the errors, and the number of labels, or of the
        entities of both.
    """
    labelings, y = list(labelings), [list(truth) for truth in y]
    check_same_length(len(labelings), len(y), ("labelings", "y"), "sentences")
    for s, (candidates, truth) in enumerate(zip(labelings, y, strict=True)):
        for labels in candidates:
            if len(labels) != len(truth):
                raise ValueError(
                    f"sentence {s} has {len(truth)} true labels, but a candidate has "
                    f"{len(labels)}"
                )
    every = [labels for candidates in labelings for labels in candidates]
    return _wrong(loss, [len(row) for row in labelings], *encode_labels(every + y))


def coded_errors(rows, y, labels, loss):
    """Return the same for candidates that are numbers of labels.

    Parameters
    ----------
    rows : list of CodedNbest
        The candidates of each sentence.
    y : list of sequences of str
        The true labels.
    labels : list of str
        The labels.
    loss : {"labels", "entities"}
        The kind of errors.

    Returns
    -------
    errors, sizes : ndarray of shape (n_sentences,), dtype object
        As of `labeling_errors`.
    """
    true, true_lengths, labels = encode_labels(y, labels)
    codes, lengths = joined_codes(rows)
    codes, lengths = np.append(codes, true), np.append(lengths, true_lengths)
    return _wrong(loss, [len(row.scores) for row in rows], codes, lengths, labels)


def _wrong(loss, n_candidates, codes, lengths, labels):
    """Return errors and sizes, given all candidates and, after them, the truth."""
    n = len(n_candidates)
    of = np.append(np.repeat(np.arange(n), n_candidates), np.arange(n))
    count = _wrong_labels if loss == "labels" else _wrong_entities
    offsets = offsets_of(n_candidates)
    found = count(codes, lengths, labels, of, n)
    return tuple(split_rows(part, offsets) for part in found)


def _wrong_labels(codes, lengths, labels, of, n):
    """Return the numbers of wrong and of all labels of all but the last n labelings."""
    offsets, true = offsets_of(lengths), len(lengths) - n
    truth = codes[joined_ranges(offsets[:-1][true:][of[:true]], lengths[:true])]
    owner = np.repeat(np.arange(true), lengths[:true])
    wrong = np.bincount(owner, codes[: offsets[true]] != truth, minlength=true)
    return wrong.astype(np.float64), lengths[:true].astype(np.float64)


def _wrong_entities(codes, lengths, labels, of, n):
    """Return the same of entities: missing or too many, and those of both."""
    spans, true = LabelingSpans(codes, lengths, labels), len(lengths) - n
    keys, owner = spans.keys(of, lengths[true:]), spans.labeling
    is_true = owner >= true
    found = np.bincount(owner, minlength=len(lengths))
    right = np.isin(keys, keys[is_true]) & ~is_true
    right = np.bincount(owner[right], minlength=len(lengths))[:true]
    size = found[:true] + found[true:][of[:true]]
    return (size - 2.0 * right), size.astype(np.float64)


def oracle_scores(
    y: Iterable[Any], nbest: Iterable[Any], n: Any = (1, 5, 20, 50)
) -> dict[Any, Any]:
    """Return the oracle scores of n-best lists, those of a perfect reranker.

    It takes the candidate with the fewest entities missing or too many from the first n
    of each list.

    Parameters
    ----------
    y : iterable of sequences of str
        The true labels.
    nbest : iterable of lists of (labels, score)
        The result of ``predict_nbest``.
    n : int or sequence of int, default=(1, 5, 20, 50)
        How many candidates it may choose from; 1 is the base tagger itself.

    Returns
    -------
    scores : dict of int to tuple
        For each n precision, recall and F1 of the entities.

    Examples
    --------
    >>> from skcw.reranking import oracle_scores
    >>> nbest = [[(["B-PER", "I-PER"], -0.3), (["B-PER", "O"], -1.5)]]
    >>> oracle_scores([["B-PER", "O"]], nbest, n=(1, 2))
    {1: (0.0, 0.0, 0.0), 2: (1.0, 1.0, 1.0)}
    """
    y = [list(labels) for labels in y]
    rows = [_labelings(s, row) for s, row in enumerate(nbest)]
    check_same_length(len(y), len(rows), ("y", "nbest"), "sentences")
    errors = candidate_errors(rows, y, "entities")
    found = {}
    for size in [n] if isinstance(n, Integral) else n:
        size = check_count("n", size)
        best = [
            row[int(np.argmin(wrong[:size]))]
            for row, wrong in zip(rows, errors, strict=True)
        ]
        scores = span_precision_recall_fscore_support(y, best, average="micro")
        found[size] = scores[:3]
    return found


def _labelings(s, row):
    """Return the candidates of a sentence without their scores."""
    row = list(row)
    if not row:
        raise ValueError(f"sentence {s} has no candidate")
    if not all(map(is_scored_labeling, row)):
        raise TypeError(
            f"nbest of sentence {s} holds {row[0]!r}, not pairs (labels, score); y "
            "comes first, then nbest"
        )
    return [list(labels) for labels, _ in row]
