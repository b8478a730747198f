"""KD-PC and KD-Fixed: the share of drawn models that agree with a label."""

from skcw.confidence._tallies import Agreement
from skcw.confidence.draws import count_draws


def drawn_agreement(decoder, batch, codes, settings, tallies=(), **how):
    """Draw models, and count how many agree with a labeling.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    settings : Settings
        Scale, number of draws and seed.
    tallies : sequence of callables, default=()
        What else is to be counted over the same draws.
    **how : bool
        ``fixed`` and ``independent`` of :func:`skcw.confidence.count_draws`.

    Returns
    -------
    agreement : Agreement
        By token and by sequence.
    """
    agreement = Agreement(codes, batch.offsets)
    count_draws(
        decoder,
        batch,
        settings.n_draws,
        settings.scale,
        [agreement, *tallies],
        seed=settings.seed,
        **how,
    )
    return agreement


def kd_pc(decoder, batch, codes, settings):
    """Return the share of draws w ~ N(mean, s variance) that keep each label."""
    agreement = drawn_agreement(decoder, batch, codes, settings)
    return agreement.tokens / settings.n_draws


def kd_fixed(decoder, batch, codes, settings):
    """Return the share of draws w ~ N(mean, s) that keep each label."""
    agreement = drawn_agreement(decoder, batch, codes, settings, fixed=True)
    return agreement.tokens / settings.n_draws


def kd_independent(decoder, batch, codes, settings):
    """Return the share of draws of the scores of single tokens that keep each label."""
    agreement = drawn_agreement(decoder, batch, codes, settings, independent=True)
    return agreement.tokens / settings.n_draws
