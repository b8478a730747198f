"""The encoder of sequences as a transformer of scikit-learn."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skcw._util.compat import Interval, _fit_context
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw.data.batch import SequenceBatch
from skcw.data.encoder import check_batch, drop_rare, encode_any


# A batch is not a table: scikit-learn must not wrap it in a data frame.
class SequenceEncoder(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Turn sequences of tokens into a :class:`SequenceBatch`.

    A token is a list of feature strings, a dict as sklearn-crfsuite takes it (a
    string value joins its name as ``name:value``, a 1-D array of numbers makes the
    features ``name:0``, ``name:1``...), or one plain string. A sequence may also be a
    2-D array or sparse matrix of numbers, one row per token.

    Encode once and pass the batch to several fits, or put the encoder first in a
    pipeline. Features first seen in ``transform`` are left out.

    Parameters
    ----------
    min_count : int, default=1
        Features that occur fewer times in ``fit`` are left out.

    Attributes
    ----------
    vocabulary_ : Vocabulary or None
        The feature names; None for numeric columns.
    n_features_out_ : int
        The number of features.

    See Also
    --------
    SequenceBatch : The result.

    Examples
    --------
    >>> from skcw.data import SequenceEncoder
    >>> encoder = SequenceEncoder()
    >>> encoder.fit_transform([[["w=a", "cap"], ["w=b"]], [{"w": "a"}]])
    SequenceBatch(2 sequences, 3 tokens, 4 features)
    >>> encoder.get_feature_names_out()
    array(['w=a', 'cap', 'w=b', 'w:a'], dtype=object)
    """

    _parameter_constraints: dict = {
        "min_count": [Interval(Integral, 1, None, closed="left")]
    }

    def __init__(self, min_count: int = 1) -> None:
        self.min_count = min_count

    @changes_at_once
    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Learn the features.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        y : None
            Ignored.

        Returns
        -------
        self : SequenceEncoder
            The fitted encoder.
        """
        self.fit_transform(X)
        return self

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Iterable[Any], y: Any = None) -> Any:
        """Learn the features and return the encoded sequences.

        Parameters
        ----------
        X : iterable of sequences
            The sequences; a ``SequenceBatch`` keeps its features.
        y : None
            Ignored.

        Returns
        -------
        batch : SequenceBatch
            The encoded sequences.
        """
        batch = X if isinstance(X, SequenceBatch) else encode_any(X)
        batch = drop_rare(batch, self.min_count)
        self.vocabulary_ = batch.vocabulary
        self.n_features_out_ = batch.n_features
        return batch

    @reads_at_once
    def transform(self, X: Iterable[Any]) -> Any:
        """Encode sequences; features not known are left out.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        batch : SequenceBatch
            The encoded sequences.
        """
        check_is_fitted(self)
        if isinstance(X, SequenceBatch):
            return check_batch(X, self.vocabulary_, self.n_features_out_)
        columns = self.n_features_out_ if self.vocabulary_ is None else None
        return encode_any(X, self.vocabulary_, grow=False, n_columns=columns)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of object
            One name per feature.
        """
        check_is_fitted(self)
        if self.vocabulary_ is None:
            return np.array([f"x{i}" for i in range(self.n_features_out_)], object)
        return np.array(self.vocabulary_.names(), dtype=object)
