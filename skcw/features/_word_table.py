"""Words with something for each of them, and how such tables are saved."""

from skcw.data._vocabulary import Vocabulary


class WordTable:
    """A list of words and arrays that go with it, one entry per word.

    A subclass takes the words and its own parts, in that order, and says by
    ``_own_arrays`` and ``_own_parts`` how these are saved.

    Examples
    --------
    >>> from skcw.features import WordVectors
    >>> table = WordVectors(["red", "big"], [[1.0], [2.0]])
    >>> len(WordVectors.from_arrays(table.arrays("colours"), "colours"))
    2
    """

    def __len__(self):
        return len(self.words)

    def arrays(self, prefix):
        """Return the arrays by the names that they have in the file of a model.

        Parameters
        ----------
        prefix : str
            What the names begin with.

        Returns
        -------
        arrays : dict of str to ndarray
            The words and what goes with them.
        """
        return self.words.arrays(f"{prefix}.words") | self._own_arrays(prefix)

    @classmethod
    def from_arrays(cls, arrays, prefix):
        """Return the table from what `arrays` returned.

        Parameters
        ----------
        arrays : dict of str to ndarray
            The arrays of a model.
        prefix : str
            What the names begin with.

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
        What the names of the words' arrays begin with.
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
