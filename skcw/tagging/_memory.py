"""What a tagger has learnt from, remembered as a bounded set of hashes."""

import hashlib

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw._kernels.draws import token_ids

# The smallest hashes are kept: of a larger corpus they are a random sample, whatever
# the order in which its sequences came.
MOST_HASHES = 1 << 14


class TrainingMemory:
    """Tells whether sequences are those that a tagger has learnt from.

    A subclass gives ``_sequence_hashes`` and sets ``training_hashes_`` when it learns.
    """

    def training_share(self, X):
        """Return the share of the words of X that the tagger has learnt from.

        Figures of quality mean nothing on such words. A sentence counts if it has the
        same features at every word as one in the training data. Corpora repeat some:
        up to a tenth of the words of a new part of CoNLL-2002 are in sentences that the
        training part has too.

        Parameters
        ----------
        X : iterable of sequences
            The sequences, in the form in which others were given to ``fit``.

        Returns
        -------
        share : float
            From 0 to 1; after training on more than 16,384 sequences estimated from a
            random sample of them. NaN for a model whose file is too old to tell.
        """
        check_is_fitted(self)
        hashes, lengths = self._sequence_hashes(X)
        memory = getattr(self, "training_hashes_", None)
        return np.nan if memory is None else known_share(memory, hashes, lengths)

    def _memory_arrays(self):
        """Return what to save."""
        memory = getattr(self, "training_hashes_", None)
        return {} if memory is None else {"training_hashes": memory}


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


def learnt_hashes(data, before=()):
    """Return the hashes to keep after learning from examples.

    Parameters
    ----------
    data : Examples
        What was learnt from; sequences of no token or no weight are not.
    before : ndarray of uint64 or None, default=()
        What was kept before; None if that is not known.

    Returns
    -------
    hashes : ndarray of uint64 or None
        What `remembered` returns, or None where that would not be all.
    """
    if before is None:
        return None
    used = data.batch.lengths > 0
    if data.weight is not None:
        used &= data.weight > 0
    return remembered(batch_hashes(data.batch)[used], before)


def items_hash(tokens):
    """Return a hash of a sequence whose tokens are lists of names or dicts."""
    text = "\n".join("\t".join(_texts(token)) for token in tokens)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def _texts(token):
    if isinstance(token, dict):
        return (f"{name}={value}" for name, value in token.items())
    return token


def items_hashes(sequences):
    """Return the hashes and the lengths of such sequences."""
    found = [(items_hash(tokens), len(tokens)) for tokens in sequences]
    hashes, lengths = zip(*found, strict=True) if found else ((), ())
    return np.array(hashes, dtype=np.uint64), np.array(lengths, dtype=np.int64)


def remembered(hashes, before=()):
    """Return the hashes to keep of new ones and of those kept before, sorted."""
    before = np.asarray(before, dtype=np.uint64)
    new = np.unique(np.asarray(hashes, dtype=np.uint64))
    new = new[~_contains(before, new)]
    return np.insert(before, np.searchsorted(before, new), new)[:MOST_HASHES]


def _contains(memory, hashes):
    """Tell which hashes are in a sorted memory; one sequence must cost next to none."""
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
