"""``Decoder`` and ``ScoredBatch``: score a batch once, then decode it in many ways."""

import os

import numpy as np

from skcw._kernels.lattice import (
    k_best,
    max_marginals,
    path_scores,
    score_tokens,
    score_transitions,
    viterbi,
)
from skcw._kernels.marginals import Factors, marginals
from skcw._util.limits import LARGEST_SCORES
from skcw._util.ragged import place_of
from skcw.data.edges import split_edges
from skcw.exceptions import NoLegalLabelingError

# Sequences are decoded in pieces of about this many tokens: few enough for their
# lattice to stay in the processor's cache, many enough to hide the call.
TOKENS_PER_PIECE = 8192
# Where each token has transitions of its own, so many of them make a piece: eight
# draws of them, in double and both ways round, still fit into memory.
TRANSITIONS_PER_PIECE = 1 << 17
# A batch keeps its scores and marginals up to this size in all; those of a larger one
# are computed piece by piece whenever they are needed.
KEPT_BYTES = 1 << 27


def n_threads(n_jobs):
    """Return how many threads ``n_jobs`` asks for: None is one, -1 one per core."""
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return n_jobs if n_jobs > 0 else max(1, (cores or os.cpu_count() or 1) + 1 + n_jobs)


def n_workers(n_jobs, n_tasks):
    """Return ``n_jobs`` for joblib, but never more than there are tasks."""
    return n_jobs if n_jobs is None else min(n_jobs, max(1, n_tasks))


class Decoder:
    """The weights of a belief, ready to score batches.

    Parameters
    ----------
    belief : Belief
        The compact belief to predict with.
    forbidden : ndarray or None, default=None
        What :func:`skcw.data.transition_constraints` returns.
    n_jobs : int or None, default=None
        Number of threads; the kernels run without the GIL.
    borders : ndarray of shape (2, n_labels) or None, default=None
        What each label scores for being the first, and for being the last of its
        sequence.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw._model.decoding import Decoder
    >>> from skcw.data import SequenceEncoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], []])
    >>> Decoder(Belief.start(2, 3)).open(batch).viterbi()
    (array([0, 0], dtype=int32), array([0., 0.]))
    """

    def __init__(self, belief, forbidden=None, n_jobs=None, borders=None):
        self.unseen, self.unknown_feature = belief.unseen, None
        self.edges, self.first_edge = belief.edges, belief.first_edge
        if belief.unknown_row is not None:
            self.unknown_feature = len(belief.row_of)
        if belief.unknown_row is not None or len(belief.edges):
            belief = belief.all_features
        self.belief = belief
        self.forbidden = forbidden
        self.n_jobs = n_jobs
        n_labels = belief.n_labels
        self.transitions = self.square(belief.weights).copy()
        # The last temperature and its factors: most questions are about one.
        self._kept = None
        self.borders = borders
        if forbidden is not None:
            self.transitions[:n_labels, :n_labels] += forbidden[:-2]
            legal = forbidden[-2:]
            self.borders = legal if borders is None else borders + legal

    @property
    def n_labels(self):
        """The number of labels."""
        return self.belief.n_labels

    def open(self, batch, edges=None):
        """Return a batch under this model; nothing is computed before it is asked.

        `edges` are the features of steps, where `split_edges` has been called before.
        """
        if edges is None and len(self.edges):
            # Read first: an error about a value must name its place.
            batch = batch.with_precision(self.belief.weights.dtype)
            batch, edges = split_edges(
                batch, self.edges, self.first_edge, self.n_labels
            )
        return ScoredBatch(self, self.readable(batch), edges=edges)

    def readable(self, batch):
        """Return a batch in the belief's precision, unknown tokens told apart."""
        batch = batch.with_precision(self.belief.weights.dtype)
        if self.unknown_feature is None:
            return batch
        return batch._readable(self.unseen, self.unknown_feature)

    def factors(self, temperature):
        """Return the transitions of all tokens as forward-backward takes them."""
        kept = self._kept
        if kept is None or kept[0] != temperature:
            factors = _factors(self.transitions, temperature, self.n_labels)
            kept = self._kept = temperature, factors
        return kept[1]

    def square(self, flat):
        """Return the weights of transitions, or their variances, without words."""
        width = self.belief.width
        return flat[: width * width].reshape(width, width)

    def squares(self, flat, edges, common, values=None):
        """Return what `common` and the edges of every token sum up to.

        `flat` holds weights or variances, `values` are those of the edges if they are
        not their own. The result has a square for every token, one below the other.
        """
        width = self.belief.width
        out = np.zeros((edges.n_tokens * width, width), flat.dtype)
        values = edges.values if values is None else values
        score_transitions(
            flat,
            self.n_labels,
            self.belief.row_of,
            edges.indptr,
            edges.indices,
            None if values is None else values.astype(np.float64, copy=False),
            common,
            out,
        )
        return out

    def scores(self, batch, first=0):
        """Return the score of every label at every token, padded to the width.

        `first` is the number of the first sequence, for errors.
        """
        belief = self.belief
        batch = batch.with_precision(belief.weights.dtype)
        scores = np.empty((batch.n_tokens, belief.width), belief.weights.dtype)
        score_tokens(
            belief.weights,
            belief.width,
            belief.row_of,
            batch.indptr,
            batch.indices,
            batch.values,
            scores,
        )
        _check_scores(scores, batch, first)
        if self.borders is not None:
            full = batch.lengths > 0
            n = self.n_labels
            scores[batch.offsets[:-1][full], :n] += self.borders[0]
            scores[batch.offsets[1:][full] - 1, :n] += self.borders[1]
        return scores


