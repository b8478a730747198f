"""``sampled_pairs``: a yes/no question asked of sampled structures of any kind."""

from collections import Counter
from collections.abc import Mapping, Set
from functools import lru_cache
from itertools import chain, pairwise

import numpy as np

from skcw._util.checks import check_same_length
from skcw.data.labels import check_label_rows, listed_in_order
from skcw.data.schemes import extract_spans
from skcw.evaluation.pairs import LABEL, PAIR, RIGHT, ConfidencePairs, parse_query

_ANSWERS = (
    "a question must return either one bool for everything it asks about, the same "
    "things in the same order for every structure, or the set of all places where the "
    "answer is yes"
)


def sampled_pairs(samples, truth, question):
    """Ask a yes/no question about structures of which samples were drawn.

    The share of samples that say yes is what the model claims, and what the true
    structure says is the outcome. Structures may be anything that a question can be
    asked about: labelings, clusterings of mentions, trees.

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
          structures of a document: all its words, or all pairs of its mentions
          (:func:`same_cluster`);
        - a set: the places where the answer is yes, such as the spans of all
          constituents of a tree. It is asked about each place where a sample says yes.
          Those that every sample has missed are not asked about.

        Of labelings, the queries of :func:`confidence_pairs` can be asked, except None: the
        label of every word (``"NN"``, ``"not O"``), pairs of neighbors (``"pair:DT
        NN"``), and each entity that was drawn (``"span:PER"``).

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

    >>> from skcw.evaluation import sampled_pairs, same_cluster
    >>> samples = [
    ...     [[0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 0, 2]],
    ...     [[0, 0], [0, 1], [0, 0], [0, 0]]]
    >>> answers = sampled_pairs(samples, [["x", "x", "y"], ["x", "x"]], same_cluster)
    >>> answers.confidence.tolist(), answers.correct.tolist()
    ([0.75, 0.25, 0.5, 0.75], [True, False, False, True])
    >>> answers.groups.tolist()
    [0, 0, 0, 1]

    Of trees, a function finds the places: here brackets around words 0 to 2 or 1 to 3.

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
    >>> from skcw.evaluation import same_cluster
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
    """Return the function that answers a query of ``confidence_pairs`` about a labeling."""
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
    if asked.kind == LABEL:
        _check_drawn(wanted, rows)
        return lambda labels: [(each in wanted) != asked.negated for each in labels]
    if asked.kind == PAIR:
        _check_drawn(chain.from_iterable(wanted), rows)
        return lambda labels: [each in wanted for each in pairwise(labels)]
    types = {span.label for each in rows for row in each for span in extract_spans(row)}
    _check_known(wanted, types, "type of entity")
    return lambda labels: {
        tuple(span)
        for span in extract_spans(labels)
        if not wanted or span.label in wanted
    }


def _check_drawn(labels, rows):
    """Raise at a label that neither a sample nor the truth has: a slip."""
    known = {label for each in rows for row in each for label in row}
    _check_known(labels, known, "label")


def _check_known(names, known, kind):
    unknown = sorted(set(names) - known)
    if unknown and known:
        raise ValueError(
            f"question names the {kind} {unknown[0]!r}, which neither the samples nor "
            f"the truth have; they have {', '.join(sorted(map(repr, known)))}"
        )
