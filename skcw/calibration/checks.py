"""Input of the guarantees: risks, levels, and things with their groups."""

import numpy as np

# The most wrong things that a sentence is taken to have. Groups with more things than
# sentences have words, in the mean, are documents, which may be wrong as a whole.
MOST_WRONG, LONGEST_SENTENCE, SHARE_OF_DOCUMENT = 3, 50, 1 / 3


def check_risks(risk):
    """Return one or several risks as a list; raise unless all lie between 0 and 1."""
    risks = np.atleast_1d(np.asarray(risk, dtype=object)).ravel().tolist()
    if not risks:
        raise ValueError("risk is empty; give at least one number between 0 and 1")
    return [
        _between(alpha, "risk", "such as 0.01 for one in a hundred") for alpha in risks
    ]


def check_level(level):
    """Return a level; raise unless it lies between 0 and 1."""
    return _between(level, "level", "such as 0.95; delta is 1 - level")


def _between(value, name, hint):
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not 0 < value < 1:
        raise ValueError(f"{name} is {value!r}; it must be between 0 and 1, {hint}")
    return float(value)


def check_most(max_errors_per_group, sizes):
    """Return the most losses of a group.

    Parameters
    ----------
    max_errors_per_group : float or None
        The most; None for 1 where each group has one thing, for 3 where groups are as
        small as sentences, and for a third of the mean size where they are larger.
    sizes : array of shape (n_groups,)
        How many things each group has.

    Returns
    -------
    most : float
        At least 1.
    """
    if max_errors_per_group is None:
        if np.max(sizes, initial=0) <= 1:
            return 1.0
        if np.mean(sizes) <= LONGEST_SENTENCE:
            return float(MOST_WRONG)
        return float(np.ceil(SHARE_OF_DOCUMENT * np.mean(sizes)))
    number = isinstance(max_errors_per_group, (int, float, np.number))
    if not number or not 1 <= max_errors_per_group < np.inf:
        raise ValueError(
            f"max_errors_per_group is {max_errors_per_group!r}; it must be a number from 1 on"
        )
    return float(max_errors_per_group)


def check_pairs(correct, confidence, groups=None):
    """Return outcomes, confidences and group numbers in flat arrays.

    Parameters
    ----------
    correct, confidence : array of shape (n_words,), or a sequence of such
        Whether each thing is right, and how sure a model is of it.
    groups : array of shape (n_words,) or (n_rows,), default=None
        The group of each word, or of each row. Without it each row is a group, and in
        flat input each word.

    Returns
    -------
    correct, confidence : ndarray of float64, shape (n_words,)
        The same in one row.
    group : ndarray of intp, shape (n_words,)
        Numbers from 0 on, without a gap.
    """
    flat, lengths = _flat(correct, "correct")
    sure, others = _flat(confidence, "confidence")
    if lengths != others:
        raise ValueError("correct and confidence must have the same layout")
    if not len(flat):
        raise ValueError("there is nothing to calibrate on: no word was given")
    if not np.isin(flat, (0.0, 1.0)).all():
        raise ValueError("correct must hold True and False, or 1 and 0")
    if np.isnan(sure).any():
        raise ValueError("confidence must hold numbers, but some are NaN")
    # The surest count as the largest number: an infinite threshold accepts nothing.
    return flat, np.nan_to_num(sure), _group_numbers(groups, lengths)


def check_groups(groups):
    """Return the number of each group from 0 on, and the shape that they came in.

    Parameters
    ----------
    groups : array-like
        Names or numbers, whatever can be told apart.

    Returns
    -------
    numbers : ndarray of intp
        The same, counted from 0 without a gap, in the same shape.
    """
    given = np.asarray(groups)
    flat = given.ravel().tolist()
    for position, group in enumerate(flat):
        if group is None or group != group:
            raise ValueError(
                f"groups[{position}] is {group!r}; everything must belong to a group, "
                "by itself if to no other"
            )
    try:
        numbers = np.unique(given, return_inverse=True)[1]
    except TypeError:
        kinds = sorted({type(group).__name__ for group in flat})
        raise ValueError(
            f"groups holds things of the kinds {', '.join(kinds)}, which cannot be "
            "compared; give all as numbers or all as texts"
        ) from None
    return numbers.reshape(given.shape).astype(np.intp)


