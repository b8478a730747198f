"""What the generators demand of their numbers."""

from numbers import Integral, Real


def check_count(name, count):
    """Raise unless `count` is an integer and not negative."""
    if not isinstance(count, Integral) or count < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {count!r}.")


def check_rates(**rates):
    """Raise unless every rate is a number from zero to one."""
    for name, rate in rates.items():
        if not isinstance(rate, Real) or not 0 <= rate <= 1:
            raise ValueError(f"{name} must be a number in [0, 1], got {rate!r}.")
