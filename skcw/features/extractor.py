"""Columns to encoded batches by compiled templates."""

import re
from collections.abc import Mapping, Set
from itertools import chain

import numpy as np

from skcw._util.checks import (
    PLAIN_TEXT,
    check_sequence,
    no_sequences,
    refuse_table,
)
from skcw._util.limits import MOST_FEATURES
from skcw.data.batch import SequenceBatch
from skcw.data.columns import TokenColumns, default_names
from skcw.data.saved import saved_kind, saved_number, saved_texts
from skcw.data.vocabulary import Vocabulary
from skcw.features.language import LOOKING, compiled_plan
from skcw.features.lines import check_lexicons, templates_of
from skcw.features.resources import (
    FIRST,
    FURTHER,
    OUTSIDE,
    Gazetteer,
    WordClusters,
    check_clusters,
    is_of_several_words,
)
from skcw.features.window import NoTextError, WindowExtractor

MARKS = (OUTSIDE, FIRST, FURTHER)
# What is known of texts is used again for so many tokens, in a few megabytes.
TOKENS_KNOWN = 1 << 13


def is_sequence(thing):
    """Return whether a thing can be a list of tokens, or of sequences."""
    return hasattr(thing, "__iter__") and not isinstance(thing, (str, bytes, Mapping))


def look_ahead(X):
    """Return X with nothing lost, and its first token (None if there is none)."""
    if isinstance(X, TokenColumns):
        return X, None
    refuse_table(X, "X")
    if not is_sequence(X) or isinstance(X, Set):
        raise TypeError(no_sequences(X))
    sequences, head = _checked(X), []
    for sequence in sequences:
        head.append(sequence)
        if len(sequence):
            return chain(head, sequences), next(iter(sequence))
    return head, None


def _checked(X):
    """Yield the sequences of X; raise at one that is not a list of tokens."""
    for s, sequence in enumerate(X):
        if not isinstance(sequence, (list, tuple)):
            refuse_table(sequence, f"sequence {s}")
            if not is_sequence(sequence):
                hint = PLAIN_TEXT * isinstance(sequence, str)
                raise TypeError(
                    f"sequence {s} is a {type(sequence).__name__}, not a list of "
                    f"tokens: X is a list of sequences, each a list of tokens{hint}"
                )
        check_sequence(sequence, s)
        yield sequence if hasattr(sequence, "__len__") else list(sequence)


def names_of(X, first, given):
    """Return the names of the columns of X, whose first token is `first`."""
    if isinstance(X, TokenColumns):
        found = X.names or default_names(X.n_columns)
    elif isinstance(first, Mapping):
        return list(given) if given else list(first)
    elif first is None:
        found = default_names(2)
    else:
        n_columns = 1 if isinstance(first, str) else _width(first)
        found = default_names(n_columns)
    if given is None:
        return list(found)
    if len(given) > len(found):
        raise ValueError(
            f"columns names {len(given)} columns ({', '.join(given)}), but the tokens "
            f"have {len(found)}"
        )
    return [*given, *list(found)[len(given) :]]


def _width(token):
    try:
        return len(token)
    except TypeError:
        raise TypeError(
            f"the first token is {token!r}; a token is a word, a tuple of columns or a "
            "dict"
        ) from None


def check_order(X, columns):
    """Raise if columns that have names stand in another order than they had in fit.

    Parameters
    ----------
    X : TokenColumns
        The sequences.
    columns : list of str
        The names of the columns in ``fit``.
    """
    for position, name in enumerate(columns):
        if X.names and name in X.names and X.names.index(name) != position:
            raise ValueError(
                f"the columns of X are {', '.join(X.names)}, those of fit were "
                f"{', '.join(columns)}; X.select([...]) puts them in order"
            )


def check_names(columns):
    """Raise unless names of columns can stand in a line of features."""
    if columns is None:
        return
    if isinstance(columns, str) or not all(
        isinstance(name, str) and re.fullmatch(r"[^\W\d]\w*", name) for name in columns
    ):
        raise ValueError(
            f"columns must be a list of names such as ['word', 'pos'], got {columns!r}"
        )
    if len(set(columns)) < len(list(columns)):
        raise ValueError(f"columns has a name twice: {list(columns)}")


