"""What an estimator has learned from, as a bounded set of hashes."""

import numpy as np

from skcw._kernels.draws import token_ids
from skcw._kernels.row_passes import row_hashes

# The smallest hashes are kept: of a larger corpus they are a random sample, whatever
# the order in which its sequences came.
MOST_HASHES = 1 << 14


def batch_hashes(batch):
    """Return a hash of every sequence of a batch; 0 for an empty one."""
    values = batch.values
    if values is not None:
        # Taggers of single and of double precision remember the same.
        with np.errstate(over="ignore"):
            values = values.astype(np.float32).astype(np.float64)
    ids = np.zeros(batch.n_tokens, dtype=np.int64)
    token_ids(batch.offsets, batch.indptr, batch.indices, values, ids)
    hashes = np.zeros(len(batch), dtype=np.uint64)
    filled = batch.lengths > 0
    hashes[filled] = ids[batch.offsets[:-1][filled]].view(np.uint64)
    return hashes


def remembered(hashes, before=()):
    """Return the hashes to keep of new ones and of those kept before, sorted."""
    before = np.asarray(before, dtype=np.uint64)
    new = np.unique(np.asarray(hashes, dtype=np.uint64))
    new = new[~_contains(before, new)]
    return np.insert(before, np.searchsorted(before, new), new)[:MOST_HASHES]


def _contains(memory, hashes):
    """Tell which hashes are in a sorted memory; one sequence must cost little."""
    at = np.searchsorted(memory, hashes)
    found = np.zeros(len(hashes), dtype=bool)
    inside = at < len(memory)
    found[inside] = memory[at[inside]] == hashes[inside]
    return found


def remembered_rows(rows, before=None):
    """Return the hashes to keep of rows, and how often each occurred.

    Parameters
    ----------
    rows : Rows
        The rows; those of weight 0 are not learned from.
    before : tuple of two ndarray, default=None
        What this function returned for earlier rows.

    Returns
    -------
    hashes : ndarray of uint64
        Sorted.
    counts : ndarray of int64
        The number of rows with each hash.
    """
    hashes = row_hashes(rows.indptr, rows.indices, rows.values)
    if rows.weight is not None:
        hashes = hashes[rows.weight > 0]
    new, counts = np.unique(hashes, return_counts=True)
    if before is not None:
        memory, seen = before[0], before[1].copy()
        known = _contains(memory, new)
        seen[np.searchsorted(memory, new[known])] += counts[known]
        at = np.searchsorted(memory, new[~known])
        new = np.insert(memory, at, new[~known])
        counts = np.insert(seen, at, counts[~known])
    return new[:MOST_HASHES], counts[:MOST_HASHES]


def merged_rows(memories):
    """Return the hashes of rows and the counts that several memories have together."""
    hashes, counts = map(np.concatenate, zip(*memories, strict=True))
    new, place = np.unique(hashes, return_inverse=True)
    together = np.bincount(place, weights=counts, minlength=len(new))
    return new[:MOST_HASHES], together.astype(np.int64)[:MOST_HASHES]


def repeated_share(counts):
    """Return the share of rows that have a copy among those of such counts.

    New rows of the same kind are known to about this share.
    """
    return float(counts[counts > 1].sum() / max(counts.sum(), 1))


def known_share(memory, hashes, lengths):
    """Return the share of words in sequences whose hash is remembered.

    Parameters
    ----------
    memory : ndarray of uint64
        What `remembered` returned.
    hashes : ndarray of uint64, shape (n_sequences,)
        The hashes of the sequences in question.
    lengths : ndarray of int64, shape (n_sequences,)
        Their numbers of words.

    Returns
    -------
    share : float
        0 where there is no word, or none of which the memory could tell.
    """
    telling = np.asarray(lengths, dtype=np.float64)
    if len(memory) == MOST_HASHES:
        # Larger hashes were not kept, so nothing is known of them.
        telling = np.where(hashes <= memory[-1], telling, 0.0)
    total = telling.sum()
    return float(telling[_contains(memory, hashes)].sum() / total) if total else 0.0