def check_unit(unit):
    """Raise unless the name of the things is a text."""
    if not isinstance(unit, str):
        raise TypeError(f"unit is {unit!r}; it must be a text such as 'words'")


def _flat(values, name):
    """Return numbers in one row, and the lengths of the rows if there were several."""
    try:
        rows = [np.asarray(row, dtype=np.float64) for row in values]
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be one array of numbers, or an array for each sentence"
        ) from None
    if any(row.ndim > 1 for row in rows):
        raise ValueError(f"{name} must hold one flat array for each sentence")
    if len({row.ndim for row in rows}) > 1:
        raise ValueError(f"{name} holds both numbers and arrays; give one of the two")
    if all(row.ndim == 0 for row in rows):
        return np.array(rows, dtype=np.float64), len(rows)
    return np.concatenate([np.empty(0), *rows]), [len(row) for row in rows]


def _group_numbers(groups, lengths):
    if isinstance(lengths, int):
        given = np.arange(lengths) if groups is None else check_groups(groups)
        expected, owner = lengths, slice(None)
    else:
        given = np.arange(len(lengths)) if groups is None else check_groups(groups)
        expected, owner = len(lengths), np.repeat(np.arange(len(lengths)), lengths)
        if given.shape == (sum(lengths),) != (expected,):
            _refuse_split(given, owner)
            expected, owner = sum(lengths), slice(None)
    if given.shape != (expected,):
        raise ValueError(
            f"groups has the shape {given.shape}; it must hold one for each of the "
            f"{expected} {'words' if isinstance(lengths, int) else 'sentences'}"
        )
    return np.unique(given[owner], return_inverse=True)[1].astype(np.intp)


def _refuse_split(given, owner):
    """Raise where the words of one sentence are in several groups."""
    same = owner[1:] == owner[:-1]
    split = np.flatnonzero(same & (given[1:] != given[:-1]))
    if split.size:
        raise ValueError(
            f"groups split sentence {owner[split[0]]}: all its words must be in one "
            "group, for what is in one sentence is not independent"
        )


def check_entities(correct, confidence):
    """Return outcomes and confidences of predicted entities, one array per sentence.

    Parameters
    ----------
    correct, confidence : sequence of arrays
        Whether each predicted entity is a true one, and how sure a model is of it.

    Returns
    -------
    correct : list of ndarray of bool
        One array per sentence, which may be empty.
    confidence : list of ndarray of float64
        In the same layout.
    """
    right, sure = (
        [np.asarray(row, dtype=np.float64) for row in rows]
        for rows in (correct, confidence)
    )
    if any(row.ndim != 1 for row in (*right, *sure)):
        raise ValueError("correct and confidence must hold one array per sentence")
    if [len(row) for row in right] != [len(row) for row in sure]:
        raise ValueError("correct and confidence must have the same layout")
    if not all(np.isin(row, (0.0, 1.0)).all() for row in right):
        raise ValueError("correct must hold True and False, or 1 and 0")
    if any(np.isnan(row).any() for row in sure):
        raise ValueError("confidence must hold numbers, but some are NaN")
    return [row.astype(bool) for row in right], [np.nan_to_num(row) for row in sure]


def check_true_counts(n_true, correct):
    """Return how many true entities each sentence has.

    Parameters
    ----------
    n_true : array of shape (n_sentences,)
        The numbers.
    correct : list of ndarray of bool
        Which predicted entities are true.

    Returns
    -------
    n_true : ndarray of float64, shape (n_sentences,)
        At least as many as were found.
    """
    n_true = np.asarray(n_true, dtype=np.float64)
    found = np.array([row.sum() for row in correct])
    # NaN is not at least anything.
    if n_true.shape != found.shape or not (n_true >= found).all():
        raise ValueError(
            "n_true must hold a number for each sentence, at least that of its correct "
            "entities"
        )
    if not 0 < n_true.sum() < np.inf:
        raise ValueError("there is no true entity that could be missed: n_true is 0")
    return n_true