class MarkedColumns:
    """The columns that gazetteers add to those of tokens.

    A view of a text sees a token at a time. An entry of several words is found in a
    sequence, so its matches become a further column of the tokens.

    Parameters
    ----------
    templates : list of Template
        The templates that make the features.
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
    >>> from skcw.features.lines import templates_of
    >>> from skcw.features.extractor import MarkedColumns
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
            if is_of_several_words(lexicons[view.detail]):
                self.numbers[key] = n_columns + len(self.numbers)
                self._gazetteers.append(Gazetteer(lexicons[view.detail]))
        self.searched = [column for column, _ in self.numbers]

    def added_to(self, sequence, columns):
        """Return the tokens of a sequence with the columns added, as tuples.

        Parameters
        ----------
        sequence : iterable of tokens
            Words, tuples, lists or dicts.
        columns : list of str
            The names of the columns.

        Returns
        -------
        tokens : iterable of tokens
            The sequence itself if there is nothing to add.
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
        """Return the added columns of sequences as numbers.

        Parameters
        ----------
        X : TokenColumns
            The sequences.

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


class FeatureExtractor:
    """Turns sequences into batches of features by a plan that does not change.

    :class:`WindowFeatures` makes and fits it; a saved model is opened with it alone.

    Parameters
    ----------
    columns : list of str
        The names of the columns.
    templates : list of Template
        The templates that make the features.
    lexicons : dict of str to list of str or None
        Words by the name of their list.
    vocabulary : Vocabulary or None
        The names of the features that are known; None if they are hashed.
    n_features : int, default=None
        How many numbers features are hashed to.
    named : bool, default=False
        Whether the user has named the columns. If not, those of column files must
        stand in the order of `columns`.
    clusters : dict of str to WordClusters, default=None
        Clusters of words by name.

    Examples
    --------
    >>> from skcw.data.vocabulary import Vocabulary
    >>> from skcw.features.extractor import FeatureExtractor
    >>> from skcw.features.lines import templates_of
    >>> names = Vocabulary.from_names(["word[0]=cat"])
    >>> templates = templates_of(["word"], ["word"])
    >>> extractor = FeatureExtractor(["word"], templates, None, names)
    >>> extractor.extract([["the", "cat"]]).to_lists()
    [[[], ['word[0]=cat']]]
    """

    def __init__(
        self,
        columns,
        templates,
        lexicons,
        vocabulary,
        n_features=None,
        named=False,
        clusters=None,
    ):
        self.columns = columns
        self.templates = templates
        self.vocabulary = vocabulary
        self.n_features = n_features
        self.named = named
        self._marked = MarkedColumns(templates, lexicons or {}, len(columns))
        functions = {name: table.of for name, table in (clusters or {}).items()}
        self._views, self._rows = compiled_plan(
            templates, lexicons or {}, functions, self._marked.numbers
        )
        # Compiled extractors that nobody uses now: a thread takes one, or makes one.
        self._idle = []

    def __getstate__(self):
        return {**vars(self), "_idle": []}

    def extract(self, X, vocabulary=None):
        """Return the features of sequences; those not known are left out.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sequences, with the columns of the plan.
        vocabulary : Vocabulary, default=None
            The names of the features that are known, if not those of the extractor.

        Returns
        -------
        batch : SequenceBatch
            The features of every token.
        """
        return self._extracted(self._sequences(X), vocabulary, grow=False)

    def learn(self, X, vocabulary=None):
        """Return the features of sequences; new ones follow those that are known.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sequences, with the columns of the plan.
        vocabulary : Vocabulary, default=None
            The names of the features that are known, if not those of the extractor.

        Returns
        -------
        batch : SequenceBatch
            The features of every token. Its vocabulary holds the new ones, that of
            the extractor stays as it is.
        """
        return self._extracted(self._sequences(X), vocabulary, grow=True)

    def _sequences(self, X):
        X, _ = look_ahead(not_encoded(X))
        if isinstance(X, TokenColumns) and not self.named:
            check_order(X, self.columns)
        return X

    def _extracted(self, X, vocabulary, grow):
        if self.n_features is not None:
            # Nothing is looked up, so nothing can grow.
            vocabulary, grow = None, False
        elif vocabulary is None:
            vocabulary = self.vocabulary
        compiled = self._compiled(vocabulary, grow)
        if isinstance(X, TokenColumns):
            self._add_columns(compiled, X)
        else:
            self._add_sequences(compiled, X)
        rows = compiled.finish()
        if grow and len(compiled.table) > len(vocabulary):
            vocabulary = Vocabulary(*compiled.table.freeze())
        elif not grow and compiled.n_read < TOKENS_KNOWN:
            self._idle.append((vocabulary, compiled))
        n_features = self.n_features or len(vocabulary)
        return SequenceBatch._unchecked(*rows, None, n_features, vocabulary)

    def _compiled(self, vocabulary, grow):
        """Return an idle extractor of features that are known, or else a new one."""
        while self._idle and not grow:
            try:
                seen, compiled = self._idle.pop()
            except IndexError:
                break  # Another thread was faster.
            if seen is vocabulary:
                return compiled
        names = Vocabulary.empty() if vocabulary is None else vocabulary
        table = names.table(grow=grow)
        return WindowExtractor(
            self._views, self._rows, self.columns, table, grow, self.n_features
        )

    def _add_columns(self, compiled, X):
        n_columns = len(self.columns)
        used = {view[0] for view in self._views if view[0] is not None}
        own = sorted(column for column in used if column < n_columns)
        needed = max([*own, *self._marked.searched], default=-1)
        if needed >= X.n_columns:
            raise ValueError(
                f"X has {X.n_columns} columns; the features look at column {needed} "
                f"({self.columns[needed]})"
            )
        found, marks = self._marked.codes(X)
        codes = np.concatenate([X.codes[own], found], dtype=np.int32)
        tables = [X.values[c].table() for c in own] + [marks.table() for _ in found]
        compiled.add_columns(X.offsets, codes, tables)

    def _add_sequences(self, compiled, X):
        for s, sequence in enumerate(X):
            try:
                compiled.add_sequence(self._marked.added_to(sequence, self.columns))
            except NoTextError as error:
                found = "nothing" if error.found is None else repr(error.found)
                raise TypeError(
                    f"sequence {s}, token {error.token}: column {error.column} "
                    f"({self.columns[error.column]}) holds {found}; the features look "
                    "at it, and it must be a string"
                ) from None


def not_encoded(X):
    """Return X; raise if it is a batch, whose words are lost."""
    if isinstance(X, SequenceBatch):
        raise TypeError(
            f"X is a {X!r}, which has features already; WindowFeatures takes sequences "
            "of tokens"
        )
    return X


def saved_features(params, columns, prefix=""):
    """Return fitted features as plain values and arrays, for a model in a file.

    Parameters
    ----------
    params : dict
        The parameters of :class:`WindowFeatures`.
    columns : list of str
        The names of the columns.
    prefix : str, default=""
        The prefix of the names of the arrays.

    Returns
    -------
    state : dict
        Values that JSON can hold.
    arrays : dict of str to ndarray
        The clusters. The names of the features are not among them.
    """
    lexicons = params["lexicons"]
    if lexicons is not None:
        lexicons = {
            name: sorted(words) if isinstance(words, (set, frozenset)) else list(words)
            for name, words in lexicons.items()
        }
    clusters = check_clusters(params["clusters"])
    arrays = {}
    for name, table in clusters.items():
        arrays |= table.arrays(f"{prefix}clusters.{name}")
    plain = {**params, "lexicons": lexicons, "clusters": list(clusters)}
    return {"params": plain, "columns": columns}, arrays


def opened_params(state, arrays, prefix=""):
    """Return the parameters of the features that `saved_features` described.

    Parameters
    ----------
    state : dict
        The plain values.
    arrays : dict of str to ndarray
        The arrays of the model.
    prefix : str, default=""
        The prefix of the names of the arrays.

    Returns
    -------
    params : dict
        The parameters of :class:`WindowFeatures`.
    """
    params = saved_kind(state["params"], "params", dict)
    check_names(params["columns"])
    check_lexicons(params["lexicons"])
    if params["n_features"] is not None:
        saved_number(params["n_features"], "n_features", 1, MOST_FEATURES, whole=True)
    clusters = {
        name: WordClusters.from_arrays(arrays, f"{prefix}clusters.{name}")
        for name in saved_texts(params["clusters"], "clusters")
    }
    return {**params, "clusters": clusters or None}


def opened_window(state, arrays, vocabulary, prefix=""):
    """Return the extractor that `saved_features` described.

    Parameters
    ----------
    state : dict
        The plain values.
    arrays : dict of str to ndarray
        The arrays of the model.
    vocabulary : Vocabulary or None
        The names of the features; None if they are hashed.
    prefix : str, default=""
        The prefix of the names of the arrays.

    Returns
    -------
    extractor : FeatureExtractor
        The fitted features.
    """
    params = opened_params(state, arrays, prefix)
    columns, lexicons = saved_texts(state["columns"], "columns"), params["lexicons"]
    check_names(columns)
    clusters = params["clusters"] or {}
    templates = templates_of(params["features"], columns, lexicons or (), clusters)
    return FeatureExtractor(
        columns,
        templates,
        params["lexicons"],
        vocabulary,
        params["n_features"],
        named=params["columns"] is not None,
        clusters=clusters,
    )
