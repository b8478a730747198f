"""Maximum-entropy taggers: one label after the other, by logistic regression."""

import sys
import time
from collections.abc import Iterable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from threading import Thread
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.linear_model import LogisticRegression

from skcw._kernels.beam import beam_search, history_marginals
from skcw._model.decoding import Decoder, ScoredBatch
from skcw._model.examples import (
    warn_of_outside,
)
from skcw._model.gaussian import Belief, padded
from skcw._util.compat import Interval, StrOptions, _fit_context
from skcw._util.limits import LARGEST_FACTOR, LARGEST_LEARNED, MOST_IN_A_FILE
from skcw._util.one_step import changes_at_once
from skcw.confidence.marginals import chosen
from skcw.confidence.methods import Method
from skcw.data.saved import saved_array, saved_number
from skcw.tagging.base import N_JOBS
from skcw.tagging.belief_tagger import BeliefTagger


class Weights(NamedTuple):
    """The weights of a maximum-entropy tagger.

    Parameters
    ----------
    belief : Belief
        The weights of the token's features.
    intercept : ndarray of shape (n_labels,)
        What every token adds; minus infinity for a label without training tokens.
    previous : ndarray of shape (n_labels + 1, n_labels)
        The weights of the label before; the last row is for the first token.
    pairs : ndarray of int32, shape (n_pairs, 2)
        The pairs of two labels before that have weights, the nearer one last.
    pair_weights : ndarray of shape (n_pairs, n_labels)
        Their weights.
    """

    belief: Belief
    intercept: np.ndarray
    previous: np.ndarray
    pairs: np.ndarray
    pair_weights: np.ndarray


def labels_before(codes, offsets, border):
    """Return the label before each token and the one before that.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_tokens,)
        The labels.
    offsets : ndarray of int64
        Where each sequence begins.
    border : int
        The label before the first token of a sequence, and before that.

    Returns
    -------
    near, far : ndarray of int64, shape (n_tokens,)
        The labels.
    """
    first = offsets[:-1][np.diff(offsets) > 0]
    near = np.concatenate([[border], codes[:-1]])[: len(codes)]
    near[first] = border
    far = np.concatenate([[border], near[:-1]])[: len(codes)]
    far[first] = border
    return near, far


def train(data, n_labels, min_count, settings):
    """Return the weights, and the number of iterations that they took.

    Parameters
    ----------
    data : Examples
        The sequences, the codes of their labels and their weights.
    n_labels : int
        The number of labels.
    min_count : int
        Features of tokens and of histories that are seen less often get no weight.
    settings : dict
        Parameters of :class:`sklearn.linear_model.LogisticRegression`.

    Returns
    -------
    weights : Weights
        The weights.
    n_iter : int
        The number of iterations.
    """
    batch, codes = data.batch._compact(), data.codes
    weight = np.ones(len(batch)) if data.weight is None else data.weight
    weight = np.repeat(weight, batch.lengths)
    near, far = labels_before(codes, batch.offsets, n_labels)
    blocks = [
        _features(batch),
        _one_hot(near, n_labels + 1),
        _one_hot(far * (n_labels + 1) + near, (n_labels + 1) ** 2),
    ]
    kept = [_frequent(block, weight, min_count) for block in blocks]
    design = sparse.hstack(
        [block[:, columns] for block, columns in zip(blocks, kept, strict=True)],
        format="csr",
    )
    seen = weight > 0
    coef, intercept, n_iter = _solve(
        design[seen], codes[seen], weight[seen], n_labels, settings
    )
    return _unfold(coef, intercept, kept, batch.n_features, n_labels), n_iter


def _features(batch):
    """Return the features of the tokens as a matrix that scikit-learn takes."""
    values = batch.values
    if values is None:
        values = np.ones(len(batch.indices))
    # Its solvers read 32-bit indices only.
    parts = values, batch.indices.astype(np.int32), batch.indptr.astype(np.int32)
    return sparse.csr_matrix(parts, shape=(batch.n_tokens, batch.n_features))


def _one_hot(codes, n_codes):
    n = len(codes)
    parts = np.ones(n), codes.astype(np.int32), np.arange(n + 1, dtype=np.int32)
    return sparse.csr_matrix(parts, shape=(n, n_codes))


def _frequent(block, weight, min_count):
    """Return the columns with an entry in at least so many tokens."""
    by_entry = np.repeat(weight, np.diff(block.indptr))
    count = np.bincount(block.indices, by_entry, block.shape[1])
    return np.flatnonzero((count >= min_count) & (count > 0))


