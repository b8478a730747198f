"""Label probabilities of a word, estimated from words that are spelled alike."""

import numpy as np
from scipy import sparse

from skcw.data.vocabulary import Vocabulary
from skcw.features.basic import collapsed_shape, printable_kind

# The other spellings of the same letters ("The", "the") outweigh the class of a word
# as soon as they have been seen this often.
SAME_LETTERS = 1.0

# Between the parts of a key; no shape has it, for control characters stand for "?".
MARK = "\x1f"


def spelling_keys(word, max_suffix):
    """Return the names of the classes of a word, from the widest to the narrowest.

    Parameters
    ----------
    word : str
        The word.
    max_suffix : int
        The longest ending that makes a class.

    Returns
    -------
    keys : list of str
        The class of all words, that of the first kind of character, that of the
        shape, and those of the shape with the last 1, 2, ... characters in lower
        case.

    Examples
    --------
    >>> from skcw.tagging.spelling import spelling_keys
    >>> [key.replace(chr(31), "|") for key in spelling_keys("Ann", 2)]
    ['', 'A', 'Aa|', 'Aa|n', 'Aa|nn']
    """
    shape, lower = collapsed_shape(word, printable_kind), word.lower()
    longest = min(max_suffix, len(lower))
    endings = [lower[len(lower) - n :] for n in range(longest + 1)]
    return ["", shape[:1] or MARK, *(f"{shape}{MARK}{ending}" for ending in endings)]


class LabelShares:
    """The distribution of labels over words that were never seen.

    Every distinct word of the training data has one vote, divided among its labels in
    proportion to their counts: a new word is like the many rare ones, not like the few
    frequent ones. The distribution of a class of words is that of its votes, smoothed
    by that of the next wider class.

    Parameters
    ----------
    shares : ndarray of shape (n_classes, n_labels)
        The shares of the labels in each class of words.
    classes : Vocabulary or None, default=None
        The names of the classes; None if there is but one.
    letters : Vocabulary or None, default=None
        The words in lower case.
    letter_counts : csr_matrix or None, default=None
        How often each of these was seen with each label.
    max_suffix : int, default=0
        The longest ending that makes a class.
    """

    def __init__(
        self, shares, classes=None, letters=None, letter_counts=None, max_suffix=0
    ):
        self.shares = shares
        self.classes = classes
        self.letters = letters
        self.letter_counts = letter_counts
        self.max_suffix = max_suffix

    @classmethod
    def learn(cls, words, counts, prior, kind, weight, max_suffix):
        """Learn from words that were seen; return the shares of each by others, too.

        Parameters
        ----------
        words : list of str or None
            The distinct words; None if they have no names.
        counts : csr_matrix of shape (n_words, n_labels)
            How often each of them was seen with each label.
        prior : ndarray of shape (n_labels,)
            The share of each label among all tokens.
        kind : {"spelling", "vocabulary", "prior"}
            Whether words are judged by their spelling, or all alike, as the distinct
            words or as all tokens.
        weight : float
            The votes of the wider class.
        max_suffix : int
            The longest ending that makes a class.

        Returns
        -------
        learned : LabelShares
            The shares of words that were never seen.
        shares : ndarray of shape (n_words, n_labels)
            Those of the given words if they had not been seen themselves (but for
            their one vote among many).
        """
        votes = sparse.csr_matrix(counts.multiply(1.0 / counts.sum(axis=1)))
        if kind == "prior":
            learned = cls(prior[None])
            return learned, learned(counts.shape[0])
        if kind == "vocabulary" or words is None:
            learned = cls(_mixed(np.asarray(votes.sum(axis=0)), prior, weight))
            return learned, learned(counts.shape[0])
        tree = _ClassTree(words, max_suffix)
        table = {}
        form = [table.setdefault(word.lower(), len(table)) for word in words]
        letter_counts = (_membership(form, len(form), 1, len(table)).T @ counts).tocsr()
        learned = cls(
            tree.shares(votes, prior, weight),
            Vocabulary.from_names(tree.names),
            Vocabulary.from_names(table),
            letter_counts,
            max_suffix,
        )
        return learned, learned._mix(tree.narrowest, np.array(form, np.intp), counts)

    def __call__(self, words):
        """Return the share of each label, a row per word.

        Parameters
        ----------
        words : list of str or int
            The words; where they have no names, how many there are.

        Returns
        -------
        shares : ndarray of shape (n_words, n_labels)
            Every row sums to one.
        """
        if self.classes is None:
            n_words = words if isinstance(words, int) else len(words)
            return np.repeat(self.shares, n_words, axis=0)
        classes, letters = self.classes.table(), self.letters.table()
        nodes = [self._narrowest(classes, word) for word in words]
        form = [letters.find_name(_utf8(word.lower())) for word in words]
        return self._mix(np.array(nodes, np.intp), np.array(form, np.intp))

    def _narrowest(self, table, word):
        """Return the narrowest class of a word that has members."""
        found = 0
        for key in spelling_keys(word, self.max_suffix)[1:]:
            node = table.find_name(_utf8(key))
            if node < 0:
                break
            found = node
        return found

    def _mix(self, nodes, form, own=None):
        """Return the shares of classes, and of other spellings of the same letters."""
        shares = self.shares[nodes]
        seen = np.flatnonzero(form >= 0)
        counts = self.letter_counts[form[seen]].toarray()
        if own is not None:
            counts -= own[seen].toarray()
        shares[seen] = _mixed(counts, shares[seen], SAME_LETTERS)
        return shares


