"""Pairs of confidence and truth from fitted estimators."""

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from skcw._util.checks import check_same_length, check_same_lengths
from skcw.confidence.foreign import (
    answering_estimator,
    predictions_of,
    row_confidence,
    row_probabilities,
)
from skcw.data.labels import check_label_rows, listed, refuse_unordered
from skcw.data.schemes import extract_spans, split_label
from skcw.metrics.token_scores import joined_matches

# What a question is about: the predicted label, any given labels, pairs of labels of
# neighbors, predicted spans.
RIGHT, LABEL, PAIR, SPAN = "right", "label", "pair", "span"
ANY_TYPE = "*"

_FORMS = (
    "None, a label, a list or set of labels, 'not LABEL', {'not': labels}, 'pair:LABEL "
    "LABEL', {'pair': pairs of labels}, 'span:TYPE' or {'span': types}"
)


class Question(NamedTuple):
    """A yes/no question about every word, pair of neighbors or predicted span.

    Parameters
    ----------
    kind : {"right", "label", "pair", "span"}
        Whether it is about the predicted label, about given labels, about labels of two
        neighbors, or about spans.
    labels : tuple, default=()
        The labels, the pairs of labels, or the types of spans; empty for spans of any
        type.
    negated : bool, default=False
        Whether it asks for none of the labels.

    Examples
    --------
    >>> from skcw.evaluation import Question
    >>> str(Question("label", ("NN", "NNS")))
    'NN or NNS'
    """

    kind: str
    labels: tuple = ()
    negated: bool = False

    def __str__(self):
        """Return the question in a few words, for the axes of a picture."""
        if self.kind == PAIR:
            return " or ".join(f"{left} {right}" for left, right in self.labels)
        names = " or ".join(map(str, self.labels)) or "any type"
        if self.kind == SPAN:
            return f"span of {names}"
        if self.kind == RIGHT:
            return "predicted label"
        several = self.negated and len(self.labels) > 1
        return f"{'not ' * self.negated}{f'({names})' if several else names}"


def parse_query(query):
    """Return the question that a query stands for.

    Parameters
    ----------
    query : label, collection of labels, str, dict or None
        As in :func:`confidence_pairs`.

    Returns
    -------
    question : Question
        Its kind and its labels; ``str`` writes it in a few words.

    Examples
    --------
    >>> from skcw.evaluation import parse_query
    >>> parse_query("not O")
    Question(kind='label', labels=('O',), negated=True)
    >>> str(parse_query("span:PER"))
    'span of PER'
    """
    if query is None:
        return Question(RIGHT)
    if isinstance(query, dict):
        return _parse_dict(query)
    if isinstance(query, str):
        if query.startswith("not "):
            return Question(LABEL, _names(query[4:].strip(), query), negated=True)
        if query.startswith("span:"):
            return _spans(query[5:].strip(), query)
        if query.startswith("pair:"):
            return Question(PAIR, _pairs(query[5:].split(), query))
    return Question(LABEL, _names(query, query))


def _parse_dict(query):
    if set(query) == {"not"}:
        return Question(LABEL, _names(query["not"], query), negated=True)
    if set(query) == {"span"}:
        return _spans(query["span"], query)
    if set(query) == {"pair"}:
        return Question(PAIR, _pairs(query["pair"], query))
    raise ValueError(f"query is {query!r}; it must be {_FORMS}")


def _spans(types, query):
    names = _names(types, query)
    return Question(SPAN, () if ANY_TYPE in names else names)


def _pairs(pairs, query):
    """Return one pair of labels or several as a tuple without repeats."""
    # A set of two labels does not say which comes first.
    has_order = not isinstance(pairs, (str, set, frozenset))
    is_one = isinstance(pairs, str) or not hasattr(pairs, "__iter__")
    pairs = [pairs] if is_one else list(pairs)
    if has_order and len(pairs) == 2 and all(isinstance(each, str) for each in pairs):
        pairs = [pairs]
    pairs = [
        list(p) if hasattr(p, "__iter__") and not isinstance(p, str) else [p]
        for p in pairs
    ]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"query is {query!r}; a pair has two labels, as in 'pair:DT NN' or "
            "{'pair': [('DT', 'NN'), ('JJ', 'NN')]}"
        )
    plain = [tuple(_plain(label, query) for label in pair) for pair in pairs]
    return tuple(dict.fromkeys(plain))