def _solve(design, codes, weight, n_labels, settings):
    """Return coefficients (n_columns, n_labels), intercepts and iterations."""
    present = np.unique(codes)
    coef = np.zeros((design.shape[1], n_labels))
    intercept = np.full(n_labels, -np.inf)
    if len(present) == 1:
        intercept[present] = 0.0
        return coef, intercept, 1
    verbose, began = settings["verbose"], time.perf_counter()
    solver = LogisticRegression(**settings | {"verbose": max(0, int(verbose) - 1)})
    weight = None if (weight == 1).all() else weight
    if verbose:
        _tell(
            f"{solver.solver} learns {n_labels} labels from {len(codes)} tokens with "
            f"{design.shape[1]} features and histories"
        )
    interruptible(solver.fit, design, codes, sample_weight=weight)
    n_iter = int(np.max(solver.n_iter_))
    if verbose:
        _tell(f"{n_iter} iterations, {time.perf_counter() - began:.2f} s")
    if len(present) == 2:
        # Two classes have one column: the logit of the second.
        present = present[1:]
        intercept[codes.min()] = 0.0
    coef[:, present] = solver.coef_.T
    intercept[present] = solver.intercept_
    return coef, intercept, n_iter


def interruptible(function, *args, **options):
    """Call a function that ignores Ctrl-C, such as a compiled solver.

    It runs in a thread. After Ctrl-C the caller waits no longer; the function ends when
    it is done, or with the program. Where memory is limited it runs without a thread,
    for a new one that finds no memory ends the process.

    Parameters
    ----------
    function : callable
        The function.
    *args, **options : object
        Its arguments.

    Returns
    -------
    result : object
        What it returns, if nothing interrupts it.
    """
    if _memory_is_limited():
        return function(*args, **options)
    result = Future()
    config, context = get_config(), copy_context()

    def run():
        try:
            with config_context(**config):
                result.set_result(context.run(function, *args, **options))
        except BaseException as error:
            result.set_exception(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(timeout=0.1)
    return result.result()


def _memory_is_limited():
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _tell(line):
    print(line, file=sys.stderr, flush=True)


def _unfold(coef, intercept, kept, n_features, n_labels):
    """Return the rows of all columns where they belong."""
    features, near, pairs = np.split(coef, np.cumsum([len(k) for k in kept])[:-1])
    width = padded(n_labels)
    rows = np.zeros((width + 1 + len(features), width))
    rows[width + 1 :, :n_labels] = features
    row_of = np.full(n_features, width, dtype=np.int32)
    row_of[kept[0]] = np.arange(width + 1, len(rows), dtype=np.int32)
    previous = np.zeros((n_labels + 1, n_labels))
    previous[kept[1]] = near
    return Weights(
        Belief(n_labels, row_of, rows.ravel(), None, None, 0.0),
        intercept,
        previous,
        np.stack(np.divmod(kept[2], n_labels + 1), axis=1).astype(np.int32),
        pairs,
    )


class ScoredHistories(ScoredBatch):
    """One batch under one model whose labels depend on the two before them.

    Its decoder has the ``intercept``, the ``histories`` (weights of the label before,
    rows of two labels before, and their weights) and the size of the ``beam``.
    """

    def _score(self):
        """Return what each label scores at each token before its history is known."""
        scores = self.decoder.scores(self.batch, self.first)
        scores[:, : self.n_labels] += self.decoder.intercept
        return scores

    def viterbi(self):
        """Return the best labeling that the beam finds, and its log-probability."""
        if self._best is None:
            codes, total, _ = self.k_best(1)
            self._best = codes[0], total[:, 0]
        return self._best

    def k_best(self, k):
        """Return the k best of the beam: codes (k, n_tokens), logarithms and numbers.

        For more than the size of the beam the search is widened, and may find a better
        first one.
        """
        most = self.most_labelings()
        k, beam = min(k, most), min(max(k, self.decoder.beam), most)
        codes = np.zeros((k, self.n_tokens), dtype=np.int32)
        total = np.full((len(self), k), -np.inf)
        found = np.zeros(len(self), dtype=np.int32)

        def search(piece, tokens, sequences):
            labels = np.zeros((beam, piece.n_tokens), dtype=np.int32)
            sums = np.full((len(piece), beam), -np.inf)
            number = np.zeros(len(piece), dtype=np.int32)
            beam_search(
                piece.scores,
                *self.decoder.histories,
                piece.offsets,
                labels,
                sums,
                number,
            )
            codes[:, tokens], total[sequences] = labels[:k], sums[:, :k]
            found[sequences] = np.minimum(number, k)

        self.each_piece(search)
        return codes, total, found

    def _sum_up(self, temperature, out, log_z):
        """Sum probabilities over the histories of one piece; log_z stays 0."""
        none = np.empty((2, 0), dtype=np.intp)
        self._sum_histories(out, none, np.empty((self.n_tokens, 0)))

    def _sum_histories(self, out, asked, joint):
        history_marginals(
            self.scores,
            *self.decoder.histories,
            self.offsets,
            self.decoder.beam,
            *(out, asked, joint),
        )

    def pairs(self, left, right):
        """Return the probabilities of pairs of labels of each token and the next."""
        asked = np.stack([left, right])
        joint = np.zeros((self.n_tokens + 1, len(left)))

        def collect(piece, tokens, sequences):
            own = np.empty((piece.n_tokens, len(left)))
            piece._sum_histories(np.empty((len(own), self.n_labels)), asked, own)
            joint[tokens] = own

        self.each_piece(collect)
        return joint[1:]

    def local(self):
        """Return the probabilities of all labels after the predicted ones."""
        previous, row, pairs = self.decoder.histories
        near, far = labels_before(self.viterbi()[0], self.offsets, self.n_labels)
        scores = self.scores[:, : self.n_labels] + previous[near]
        known = row[far, near] >= 0
        scores[known] += pairs[row[far, near][known]]
        power = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        return power / power.sum(axis=1, keepdims=True)


# Rounding may lift a sum of shares above one.
def _marginal(scored, codes, settings):
    return np.minimum(chosen(scored.marginals()[0], codes), 1.0)


def _local(scored, codes, settings):
    return np.minimum(chosen(scored.local(), codes), 1.0)


def _nbest(scored, codes, settings):
    labels, total, found = scored.k_best(scored.decoder.beam)
    exists = np.arange(total.shape[1]) < found[:, None]
    votes = np.where(exists, np.exp(total - total[:, :1]), 0.0)
    # One by one, so that labelings which do not exist change no bit.
    votes /= np.cumsum(votes, axis=1)[:, -1:]
    votes = np.repeat(votes, scored.lengths, axis=0).T
    if codes is not None:
        return np.minimum(((labels == codes) * votes).sum(axis=0), 1.0)
    every = range(scored.n_labels)
    shares = [((labels == code) * votes).sum(axis=0) for code in every]
    return np.minimum(np.stack(shares, axis=1), 1.0)


def _pairs(scored, left, right, settings):
    return np.minimum(scored.pairs(left, right), 1.0)


def _labeling(scored, codes, settings):
    """Return the probability of the labeling that the beam has found."""
    return np.minimum(np.exp(scored.viterbi()[1]), 1.0)


HISTORY_METHODS = {
    "marginal": Method(_marginal, True, sequences=_labeling, pairs=_pairs),
    "local": Method(_local, True),
    "nbest": Method(_nbest, True),
}


@dataclass(eq=False, repr=False, match_args=False)
class MaxEntSequenceTagger(BeliefTagger):
    """Tagger by maximum entropy: labels one after the other, each by its history.

    The probability of a label is a multinomial logistic regression on the features of
    its token, the label before, and the two labels before [1]_; that of a labeling is
    the product. A beam search finds the most probable labelings, with the logarithms of
    their probabilities: what a reranker reads [2]_.

    It is trained on true histories but tags with its own, and later words cannot change
    an earlier label. A CRF on the same features has neither weakness.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the L2 penalty.
    beam : int, default=20
        How many beginnings of a labeling the search keeps.
    min_count : int, default=2
        Features and histories seen less often get no weight.
    solver : {"saga", "sag", "lbfgs", "newton-cg"}, default="saga"
        The solver of :class:`sklearn.linear_model.LogisticRegression`. "saga" and
        "sag" take tokens at random and want values of about one; the others, which do
        not, are many times slower.
    tol : float, default=0.01
        When the solver stops; for "saga" the largest change of a weight in a pass, as
        a share of the largest weight.
    max_iter : int, default=1000
        The most iterations; scikit-learn warns if they are not enough.
    n_jobs : int, default=None
        Number of threads for decoding. Training has one.
    random_state : int, RandomState instance or None, default=None
        Controls the order in which "saga" and "sag" take the tokens.
    verbose : int, default=0
        1 shows on standard error when the solver begins and ends; with 2 the solver
        prints a line for every iteration on standard output.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in the order of their first appearance.
    coef_ : ndarray of shape (n_features, n_classes)
        The weights of the features.
    intercept_ : ndarray of shape (n_classes,)
        What every token adds.
    previous_coef_ : ndarray of shape (n_classes + 1, n_classes)
        The weights of the label before; the last row is for the first token.
    previous_two_ : ndarray of shape (n_pairs, 2)
        The numbers of two labels before, in their order, that have weights; n_classes
        stands for none.
    previous_two_coef_ : ndarray of shape (n_pairs, n_classes)
        Their weights.
    feature_names_ : ndarray of shape (n_features,)
        The features.
    n_iter_ : int
        Number of iterations of the solver.
    history_ : list of dict
        One record with the number of the last iteration ("epoch") and "seconds".

    See Also
    --------
    CRFSequenceTagger : Normalizes over labelings instead of labels.

    Notes
    -----
    There are three methods of confidence: ``"marginal"``, the probability of the label
    summed over histories; ``"local"``, the same after the predicted history; and
    ``"nbest"``, the share that the labelings with the label have in the probability of
    all labelings of the beam.

    References
    ----------
    .. [1] A. Ratnaparkhi, "A maximum entropy model for part-of-speech tagging",
       EMNLP 1996.
    .. [2] M. Collins, "Ranking algorithms for named-entity extraction: boosting and the
       voted perceptron", ACL 2002.

    Examples
    --------
    >>> from skcw import MaxEntSequenceTagger
    >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]] * 3
    >>> y = [["B-PER", "O", "B-PER"], ["B-PER", "O"]] * 3
    >>> tagger = MaxEntSequenceTagger(random_state=0).fit(X, y)
    >>> labels, log_probability = tagger.predict_nbest([["Ann", "left"]], 2)[0][0]
    >>> labels, round(log_probability, 1)
    (['B-PER', 'O'], -0.3)
    """

    C: float = 1.0
    _: KW_ONLY
    beam: int = 20
    min_count: int = 2
    solver: str = "saga"
    tol: float = 1e-2
    max_iter: int = 1000
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    _parameter_constraints = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "beam": [Interval(Integral, 1, None, closed="left")],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"saga", "sag", "lbfgs", "newton-cg"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # A label depends on the two before it, so that its methods are its own.
    _is_chain = False
    _saved_attributes = ()
    _methods = HISTORY_METHODS
    _heaviest = LARGEST_FACTOR

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Iterable[Any], y: Iterable[Any], sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from labeled sequences.

        Parameters
        ----------
        X : iterable of sequences
            A list, object array, iterator or ``SequenceBatch`` of sequences. A token
            is a list of feature strings, a dict as sklearn-crfsuite takes it, or a
            string; or a sequence is a 2-D array or CSR matrix of numbers.
        y : iterable of sequences of str
            The labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            How much each sequence counts.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        began = time.perf_counter()
        batch = self._training_batch(X, fresh=True).with_precision("float64")
        data, labels = self._examples(batch, y, sample_weight)
        warn_of_outside(labels, data, 4)
        names = ("C", "solver", "tol", "max_iter", "random_state", "verbose")
        settings = {name: getattr(self, name) for name in names}
        weights, n_iter = train(data, len(labels), self.min_count, settings)
        weights.belief.check_finite()
        self.training_hashes_ = self._memory(data)
        self._keep(self._fitted(weights.belief, batch.vocabulary, labels))
        self.intercept_ = weights.intercept
        self.previous_coef_ = weights.previous
        self.previous_two_ = weights.pairs
        self.previous_two_coef_ = weights.pair_weights
        seconds = time.perf_counter() - began
        self.n_iter_, self.history_ = n_iter, [{"epoch": n_iter, "seconds": seconds}]
        return self

    def _open(self, batch):
        belief = self._belief_for(batch)
        decoder = Decoder(belief, n_jobs=self.n_jobs)
        decoder.intercept, decoder.beam = self.intercept_, self.beam
        decoder.histories = self._histories()
        return ScoredHistories(decoder, decoder.readable(batch))

    def _histories(self):
        """Return the weights of histories as the kernels read them."""
        size = len(self.classes_) + 1
        row = np.full((size, size), -1, dtype=np.int32)
        row[tuple(self.previous_two_.T)] = np.arange(len(self.previous_two_))
        return self.previous_coef_, row, self.previous_two_coef_

    def _saved_state(self):
        state, arrays = super()._saved_state()
        arrays |= {
            "intercept": self.intercept_,
            "previous": self.previous_coef_,
            "pairs": self.previous_two_,
            "pair_weights": self.previous_two_coef_,
        }
        return state, arrays

    def _restore(self, state, arrays):
        super()._restore(state, arrays)
        saved_number(self.beam, "beam", 1, MOST_IN_A_FILE, whole=True)
        n, double = len(self.classes_), ("f8",)
        # The search knows one precision.
        saved_array(arrays, "belief.mean", double, (None,))
        # A label that was never seen has minus infinity.
        known = saved_array(arrays, "intercept", double, (n,), largest=np.inf)
        if not ((known == -np.inf) | (np.abs(known) <= LARGEST_LEARNED)).all():
            raise ValueError("an intercept is NaN or too large")
        self.intercept_ = known
        self.previous_coef_ = saved_array(arrays, "previous", double, (n + 1, n))
        pairs = saved_array(arrays, "pairs", ("i4",), (None, 2))
        weights = saved_array(arrays, "pair_weights", double, (len(pairs), n))
        if not ((pairs >= 0) & (pairs <= n)).all():
            raise ValueError("a history has a label that does not exist")
        self.previous_two_, self.previous_two_coef_ = pairs, weights
