"""The table of all confidence methods by name, from cheap to costly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from skcw.confidence._delta import delta, delta_max, delta_probit, normalised_delta
from skcw.confidence._draws import (
    blend,
    draw_marginal,
    draw_marginal_fixed,
    drawn_sequences,
    drawn_spans,
    drawn_votes,
)
from skcw.confidence._kbest import (
    k_best_sequences,
    k_best_shares,
    k_best_spans,
    k_best_votes,
)
from skcw.confidence._marginals import (
    marginal,
    marginal_pairs,
    marginal_sequences,
    marginal_spans,
)

# Votes need more draws than marginals, which are smooth already.
VOTING_DRAWS, MARGINAL_DRAWS = 100, 32


@dataclass(frozen=True)
class Method:
    """A confidence method.

    Parameters
    ----------
    compute : callable
        ``compute(scored, codes, settings)`` gives one number per token, for the labels
        `codes`; without codes (None) a table of all labels.
    probability : bool
        Whether the numbers lie between 0 and 1 and mean to be probabilities.
    needs_variance : bool
        Whether it needs a model that keeps variances.
    tunes : tuple of str
        Which of ``variance_scale``, ``temperature`` and ``n_best`` it depends on.
    any_label : bool
        Whether it judges any label, and not only the predicted one.
    unit_variance : bool
        Whether its scale counts variances of one.
    parts : dict of str to callable
        The part of it by which a parameter is chosen, where that is not the whole.
    usual : dict of str to float
        Its own values where none is given or fitted.
    at_once : callable or None
        ``at_once(scored, codes, values)`` gives a row for each value of its only
        parameter, where that is cheaper than one after the other.
    spans : callable or None
        ``spans(scored, codes, spans, borders, settings)`` gives one number per span.
    sequences : callable or None
        ``sequences(scored, codes, settings)`` gives one number per sequence.
    pairs : callable or None
        ``pairs(scored, left, right, settings)`` gives a row for each token and a column
        for each pair of labels: those of the token and of the one behind it. The row of
        the last token of a sequence means nothing.

    Examples
    --------
    >>> from skcw.confidence import METHODS
    >>> METHODS["marginal"].probability, METHODS["marginal"].tunes
    (True, ('temperature',))
    >>> [name for name, method in METHODS.items() if not method.probability]
    ['delta', 'delta-std', 'delta-max']
    """

    compute: Callable
    probability: bool
    needs_variance: bool = False
    tunes: tuple = ()
    any_label: bool = True
    unit_variance: bool = False
    parts: Mapping = field(default_factory=dict)
    usual: Mapping = field(default_factory=dict)
    at_once: Callable | None = None
    spans: Callable | None = None
    sequences: Callable | None = None
    pairs: Callable | None = None

    @property
    def n_draws(self):
        """How many weight vectors are drawn by default."""
        return MARGINAL_DRAWS if "temperature" in self.tunes else VOTING_DRAWS


# Only rounding makes another label seem better than the best.
def _delta(scored, codes, settings):
    return np.maximum(delta(scored, codes), 0.0)


def _delta_std(scored, codes, settings):
    return np.maximum(normalised_delta(scored, codes), 0.0)


def _delta_probit(scored, codes, settings):
    return delta_probit(scored, codes, settings.variance_scale)


def _delta_max(scored, codes, settings):
    return delta_max(scored, codes)


def _drawn(needs_variance=True, **how):
    """Return the method of votes of drawn models."""
    return Method(
        partial(drawn_votes, **how),
        True,
        needs_variance,
        ("variance_scale",),
        unit_variance=how.get("unit_variance", False),
        spans=partial(drawn_spans, **how),
        sequences=partial(drawn_sequences, **how),
    )


METHODS = {
    "delta": Method(_delta, False, any_label=False),
    "delta-std": Method(_delta_std, False, True, any_label=False),
    "delta-probit": Method(
        _delta_probit, True, True, ("variance_scale",), any_label=False
    ),
    "delta-max": Method(_delta_max, False, any_label=False),
    "marginal": Method(
        marginal,
        True,
        tunes=("temperature",),
        spans=marginal_spans,
        sequences=marginal_sequences,
        pairs=marginal_pairs,
    ),
    "kbv": Method(
        k_best_votes,
        True,
        tunes=("n_best",),
        at_once=k_best_shares,
        spans=k_best_spans,
        sequences=k_best_sequences,
    ),
    "wkbv": Method(
        partial(k_best_votes, weighted=True),
        True,
        tunes=("n_best",),
        at_once=partial(k_best_shares, weighted=True),
    ),
    "kd-independent": _drawn(independent=True),
    "kd-fixed": _drawn(needs_variance=False, unit_variance=True),
    "kd-pc": _drawn(),
    "draw-marginal": Method(
        draw_marginal,
        True,
        True,
        ("temperature", "variance_scale"),
        parts={"temperature": marginal},
    ),
    "draw-marginal-fixed": Method(
        draw_marginal_fixed,
        True,
        tunes=("temperature", "variance_scale"),
        unit_variance=True,
        parts={"temperature": marginal},
        usual={"variance_scale": 0.0},
    ),
    "blend": Method(
        blend,
        True,
        True,
        ("temperature", "variance_scale"),
        parts={"temperature": marginal, "variance_scale": drawn_votes},
    ),
}


def served_methods(has_variance, methods=METHODS):
    """Return the methods that a model with or without variances supports."""
    return {
        name: method
        for name, method in methods.items()
        if has_variance or not method.needs_variance
    }


def check_method(name, served, methods=METHODS):
    """Return the method of a name; raise if it is unknown or not supported.

    Parameters
    ----------
    name : str
        The name.
    served : dict of str to Method
        The methods that the model supports.
    methods : dict of str to Method, default=METHODS
        All methods.

    Returns
    -------
    method : Method
        The method.
    """
    if not isinstance(name, str):
        raise TypeError(f"method is {name!r}; it must be the name of a method")
    if name in served:
        return served[name]
    names = ", ".join(served)
    if name in methods and methods[name].needs_variance:
        raise ValueError(
            f"method {name!r} needs a variance for each weight, which this tagger does "
            f"not keep; method must be one of {names}"
        )
    raise ValueError(f"method is {name!r}; it must be one of {names}")
