"""Hidden Markov models by counts."""

import time
from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw._belief import Belief
from skcw._compat import Interval, StrOptions, _fit_context
from skcw._limits import LARGEST_FACTOR
from skcw._one_step import changes_at_once, reads_at_once
from skcw.data._constraints import saved_forbidden
from skcw.data._encoder import without_needless
from skcw.data._saved import saved_kind, saved_texts
from skcw.data._vocabulary import Vocabulary
from skcw.tagging._base import store_parameters
from skcw.tagging._belief_tagger import BeliefTagger
from skcw.tagging._hmm_counts import Counts, count, hmm_belief, label_prior
from skcw.tagging._hmm_reading import check_values, is_read, words_of
from skcw.tagging._inputs import CONSTRAINTS as LIMITS
from skcw.tagging._inputs import (
    Examples,
    checked_weights,
    legal_steps,
)
from skcw.tagging._spelling import LabelShares

SMOOTHING = Interval(Real, 1e-10, 1e10, closed="both")

# The parameters that the weights depend on, as they were when these were estimated.
USED = (
    "unseen",
    "word_prefix",
    "word_smoothing",
    "class_smoothing",
    "transition_smoothing",
    "max_suffix",
)


class HMMSequenceTagger(BeliefTagger):
    """Tagger by a hidden Markov model of first order, with probabilities by counts.

    Labels follow each other by P(label | label before), and each emits its word by
    P(word | label). Training is counting: it takes one pass, in any order, and
    ``partial_fit`` gives the same result as ``fit`` on all of the data. Decoding is
    that of the other taggers, so n-best labelings, marginals and all confidence methods
    that need no variances are available. Probabilities are the model's own (temperature
    1).

    A token is a word: a string, or a list or dict of features one of which is the
    word (`word_prefix`). Without `word_prefix` a token emits all of its features, each
    independently of the others: for one feature that is the usual model, for many it is
    naive Bayes, whose probabilities are too extreme as soon as features overlap.

    Smoothing is by back-off: what is known of P(label | word) before the word was seen
    counts as `word_smoothing` tokens, and for a word that was never seen it is all
    there is. It comes from the other spellings of the same letters ("The", "the"), the
    distinct words with the same shape (Animal is Aa, G.M. is A.A.) and the same last
    4, 3, 2 or 1 characters, with the same shape, with the same kind of first character,
    and all distinct words, the wider class counting as `class_smoothing` words each
    time.

    Parameters
    ----------
    unseen : {"spelling", "vocabulary", "prior"}, default="spelling"
        What to assume about a word that was not seen: what its spelling suggests; that
        it is like any distinct word; or nothing, so that its neighbours decide.
    word_prefix : str, default=None
        Read only features whose name begins with this; the rest of it is the word. For
        ``WindowFeatures`` it is ``"word[0]="``, for ``{"word": "Ann"}`` ``"word:"``.
    word_smoothing : float, default=0.5
        The weight of what is assumed about a word, in tokens of that word.
    class_smoothing : float, default=5.0
        The weight of a wider class of spelling in a narrower one, in words.
    transition_smoothing : float, default=10.0
        The weight of the overall shares of labels in transitions, in tokens.
    max_suffix : int, default=4
        The longest ending that makes a class of spelling.
    constraints : str, callable, (names, matrix) or None, default="auto"
        Label sequences to rule out, as for the other taggers.
    remember_training : bool, default=False
        Keep a hash of each training sequence, for ``seen_fraction``. The hashes are
        also saved in the model file: anyone who has it can test whether a sequence was
        used.
    n_jobs : int, default=None
        Number of threads for decoding.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in the order of their first appearance.
    coef_ : ndarray of shape (n_features, n_classes)
        log P(label | feature) / P(label): how much a feature speaks for a label.
    transition_coef_ : ndarray of shape (n_classes, n_classes)
        log P(label | label before).
    border_coef_ : ndarray of shape (2, n_classes)
        log P(label | first token), and log P(label | last token) / P(label).
    class_count_, transition_count_, border_count_, feature_count_ : ndarray, csr_matrix
        The counts of labels, of pairs of them, of the first and the last ones, and of
        features with labels.
    feature_names_ : ndarray of shape (n_features,)
        The features.
    constraints_ : str or None
        The constraints in force: a scheme, "given" for a function or a matrix, or None.
    scheme_faults_ : dict
        How many of the "sequences" learnt from break each scheme.
    n_iter_ : int
        1: there is only one pass.
    history_ : list of dict
        For that pass its number ("epoch"), the "tokens" counted and the "seconds".

    See Also
    --------
    CRFSequenceTagger : The discriminative model of the same shape.

    Notes
    -----
    Accuracy in per cent on the test sets of UD English EWT (XPOS) and ARK tweets, over
    all words and over those not seen in training, and RMSE of ``predict_confidence``
    over 20 bins. The other choices were made on the development sets.

    =====================================  ====================  ====================
    unseen                                 EWT                   ARK
    =====================================  ====================  ====================
    "prior", smoothing 0.001               88.15, 29.14, .039    74.69, 33.38, .038
    "prior"                                87.96, 29.01, .027    74.27, 33.38, .031
    "vocabulary"                           89.50, 45.42, .021    76.36, 40.99, .028
    "spelling"                             92.86, 76.88, .029    86.27, 71.28, .035
    =====================================  ====================  ====================

    Examples
    --------
    >>> from skcw import HMMSequenceTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = HMMSequenceTagger().fit(X, y)
    >>> tagger.predict([["The", "bird", "sings"]])[0]
    ['D', 'N', 'V']
    >>> tagger.predict_confidence([["The", "bird", "sings"]])[0].round(2)
    array([0.87, 0.53, 0.72])
    """

    _parameter_constraints: dict = {
        "unseen": [StrOptions({"spelling", "vocabulary", "prior"})],
        "word_prefix": [str, None],
        "word_smoothing": [SMOOTHING],
        "class_smoothing": [SMOOTHING],
        "transition_smoothing": [SMOOTHING],
        "max_suffix": [Interval(Integral, 0, None, closed="left")],
        "constraints": LIMITS,
        "remember_training": ["boolean"],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
    }

    # Its scores are logarithms of probabilities.
    _log_probability = True

    def __init__(
        self,
        unseen="spelling",
        *,
        word_prefix=None,
        word_smoothing=0.5,
        class_smoothing=5.0,
        transition_smoothing=10.0,
        max_suffix=4,
        constraints="auto",
        remember_training=False,
        n_jobs=None,
    ):
        store_parameters(self, locals())

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Count labelled sequences.

        Parameters
        ----------
        X : iterable of sequences
            A list, object array, iterator or ``SequenceBatch`` of sequences. A token
            is a string, a list of feature strings or a dict as sklearn-crfsuite takes
            it; or a sequence is a 2-D array or CSR matrix of counts.
        y : iterable of sequences of str
            The labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            How much each sequence counts.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        return self._count(X, y, None, sample_weight, fresh=True)

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Count more sequences; the result is that of ``fit`` on all of them.

        New words and new labels may appear at any time. If anything fails, the tagger
        is as it was before.

        Parameters
        ----------
        X : iterable of sequences
            The sequences, as for ``fit``.
        y : iterable of sequences of str
            The labels.
        classes : sequence of str, default=None
            Labels to know in advance, in this order.
        sample_weight : array-like of shape (n_sequences,), default=None
            As for ``fit``.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        # scikit-learn checks parameters before the first call only.
        self._validate_params()
        fresh = not hasattr(self, "belief_")
        return self._count(X, y, classes, sample_weight, fresh)

    def _count(self, X, y, classes, sample_weight, fresh):
        """Count, add what was counted before, and only then change the tagger."""
        began = time.perf_counter()
        batch = check_values(self._training_batch(X, fresh))
        codes, labels = self._training_labels(y, batch, fresh, classes)
        weight = checked_weights(sample_weight, len(batch), at_most=LARGEST_FACTOR)
        data = Examples(batch, codes, weight)
        # The warning names the line that calls fit, above two decorators.
        rules = legal_steps(self, labels, data, fresh, "float64", 6)
        new = count(data, len(labels))
        counts = new if fresh else self._counts().plus(new)
        used = {name: getattr(self, name) for name in USED}
        fitted = self._estimate(counts, batch.vocabulary, labels, rules.forbidden, used)
        fitted["belief_"].check_finite()
        # What encode keeps of the same sequences later.
        kept = without_needless(batch, _known(fitted["belief_"], batch.n_features))
        memory = self._memory(data._replace(batch=kept), fresh)
        if fresh:
            vars(self).pop("confidence_", None)
        self._keep(fitted | rules.attributes())
        self.training_hashes_ = memory
        tokens, seconds = float(new.labels.sum()), time.perf_counter() - began
        self.n_iter_ = 1
        self.history_ = [{"epoch": 1, "tokens": tokens, "seconds": seconds}]
        return self

    def _estimate(self, counts, vocabulary, labels, forbidden, used):
        """Return the attributes of a tagger with these counts and parameters."""
        prefix, n_features = used["word_prefix"], counts.features.shape[0]
        read = is_read(vocabulary, n_features, prefix)
        if prefix and n_features and not read.any():
            raise ValueError(f"no feature begins with word_prefix={prefix!r}")
        total = np.asarray(counts.features.sum(axis=1)).ravel()
        seen = np.flatnonzero(read & (total > 0))
        learnt, before = LabelShares.learn(
            words_of(vocabulary, seen, prefix),
            counts.features[seen],
            label_prior(counts.labels),
            used["unseen"],
            used["class_smoothing"],
            used["max_suffix"],
        )
        smoothing = used["word_smoothing"], used["transition_smoothing"]
        belief = hmm_belief(counts, seen, before, *smoothing)
        return {
            **self._fitted(belief, vocabulary, labels, forbidden),
            "feature_count_": counts.features,
            "class_count_": counts.labels,
            "transition_count_": counts.transitions,
            "border_count_": counts.borders,
            "_shares": learnt,
            "_used": used,
        }

    def _counts(self):
        return Counts(
            self.feature_count_,
            self.class_count_,
            self.transition_count_,
            self.border_count_,
        )

    @reads_at_once
    def encode(self, X):
        """Return sequences in compiled form, to be used several times.

        Parameters
        ----------
        X : iterable of sequences
            The sequences. Unknown words are kept and judged by their spelling, unless a
            ``SequenceBatch`` comes from an encoder that has left them out.

        Returns
        -------
        batch : SequenceBatch
            The encoded sequences.
        """
        check_is_fitted(self, "belief_")
        batch = check_values(self._encoded(X, grow=True))
        return without_needless(batch, _known(self.belief_, batch.n_features))

    def _belief_for(self, batch):
        """Return the rows that a batch needs, with those of words never seen."""
        belief = super()._belief_for(batch)
        prefix, width = self._used["word_prefix"], belief.width
        used = np.unique(batch.compact().indices)
        used = used[is_read(batch.vocabulary, batch.n_features, prefix)[used]]
        old = belief.row_of[used]
        rows = belief.mean.reshape(-1, width)
        # The transitions, the blank row and the ends of a sequence come first.
        rows = np.concatenate([rows[: width + 3], rows[old]])
        new = np.flatnonzero(old == width)
        if len(new):
            words = words_of(batch.vocabulary, used[new], prefix)
            shares = self._shares(len(new) if words is None else words)
            told = np.log(shares / label_prior(self.class_count_))
            rows[width + 3 + new, : belief.n_labels] = told
        row_of = np.full(len(belief.row_of), width, dtype=np.int32)
        row_of[used] = np.arange(width + 3, len(rows), dtype=np.int32)
        return Belief(belief.n_labels, row_of, rows.ravel(), None, None, 0.0)

    def _border_rows(self):
        return self.belief_.width + 1, self.belief_.width + 2

    @property
    def border_coef_(self):
        """What labels score at the first and the last token of a sequence."""
        return self._borders()

    def _state(self):
        state, arrays = super()._state()
        return {**state, "used": self._used}, arrays | self._counts().arrays()

    def _serving(self):
        prefix, belief = self._used["word_prefix"], self.belief_
        read = is_read(self.vocabulary_, len(belief.row_of), prefix)
        if not _known(belief, len(read))[read].all():
            # Known by name, never counted: judged by the spelling.
            return None
        return {**super()._serving(), "reads_words": True}

    def _restore(self, state, arrays):
        labels = saved_texts(state["classes"], "classes")
        counts = Counts.restored(arrays, len(labels))
        vocabulary = Vocabulary.restored(arrays, counts.features.shape[0])
        forbidden = None
        if "forbidden" in arrays:
            forbidden = saved_forbidden(arrays, len(labels))
        # They are parameters, and have to be as good as those.
        used = saved_kind(state["used"], "used", dict)
        type(self)(**used)._validate_params()
        self._keep(self._estimate(counts, vocabulary, labels, forbidden, used))
        self._restore_rest(state, arrays)


def _known(belief, n_features):
    """Tell which features have a row of weights, that is, were seen in training."""
    known = np.zeros(n_features, dtype=bool)
    known[: len(belief.row_of)] = belief.row_of != belief.width
    return known
