"""Hidden Markov models by counts."""

import time
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from skcw._model.examples import CONSTRAINTS as LIMITS
from skcw._model.examples import legal_steps
from skcw._model.gaussian import Belief, padded
from skcw._util.compat import Interval, StrOptions, _fit_context
from skcw._util.limits import LARGEST_COUNT, LARGEST_FACTOR, LEAST_COUNT
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw.data.encoder import without_needless
from skcw.data.saved import saved_array, saved_kind, saved_texts
from skcw.data.schemes import saved_forbidden
from skcw.data.vocabulary import Vocabulary
from skcw.tagging.base import N_JOBS
from skcw.tagging.belief_tagger import BeliefTagger
from skcw.tagging.spelling import LabelShares

# What a label that has no token counts: it stays possible.
UNSEEN_LABEL = 0.5


class Counts(NamedTuple):
    """How often everything was seen, each token counting its sequence's weight.

    Parameters
    ----------
    features : csr_matrix of shape (n_features, n_labels)
        The summed values of each feature at tokens of each label.
    labels : ndarray of shape (n_labels,)
        The tokens of each label.
    transitions : ndarray of shape (n_labels, n_labels)
        The pairs of neighbors.
    borders : ndarray of shape (2, n_labels)
        The first, and the last tokens of a sequence.
    """

    features: sparse.csr_matrix
    labels: np.ndarray
    transitions: np.ndarray
    borders: np.ndarray

    def plus(self, other):
        """Return the sum with later counts, which may know more labels and features."""
        n = len(self.labels)
        features = self.features.copy()
        features.resize(other.features.shape)
        labels, transitions = other.labels.copy(), other.transitions.copy()
        borders = other.borders.copy()
        labels[:n] += self.labels
        transitions[:n, :n] += self.transitions
        borders[:, :n] += self.borders
        return Counts(_sorted(features + other.features), labels, transitions, borders)

    def arrays(self):
        """Return the arrays by name, for saving."""
        features = self.features
        return {
            "count.data": features.data,
            "count.indices": features.indices,
            "count.indptr": features.indptr,
            "count.labels": self.labels,
            "count.transitions": self.transitions,
            "count.borders": self.borders,
        }

    @classmethod
    def restored(cls, arrays, n_labels):
        """Return counts from saved arrays; raise unless they fit together."""
        integers = "i4", "i8"
        data = _saved_counts(arrays, "data", None)
        indices = saved_array(arrays, "count.indices", integers, (None,))
        indptr = saved_array(arrays, "count.indptr", integers, (None,))
        shape = len(indptr) - 1, n_labels
        features = sparse.csr_matrix((data, indices, indptr), shape=shape)
        features.check_format(full_check=True)
        return cls(
            features,
            _saved_counts(arrays, "labels", n_labels),
            _saved_counts(arrays, "transitions", n_labels, n_labels),
            _saved_counts(arrays, "borders", 2, n_labels),
        )


def _saved_counts(arrays, name, *shape):
    """Return counts of a model; raise unless they can be counts."""
    found = saved_array(arrays, f"count.{name}", ("f8",), shape)
    if (found < 0).any():
        raise ValueError(f"a count among the {name} is negative")
    return found


def _sorted(features):
    """Return a CSR array in the one order that its content can have."""
    features = features.tocsr()
    features.sort_indices()
    return features


def count(data, n_labels):
    """Return the counts of labeled sequences.

    Parameters
    ----------
    data : Examples
        The sequences, the codes of their labels and their weights.
    n_labels : int
        The number of labels.

    Returns
    -------
    counts : Counts
        The counts.
    """
    batch, codes = data.batch._compact(), data.codes
    weight = np.ones(len(batch)) if data.weight is None else data.weight
    weight = np.repeat(weight, batch.lengths)
    sizes = np.diff(batch.indptr)
    mass = np.repeat(weight, sizes)
    if batch.values is not None:
        mass = mass * batch.values
    where = batch.indices, np.repeat(codes, sizes)
    features = sparse.coo_matrix((mass, where), shape=(batch.n_features, n_labels))
    follows = np.ones(len(codes), dtype=bool)
    full = batch.lengths > 0
    first, last = batch.offsets[:-1][full], batch.offsets[1:][full] - 1
    follows[first] = False
    after = np.flatnonzero(follows)
    pairs = codes[after - 1] * np.int64(n_labels) + codes[after]
    transitions = _tally(pairs, weight[after], n_labels * n_labels)
    borders = [_tally(codes[at], weight[at], n_labels) for at in (first, last)]
    return Counts(
        _sorted(features),
        _tally(codes, weight, n_labels),
        transitions.reshape(n_labels, n_labels),
        np.array(borders),
    )


