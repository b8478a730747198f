"""Accept or review: what a saved model needs to act on a promise, in NumPy alone."""

import numpy as np

from skcw._util.ragged import object_rows
from skcw.data.saved import saved_kind, saved_number, shortened

WORD, ENTITY, SENTENCE = "word", "entity", "sentence"
UNITS = {WORD: "words", ENTITY: "entities", SENTENCE: "sentences"}
ACCEPT, REVIEW, NEITHER = "accept", "review", "_"
# Two samples that differ by chance alone give a smaller p-value once in so many times.
UNLIKELY = 0.001
# Fewer sentences tell nothing, more of them nothing new.
LEAST_SENTENCES, MOST_SENTENCES = 30, 2000


def checked_selection(selection):
    """Return what a model file says of acceptance; raise unless it can be acted upon.

    Parameters
    ----------
    selection : object
        Should be a dict with ``unit``, ``method``, ``entity_confidence``, ``promises`` and
        ``reference``.

    Returns
    -------
    selection : dict
        The same.
    """
    saved_kind(selection, "selection", dict)
    if selection["unit"] not in tuple(UNITS):
        raise ValueError(f"the unit is {shortened(selection['unit'])}")
    for name in ("method", "entity_confidence", "source"):
        if selection[name] is not None:
            saved_kind(selection[name], name, str)
    for promise in saved_kind(selection["promises"], "promises", list):
        for name in ("risk", "level", "threshold", "accepted", "observed", "needed"):
            if promise[name] not in ("inf", "-inf"):
                saved_number(promise[name], name)
    reference = saved_kind(selection["reference"], "reference", dict)
    if "confidence" not in reference:
        raise ValueError("there is no reference for the confidence")
    for name, numbers in reference.items():
        for number in saved_kind(numbers, name, list):
            saved_number(number, name)
    return selection


def unit_confidence(answers, unit, method=None, entity_confidence=None):
    """Return how sure a tagger is of each word, entity or sentence.

    Parameters
    ----------
    answers : Predictions
        What it says of some sentences.
    unit : {"word", "entity", "sentence"}
        What is judged.
    method : str, default=None
        A method of ``predict_confidence``.
    entity_confidence : str, default=None
        The event of ``predict_entities``.

    Returns
    -------
    confidence : ndarray of shape (n_sequences,), dtype object
        A float array for each sentence: a number for each of its words, one for each of
        its predicted entities, or one for all of it.
    """
    given = {} if method is None else {"method": method}
    if unit == WORD:
        return answers.confidence(**given)
    if unit == ENTITY:
        rows = answers.entities(entity_confidence, **given)
        return object_rows(np.array([e.confidence for e in row]) for row in rows)
    return object_rows(answers.sequence_confidence(**given).reshape(-1, 1))


def accepted(answers, selection, promise):
    """Return what is accepted: an array of bool for each sentence.

    Parameters
    ----------
    answers : Predictions
        What the model says of some sentences.
    selection : dict
        With ``unit``, ``method`` and ``entity_confidence``.
    promise : dict
        With ``threshold``.

    Returns
    -------
    accepted : ndarray of shape (n_sequences,), dtype object
        One array of bool per sentence, for its words, its entities or itself.
    """
    how = selection["unit"], selection["method"], selection["entity_confidence"]
    rows = unit_confidence(answers, *how)
    return object_rows(row >= promise["threshold"] for row in rows)


def word_marks(answers, selection, promise):
    """Return "accept" or "review" for every word, and how many units are accepted.

    Parameters
    ----------
    answers, selection, promise : object
        As in :func:`accepted`.

    Returns
    -------
    marks : list of str
        For all words; "_" for those outside of entities if entities are accepted.
    n_accepted, n_units : int
        Numbers of words, entities or sentences.
    """
    rows = accepted(answers, selection, promise)
    flat = np.concatenate([np.empty(0, dtype=bool), *rows])
    if selection["unit"] == ENTITY:
        marks = _entity_marks(answers, rows, selection["entity_confidence"])
    else:
        if selection["unit"] == SENTENCE:
            by_word = np.repeat(flat, answers.lengths)
        else:
            by_word = flat
        marks = [ACCEPT if sure else REVIEW for sure in by_word.tolist()]
    return marks, int(flat.sum()), len(flat)


def _entity_marks(answers, rows, entity_confidence):
    marks = []
    found = zip(answers.entities(entity_confidence), rows, answers.lengths, strict=True)
    for entities, row, length in found:
        words = [NEITHER] * int(length)
        for entity, sure in zip(entities, row, strict=True):
            mark = ACCEPT if sure else REVIEW
            words[entity.start : entity.end] = [mark] * (entity.end - entity.start)
        marks += words
    return marks


def sentence_means(numbers, offsets):
    """Return the mean of the numbers of each sentence that has words.

    Parameters
    ----------
    numbers : ndarray of shape (n_words,)
        A number for each word.
    offsets : ndarray of int, shape (n_sequences + 1,)
        Where each sentence begins.

    Returns
    -------
    means : ndarray of float64
        One for each sentence that is not empty.
    """
    lengths = np.diff(offsets)
    full = lengths > 0
    sums = np.add.reduceat(np.asarray(numbers, dtype=np.float64), offsets[:-1][full])
    return sums / lengths[full]


def kolmogorov_smirnov(first, second):
    """Return the largest distance of two distributions, and its p-value.

    Parameters
    ----------
    first, second : array of shape (n,), (m,)
        Two samples.

    Returns
    -------
    distance, p_value : float
        By the series of Kolmogorov, with the correction of Stephens.
    """
    first, second = np.sort(first), np.sort(second)
    both = np.concatenate([first, second])
    below = [np.searchsorted(s, both, side="right") / len(s) for s in (first, second)]
    distance = float(np.abs(below[0] - below[1]).max())
    root = np.sqrt(len(first) * len(second) / len(both))
    scaled = (root + 0.12 + 0.11 / root) * distance
    j = np.arange(1, 101)
    # The series does not converge near 0, where the p-value is 1.
    p_value = 2 * ((-1.0) ** (j - 1) * np.exp(-2 * (j * scaled) ** 2)).sum()
    return distance, float(np.clip(p_value, 0.0, 1.0)) if scaled > 0.2 else 1.0


def difference_in_words(reference, new):
    """Return in what new sentences differ from those of calibration, as sentences.

    Parameters
    ----------
    reference, new : dict of str to sequence of float
        What was measured of each sentence, by name.

    Returns
    -------
    differences : list of str
        One for each measure in which they differ more than by chance.
    """
    found = []
    for name, before in reference.items():
        now = new.get(name, ())
        if min(len(before), len(now)) < LEAST_SENTENCES:
            continue
        _, p_value = kolmogorov_smirnov(np.asarray(before), np.asarray(now))
        if p_value < UNLIKELY / len(reference):
            found.append(
                f"the mean {name} is {np.mean(now):.3g} instead of "
                f"{np.mean(before):.3g} (p = {p_value:.1g})"
            )
    return found


def unlike(differences):
    """Return a warning that new sentences are not like those of calibration."""
    return (
        "these sentences do not look like those that the promise was made with: "
        + "; ".join(differences)
        + ". It may not hold; calibrate on sentences like these"
    )
