"""Doors into the loops of other packages: modAL and scikit-activeml."""

from copy import deepcopy
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from skcw._util.compat import _safe_indexing
from skcw.active.pool import check_positions, is_fitted, read_pool
from skcw.active.selection import askable, select
from skcw.active.utilities import find_utility, random_utility


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
    >>> query_strategy = ModALQuery("normalized-margin")
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
        if _package_of(classifier) == "modAL":
            if not hasattr(classifier, "estimator"):
                raise TypeError(
                    f"{type(classifier).__name__} of modAL has several estimators, and "
                    "a utility asks one; use modAL's ActiveLearner"
                )
            classifier = classifier.estimator
        return _chosen(self, classifier, X_pool, n_instances, self._rng, **options)[:2]


class SkactivemlStrategy(BaseEstimator):
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
        Each query goes on from where the one before it ended.

    Notes
    -----
    It was tested with scikit-activeml 1.0.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw import MultiClassCW
    >>> from skcw.active import SkactivemlStrategy
    >>> X, y = [[0.0, 1.0], [1.0, 1.0], [9.0, 1.0], [0.4, 1.0]], [0, 1, np.nan, np.nan]
    >>> SkactivemlStrategy("normalized-margin").query(X, y, MultiClassCW())
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
            All items, labeled or not.
        y : sequence of labels, or of sequences of labels
            Their labels, ``missing_label`` where they are not known.
        clf : classifier or tagger
            What is asked; also one that scikit-activeml has wrapped.
        fit_clf : bool, default=True
            Whether to fit a copy of it to the known labels first.
        sample_weight : array-like of shape (n_items,), default=None
            Weights for that.
        candidates : None, array-like of int, rows or sequences, default=None
            What may be asked about: all items without a label, those at some positions,
            or items that need not be among X.
        batch_size : int, default=1
            How many.
        return_utilities : bool, default=False
            Whether to return the utilities, too.

        Returns
        -------
        positions : ndarray of int64, shape (batch_size,)
            Positions in X, or in `candidates` if these are items.
        utilities : ndarray of float64, shape (batch_size, n_items)
            What each item of the batch was chosen by, if asked for; not a number for
            items that could not be chosen.
        """
        is_known = np.array([not _is_missing(label, self.missing_label) for label in y])
        everything = read_pool(X, _inside(clf))
        if len(is_known) != len(everything):
            raise ValueError(
                f"X has {len(everything)} items but y has {len(is_known)}; y needs "
                "missing_label where a label is not known"
            )
        if fit_clf:
            clf = self._fitted(clf, X, y, is_known, sample_weight)
        positions = _positions(candidates, is_known)
        given = candidates if positions is None else everything.take(positions)
        chosen, _, found = _chosen(self, _inside(clf), given, batch_size, self._rng())
        utilities = found
        if positions is not None:
            chosen = positions[chosen]
            utilities = np.full(len(is_known), np.nan)
            utilities[positions] = found
        if not return_utilities:
            return chosen
        return chosen, _in_turn(utilities, chosen)

    def _rng(self):
        """Return one generator for all queries: equal numbers would repeat a choice."""
        if not hasattr(self, "_rng_"):
            self._rng_ = check_random_state(deepcopy(self.random_state))
        return self._rng_

    def _fitted(self, clf, X, y, is_known, sample_weight):
        """Return a copy of the classifier fitted to the known labels, if there are any.

        The wrappers of scikit-activeml leave out what is not known by themselves.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if _package_of(clf) == "skactiveml":
            return clone(clf).fit(X, y, **weights)
        known = np.flatnonzero(is_known)
        pool = read_pool(X, clf)
        labels = [row for row, is_one in zip(y, is_known, strict=True) if is_one]
        if not pool.kind.can_begin(labels):
            return clone(clf)
        weights = {k: _safe_indexing(w, known) for k, w in weights.items()}
        return clone(clf).fit(pool.take(known), labels, **weights)


def _package_of(estimator):
    return type(estimator).__module__.partition(".")[0]


def _inside(clf):
    """Return what a wrapper of scikit-activeml has fitted, or the estimator itself."""
    if _package_of(clf) != "skactiveml" or not hasattr(clf, "estimator"):
        return clf
    return getattr(clf, "estimator_", clf.estimator)


def _positions(candidates, is_known):
    """Return the positions that may be asked about, or None if these are items."""
    if candidates is None:
        positions = np.flatnonzero(~is_known)
        if not len(positions):
            raise ValueError("there is nothing to ask about: all labels are known")
        return positions
    if sparse.issparse(candidates):
        return None
    if not len(candidates):
        raise ValueError("there is nothing to ask about: candidates is empty")
    # A mask is taken for positions, too, and refused as such.
    if not all(isinstance(one, (Integral, np.bool_)) for one in candidates):
        return None
    return check_positions(candidates, len(is_known))


def _chosen(door, estimator, X, n, rng, **options):
    """Return the positions, their utilities and all utilities."""
    pool = read_pool(X, estimator)
    utility = find_utility(door.utility, pool.kind)
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
    is_one = isinstance(label, str) or not hasattr(label, "__len__")
    return (
        is_one
        and isinstance(label, str) == isinstance(missing, str)
        and (bool(label == missing))
    )
