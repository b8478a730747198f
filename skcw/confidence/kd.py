"""KD-PC and KD-Fixed: the share of drawn models that agree with a label."""

from skcw.confidence._tallies import Agreement
from skcw.confidence.draws import count_draws


def tally_draws(decoder, batch, settings, tallies, **how):
    """Draw models by the settings of a method, and let tallies count.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    settings : Settings
        Scale, number of draws and seed.
    tallies : list of callables
        What is to be counted, see :func:`skcw.confidence.count_draws`.
    **how : bool
        ``fixed`` and ``independent`` of the same function.
    """
    count_draws(
        decoder,
        batch,
        settings.n_draws,
        settings.scale,
        tallies,
        seed=settings.seed,
        **how,
    )


def _share(decoder, batch, codes, settings, **how):
    agreement = Agreement(codes)
    tally_draws(decoder, batch, settings, [agreement], **how)
    return agreement.tokens / settings.n_draws


def kd_pc(decoder, batch, codes, settings):
    """Return the share of draws w ~ N(mean, s variance) that keep each label."""
    return _share(decoder, batch, codes, settings)


def kd_fixed(decoder, batch, codes, settings):
    """Return the share of draws w ~ N(mean, s) that keep each label."""
    return _share(decoder, batch, codes, settings, fixed=True)


def kd_independent(decoder, batch, codes, settings):
    """Return the share of draws of the scores of single tokens that keep each label."""
    return _share(decoder, batch, codes, settings, independent=True)
