"""The learned weights, as attributes and pruned."""

from collections.abc import Mapping
from functools import cached_property
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw.data.edges import EDGE_MARK


class NamedWeights(Mapping):
    """Weights by name: a dict that is made on first use.

    A large model has millions of weights, and notebooks read every attribute of an
    estimator that they display.

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
    # The present state, should the tagger learn on before the names are read.
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


def pruned_attributes(tagger, share, drop_features):
    """Return what changes in a fitted tagger when it is pruned.

    Parameters
    ----------
    tagger : OnlineTagger
        The tagger.
    share : float
        The share of its weights to set back, from 0 to less than 1.
    drop_features : bool
        Whether to forget the names of features without weights.

    Returns
    -------
    attributes : dict
        The attributes by name.
    """
    check_is_fitted(tagger, "belief_")
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share < 1:
        raise ValueError(
            f"share is {share!r}; it must be a number from 0 (only what has no weight "
            "is removed) to less than 1"
        )
    belief = pruned(tagger.belief_, share)
    fits = getattr(tagger, "confidence_", {})
    found = {"confidence_": same_confidence(fits, tagger.belief_, belief)}
    if drop_features and tagger.vocabulary_ is not None:
        keep = with_weights(belief)
        belief = without_features(belief, keep)
        found["vocabulary_"] = tagger.vocabulary_.select(keep)
        # Sentences are remembered by the numbers of their features.
        found["training_hashes_"] = None
    return found | {"belief_": belief}


def pruned(belief, share):
    """Return a belief without the weights that are nearest to zero.

    Those of features are compared by their size in standard deviations, or by their
    size where there are no variances. Transitions and the row of unknown tokens stay.

    Parameters
    ----------
    belief : Belief
        A compact belief.
    share : float
        The share of the weights that an update has moved to be set back, from 0 to 1.
        Where some are equal, it may be fewer.

    Returns
    -------
    belief : Belief
        One with just the rows that still have a weight.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._model.gaussian import Belief
    >>> from skcw.tagging.weights import pruned
    >>> mean = np.zeros((11, 8))
    >>> mean[9:, :2] = [[1.0, -0.1], [0.2, 0.0]]
    >>> rows = np.array([9, 10], dtype=np.int32)
    >>> belief = Belief(2, rows, mean.ravel(), None, None, 0.0)
    >>> pruned(belief, 0.7).feature_weights()
    array([[1., 0.],
           [0., 0.]])
    """
    touched = _touched(belief)
    first = (belief.width + 1) * belief.width
    cells = first + np.flatnonzero(touched[first:])
    if belief.unknown_row is not None:
        cells = cells[cells // belief.width != belief.unknown_row]
    far = np.abs(belief.weights[cells])
    if belief.variance is not None:
        far /= np.sqrt(belief.variance[cells])
    n_least = int(share * len(cells))
    if 0 < n_least < len(cells):
        cells = cells[far < np.partition(far, n_least)[n_least]]
    elif not n_least:
        cells = cells[:0]
    touched[cells] = False
    return _with_rows(belief, cells, touched)


def _touched(belief):
    """Tell which cells are not at the prior."""
    touched = belief.mean != 0
    if belief.average is not None and belief.average is not belief.mean:
        touched |= belief.average != 0
    if belief.variance is not None:
        touched |= belief.variance != belief.prior_variance
    return touched


def _with_rows(belief, cells, touched):
    """Return a belief with these cells at the prior, and rows that have others."""
    width = belief.width
    kept = touched.reshape(-1, width).any(axis=1)
    kept[: width + 1] = True
    if belief.unknown_row is not None:
        kept[belief.unknown_row] = True
    new = np.where(kept, np.cumsum(kept) - 1, width).astype(np.int32)

    def table(flat, prior):
        if flat is None:
            return None
        flat = flat.copy()
        flat[cells] = prior
        return flat.reshape(-1, width)[kept].ravel()

    mean = table(belief.mean, 0.0)
    same = belief.average is belief.mean
    return belief.replaced(
        mean=mean,
        variance=table(belief.variance, belief.prior_variance),
        average=mean if same else table(belief.average, 0.0),
        **belief.split_rows(new[belief.all_rows()]),
    )


def without_features(belief, keep):
    """Return a belief that knows some features only.

    Parameters
    ----------
    belief : Belief
        The belief.
    keep : ndarray of bool, shape (n_features,)
        Which features to keep, each with a new number.

    Returns
    -------
    belief : Belief
        The belief about them.
    """
    number = np.cumsum(keep, dtype=np.int32) - 1
    edges = keep[belief.edges]
    return belief.replaced(
        row_of=belief.row_of[keep],
        unseen=number[belief.unseen[keep[belief.unseen]]],
        edges=number[belief.edges[edges]],
        edge_rows=belief.edge_rows[edges],
    )


def same_confidence(fits, before, after):
    """Return what was fitted for confidence, so that draws spread as far as before.

    Scales of variances are in units of the mean square of the weights, which is larger
    when small weights are gone.

    Parameters
    ----------
    fits : dict
        ``confidence_`` of a tagger.
    before, after : Belief
        The weights that it was fitted for, and those that are left.

    Returns
    -------
    fits : dict
        The same with other scales, and without the curves that led to the old ones.
    """
    factor = before.mean_square / after.mean_square
    found = {}
    for name, fit in fits.items():
        values = dict(fit["values"])
        if "variance_scale" in values:
            values["variance_scale"] *= factor
        found[name] = {k: v for k, v in fit.items() if k != "curves"}
        found[name]["values"] = values
    return found
