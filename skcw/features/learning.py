"""Learn vectors and clusters of words from sequences that need no labels."""

from collections import Counter
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage, to_tree
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd

from skcw.data.vocabulary import Vocabulary
from skcw.features.extractor import look_ahead
from skcw.features.joining import first_words
from skcw.features.resources import WordClusters, WordVectors

# Contexts count with this power of their frequency, which makes rare ones rarer.
SMOOTHING = 0.75


def learn_vectors(
    X: Any,
    n_dimensions: int = 50,
    *,
    window: int = 2,
    min_count: int = 2,
    lower: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Learn word vectors from the neighbors of words.

    Counts how often each word has each neighbor at each distance, weighs the counts
    by positive pointwise mutual information [1]_, and keeps the largest singular
    vectors, with the roots of their singular values.

    Parameters
    ----------
    X : TokenColumns, or iterable of sequences
        Sequences: words, tuples whose first item is the word, or dicts with ``word``.
    n_dimensions : int, default=50
        The length of a vector.
    window : int, default=2
        How far a neighbor may stand.
    min_count : int, default=2
        Words that occur fewer times have no vector.
    lower : bool, default=False
        Whether to take words lower-cased.
    random_state : int, RandomState or None, default=None
        Controls the approximate singular vectors.

    Returns
    -------
    vectors : WordVectors
        The table.

    See Also
    --------
    learn_clusters : Clusters of these vectors.

    References
    ----------
    .. [1] Levy, Goldberg & Dagan (2015). Improving distributional similarity with
       lessons learned from word embeddings. TACL 3.

    Examples
    --------
    >>> from skcw.features import learn_vectors
    >>> X = [["the", "cat", "sat"], ["the", "dog", "sat"], ["a", "cat"], ["a", "dog"]]
    >>> vectors = learn_vectors(X, 2, random_state=0)
    >>> cat, dog, sat = vectors.of(["cat", "dog", "sat"])
    >>> bool(abs(cat - dog).max() < 1e-5 < abs(cat - sat).max())
    True
    """
    codes, offsets, words = _coded(X, min_count, lower)
    if len(words) < 2:
        raise ValueError(
            f"only {len(words)} words occur {min_count} times or more: there is "
            "nothing to learn; take more sequences, or a smaller min_count"
        )
    counts = _neighbors(codes, offsets, len(words), window)
    weights = _positive_pmi(counts)
    rank = min(n_dimensions, len(words) - 1, weights.shape[1] - 1)
    left, size, _ = randomized_svd(
        weights, rank, random_state=check_random_state(random_state)
    )
    return WordVectors(words, left * np.sqrt(size))


def _coded(X, min_count, lower):
    """Return the number of each word (-1 if it is rare), and the words."""
    X, _ = look_ahead(X)
    sequences = first_words(X)
    if lower:
        sequences = [[word.lower() for word in s] for s in sequences]
    counts = Counter(chain.from_iterable(sequences))
    # The order of the words must not depend on that of the sequences.
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    words = [word for word, count in ranked if count >= min_count]
    number = {word: code for code, word in enumerate(words)}
    flat = [number.get(word, -1) for word in chain.from_iterable(sequences)]
    offsets = np.cumsum([0, *map(len, sequences)])
    return np.array(flat, dtype=np.int64), offsets, Vocabulary.from_names(words)


def _neighbors(codes, offsets, n_words, window):
    """Return how often each word has each word at each distance, and the borders."""
    n_tokens, blocks = len(codes), []
    sequence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    for distance in [d for d in range(-window, window + 1) if d]:
        at = np.arange(n_tokens) + distance
        inside = (at >= 0) & (at < n_tokens)
        inside[inside] = sequence[at[inside]] == sequence[inside]
        # Rare words are one context, and the end of the sequence is another.
        context = np.full(n_tokens, n_words + 1)
        context[inside] = np.where(codes[at[inside]] < 0, n_words, codes[at[inside]])
        known = codes >= 0
        shape = n_words, n_words + 2
        entries = np.ones(known.sum()), (codes[known], context[known])
        blocks.append(sparse.csr_matrix(entries, shape=shape))
    return sparse.hstack(blocks, format="csr")


def _positive_pmi(counts):
    """Return max(0, log p(w, c) / (p(w) p(c)^SMOOTHING)) of counts that are not 0."""
    total = counts.sum()
    by_word = np.asarray(counts.sum(axis=1)).ravel()
    by_context = np.asarray(counts.sum(axis=0)).ravel() ** SMOOTHING
    by_context /= by_context.sum()
    found = counts.tocoo()
    expected = by_word[found.row] / total * by_context[found.col]
    pmi = np.log(found.data / total / expected)
    keep = pmi > 0
    entries = pmi[keep], (found.row[keep], found.col[keep])
    return sparse.csr_matrix(entries, shape=counts.shape)


def learn_clusters(
    X: Any,
    n_clusters: int = 200,
    *,
    random_state: int | np.random.RandomState | None = None,
    **options: Any,
) -> Any:
    """Learn clusters of words, and a tree of them, from sequences without labels.

    Words with similar neighbors are in one cluster: k-means of the vectors of
    :func:`learn_vectors`, brought to unit length. A tree by Ward's criterion over the
    centers gives each cluster a path of 0 and 1; clusters with a common beginning are
    similar, as in Brown clusters.

    Parameters
    ----------
    X : TokenColumns, or iterable of sequences
        Sequences: words, tuples whose first item is the word, or dicts with ``word``.
    n_clusters : int, default=200
        How many clusters; fewer if there are fewer words.
    random_state : int, RandomState or None, default=None
        Controls the vectors and the clusters.
    **options : object
        Those of :func:`learn_vectors`.

    Returns
    -------
    clusters : WordClusters
        The path of each word.

    See Also
    --------
    WordClusters.read : Clusters of a file, learned from more text.

    Examples
    --------
    >>> from skcw.features import learn_clusters
    >>> X = [["the", "cat", "sat"], ["the", "dog", "sat"], ["a", "cat"], ["a", "dog"]]
    >>> clusters = learn_clusters(X, 3, n_dimensions=2, random_state=0)
    >>> clusters["cat"] == clusters["dog"] != clusters["the"]
    True
    """
    random_state = check_random_state(random_state)
    table = learn_vectors(X, random_state=random_state, **options)
    vectors = table.vectors.astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    # Words with the same neighbors differ by rounding alone.
    n_clusters = min(n_clusters, len(np.unique(vectors.round(5), axis=0)))
    found = KMeans(n_clusters, n_init=1, random_state=random_state).fit(vectors)
    paths = _paths(found.cluster_centers_)
    numbers = found.labels_.astype(np.int32)
    return WordClusters(table.words, numbers, Vocabulary.from_names(paths))


def _paths(centers):
    """Return the path to each center in a tree of all of them."""
    if len(centers) == 1:
        return ["0"]
    paths = [""] * len(centers)
    # By a list: a tree of hundreds of levels would be too deep for recursion.
    waiting = [(to_tree(linkage(centers, method="ward")), "")]
    while waiting:
        node, path = waiting.pop()
        if node.is_leaf():
            paths[node.id] = path
        else:
            waiting += [(node.get_left(), path + "0"), (node.get_right(), path + "1")]
    return paths
