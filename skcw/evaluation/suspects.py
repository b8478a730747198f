"""Spans of a corpus whose labels are probably wrong."""

from collections import Counter
from itertools import chain
from typing import NamedTuple

from skcw.data.schemes import are_spans, extract_spans, stray_labels


class Suspect(NamedTuple):
    """A stretch of words whose given labels differ from the expected ones.

    Parameters
    ----------
    sentence : int
        The sentence.
    start, end : int
        The first of the words, and the one after the last.
    given, expected : list of str
        Their labels in the corpus, and those that a tagger gives.
    confusion : tuple of (str, str)
        The types of the given and of the expected spans, ``"O"`` if there is none.
        Spans of one type differ in their words.
    probability : float
        The highest probability of a given label that differs; an error makes all of
        them improbable.

    Examples
    --------
    >>> from skcw.evaluation.suspects import suspicious_spans
    >>> given, expected = [["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]]
    >>> suspicious_spans(given, expected, [[0.9, 0.1, 0.9]])[0].confusion
    ('PER', 'PER')
    """

    sentence: int
    start: int
    end: int
    given: list
    expected: list
    confusion: tuple
    probability: float


def suspicious_spans(y, expected, probability):
    """Return where labels differ, one entry for all words of spans that overlap.

    Parameters
    ----------
    y, expected : sequences of lists of str
        The given labels, and those of a tagger that has not learned from them.
    probability : sequences of arrays of float
        The probability of each given label, by the same tagger.

    Returns
    -------
    suspects : list of Suspect
        The least probable first. Labels that mark no spans are judged word by word.

    Examples
    --------
    >>> from skcw.evaluation.suspects import suspicious_spans
    >>> given, expected = [["B-PER", "I-PER", "O"]], [["B-LOC", "I-LOC", "O"]]
    >>> (suspect,) = suspicious_spans(given, expected, [[0.2, 0.1, 0.9]])
    >>> suspect.start, suspect.end, suspect.confusion, suspect.probability
    (0, 2, ('PER', 'LOC'), 0.2)
    """
    counts = Counter(chain.from_iterable(chain(y, expected)))
    # A slip or two is a span of its own type.
    spans_of = _spans if are_spans(counts.keys() - stray_labels(counts)) else _words
    rows = enumerate(zip(y, expected, probability, strict=True))
    found = [suspect for s, row in rows for suspect in _of_sentence(s, *row, spans_of)]
    return sorted(found, key=lambda suspect: (suspect.probability, suspect[:2]))


def _of_sentence(s, mine, theirs, sure, spans_of):
    """Yield the suspects of a sentence."""
    sides = spans_of(mine), spans_of(theirs)
    for start, end in _stretches(mine, theirs, sides):
        here = slice(start, end)
        kinds = tuple("+".join(_kinds(side, start, end)) or "O" for side in sides)
        doubts = [float(sure[t]) for t in range(start, end) if mine[t] != theirs[t]]
        yield Suspect(s, start, end, mine[here], theirs[here], kinds, max(doubts))


def _spans(labels):
    return [tuple(span) for span in extract_spans(labels)]


def _words(labels):
    return [(label, t, t + 1) for t, label in enumerate(labels)]


def _kinds(spans, start, end):
    return [kind for kind, first, last in spans if start <= first and last <= end]


def _stretches(mine, theirs, sides):
    """Return the ends of the smallest stretches with a fault that cut no span."""
    pairs = enumerate(zip(mine, theirs, strict=True))
    wrong = {t for t, (one, other) in pairs if one != other}
    spans = {(first, last) for side in sides for _, first, last in side}
    merged = []
    for first, last in sorted(spans | {(t, t + 1) for t in wrong}):
        if merged and first < merged[-1][1]:
            merged[-1][1] = max(last, merged[-1][1])
        else:
            merged.append([first, last])
    return [ends for ends in merged if wrong.intersection(range(*ends))]
