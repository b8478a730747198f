"""The averaged structured perceptron."""

from skcw._kernels.sequence_passes import perceptron_pass
from skcw.confidence.settings import mean_square
from skcw.tagging.base import store_parameters
from skcw.tagging.online import OnlineTagger


class PerceptronSequenceTagger(OnlineTagger):
    """Sequence tagger trained by the averaged perceptron.

    When the best labeling ŷ of a sequence differs from the true one y, the features of
    y are added to the weights and those of ŷ taken away: w += Φ(x, y) - Φ(x, ŷ) [1]_.

    Parameters
    ----------
    max_iter : int, default=10
        Number of passes over the training sequences.
    averaging : bool, default=True
        Predict with the weights averaged over all rounds instead of the last ones.
    cost : float, default=0.0
        Raise the scores of wrong labels by this when looking for the rival, which asks
        for a margin.
    shuffle : bool, default=True
        Present the sequences in a new random order in each pass.
    shrinking : int, default=0
        For how many passes a sequence that moved nothing is left out before it comes
        back; 0 presents all sequences in every pass. See
        :class:`skcw.CWSequenceTagger` for what it saves and costs.
    class_weight : dict, "balanced" or None, default=None
        The cost of a mislabeled token for each true label; 1 if not given. The
        perceptron scales its step by the mean cost of the wrong tokens. "balanced"
        costs fall with the root of a label's share; their mean over tokens is 1, and
        they are at most 5 (after 2,000 sentences .603 → .644 and .467 → .485 of the
        tokens of the rarer half of the labels found on Spanish and Dutch names, span F1
        .721 → .724 and .674 → .674).
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
        Train this many models, each on its own shuffles, and average their weights.
    n_shards : int, default=1
        Split the sequences into this many shards. Every pass learns each of them from
        the common weights, side by side, and merges what they have moved. The
        result depends on data, ``random_state`` and this number, never on who computes
        it: ``n_jobs`` threads, or the workers of ``joblib.parallel_config``. Each shard
        needs a sequence; ``partial_fit`` learns in one piece.
    learn_unknown_token : bool, default=False
        Learn what to make of a token none of whose features is known: in each pass of
        ``fit`` but the last a quarter of the tokens whose features occur nowhere else
        are presented as such. With words as the only features and 2,000 sentences span
        F1 of this one went from .419 to .414 on Spanish and from .363 to .350 on Dutch
        names.
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
    transition_coef_ : ndarray of shape (n_classes, n_classes)
        The weights of label j after label i.
    edge_features_ : mapping of (str, str, str) to float
        The weights of features that look at the label before, by feature, label before
        and label, as :class:`skcw.features.WindowFeatures` tells.
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
    .. [1] M. Collins, "Discriminative training methods for hidden Markov models:
       theory and experiments with perceptron algorithms", EMNLP 2002.

    Examples
    --------
    >>> from skcw import PerceptronSequenceTagger
    >>> X = [[["w=anna"], ["w=runs"]], [["w=bob"], ["w=runs"], ["w=home"]]]
    >>> y = [["NAME", "O"], ["NAME", "O", "O"]]
    >>> tagger = PerceptronSequenceTagger(random_state=0).fit(X, y)
    >>> tagger.predict([[["w=anna"], ["w=home"]]])[0]
    ['NAME', 'O']
    """

    _parameter_constraints: dict = {
        **OnlineTagger._parameter_constraints,
    }

    def __init__(
        self,
        *,
        max_iter=10,
        averaging=True,
        cost=0.0,
        shuffle=True,
        shrinking=0,
        class_weight=None,
        min_count=1,
        constraints="auto",
        n_models=1,
        n_shards=1,
        learn_unknown_token=False,
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
        return perceptron_pass(mean, variance, drift, progress, corpus, options)

    def _margin(self, belief=None, norm=None):
        # The perceptron asks for no margin: its weights are counts of mistakes.
        norm = self.token_norm_ if norm is None else norm
        return norm * mean_square(belief or self.belief_) ** 0.5
