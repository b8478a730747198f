"""Sequence tagging by adaptive regularization of weights."""

from numbers import Real

from skcw._kernels.sequence_passes import arow_pass
from skcw._util.compat import Interval
from skcw.tagging.base import store_parameters
from skcw.tagging.online import GAUSSIAN_CONSTRAINTS, OnlineTagger


class AROWSequenceTagger(OnlineTagger):
    """Sequence tagger trained by adaptive regularization of weights.

    The tagger keeps a Gaussian N(μ, Σ) over its weights, with diagonal Σ. A wrong
    labeling ŷ costs the number of its wrong tokens d(y, ŷ); the step trades that hinge
    loss against the change of the Gaussian: with Δ = Φ(x, y) - Φ(x, ŷ),
    α = max(0, d - μ·Δ) / (r + ΔᵀΣΔ) and β = 1/r [1]_, Eq. (4).

    Parameters
    ----------
    r : float, default=1.0
        How gentle updates are: larger r, smaller steps. From 0.1 to 30 it changes
        little: after 2,000 sentences F1 for 0.1, 1 and 30 is .926, .927, .926 on
        CoNLL-2000 and .692, .692, .689 on Dutch names. CRFsuite calls it ``gamma``;
        Jubatus gives its inverse.
    initial_variance : float, default=1.0
        The prior variance of every weight. Multiplying it and ``r`` by
        the same number changes no prediction.
    diagonal : {"covariance", "precision", "optimal"}, default="covariance"
        How Σ is kept diagonal: the diagonal of the full new covariance; the inverse
        of the diagonal of the full new precision; or the update that is best among
        diagonal ones, which for AROW is the same as "precision". F1 by plain decoding,
        after 2,000 sentences, on CoNLL-2000, Spanish and Dutch names: .9210, .7306,
        .6750 against .9069, .6936, .6449.
    max_iter : int, default=10
        Number of passes over the training sequences.
    averaging : bool, default=True
        Predict with the weights averaged over all rounds instead of the last ones.
    cost : float, default=1.0
        Raise the scores of wrong labels by this when looking for the rival, which asks
        for a margin; 0 is the paper's plain decoding. After 2,000 sentences F1 with it
        was .9266 against .9210 on CoNLL-2000, .9310 (.9279) on NP chunks, .7305 (.7306)
        on Spanish and .6923 (.6750) on Dutch names, and token accuracy .8649 (.8526) on
        tweets.
    shuffle : bool, default=True
        Present the sequences in a new random order in each pass.
    shrinking : int, default=0
        For how many passes a sequence that moved nothing is left out before it comes
        back; 0 presents all sequences in every pass. See
        :class:`skcw.CWSequenceTagger` for what it saves and costs.
    class_weight : dict, "balanced" or None, default=None
        The cost of a mislabeled token for each true label; 1 if not given. AROW asks
        for a margin of their sum. "balanced" costs fall with the root of a label's
        share; their mean over tokens is 1, and they are at most 5 (after 2,000
        sentences .616 → .688 and .462 → .518 of the tokens of the rarer half of the
        labels found on Spanish and Dutch names, span F1 .730 → .727 and .692 → .682).
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
        F1 of AROW rose from .520 to .568 on Spanish and from .420 to .429 on Dutch
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

    Examples
    --------
    >>> from skcw import AROWSequenceTagger
    >>> X = [[["w=anna"], ["w=runs"]], [["w=bob"], ["w=runs"], ["w=home"]]]
    >>> y = [["NAME", "O"], ["NAME", "O", "O"]]
    >>> tagger = AROWSequenceTagger(random_state=0).fit(X, y)
    >>> tagger.predict([[["w=anna"], ["w=home"]]])[0]
    ['NAME', 'O']
    """

    _parameter_constraints: dict = {
        **OnlineTagger._parameter_constraints,
        **GAUSSIAN_CONSTRAINTS,
        "r": [Interval(Real, 1e-20, 1e20, closed="both")],
    }

    def __init__(
        self,
        r=1.0,
        *,
        initial_variance=1.0,
        diagonal="covariance",
        max_iter=10,
        averaging=True,
        cost=1.0,
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

    def _run_pass(self, mean, variance, drift, progress, corpus, options):
        return arow_pass(
            mean, variance, drift, progress, corpus, options, self.r, self.diagonal
        )

    def _margin(self, belief=None, norm=None):
        # Measured: at this share of the margin asked for, marginals are calibrated
        # about where those of CW are.
        return 0.4
