"""What all resampling is told: how often, by what chance, and how to show it."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

FEWEST_RESAMPLES = 20


def check_level(confidence_level):
    """Return a confidence level, or say that it is none."""
    if isinstance(confidence_level, bool) or not isinstance(confidence_level, Real):
        raise TypeError(
            f"confidence_level is {confidence_level!r}; it must be a number"
        )
    if not 0 < confidence_level < 1:
        raise ValueError(
            f"confidence_level is {confidence_level!r}; it must lie between 0 and 1, "
            "such as 0.95"
        )
    return float(confidence_level)


def check_n_resamples(n_resamples):
    """Return a number of resamples, or say that it is none."""
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, Integral):
        raise TypeError(f"n_resamples is {n_resamples!r}; it must be a whole number")
    if n_resamples < FEWEST_RESAMPLES:
        raise ValueError(
            f"n_resamples is {n_resamples}; it must be at least {FEWEST_RESAMPLES}, "
            "and 1000 for two digits"
        )
    return int(n_resamples)


def check_several_sentences(pairs):
    """Raise if all words are of one sentence."""
    if np.count_nonzero(np.bincount(pairs.group, pairs.weight) > 0) < 2:
        raise ValueError(
            "all words are of one sentence, which does not tell how much others would "
            "differ from it; give at least two, leave out groups if every word stands "
            "for itself, or do without the interval (interval=None)"
        )


def check_choice(value, name, choices):
    """Raise unless a value is one of several names."""
    if not isinstance(value, str) or value not in choices:
        names = ", ".join(map(repr, choices))
        raise ValueError(f"{name} is {value!r}; there are {names}")


def make_generator(random_state):
    """Return a generator of random numbers for what scikit-learn calls random_state."""
    seeds = check_random_state(random_state).randint(2**31 - 1, size=4)
    return np.random.default_rng(seeds)


def progress_bar(progress, n_resamples):
    """Return a bar to be told of resamples made; it shows nothing unless asked to."""
    if not progress:
        return _NoBar()
    from tqdm import tqdm

    return tqdm(total=n_resamples, desc="resamples", leave=False)


class _NoBar:
    """A bar that shows nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def update(self, n):
        """Show nothing."""
