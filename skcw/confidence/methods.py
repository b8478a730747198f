"""All methods by name, from cheap to costly."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skcw.confidence.blend import blend
from skcw.confidence.delta import delta, delta_probit, normalised_delta
from skcw.confidence.delta_max import delta_max
from skcw.confidence.draw_marginal import draw_marginal, draw_marginal_fixed
from skcw.confidence.kbv import kbv, wkbv
from skcw.confidence.kd import kd_fixed, kd_independent, kd_pc
from skcw.confidence.marginal import marginal


class Method(NamedTuple):
    """A confidence method.

    Parameters
    ----------
    compute : callable
        ``compute(decoder, batch, codes, settings)`` gives one number a token.
    probability : bool
        Whether the numbers lie between 0 and 1 and mean to be probabilities.
    needs_variance : bool
        Whether it serves only models that keep variances.
    tunes : tuple of str
        Which of ``scale``, ``temperature`` and ``k`` it depends on.
    fixed : bool
        Whether its scale counts variances of one.
    parts : dict of str to callable
        The part of it by which a parameter is chosen, where that is not the whole.
    usual : dict of str to float
        Its own values where none is given or fitted.
    """

    compute: Callable
    probability: bool
    needs_variance: bool
    tunes: tuple = ()
    fixed: bool = False
    parts: dict = {}
    usual: dict = {}


# Only rounding makes another label seem better than the best.
def _delta(decoder, batch, codes, settings):
    return np.maximum(delta(decoder, batch, codes), 0.0)


def _delta_std(decoder, batch, codes, settings):
    return np.maximum(normalised_delta(decoder, batch, codes), 0.0)


def _delta_probit(decoder, batch, codes, settings):
    return delta_probit(decoder, batch, codes, settings.scale)


def _delta_max(decoder, batch, codes, settings):
    return delta_max(decoder, batch, codes)


METHODS = {
    "delta": Method(_delta, False, False),
    "delta-std": Method(_delta_std, False, True),
    "delta-probit": Method(_delta_probit, True, True, ("scale",)),
    "delta-max": Method(_delta_max, False, False),
    "marginal": Method(marginal, True, False, ("temperature",)),
    "kbv": Method(kbv, True, False, ("k",)),
    "wkbv": Method(wkbv, True, False, ("k",)),
    "kd-independent": Method(kd_independent, True, True, ("scale",)),
    "kd-fixed": Method(kd_fixed, True, False, ("scale",), fixed=True),
    "kd-pc": Method(kd_pc, True, True, ("scale",)),
    "draw-marginal": Method(
        draw_marginal,
        True,
        True,
        ("temperature", "scale"),
        parts={"temperature": marginal},
    ),
    "draw-marginal-fixed": Method(
        draw_marginal_fixed,
        True,
        False,
        ("temperature", "scale"),
        fixed=True,
        parts={"temperature": marginal},
        usual={"scale": 0.0},
    ),
    "blend": Method(
        blend,
        True,
        True,
        ("temperature", "scale"),
        parts={"temperature": marginal, "scale": kd_pc},
    ),
}


def check_method(name, has_variance):
    """Return the method of a name; raise if it is unknown or cannot be served.

    Parameters
    ----------
    name : str
        The name.
    has_variance : bool
        Whether the model keeps variances.

    Returns
    -------
    method : Method
        The method.
    """
    method = METHODS.get(name)
    served = [n for n, m in METHODS.items() if has_variance or not m.needs_variance]
    if method is None:
        raise ValueError(f"method is {name!r}; there are {', '.join(served)}")
    if method.needs_variance and not has_variance:
        raise ValueError(
            f"method {name!r} needs a variance for each weight, which this tagger does "
            f"not keep; it can serve {', '.join(served)}"
        )
    return method
