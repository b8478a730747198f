"""Input of the guarantees: risks, levels, and things with their groups."""

import numpy as np


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


def check_most(most_wrong, group, otherwise):
    """Return the most losses of a group; by default 1 where each has one thing."""
    if most_wrong is None:
        single = group is not None and len(np.unique(group)) == len(group)
        return 1.0 if single else float(otherwise)
    number = isinstance(most_wrong, (int, float, np.number))
    if not number or not 1 <= most_wrong < np.inf:
        raise ValueError(f"most_wrong is {most_wrong!r}; it must be a number from 1 on")
    return float(most_wrong)


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
    flat, lengths = _flat(correct)
    sure, others = _flat(confidence)
    if lengths != others:
        raise ValueError("correct and confidence must have the same layout")
    if not len(flat):
        raise ValueError("there is nothing to calibrate on: no word was given")
    if not np.isin(flat, (0.0, 1.0)).all():
        raise ValueError("correct must hold True and False, or 1 and 0")
    if np.isnan(sure).any():
        raise ValueError("confidence must hold numbers, but some are NaN")
    # A label without a rival is infinitely far from it; thresholds must be finite.
    return flat, np.nan_to_num(sure), _group_numbers(groups, lengths)


def _flat(values):
    """Return numbers in one row, and the lengths of the rows if there were several."""
    rows = [np.asarray(row, dtype=np.float64) for row in values]
    if all(row.ndim == 0 for row in rows):
        return np.array(rows, dtype=np.float64), len(rows)
    return np.concatenate([np.empty(0), *rows]), [len(row) for row in rows]


def _group_numbers(groups, lengths):
    if isinstance(lengths, int):
        given = np.arange(lengths) if groups is None else np.asarray(groups)
        expected, owner = lengths, slice(None)
    else:
        given = np.arange(len(lengths)) if groups is None else np.asarray(groups)
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
