"""The sentences that a tagger has learned from, as a bounded set of hashes."""

import numpy as np

from skcw._kernels.draws import token_ids

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
