"""Clusters of words: which of some thousand words behave alike."""

from collections.abc import Mapping

import numpy as np

from skcw.data._saved import saved_array
from skcw.data._text_lines import name_of, numbered_lines
from skcw.data._vocabulary import Vocabulary
from skcw.features._word_table import WordTable, saved_words


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
    read_clusters : Reads them from a file.
    learn_clusters : Learns them from sentences.

    Examples
    --------
    >>> from skcw.features import WindowFeatures, WordClusters
    >>> colours = WordClusters.from_words({"red": "010", "green": "011", "big": "00"})
    >>> colours["red"], colours.of("Red"), colours.of("blue")
    ('010', '010', None)
    >>> window = WindowFeatures(["cluster(c, 2)"], clusters={"c": colours})
    >>> window.fit_transform([["red", "roof"]]).to_lists()
    [[['cluster(c,2)[0]=01'], []]]
    """

    def __init__(self, words, numbers, paths):
        self.words = words
        self.numbers = np.asarray(numbers, dtype=np.int32)
        self.paths = paths
        if len(self.numbers) != len(words):
            raise ValueError(f"{len(words)} words have {len(self.numbers)} clusters")

    @classmethod
    def from_words(cls, clusters):
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
                "clusters are a dict of words to texts, or what read_clusters returns; "
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

    def of(self, word):
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
        for form in (word, word.lower()):
            at = self._at(form)
            if at >= 0:
                return self.paths[int(self.numbers[at])]
        return None

    def _at(self, word):
        return self._table.find_name(word.encode("utf-8", "surrogatepass"))

    @property
    def _table(self):
        # Compiled tables do not pickle, so this one is made when it is needed.
        if "_found" not in vars(self):
            self._found = self.words.table()
        return self._found

    def __getstate__(self):
        return {name: v for name, v in vars(self).items() if name != "_found"}

    def __getitem__(self, word):
        at = self._at(word) if isinstance(word, str) else -1
        if at < 0:
            raise KeyError(word)
        return self.paths[int(self.numbers[at])]

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


def read_clusters(path, encoding="utf-8"):
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
    >>> from skcw.features import read_clusters
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "paths"
    ...     _ = file.write_text("0110\tred\t12\n0111\tgreen\t7\n")
    ...     read_clusters(file)["green"]
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
                f"{name_of(path)}, line {number}: {line.strip()[:60]!r} is neither a "
                "path, a word and a count nor a word and its cluster"
            )
        word, cluster = fields if len(fields) == 2 else (fields[1], fields[0])
        clusters[word] = cluster
    return WordClusters.from_words(clusters)
