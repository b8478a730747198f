"""The weights of a fitted tagger by the names of what they belong to."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw.data._edges import EDGE_MARK


class NamedWeights(Mapping):
    """Weights by name: a dict that is not made before something is asked of it.

    A large model has millions of them, and notebooks look at every attribute of an
    estimator that they merely show.

    Parameters
    ----------
    make : callable
        Returns the dict.
    of : str
        What the weights belong to, in words.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> tagger = CWSequenceTagger().fit([[["w=a"], ["w=b"]]], [["A", "B"]])
    >>> tagger.state_features_
    <weights by (feature, label); dict(...) of it shows them>
    >>> sorted(tagger.state_features_)[0]
    ('w=a', 'A')
    """

    def __init__(self, make, of):
        self._make = make
        self._of = of

    @cached_property
    def _weights(self):
        return self._make()

    def __getitem__(self, names):
        return self._weights[names]

    def __iter__(self):
        return iter(self._weights)

    def __len__(self):
        return len(self._weights)

    def __reduce__(self):
        return dict, (self._weights,)

    def __repr__(self):
        return f"<weights by {self._of}; dict(...) of it shows them>"


def feature_names(vocabulary, belief):
    """Return the names of the features of a belief; x0, x1... where they have none."""
    if vocabulary is None:
        return np.array([f"x{i}" for i in range(len(belief.row_of))], object)
    return np.array(vocabulary.names(), dtype=object)


def by_names(weights, rows, columns):
    """Return the weights that are not zero by the names of their rows and columns.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        The weights.
    rows, columns : ndarray of str
        The names.

    Returns
    -------
    weights : dict of (str, str) to float
        The weights.
    """
    cells = np.nonzero(weights)
    names = zip(rows[cells[0]].tolist(), columns[cells[1]].tolist(), strict=True)
    return dict(zip(names, weights[cells].tolist(), strict=True))


def edges_by_names(belief, vocabulary, labels):
    """Return the weights of features that look at the label before.

    Parameters
    ----------
    belief : Belief
        The weights.
    vocabulary : Vocabulary or None
        The names of the features.
    labels : ndarray of str
        The labels.

    Returns
    -------
    weights : dict of (str, str, str) to float
        Those that are not zero by the feature without its mark, the label before and
        the label.
    """
    if not len(belief.edges):
        return {}
    touched = np.argwhere(belief.edge_rows != belief.width)
    rows = belief.weights.reshape(-1, belief.width)[belief.edge_rows[tuple(touched.T)]]
    step, label = np.nonzero(rows[:, : belief.n_labels])
    edge, before = touched[step].T
    names = {
        number: vocabulary[int(belief.edges[number])].removeprefix(EDGE_MARK)
        for number in np.unique(edge).tolist()
    }
    keys = zip(
        [names[number] for number in edge.tolist()],
        labels[before].tolist(),
        labels[label].tolist(),
        strict=True,
    )
    return dict(zip(keys, rows[step, label].tolist(), strict=True))


def transition_coef(tagger):
    """Return the weights of transitions of a tagger that has some."""
    if not tagger._is_chain:
        raise AttributeError(f"{type(tagger).__name__} has no transition_coef_")
    return tagger.belief_.transition_weights()


def state_features(tagger):
    """Return the weights of features by (feature, label)."""
    check_is_fitted(tagger, "belief_")
    # What is there now, should the tagger learn on before it is asked.
    belief, vocabulary, labels = tagger.belief_, tagger.vocabulary_, tagger.classes_

    def make():
        names = feature_names(vocabulary, belief)
        return by_names(belief.feature_weights(), names, labels)

    return NamedWeights(make, "(feature, label)")


def edge_features(tagger):
    """Return the weights of transitions by (feature, label, next label)."""
    check_is_fitted(tagger, "belief_")
    now = tagger.belief_, tagger.vocabulary_, tagger.classes_
    return NamedWeights(lambda: edges_by_names(*now), "(feature, label, next label)")


def with_weights(belief):
    """Tell which features have a weight."""
    known = belief.row_of != belief.width
    known[belief.edges] = (belief.edge_rows != belief.width).any(axis=1)
    return known