def _names(labels, query):
    """Return one label or several as a tuple without repeats."""
    if isinstance(labels, (set, frozenset)):
        labels = sorted(labels, key=str)
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        labels = (labels,)
    names = tuple(dict.fromkeys(_plain(label, query) for label in labels))
    if not names or "" in names:
        raise ValueError(f"query is {query!r} and names no label; it must be {_FORMS}")
    return names


def _plain(label, query):
    """Return a label of NumPy as the Python value it holds."""
    label = label.item() if hasattr(label, "item") else label
    if label is None or (hasattr(label, "__len__") and not isinstance(label, str)):
        raise TypeError(f"query is {query!r}; it must be {_FORMS}")
    return label


# Probabilities leave [0, 1] by rounding: in single precision by no more than this.
ROUNDING = 1e-6


class ConfidencePairs(NamedTuple):
    """What is true and what an estimator claims, one entry for every time it was asked.

    Parameters
    ----------
    correct : ndarray of bool, shape (n,)
        Whether the answer is yes.
    confidence : ndarray of float64, shape (n,)
        How sure the estimator is that it is.
    groups : ndarray of intp, shape (n,)
        The number of the sequence, or of the row, that was asked about.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.evaluation import ConfidencePairs
    >>> from skcw.metrics import brier_loss
    >>> correct, confidence = np.array([True, False]), np.array([0.9, 0.4])
    >>> answers = ConfidencePairs(correct, confidence, np.arange(2))
    >>> round(brier_loss(answers.correct, answers.confidence), 3)
    0.085
    """

    correct: np.ndarray
    confidence: np.ndarray
    groups: np.ndarray


def confidence_pairs(
    estimator, X, y, query=None, *, method=None, confidence_options=None
):
    """Ask a fitted estimator a yes/no question about every word, row or span.

    Parameters
    ----------
    estimator : tagger or classifier
        A fitted one of skcw, scikit-learn or your own; a search or a pipeline around
        one will do.
    X : sequences, or rows of a classifier
        What it has not learned from.
    y : sequences of labels, or labels of rows
        The truth. Flat labels ask about rows, sequences of labels about words.
    query : label, collection of labels, str, dict or None, default=None
        The question.

        - None: is the predicted label right?
        - ``"NN"``: is this an NN? Asked of every word, whatever label was predicted.
        - ``["NN", "NNS"]``, or a set: is it one of these?
        - ``"not O"``, or ``{"not": ["O", "X"]}``: is it none of these?
        - ``"pair:DT NN"``, or ``{"pair": [("DT", "NN"), ("JJ", "NN")]}``: have this
          word and the next one these labels? Asked of every two neighbors.
        - ``"span:PER"``, or ``{"span": ["PER", "LOC"]}``: is this predicted entity of
          that type in the truth, from the same first to the same last word?
          ``"span:*"`` asks it of every type. Entities that were missed are not asked
          about.

        A string is read as above; a label that looks like another form is put into a
        list.
    method : str, default=None
        A method of ``predict_confidence``; None is the estimator's default.
    confidence_options : dict, default=None
        Further options of ``predict_confidence``, such as ``{"n_draws": 50}``; for
        spans those of ``predict_entities``.

    Returns
    -------
    answers : ConfidencePairs
        The named tuple ``(correct, confidence, groups)`` of flat arrays: what every
        score of confidence takes.

    See Also
    --------
    skcw.metrics.score_interval : How far what is claimed is from coming true.
    make_confidence_scorer : The same question for ``scoring=``.

    Notes
    -----
    A tagger of this package is asked once (``predict_all``), and a list of labels costs one
    table of all labels. Other taggers answer by ``predict`` and ``predict_confidence``
    or ``predict_marginals``, classifiers by ``predict_confidence`` or
    ``predict_proba``.

    A label that the estimator does not know has probability 0. If the truth does not
    have it either, it is an error.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.evaluation import confidence_pairs
    >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]]
    >>> y = [["PER", "O", "PER"], ["PER", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> answers = confidence_pairs(tagger, [["Bob", "met"], ["Ann"]], [["PER", "O"], ["O"]])
    >>> answers.correct.tolist()
    [True, True, False]
    >>> answers.groups.tolist()
    [0, 0, 1]
    >>> confidence_pairs(tagger, [["Bob", "met"]], [["PER", "O"]], "not O").correct.tolist()
    [True, False]
    """
    question = parse_query(query)
    X = list(X) if isinstance(X, Iterator) else X
    refuse_unordered(y, "y")
    y = listed(y, "y") if not hasattr(y, "__len__") else y
    estimator, X = answering_estimator(estimator, X)
    given = check_confidence_options(confidence_options)
    given = given if method is None else {"method": method, **given}
    if is_flat(y):
        return _ask_rows(estimator, X, np.asarray(y), question, given)
    rows = check_label_rows(y, "y")
    ask = {RIGHT: _ask_words, LABEL: _ask_labels, PAIR: _ask_pairs, SPAN: _ask_spans}
    return ask[question.kind](estimator, X, rows, question, given)


