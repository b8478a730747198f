"""The features of a token and its neighbors as a transformer of scikit-learn."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skcw._util.compat import Interval, _fit_context
from skcw._util.limits import MOST_FEATURES
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw.data.encoder import drop_rare
from skcw.data.vocabulary import Vocabulary
from skcw.features.extractor import (
    FeatureExtractor,
    check_names,
    look_ahead,
    names_of,
    not_encoded,
    opened_params,
    saved_features,
)
from skcw.features.joining import opened_extractor
from skcw.features.language import functions_help
from skcw.features.lines import check_lexicons, refuse_hashed_edges, templates_of
from skcw.features.resources import check_clusters


class ExtractedFeatures(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """A transformer of sequences by an extractor, which knows features by their names.

    A subclass has `fit_transform`, which sets ``vocabulary_`` and ``n_features_out_``,
    and ``extractor_``.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the features.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sequences: lists of tuples, dicts or plain words.
        y : None
            Ignored.

        Returns
        -------
        self : transformer
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    @reads_at_once
    def transform(self, X: Any) -> Any:
        """Return the features of sequences; those not known are left out.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sequences, with the columns they had in ``fit``.

        Returns
        -------
        batch : SequenceBatch
            The features of every token.
        """
        check_is_fitted(self)
        return self.extractor_.extract(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of object
            One name per feature; x0, x1... if they are hashed.
        """
        check_is_fitted(self)
        if self.vocabulary_ is None:
            return np.array([f"x{i}" for i in range(self.n_features_out_)], object)
        return np.array(self.vocabulary_.names(), dtype=object)

    def _keep_names(self, batch):
        self.vocabulary_, self.n_features_out_ = batch.vocabulary, batch.n_features


class WindowFeatures(ExtractedFeatures, auto_wrap_output_keys=None):
    """Turn columns of tokens into features, in compiled code.

    Features are given as lines of text. ``"word[-1..1]"`` is the word before, the word
    itself and the next one, ``"shape[-1] & shape[0]"`` two shapes together. A line
    joins by ``&``

    - columns at offsets: ``word``, ``pos[-2..2]``, ``x2[-1,1]``. They are called
      ``word``, ``pos``, ``x2``, ``x3``... unless `columns` or the data name them; if
      none is called so, ``word`` is the first one;
    - functions of ``word`` or of another column, at offsets likewise: ``lower[-1]``,
      ``lower(x2)``, ``prefix(x2, 3)``. Flags hold or do not, and have no value.

    A range stands for all its numbers, and a line for all combinations. The functions:

    FUNCTIONS

    Regular expressions that can take very long, such as ``(a+)+``, are refused, and
    very long words match none. Of several entries of a lexicon the one that begins
    first counts, then the longest.

    Lines of the template files of CRF++ and Wapiti (``"U01:%x[-1,0]/%x[0,0]"``) may
    stand in the same list, see :func:`read_template`, and templates as CRFsuite's
    scripts have them: ``(("word", -1), ("word", 0))``. A line such as
    ``"B01:%x[0,0]"`` makes features of the step from the label before to that of the
    token. CW, AROW, PA and the perceptron learn a weight of each for every pair of
    labels; other taggers refuse them. Their names begin with ``label[-1]&``, and so
    may those of features that you make yourself.

    Texts are read by characters, in any script. Beyond the ends of a sequence, texts
    and shapes read ``_B-1``, ``_B-2``... and ``_B+1``..., as in CRF++; affixes, n-grams
    of characters and flags are absent there, as are affixes longer than the word.

    Parameters
    ----------
    features : {"chunking", "ner", "pos"} or list, default="ner"
        A ready set, or lines; ready sets may stand among them: ``["ner",
        "cluster(brown)"]``. Lines of a ready set that look at a column which the tokens
        lack are left out.
    columns : list of str, default=None
        The names of the columns of tuples, from the first on; for dicts, the keys.
    lexicons : dict of str to list of str, default=None
        Words by the name of their list, compared as they are written. An entry may have
        several words, with blanks between them.
    clusters : dict of str to WordClusters or dict, default=None
        The cluster of each word, by the name of the clusters, see
        :meth:`WordClusters.read`. Words that have none are looked up lower-cased.
    min_count : int, default=1
        Features that occur fewer times in ``fit`` are left out.
    n_features : int, default=None
        Hash the features to this many numbers instead of keeping their names. Memory is
        then fixed, some features share a number, and names are lost.

    Attributes
    ----------
    vocabulary_ : Vocabulary or None
        The names of the features; None if they are hashed.
    n_features_out_ : int
        The number of features.
    columns_ : list of str
        The names of the columns.
    templates_ : list of Template
        The templates of the lines.
    extractor_ : FeatureExtractor
        Makes the features, without scikit-learn.

    See Also
    --------
    read_template : Lines of a template file.
    skcw.data.SequenceEncoder : Encodes features that were made in Python.

    Examples
    --------
    >>> from skcw.features import WindowFeatures
    >>> sequences = [[("The", "DT"), ("cat", "NN")], [("Sit", "VB")]]
    >>> window = WindowFeatures(["word[-1..0]", "suffix(2) & pos"])
    >>> window.fit_transform(sequences)
    SequenceBatch(2 sequences, 3 tokens, 8 features)
    >>> window.get_feature_names_out()[:3]
    array(['word[-1]=_B-1', 'word[0]=The', 'suffix(2)[0]&pos[0]=he&DT'],
          dtype=object)
    """

    _parameter_constraints: dict = {
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "n_features": [None, Interval(Integral, 1, MOST_FEATURES, closed="both")],
    }

    def __init__(
        self,
        features: Any = "ner",
        *,
        columns: list[str] | None = None,
        lexicons: dict[Any, Any] | None = None,
        clusters: dict[Any, Any] | None = None,
        min_count: int = 1,
        n_features: int | None = None,
    ) -> None:
        self.features = features
        self.columns = columns
        self.lexicons = lexicons
        self.clusters = clusters
        self.min_count = min_count
        self.n_features = n_features

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the features and return those of the sequences.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            The sequences: lists of tuples, dicts or plain words.
        y : None
            Ignored.

        Returns
        -------
        batch : SequenceBatch
            The features of every token.
        """
        if self.n_features is not None and self.min_count > 1:
            raise ValueError(
                "min_count needs the names of features; hashing by n_features has none"
            )
        X, extractor = self._prepared(X)
        if self.n_features is not None:
            refuse_hashed_edges(extractor.templates)
        batch = drop_rare(extractor.learn(X), self.min_count)
        self.columns_, self.templates_ = extractor.columns, extractor.templates
        self._keep_names(batch)
        return batch

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn further features; those known keep their numbers.

        Parameters
        ----------
        X : TokenColumns, or iterable of sequences
            Further sequences. New features count if they occur ``min_count`` times
            in them.
        y : None
            Ignored.

        Returns
        -------
        self : WindowFeatures
            The transformer.
        """
        if not hasattr(self, "templates_"):
            return self.fit(X)
        if self.vocabulary_ is not None:
            batch = self.extractor_.learn(X)
            self._keep_names(drop_rare(batch, self.min_count, len(self.vocabulary_)))
        return self

    def _prepared(self, X):
        """Return X, and an extractor for its columns that knows no feature yet."""
        check_names(self.columns)
        X, first = look_ahead(not_encoded(X))
        columns = names_of(X, first, self.columns)
        check_lexicons(self.lexicons)
        clusters = check_clusters(self.clusters)
        templates = templates_of(self.features, columns, self.lexicons or (), clusters)
        return X, self._extractor(columns, templates, Vocabulary.empty())

    def _extractor(self, columns, templates, vocabulary):
        return FeatureExtractor(
            columns,
            templates,
            self.lexicons,
            vocabulary,
            self.n_features,
            named=self.columns is not None,
            clusters=check_clusters(self.clusters),
        )

    @property
    def extractor_(self):
        """The extractor of the features, without scikit-learn."""
        return self._extractor(self.columns_, self.templates_, self.vocabulary_)

    def to_saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return fitted features as plain values and named arrays."""
        check_is_fitted(self)
        state, arrays = saved_features(self.get_params(deep=False), self.columns_)
        if self.vocabulary_ is not None:
            arrays |= self.vocabulary_.arrays()
        return state, arrays

    @classmethod
    def from_saved(cls, state: dict[Any, Any], arrays: dict[Any, Any]) -> Any:
        """Return the features that `to_saved` described.

        Parameters
        ----------
        state : dict
            Their plain values.
        arrays : dict of str to ndarray
            Their arrays, perhaps among others.

        Returns
        -------
        features : transformer
            The fitted features.
        """
        extractor = opened_extractor(state, arrays)
        features = cls(**opened_params(state, arrays))
        features.columns_ = extractor.columns
        features.templates_ = extractor.templates
        features.vocabulary_ = extractor.vocabulary
        features.n_features_out_ = extractor.n_features or len(extractor.vocabulary)
        return features


if WindowFeatures.__doc__:  # Not where Python runs with -OO.
    WindowFeatures.__doc__ = WindowFeatures.__doc__.replace(
        "    FUNCTIONS\n", functions_help()
    )
