"""Tables of words: clusters, vectors and lists."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skcw.data.saved import saved_array
from skcw.data.text_lines import name_of, numbered_lines
from skcw.data.vocabulary import Vocabulary


class WordTable:
    """A list of words and arrays that go with it, one entry per word.

    A subclass takes the words and its own parts, in that order, and says by
    ``_own_arrays`` and ``_own_parts`` how these are saved.

    Examples
    --------
    >>> from skcw.features import WordVectors
    >>> table = WordVectors(["red", "big"], [[1.0], [2.0]])
    >>> len(WordVectors.from_arrays(table.arrays("colors"), "colors"))
    2
    """

    def __len__(self):
        return len(self.words)

    def arrays(self, prefix: str) -> dict[Any, Any]:
        """Return the arrays by the names that they have in the file of a model.

        Parameters
        ----------
        prefix : str
            The prefix of the names.

        Returns
        -------
        arrays : dict of str to ndarray
            The words and their entries.
        """
        return self.words.arrays(f"{prefix}.words") | self._own_arrays(prefix)

    @classmethod
    def from_arrays(cls, arrays: dict[Any, Any], prefix: str) -> Self:
        """Return the table from its arrays.

        Parameters
        ----------
        arrays : dict of str to ndarray
            The arrays of a model.
        prefix : str
            The prefix of the names.

        Returns
        -------
        table : WordTable
            The table.
        """
        parts = cls._own_parts(arrays, prefix)
        return cls(saved_words(arrays, f"{prefix}.words", len(parts[0])), *parts)


def saved_words(arrays, prefix, n_words=None):
    """Return words of a model; raise unless there are so many, and all can be found.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of the model.
    prefix : str
        The prefix of the names of the words' arrays.
    n_words : int, default=None
        How many words there must be; None for any number.

    Returns
    -------
    words : Vocabulary
        The words.
    """
    words = Vocabulary.from_arrays(arrays, prefix)
    if words is None:
        raise ValueError(f"the arrays of {prefix} are missing")
    words.check(len(words) if n_words is None else n_words)
    return words


class WordClusters(WordTable, Mapping):
    """The cluster of each word of a list, in a few arrays.

    A cluster is a text. If it is a path in a tree of clusters, as in Brown clusters,
    its first letters are a larger cluster.

    Parameters
    ----------
    words : Vocabulary
        The words.
    numbers : ndarray of int32, shape (n_words,)
        The number of each word's cluster.
    paths : Vocabulary
        The clusters.

    See Also
    --------
    learn_clusters : Learns them from sequences.

    Examples
    --------
    >>> from skcw.features import WindowFeatures, WordClusters
    >>> colors = WordClusters.from_words({"red": "010", "green": "011", "big": "00"})
    >>> colors["red"], colors.of("Red"), colors.of("blue")
    ('010', '010', None)
    >>> window = WindowFeatures(["cluster(c, 2)"], clusters={"c": colors})
    >>> window.fit_transform([["red", "roof"]]).to_lists()
    [[['cluster(c,2)[0]=01'], []]]
    """

    def __init__(self, words: Any, numbers: ArrayLike, paths: Any) -> None:
        self.words = words
        self.numbers = np.asarray(numbers, dtype=np.int32)
        self.paths = paths
        if len(self.numbers) != len(words):
            raise ValueError(f"{len(words)} words have {len(self.numbers)} clusters")

    @classmethod
    def from_words(cls, clusters: Any) -> Self:
        """Return clusters from a dict.

        Parameters
        ----------
        clusters : mapping of str to str
            The cluster of each word.

        Returns
        -------
        clusters : WordClusters
            The same.
        """
        if isinstance(clusters, cls):
            return clusters
        if not isinstance(clusters, Mapping):
            raise TypeError(
                "clusters are a dict of words to texts, or WordClusters; "
                f"got {clusters!r}"
            )
        numbers = {}
        for word, path in clusters.items():
            if not isinstance(word, str) or not isinstance(path, str) or not path:
                raise TypeError(
                    f"the word {word!r} has the cluster {path!r}; both must be texts"
                )
            numbers.setdefault(path, len(numbers))
        codes = [numbers[path] for path in clusters.values()]
        return cls(
            Vocabulary.from_names(clusters),
            np.array(codes, dtype=np.int32),
            Vocabulary.from_names(numbers),
        )

    @classmethod
    def read(cls, path: str | PathLike[str], encoding: str = "utf-8") -> Self:
        r"""Read the clusters of words from a file.

        Parameters
        ----------
        path : str or path-like
            A file with a word on each line. Brown clusters are written as ``path word
            count``, separated by TABs; clusters of word vectors as ``word cluster``,
            separated by a TAB or a blank.
        encoding : str, default="utf-8"
            The encoding of the file.

        Returns
        -------
        clusters : WordClusters
            The cluster of each word.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from skcw.features import WordClusters
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder) / "paths"
        ...     _ = file.write_text("0110\tred\t12\n0111\tgreen\t7\n")
        ...     WordClusters.read(file)["green"]
        '0111'
        """
        clusters = {}
        for number, line in numbered_lines(path, encoding):
            fields = line.split("\t")
            if fields == [""]:
                continue
            if len(fields) == 1:
                fields = fields[0].rsplit(" ", 1)
            if len(fields) not in (2, 3) or not all(fields[:2]):
                raise ValueError(
                    f"{name_of(path)}, line {number}: {line.strip()[:60]!r} is neither "
                    "a path, a word and a count nor a word and its cluster"
                )
            word, cluster = fields if len(fields) == 2 else (fields[1], fields[0])
            clusters[word] = cluster
        return cls.from_words(clusters)

    def of(self, word: str) -> Any:
        """Return the cluster of a word, else that of its lower-cased form.

        Parameters
        ----------
        word : str
            The word.

        Returns
        -------
        path : str or None
            Its cluster; None if neither form has one.
        """
        path = self._path(word)
        return self._path(word.lower()) if path is None else path

    def _path(self, word):
        at = self._table.find_name(word.encode("utf-8", "surrogatepass"))
        return self.paths[int(self.numbers[at])] if at >= 0 else None

    # Compiled tables do not pickle, so this one is made when it is needed.
    @cached_property
    def _table(self):
        return self.words.table()

    def __getstate__(self):
        return {name: v for name, v in vars(self).items() if name != "_table"}

    def __getitem__(self, word):
        path = self._path(word) if isinstance(word, str) else None
        if path is None:
            raise KeyError(word)
        return path

    def __iter__(self):
        return iter(self.words.names())

    def __repr__(self):
        return f"WordClusters({len(self)} words, {len(self.paths)} clusters)"

    def _own_arrays(self, prefix):
        paths = self.paths.arrays(f"{prefix}.paths")
        return {f"{prefix}.numbers": self.numbers, **paths}

    @classmethod
    def _own_parts(cls, arrays, prefix):
        numbers = saved_array(arrays, f"{prefix}.numbers", ("i4",), (None,))
        paths = saved_words(arrays, f"{prefix}.paths")
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(paths):
            raise ValueError(f"the arrays of {prefix} do not fit together")
        return numbers, paths


def check_clusters(clusters):
    """Return clusters by name; raise unless each is one text per word.

    Parameters
    ----------
    clusters : dict of str to mapping, or None
        The clusters of words, by name.

    Returns
    -------
    clusters : dict of str to WordClusters
        The same; empty for None.
    """
    if clusters is None:
        return {}
    if not isinstance(clusters, Mapping):
        raise TypeError(
            f"clusters must be a dict such as {{'brown': {{'red': '0110'}}}}, "
            f"got {clusters!r}"
        )
    found = {}
    for name, words in clusters.items():
        try:
            found[name] = WordClusters.from_words(words)
        except TypeError as error:
            raise TypeError(f"clusters, {name!r}: {error}") from None
    return found


class WordVectors(WordTable):
    """A vector for each word of a list.

    Parameters
    ----------
    words : Vocabulary or iterable of str
        The words, each once.
    vectors : array-like of shape (n_words, n_dimensions)
        Their vectors, kept in single precision.

    See Also
    --------
    learn_vectors : Learns them from sequences.
    VectorFeatures : Makes features of them.

    Examples
    --------
    >>> from skcw.features import WordVectors
    >>> vectors = WordVectors(["red", "big"], [[1.0, 0.5], [0.0, 2.0]])
    >>> vectors.of(["Red", "roof"])
    array([[1. , 0.5],
           [0. , 0. ]], dtype=float32)
    """

    def __init__(self, words: Any, vectors: ArrayLike) -> None:
        if not isinstance(words, Vocabulary):
            given = list(words)
            words = Vocabulary.from_names(given)
            if len(words) < len(given):
                raise ValueError("words has a word twice")
        self.words = words
        self.vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if self.vectors.ndim != 2 or len(self.vectors) != len(words):
            raise ValueError(
                f"vectors has the shape {self.vectors.shape}; it must have a row for "
                f"each of the {len(words)} words"
            )
        if not np.isfinite(self.vectors).all():
            row = int(np.flatnonzero(~np.isfinite(self.vectors).all(axis=1))[0])
            raise ValueError(f"the vector of {words[row]!r} is not finite")

    @classmethod
    def read(cls, path: str | PathLike[str], encoding: str = "utf-8") -> Self:
        r"""Read word vectors as word2vec, GloVe and fastText write them to text files.

        Parameters
        ----------
        path : str or path-like
            On each line a word and its numbers, separated by blanks. A first line with
            the number of words and of dimensions is skipped; of a word that comes
            twice, the first vector counts.
        encoding : str, default="utf-8"
            The encoding of the file.

        Returns
        -------
        vectors : WordVectors
            The table.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from skcw.features import WordVectors
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder) / "vectors.txt"
        ...     _ = file.write_text("2 3\nred 1 0 0.5\nbig 0 2 0\n")
        ...     WordVectors.read(file)
        WordVectors(2 words, 3 dimensions)
        """
        rows, n_dimensions = {}, None
        for number, line in numbered_lines(path, encoding):
            fields = line.rstrip(" ").split(" ")
            if number == 1 and len(fields) == 2 and fields[0].isdigit():
                continue
            if n_dimensions is None:
                n_dimensions = len(fields) - 1
            # Some words of such files hold blanks.
            word = " ".join(fields[:-n_dimensions]) if n_dimensions else ""
            try:
                vector = np.array(fields[-n_dimensions:], dtype=np.float32)
            except ValueError:
                word = ""
            if not word:
                raise ValueError(
                    f"{name_of(path)}, line {number}: {line.strip()[:60]!r} is not a "
                    f"word and {n_dimensions or 'some'} numbers"
                )
            rows.setdefault(word, vector)
        if not rows:
            raise ValueError(f"{name_of(path)} holds no vectors")
        return cls(list(rows), np.stack(list(rows.values())))

    def of(self, words: list[str]) -> np.ndarray:
        """Return the vectors of words, else those of their lower-cased forms.

        Parameters
        ----------
        words : list of str
            The words.

        Returns
        -------
        vectors : ndarray of float32, shape (n_words, n_dimensions)
            Zeros for words that have none.
        """
        distinct = {}
        codes = [distinct.setdefault(word, len(distinct)) for word in words]
        rows = self.words.find_all(distinct)
        lower = self.words.find_all(word.lower() for word in distinct)
        rows = np.where(rows < 0, lower, rows)
        found = np.zeros((len(distinct), self.vectors.shape[1]), dtype=np.float32)
        found[rows >= 0] = self.vectors[rows[rows >= 0]]
        return found[np.array(codes, dtype=np.intp)]

    def select(self, words: Iterable[Any]) -> Self:
        """Return the table without other words, to save less with a model.

        Parameters
        ----------
        words : iterable of str
            The words to keep; those without a vector are ignored.

        Returns
        -------
        vectors : WordVectors
            A smaller table.
        """
        rows = np.unique(self.words.find_all(dict.fromkeys(words)))
        keep = np.zeros(len(self), dtype=bool)
        keep[rows[rows >= 0]] = True
        return WordVectors(self.words.select(keep), self.vectors[keep])

    def __repr__(self):
        return f"WordVectors({len(self)} words, {self.vectors.shape[1]} dimensions)"

    def _own_arrays(self, prefix):
        return {f"{prefix}.vectors": self.vectors}

    @classmethod
    def _own_parts(cls, arrays, prefix):
        return (saved_array(arrays, f"{prefix}.vectors", ("f4",), (None, None)),)


# Some words of column files hold no-break spaces, which separate nothing.
BLANKS = re.compile(r"[ \t\r\n]+")

FIRST, FURTHER, OUTSIDE = "B", "I", ""


def words_of(entry):
    """Return the words of an entry of a lexicon.

    Parameters
    ----------
    entry : str
        Words with blanks between them.

    Returns
    -------
    words : list of str
        The words; none for an entry that is blank.

    Examples
    --------
    >>> from skcw.features.resources import words_of
    >>> words_of("Rio de  Janeiro")
    ['Rio', 'de', 'Janeiro']
    """
    return [word for word in BLANKS.split(entry) if word]


def is_of_several_words(lexicon):
    """Return whether some entry of a lexicon has more than one word."""
    return any(BLANKS.search(entry) for entry in lexicon)


class Gazetteer:
    """Finds the entries of a list in sequences, from left to right, the longest first.

    Parameters
    ----------
    entries : collection of str
        Names, each a word or several with blanks between them.

    Examples
    --------
    >>> from skcw.features.resources import Gazetteer
    >>> towns = Gazetteer(["New York", "New York City", "York"])
    >>> towns.marks(["from", "New", "York", "City", "to", "York"])
    ['', 'B', 'I', 'I', '', 'B']
    """

    def __init__(self, entries):
        # The entries by their first word, the longest first.
        self._begun = {}
        for entry in entries:
            first, *others = words_of(entry)
            self._begun.setdefault(first, set()).add(tuple(others))
        for first, rests in self._begun.items():
            self._begun[first] = sorted(rests, key=len, reverse=True)

    def marks(self, words):
        """Return where entries stand in a sequence.

        Parameters
        ----------
        words : list of str
            The sequence.

        Returns
        -------
        marks : list of str
            ``"B"`` at the first word of an entry, ``"I"`` at its other words, and an
            empty text elsewhere.
        """
        marks, at = [OUTSIDE] * len(words), 0
        while at < len(words):
            length = self._longest(words, at)
            if length:
                marks[at] = FIRST
                marks[at + 1 : at + length] = [FURTHER] * (length - 1)
            at += max(length, 1)
        return marks

    def _longest(self, words, at):
        """Return the length of the longest entry that begins here; 0 if none does."""
        for rest in self._begun.get(words[at], ()):
            if tuple(words[at + 1 : at + 1 + len(rest)]) == rest:
                return 1 + len(rest)
        return 0
