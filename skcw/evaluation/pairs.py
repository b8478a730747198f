"""Pairs of confidence and truth, from fitted estimators or from samples."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from skcw._util.checks import check_same_length, check_same_lengths
from skcw.confidence.foreign import (
    answering_estimator,
    predictions_of,
    row_confidence,
    row_probabilities,
)
from skcw.data.labels import check_label_rows, listed, listed_in_order, refuse_unordered
from skcw.data.schemes import extract_spans, split_label
from skcw.metrics.label_scores import joined_matches
from skcw.tagging.crf import as_tagger

# The kinds of questions: the predicted label, any given labels, pairs of labels of
# neighbors, predicted spans.
RIGHT, LABEL, PAIR, SPAN = "right", "label", "pair", "span"
ANY_TYPE = "*"
# How strings begin that stand for dicts with the same key.
_STARTS = {"not": "not ", SPAN: "span:", PAIR: "pair:"}

_FORMS = (
    "None, a label, a list or set of labels, 'not LABEL', {'not': labels}, 'pair:LABEL "
    "LABEL', {'pair': pairs of labels}, 'span:TYPE' or {'span': types}"
)


class Question(NamedTuple):
    """A yes/no question about every token, pair of neighbors or predicted span.

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
    >>> from skcw.evaluation.pairs import Question
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
    >>> from skcw.evaluation.pairs import parse_query
    >>> parse_query("not O")
    Question(kind='label', labels=('O',), negated=True)
    >>> str(parse_query("span:PER"))
    'span of PER'
    """
    if query is None:
        return Question(RIGHT)
    form, named = _form(query)
    if form == PAIR:
        return Question(PAIR, _pairs(named, query))
    names = _names(named, query)
    if form == SPAN:
        return Question(SPAN, () if ANY_TYPE in names else names)
    return Question(LABEL, names, negated=form == "not")


def _form(query):
    """Return "not", "span", "pair" or None, and what this is about."""
    if isinstance(query, dict):
        if len(query) != 1 or not query.keys() <= set(_STARTS):
            raise ValueError(f"query is {query!r}; it must be {_FORMS}")
        return next(iter(query.items()))
    for form, start in _STARTS.items():
        if isinstance(query, str) and query.startswith(start):
            named = query.removeprefix(start)
            return form, named.split() if form == PAIR else named.strip()
    return None, query


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
BEYOND_ONE = 1e-6


class ConfidencePairs(NamedTuple):
    """Outcomes and claimed probabilities, one entry for each answer.

    Parameters
    ----------
    correct : ndarray of bool, shape (n,)
        Whether the answer is yes.
    confidence : ndarray of float64, shape (n,)
        The claimed probability.
    groups : ndarray of intp, shape (n,)
        The number of the sequence, or of the row, that was asked about.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.evaluation.pairs import ConfidencePairs
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
    estimator: Any,
    X: Iterable[Any],
    y: Iterable[Any],
    query: Any = None,
    *,
    method: str | None = None,
    confidence_options: dict[Any, Any] | None = None,
) -> Any:
    """Ask a fitted estimator a yes/no question about every token, row or span.

    Parameters
    ----------
    estimator : tagger or classifier
        A fitted one of skcw, scikit-learn or your own; a search or a pipeline around
        one will do.
    X : sequences, or rows of a classifier
        Data that it has not learned from.
    y : sequences of labels, or labels of rows
        The truth. Flat labels ask about rows, sequences of labels about tokens.
    query : label, collection of labels, str, dict or None, default=None
        The question.

        - None: is the predicted label right?
        - ``"NN"``: is this an NN? Asked of every token, whatever label was predicted.
        - ``["NN", "NNS"]``, or a set: is it one of these?
        - ``"not O"``, or ``{"not": ["O", "X"]}``: is it none of these?
        - ``"pair:DT NN"``, or ``{"pair": [("DT", "NN"), ("JJ", "NN")]}``: have this
          token and the next one these labels? Asked of every two neighbors.
        - ``"span:PER"``, or ``{"span": ["PER", "LOC"]}``: is this predicted entity of
          that type in the truth, from the same first to the same last token?
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
    skcw.metrics.score_interval : Intervals of a score of such pairs.
    make_confidence_scorer : The same question for ``scoring=``.

    Notes
    -----
    A tagger of this package is asked once (``predict_all``), and a list of labels costs
    one table of all labels. Other taggers answer by ``predict`` and
    ``predict_confidence`` or ``predict_marginals``, classifiers by
    ``predict_confidence`` or ``predict_proba``.

    A label that the estimator does not know has probability 0. If the truth does not
    have it either, it is an error.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.evaluation import confidence_pairs
    >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]]
    >>> y = [["PER", "O", "PER"], ["PER", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> answers = confidence_pairs(
    ...     tagger, [["Bob", "met"], ["Ann"]], [["PER", "O"], ["O"]])
    >>> answers.correct.tolist()
    [True, True, False]
    >>> answers.groups.tolist()
    [0, 0, 1]
    >>> answers = confidence_pairs(tagger, [["Bob", "met"]], [["PER", "O"]], "not O")
    >>> answers.correct.tolist()
    [True, False]
    """
    question = parse_query(query)
    X = list(X) if isinstance(X, Iterator) else X
    refuse_unordered(y, "y")
    y = listed(y, "y") if not hasattr(y, "__len__") else y
    estimator, X = answering_estimator(estimator, X)
    estimator = as_tagger(estimator)
    given = check_confidence_options(confidence_options)
    given = given if method is None else {"method": method, **given}
    if is_flat(y):
        return _ask_rows(estimator, X, np.asarray(y), question, given)
    rows = check_label_rows(y, "y")
    ask = {RIGHT: _ask_tokens, LABEL: _ask_labels, PAIR: _ask_labels, SPAN: _ask_spans}
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