def _tally(codes, weight, n_codes):
    """Return the summed weight of each code, in double even of nothing."""
    return np.bincount(codes, weight, n_codes).astype(np.float64)


def label_prior(counts):
    """Return the share of each label among all tokens, by their counts; never 0."""
    seen = np.where(counts > 0, counts, UNSEEN_LABEL)
    return seen / seen.sum()


class LogProbabilities(Belief):
    """Weights that are logarithms of probabilities, and of quotients of them."""

    # A draw is off by about one in the exponent, whatever the corpus: the usual scale
    # of 4 makes it a variance of 0.9, which was best on tweets and on EWT alike. Rare
    # words have large negative weights that say nothing on how far draws should go.
    own_unit = 0.225


def hmm_belief(counts, seen, shares, word_smoothing, transition_smoothing):
    """Return the weights of a hidden Markov model.

    With P(j) the prior of label j, the row of a feature f is log P(j | f) / P(j), which
    is log P(f | j) but for a constant; those of transitions and of first tokens are
    log P(j | i) and log P(j | first), that of last tokens is log P(j | last) / P(j).
    The rows of first and last tokens follow the blank one; then come the features.

    Parameters
    ----------
    counts : Counts
        The counts.
    seen : ndarray of int
        The features that get a row.
    shares : ndarray of shape (n_seen, n_labels)
        What is known of P(j | f) before f was seen.
    word_smoothing : float
        How many tokens that knowledge is worth.
    transition_smoothing : float
        How many tokens the prior is worth beside the label before.

    Returns
    -------
    belief : Belief
        The weights.
    """
    prior, n_labels = label_prior(counts.labels), len(counts.labels)
    width = padded(n_labels)
    rows = np.zeros((width + 3 + len(seen), width))
    rows[:n_labels, :n_labels] = _after(counts.transitions, prior, transition_smoothing)
    first, last = _after(counts.borders, prior, transition_smoothing)
    rows[width + 1, :n_labels] = first
    rows[width + 2, :n_labels] = last - np.log(prior)
    own = counts.features[seen].toarray()
    total = own.sum(axis=1, keepdims=True) + word_smoothing
    given = (own + word_smoothing * shares) / total
    rows[width + 3 :, :n_labels] = np.log(given / prior)
    row_of = np.full(counts.features.shape[0], width, dtype=np.int32)
    row_of[seen] = np.arange(width + 3, len(rows), dtype=np.int32)
    return LogProbabilities(n_labels, row_of, rows.ravel(), None, None, 0.0)


def _after(counts, prior, smoothing):
    """Return log P(label | row), the prior counting as so many tokens."""
    total = counts.sum(axis=1, keepdims=True) + smoothing
    return np.log((counts + smoothing * prior) / total)


def check_values(batch):
    """Return a batch; raise if a value is no count, or too large or small for one."""
    compact = batch._compact()
    if compact.values is None:
        return batch
    size = np.abs(compact.values)
    usable = (size == 0) | ((size >= LEAST_COUNT) & (size <= LARGEST_COUNT))
    bad = np.flatnonzero((compact.values < 0) | ~usable)
    if len(bad):
        token = np.searchsorted(compact.indptr, bad[0], side="right") - 1
        s = np.searchsorted(compact.offsets, token, side="right") - 1
        raise ValueError(
            f"sequence {s}, token {token - compact.offsets[s]} has the feature value "
            f"{compact.values[bad[0]]}; a hidden Markov model counts features, so "
            f"values must be 0 or from {LEAST_COUNT:g} to {LARGEST_COUNT:g}"
        )
    return batch


