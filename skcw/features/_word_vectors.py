"""A table of word vectors, and its text files."""

import numpy as np

from skcw.data._saved import saved_array
from skcw.data._text_lines import name_of, numbered_lines
from skcw.data._vocabulary import Vocabulary
from skcw.features._word_table import WordTable


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
    read_vectors : Reads them from a file.
    learn_vectors : Learns them from sentences.
    VectorFeatures : Makes features of them.

    Examples
    --------
    >>> from skcw.features import WordVectors
    >>> vectors = WordVectors(["red", "big"], [[1.0, 0.5], [0.0, 2.0]])
    >>> vectors.of(["Red", "roof"])
    array([[1. , 0.5],
           [0. , 0. ]], dtype=float32)
    """

    def __init__(self, words, vectors):
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

    def of(self, words):
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

    def select(self, words):
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


def read_vectors(path, encoding="utf-8"):
    r"""Read word vectors from a text file, as word2vec, GloVe and fastText write them.

    Parameters
    ----------
    path : str or path-like
        On each line a word and its numbers, separated by blanks. A first line with the
        number of words and of dimensions is skipped; of a word that comes twice, the
        first vector counts.
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
    >>> from skcw.features import read_vectors
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "vectors.txt"
    ...     _ = file.write_text("2 3\nred 1 0 0.5\nbig 0 2 0\n")
    ...     read_vectors(file)
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
                f"{name_of(path)}, line {number}: {line.strip()[:60]!r} is not a word "
                f"and {n_dimensions or 'some'} numbers"
            )
        rows.setdefault(word, vector)
    if not rows:
        raise ValueError(f"{name_of(path)} holds no vectors")
    return WordVectors(list(rows), np.stack(list(rows.values())))
