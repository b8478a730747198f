"""The methods of confidence, in one table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from skcw._kernels.lattice import deltas, normalized_deltas
from skcw.confidence.draws import (
    blend,
    draw_marginal,
    drawn_sequences,
    drawn_spans,
    drawn_votes,
    score_variance,
    transition_variance,
)
from skcw.confidence.marginals import (
    marginal,
    marginal_pairs,
    marginal_sequences,
    marginal_spans,
    noisy_marginal,
)
from skcw.confidence.tallies import span_tally


def delta(scored, codes):
    """Return, for every token, the score lost by its best other label.

    Only that token's label changes, its neighbors keep theirs, and only labels that
    are legal there count. It ranks words by certainty but is not a probability. Without
    another label the loss is infinite. For the best labeling it is not negative but
    for rounding.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.

    Returns
    -------
    gap : ndarray of float64, shape (n_tokens,)
        The loss of each token.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw.confidence.methods import delta
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._model.decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"]])
    >>> scored = Decoder(Belief.start(2, 3)).open(batch)
    >>> delta(scored, scored.viterbi()[0])
    array([0., 0.])
    """
    gap = np.empty(scored.n_tokens)

    def work(piece, tokens, sequences):
        deltas(
            piece.scores,
            piece.transitions,
            scored.n_labels,
            piece.offsets,
            codes[tokens],
            gap[tokens],
        )

    scored.each_piece(work)
    return gap


def delta_deviation(scored, codes, *, unit_variance=False):
    """Return the change of a token's label that is least sure to lose.

    The change is the one whose gap is the smallest number of standard deviations:
    Delta = Phi(x, y) - Phi(x, y with one label changed), gap = mean . Delta, and its
    deviation is sqrt(Delta' Sigma Delta).

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    unit_variance : bool, default=False
        Whether all variances count as one, for models that keep none.

    Returns
    -------
    gap, deviation : ndarray of float64, shape (n_tokens,)
        Infinity and one where there is no other legal label.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw.confidence.methods import delta_deviation
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._model.decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> scored = Decoder(Belief.start(1, 3, initial_variance=2.0)).open(batch)
    >>> delta_deviation(scored, scored.viterbi()[0])
    (array([0.]), array([2.]))
    """
    belief = scored.decoder.belief
    if not unit_variance and belief.variance is None:
        raise ValueError("this model keeps no variances; use unit_variance=True")
    gap, deviation = np.empty(scored.n_tokens), np.empty(scored.n_tokens)
    spread = np.ones_like(belief.weights) if unit_variance else belief.variance

    def work(piece, tokens, sequences):
        normalized_deltas(
            piece.scores,
            piece.transitions,
            score_variance(belief, piece.batch, unit_variance=unit_variance),
            *transition_variance(scored, piece.edges, spread),
            scored.n_labels,
            piece.offsets,
            codes[tokens],
            gap[tokens],
            deviation[tokens],
        )

    scored.each_piece(work)
    return gap, deviation


def normalized_delta(scored, codes, *, unit_variance=False):
    """Return the smallest gap of each token in standard deviations.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    unit_variance : bool, default=False
        Whether all variances count as one.

    Returns
    -------
    ratio : ndarray of float64, shape (n_tokens,)
        Infinite without another legal label.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw.confidence.methods import normalized_delta
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._model.decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> scored = Decoder(Belief.start(1, 3, initial_variance=2.0)).open(batch)
    >>> normalized_delta(scored, scored.viterbi()[0])
    array([0.])
    """
    gap, deviation = delta_deviation(scored, codes, unit_variance=unit_variance)
    # If no weight tells the two labels apart, the change is certain, or a tie.
    ratio = np.where(gap == 0.0, 0.0, np.copysign(np.inf, gap))
    return np.divide(gap, deviation, out=ratio, where=deviation > 0.0)


def delta_probit(scored, codes, variance_scale, *, unit_variance=False):
    """Return the probability that each token's label beats its least sure rival.

    With weights from N(weights, s * variance) the gap of one change is a Gaussian:
    it is positive with probability Phi(gap / sqrt(s) / deviation).

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.
    variance_scale : float
        The factor s of the variances, above 0.
    unit_variance : bool, default=False
        Whether all variances count as one.

    Returns
    -------
    probability : ndarray of float64, shape (n_tokens,)
        One half for a tie, one without another legal label.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw.confidence.methods import delta_probit
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._model.decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a"]])
    >>> scored = Decoder(Belief.start(1, 3, initial_variance=2.0)).open(batch)
    >>> delta_probit(scored, scored.viterbi()[0], 1.0)
    array([0.5])
    """
    ratio = normalized_delta(scored, codes, unit_variance=unit_variance)
    # Only this method needs SciPy; the others must work without it.
    from scipy.special import ndtr

    return ndtr(ratio / np.sqrt(variance_scale))


def delta_max(scored, codes, settings=None):
    """Return, for every token, how far the best labeling is ahead of its best rival.

    The rival is the best labeling with any other label at that token: a difference
    of max-marginals, never negative. It ranks words by certainty but is not a
    probability. With a single label there is no rival and the distance is infinite.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,)
        The predicted labels.

    Returns
    -------
    distance : ndarray of float64, shape (n_tokens,)
        The distance of each token.
    """
    forced = scored.max_marginals().astype(np.float64)
    tokens = np.arange(len(forced))
    of_label = forced[tokens, codes]
    forced[tokens, codes] = -np.inf
    return np.maximum(of_label - forced.max(axis=1, initial=-np.inf), 0.0)


def k_best_shares(scored, codes, ks, weighted=False):
    """Return, for several K, the share of the K best labelings with each label.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    codes : ndarray of int32, shape (n_tokens,) or (n_tokens, n_asked)
        The labels to ask about, one or several per token.
    ks : sequence of int
        The values of K.
    weighted : bool, default=False
        Whether a labeling counts by its score, if that is positive (WKBV). Where none
        is, all count the same.

    Returns
    -------
    shares : ndarray of float64, shape (len(ks), *codes.shape)
        Where fewer than K labelings exist, all of them count.
    """
    ks = np.array([min(int(k), np.iinfo(np.int64).max) for k in ks])
    shares = np.ones((len(ks), *codes.shape))

    def work(piece, tokens, sequences):
        most = min(int(ks.max()), piece.most_labelings())
        labels, total, found = piece.k_best(most)
        votes = np.repeat(_votes(total, found, weighted), piece.lengths, axis=0).T
        asked = codes[tokens]
        labels, votes = (
            a.reshape(*a.shape, *[1] * (asked.ndim - 1)) for a in (labels, votes)
        )
        agree = (labels == asked) * votes
        last = np.minimum(ks, len(votes)) - 1
        votes, agree = (np.cumsum(a, axis=0)[last] for a in (votes, agree))
        shares[:, tokens] = agree / votes

    scored.each_piece(work)
    return np.clip(shares, 0.0, 1.0)


def _votes(total, found, weighted):
    """Return what each labeling of each sequence counts."""
    exists = np.arange(total.shape[1]) < found[:, None]
    if not weighted:
        return exists.astype(np.float64)
    votes = np.where(exists, np.maximum(total, 0.0), 0.0)
    # The best labeling comes first: without a positive score there, nowhere.
    return np.where(votes[:, :1] > 0, votes, exists)


def k_best_votes(scored, codes, settings, weighted=False):
    """Return the share of the K best labelings that have each label (KBV, WKBV)."""
    if codes is None:
        every = np.arange(scored.n_labels, dtype=np.int32)
        codes = np.broadcast_to(every, (scored.n_tokens, scored.n_labels))
    return k_best_shares(scored, codes, [settings.n_best], weighted)[0]


def tally_k_best(scored, n_best, tally=None):
    """Show the best labelings to a tally; return how many each sequence has."""
    counts = np.ones(len(scored))

    def work(piece, tokens, sequences):
        labels, _, found = piece.k_best(min(n_best, piece.most_labelings()))
        rank = np.arange(len(labels))[:, None]
        # A labeling that does not exist agrees with nothing.
        labels = np.where(rank >= np.repeat(found, piece.lengths), -1, labels)
        counts[sequences] = np.maximum(found, 1)
        if tally is not None:
            tally(labels, tokens, sequences)

    scored.each_piece(work)
    return counts


def k_best_spans(scored, codes, spans, borders, settings):
    """Return the share of the K best labelings that agree on each span."""
    tally = span_tally(codes, spans, scored.offsets, borders)
    counts = tally_k_best(scored, settings.n_best, tally)
    owner = np.searchsorted(scored.offsets, spans[0], side="right") - 1
    return tally.spans / counts[owner]


def k_best_sequences(scored, codes, settings):
    """Return the share of the best labeling among the K best: one of them."""
    return 1.0 / tally_k_best(scored, settings.n_best)


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
        Whether its scale counts weights' variances of one.
    draws : bool
        Whether it draws weight vectors.
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
    >>> from skcw.confidence.methods import METHODS
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
    draws: bool = False
    parts: Mapping = field(default_factory=dict)
    usual: Mapping = field(default_factory=dict)
    at_once: Callable | None = None
    spans: Callable | None = None
    sequences: Callable | None = None
    pairs: Callable | None = None

    @property
    def options(self):
        """The options that it takes."""
        return (*self.tunes, *(("n_draws", "random_state") if self.draws else ()))

    @property
    def n_draws(self):
        """How many weight vectors are drawn by default."""
        return MARGINAL_DRAWS if "temperature" in self.tunes else VOTING_DRAWS


# Only rounding makes another label seem better than the best.
def _delta(scored, codes, settings):
    return np.maximum(delta(scored, codes), 0.0)


def _delta_std(scored, codes, settings):
    return np.maximum(normalized_delta(scored, codes), 0.0)


def _delta_probit(scored, codes, settings):
    return delta_probit(scored, codes, settings.variance_scale)


def _drawn(needs_variance=True, **how):
    """Return the method of votes of drawn models."""
    return Method(
        partial(drawn_votes, **how),
        True,
        needs_variance,
        ("variance_scale",),
        unit_variance=how.get("unit_variance", False),
        draws=True,
        spans=partial(drawn_spans, **how),
        sequences=partial(drawn_sequences, **how),
    )


METHODS = {
    "delta": Method(_delta, False, any_label=False),
    "delta-std": Method(_delta_std, False, True, any_label=False),
    "delta-probit": Method(
        _delta_probit, True, True, ("variance_scale",), any_label=False
    ),
    "delta-max": Method(delta_max, False, any_label=False),
    "marginal": Method(
        marginal,
        True,
        tunes=("temperature",),
        spans=marginal_spans,
        sequences=marginal_sequences,
        pairs=marginal_pairs,
    ),
    "noisy-marginal": Method(
        noisy_marginal,
        True,
        tunes=("temperature", "variance_scale"),
        parts={"temperature": marginal},
        usual={"variance_scale": 0.0},
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
        draws=True,
        parts={"temperature": marginal},
    ),
    "blend": Method(
        blend,
        True,
        True,
        ("temperature", "variance_scale"),
        draws=True,
        parts={"temperature": marginal, "variance_scale": drawn_votes},
    ),
}


class ServedMethods(dict):
    """Methods by name, which print as their names.

    Examples
    --------
    >>> from skcw.confidence.methods import METHODS, ServedMethods
    >>> ServedMethods(marginal=METHODS["marginal"])
    <methods: marginal>
    """

    def __repr__(self):
        return f"<methods: {', '.join(self)}>"


def served_methods(has_variance, methods=METHODS):
    """Return the methods that a model with or without variances supports."""
    return ServedMethods(
        (name, method)
        for name, method in methods.items()
        if has_variance or not method.needs_variance
    )


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
