"""Base class of the online classifiers."""

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skcw._kernels.row_passes import row_hashes
from skcw._model.checkpoint import keeping
from skcw._model.gaussian import check_size
from skcw._model.merge import merge_classifiers
from skcw._model.row_gaussian import TableBelief
from skcw._model.row_training import RowTraining, described_rows
from skcw._model.rows import (
    are_text,
    class_weights,
    compressed_rows,
    hold_out,
    row_repeats,
    row_weights,
)
from skcw._model.shards import checked_n_shards
from skcw._model.training import PassTasks, Plan, Stopping, train
from skcw._model.training_hashes import known_share, remembered_rows
from skcw._util.checks import check_sparse
from skcw._util.compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    _check_partial_fit_first_call,
    _fit_context,
)
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw.linear_model.explanation import RowExplanation, explain_row
from skcw.linear_model.saving import SavedClassifier


class RowClassifier(
    CallbackSupportMixin, SavedClassifier, ClassifierMixin, BaseEstimator
):
    """Base of the online classifiers.

    One path trains: ``fit`` starts from the prior and makes ``max_iter`` passes,
    ``partial_fit`` continues from where it is and makes one. A subclass gives
    ``_bound_kernel``, its compiled pass, and ``_initial_variance``.
    """

    _parameter_constraints = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "averaging": ["boolean"],
        "fit_intercept": ["boolean"],
        "shuffle": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "early_stopping": ["boolean", dict],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "dtype": [StrOptions({"float32", "float64"})],
        "verbose": ["verbose"],
    }

    _merged = staticmethod(merge_classifiers)

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        n_shards: int = 1,
        checkpoint: Any = None,
    ) -> Self:
        """Learn from labeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, dense or sparse.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight w presents the row w times in succession in every pass; a fraction
            scales the step of the last presentation, 0 leaves the row out. At most
            10,000.
        n_shards : int, default=1
            Split the rows into this many shards, which are learned side by side, by the
            workers of ``joblib.parallel_config``, and merged in every pass. The result
            depends on this number, not on the workers.
        checkpoint : skcw.Checkpoint, default=None
            Where to save the training now and then, to continue it after a crash.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        fresh = not (self.warm_start and hasattr(self, "belief_"))
        X, y = self._check_rows(X, y, reset=fresh)
        given = X, y, *self._all_classes(y, fresh), sample_weight
        self._learn(*given, fresh, n_shards=n_shards, checkpoint=checkpoint)
        self._restart_average()
        self._learn_scale(X, y, sample_weight, n_shards, checkpoint)
        return self

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue with one pass over more rows.

        It continues from the averaged weights of a ``fit``, and averages over the
        rounds since. Scale, noise and shrinkage of the probabilities of CW and AROW
        stay as ``fit`` has learned them. Without ``fit`` the first call learns them
        with ``variance_scale="held-out"`` if it brings 60 rows or more; otherwise the
        scale is 1, or the number given.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            The labels that may appear; needed in the first call. Those of a later call
            that are new are added: their weights begin at the prior.
        sample_weight : array-like of shape (n_samples,), default=None
            As for ``fit``.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        # scikit-learn checks parameters before the first call only.
        self._validate_params()
        fresh = not hasattr(self, "belief_")
        X, y = self._check_rows(X, y, reset=fresh)
        known = self._known_classes(y, classes, fresh)
        codes = np.searchsorted(known, y)
        self._learn(X, y, known, codes, sample_weight, fresh, one_pass=True)
        return self

    def _all_classes(self, y, fresh):
        """Return the classes of a ``fit``, and the code of each label."""
        classes, codes = np.unique(y, return_inverse=True)
        if not fresh and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start continues with the classes {self.classes_.tolist()}, but "
                f"y has {classes.tolist()}; use partial_fit for data that lacks some"
            )
        if len(classes) < 2:
            raise ValueError(
                f"the number of classes has to be greater than one; got 1 class, "
                f"{classes.tolist()[0]!r}"
            )
        return classes, codes

    def _known_classes(self, y, classes, fresh):
        """Return the classes of a ``partial_fit``; make room for those it adds."""
        if not fresh:
            known = self.classes_ if classes is None else self._with_new(classes)
        else:
            probe = BaseEstimator()
            _check_partial_fit_first_call(probe, classes)
            known = probe.classes_
            if len(known) < 2:
                raise ValueError("classes must name at least two classes")
        unseen = np.setdiff1d(y, known)
        if len(unseen):
            raise ValueError(
                f"y has labels that are not among the classes: {unseen.tolist()}; "
                "name those that are new in classes"
            )
        if not fresh and len(known) > len(self.classes_):
            self._make_room(known)
        return known

    def _with_new(self, classes):
        """Return the classes so far together with those of a further call."""
        classes = np.unique(column_or_1d(classes))
        if classes.size and are_text(classes) != are_text(self.classes_):
            raise ValueError(
                f"classes are {classes.tolist()}, but those so far are "
                f"{self.classes_.tolist()}: labels are either strings or numbers"
            )
        return np.union1d(self.classes_, classes)

    def _make_room(self, classes):
        """Go on with more classes; the scores of those so far stay."""
        places = np.searchsorted(classes, self.classes_)
        belief = self.belief_.extended(places, len(classes), self._initial_variance())
        vars(self).update(self._fitted(belief, classes))

    def _check_rows(self, X, y, reset):
        if sparse.issparse(X):
            check_sparse(X)
        X, y = _validated(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=reset,
        )
        check_classification_targets(y)
        return X, y

    def _learn(
        self,
        X,
        y,
        classes,
        codes,
        sample_weight,
        fresh,
        *,
        one_pass=False,
        n_shards=1,
        checkpoint=None,
    ):
        max_iter = 1 if one_pass else self.max_iter
        self._check_settings(len(classes))
        weight = row_weights(sample_weight, len(codes))
        by_class = class_weights(self.class_weight, classes, codes, weight, one_pass)
        by_class, class_factor = self._split_class_weights(by_class)
        rows = replace(
            compressed_rows(X, self.dtype, self.fit_intercept),
            gold=codes.astype(np.int32),
            weight=row_repeats(weight, by_class, codes),
            class_factor=class_factor,
        )
        rng = check_random_state(self.random_state)
        tasks = PassTasks(self, X, y, max_iter, lambda b: self._fitted(b, classes))
        seed = rng.randint(np.iinfo(np.int32).max)
        self._prepare(rows, fresh or not one_pass)
        plan = Plan(
            self._bound_kernel(len(classes)),
            None,
            max_iter,
            self.shuffle,
            Stopping.of(self.early_stopping),
            self.verbose,
            n_shards=checked_n_shards(n_shards),
        )
        learned, held_out, unseen = rows, None, None
        if self.early_stopping is not False and not one_pass:
            share = plan.stopping.validation_fraction
            learned, unseen = hold_out(rows, share, rng)
            plan.dev_score = partial(_accuracy, unseen, len(classes))
        elif fresh:
            held_out = self._held_out_to_judge(rows)
        before = None if fresh else self.belief_
        start = self._starting_belief(X.shape[1], len(classes), fresh, one_pass)
        about = partial(described_rows, self, plan, rows, classes, start)
        with keeping(checkpoint, self, about) as keeper_of:
            training = RowTraining(start, learned, plan, seed, held_out)
            belief, self.history_ = train(training, tasks, keeper_of)
            vars(self).update(self._fitted(belief, classes))
            check_size(learned.changed(self.weights_))
            if one_pass and before is not None:
                belief.keep_spare(before, learned.touched)
            self.n_iter_ = self.history_[-1]["epoch"]
        self._remember(rows, fresh)
        if fresh:
            self._learn_variance(belief, unseen, training.judge)
        tasks.finish(belief)

    def _remember(self, rows, fresh):
        """Remember the rows; nothing where it is unknown what came before them."""
        before = None if fresh else getattr(self, "training_hashes_", None)
        if fresh or before is not None:
            self.training_hashes_ = remembered_rows(rows, before)

    @reads_at_once
    def train_overlap(self, X: Any) -> float:
        """Return the share of the rows of X that the classifier has learned from.

        Scores on such rows say nothing about new ones. Rows of few different features
        are often equal by chance.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        fraction : float
            From 0 to 1; after training on more than 16,384 different rows estimated
            from a random sample of them. NaN for a classifier that was loaded from a
            file without hashes; ``save(path, train_hashes=True)`` writes them.
        """
        rows = self._read(X)
        memory = getattr(self, "training_hashes_", None)
        if memory is None:
            return np.nan
        hashes = row_hashes(rows.indptr, rows.indices, rows.values)
        return known_share(memory[0], hashes, np.ones(len(rows)))

    def _prepare(self, rows, whole):
        """Choose what depends on the rows; ``whole`` is false for a further piece."""

    def _held_out_to_judge(self, rows):
        """Return the rows by which to learn how far to trust the variances."""

    def _learn_variance(self, belief, unseen, judged):
        """Learn it from rows unseen in the end, or how others were judged before."""

    def _learn_scale(self, X, y, *options):
        """Choose the scale of the variances by cross-validation, if asked to."""

    def _starting_belief(self, n_features, n_classes, fresh, one_pass):
        if fresh:
            return TableBelief.start(
                n_features,
                n_classes,
                self._initial_variance(),
                self.averaging,
                self.dtype,
                # A piece may be a single row: it is not worth a copy at the end.
                together=not one_pass,
            )
        # A training that fails must leave the classifier as it was, and others may ask
        # it in the meantime.
        belief = self.belief_.draft(self.dtype)
        if self.averaging:
            return belief.with_average_started()
        return belief.with_average_restarted()

    def _fitted(self, belief, classes):
        """Return the attributes of a fitted classifier."""
        return {"belief_": belief, "classes_": classes, "weights_": belief.weights}

    def _restart_average(self):
        """Let further training continue from the average, and average anew."""
        self.belief_ = self.belief_.with_average_restarted()
        self.weights_ = self.belief_.mean

    def _check_settings(self, n_classes):
        """Raise if parameters do not fit together."""

    def _split_class_weights(self, by_class):
        """Split class weights into numbers of presentations and factors of strength.

        By default a weight is a number of presentations alone.
        """
        return by_class, None

    def _initial_variance(self):
        """Return the prior variance, or None for a learner that keeps none."""
        return None

    def _read(self, X):
        """Return rows to predict, checked."""
        check_is_fitted(self, "belief_")
        if sparse.issparse(X):
            check_sparse(X)
        X = _validated(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=False,
        )
        return compressed_rows(X, self.weights_.dtype, self.fit_intercept)

    @reads_at_once
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number per row, positive for the second of them; else
            one score per class, the highest of which is predicted.
        """
        return self._scores(self._read(X))

    def _scores(self, rows):
        return sklearn_shape(rows.scores(self.weights_), len(self.classes_))

    @reads_at_once
    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the highest score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One label per row.
        """
        codes = best_codes(self._scores(self._read(X)))
        return self.classes_[codes]

    @reads_at_once
    def explain(
        self, row: Any, *, against: Any = None, feature_names: Any = None
    ) -> RowExplanation:
        """Explain the label of one row.

        Parameters
        ----------
        row : {array-like, sparse matrix} of shape (1, n_features)
            The row.
        against : object, default=None
            The label to compare with; by default that with the next best score.
        feature_names : array-like of str, default=None
            The names of the columns, such as those of a vectorizer:
            ``vectorizer.get_feature_names_out()``. By default those of the data frame
            given to ``fit``, or else ``x0``, ``x1`` and so on.

        Returns
        -------
        explanation : RowExplanation
            The label, its rival, the margin between them, and what each feature adds
            to it; shown as a table.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from skcw import MultiClassPerceptron
        >>> texts, y = ["free money", "see you", "free now"], ["spam", "ham", "spam"]
        >>> vectorizer = CountVectorizer()
        >>> X = vectorizer.fit_transform(texts)
        >>> classifier = MultiClassPerceptron(random_state=0).fit(X, y)
        >>> names = vectorizer.get_feature_names_out()
        >>> why = classifier.explain(X[0], feature_names=names)
        >>> why.label, why.rival
        ('spam', 'ham')
        """
        check_is_fitted(self, "belief_")
        names = getattr(self, "feature_names_in_", None)
        names = names if feature_names is None else feature_names
        n_columns = self.n_features_in_
        if names is not None and len(names) != n_columns:
            raise ValueError(
                f"feature_names has {len(names)} names for {n_columns} columns"
            )
        return explain_row(self, row, against, names)

    @property
    def _is_binary(self):
        return len(self.classes_) == 2

    @property
    def coef_(self):
        """The weights: classes by features, or one row for two classes.

        That is scikit-learn's orientation. Taggers have features by classes, because
        a row per feature can be added or left out while they learn.
        """
        return self._columns(self.weights_)[:, :-1]

    @property
    def intercept_(self):
        """The intercepts: one per class, or one for two classes."""
        return self._columns(self.weights_)[:, -1]

    def _columns(self, table):
        """Return a table as scikit-learn shows weights, as a view."""
        return table.T[: 1 if self._is_binary else len(self.classes_)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _validated(*given, **options):
    """Validate as scikit-learn does; its error for huge integers names nothing."""
    try:
        return validate_data(*given, **options)
    except OverflowError:
        raise ValueError(
            "X or y holds a whole number that is too large for a float"
        ) from None


def _accuracy(rows, n_classes, belief):
    """Return the share of rows whose labels a belief predicts."""
    guess = best_codes(sklearn_shape(rows.scores(belief.weights), n_classes))
    return np.average(guess == rows.gold, weights=rows.weight)


def sklearn_shape(columns, n_classes):
    """Return sums over the columns of a table in scikit-learn's shape."""
    return columns.ravel() if n_classes == 2 else columns[:, :n_classes]


def best_codes(scores):
    """Return the codes of the classes with the highest scores; ties to the first."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
