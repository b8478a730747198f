"""All utilities by name, and the one that looks at nothing: random."""

from sklearn.utils import check_random_state

from skcw.active._pool import Pool
from skcw.active._row_utilities import (
    disagreement,
    entropy,
    least_confident,
    margin,
    normalised_margin,
)
from skcw.active._sequence_utilities import (
    doubtful_entities,
    expected_errors,
    least_confident_word,
    min_conf_margin,
    min_margin,
    sequence_improbability,
)


def random_utility(estimator, X, random_state=None):
    """Return random numbers: the baseline of every study.

    Parameters
    ----------
    estimator : tagger or classifier
        It is not asked; it tells sequences from rows.
    X : rows or sequences
        What they are for.
    random_state : int, RandomState or None, default=None
        Controls the numbers. ``ActiveLearner`` gives each round a seed of its own.

    Returns
    -------
    utility : ndarray of float64, shape (n_items,)
        Uniform between 0 and 1.

    Examples
    --------
    >>> from skcw import MultiClassCW
    >>> from skcw.active import random_utility
    >>> random_utility(MultiClassCW(), [[1.0], [2.0]], random_state=0).round(2)
    array([0.55, 0.72])
    """
    return check_random_state(random_state).random_sample(len(Pool(X, estimator)))


ROW_UTILITIES = {
    "margin": margin,
    "normalised-margin": normalised_margin,
    "least-confident": least_confident,
    "entropy": entropy,
    "disagreement": disagreement,
    "random": random_utility,
}
SEQUENCE_UTILITIES = {
    "least-confident-word": least_confident_word,
    "min-margin": min_margin,
    "min-conf-margin": min_conf_margin,
    "sequence-improbability": sequence_improbability,
    "expected-errors": expected_errors,
    "doubtful-entities": doubtful_entities,
    "random": random_utility,
}


def utility_names(kind):
    """Return the names of the utilities there are.

    Parameters
    ----------
    kind : {"rows", "sequences"}
        What they are for.

    Returns
    -------
    names : list of str
        The names that ``ActiveLearner`` and the doors take.

    Examples
    --------
    >>> from skcw.active import utility_names
    >>> utility_names("rows")[:2]
    ['margin', 'normalised-margin']
    """
    tables = {"rows": ROW_UTILITIES, "sequences": SEQUENCE_UTILITIES}
    if kind not in tables:
        raise ValueError(f"kind is {kind!r}; it must be 'rows' or 'sequences'")
    return list(tables[kind])


def find_utility(utility, has_sequences):
    """Return a utility given by its name, or as a function; raise at any other."""
    if callable(utility):
        return utility
    table = SEQUENCE_UTILITIES if has_sequences else ROW_UTILITIES
    if not isinstance(utility, str) or utility not in table:
        kind = "sequences" if has_sequences else "rows"
        raise ValueError(
            f"utility is {utility!r}; for {kind} it must be one of "
            f"{', '.join(table)}, or a function of an estimator and X"
        )
    return table[utility]
