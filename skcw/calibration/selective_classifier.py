"""``SelectiveClassifier``: selective prediction for the rows of a classifier."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import (
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, indexable

from skcw._model.training_hashes import repeated_share
from skcw._util.checks import check_real, check_sample_weight
from skcw._util.compat import HasMethods, Interval, StrOptions, _fit_context
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import object_rows
from skcw.calibration.calibrated_tagger import (
    MOST_KNOWN,
    PREFIT,
    fitted_before,
    prefit_clone,
)
from skcw.calibration.risk_control import (
    check_risks,
    conformal_sets,
    conformal_threshold,
    group_numbers,
    risk_threshold,
    scores_of_truth,
    threshold_for,
    warn_of_refusals,
)
from skcw.metrics.intervals import check_level


class SelectiveMixin:
    """For estimators that accept predictions at a risk that held-out data bound."""

    __sklearn_clone__ = prefit_clone
    _split_kind = ShuffleSplit

    def _check_parameters(self):
        check_risks(self.risk), check_level(self.confidence_level)

    def _fitted(self, X, y, weight, groups):
        """Return a fitted estimator, and the positions of what calibrates it."""
        found = fitted_before(self)
        if found is not None:
            return found, np.arange(len(y))
        train, rest = self._split(y, groups)
        weights = {} if weight is None else {"sample_weight": weight[train]}
        fitted = clone(self.estimator).fit(some_rows(X, train), y[train], **weights)
        return fitted, rest

    def _split(self, y, groups):
        """Return the positions of what trains and of what calibrates."""
        kind = self._split_kind if groups is None else GroupShuffleSplit
        how = {"test_size": self.calibration_size, "random_state": self.random_state}
        (parts,) = kind(1, **how).split(np.zeros(len(y)), y, groups)
        return map(np.sort, parts)

    def _bounds(self, find, *outcomes, groups, unit):
        """Return the thresholds that keep the risks."""
        return find(
            *outcomes,
            np.atleast_1d(self.risk).tolist(),
            confidence_level=self.confidence_level,
            groups=groups,
            unit=unit,
            max_errors_per_group=self.max_errors_per_group,
        )

    def _set_threshold(self, scores, n_missing, groups):
        """Return the score that labels, or entities, need to be in sets."""
        if not len(scores):
            return np.nan
        risk = np.atleast_1d(self.risk)[0] if self.set_risk is None else self.set_risk
        return conformal_threshold(
            scores,
            check_real("set_risk", risk),
            n_missing=n_missing,
            groups=groups,
            max_errors_per_group=self.max_errors_per_group,
        )

    def get_threshold(self, risk: float | None = None) -> Any:
        """Return the threshold for a risk, with its bound.

        Parameters
        ----------
        risk : float, default=None
            One of `risk`; None is the first.

        Returns
        -------
        threshold : RiskThreshold
            Its ``threshold``, and the share that it accepts in calibration.
        """
        check_is_fitted(self)
        return threshold_for(self.thresholds_, risk)


@dataclass(eq=False, repr=False, match_args=False)
class SelectiveClassifier(
    SelectiveMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator
):
    """Classifier with a reject option: accepts predictions at a controlled risk.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba``, which is cloned and fitted; or a fitted
        one, with ``cv="prefit"`` or inside :class:`sklearn.frozen.FrozenEstimator`.
    risk : float or sequence of float, default=0.01
        The largest share of wrong rows among those accepted.
    confidence_level : float, default=0.95
        The probability with which the bound holds.
    cv : "prefit" or None, default=None
        With ``"prefit"`` the classifier is fitted, and all rows given to ``fit`` are
        for calibration. Otherwise a random part of them trains it.
    calibration_size : float, default=0.3
        The share of the rows (or groups) given to ``fit`` that calibrates.
    set_risk : float, default=None
        The share of rows whose label their set may miss; `risk` if None.
    max_errors_per_group : float, default=None
        The largest number of errors among what is accepted of one group; 3 by default,
        and 1 without groups.
    allow_training_data : bool, default=False
        Whether a fitted classifier may be calibrated on its training data, where it can
        tell: one of skcw, also at the end of a pipeline or inside of a search.
    random_state : int, RandomState instance or None, default=0
        Chooses the rows for calibration.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    thresholds_ : list of RiskThreshold
        The threshold for each risk.
    conformal_threshold_ : float
        The probability that a label needs to be in a set.
    classes_ : ndarray of shape (n_classes,)
        The labels.

    See Also
    --------
    SelectiveTagger : The same for sequences.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from skcw import MultiClassCW
    >>> from skcw.calibration import SelectiveClassifier
    >>> digits = load_digits(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(*digits, random_state=0)
    >>> selective = SelectiveClassifier(MultiClassCW(random_state=0), risk=0.04)
    >>> selective = selective.fit(X, y)
    >>> accepted = selective.accept(X_new)
    >>> wrong = selective.predict(X_new) != y_new
    >>> bool(wrong.mean() > 0.04 > wrong[accepted].mean())
    True
    """

    estimator: Any
    _: KW_ONLY
    risk: Any = 0.01
    confidence_level: float = 0.95
    cv: str | None = None
    calibration_size: float = 0.3
    set_risk: float | None = None
    max_errors_per_group: float | None = None
    allow_training_data: bool = False
    random_state: int | np.random.RandomState | None = 0

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict_proba"])],
        "risk": [Real, "array-like"],
        "confidence_level": [Real],
        "cv": [StrOptions({PREFIT}), None],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
        "set_risk": [Real, None],
        "max_errors_per_group": [Interval(Real, 1, None, closed="left"), None],
        "allow_training_data": ["boolean"],
        "random_state": ["random_state"],
    }

    _split_kind = StratifiedShuffleSplit

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the classifier, unless it is fitted already, and find the thresholds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The rows, or whatever the classifier reads.
        y : array-like of shape (n_rows,)
            Their labels.
        sample_weight : array-like of shape (n_rows,), default=None
            How much each row counts for the classifier.
        groups : array-like of shape (n_rows,), default=None
            What is exchangeable if rows are not, such as their authors.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        groups = None if groups is None else group_numbers(groups)
        X, y, groups = indexable(X, y, groups)
        weight = check_sample_weight(sample_weight, len(y), "rows")
        classifier, rows = self._fitted(X, y, weight, groups)
        check_is_fitted(classifier)
        if fitted_before(self) is not None and not self.allow_training_data:
            _refuse_known(classifier, X, len(y))
        self.estimator_, self.classes_ = classifier, classifier.classes_
        held_groups = None if groups is None else groups[rows]
        self._calibrate(some_rows(X, rows), y[rows], held_groups)
        warn_of_refusals(self.thresholds_, "rows" if groups is None else "groups")
        return self

    def _split(self, y, groups):
        if groups is None and np.unique(y, return_counts=True)[1].min() < 2:
            raise ValueError(
                "each class needs two rows or more, one to train and one to calibrate; "
                f"there are n_samples={len(y)} in all"
            )
        return super()._split(y, groups)

    def _calibrate(self, X, y, groups):
        table = self._table(X)
        right = self.classes_[table.argmax(axis=1)] == y
        found = risk_threshold, right, table.max(axis=1)
        self.thresholds_ = self._bounds(*found, groups=groups, unit="rows")
        scores = scores_of_truth(table, self.classes_.tolist(), y.tolist())
        known = ~np.isnan(scores)
        held = None if groups is None else groups[known]
        n_missing = int((~known).sum())
        self.conformal_threshold_ = self._set_threshold(scores[known], n_missing, held)

    def _table(self, X):
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    @reads_at_once
    def accept(self, X: Any, risk: float | None = None) -> np.ndarray:
        """Return which rows are accepted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            New rows.
        risk : float, default=None
            One of `risk`; None is the first.

        Returns
        -------
        accepted : ndarray of bool, shape (n_rows,)
            The others are for review.
        """
        threshold = self.get_threshold(risk).threshold
        return self._table(X).max(axis=1) >= threshold

    @reads_at_once
    def predict_sets(self, X: Any) -> np.ndarray:
        """Return sets that contain the true label but for a share `set_risk` of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            New rows.

        Returns
        -------
        sets : ndarray of shape (n_rows,), dtype object
            A list of labels for each row, the most probable first.
        """
        check_is_fitted(self)
        table = self._table(X)
        return object_rows(
            conformal_sets(table, self.conformal_threshold_, self.classes_.tolist())
        )

    @reads_at_once
    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable label of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            What the classifier predicts.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X):
        """Return the probabilities of all labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            Those of the classifier.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @property
    def n_features_in_(self):
        """The number of columns."""
        check_is_fitted(self)
        return self.estimator_.n_features_in_


def _refuse_known(classifier, X, n_rows):
    """Raise if a fitted classifier was trained on the rows, where it can tell."""
    for learner, rows in _learners(classifier, X):
        share, memory = learner.train_overlap(rows), learner.training_hashes_
        # Where training rows repeat each other, new ones repeat them as well.
        if share > MOST_KNOWN + (1 - MOST_KNOWN) * repeated_share(memory[1]):
            raise ValueError(
                f"the classifier has learned from {round(share * n_rows)} of these "
                f"{n_rows} rows, so they do not tell how often it is right. Give "
                'others, or do without cv="prefit"; allow_training_data=True '
                "calibrates on them anyway"
            )


# Where the estimators of scikit-learn keep what they have fitted. Those of an ensemble
# come first, as its ``estimator_`` is not fitted.
INSIDE = ("best_estimator_", "estimators_", "estimator_", "calibrated_classifiers_")


def _learners(estimator, X):
    """Yield the classifiers inside that remember, and the rows as each reads them."""
    if isinstance(estimator, Pipeline):
        if len(estimator) > 1:
            X = estimator[:-1].transform(X)
        yield from _learners(estimator[-1], X)
    elif hasattr(estimator, "train_overlap"):
        if getattr(estimator, "training_hashes_", None) is not None:
            yield estimator, X
    else:
        found = [getattr(estimator, name, None) for name in (*INSIDE, "estimator")]
        inside = next((each for each in found if each is not None), [])
        for each in inside if isinstance(inside, list) else [inside]:
            # One that reads a part of the columns has not seen rows like these.
            both = {getattr(one, "n_features_in_", None) for one in (estimator, each)}
            if len(both - {None}) < 2:
                yield from _learners(each, X)


def some_rows(X, rows):
    """Return some rows of an array, a table or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]
