"""Forward-backward marginals, averaged over draws of the weights."""

import numpy as np

from skcw.confidence.draws import draw_marginals
from skcw.confidence.marginal import marginal

# Draws flatten marginals on their own: averaged ones want a lower temperature.
COOLER = 0.6


def draw_marginal(decoder, batch, codes, settings):
    """Return the marginal of each label, averaged over draws of the weights."""
    rows = draw_marginals(
        decoder,
        batch,
        settings.n_draws,
        settings.scale,
        temperature=COOLER * settings.temperature,
        seed=settings.seed,
    )
    return np.clip(rows[np.arange(len(rows)), codes], 0.0, 1.0)


def draw_marginal_fixed(decoder, batch, codes, settings):
    """Return the marginal of each label, averaged over draws with one variance.

    Without noise there is nothing to draw: it is the marginal itself.
    """
    if settings.scale == 0.0:
        return marginal(decoder, batch, codes, settings)
    rows = draw_marginals(
        decoder,
        batch,
        settings.n_draws,
        settings.scale,
        temperature=settings.temperature,
        seed=settings.seed,
        fixed=True,
    )
    return np.clip(rows[np.arange(len(rows)), codes], 0.0, 1.0)
