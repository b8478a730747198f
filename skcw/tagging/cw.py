"""Confidence-weighted sequence tagging."""

from numbers import Real

from skcw._kernels.sequence_passes import cw_pass
from skcw._util.compat import Interval
from skcw.tagging.base import store_parameters
from skcw.tagging.online import GAUSSIAN_CONSTRAINTS, OnlineTagger


class CWSequenceTagger(OnlineTagger):
    """Sequence tagger trained by confidence-weighted learning.

    The tagger keeps a Gaussian N(μ, Σ) over its weights, with diagonal Σ. When the
    best labeling ŷ of a sequence differs from the true one y, it moves to the
    closest Gaussian (in relative entropy) that puts y ahead by φ standard deviations:
    with Δ = Φ(x, y) - Φ(x, ŷ), μ·Δ ≥ φ √(ΔᵀΣΔ) [1]_, Eq. (3).

    Where no weights can do that, the tagger goes only part of the way: no step is
    longer than `C` times the first one [2]_. The paper's own learner is
    ``CWSequenceTagger(phi, C=inf, cost=0, split_errors=False, diagonal="covariance")``.

    Parameters
    ----------
    phi : float, default=0.25
        Standard deviations by which a corrected labeling must lead. After 2,000
        sentences F1 for 0.1, 0.25 and 1 is .927, .927, .927 on CoNLL-2000 and .695,
        .692, .698 on Dutch names.
    C : float, default=1.0
        The largest step, as a multiple of the step that the same mistake would cause
        at the prior. Features that cannot tell labels apart would otherwise be moved
        to and fro for ever. ``float("inf")`` is the hard constraint of the paper. After
        2,000 sentences F1 for 0.5, 1 and infinity is .926, .927, .927 on CoNLL-2000 and
        .695, .692, .694 on Dutch names.
    initial_variance : float, default=1.0
        The prior variance of every weight. It does not change predictions, only the
        scale of weights and variances.
    diagonal : {"precision", "covariance", "optimal"}, default="precision"
        How Σ is kept diagonal: the inverse of the diagonal of the full new precision;
        the diagonal of the full new covariance, as in the paper; or the update that is
        best among diagonal ones (α by a one-dimensional search).
    max_iter : int, default=10
        Number of passes over the training sequences.
    averaging : bool, default=True
        Predict with the weights averaged over all rounds instead of the last ones.
    cost : float, default=0.5
        Raise the scores of wrong labels by this when looking for the rival, which asks
        for a margin; 0 is the paper's plain decoding. The unit is φ times the prior
        standard deviation of a word's score, so that a word with few features is asked
        for less than one with many.
    split_errors : bool, default=True
        Learn from every stretch of wrong words by itself, as a rival that is right
        everywhere else, instead of from the rival as a whole.
    shuffle : bool, default=True
        Present the sequences in a new random order in each pass.
    shrinking : int, default=0
        For how many passes a sequence that moved nothing is left out before it comes
        back; 0 presents all sequences in every pass. A sequence that rests counts as
        right in ``history_``. Training takes about a quarter less time with 2, but
        the scores of names may fall a little, so none rest by default
        (benchmarks/studies/scale.txt).
    class_weight : dict, "balanced" or None, default=None
        The cost of a mislabeled token for each true label; 1 if not given. CW asks for
        φ times the mean cost of the wrong tokens. "balanced" costs fall with the root
        of a label's share; their mean over tokens is 1, and they are at most 5 (after
        2,000 sentences .613 → .684 and .465 → .513 of the tokens of the rarer half of
        the labels found on Spanish and Dutch names, span F1 .734 → .731 and .692 →
        .683).
    min_count : int, default=1
        Features that occur fewer times in the training data are left out. This applies
        when training starts afresh, not when it continues.
    constraints : str, callable, (names, matrix) or None, default="auto"
        Which labels may follow each other, honored in training and prediction:
        "BIO", "IOBES" or "BILOU"; a function or a matrix, see
        :func:`skcw.data.transition_constraints`; "auto" for the scheme that the
        labels follow (at most one sequence in a thousand may break it), or no limits
        if they follow none; None for no limits.
    n_models : int, default=1
        Train this many models, each on its own shuffles, and average their Gaussians.
    n_shards : int, default=1
        Split the sequences into this many shards. Every pass learns each of them from
        the common Gaussian, side by side, and merges what they have moved. The
        result depends on data, ``random_state`` and this number, never on who computes
        it: ``n_jobs`` threads, or the workers of ``joblib.parallel_config``. Each shard
        needs a sequence; ``partial_fit`` learns in one piece.
    learn_unknown_token : bool, default=True
        Learn what to make of a token none of whose features is known: in each pass of
        ``fit`` but the last a quarter of the tokens whose features occur nowhere else
        are presented as such. With words as the only features and 2,000 sentences span
        F1 of CW rose from .534 to .580 on Spanish and from .424 to .443 on Dutch
        names; where every token has some common feature nothing changes. In the end
        so much is made of it, from nothing to half as much again, as serves best with
        all those tokens hidden.
    calibrate_confidence : bool, default=True
        Let ``fit`` learn how sure to be, by log loss on sequences that a model has not
        learned from. These are the development set or what early stopping holds out; or
        small parts that the first of four or more models leave out; or else a fifth of
        the sequences, judged by a second model, the shadow, that is fitted on the rest.
        A shadow takes up to as long as the training itself, in a second thread if there
        is one. With too few sequences, a rule of thumb is used.
    store_train_hashes : bool, default=False
        Keep a hash of each training sequence, for ``train_overlap``. The hashes are
        also saved in the model file: anyone who has it can test whether a sequence was
        used.
    early_stopping : bool, default=False
        Hold out a share of the sequences, keep the pass that is best on them (by span
        F1 if labels mark spans, else by token accuracy), and stop after
        ``n_iter_no_change`` passes without gain.
    validation_fraction : float, default=0.1
        The share that ``early_stopping`` holds out.
    n_iter_no_change : int, default=3
        Passes without gain after which training stops.
    tol : float, default=1e-4
        The smallest gain that counts as an improvement.
    warm_start : bool, default=False
        Let ``fit`` continue from the present belief instead of the prior.
    n_jobs : int or None, default=None
        Threads for prediction and workers for several models and for shards. Results do
        not depend on it.
    random_state : int, RandomState or None, default=None
        Controls the shuffling and the choice of the held-out share.
    dtype : {"float32", "float64"}, default="float32"
        Precision in which weights are stored and sequences decoded.
    verbose : int, default=0
        Above 0, one line per pass is printed to standard error.

    Attributes
    ----------
    classes_ : ndarray of str
        The labels, in order of first appearance.
    coef_ : ndarray of shape (n_features, n_classes)
        The weights. One row per feature; classifiers have one per class.
    coef_variance_ : ndarray of shape (n_features, n_classes)
        The variance of each weight.
    transition_coef_ : ndarray of shape (n_classes, n_classes)
        The weights of label j after label i.
    edge_features_ : mapping of (str, str, str) to float
        The weights of features that look at the label before, by feature, label before
        and label, as :class:`skcw.features.WindowFeatures` tells.
    transition_variance_ : ndarray of shape (n_classes, n_classes)
        The variance of each transition weight.
    feature_names_ : ndarray of str
        The names of the features.
    constraints_ : str or None
        The constraints in force: a scheme, "given" for a function or a matrix, or None.
    scheme_faults_ : dict
        How many of the "sequences" learned from break each scheme.
    n_iter_ : int
        Number of passes made.
    history_ : list of dict
        What each pass found: model, epoch, "wrong_sequences" and "wrong_tokens", which
        the model got wrong when they came up, dev score and its metric, seconds. With
        cost-augmented training and without ``verbose`` it has "rival_sequences" and
        "rival_tokens" instead: where the rival was wrong, which costs no extra time.
        With shards also "bytes_sent" to workers and "bytes_returned" by them.
    confidence_ : dict
        What ``fit`` has learned and ``fit_confidence`` has chosen for each method.
    confidence_source_ : {"shadow", "members", "dev", "held-out", "rule", "off"}
        The source from which ``fit`` has learned how sure to be; "merged" after
        :func:`skcw.merge`.
    token_norm_ : float
        The mean length of the feature vectors of the training tokens.

    References
    ----------
    .. [1] A. Mejer and K. Crammer, "Confidence in structured-prediction using
       confidence-weighted models", EMNLP 2010.
    .. [2] J. Wang, P. Zhao and S. C. H. Hoi, "Exact soft confidence-weighted
       learning", ICML 2012.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> X = [[["w=anna"], ["w=runs"]], [["w=bob"], ["w=runs"], ["w=home"]]]
    >>> y = [["NAME", "O"], ["NAME", "O", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> tagger.predict([[["w=anna"], ["w=home"]]])[0]
    ['NAME', 'O']

    How sure it is of each label, as a probability. ``fit`` has learned this from
    sentences that a second model, the shadow, had not seen:

    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.features.basic import basic_features
    >>> corpus = make_tagged_corpus(300, random_state=0)
    >>> X = [basic_features(sentence) for sentence in corpus.tokens]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X[:250], corpus.labels[:250])
    >>> tagger.confidence_source_
    'shadow'
    >>> tagger.predict_confidence(X[250:])[0][:4].round(1)
    array([1., 1., 1., 1.])
    """

    _parameter_constraints: dict = {
        **OnlineTagger._parameter_constraints,
        **GAUSSIAN_CONSTRAINTS,
        "phi": [Interval(Real, 1e-10, 1e10, closed="both")],
        "C": [Interval(Real, 0, None, closed="right")],
        "split_errors": ["boolean"],
    }

    _cost_grows_with_features = True

    def __init__(
        self,
        phi=0.25,
        *,
        C=1.0,
        initial_variance=1.0,
        diagonal="precision",
        max_iter=10,
        averaging=True,
        cost=0.5,
        split_errors=True,
        shuffle=True,
        shrinking=0,
        class_weight=None,
        min_count=1,
        constraints="auto",
        n_models=1,
        n_shards=1,
        learn_unknown_token=True,
        calibrate_confidence=True,
        store_train_hashes=False,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=3,
        tol=1e-4,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        dtype="float32",
        verbose=0,
    ):
        store_parameters(self, locals())

    def _cost_unit(self):
        # The weights of CW are as large as phi times the prior standard deviation:
        # costs in that unit keep predictions free of the initial variance.
        return self.phi * self.initial_variance**0.5

    def _margin(self, belief=None, norm=None):
        # Measured over corpora and feature sets: at the usual temperature of 0.8 of
        # these units marginals are about right.
        norm = self.token_norm_ if norm is None else norm
        return 0.3 * self._cost_unit() * norm

    def _run_pass(self, mean, variance, drift, progress, corpus, options):
        return cw_pass(
            mean,
            variance,
            drift,
            progress,
            corpus,
            options,
            self.phi,
            self.diagonal,
            self.C / self.initial_variance**0.5,
            self.split_errors,
        )
