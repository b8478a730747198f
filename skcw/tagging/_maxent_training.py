"""The weights of a maximum-entropy tagger, by scikit-learn's logistic regression."""

import sys
import time
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.linear_model import LogisticRegression

from skcw._belief import Belief, padded


class Weights(NamedTuple):
    """What a maximum-entropy tagger has learnt.

    Parameters
    ----------
    belief : Belief
        The weights of the token's features.
    intercept : ndarray of shape (n_labels,)
        What every token adds; minus infinity for a label without training tokens.
    previous : ndarray of shape (n_labels + 1, n_labels)
        The weights of the label before; the last row is for the first token.
    pairs : ndarray of int32, shape (n_pairs, 2)
        The pairs of two labels before that have weights, the nearer one last.
    pair_weights : ndarray of shape (n_pairs, n_labels)
        Their weights.
    """

    belief: Belief
    intercept: np.ndarray
    previous: np.ndarray
    pairs: np.ndarray
    pair_weights: np.ndarray


def labels_before(codes, offsets, border):
    """Return the label before each token and the one before that.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_tokens,)
        The labels.
    offsets : ndarray of int64
        Where each sequence begins.
    border : int
        The label before the first token of a sequence, and before that.

    Returns
    -------
    near, far : ndarray of int64, shape (n_tokens,)
        The labels.
    """
    first = offsets[:-1][np.diff(offsets) > 0]
    near = np.concatenate([[border], codes[:-1]])[: len(codes)]
    near[first] = border
    far = np.concatenate([[border], near[:-1]])[: len(codes)]
    far[first] = border
    return near, far


def train(data, n_labels, min_count, settings):
    """Return the weights, and the number of iterations that they took.

    Parameters
    ----------
    data : Examples
        The sequences, the codes of their labels and their weights.
    n_labels : int
        The number of labels.
    min_count : int
        Features of tokens and of histories that are seen less often get no weight.
    settings : dict
        Parameters of :class:`sklearn.linear_model.LogisticRegression`.

    Returns
    -------
    weights : Weights
        The weights.
    n_iter : int
        The number of iterations.
    """
    batch, codes = data.batch.compact(), data.codes
    weight = np.ones(len(batch)) if data.weight is None else data.weight
    weight = np.repeat(weight, batch.lengths)
    near, far = labels_before(codes, batch.offsets, n_labels)
    blocks = [
        _features(batch),
        _one_hot(near, n_labels + 1),
        _one_hot(far * (n_labels + 1) + near, (n_labels + 1) ** 2),
    ]
    kept = [_frequent(block, weight, min_count) for block in blocks]
    design = sparse.hstack(
        [block[:, columns] for block, columns in zip(blocks, kept, strict=True)],
        format="csr",
    )
    seen = weight > 0
    coef, intercept, n_iter = _solve(
        design[seen], codes[seen], weight[seen], n_labels, settings
    )
    return _unfold(coef, intercept, kept, batch.n_features, n_labels), n_iter


def _features(batch):
    """Return the features of the tokens as a matrix that scikit-learn takes."""
    values = batch.values
    if values is None:
        values = np.ones(len(batch.indices))
    # Its solvers read 32-bit indices only.
    parts = values, batch.indices.astype(np.int32), batch.indptr.astype(np.int32)
    return sparse.csr_matrix(parts, shape=(batch.n_tokens, batch.n_features))


def _one_hot(codes, n_codes):
    n = len(codes)
    parts = np.ones(n), codes.astype(np.int32), np.arange(n + 1, dtype=np.int32)
    return sparse.csr_matrix(parts, shape=(n, n_codes))


def _frequent(block, weight, min_count):
    """Return the columns with an entry in at least so many tokens."""
    by_entry = np.repeat(weight, np.diff(block.indptr))
    count = np.bincount(block.indices, by_entry, block.shape[1])
    return np.flatnonzero((count >= min_count) & (count > 0))


def _solve(design, codes, weight, n_labels, settings):
    """Return coefficients (n_columns, n_labels), intercepts and iterations."""
    present = np.unique(codes)
    coef = np.zeros((design.shape[1], n_labels))
    intercept = np.full(n_labels, -np.inf)
    if len(present) == 1:
        intercept[present] = 0.0
        return coef, intercept, 1
    verbose, began = settings["verbose"], time.perf_counter()
    solver = LogisticRegression(**settings | {"verbose": max(0, int(verbose) - 1)})
    weight = None if (weight == 1).all() else weight
    if verbose:
        _tell(
            f"{solver.solver} learns {n_labels} labels from {len(codes)} tokens with "
            f"{design.shape[1]} features and histories"
        )
    interruptible(solver.fit, design, codes, sample_weight=weight)
    n_iter = int(np.max(solver.n_iter_))
    if verbose:
        _tell(f"{n_iter} iterations, {time.perf_counter() - began:.2f} s")
    if len(present) == 2:
        # Two classes have one column: the logit of the second.
        present = present[1:]
        intercept[codes.min()] = 0.0
    coef[:, present] = solver.coef_.T
    intercept[present] = solver.intercept_
    return coef, intercept, n_iter


def interruptible(function, *args, **options):
    """Call a function that does not listen to Ctrl-C, such as a compiled solver.

    It runs in a thread of its own. After Ctrl-C nobody waits for it any more; it ends
    when it is done, or with the program. Where memory is limited it runs at once: a new
    thread that finds no memory ends the process.

    Parameters
    ----------
    function : callable
        The function.
    *args, **options : object
        Its arguments.

    Returns
    -------
    result : object
        What it returns, if nothing interrupts it.
    """
    if _memory_is_limited():
        return function(*args, **options)
    result = Future()
    config, context = get_config(), copy_context()

    def run():
        try:
            with config_context(**config):
                result.set_result(context.run(function, *args, **options))
        except BaseException as error:
            result.set_exception(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(timeout=0.1)
    return result.result()


def _memory_is_limited():
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _tell(line):
    print(line, file=sys.stderr, flush=True)


def _unfold(coef, intercept, kept, n_features, n_labels):
    """Return the rows of all columns where they belong."""
    features, near, pairs = np.split(coef, np.cumsum([len(k) for k in kept])[:-1])
    width = padded(n_labels)
    rows = np.zeros((width + 1 + len(features), width))
    rows[width + 1 :, :n_labels] = features
    row_of = np.full(n_features, width, dtype=np.int32)
    row_of[kept[0]] = np.arange(width + 1, len(rows), dtype=np.int32)
    previous = np.zeros((n_labels + 1, n_labels))
    previous[kept[1]] = near
    return Weights(
        Belief(n_labels, row_of, rows.ravel(), None, None, 0.0),
        intercept,
        previous,
        np.stack(np.divmod(kept[2], n_labels + 1), axis=1).astype(np.int32),
        pairs,
    )
