"""``cross_val_confidence``: out-of-fold labels and confidence of a tagger."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skcw._model.decoding import n_workers
from skcw._util.checks import check_same_length, check_same_lengths
from skcw._util.ragged import object_rows
from skcw.confidence.held_out import reusable_rows
from skcw.data.labels import check_label_rows
from skcw.evaluation.suspects import suspicious_spans
from skcw.tagging.crf import as_tagger


class OutOfFold(NamedTuple):
    """Out-of-fold labels and confidences of a tagger.

    Parameters
    ----------
    labels : ndarray of shape (n_sequences,), dtype object
        The predicted labels, a list per sentence.
    confidence : ndarray of shape (n_sequences,), dtype object
        The confidence in each, a float array per sentence.
    given_confidence : ndarray of shape (n_sequences,), dtype object
        The confidence in the labels in `y`, likewise.
    fold : ndarray of int, shape (n_sequences,)
        The fold of each sentence.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.evaluation import cross_val_confidence
    >>> X, y = [["Ann", "left"]] * 4, [["PER", "O"]] * 4
    >>> found = cross_val_confidence(CWSequenceTagger(random_state=0), X, y, cv=2)
    >>> found.labels[0], found.fold.tolist()
    (['PER', 'O'], [0, 0, 1, 1])
    """

    labels: np.ndarray
    confidence: np.ndarray
    given_confidence: np.ndarray
    fold: np.ndarray

    def suspects(self, y):
        """Return where labels differ, the least probable first.

        Parameters
        ----------
        y : sequences of str
            The labels that were given.

        Returns
        -------
        suspects : list of Suspect
            Named tuples ``(sentence, start, end, given, expected, confusion,
            probability)``: one for all words of spans that overlap, or for one word
            where labels mark no spans.
        """
        y = check_label_rows(y, "y")
        lengths = [list(map(len, rows)) for rows in (y, self.labels)]
        check_same_lengths(*lengths, ("y", "X"), ("labels", "tokens"))
        return suspicious_spans(y, self.labels, self.given_confidence)


def cross_val_confidence(
    estimator: Any,
    X: Iterable[Any],
    y: Iterable[Any],
    *,
    cv: Any = None,
    groups: ArrayLike | None = None,
    method: str | None = None,
    given_method: str | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return out-of-fold labels and confidences of a tagger.

    scikit-learn's ``cross_val_predict`` refuses ``method="predict_confidence"``, and
    ``"predict_marginals"``, unless it is called
    ``with sklearn.config_context(skip_parameter_validation=True)``. The result of this
    function serves calibration, risk control and the search for annotation errors.

    Parameters
    ----------
    estimator : tagger or pipeline
        A :class:`skcw.TaggingPipeline` or another tagger; it is copied.
    X : sequences
        The sentences.
    y : sequences of str
        Their labels.
    cv : int, splitter, iterable or None, default=None
        Folds of sentences, as in scikit-learn; five by default. Each sentence must be
        in the test part of one fold.
    groups : array-like of shape (n_sequences,), default=None
        For splitters such as ``GroupKFold``: the document of each sentence.
    method : str, default=None
        The method of ``predict_confidence``.
    given_method : str, default=None
        The method of ``predict_label_confidence``; the default or, if that cannot
        judge any label, ``"marginal"``.
    n_jobs : int, default=None
        How many folds at once, in threads.

    Returns
    -------
    found : OutOfFold
        The named tuple ``(labels, confidence, given_confidence, fold)``, in the order
        of X.

    See Also
    --------
    skcw.calibration.risk_threshold : Takes the confidences.

    Examples
    --------
    >>> from skcw import make_tagging_pipeline
    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.calibration import risk_threshold
    >>> from skcw.evaluation import cross_val_confidence
    >>> from skcw.metrics import token_correct
    >>> X, y = make_tagged_corpus(600, random_state=0, return_X_y=True)
    >>> found = cross_val_confidence(make_tagging_pipeline("ner"), X, y, cv=3)
    >>> correct = token_correct(y, found.labels)
    >>> (found,) = risk_threshold(correct, found.confidence, risk=0.05)
    >>> bool(found.accepted > 0.8)
    True
    """
    X = reusable_rows(X)
    y = object_rows(check_label_rows(list(y) if isinstance(y, Iterator) else y, "y"))
    check_same_length(len(X), len(y))
    folds = _folds(cv, len(y), y, groups)

    def fit_and_ask(train, test):
        fitted = as_tagger(clone(estimator).fit(X[train], y[train]))
        answers = fitted.predict_all(X[test])
        given = {} if method is None else {"method": method}
        sure = answers.confidence(**given)
        return answers.labels(), sure, _given_confidence(answers, y[test], given_method)

    jobs = Parallel(n_jobs=n_workers(n_jobs, len(folds)), prefer="threads")
    said = jobs(delayed(fit_and_ask)(*fold) for fold in folds)
    rows = [np.empty(len(y), dtype=object) for _ in range(3)]
    number = np.empty(len(y), dtype=np.intp)
    for k, ((_, test), parts) in enumerate(zip(folds, said, strict=True)):
        number[test] = k
        for row, part in zip(rows, parts, strict=True):
            row[test] = part
    return OutOfFold(*rows, number)


def _given_confidence(answers, y, method):
    if method is None:
        served = answers.confidence_methods
        able = [name for name, one in served.items() if one.any_label]
        method = "marginal" if "marginal" in able else next(iter(able), None)
    return answers.label_confidence(y, method)


def _folds(cv, n, y, groups):
    """Return the folds; raise unless each sentence is tested once, by others."""
    splitter = check_cv(cv)
    n_folds = splitter.get_n_splits(np.zeros(n), y, groups)
    if n_folds > n:
        raise ValueError(
            f"{n} sentences cannot make {n_folds} folds; ask for fewer folds"
        )
    folds = [tuple(map(np.asarray, f)) for f in splitter.split(np.zeros(n), y, groups)]
    tested = np.sort(np.concatenate([test for _, test in folds]))
    if not np.array_equal(tested, np.arange(n)):
        raise ValueError("cv must test each sentence exactly once")
    for number, (train, test) in enumerate(folds):
        if np.intersect1d(train, test).size:
            raise ValueError(f"fold {number} of cv tests on what it trains on")
    return folds