class ScoredBatch:
    """One batch under one model; tokens are scored once, however much is asked.

    Results are cached where they are small, and where they are not, up to
    ``KEPT_BYTES``: do not write to them.

    Parameters
    ----------
    decoder : Decoder
        The model.
    batch : SequenceBatch
        The sequences, as ``decoder.readable`` returns them. They are made so before
        they are cut, so that an error names the sequence by its place in X.
    first : int, default=0
        The number of the first sequence, for errors about a part of a batch.
    keeps : bool, default=None
        Whether to keep what is large; by default if it fits.
    edges : SequenceBatch, default=None
        The features of the step into each token, see :func:`split_edges`, if
        transitions look at words.

    Examples
    --------
    >>> from skcw._model.gaussian import Belief
    >>> from skcw._model.decoding import Decoder
    >>> from skcw.data import SequenceEncoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], []])
    >>> scored = Decoder(Belief.start(2, 2)).open(batch)
    >>> scored.marginals()[0]
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> scored.scores is scored.scores
    True
    """

    def __init__(self, decoder, batch, first=0, keeps=None, edges=None):
        belief = decoder.belief
        self.decoder = decoder
        self.batch = batch
        self.edges = edges
        self.first = first
        if keeps is None:
            per_token = belief.width * (belief.weights.itemsize + 8)
            if edges is not None:
                per_token += belief.width**2 * belief.weights.itemsize
            keeps = batch.n_tokens * per_token <= KEPT_BYTES
        self.keeps = keeps
        size = TOKENS_PER_PIECE
        if edges is not None:
            size = min(size, max(1, TRANSITIONS_PER_PIECE // belief.width**2))
        self._cuts = list(_cuts(self.batch.offsets, size))
        self._pieces = {}
        self._scores = self._transitions = self._best = self._marginals = None

    def __len__(self):
        return len(self.batch)

    @property
    def n_labels(self):
        """The number of labels."""
        return self.decoder.n_labels

    @property
    def n_tokens(self):
        """The number of tokens."""
        return self.batch.n_tokens

    @property
    def offsets(self):
        """Where each sequence begins."""
        return self.batch.offsets

    @property
    def lengths(self):
        """The number of tokens of each sequence."""
        return self.batch.lengths

    @property
    def scores(self):
        """The score of every label at every token, padded to the width."""
        if self._scores is not None:
            return self._scores
        if len(self._cuts) < 2:
            scores = self._score()
        else:
            parts = [self._piece(number)[0].scores for number in range(len(self._cuts))]
            return np.concatenate(parts)
        # The lattice of a piece that is not kept is thrown away with the piece itself.
        self._scores = scores
        return scores

    def _score(self):
        return self.decoder.scores(self.batch, self.first)

    @property
    def transitions(self):
        """The scores of transitions: one square for all, or one for every token.

        Those of a batch of several pieces are asked of the pieces.
        """
        if self.edges is None:
            return self.decoder.transitions
        if self._transitions is None:
            decoder = self.decoder
            squares = decoder.squares(
                decoder.belief.weights, self.edges, decoder.transitions
            )
            _check_transitions(squares, self)
            self._transitions = squares
        return self._transitions

    def each_piece(self, work):
        """Call work(piece, its tokens, its sequences) for parts of the batch.

        A piece is a batch under the same model, small enough for the cache of the
        processor. Pieces go to the threads of the decoder, and never share a token.
        """
        numbers = range(len(self._cuts))
        workers = min(n_threads(self.decoder.n_jobs), len(numbers))
        if workers < 2:
            for number in numbers:
                work(*self._piece(number))
            return
        # One thread is the rule, and starts sooner without this import.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            # Reading the results raises the errors of the work.
            list(pool.map(lambda number: work(*self._piece(number)), numbers))

    def _piece(self, number):
        """Return a part of the batch, its tokens and its sequences."""
        start, stop, tokens = self._cuts[number]
        piece = self if len(self._cuts) == 1 else self._pieces.get(number)
        if piece is None:
            part = self.batch[start:stop]
            edges = None if self.edges is None else self.edges[start:stop]._compact()
            piece = type(self)(
                self.decoder, part, self.first + start, self.keeps, edges
            )
            if self.keeps:
                self._pieces[number] = piece
        return piece, tokens, slice(start, stop)

    def viterbi(self):
        """Return the best label of every token and every sequence's best score."""
        if self._best is None:
            labels = np.zeros(self.n_tokens, dtype=np.int32)
            total = np.zeros(len(self))

            def decode(piece, tokens, sequences):
                viterbi(
                    piece.scores,
                    piece.transitions,
                    self.n_labels,
                    piece.offsets,
                    labels[tokens],
                    total[sequences],
                )

            self.each_piece(decode)
            self.check_legal(total)
            self._best = labels, total
        return self._best

    def most_labelings(self):
        """Return how many labelings the longest sequence has: no k need be larger."""
        # 2 ** 64 are enough for any k.
        return self.n_labels ** min(int(self.lengths.max(initial=0)), 64)

    def k_best(self, k):
        """Return the k best labelings: labels (k, n_tokens), scores and numbers."""
        labels = np.zeros((k, self.n_tokens), dtype=np.int32)
        total = np.full((len(self), k), -np.inf)
        found = np.zeros(len(self), dtype=np.int32)

        def decode(piece, tokens, sequences):
            part = np.zeros((k, piece.n_tokens), dtype=np.int32)
            k_best(
                piece.scores,
                piece.transitions,
                self.n_labels,
                piece.offsets,
                part,
                total[sequences],
                found[sequences],
            )
            labels[:, tokens] = part

        self.each_piece(decode)
        self.check_legal(total[:, 0])
        return labels, total, found

    def path_scores(self, labels):
        """Return the score of one given labeling per sequence."""
        total = np.zeros(len(self))

        def score(piece, tokens, sequences):
            path_scores(
                piece.scores,
                piece.transitions,
                piece.offsets,
                labels[tokens],
                total[sequences],
            )

        self.each_piece(score)
        return total

    def max_marginals(self):
        """Return the best score of a labeling with label j at token t, for all t, j."""
        dtype = self.decoder.belief.weights.dtype
        forced = np.empty((self.n_tokens, self.n_labels), dtype)

        def decode(piece, tokens, sequences):
            max_marginals(
                piece.scores,
                piece.transitions,
                self.n_labels,
                piece.offsets,
                forced[tokens],
            )

        self.each_piece(decode)
        return forced

    def marginals(self, temperature=1.0, noise=0.0):
        """Return forward-backward marginals (n_tokens, n_labels) and log partitions.

        Scores are divided by the temperature first. Noise is the variance of what is
        then added to them in thought, see the kernel; it leaves no log partitions.
        """
        settings = temperature, noise
        if self._marginals is not None and self._marginals[0] == settings:
            return self._marginals[1:]
        out = np.empty((self.n_tokens, self.n_labels))
        log_z = np.zeros(len(self))

        def collect(piece, tokens, sequences):
            if piece is self:
                self._sum_up(settings, out, log_z)
            else:
                out[tokens], log_z[sequences] = piece.marginals(*settings)

        self.each_piece(collect)
        self.check_legal(log_z)
        if self.keeps and len(self._cuts) < 2:
            self._marginals = settings, out, log_z
        return out, log_z

    def _sum_up(self, settings, out, log_z):
        """Run forward-backward over one piece."""
        temperature, noise = settings
        marginals(
            self.scores,
            self._factors(temperature),
            self.n_labels,
            self.offsets,
            out,
            log_z,
            temperature,
            noise,
        )

    def _factors(self, temperature):
        """Return the transitions as forward-backward takes them."""
        if self.edges is None:
            return self.decoder.factors(temperature)
        return _factors(self.transitions, temperature, self.n_labels)

    def check_legal(self, total):
        """Raise if a sequence has no labeling that the constraints allow."""
        if self.decoder.forbidden is None:
            return
        dead = np.flatnonzero(np.isneginf(total))
        if len(dead):
            raise NoLegalLabelingError(
                f"the constraints allow no labeling of sequence "
                f"{self.first + dead[0]}, which has {self.lengths[dead[0]]} tokens"
            )


def _factors(transitions, temperature, n_labels):
    return Factors(transitions.astype(np.float64) / temperature, n_labels)


def _check_scores(scores, batch, first):
    """Raise at a score that would become infinite, and then no number, in sums."""
    limit = LARGEST_SCORES[scores.dtype.name]
    # NaN fails as well.
    if -limit <= scores.min(initial=0) and scores.max(initial=0) <= limit:
        return
    token = np.flatnonzero(~(np.abs(scores) <= limit).all(axis=1))[0]
    raise ValueError(
        f"{place_of(token, batch.offsets, first)} has feature values so large that the "
        f"score of a label is above {limit:g}; scale the values (about -1 to 1 works "
        "best)"
    )


def _check_transitions(squares, scored):
    """Raise at a transition with a score that is too large, as `_check_scores` does."""
    limit, width = LARGEST_SCORES[squares.dtype.name], squares.shape[1]
    # Constraints forbid by minus infinity.
    wrong = np.isnan(squares) | (squares > limit)
    wrong |= (squares < -limit) & np.isfinite(squares)
    if wrong.any():
        token = np.flatnonzero(wrong.any(axis=1))[0] // width
        raise ValueError(
            f"{place_of(token, scored.offsets, scored.first)} has feature values so "
            f"large that the score of a transition is above {limit:g}; scale the "
            "values (about -1 to 1 works best)"
        )


def _cuts(offsets, size):
    """Yield the first and the last sequence of each piece, and its tokens."""
    start = 0
    while start < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[start] + size))
        stop = min(max(stop, start + 1), len(offsets) - 1)
        yield start, stop, slice(int(offsets[start]), int(offsets[stop]))
        start = stop
