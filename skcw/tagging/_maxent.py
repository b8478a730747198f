"""Maximum-entropy taggers: one label after the other, by logistic regression."""

import time
from numbers import Integral, Real

import numpy as np

from skcw._compat import Interval, StrOptions, _fit_context
from skcw._decoding import Decoder
from skcw._limits import LARGEST_FACTOR, LARGEST_LEARNT, MOST_IN_A_FILE
from skcw._one_step import changes_at_once
from skcw.data._saved import saved_array, saved_number
from skcw.tagging._base import store_parameters
from skcw.tagging._belief_tagger import BeliefTagger
from skcw.tagging._inputs import (
    Examples,
    checked_weights,
    warn_in_plain_pipeline,
    warn_of_outside,
)
from skcw.tagging._maxent_decoding import HISTORY_METHODS, ScoredHistories
from skcw.tagging._maxent_training import train


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
    remember_training : bool, default=False
        Keep a hash of each training sequence, for ``seen_fraction``. The hashes are
        also saved in the model file: anyone who has it can test whether a sequence was
        used.
    n_jobs : int, default=None
        Number of threads for decoding. Training has one.
    random_state : int, RandomState instance or None, default=None
        Controls the order in which "saga" and "sag" take the tokens.
    verbose : int, default=0
        1 tells on standard error what is solved, and when it was; with 2 the solver
        itself prints a line for every iteration, on standard output.

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
    CRFSequenceTagger : Normalises over labelings instead of labels.

    Notes
    -----
    With the ready features "pos" and all else as it is, accuracy on the test sets of UD
    English EWT (XPOS) and ARK tweets is 94.27 and 85.00 % (HMMSequenceTagger: 92.86 and
    86.27 %). On the development set of ARK it is 86.03 %, and with other parameters:

    =============  =========================================
    parameter      accuracy in per cent
    =============  =========================================
    min_count      86.05 with 1, 85.05 with 5
    beam           85.36 with 1, 85.94 with 3, 86.03 with 50
    C              85.38 with 0.3, 85.98 with 3
    =============  =========================================

    There are three methods of confidence: ``"marginal"``, the probability of the label
    summed over histories; ``"local"``, the same after the predicted history; and
    ``"nbest"``, the share that the labelings with the label have in the probability of
    all labelings of the beam. Average precision of finding errors on the test sets of
    EWT and ARK, and RMSE over 20 bins:

    ============  ============  ============
    method        EWT           ARK
    ============  ============  ============
    "marginal"    .426, .025    .579, .034
    "local"       .405, .020    .540, .026
    "nbest"       .404, .021    .529, .080
    ============  ============  ============

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

    _parameter_constraints: dict = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "beam": [Interval(Integral, 1, None, closed="left")],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "solver": [StrOptions({"saga", "sag", "lbfgs", "newton-cg"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "remember_training": ["boolean"],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # A label depends on the two before it, so that its methods are its own.
    _is_chain = False
    _saved_attributes = ()
    _methods = HISTORY_METHODS

    def __init__(
        self,
        C=1.0,
        *,
        beam=20,
        min_count=2,
        solver="saga",
        tol=1e-2,
        max_iter=1000,
        remember_training=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        store_parameters(self, locals())

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Learn from labelled sequences.

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
        codes, labels = self._training_labels(y, batch, fresh=True)
        weight = checked_weights(sample_weight, len(batch), at_most=LARGEST_FACTOR)
        data = Examples(batch, codes, weight)
        warn_of_outside(labels, 4)
        warn_in_plain_pipeline(self)
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

    def _state(self):
        state, arrays = super()._state()
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
        if not ((known == -np.inf) | (np.abs(known) <= LARGEST_LEARNT)).all():
            raise ValueError("an intercept is NaN or too large")
        self.intercept_ = known
        self.previous_coef_ = saved_array(arrays, "previous", double, (n + 1, n))
        pairs = saved_array(arrays, "pairs", ("i4",), (None, 2))
        weights = saved_array(arrays, "pair_weights", double, (len(pairs), n))
        if not ((pairs >= 0) & (pairs <= n)).all():
            raise ValueError("a history has a label that does not exist")
        self.previous_two_, self.previous_two_coef_ = pairs, weights
