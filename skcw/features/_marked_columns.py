"""Columns that are added to tokens: where entries of several words were found."""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from skcw.data._vocabulary import Vocabulary
from skcw.features._columns import is_sequence
from skcw.features._feature_template import LOOKING
from skcw.features._gazetteer import (
    FIRST,
    FURTHER,
    OUTSIDE,
    Gazetteer,
    is_of_several_words,
)
from skcw.features._window import NoTextError

MARKS = (OUTSIDE, FIRST, FURTHER)


class MarkedColumns:
    """The columns that gazetteers add to those of tokens.

    A view of a text sees a token at a time. An entry of several words is found in a
    sentence, so what was found becomes a further column of its tokens.

    Parameters
    ----------
    templates : list of Template
        What makes the features.
    lexicons : dict of str to collection of str
        Words by the name of their list.
    n_columns : int
        The number of columns that tokens have.

    Attributes
    ----------
    numbers : dict of (int, str) to int
        The number of the added column, by the column that is searched and the name of
        the lexicon.
    searched : list of int
        The columns that are searched, one for each added column.

    Examples
    --------
    >>> from skcw.features._lines import templates_of
    >>> from skcw.features._marked_columns import MarkedColumns
    >>> templates = templates_of(["span(towns)"], ["word"], ["towns"])
    >>> marked = MarkedColumns(templates, {"towns": ["New York"]}, 1)
    >>> marked.added_to(["in", "New", "York"], ["word"])
    [('in', ''), ('New', 'B'), ('York', 'I')]
    """

    def __init__(self, templates, lexicons, n_columns):
        self.n_columns = n_columns
        self.numbers = {}
        self._gazetteers = []
        for view in (view for template in templates for view, _ in template.atoms):
            key = view.column, view.detail
            if view.kind not in LOOKING or key in self.numbers:
                continue
            if view.kind == "span" or is_of_several_words(lexicons[view.detail]):
                self.numbers[key] = n_columns + len(self.numbers)
                self._gazetteers.append(Gazetteer(lexicons[view.detail]))
        self.searched = [column for column, _ in self.numbers]

    def added_to(self, sequence, columns):
        """Return the tokens of a sentence with the columns added, as tuples.

        Parameters
        ----------
        sequence : iterable of tokens
            Words, tuples, lists or dicts.
        columns : list of str
            The names of the columns.

        Returns
        -------
        tokens : iterable of tokens
            The sentence itself if there is nothing to add.
        """
        if not self.searched:
            return sequence
        rows = [self._row(token, columns) for token in sequence]
        added = []
        for column, gazetteer in zip(self.searched, self._gazetteers, strict=True):
            words = [row[column] for row in rows]
            for token, word in enumerate(words):
                if not isinstance(word, str):
                    raise NoTextError(column, token, word)
            added.append(gazetteer.marks(words))
        marks = zip(*added, strict=True)
        return [(*row, *more) for row, more in zip(rows, marks, strict=True)]

    def _row(self, token, columns):
        """Return a token as a list of as many things as there are columns."""
        if isinstance(token, Mapping):
            return [token.get(name) for name in columns]
        row = list(token)[: self.n_columns] if is_sequence(token) else [token]
        return row + [None] * (self.n_columns - len(row))

    def codes(self, X):
        """Return the added columns of sentences as numbers.

        Parameters
        ----------
        X : TokenColumns
            The sentences.

        Returns
        -------
        codes : ndarray of int32, shape (n_added, n_tokens)
            The number of each token's text in each added column.
        values : Vocabulary
            These texts.
        """
        number = {mark: code for code, mark in enumerate(MARKS)}
        codes = np.empty((len(self.searched), X.n_tokens), dtype=np.int32)
        for row, column, gazetteer in zip(
            codes, self.searched, self._gazetteers, strict=True
        ):
            marks = chain.from_iterable(map(gazetteer.marks, X.column(column)))
            row[:] = [number[mark] for mark in marks]
        return codes, Vocabulary.from_names(MARKS)
