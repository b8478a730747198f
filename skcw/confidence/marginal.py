"""The forward-backward marginal at a temperature."""

import numpy as np


def marginal(decoder, batch, codes, settings):
    """Return the forward-backward marginal of each label at a temperature."""
    out = np.empty(batch.n_tokens)

    def work(piece, tokens, sequences):
        rows, _ = decoder.marginals(piece, temperature=settings.temperature)
        out[tokens] = rows[np.arange(len(rows)), codes[tokens]]

    decoder.each_piece(work, batch)
    return np.clip(out, 0.0, 1.0)