def _ask_tokens(tagger, X, rows, question, given):
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
    """Answer whether each token has, or has not, given labels, or each two neighbors.

    Labels of two neighbors are pairs.
    """
    labels, truth = question.labels, list(chain.from_iterable(rows))
    named = chain.from_iterable(labels) if question.kind == PAIR else labels
    _check_known(named, getattr(tagger, "classes_", ()), truth)
    asked = predictions_of(tagger, X)
    check_same_lengths(asked.lengths, list(map(len, rows)))
    if question.kind == PAIR:
        rows = [list(pairwise(row)) for row in rows]
        claimed = _joined(asked.pair_confidence(labels, **given))
    else:
        claimed = _summed(asked.label_table(**given), asked.classes, labels)
    found = _among(chain.from_iterable(rows), labels)
    return _answers(*_yes(found, claimed, question), _row_numbers(rows))


def _summed(table, classes, labels):
    """Return the probability that a token has one of some labels."""
    columns = [k for k, label in enumerate(classes) if label in labels]
    return table[:, columns].sum(axis=1)


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
    if ((confidence >= -BEYOND_ONE) & (confidence <= 1 + BEYOND_ONE)).all():
        confidence = np.clip(confidence, 0.0, 1.0)
    return ConfidencePairs(
        np.asarray(correct, dtype=bool),
        confidence,
        np.asarray(groups, dtype=np.intp),
    )


def _check_known(labels, classes, truth, what="label"):
    """Raise at a label that neither the estimator nor the truth has: a slip."""
    known = {*np.asarray(classes).tolist(), *truth}
    _check_named(
        labels, known, f"query names the {what}", "estimator nor the truth has"
    )


def _check_named(labels, known, names, who):
    unknown = [label for label in labels if label not in known]
    if unknown and known:
        raise ValueError(
            f"{names} {unknown[0]!r}, which neither the {who}; they have "
            f"{', '.join(sorted(map(repr, known)))}{_hint(unknown[0], known)}"
        )


def _hint(name, known):
    """Return a hint at a likely meaning of an unknown name."""
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
    """Return the tokens of all rows in one array."""
    return np.concatenate([np.empty(0), *map(np.asarray, rows)])


def _row_numbers(rows):
    return np.repeat(np.arange(len(rows)), list(map(len, rows)))


_ANSWERS = (
    "a question must return either one bool for everything it asks about, the same "
    "things in the same order for every structure, or the set of all places where the "
    "answer is yes"
)


