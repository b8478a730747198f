"""Predictions of taggers and classifiers of other packages.

Taggers of this package answer by ``predict_all(X)``. Others, such as
``sklearn_crfsuite.CRF``, get a layer that calls their methods; classifiers of rows are
asked by functions.
"""

from functools import cached_property
from itertools import chain

import numpy as np

from skcw._util.checks import check_same_lengths
from skcw._util.ragged import offsets_of
from skcw.confidence.methods import METHODS
from skcw.confidence.predictions import Predictions
from skcw.data.labels import check_label_rows, encode_labels, listed


def inner_estimator(estimator):
    """Return what a search has chosen or a pipeline ends in; None for all others."""
    if hasattr(estimator, "best_estimator_"):
        return estimator.best_estimator_
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else None


def answering_estimator(estimator, X):
    """Return the estimator inside searches and pipelines that answers, and its input.

    A pipeline stays whole if its last step has only ``predict_proba``, for the pipeline
    has it as well.
    """
    while not _answers_itself(estimator):
        inner = inner_estimator(estimator)
        if inner is None:
            break
        if getattr(estimator, "steps", None):
            if not _answers_itself(inner):
                break
            X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        estimator = inner
    return estimator, X


def _answers_itself(estimator):
    return hasattr(estimator, "predict_all") or hasattr(estimator, "predict_confidence")


def predictions_of(tagger, X):
    """Return `Predictions` of a tagger of this package or of another one."""
    if hasattr(tagger, "predict_all"):
        return tagger.predict_all(X)
    return Predictions(MethodLayer(tagger, X), X)


class MethodLayer:
    """The answers of a tagger that has methods in the manner of sklearn-crfsuite.

    Parameters
    ----------
    tagger : object
        A fitted tagger with ``predict(X)`` and at least one of
        ``predict_confidence(X, method, **options)`` (a number per token) and
        ``predict_marginals(X)`` (a dict from label to probability per token). Questions
        about labels need the latter, those about spans ``predict_entities(X)``.
    X : sequences
        The sequences.
    """

    def __init__(self, tagger, X):
        if not hasattr(tagger, "predict_marginals"):
            _method(tagger, "predict_confidence")
        self._tagger, self._name, self._X = tagger, type(tagger).__name__, X

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise TypeError(f"{self._name} cannot answer {name}; use a tagger of skcw")

    @cached_property
    def _labels(self):
        return check_label_rows(listed(self._tagger.predict(self._X), "predict"), "y")

    @cached_property
    def _marginals(self):
        return _method(self._tagger, "predict_marginals")(self._X)

    @cached_property
    def classes(self):
        """The labels that the tagger knows, and those that it predicts besides."""
        known = list(getattr(self._tagger, "classes_", ()))
        return list(dict.fromkeys([*known, *chain.from_iterable(self._labels)]))

    @cached_property
    def offsets(self):
        """Where each sequence begins."""
        return offsets_of([len(row) for row in self._labels])

    @cached_property
    def codes(self):
        """The numbers of the predicted labels."""
        return encode_labels(self._labels, self.classes, grow=False)[0]

    @property
    def confidence_methods(self):
        """The methods of ours that the tagger has."""
        has_marginals = hasattr(self._tagger, "predict_marginals")
        return {"marginal": METHODS["marginal"]} if has_marginals else {}

    def confidence(self, method, options):
        """Return the confidence in the predicted labels."""
        given = _given(method, options)
        if not hasattr(self._tagger, "predict_confidence"):
            table = self.label_table(method, options)
            return table[np.arange(len(table)), self.codes]
        rows = listed(self._tagger.predict_confidence(self._X, **given), "confidence")
        check_same_lengths(np.diff(self.offsets), [len(row) for row in rows])
        return np.array(list(chain.from_iterable(rows)), dtype=np.float64)

    def label_table(self, method, options):
        """Return the probability of every label at every token."""
        if _given(method, options) not in ({}, {"method": "marginal"}):
            raise ValueError(
                f"{self._name} answers this question by its marginals, which take no "
                "method and no options"
            )
        tokens = list(chain.from_iterable(self._marginals))
        rows = [[token.get(label, 0.0) for label in self.classes] for token in tokens]
        return np.array(rows, dtype=np.float64).reshape(len(tokens), len(self.classes))

    def marginals(self):
        """Return the marginal of every label at every token."""
        return self.label_table(None, {})

    def label_confidence(self, codes, method, options):
        """Return the confidence in given labels."""
        return self.label_table(method, options)[np.arange(len(codes)), codes]

    def entities(self, entity_confidence, method, options):
        """Return the entities of each sequence."""
        if entity_confidence is not None:
            options = {"entity_confidence": entity_confidence, **options}
        found = _method(self._tagger, "predict_entities")
        return found(self._X, **_given(method, options))

    def pair_confidence(self, left, right, method, options):
        """Raise: a table of single tokens does not tell how neighbors hang together."""
        raise TypeError(
            f"{self._name} cannot tell how probable pairs of labels are; that takes a "
            "tagger of skcw. CRFSequenceTagger.from_crfsuite reads the models of "
            "CRFsuite"
        )


def row_confidence(classifier, X, labels, method=None, **options):
    """Return the confidence of a classifier in its labels of rows.

    Parameters
    ----------
    classifier : object
        A fitted classifier with ``predict_confidence(X, method, **options)`` or, as in
        scikit-learn, ``predict_proba(X)``.
    X : array of shape (n_rows, n_features)
        The rows.
    labels : ndarray of shape (n_rows,)
        What it predicts.
    method, **options : object
        Those of ``predict_confidence``.

    Returns
    -------
    confidence : ndarray of shape (n_rows,)
        One number per row.
    """
    if hasattr(classifier, "predict_confidence"):
        return classifier.predict_confidence(X, **_given(method, options))
    proba = row_probabilities(classifier, X, method, **options)
    column = {label: j for j, label in enumerate(classifier.classes_.tolist())}
    columns = [column[label] for label in labels.tolist()]
    return proba[np.arange(len(proba)), columns]


def row_probabilities(classifier, X, method=None, **options):
    """Return ``predict_proba`` of a classifier; raise if it has none, or at options."""
    name, given = type(classifier).__name__, _given(method, options)
    if given:
        raise ValueError(
            f"{name} answers by predict_proba, which takes no {', '.join(given)}"
        )
    if not hasattr(classifier, "predict_proba"):
        raise TypeError(
            f"{name} has neither predict_confidence nor predict_proba; "
            "CalibratedClassifierCV of scikit-learn gives it the latter"
        )
    return np.asarray(classifier.predict_proba(X), dtype=np.float64)


def _given(method, options):
    return dict(options) if method is None else {"method": method, **options}


def _method(tagger, name):
    """Return a method of a tagger; raise and say what it is needed for."""
    if not hasattr(tagger, name):
        raise TypeError(
            f"y holds sequences of labels, so the estimator must be a tagger with "
            f"{name}; {type(tagger).__name__} has none"
        )
    return getattr(tagger, name)