def is_read(vocabulary, n_features, prefix):
    """Tell which features begin with a prefix.

    Parameters
    ----------
    vocabulary : Vocabulary or None
        The names; None for numeric columns.
    n_features : int
        The number of features.
    prefix : str or None
        The prefix; None reads everything.

    Returns
    -------
    read : ndarray of bool, shape (n_features,)
        Whether each feature is read.
    """
    if not prefix:
        return np.ones(n_features, dtype=bool)
    if vocabulary is None:
        raise ValueError(
            f"word_prefix is {prefix!r}, but numeric columns have no names"
        )
    wanted = np.frombuffer(prefix.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    starts, lengths = vocabulary.ends[:-1], np.diff(vocabulary.ends)
    read = lengths >= len(wanted)
    letters = vocabulary.blob[starts[read][:, None] + np.arange(len(wanted))]
    read[read] = (letters == wanted).all(axis=1)
    return read


def words_of(vocabulary, numbers, prefix):
    """Return the words that features stand for; None where they have no names."""
    if vocabulary is None:
        return None
    start = len(prefix or "")
    return [vocabulary[number][start:] for number in numbers.tolist()]


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


@dataclass(eq=False, repr=False, match_args=False)
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
        The labels of a word that was not seen in training: those that its spelling
        suggests; those of any distinct word; or those of any token, so that its
        neighbors decide.
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
        How many of the "sequences" learned from break each scheme.
    n_iter_ : int
        1: there is only one pass.
    history_ : list of dict
        For that pass its number ("epoch"), the "tokens" counted and the "seconds".

    See Also
    --------
    CRFSequenceTagger : The discriminative model of the same shape.

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

    unseen: str = "spelling"
    _: KW_ONLY
    word_prefix: str | None = None
    word_smoothing: float = 0.5
    class_smoothing: float = 5.0
    transition_smoothing: float = 10.0
    max_suffix: int = 4
    constraints: Any = "auto"
    n_jobs: int | None = None

    _parameter_constraints = {
        "unseen": [StrOptions({"spelling", "vocabulary", "prior"})],
        "word_prefix": [str, None],
        "word_smoothing": [SMOOTHING],
        "class_smoothing": [SMOOTHING],
        "transition_smoothing": [SMOOTHING],
        "max_suffix": [Interval(Integral, 0, None, closed="left")],
        "constraints": LIMITS,
        "n_jobs": N_JOBS,
    }

    _heaviest = LARGEST_FACTOR
    # Its scores are logarithms of probabilities.
    _log_probability = True

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Iterable[Any], y: Iterable[Any], sample_weight: ArrayLike | None = None
    ) -> Self:
        """Count labeled sequences.

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
    def partial_fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        classes: Iterable[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
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
        data, labels = self._examples(batch, y, sample_weight, fresh, classes)
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
        learned, before = LabelShares.learn(
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
            "_shares": learned,
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
    def encode(self, X: Iterable[Any]) -> Any:
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
        used = np.unique(batch._compact().indices)
        used = used[is_read(batch.vocabulary, batch.n_features, prefix)[used]]
        old = belief.row_of[used]
        rows = belief.mean.reshape(-1, width)
        # The transitions, the blank row and the ends of a sequence come first.
        rows = np.concatenate([rows[: width + 3], rows[old]])
        new = np.flatnonzero(old == width)
        if len(new):
            words = words_of(batch.vocabulary, used[new], prefix)
            shares = self._shares(len(new) if words is None else words)
            weights = np.log(shares / label_prior(self.class_count_))
            rows[width + 3 + new, : belief.n_labels] = weights
        row_of = np.full(len(belief.row_of), width, dtype=np.int32)
        row_of[used] = np.arange(width + 3, len(rows), dtype=np.int32)
        return Belief(belief.n_labels, row_of, rows.ravel(), None, None, 0.0)

    def _border_rows(self):
        return self.belief_.width + 1, self.belief_.width + 2

    @property
    def border_coef_(self):
        """What labels score at the first and the last token of a sequence."""
        return self._borders()

    def _saved_state(self):
        state, arrays = super()._saved_state()
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
