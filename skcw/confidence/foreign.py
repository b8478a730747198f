"""Adapters: ask any fitted tagger or classifier the same questions.

Taggers of this package answer by ``predict_all(X)``, which computes each thing once. Everything
else goes through an adapter below: taggers of other packages, such as
``sklearn_crfsuite.CRF``, by `MethodAnswers`, and classifiers by `RowAnswers`.
"""

from functools import cached_property
from itertools import chain

import numpy as np

from skcw.data.labels import listed


def inner_estimator(estimator):
    """Return what a search has chosen or a pipeline ends in; None for all others."""
    if hasattr(estimator, "best_estimator_"):
        return estimator.best_estimator_
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else None


def answering_estimator(estimator, X):
    """Return the estimator inside searches and pipelines that answers, and its input.

    A pipeline whose last step answers no questions is asked itself: it has
    ``predict_proba`` if its last step has.
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


def ask_tagger(tagger, X):
    """Return an object that answers questions about X.

    It has ``labels()``, ``confidence(method, **options)``, ``entities(method=,
    **options)``, ``label_table(method, **options)``, ``classes`` and ``lengths``, as
    what ``predict_all`` of a tagger of this package returns.
    """
    if hasattr(tagger, "predict_all"):
        return tagger.predict_all(X)
    return MethodAnswers(tagger, X)


class MethodAnswers:
    """Predictions of a tagger that has methods in the manner of sklearn-crfsuite.

    Parameters
    ----------
    tagger : object
        A fitted tagger with ``predict(X)`` and at least one of
        ``predict_confidence(X, method, **options)`` (a number per word) and
        ``predict_marginals(X)`` (a dict from label to probability per word). Questions
        about labels need the latter, those about spans ``predict_entities(X)``.
    X : sequences
        What it is asked about.
    """

    def __init__(self, tagger, X):
        if not hasattr(tagger, "predict_marginals"):
            _method(tagger, "predict_confidence")
        self._tagger = tagger
        self._X = X
        self._labels = None

    @property
    def classes(self):
        """The labels that the tagger knows."""
        return list(self._tagger.classes_)

    @property
    def lengths(self):
        """The number of words of each sequence."""
        return [len(row) for row in self.labels()]

    def labels(self):
        """Return the predicted labels of every sequence."""
        if self._labels is None:
            self._labels = listed(self._tagger.predict(self._X), "predict")
        return self._labels

    def confidence(self, method=None, **options):
        """Return how sure the tagger is of each predicted label."""
        given = _given(method, options)
        if hasattr(self._tagger, "predict_confidence"):
            return self._tagger.predict_confidence(self._X, **given)
        self._refuse_options(given)
        rows = zip(self._marginals, self.labels(), strict=True)
        return [
            [word.get(label, 0.0) for word, label in zip(words, labels, strict=True)]
            for words, labels in rows
        ]

    def label_table(self, method=None, **options):
        """Return the probability of every label for every word of all sequences."""
        self._refuse_options(_given(method, options))
        words = list(chain.from_iterable(self._marginals))
        rows = [[word.get(label, 0.0) for label in self.classes] for word in words]
        return np.array(rows, dtype=np.float64).reshape(len(words), len(self.classes))

    def entities(self, method=None, **options):
        """Return the entities that the tagger predicts in every sequence."""
        found = _method(self._tagger, "predict_entities")
        return found(self._X, **_given(method, options))

    def pair_confidence(self, pairs, method=None, **options):
        """Raise: a table of single words does not tell how neighbors hang together."""
        raise TypeError(
            f"{type(self._tagger).__name__} cannot tell how probable pairs of labels "
            "are; that takes a tagger of skcw. CRFSequenceTagger.from_crfsuite reads "
            "the models of CRFsuite"
        )

    @cached_property
    def _marginals(self):
        return _method(self._tagger, "predict_marginals")(self._X)

    def _refuse_options(self, given):
        if given not in ({}, {"method": "marginal"}):
            raise ValueError(
                f"{type(self._tagger).__name__} answers this question by its marginals,"
                " which take no method and no options"
            )


class RowAnswers:
    """Predictions of a classifier about the rows of X.

    Parameters
    ----------
    classifier : object
        A fitted classifier with ``predict_confidence(X, method, **options)`` or, as in
        scikit-learn, ``predict_proba(X)``.
    X : array of shape (n_rows, n_features)
        What it is asked about.
    """

    def __init__(self, classifier, X):
        self._classifier = classifier
        self._X = X

    def labels(self):
        """Return the predicted label of every row."""
        return np.asarray(self._classifier.predict(self._X))

    def confidence(self, predicted, method=None, **options):
        """Return how sure the classifier is of each predicted label."""
        given = _given(method, options)
        if hasattr(self._classifier, "predict_confidence"):
            return self._classifier.predict_confidence(self._X, **given)
        proba = self._proba(given)
        column = {label: j for j, label in enumerate(self.classes)}
        columns = [column[label] for label in predicted.tolist()]
        return proba[np.arange(len(proba)), columns]

    def label_table(self, method=None, **options):
        """Return the probability of every label for every row."""
        return self._proba(_given(method, options))

    @property
    def classes(self):
        """The labels that the classifier knows."""
        return self._classifier.classes_.tolist()

    def _proba(self, given):
        name = type(self._classifier).__name__
        if given:
            raise ValueError(
                f"{name} answers by predict_proba, which takes no {', '.join(given)}"
            )
        if not hasattr(self._classifier, "predict_proba"):
            raise TypeError(
                f"{name} has neither predict_confidence nor predict_proba; "
                "CalibratedClassifierCV of scikit-learn gives it the latter"
            )
        return np.asarray(self._classifier.predict_proba(self._X), dtype=np.float64)


def _given(method, options):
    return dict(options) if method is None else {"method": method, **options}


def _method(tagger, name):
    """Return a method of a tagger; raise and tell what it is needed for."""
    if not hasattr(tagger, name):
        raise TypeError(
            f"y holds sequences of labels, so the estimator must be a tagger with "
            f"{name}; {type(tagger).__name__} has none"
        )
    return getattr(tagger, name)
