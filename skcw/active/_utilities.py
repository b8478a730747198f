"""All utilities by name, and the one that looks at nothing: random."""

from sklearn.utils import check_random_state

from skcw.active._pool import read_pool
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
    n_items = len(read_pool(X, estimator))
    return check_random_state(random_state).random_sample(n_items)


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


TABLES = {"rows": ROW_UTILITIES, "sequences": SEQUENCE_UTILITIES}


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
    if kind not in TABLES:
        raise ValueError(f"kind is {kind!r}; it must be 'rows' or 'sequences'")
    return list(TABLES[kind])


def find_utility(utility, kind):
    """Return a utility given by its name, or as a function; raise at any other."""
    if callable(utility):
        return utility
    table = TABLES[kind.name]
    if not isinstance(utility, str) or utility not in table:
        raise ValueError(
            f"utility is {utility!r}; for {kind.name} it must be one of "
            f"{', '.join(table)}, or a function of an estimator and X"
        )
    return table[utility]
