"""Accept or review by a threshold: what a saved model needs of risk control."""

import numpy as np

from skcw._util.ragged import object_rows
from skcw.data.saved import saved_kind, saved_number, shortened

WORD, ENTITY, SENTENCE = "word", "entity", "sentence"
UNITS = {WORD: "words", ENTITY: "entities", SENTENCE: "sentences"}
ACCEPT, REVIEW, NEITHER = "accept", "review", "_"
NUMBERS = "risk", "confidence_level", "threshold", "accepted", "observed", "needed"
# The p-value below which two samples are said to differ.
UNLIKELY = 0.001
# Fewer sentences have no power, more of them are not needed.
LEAST_SENTENCES, MOST_SENTENCES = 30, 2000


def checked_selection(selection):
    """Return the thresholds in a model file; raise unless they can be used.

    Parameters
    ----------
    selection : object
        Should be a dict with ``unit``, ``method``, ``entity_confidence``,
        ``thresholds`` and ``reference``.

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
    for threshold in saved_kind(selection["thresholds"], "thresholds", list):
        for name in NUMBERS:
            if threshold[name] not in ("inf", "-inf"):
                saved_number(threshold[name], name)
    reference = saved_kind(selection["reference"], "reference", dict)
    if "confidence" not in reference:
        raise ValueError("there is no reference for the confidence")
    for name, numbers in reference.items():
        for number in saved_kind(numbers, name, list):
            saved_number(number, name)
    return selection


def unit_confidence(predictions, unit, method=None, entity_confidence=None):
    """Return the confidence in each word, entity or sentence.

    Parameters
    ----------
    predictions : Predictions
        Those of a tagger.
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
        return predictions.confidence(**given)
    if unit == ENTITY:
        rows = predictions.entities(entity_confidence, **given)
        return object_rows(np.array([e.confidence for e in row]) for row in rows)
    return object_rows(predictions.sequence_confidence(**given).reshape(-1, 1))


def accepted(predictions, selection, threshold):
    """Return what is accepted: an array of bool for each sentence.

    Parameters
    ----------
    predictions : Predictions
        Those of the model.
    selection : dict
        With ``unit``, ``method`` and ``entity_confidence``.
    threshold : float
        The least confidence that is accepted.

    Returns
    -------
    accepted : ndarray of shape (n_sequences,), dtype object
        One array of bool per sentence, for its words, its entities or itself.
    """
    how = selection["unit"], selection["method"], selection["entity_confidence"]
    rows = unit_confidence(predictions, *how)
    return object_rows(row >= threshold for row in rows)


def word_marks(predictions, selection, threshold):
    """Return "accept" or "review" for every word, and how many units are accepted.

    Parameters
    ----------
    predictions, selection, threshold : object
        As in :func:`accepted`.

    Returns
    -------
    marks : list of str
        For all words; "_" for those outside of entities if entities are accepted.
    n_accepted, n_units : int
        Numbers of words, entities or sentences.
    """
    rows = accepted(predictions, selection, threshold)
    flat = np.concatenate([np.empty(0, dtype=bool), *rows])
    if selection["unit"] == ENTITY:
        marks = _entity_marks(predictions, rows, selection["entity_confidence"])
    else:
        is_whole = selection["unit"] == SENTENCE
        by_word = np.repeat(flat, predictions.lengths) if is_whole else flat
        marks = [ACCEPT if sure else REVIEW for sure in by_word.tolist()]
    return marks, int(flat.sum()), len(flat)


def _entity_marks(predictions, rows, entity_confidence):
    marks, found = [], predictions.entities(entity_confidence)
    for entities, row, length in zip(found, rows, predictions.lengths, strict=True):
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


def exchangeability_failures(reference, new):
    """Return how new sentences differ from those of calibration, in words.

    Parameters
    ----------
    reference, new : dict of str to sequence of float
        What was measured of each sentence, by name.

    Returns
    -------
    differences : list of str
        One for each measure in which they differ more than by chance, by the test of
        Kolmogorov and Smirnov.
    """
    found = []
    for name, before in reference.items():
        now = new.get(name, ())
        if min(len(before), len(now)) < LEAST_SENTENCES:
            continue
        # A saved model tags without SciPy, and compares only at the end.
        from scipy.stats import ks_2samp

        p_value = ks_2samp(before, now, method="asymp").pvalue
        if p_value < UNLIKELY / len(reference):
            like = "harder" if np.mean(now) < np.mean(before) else "easier"
            found.append(
                f"the mean {name} is {np.mean(now):.3g} instead of "
                f"{np.mean(before):.3g}, as in {like} text (p = {p_value:.1g})"
            )
    return found


def exchangeability_warning(differences):
    """Return a warning that new sentences are not like those of calibration."""
    return (
        "these sentences do not look like those of calibration: "
        + "; ".join(differences)
        + ". The bound on the risk may not hold; calibrate on sentences like these"
    )
