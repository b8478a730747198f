"""From a belief and a batch to labelings and their scores."""

import numpy as np
from joblib import Parallel, delayed

from skcw._kernels.kbest import k_best
from skcw._kernels.lattice import max_marginals, path_scores, score_tokens, viterbi
from skcw._kernels.marginals import marginals
from skcw.exceptions import NoLegalLabelingError

# Sequences are decoded in pieces of about this many tokens: few enough for their
# lattice to stay in the processor's cache, many enough to hide the call.
TOKENS_A_PIECE = 8192


class Decoder:
    """Decode batches with the weights of a belief.

    Parameters
    ----------
    belief : Belief
        The compact belief to predict with.
    forbidden : ndarray or None, default=None
        What :func:`skcw.constraints.forbidden_matrix` returns.
    n_jobs : int or None, default=None
        Number of threads; the kernels run without the GIL.
    borders : ndarray of shape (2, n_labels) or None, default=None
        What each label scores for being the first, and for being the last of its
        sequence.

    Examples
    --------
    >>> from skcw._belief import Belief
    >>> from skcw.data import SequenceEncoder
    >>> from skcw._decoding import Decoder
    >>> batch = SequenceEncoder().fit_transform([["a", "b"], []])
    >>> Decoder(Belief.start(2, 3)).viterbi(batch)
    (array([0, 0], dtype=int32), array([0., 0.]))
    """

    def __init__(self, belief, forbidden=None, n_jobs=None, borders=None):
        self.belief = belief
        self.forbidden = forbidden
        self.n_jobs = n_jobs
        width, n_labels = belief.width, belief.n_labels
        trans = belief.weights[: width * width].reshape(width, width)
        self.transitions = trans.copy()
        self.borders = borders
        if forbidden is not None:
            self.transitions[:n_labels, :n_labels] += forbidden[:-2]
            legal = forbidden[-2:]
            self.borders = legal if borders is None else borders + legal

    @property
    def n_labels(self):
        """The number of labels."""
        return self.belief.n_labels

    def scores(self, batch):
        """Return the score of every label at every token, padded to the width."""
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
        if self.borders is not None:
            full = batch.lengths > 0
            n = self.n_labels
            scores[batch.offsets[:-1][full], :n] += self.borders[0]
            scores[batch.offsets[1:][full] - 1, :n] += self.borders[1]
        return scores

    def viterbi(self, batch):
        """Return the best label of every token and every sequence's best score."""
        labels = np.zeros(batch.n_tokens, dtype=np.int32)
        total = np.zeros(len(batch))

        def decode(piece, tokens, sequences):
            viterbi(
                self.scores(piece),
                self.transitions,
                self.n_labels,
                piece.offsets,
                labels[tokens],
                total[sequences],
            )

        self.each_piece(decode, batch)
        self.check_legal(total, batch)
        return labels, total

    def most_labelings(self, batch):
        """Return how many labelings the longest sequence has: no k need be larger."""
        # 2 ** 64 are enough for any k.
        return self.n_labels ** min(int(batch.lengths.max(initial=0)), 64)

    def k_best(self, batch, k):
        """Return the k best labelings: labels (k, n_tokens), scores and numbers."""
        labels = np.zeros((k, batch.n_tokens), dtype=np.int32)
        total = np.full((len(batch), k), -np.inf)
        found = np.zeros(len(batch), dtype=np.int32)

        def decode(piece, tokens, sequences):
            part = np.zeros((k, piece.n_tokens), dtype=np.int32)
            k_best(
                self.scores(piece),
                self.transitions,
                self.n_labels,
                piece.offsets,
                part,
                total[sequences],
                found[sequences],
            )
            labels[:, tokens] = part

        self.each_piece(decode, batch)
        self.check_legal(total[:, 0], batch)
        return labels, total, found

    def path_scores(self, batch, labels):
        """Return the score of one given labeling per sequence."""
        total = np.zeros(len(batch))

        def score(piece, tokens, sequences):
            path_scores(
                self.scores(piece),
                self.transitions,
                piece.offsets,
                labels[tokens],
                total[sequences],
            )

        self.each_piece(score, batch)
        return total

    def max_marginals(self, batch):
        """Return the best score of a labeling with label j at token t, for all t, j."""
        dtype = self.belief.weights.dtype
        forced = np.empty((batch.n_tokens, self.n_labels), dtype)

        def decode(piece, tokens, sequences):
            max_marginals(
                self.scores(piece),
                self.transitions,
                self.n_labels,
                piece.offsets,
                forced[tokens],
            )

        self.each_piece(decode, batch)
        return forced

    def marginals(self, batch, temperature=1.0):
        """Return forward-backward marginals (n_tokens, n_labels) and log partitions.

        Scores are divided by the temperature first.
        """
        out = np.empty((batch.n_tokens, self.n_labels))
        log_z = np.zeros(len(batch))
        transitions = self.transitions.astype(np.float64) / temperature

        def decode(piece, tokens, sequences):
            marginals(
                self.scores(piece).astype(np.float64) / temperature,
                transitions,
                self.n_labels,
                piece.offsets,
                out[tokens],
                log_z[sequences],
            )

        self.each_piece(decode, batch)
        self.check_legal(log_z, batch)
        return out, log_z

    def each_piece(self, work, batch):
        """Call work(piece, its tokens, its sequences) for pieces of the batch."""
        # Before it is cut, so that an error names the sequence by its place in X.
        pieces = list(_pieces(batch.with_precision(self.belief.weights.dtype)))
        if self.n_jobs is None or len(pieces) < 2:
            for piece in pieces:
                work(*piece)
        else:
            Parallel(n_jobs=self.n_jobs, require="sharedmem")(
                delayed(work)(*piece) for piece in pieces
            )

    def check_legal(self, total, batch):
        """Raise if a sequence has no labeling that the constraints allow."""
        if self.forbidden is None:
            return
        dead = np.flatnonzero(np.isneginf(total))
        if len(dead):
            raise NoLegalLabelingError(
                f"the constraints allow no labeling of sequence {dead[0]}, which has "
                f"{batch.lengths[dead[0]]} tokens"
            )


def _pieces(batch):
    """Yield (part of the batch, slice of tokens, slice of sequences)."""
    offsets = batch.offsets
    start = 0
    while start < len(batch):
        stop = int(np.searchsorted(offsets, offsets[start] + TOKENS_A_PIECE))
        stop = min(max(stop, start + 1), len(batch))
        tokens = slice(int(offsets[start]), int(offsets[stop]))
        yield batch[start:stop], tokens, slice(start, stop)
        start = stop