def sampled_pairs(samples: Iterable[Any], truth: Iterable[Any], question: Any) -> Any:
    """Ask a yes/no question about structures of which samples were drawn.

    The share of samples that say yes is the claim of the model, and the answer of the
    true structure says is the outcome. Structures may be anything that a question can
    be asked about: labelings, clusterings of mentions, trees.

    Parameters
    ----------
    samples : sequence of sequences of structures
        For each sentence or document the structures that were drawn for it, such as
        ``sample`` returns. Each may have any number of them, but one.
    truth : sequence of structures
        The true structure of each.
    question : callable, or a query about labelings
        A function of one structure, drawn or true, which is asked once where equal
        lists of labels were drawn. It returns one of these:

        - a sequence or array of bools: whether the answer is yes, for each thing that
          is asked about. These must be the same things, in the same order, for all
          structures of a document: all its tokens, or all pairs of its mentions
          (:func:`same_cluster`);
        - a set: the places where the answer is yes, such as the spans of all
          constituents of a tree. It is asked about each place where a sample says yes.
          Those that every sample has missed are not asked about.

        Of labelings, the queries of :func:`confidence_pairs` can be asked, except None:
        the label of every token (``"NN"``, ``"not O"``), pairs of neighbors
        (``"pair:DT NN"``), and each entity that was drawn (``"span:PER"``).

    Returns
    -------
    answers : ConfidencePairs
        The named tuple ``(correct, confidence, groups)`` of flat arrays: what every
        score, interval and display of confidence takes. The groups are the numbers of
        the documents, whose answers hang together.

    See Also
    --------
    confidence_pairs : Questions that a fitted model answers without samples.
    skcw.display.ConfidenceCalibrationDisplay : ``from_predictions`` draws the answers.

    Notes
    -----
    A share of n samples has a standard error of up to ``0.5 / sqrt(n)`` around what
    the model believes. Draw so many that this is small beside the miscalibration that
    matters; some hundreds will do to tell gaps of 0.05.

    Examples
    --------
    Do two mentions belong to one cluster? Two documents, with three and two mentions
    and four samples of each:

    >>> from skcw.evaluation import sampled_pairs
    >>> from skcw.evaluation.pairs import same_cluster
    >>> samples = [
    ...     [[0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 0, 2]],
    ...     [[0, 0], [0, 1], [0, 0], [0, 0]]]
    >>> answers = sampled_pairs(samples, [["x", "x", "y"], ["x", "x"]], same_cluster)
    >>> answers.confidence.tolist(), answers.correct.tolist()
    ([0.75, 0.25, 0.5, 0.75], [True, False, False, True])
    >>> answers.groups.tolist()
    [0, 0, 0, 1]

    Of trees, a function finds the places: here brackets around tokens 0 to 2 or 1 to 3.

    >>> trees = [[{(0, 2)}, {(0, 2)}, {(1, 3)}]]
    >>> sampled_pairs(trees, [{(0, 2)}], set).correct.tolist()
    [True, False]
    """
    samples = listed_in_order(samples, "samples")
    truth = listed_in_order(truth, "truth")
    check_same_length(len(samples), len(truth), ("samples", "truth"), "structures")
    samples = [_drawn(row, number) for number, row in enumerate(samples)]
    if not callable(question):
        question = _of_labelings(question, samples, truth)
    correct, confidence = [np.empty(0, dtype=bool)], [np.empty(0)]
    for number, (drawn, true) in enumerate(zip(samples, truth, strict=True)):
        outcome, share = _asked(question, drawn, true, number)
        correct.append(outcome)
        confidence.append(share)
    groups = np.repeat(np.arange(len(truth)), list(map(len, correct[1:])))
    return ConfidencePairs(np.concatenate(correct), np.concatenate(confidence), groups)


def same_cluster(clustering):
    """Tell of every pair of mentions whether they belong to one cluster.

    A question for :func:`sampled_pairs`.

    Parameters
    ----------
    clustering : array-like of shape (n_mentions,)
        The cluster of each mention: a number or a name. A mention alone has a cluster
        of its own.

    Returns
    -------
    together : ndarray of bool, shape (n_mentions * (n_mentions - 1) / 2,)
        The pairs (0, 1), (0, 2), ... (1, 2), ... in this order.

    Examples
    --------
    >>> from skcw.evaluation.pairs import same_cluster
    >>> same_cluster(["Ann", "Bob", "Ann"]).tolist()
    [False, True, False]
    """
    clusters = np.asarray(clustering)
    if clusters.dtype.kind in "US" and not isinstance(clustering, np.ndarray):
        # NumPy would make names of numbers, and of what is missing.
        clusters = np.asarray(clustering, dtype=object)
    if clusters.ndim != 1:
        raise ValueError(
            f"clustering has {clusters.ndim} dimensions; it must name the cluster of "
            "each mention"
        )
    # What is missing differs from itself, or is None.
    missing = np.flatnonzero((clusters != clusters) | np.equal(clusters, None))
    if missing.size:
        raise ValueError(
            f"clustering[{missing[0]}] is {clusters[missing[0]]}; give a mention that "
            "is alone a cluster of its own"
        )
    left, right = _all_pairs(len(clusters))
    return clusters[left] == clusters[right]


