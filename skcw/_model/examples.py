"""Encoded examples, their weights, costs and constraints, and a share held out."""

import warnings
from numbers import Real
from typing import NamedTuple

import numpy as np

from skcw._model.checkpoint import digest_of
from skcw._model.corpus import Corpus
from skcw._model.training_hashes import batch_hashes, remembered
from skcw._util.checks import check_sample_weight, check_weighted_labels
from skcw._util.compat import StrOptions
from skcw._util.ragged import joined_ranges
from skcw.data.batch import SequenceBatch
from skcw.data.edges import split_edges
from skcw.data.schemes import (
    SCHEME_NAMES,
    are_spans,
    constraints_name,
    first_violation,
    odd_outside,
    scheme_faults,
    scheme_of,
    stray_labels,
    transition_constraints,
    with_counts,
)
from skcw.exceptions import (
    ConstraintWarning,
    OutsideLabelWarning,
)


class Examples(NamedTuple):
    """Encoded sequences with the codes of their labels and their weights."""

    batch: SequenceBatch
    codes: np.ndarray
    weight: np.ndarray | None

    def take(self, positions):
        """Return the examples at these positions."""
        batch = self.batch
        tokens = joined_ranges(batch.offsets[positions], batch.lengths[positions])
        weight = None if self.weight is None else self.weight[positions]
        return Examples(batch[positions], self.codes[tokens], weight)

    def used(self):
        """Tell which sequences count: not the empty or weightless ones."""
        used = self.batch.lengths > 0
        return used if self.weight is None else used & (self.weight > 0)

    def present(self):
        """Return the positions of the sequences that count."""
        return np.flatnonzero(self.used())

    def n_words(self):
        """Return how many words there are to learn from."""
        return int(self.batch.lengths[self.used()].sum())

    def label_counts(self, n_labels):
        """Return how often each label occurs."""
        return np.bincount(self.codes, minlength=n_labels)

    def token_sizes(self):
        """Return the mean length of the feature vectors of the words, and breadth."""
        used = np.repeat(self.used(), self.batch.lengths)
        if self.batch.values is None and used.any():
            counts = norm_counts(self.batch.indptr, used)
            total = float(counts @ np.sqrt(np.arange(len(counts))))
            return TokenSizes(*[total / int(counts.sum()) or 1.0] * 2)
        parts = token_norms(self.batch)[used], token_breadths(self.batch)[used]
        # Tokens without any feature leave nothing to measure by.
        return TokenSizes(
            *(float(np.mean(part)) or 1.0 if len(part) else 1.0 for part in parts)
        )

    def faults(self, labels):
        """Return how many sequences break each scheme."""
        return scheme_faults(labels, self.codes, self.batch.offsets)

    def violations(self, forbidden):
        """Return how many sequences break the constraints, and the first of them."""
        return first_violation(forbidden, self.codes, self.batch.offsets)

    def hashes(self, before=()):
        """Return the hashes to keep of these sequences and of those kept before.

        They are None where that would not be all: if `before` is None.
        """
        if before is None:
            return None
        return remembered(batch_hashes(self.batch)[self.used()], before)

    def digest(self):
        """Return a short hash of sequences, labels and weights."""
        batch = self.batch._compact()
        arrays = (batch.offsets, batch.indptr, batch.indices, batch.values)
        return digest_of(*arrays, self.codes, self.weight)

    def described(self):
        """Return what other examples differ in, in few words and short hashes."""
        return {
            "the number of sequences": len(self.batch),
            "the number of words": self.batch.n_tokens,
            "the number of features": self.batch.n_features,
            "the hash of the features": self.batch.fingerprint,
            "the hash of the sequences": self.digest(),
        }

    def first(self, n_words):
        """Return the first examples, with about so many words."""
        n = int(np.searchsorted(self.batch.offsets, n_words)) or 1
        return self if n >= len(self.batch) else self.take(np.arange(n))

    def corpus(self, belief, with_norm=False):
        """Return the arrays that the kernels read to train a belief."""
        batch, edges = self.batch, None
        if len(belief.edges):
            batch, steps = split_edges(
                batch, belief.edges, belief.first_edge, belief.n_labels
            )
            values = steps.values
            values = None if values is None else values.astype(np.float64)
            edges = steps.indptr, steps.indices, values
        return Corpus(
            batch.offsets,
            batch.indptr,
            batch.indices,
            batch.values,
            self.codes,
            self.weight,
            token_norms(self.batch) if with_norm else None,
            edges,
        )


class TokenSizes(NamedTuple):
    """How large the feature vectors of tokens are on average.

    Parameters
    ----------
    norm : float
        Their length.
    breadth : float
        √n for n features of the same size, whatever the size is. Where some are much
        larger than others, it is less: these hardly count.
    """

    norm: float
    breadth: float


def norm_counts(indptr, used=slice(None)):
    """Return how many tokens have 0, 1, 2... features: the squares of their norms."""
    return np.bincount(np.diff(indptr)[used])


def token_norms(batch):
    """Return the length of the feature vector of every token."""
    square = np.diff(batch.indptr).astype(np.float64)
    if batch.values is not None:
        sums = np.zeros(len(batch.indices) + 1)
        np.cumsum(np.square(batch.values, dtype=np.float64), out=sums[1:])
        square = np.diff(sums[batch.indptr])
    return np.sqrt(square)


