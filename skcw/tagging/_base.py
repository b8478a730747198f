"""What every sequence tagger offers, whatever it learns by."""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from skcw._persistence import read_model, write_model
from skcw._version import __version__
from skcw.data.batch import SequenceBatch
from skcw.data.encoder import check_sequences
from skcw.data.ragged import object_rows
from skcw.exceptions import ModelFileError
from skcw.metrics import extract_spans, token_accuracy_score

# Class name -> class, for `load`; filled by __init_subclass__.
TAGGERS = {}


class Entity(NamedTuple):
    """A labelled stretch of words; ``end`` is exclusive, as in a Python slice.

    Parameters
    ----------
    label : str
        Its label, without prefix.
    start : int
        The position of its first word.
    end : int
        One past the position of its last word.
    confidence : float
        How sure the tagger is of it.

    Examples
    --------
    >>> from skcw.tagging import Entity
    >>> Entity("PER", 0, 2, 0.9)
    Entity(label='PER', start=0, end=2, confidence=0.9)
    """

    label: str
    start: int
    end: int
    confidence: float


def only_sequence(x):
    """Return one sequence in a form that ``predict`` takes."""
    if not isinstance(x, SequenceBatch):
        return [x]
    if len(x) != 1:
        raise ValueError(f"{x!r} is not one sequence")
    return x


class BaseSequenceTagger(BaseEstimator):
    """Base of all taggers.

    A subclass gives ``predict``, ``predict_confidence``, ``predict_marginals`` and
    the hooks ``_state`` and ``_restore`` for saving. It is no ``ClassifierMixin``:
    scikit-learn would take ragged label sequences for multi-label targets, and
    integer ``cv`` would fail.

    Examples
    --------
    >>> from skcw.data.ragged import object_rows
    >>> from skcw.tagging import BaseSequenceTagger
    >>> class Outside(BaseSequenceTagger):
    ...     def predict(self, X):
    ...         return object_rows(["O"] * len(x) for x in X)
    >>> Outside().score([["Ann", "left"]], [["PER", "O"]])
    0.5
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        TAGGERS[cls.__name__] = cls

    def predict_single(self, x):
        """Return the labels of one sequence.

        Parameters
        ----------
        x : sequence of tokens
            One sequence, or a ``SequenceBatch`` of one.

        Returns
        -------
        labels : list of str
            A label per token.
        """
        return self.predict(only_sequence(x))[0]

    def predict_entities(self, X):
        """Return the entities that the predicted labels mark.

        Parameters
        ----------
        X : sequences
            The sequences.

        Returns
        -------
        entities : ndarray of shape (n_sequences,), dtype object
            For each sequence a list of named tuples ``(label, start, end,
            confidence)``. An entity is as sure as its least sure word.
        """
        X = self._reusable(X)
        pairs = zip(self.predict(X), self.predict_confidence(X), strict=True)
        return object_rows(
            [
                Entity(*span, float(np.min(confidence[span.start : span.end])))
                for span in extract_spans(labels)
            ]
            for labels, confidence in pairs
        )

    def _reusable(self, X):
        """Return X in a form that can be read twice, iterators and all."""
        if isinstance(X, SequenceBatch):
            return X
        return [x if hasattr(x, "__len__") else list(x) for x in check_sequences(X)]

    def score(self, X, y, sample_weight=None):
        """Return the share of words whose label is right.

        Parameters
        ----------
        X : sequences
            The sequences.
        y : sequences of str
            Their labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            Each word counts as much as its sequence weighs.

        Returns
        -------
        accuracy : float
            The token accuracy.
        """
        return token_accuracy_score(y, self.predict(X), sample_weight=sample_weight)

    def save(self, path):
        """Write the fitted tagger to a file, free of pickle.

        A ``random_state`` that is not an integer is saved as None.

        Parameters
        ----------
        path : str or path-like
            The file; an older one is replaced only when the new one is complete.
        """
        write_model(path, *self._model())

    def _model(self):
        """Return the header and the arrays of a saved tagger."""
        state, arrays = self._state()
        header = {
            "version": __version__,
            "class": type(self).__name__,
            "params": self._plain_params(),
            "state": state,
        }
        return header, arrays

    def _plain_params(self):
        params = self.get_params(deep=False)
        if isinstance(params.get("random_state"), np.random.RandomState):
            params["random_state"] = None
        if callable(params.get("constraints")):
            raise ValueError(
                "constraints is a function, which cannot be saved without pickle; "
                "give it as (label names, matrix)"
            )
        return params

    @classmethod
    def load(cls, path):
        """Return a tagger that `save` wrote.

        Parameters
        ----------
        path : str or path-like
            The file. Its arrays are mapped into memory: keep it while the tagger is
            in use.

        Returns
        -------
        tagger : BaseSequenceTagger
            The fitted tagger, of the class that was saved.
        """
        header, arrays = read_model(path)
        if "features" in header:
            raise ModelFileError(
                f"{path} holds a tagger together with its features; open it with "
                "skcw.load"
            )
        return cls._from_model(path, header, arrays)

    @classmethod
    def _from_model(cls, path, header, arrays):
        """Return the tagger that the header and the arrays of a file describe."""
        found = TAGGERS.get(str(header.get("class")))
        if found is None:
            raise ModelFileError(f"{path} holds an unknown {header.get('class')!r}")
        if not issubclass(found, cls):
            raise ModelFileError(
                f"{path} holds a {found.__name__}, not a {cls.__name__}"
            )
        try:
            tagger = found(**header["params"])
            tagger._restore(header["state"], arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path} is damaged: {error!r}") from error
        return tagger