# All samples of a document have the same pairs.
@lru_cache(maxsize=1)
def _all_pairs(n):
    return np.triu_indices(n, 1)


def _drawn(row, number):
    """Return the samples of one structure as a list."""
    row = listed_in_order(row, f"samples[{number}]")
    if not row:
        raise ValueError(
            f"samples[{number}] is empty; a share needs at least one sample"
        )
    return row


def _asked(question, drawn, true, number):
    """Return the outcomes and the shares of all places of one structure."""
    right = _answer(question, true, f"truth[{number}]")
    answers = (
        (k, times, _answer(question, drawn[k], f"samples[{number}][{k}]"))
        for k, times in _distinct(drawn)
    )
    tally = _shares_of_places if isinstance(right, Set) else _shares
    return tally(right, answers, len(drawn), number)


def _distinct(drawn):
    """Return the first place of each distinct sample, and how often it was drawn.

    What cannot be hashed is asked each time, as are arrays.
    """
    found = {}
    for k, structure in enumerate(drawn):
        # Only a plain list is nothing but its items.
        key = tuple(structure) if type(structure) is list else structure
        try:
            found.setdefault(key, [k, 0])[1] += 1
        except TypeError:
            found[object()] = [k, 1]
    return found.values()


def _shares(right, answers, n, number):
    """Return outcomes and shares where every answer names all places."""
    total = np.zeros(len(right))
    for k, times, yes in answers:
        if isinstance(yes, Set) or len(yes) != len(right):
            what = "a set" if isinstance(yes, Set) else f"{len(yes)} answers"
            raise ValueError(
                f"of truth[{number}] the question returned {len(right)} answers, but "
                f"of samples[{number}][{k}] {what}; {_ANSWERS}"
            )
        total += times * yes
    return right, total / n


def _shares_of_places(right, answers, n, number):
    """Return the same where answers are the places that say yes."""
    votes = Counter()
    for k, times, yes in answers:
        if not isinstance(yes, Set):
            raise ValueError(
                f"of truth[{number}] the question returned a set, but of "
                f"samples[{number}][{k}] {len(yes)} answers; {_ANSWERS}"
            )
        votes.update(dict.fromkeys(yes, times))
    # The order of a set changes from run to run.
    places = sorted(votes, key=repr)
    correct = np.array([place in right for place in places], dtype=bool)
    return correct, np.array([votes[place] / n for place in places], dtype=np.float64)


def _answer(question, structure, name):
    """Return a set of places or an array of bools."""
    found = question(structure)
    if isinstance(found, Set):
        return found
    if isinstance(found, (str, bytes, Mapping)) or not hasattr(found, "__iter__"):
        raise TypeError(f"of {name} the question returned {found!r}; {_ANSWERS}")
    found = np.asarray(found if hasattr(found, "__len__") else list(found))
    if found.ndim == 1 and (found.dtype.kind == "b" or not len(found)):
        return found.astype(bool)
    if found.ndim == 1 and found.dtype.kind in "iuf" and np.isin(found, (0, 1)).all():
        return found.astype(bool)
    raise TypeError(
        f"of {name} the question returned an array of type {found.dtype} and shape "
        f"{found.shape}; {_ANSWERS}"
    )


def _of_labelings(query, samples, truth):
    """Return a function that answers a query about a labeling."""
    asked = parse_query(query)
    if asked.kind == RIGHT:
        raise ValueError(
            "question is None, which asks about predicted labels, and samples have "
            "none; ask about a label, such as 'NN', or give a function"
        )
    rows = [
        check_label_rows([row, *labelings], f"truth[{number}] and its samples")
        for number, (row, labelings) in enumerate(zip(truth, samples, strict=True))
    ]
    wanted = set(asked.labels)
    named = set(chain.from_iterable(wanted)) if asked.kind == PAIR else wanted
    known, what = set(chain.from_iterable(chain.from_iterable(rows))), "label"
    if asked.kind == SPAN:
        spans = (extract_spans(row) for each in rows for row in each)
        known, what = {span.label for row in spans for span in row}, "type of entity"
    who = "samples nor the truth have"
    _check_named(sorted(named), known, f"question names the {what}", who)
    if asked.kind == LABEL:
        return lambda labels: [(each in wanted) != asked.negated for each in labels]
    if asked.kind == PAIR:
        return lambda labels: [each in wanted for each in pairwise(labels)]
    return lambda labels: {
        tuple(span)
        for span in extract_spans(labels)
        if not wanted or span.label in wanted
    }