def check_confidence_options(options):
    """Return options of ``predict_confidence`` as a dict; an empty one for None."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(
            f"confidence_options is {options!r}; it must be a dict of options of "
            "predict_confidence, such as {'n_draws': 50}"
        )
    return dict(options)


def is_flat(y):
    """Tell whether labels stand by themselves instead of in sequences."""
    if hasattr(y, "__array__"):
        y = np.asarray(y)
    if isinstance(y, (str, bytes)) or not len(y):
        return False
    return isinstance(y[0], str) or not hasattr(y[0], "__len__")


def _ask_words(tagger, X, rows, question, given):
    """Answer whether each predicted label is right."""
    asked = predictions_of(tagger, X)
    predicted = check_label_rows(asked.labels(), "y_pred")
    lengths = list(map(len, rows))
    check_same_lengths(list(map(len, predicted)), lengths)
    confidence = asked.confidence(**given)
    check_same_lengths(list(map(len, confidence)), lengths, ("predict_confidence", "y"))
    correct = joined_matches(rows, predicted)
    return _answers(correct, _joined(confidence), _row_numbers(rows))


def _ask_labels(tagger, X, rows, question, given):
    """Answer whether each word has, or has not, one of some labels."""
    truth = list(chain.from_iterable(rows))
    _check_known(question.labels, getattr(tagger, "classes_", ()), truth)
    asked = predictions_of(tagger, X)
    check_same_lengths(asked.lengths, list(map(len, rows)))
    claimed = _summed(asked.label_table(**given), asked.classes, question.labels)
    found = _among(truth, question.labels)
    return _answers(*_yes(found, claimed, question), _row_numbers(rows))


def _summed(table, classes, labels):
    """Return the probability that a word has one of some labels."""
    columns = [k for k, label in enumerate(classes) if label in labels]
    return table[:, columns].sum(axis=1)


def _ask_pairs(tagger, X, rows, question, given):
    """Answer whether each two neighbors have a pair of labels."""
    named = list(chain.from_iterable(question.labels))
    truth = list(chain.from_iterable(rows))
    _check_known(named, getattr(tagger, "classes_", ()), truth)
    asked = predictions_of(tagger, X)
    check_same_lengths(asked.lengths, list(map(len, rows)))
    claimed = asked.pair_confidence(question.labels, **given)
    wanted = set(question.labels)
    neighbors = [list(pairwise(row)) for row in rows]
    found = [pair in wanted for row in neighbors for pair in row]
    return _answers(found, _joined(claimed), _row_numbers(neighbors))


def _ask_spans(tagger, X, rows, question, given):
    """Answer whether each predicted entity of some types is in the truth."""
    found = list(predictions_of(tagger, X).entities(**given))
    check_same_length(len(found), len(rows))
    for number, (entities, row) in enumerate(zip(found, rows, strict=True)):
        if any(entity.end > len(row) for entity in entities):
            raise ValueError(f"sequence {number} is longer in X than in y")
    spans = [set(map(tuple, extract_spans(row))) for row in rows]
    _check_types(question.labels, tagger, spans, found)
    asked = [
        (tuple(entity[:3]) in truth, entity.confidence, number)
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
    if question.kind in (PAIR, SPAN):
        raise ValueError(
            f"y holds single labels; {question.kind}s are marked by sequences of labels"
        )
    labels = truth.tolist()
    _check_truth(labels, classifier)
    if question.kind == RIGHT:
        predicted = np.asarray(classifier.predict(X))
        predicted = _check_predicted(predicted, len(truth), classifier)
        confidence = row_confidence(classifier, X, predicted, **given)
        correct = predicted == truth
    else:
        _check_known(question.labels, getattr(classifier, "classes_", ()), labels)
        table = row_probabilities(classifier, X, **given)
        _check_rows(len(table), len(labels))
        claimed = _summed(table, classifier.classes_.tolist(), question.labels)
        found = _among(labels, question.labels)
        correct, confidence = _yes(found, claimed, question)
    return _answers(correct, confidence, np.arange(len(truth)))


def _check_predicted(predicted, n_labels, classifier):
    """Return the predicted labels if there is one for each label of the truth."""
    if predicted.ndim != 1 or (len(predicted) and not is_flat(predicted)):
        raise ValueError(
            f"y holds single labels, but {type(classifier).__name__} predicts several "
            "for each item of X; give as many for each item"
        )
    _check_rows(len(predicted), n_labels)
    return predicted


def _yes(found, claimed, question):
    """Return whether the answer is yes, and how probable that is said to be."""
    claimed = np.asarray(claimed, dtype=np.float64)
    return (~found, 1.0 - claimed) if question.negated else (found, claimed)


def _answers(correct, confidence, groups):
    confidence = np.asarray(confidence, dtype=np.float64)
    # Distances go far beyond one, and stay what they are.
    if ((confidence >= -ROUNDING) & (confidence <= 1 + ROUNDING)).all():
        confidence = np.clip(confidence, 0.0, 1.0)
    return ConfidencePairs(
        np.asarray(correct, dtype=bool),
        confidence,
        np.asarray(groups, dtype=np.intp),
    )


def _check_known(labels, classes, truth, what="label"):
    """Raise at a label that neither the estimator nor the truth has: a slip."""
    known = {*np.asarray(classes).tolist(), *truth}
    unknown = [label for label in labels if label not in known]
    if unknown and known:
        raise ValueError(
            f"query names the {what} {unknown[0]!r}, which neither the estimator nor "
            f"the truth has; they have {', '.join(sorted(map(repr, known)))}"
            + _hint(unknown[0], known)
        )


def _hint(name, known):
    """Return what else may have been meant by a name that is not a label."""
    types = {kind for role, kind in map(split_label, map(str, known)) if role != "O"}
    return f". For whole entities ask 'span:{name}'" if name in types else ""


def _check_truth(truth, classifier):
    """Raise at labels that are missing, or of another type than those learned."""
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
            f"{type(classifier).__name__} has learned are such as {known[0]!r}: none "
            "could be right. Give y as it was given to fit"
        )


def _check_rows(n_rows, n_labels):
    if n_rows != n_labels:
        raise ValueError(f"X has {n_rows} rows but y has {n_labels} labels")


def _among(truth, labels):
    wanted = set(labels)
    return np.fromiter((label in wanted for label in truth), dtype=bool)


def _joined(rows):
    """Return the words of all rows in one array."""
    return np.concatenate([np.empty(0), *map(np.asarray, rows)])


def _row_numbers(rows):
    return np.repeat(np.arange(len(rows)), list(map(len, rows)))
