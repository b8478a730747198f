"""Claimed probabilities and outcomes of a yes/no question asked of an estimator."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from skcw.metrics._checks import check_label_rows, listed, refuse_unordered
from skcw.metrics._outcome_checks import check_outcomes
from skcw.metrics._questions import LABEL, RIGHT, SPAN, parse_query
from skcw.metrics.outcomes import label_matches
from skcw.metrics.spans import extract_spans, split_label

# Probabilities leave [0, 1] by rounding: in single precision by no more than this.
ROUNDING = 1e-6


class Answers(NamedTuple):
    """What an estimator claims and what is true, one entry for every time it was asked.

    Parameters
    ----------
    confidence : ndarray of float64, shape (n,)
        How sure the estimator is that the answer is yes.
    correct : ndarray of bool, shape (n,)
        Whether it is.
    groups : ndarray of intp, shape (n,)
        The number of the sequence, or of the row, that was asked about.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.metrics import Answers, confidence_rmse
    >>> answers = Answers(np.array([0.9, 0.4]), np.array([True, False]), np.arange(2))
    >>> round(confidence_rmse(answers.confidence, answers.correct), 3)
    0.305
    """

    confidence: np.ndarray
    correct: np.ndarray
    groups: np.ndarray


def query_pairs(estimator, X, y, query=None, method=None, **options):
    """Ask a fitted estimator a yes/no question about every word, row or span.

    Parameters
    ----------
    estimator : tagger or classifier
        A fitted one of skcw, scikit-learn or your own; a search or a pipeline around
        one will do.
    X : sequences, or rows of a classifier
        What it has not learnt from.
    y : sequences of labels, or labels of rows
        The truth. Flat labels ask about rows, sequences of labels about words.
    query : label, collection of labels, str, dict or None, default=None
        The question.

        - None: is the predicted label right?
        - ``"NN"``: is this an NN? By ``label_confidence`` of the tagger, or its
          ``predict_marginals``, or ``predict_proba`` of the classifier, for every word,
          whatever label was predicted.
        - ``["NN", "NNS"]``, or a set: is it one of these?
        - ``"not O"``, or ``{"not": ["O", "X"]}``: is it none of these?
        - ``"span:PER"``, or ``{"span": ["PER", "LOC"]}``: is this predicted entity of
          that type in the truth, from the same first to the same last word?
          ``"span:*"`` asks it of every type. Entities that were missed are not asked
          about.

        A string is read as above; a label that looks like another form is put into a
        list.
    method : str, default=None
        A method of ``predict_confidence``; None is the estimator's default.
    **options : object
        Further options of ``predict_confidence``, such as ``scale``, ``temperature`` or
        ``n_draws``; for spans those of ``predict_entities``, of which
        ``definition="exact"`` is the one that means to be a probability.

    Returns
    -------
    answers : Answers
        The named tuple ``(confidence, correct, groups)`` of flat arrays: what every
        score of calibration takes.

    Notes
    -----
    A label that the estimator does not know has probability 0. If the truth does not
    have it either, it is an error.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.metrics import query_pairs
    >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]]
    >>> y = [["PER", "O", "PER"], ["PER", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> answers = query_pairs(tagger, [["Bob", "met"], ["Ann"]], [["PER", "O"], ["O"]])
    >>> answers.correct.tolist()
    [True, True, False]
    >>> answers.groups.tolist()
    [0, 0, 1]
    >>> query_pairs(tagger, [["Bob", "met"]], [["PER", "O"]], "not O").correct.tolist()
    [True, False]
    """
    question = parse_query(query)
    X = list(X) if isinstance(X, Iterator) else X
    refuse_unordered(y, "y")
    y = listed(y, "y") if not hasattr(y, "__len__") else y
    estimator, X = _who_answers(estimator, X)
    given = dict(options) if method is None else {"method": method, **options}
    if is_flat(y):
        return _ask_rows(estimator, X, np.asarray(y), question, given)
    rows = check_label_rows(y, "y")
    ask = {RIGHT: _ask_words, LABEL: _ask_labels, SPAN: _ask_spans}[question.kind]
    return ask(estimator, X, rows, question, given)


def _who_answers(estimator, X):
    """Return the estimator inside a search or a pipeline, and what it reads."""
    while not hasattr(estimator, "predict_confidence"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif _ends_in_confidence(estimator):
            steps = estimator.steps
            X = estimator[:-1].transform(X) if len(steps) > 1 else X
            estimator = steps[-1][1]
        else:
            break
    return estimator, X


def _ends_in_confidence(estimator):
    steps = getattr(estimator, "steps", None)
    return bool(steps) and hasattr(steps[-1][1], "predict_confidence")


def is_flat(y):
    """Tell whether labels stand by themselves instead of in sequences."""
    if hasattr(y, "__array__"):
        y = np.asarray(y)
    if isinstance(y, (str, bytes)) or not len(y):
        return False
    return isinstance(y[0], str) or not hasattr(y[0], "__len__")


def _ask_words(tagger, X, rows, question, given):
    """Answer whether each predicted label is right."""
    if not hasattr(tagger, "predict_marginals"):
        _method(tagger, "predict_confidence")
    predicted = listed(tagger.predict(X), "predict")
    _check_lengths([len(row) for row in predicted], rows)
    if hasattr(tagger, "predict_confidence"):
        confidence = tagger.predict_confidence(X, **given)
    else:
        # sklearn_crfsuite.CRF has marginals alone.
        rows_of_both = zip(_marginals(tagger, X, given), predicted, strict=True)
        confidence = [
            [word.get(label, 0.0) for word, label in zip(words, labels, strict=True)]
            for words, labels in rows_of_both
        ]
    correct = label_matches(rows, predicted)
    confidence, correct = check_outcomes(confidence, correct)
    return _answers(confidence, correct, _row_numbers(rows))


def _ask_labels(tagger, X, rows, question, given):
    """Answer whether each word has, or has not, one of some labels."""
    truth = list(chain.from_iterable(rows))
    _check_known(question.labels, getattr(tagger, "classes_", ()), truth)
    if hasattr(tagger, "label_confidence"):
        claimed = _summed_confidence(tagger, X, rows, question.labels, given)
    else:
        claimed = _summed_marginals(tagger, X, rows, question.labels, given)
    found = _among(truth, question.labels)
    return _answers(*_asked(claimed, found, question), _row_numbers(rows))


def _summed_confidence(tagger, X, rows, labels, given):
    total = np.zeros(sum(map(len, rows)))
    for label in labels:
        everywhere = [[label] * len(row) for row in rows]
        total += _flat(tagger.label_confidence(X, everywhere, **given))
    return total


def _summed_marginals(tagger, X, rows, labels, given):
    marginals = _marginals(tagger, X, given)
    _check_lengths([len(words) for words in marginals], rows)
    words = chain.from_iterable(marginals)
    return np.array([sum(word.get(label, 0.0) for label in labels) for word in words])


def _marginals(tagger, X, given):
    """Return a dict of probabilities for every word."""
    if given not in ({}, {"method": "marginal"}):
        raise ValueError(
            f"{type(tagger).__name__} answers this question by its marginals, which "
            "take no method and no options"
        )
    return _method(tagger, "predict_marginals")(X)


def _check_lengths(found, rows):
    """Raise unless X has as many words as y in as many sequences."""
    if len(found) != len(rows):
        raise ValueError(f"X has {len(found)} sequences but y has {len(rows)}")
    for number, (length, row) in enumerate(zip(found, rows, strict=True)):
        if length != len(row):
            raise ValueError(
                f"sequence {number} has {length} words in X but {len(row)} labels in y"
            )


def _ask_spans(tagger, X, rows, question, given):
    """Answer whether each predicted entity of some types is in the truth."""
    found = listed(_method(tagger, "predict_entities")(X, **given), "predict_entities")
    if len(found) != len(rows):
        raise ValueError(f"X has {len(found)} sequences but y has {len(rows)}")
    for number, (entities, row) in enumerate(zip(found, rows, strict=True)):
        if any(entity.end > len(row) for entity in entities):
            raise ValueError(f"sequence {number} is longer in X than in y")
    spans = [set(map(tuple, extract_spans(row))) for row in rows]
    _check_types(question.labels, tagger, spans, found)
    asked = [
        (entity.confidence, tuple(entity[:3]) in truth, number)
        for number, (entities, truth) in enumerate(zip(found, spans, strict=True))
        for entity in entities
        if not question.labels or entity.label in question.labels
    ]
    return _answers(*zip(*asked, strict=True)) if asked else _answers([], [], [])


def _check_types(types, tagger, spans, found):
    """Raise at a type of entities that neither the tagger nor the truth has."""
    marked = map(split_label, getattr(tagger, "classes_", ()))
    known = {kind for role, kind in marked if role != "O"}
    known |= {entity.label for entities in found for entity in entities}
    truth = {kind for row in spans for kind, _, _ in row}
    _check_known(types, sorted(known), truth, what="entity type")


def _ask_rows(classifier, X, truth, question, given):
    """Answer the question for every row of a classifier."""
    if question.kind == SPAN:
        raise ValueError(
            "y holds single labels; spans are marked by sequences of labels"
        )
    _check_truth(truth.tolist(), classifier)
    if question.kind == RIGHT:
        confidence, correct = _sure_rows(classifier, X, truth, given)
    else:
        labels = truth.tolist()
        _check_known(question.labels, getattr(classifier, "classes_", ()), labels)
        claimed = _summed_proba(classifier, X, question.labels, given)
        _check_rows(len(claimed), len(labels))
        found = _among(labels, question.labels)
        confidence, correct = _asked(claimed, found, question)
    return _answers(confidence, correct, np.arange(len(truth)))


def _sure_rows(classifier, X, truth, given):
    """Return the probability of each predicted label and whether it is right."""
    predicted = np.asarray(classifier.predict(X))
    if predicted.ndim != 1 or (len(predicted) and not is_flat(predicted)):
        raise ValueError(
            f"y holds single labels, but {type(classifier).__name__} predicts several "
            "for each item of X; give as many for each item"
        )
    _check_rows(len(predicted), len(truth))
    if hasattr(classifier, "predict_confidence"):
        confidence = classifier.predict_confidence(X, **given)
    else:
        proba = _proba(classifier, X, given)
        column = {label: j for j, label in enumerate(classifier.classes_.tolist())}
        columns = [column[label] for label in predicted.tolist()]
        confidence = proba[np.arange(len(proba)), columns]
    return check_outcomes(confidence, predicted == truth)


def _summed_proba(classifier, X, labels, given):
    proba = _proba(classifier, X, given)
    known = classifier.classes_.tolist()
    columns = [known.index(label) for label in labels if label in known]
    return proba[:, columns].sum(axis=1)


def _proba(classifier, X, given):
    if given:
        raise ValueError(
            f"{type(classifier).__name__} answers by predict_proba, which takes no "
            f"{', '.join(given)}"
        )
    if not hasattr(classifier, "predict_proba"):
        raise TypeError(
            f"{type(classifier).__name__} has neither predict_confidence nor "
            "predict_proba; CalibratedClassifierCV of scikit-learn gives it the latter"
        )
    return np.asarray(classifier.predict_proba(X), dtype=np.float64)


def _method(tagger, name):
    """Return a method of a tagger, or say what it is needed for."""
    if not hasattr(tagger, name):
        raise TypeError(
            f"y holds sequences of labels, so the estimator must be a tagger with "
            f"{name}; {type(tagger).__name__} has none"
        )
    return getattr(tagger, name)


def _asked(claimed, found, question):
    """Return the probability of yes and whether it is yes."""
    claimed = np.asarray(claimed, dtype=np.float64)
    return (1.0 - claimed, ~found) if question.negated else (claimed, found)


def _answers(confidence, correct, groups):
    confidence = np.asarray(confidence, dtype=np.float64)
    # Distances go far beyond one, and stay what they are.
    if ((confidence >= -ROUNDING) & (confidence <= 1 + ROUNDING)).all():
        confidence = np.clip(confidence, 0.0, 1.0)
    return Answers(
        confidence,
        np.asarray(correct, dtype=bool),
        np.asarray(groups, dtype=np.intp),
    )


def _check_known(labels, classes, truth, what="label"):
    """Raise at a label that neither the estimator nor the truth has: a slip."""
    known = {*np.asarray(classes).tolist(), *truth}
    unknown = [label for label in labels if label not in known]
    if unknown and known:
        raise ValueError(
            f"query names the {what} {unknown[0]!r}, which neither the estimator nor "
            f"the truth has; there are {', '.join(sorted(map(repr, known)))}"
            + _hint(unknown[0], known)
        )


def _hint(name, known):
    """Return what else may have been meant by a name that is no label."""
    types = {kind for role, kind in map(split_label, map(str, known)) if role != "O"}
    return f". For whole entities ask 'span:{name}'" if name in types else ""


def _check_truth(truth, classifier):
    """Raise at labels that are missing, or of another type than those learnt."""
    for row, label in enumerate(truth):
        if label is None or (isinstance(label, float) and np.isnan(label)):
            raise ValueError(
                f"y[{row}] is {label}; a row without a true label cannot be judged, so "
                "leave it out of both X and y"
            )
    known = np.asarray(getattr(classifier, "classes_", ())).tolist()
    if not truth or not known or not set(truth).isdisjoint(known):
        return
    if isinstance(truth[0], str) != isinstance(known[0], str):
        raise ValueError(
            f"y holds labels such as {truth[0]!r}, but those that "
            f"{type(classifier).__name__} has learnt are such as {known[0]!r}: none "
            "could be right. Give y as it was given to fit"
        )


def _check_rows(n_rows, n_labels):
    if n_rows != n_labels:
        raise ValueError(f"X has {n_rows} rows but y has {n_labels} labels")


def _among(truth, labels):
    wanted = set(labels)
    return np.fromiter((label in wanted for label in truth), dtype=bool)


def _flat(rows):
    """Return the words of all rows in one array."""
    return np.concatenate([np.empty(0), *rows])


def _row_numbers(rows):
    lengths = [len(row) for row in rows]
    return np.repeat(np.arange(len(rows)), lengths)
