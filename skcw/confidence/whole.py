"""Confidence in spans and in whole sequences."""

import numpy as np

from skcw.confidence._tallies import Agreement, BoundaryAgreement, SpanAgreement
from skcw.confidence.constrained import path_probability, span_probability
from skcw.confidence.kd import tally_draws
from skcw.data.schemes import split_label

DRAWN = {
    "kd-pc": {},
    "kd-fixed": {"fixed": True},
    "kd-independent": {"independent": True},
}
JOINT_METHODS = (*DRAWN, "kbv", "marginal")
DEFINITIONS = ("least-word", "all-words", "boundary", "exact")


def continues_matrix(labels):
    """Tell which label goes on with the entity of which, and of what type each is.

    They are read as :func:`skcw.data.extract_spans` reads them.

    Parameters
    ----------
    labels : sequence of str
        The labels, such as ``B-PER``.

    Returns
    -------
    continues : ndarray of bool, shape (n_labels, n_labels)
        ``continues[i, j]``: j after i belongs to the same entity.
    kinds : ndarray of int64, shape (n_labels,)
        The number of each label's type; -1 marks no entity.
    """
    roles, types = np.array([split_label(label) for label in labels]).T
    goes_on = np.isin(roles, ["I", "E"])
    open_ended = np.isin(roles, ["B", "I"])
    continues = open_ended[:, None] & goes_on & (types[:, None] == types)
    _, kinds = np.unique(types, return_inverse=True)
    return continues, np.where(roles == "O", -1, kinds)


def span_confidence(decoder, batch, codes, spans, definition, method, settings, labels):
    """Return the confidence in spans by a definition that looks at them as a whole.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    spans : (ndarray, ndarray)
        Where spans start and stop, counted over the batch, in order.
    definition : {"all-words", "boundary", "exact"}
        What has to be right.
    method : str
        One of ``JOINT_METHODS``.
    settings : Settings
        Its parameters.
    labels : sequence of str
        The names of the labels.

    Returns
    -------
    confidence : ndarray of float64, shape (n_spans,)
        The probability, or share, of each span.
    """
    borders = None
    if definition != "all-words":
        continues, kinds = continues_matrix(labels)
        outside = kinds < 0
        if definition == "exact":
            # Any labels will do that mark an entity of this type.
            outside = kinds[codes[spans[0]]][:, None] != kinds
        borders = continues, outside
    if method == "marginal":
        return span_probability(
            decoder, batch, codes, spans, settings.temperature, borders
        )
    if borders is None:
        tally = SpanAgreement(codes, *spans, batch.offsets)
    else:
        tally = BoundaryAgreement(*spans, batch.offsets, *borders)
    if method == "kbv":
        counts = _k_best_counts(decoder, batch, settings.k, tally)
        owner = np.searchsorted(batch.offsets, spans[0], side="right") - 1
        return tally.spans / counts[owner]
    tally_draws(decoder, batch, settings, [tally], **DRAWN[method])
    return tally.spans / settings.n_draws


def sequence_confidence(decoder, batch, codes, method, settings):
    """Return the confidence that the whole labeling of each sequence is right.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels: the best labeling.
    method : str
        One of ``JOINT_METHODS``.
    settings : Settings
        Its parameters.

    Returns
    -------
    confidence : ndarray of float64, shape (n_sequences,)
        One for each sequence.
    """
    if method == "marginal":
        return path_probability(decoder, batch, codes, settings.temperature)
    if method == "kbv":
        return 1.0 / _k_best_counts(decoder, batch, settings.k)
    agreement = Agreement(codes, batch.offsets)
    tally_draws(decoder, batch, settings, [agreement], **DRAWN[method])
    return agreement.sequences / settings.n_draws


def _k_best_counts(decoder, batch, k, tally=None):
    """Show the k best labelings to a tally; return how many each sequence has."""
    counts = np.ones(len(batch))

    def work(piece, tokens, sequences):
        labels, _, found = decoder.k_best(piece, min(k, decoder.most_labelings(piece)))
        rank = np.arange(len(labels))[:, None]
        # A labeling that does not exist agrees with nothing.
        labels[rank >= np.repeat(found, piece.lengths)] = -1
        counts[sequences] = np.maximum(found, 1)
        if tally is not None:
            tally(labels, tokens, sequences)

    decoder.each_piece(work, batch)
    return counts
