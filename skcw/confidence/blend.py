"""The share of draws and the marginal, averaged."""

from skcw.confidence.kd import kd_pc
from skcw.confidence.marginal import marginal


def blend(decoder, batch, codes, settings):
    """Return the mean of the share of draws and of the marginal."""
    votes = kd_pc(decoder, batch, codes, settings)
    return 0.5 * (votes + marginal(decoder, batch, codes, settings))
