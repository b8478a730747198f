"""Doors into the loops of other packages: modAL and scikit-activeml."""

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from skcw._compat import _safe_indexing
from skcw.active._pool import Pool, is_fitted
from skcw.active._selection import askable, select
from skcw.active._utilities import find_utility, random_utility


class ModALQuery:
    """A utility as the ``query_strategy`` of modAL's ``ActiveLearner``.

    Parameters
    ----------
    utility : str or callable
        A name of :func:`utility_names`, or a function of an estimator and X.
    max_overlap : float, default=None
        Keep items out of a batch that repeat the others, see :func:`select`.
    random_state : int, RandomState or None, default=None
        Controls the utility ``"random"``.

    Notes
    -----
    It was tested with modAL 0.4.2.1, which calls an argument of scikit-learn that
    version 1.8 has removed: its ``teach`` works with scikit-learn 1.7 and older only.
    modAL joins arrays: give sequences as a 1-D object array.

    Examples
    --------
    >>> from skcw import MultiClassCW
    >>> from skcw.active import ModALQuery
    >>> classifier = MultiClassCW().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> query_strategy = ModALQuery("normalised-margin")
    >>> positions, utilities = query_strategy(classifier, [[9.0, 1.0], [0.4, 1.0]])
    >>> positions
    array([1])
    """

    def __init__(self, utility, max_overlap=None, random_state=None):
        self.utility = utility
        self.max_overlap = max_overlap
        self.random_state = random_state
        self._rng = check_random_state(random_state)

    def __call__(self, classifier, X_pool, n_instances=1, **options):
        """Return the rows to ask about and their utilities.

        Parameters
        ----------
        classifier : ActiveLearner of modAL, tagger or classifier
            What is asked.
        X_pool : rows or sequences
            The pool.
        n_instances : int, default=1
            How many.
        **options : object
            Further options of the utility.

        Returns
        -------
        positions : ndarray of int64
            Positions in the pool.
        utilities : ndarray of float64, shape (n_instances,)
            Their utilities.
        """
        if type(classifier).__module__.partition(".")[0] == "modAL":
            classifier = classifier.estimator
        return _chosen(self, classifier, X_pool, n_instances, self._rng, **options)[:2]


class ActiveMLQuery(BaseEstimator):
    """A utility as a query strategy of scikit-activeml.

    Its ``query`` takes what those of that package take. It takes sequences, too, with
    ``missing_label=None``.

    Parameters
    ----------
    utility : str or callable
        A name of :func:`utility_names`, or a function of an estimator and X.
    max_overlap : float, default=None
        Keep items out of a batch that repeat the others, see :func:`select`.
    missing_label : float, str or None, default=nan
        What stands in y for a label that is not known.
    random_state : int, RandomState or None, default=None
        Controls the utility ``"random"``, and the choice as long as no label is known.

    Notes
    -----
    It was tested with scikit-activeml 1.0.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw import MultiClassCW
    >>> from skcw.active import ActiveMLQuery
    >>> X, y = [[0.0, 1.0], [1.0, 1.0], [9.0, 1.0], [0.4, 1.0]], [0, 1, np.nan, np.nan]
    >>> ActiveMLQuery("normalised-margin").query(X, y, MultiClassCW())
    array([3])
    """

    def __init__(
        self, utility, max_overlap=None, missing_label=np.nan, random_state=None
    ):
        self.utility = utility
        self.max_overlap = max_overlap
        self.missing_label = missing_label
        self.random_state = random_state

    def query(
        self,
        X,
        y,
        clf,
        fit_clf=True,
        sample_weight=None,
        candidates=None,
        batch_size=1,
        return_utilities=False,
    ):
        """Return the items to label next.

        Parameters
        ----------
        X : rows or sequences
            All items, labelled or not.
        y : sequence of labels, or of sequences of labels
            Their labels, ``missing_label`` where they are not known.
        clf : classifier or tagger
            What is asked; also one that scikit-activeml has wrapped.
        fit_clf : bool, default=True
            Whether to fit a copy of it to the known labels first.
        sample_weight : array-like of shape (n_items,), default=None
            Weights for that.
        candidates : None, array-like of int, or rows, default=None
            What may be asked about: all items without a label, those at some positions,
            or rows that are not among X.
        batch_size : int, default=1
            How many.
        return_utilities : bool, default=False
            Whether to return the utilities, too.

        Returns
        -------
        positions : ndarray of int64, shape (batch_size,)
            Positions in X, or in `candidates` if these are rows.
        utilities : ndarray of float64, shape (batch_size, n_items)
            What each item of the batch was chosen by, if asked for; not a number for
            items that could not be chosen.
        """
        is_known = np.array([not _is_missing(label, self.missing_label) for label in y])
        if fit_clf:
            clf = self._fitted(clf, X, y, is_known, sample_weight)
        inside = _inside(clf)
        given, mapping = X, None
        if candidates is None:
            mapping = np.flatnonzero(~is_known)
        elif np.ndim(candidates) == 1:
            mapping = np.asarray(candidates)
        else:
            given = candidates
        if mapping is not None:
            if not len(mapping):
                raise ValueError("there is nothing to ask about: all labels are known")
            given = Pool(X, inside).take(mapping)
        rng = check_random_state(self.random_state)
        positions, _, found = _chosen(self, inside, given, batch_size, rng)
        utilities = found
        if mapping is not None:
            positions = mapping[positions]
            utilities = np.full(len(is_known), np.nan)
            utilities[mapping] = found
        if not return_utilities:
            return positions
        return positions, _in_turn(utilities, positions)

    def _fitted(self, clf, X, y, is_known, sample_weight):
        """Return a copy of the classifier fitted to the known labels, if there are any.

        The wrappers of scikit-activeml leave out what is not known by themselves.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if type(clf).__module__.partition(".")[0] == "skactiveml":
            return clone(clf).fit(X, y, **weights)
        known = np.flatnonzero(is_known)
        pool = Pool(X, clf)
        labels = [y[i] for i in known]
        if not len(known) or (not pool.has_sequences and len(set(labels)) < 2):
            return clone(clf)
        weights = {k: _safe_indexing(w, known) for k, w in weights.items()}
        return clone(clf).fit(pool.take(known), labels, **weights)


def _inside(clf):
    """Return what a wrapper of scikit-activeml has fitted, or the estimator itself."""
    if type(clf).__module__.partition(".")[0] != "skactiveml":
        return clf
    return getattr(clf, "estimator_", None) or clf.estimator


def _chosen(door, estimator, X, n, rng, **options):
    """Return the positions, their utilities and all utilities."""
    pool = Pool(X, estimator)
    utility = find_utility(door.utility, pool.has_sequences)
    if utility is random_utility or not is_fitted(estimator):
        utilities = random_utility(estimator, X, rng)
    else:
        utilities = np.asarray(utility(estimator, X, **options))
    features = None
    if door.max_overlap is not None:
        features = pool.features(np.arange(len(pool)))
    positions = select(
        askable(utilities, pool.lengths),
        n,
        lengths=pool.lengths,
        features=features,
        max_overlap=door.max_overlap,
    )
    return positions, utilities[positions], utilities


def _in_turn(utilities, positions):
    """Return a row per chosen item, in which those chosen before have none."""
    rows = np.tile(utilities, (len(positions), 1))
    for turn, position in enumerate(positions):
        rows[turn + 1 :, position] = np.nan
    return rows


def _is_missing(label, missing):
    if label is None or label is missing:
        return True
    if isinstance(label, float) and label != label:
        return True
    return (
        not hasattr(label, "__len__")
        and not hasattr(missing, "__len__")
        and (bool(label == missing))
    )