class _ClassTree:
    """The classes of words, each within a wider one.

    Parameters
    ----------
    words : list of str
        The words.
    max_suffix : int
        The longest ending that makes a class.
    """

    def __init__(self, words, max_suffix):
        self.names = {"": 0}
        # Of each class the one around it, and its distance from that of all words.
        self.parents, self.levels = [0], [0]
        self.members, ends = [], []
        for word in words:
            self._add(spelling_keys(word, max_suffix))
            ends.append(len(self.members))
        self.sizes = np.diff(ends, prepend=0)
        self.narrowest = np.array(self.members, np.intp)[np.array(ends, np.intp) - 1]

    def _add(self, keys):
        node = 0
        for level, key in enumerate(keys):
            above, node = node, self.names.setdefault(key, len(self.names))
            if node == len(self.parents):
                self.parents.append(above)
                self.levels.append(level)
            self.members.append(node)

    def shares(self, votes, prior, weight):
        """Return the shares of labels in each class by the votes of its words."""
        n_classes, n_words = len(self.names), votes.shape[0]
        belongs = _membership(self.members, n_words, self.sizes, n_classes)
        cast = (belongs.T @ votes).toarray()
        parents, levels = np.array(self.parents), np.array(self.levels)
        shares = np.repeat(_mixed(cast[:1], prior, weight), n_classes, axis=0)
        for level in range(1, levels.max() + 1):
            here = np.flatnonzero(levels == level)
            shares[here] = _mixed(cast[here], shares[parents[here]], weight)
        return shares


def _membership(groups, n_words, sizes, n_groups):
    """Return a matrix that is one where a word belongs to a group.

    Of the groups listed, the first word owns so many as its size says, and so on.
    """
    ends = np.append(0, np.cumsum(np.broadcast_to(sizes, n_words)))
    parts = np.ones(len(groups)), np.array(groups, np.int64), ends
    return sparse.csr_matrix(parts, shape=(n_words, n_groups))


def _mixed(counts, wider, weight):
    """Return shares by counts, with `weight` further ones as in the wider class."""
    total = counts.sum(axis=1, keepdims=True) + weight
    return (counts + weight * wider) / total


def _utf8(name):
    return name.encode("utf-8", "surrogatepass")
