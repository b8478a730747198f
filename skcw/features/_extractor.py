"""Fitted features without scikit-learn: a plan, a vocabulary, compiled code."""

import warnings

import numpy as np

from skcw.data._batch import SequenceBatch
from skcw.data._checks import check_sequence
from skcw.data._saved import saved_kind, saved_number, saved_texts
from skcw.data._token_columns import TokenColumns
from skcw.data._vocabulary import Vocabulary
from skcw.features._columns import check_names, check_order, is_sequence, look_ahead
from skcw.features._feature_template import compiled_plan
from skcw.features._lines import check_lexicons, templates_of
from skcw.features._window import NoTextError, WindowExtractor


class FeatureExtractor:
    """Turns sentences into batches of features by a plan that does not change.

    :class:`WindowFeatures` makes and fits it; a saved model is opened with it alone.

    Parameters
    ----------
    columns : list of str
        The names of the columns.
    templates : list of Template
        What makes the features.
    lexicons : dict of str to list of str or None
        Words by the name of their list.
    vocabulary : Vocabulary or None
        The names of the features that are known; None if they are hashed.
    n_features : int, default=None
        How many numbers features are hashed to.
    named : bool, default=False
        Whether the user has named the columns. If not, those of column files must
        stand in the order of `columns`.

    Examples
    --------
    >>> from skcw.data import Vocabulary
    >>> from skcw.features._extractor import FeatureExtractor
    >>> from skcw.features._lines import templates_of
    >>> names = Vocabulary.from_names(["word[0]=cat"])
    >>> templates = templates_of(["word"], ["word"])
    >>> extractor = FeatureExtractor(["word"], templates, None, names)
    >>> extractor.extract([["the", "cat"]]).to_lists()
    [[[], ['word[0]=cat']]]
    """

    def __init__(
        self, columns, templates, lexicons, vocabulary, n_features=None, named=False
    ):
        self.columns = columns
        self.templates = templates
        self.vocabulary = vocabulary
        self.n_features = n_features
        self.named = named
        self._views, self._rows = compiled_plan(templates, lexicons or {})

    def extract(self, X):
        """Return the features of sentences; those not known are left out.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sentences, with the columns of the plan.

        Returns
        -------
        batch : SequenceBatch
            The features of every token.
        """
        return self._extracted(self._sentences(X), grow=False)

    def learn(self, X):
        """Return the features of sentences; new ones follow those that are known.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sentences, with the columns of the plan.

        Returns
        -------
        batch : SequenceBatch
            The features of every token. Its vocabulary holds the new ones, that of
            the extractor stays as it is.
        """
        return self._extracted(self._sentences(X), grow=True)

    def _sentences(self, X):
        X, _ = look_ahead(not_encoded(X))
        if isinstance(X, TokenColumns) and not self.named:
            check_order(X, self.columns)
        return X

    def _extracted(self, X, grow):
        hashed = self.n_features is not None
        vocabulary = Vocabulary.empty() if hashed else self.vocabulary
        table = vocabulary.table(grow=grow and not hashed)
        known = len(table)
        compiled = WindowExtractor(
            self._views, self._rows, self.columns, table, grow, self.n_features
        )
        if isinstance(X, TokenColumns):
            self._add_columns(compiled, X)
        else:
            self._add_sequences(compiled, X)
        if hashed:
            return SequenceBatch.owning(*compiled.finish(), None, self.n_features)
        if len(table) > known:
            vocabulary = Vocabulary(*table.freeze())
        return SequenceBatch.owning(
            *compiled.finish(), None, len(vocabulary), vocabulary
        )

    def _add_columns(self, compiled, X):
        used = sorted({view[0] for view in self._views if view[0] is not None})
        if used and used[-1] >= X.n_columns:
            raise ValueError(
                f"X has {X.n_columns} columns; the features look at column {used[-1]} "
                f"({self.columns[used[-1]]})"
            )
        codes = np.ascontiguousarray(X.codes[used], dtype=np.int32)
        compiled.add_columns(X.offsets, codes, [X.values[c].table() for c in used])

    def _add_sequences(self, compiled, X):
        for s, sequence in enumerate(X):
            if not isinstance(sequence, (list, tuple)) and not is_sequence(sequence):
                raise TypeError(
                    f"sequence {s} is a {type(sequence).__name__}, not a list of tokens"
                )
            check_sequence(sequence, s)
            try:
                compiled.add_sequence(sequence)
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
            f"X is a {X!r}, which has features already; WindowFeatures takes sentences "
            "of tokens"
        )
    return X


def saved_features(params, columns, vocabulary):
    """Return fitted features as plain values and arrays, for a model in a file.

    Parameters
    ----------
    params : dict
        The parameters of :class:`WindowFeatures`.
    columns : list of str
        The names of the columns.
    vocabulary : Vocabulary or None
        The names of the features.

    Returns
    -------
    state : dict
        Values that JSON can hold.
    arrays : dict of str to ndarray
        The names of the features.
    """
    lexicons = params["lexicons"]
    if lexicons is not None:
        lexicons = {
            name: sorted(words) if isinstance(words, (set, frozenset)) else list(words)
            for name, words in lexicons.items()
        }
    state = {"params": {**params, "lexicons": lexicons}, "columns": columns}
    return state, {} if vocabulary is None else vocabulary.arrays()


def opened_extractor(state, arrays, n_features=None):
    """Return the extractor that `saved_features` described.

    Parameters
    ----------
    state : dict
        The plain values.
    arrays : dict of str to ndarray
        The names of the features, besides any other arrays.
    n_features : int, default=None
        How many features the model has that will read them.

    Returns
    -------
    extractor : FeatureExtractor
        The fitted features.
    """
    params = saved_kind(state["params"], "params", dict)
    columns = saved_texts(state["columns"], "columns")
    check_names(columns)
    check_names(params["columns"])
    check_lexicons(params["lexicons"])
    with warnings.catch_warnings():
        # Whoever fitted the features was warned.
        warnings.simplefilter("ignore")
        templates = templates_of(params["features"], columns, params["lexicons"] or ())
    vocabulary = None
    if params["n_features"] is None:
        vocabulary = Vocabulary.from_arrays(arrays)
        if vocabulary is None:
            raise ValueError("the names of the features are missing")
        vocabulary.check(len(vocabulary))
    else:
        saved_number(params["n_features"], "n_features", 1, 2**31 - 1, whole=True)
    found = params["n_features"] if vocabulary is None else len(vocabulary)
    if n_features not in (None, found):
        raise ValueError(f"there are {found} features, the model has {n_features}")
    return FeatureExtractor(
        columns,
        templates,
        params["lexicons"],
        vocabulary,
        params["n_features"],
        named=params["columns"] is not None,
    )