def token_breadths(batch):
    """Return the breadth of the feature vector of every token; see `TokenSizes`."""
    norms = token_norms(batch)
    if batch.values is None:
        return norms
    sums = np.append(0.0, np.cumsum(np.abs(batch.values, dtype=np.float64)))
    return np.diff(sums[batch.indptr]) / np.where(norms > 0, norms, 1.0)


def checked_weights(sample_weight, n_sequences, at_most):
    """Return weights as float64, or None when all are one."""
    weight = check_sample_weight(sample_weight, n_sequences, at_most=at_most)
    return None if weight is None or (weight == 1).all() else weight


# The most that a rare label counts, in units of the mean over all words.
DEAREST = 5.0


def _balanced_costs(counts):
    """Return costs that fall with the root of a label's share, one on average.

    With costs that fall with the share itself, as of classifiers, a label of ten words
    weighs as much as "O": a labeling is a compromise between its words, and all others
    pay for it.
    """
    seen = np.flatnonzero(counts)
    share = counts[seen] / counts.sum()
    root = share**-0.5
    cost = np.ones(len(counts))
    cost[seen] = np.minimum(root / (share @ root), DEAREST)
    return cost


def token_costs(class_weight, labels, counts, one_pass):
    """Return the cost of mislabeling a token of each class, of which so many occur."""
    if class_weight == "balanced":
        if one_pass:
            raise ValueError(
                "class_weight='balanced' needs all of the data at once; give "
                "partial_fit a dict"
            )
        return _balanced_costs(counts)
    given = class_weight or {}
    if not one_pass:
        # Labels may come later, piece by piece.
        check_weighted_labels(given, labels)
    for label, weight in given.items():
        if not isinstance(label, str):
            raise ValueError(f"class_weight names the label {label!r}, not a string")
        if not isinstance(weight, Real) or not 0 < weight <= 1e10:
            raise ValueError(
                f"class_weight of {label!r} must be a number above 0 and at most 1e10, "
                f"got {weight!r}"
            )
    return np.array([given.get(label, 1.0) for label in labels], dtype=np.float64)


# What every tagger with constraints takes for them.
CONSTRAINTS = [StrOptions({"auto", *SCHEME_NAMES}), callable, tuple, list, None]


class Rules(NamedTuple):
    """Which labels may follow each other, and how that was found out.

    ``constraints`` is a scheme, "given" for a function or a matrix, or None;
    ``faults`` counts the sequences learned from so far that break each scheme.
    """

    constraints: str | None
    forbidden: np.ndarray | None
    faults: dict
    spans: bool

    def attributes(self):
        """Return what a fitted tagger keeps beside the matrix."""
        return {"constraints_": self.constraints, "scheme_faults_": self.faults}


def legal_steps(tagger, labels, data, fresh, dtype, stacklevel):
    """Return the rules of a tagger; warn if sequences break those it was given."""
    faults = data.faults(labels)
    if fresh:
        warn_of_outside(labels, data, stacklevel + 1)
    else:
        before = getattr(tagger, "scheme_faults_", {})
        faults = {name: n + before.get(name, 0) for name, n in faults.items()}
    rules = _rules_of(tagger, labels, faults, dtype)
    if not _is_auto(tagger.constraints):
        _warn_of_faults(*data.violations(rules.forbidden), stacklevel + 1)
    return rules


def _is_auto(constraints):
    # Sequences that break what nearly all follow are slips, not worth a warning.
    return isinstance(constraints, str) and constraints == "auto"


def _rules_of(tagger, labels, faults, dtype):
    """Return the rules of a tagger, given how many sequences break each scheme."""
    asked, found = tagger.constraints, "given"
    if _is_auto(asked):
        asked = found = scheme_of(labels, faults)
    elif asked is None or isinstance(asked, str):
        found = asked and constraints_name(asked)
    forbidden = transition_constraints(asked, labels, dtype)
    return Rules(found, forbidden, faults, are_spans(labels))


def warn_of_outside(labels, data, stacklevel):
    """Warn of a label that seems to stand for "O", or of few that follow no scheme."""
    odd = odd_outside(labels)
    if odd is not None:
        warnings.warn(
            f'the label {odd!r} seems to mean that a word is in no span, but only "O" '
            "does: it is learned as a span of its own. Rename it first: "
            f"convert_labels(y, 'IOB2', outside={odd!r})",
            OutsideLabelWarning,
            stacklevel=stacklevel,
        )
        return
    counts = data.label_counts(len(labels)).tolist()
    strays = stray_labels(dict(zip(labels, counts, strict=True)))
    if strays:
        warnings.warn(
            "a few labels follow no scheme, while all others do: "
            f"{with_counts(strays)}; typing errors? They are learned as they are",
            OutsideLabelWarning,
            stacklevel=stacklevel,
        )


def _warn_of_faults(broken, first, stacklevel):
    """Warn if training sequences break constraints: so many, and the first of them."""
    if broken:
        warnings.warn(
            f"{broken} training sequences break the constraints, sequence {first} "
            "first; they are learned from anyway, but can never be predicted",
            ConstraintWarning,
            stacklevel=stacklevel,
        )


def hold_out(data, fraction, rng):
    """Split off a share of the sequences to judge each pass by: (the rest, them)."""
    n_dev = max(1, round(fraction * len(data.batch)))
    if n_dev >= len(data.batch):
        raise ValueError(
            f"early stopping leaves no training data: {len(data.batch)} sequences and "
            f"validation_fraction={fraction}"
        )
    order = rng.permutation(len(data.batch))
    return data.take(np.sort(order[n_dev:])), data.take(np.sort(order[:n_dev]))
