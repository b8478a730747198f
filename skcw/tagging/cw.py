"""Confidence-weighted sequence tagging."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from skcw._kernels.sequence_passes import cw_pass
from skcw._util.checks import check_real
from skcw._util.compat import Interval, StrOptions
from skcw.tagging.online import GAUSSIAN_CONSTRAINTS, OnlineTagger

# Between these lies the usual phi; it grows with the breadth of feature vectors.
PHI_RANGE = (0.25, 1.5)
PHI_PER_BREADTH = 1 / 6


@dataclass(eq=False, repr=False, match_args=False)
class CWSequenceTagger(OnlineTagger):
    """Sequence tagger trained by confidence-weighted learning.

    The tagger keeps a Gaussian N(μ, Σ) over its weights, with diagonal Σ. When the best
    labeling ŷ of a sequence differs from the true one y, it moves to the closest
    Gaussian (in relative entropy) that puts y ahead by φ standard deviations: with Δ =
    Φ(x, y) - Φ(x, ŷ), μ·Δ ≥ φ √(ΔᵀΣΔ) [1]_, Eq. (3). The paper's own learner is
    ``CWSequenceTagger(phi, C=inf, margin_cost=0, split_errors=False,
    diagonal="covariance", averaging=True)``.

    Parameters
    ----------
    phi : float or "auto", default="auto"
        Standard deviations φ by which a corrected labeling must lead. The more features
        a token has, the less each variance shrinks, unless φ grows with them: "auto" is
        a sixth of √n for n features, from 0.25 to 1.5. Numbers that are small beside
        others count less; their unit does not matter.
    C : float, default=1.0
        The largest step, as a multiple of the step that the same mistake would cause at
        the prior [2]_. ``float("inf")`` is the hard constraint of the paper.
    diagonal : {"precision", "covariance", "optimal"}, default="precision"
        How Σ is kept diagonal: the inverse of the diagonal of the full new precision;
        the diagonal of the full new covariance, as in the paper; or the best diagonal
        update, found by a one-dimensional search.
    split_errors : bool, default=True
        Learn from every stretch of wrong tokens by itself, as a rival that is right
        everywhere else, instead of from the rival as a whole.
    margin_cost : float, default=0.5
        Raise the scores of wrong labels by this when looking for the rival, which asks
        for a margin; 0 is plain decoding. The unit is φ times the prior standard
        deviation of a token's score.
    max_iter : int, default=10
        Number of passes over the training sequences.
    averaging : bool or "auto", default="auto"
        Predict with the weights averaged over all rounds instead of the last ones. True
        counts all rounds alike; "auto" those of pass k of ``fit`` k times where tokens
        have many features (about ten or more).
    shuffle : bool, default=True
        Present the sequences in a new random order in each pass.
    class_weight : dict, "balanced" or None, default=None
        The cost of a mislabeled token for each true label; 1 if not given. "balanced"
        costs fall with the root of a label's share, at most to 5 times their mean; use
        them to find more of the rare labels.
    min_count : int, default=1
        Features that occur fewer times in the training data are left out. This applies
        when training starts afresh, not when it continues.
    constraints : str, callable, (names, matrix) or None, default="auto"
        Which labels may follow each other, in training and prediction: "BIO", "IOBES"
        or "BILOU"; a function or a matrix, see
        :func:`skcw.data.transition_constraints`; "auto" for the scheme that the labels
        follow, if any; None for no limits.
    n_models : int, default=1
        Average this many models, each trained on its own shuffles.
    learn_unknown_token : bool, default=True
        Learn weights for tokens without any known feature, by hiding some tokens whose
        features are rare. It helps where words are the only features, and changes
        nothing where every token has some common feature.
    calibrate_confidence : bool, default=True
        Let ``fit`` learn the scale of confidence from sequences that the model has not
        learned from yet: development sequences, or up to a fifth of the data, which the
        first half of the passes leave out, and the model learns afterwards.
    early_stopping : bool or dict, default=False
        True holds out a share of the sequences, keeps the pass that is best on them and
        stops after some passes without gain. A dict sets any of ``validation_fraction``
        (0.1), ``n_iter_no_change`` (3) and ``tol`` (1e-4), the least gain that counts;
        the last two also apply to ``X_dev``.
    warm_start : bool, default=False
        Let ``fit`` continue from the present weights instead of the prior.
    n_jobs : int or None, default=None
        Threads for prediction and workers for several models and shards. Results do not
        depend on it.
    random_state : int, RandomState or None, default=None
        Controls the shuffling and the choice of held-out sequences.
    dtype : {"float32", "float64"}, default="float32"
        Precision of weights and scores.
    verbose : int, default=0
        Above 0, one line per pass is printed to standard error.

    Attributes
    ----------
    classes_ : ndarray of str
        The labels, in order of first appearance.
    coef_ : ndarray of shape (n_features, n_classes)
        The weights, one row per feature.
    coef_variance_ : ndarray of shape (n_features, n_classes)
        The variance of each weight.
    transition_coef_ : ndarray of shape (n_classes, n_classes)
        The weights of label j after label i.
    transition_variance_ : ndarray of shape (n_classes, n_classes)
        The variance of each transition weight.
    edge_features_ : mapping of (str, str, str) to float
        The weights of features that look at the label before.
    feature_names_ : ndarray of str
        The names of the features.
    constraints_ : str or None
        The constraints in force: a scheme, "given" or None.
    scheme_faults_ : dict
        How many training sequences break each scheme.
    n_iter_ : int
        Number of passes made.
    history_ : list of dict
        What each pass found: errors, dev score, seconds.
    confidence_ : dict
        The settings of confidence methods that were learned or chosen.
    confidence_source_ : {"held-out", "dev", "stream", "rule", "off"}
        What ``fit`` has learned them from; "merged" after :func:`skcw.merge`.
    token_norm_ : float
        The mean length of the feature vectors of the training tokens.
    token_breadth_ : float
        The mean over these tokens of √n for n features that are equally large.
    phi_ : float
        The φ in force.

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

    The confidence of each label is a probability:

    >>> from skcw.datasets import make_tagged_corpus
    >>> from skcw.features.basic import basic_features
    >>> corpus = make_tagged_corpus(300, random_state=0)
    >>> X = [basic_features(sentence) for sentence in corpus.tokens]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X[:250], corpus.labels[:250])
    >>> tagger.confidence_source_
    'held-out'
    >>> tagger.predict_confidence(X[250:])[0][:4].round(2)
    array([0.95, 1.  , 1.  , 0.99])
    """

    phi: float | str = "auto"
    _: KW_ONLY
    C: float = 1.0
    diagonal: str = "precision"
    split_errors: bool = True
    margin_cost: float = 0.5
    max_iter: int = 10
    averaging: bool | str = "auto"
    shuffle: bool = True
    class_weight: dict | str | None = None
    min_count: int = 1
    constraints: Any = "auto"
    n_models: int = 1
    learn_unknown_token: bool = True
    calibrate_confidence: bool = True
    early_stopping: bool | dict = False
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    dtype: str = "float32"
    verbose: int = 0

    _parameter_constraints = {
        **GAUSSIAN_CONSTRAINTS,
        "averaging": ["boolean", StrOptions({"auto"})],
        "phi": [Interval(Real, 1e-10, 1e10, closed="both"), StrOptions({"auto"})],
        "C": [Interval(Real, 0, None, closed="right")],
        "split_errors": ["boolean"],
    }

    _initial_variance = 1.0
    _cost_grows_with_features = True

    @property
    def phi_(self):
        """The φ in force."""
        return self._phi(self.token_breadth_)

    def _phi(self, breadth):
        """Return φ for feature vectors of this mean breadth."""
        if self.phi != "auto":
            return float(self.phi)
        return float(np.clip(breadth * PHI_PER_BREADTH, *PHI_RANGE))

    def _cost_unit(self, breadth):
        # The weights of CW are as large as phi times the prior standard deviation: one.
        return self._phi(breadth)

    def _margin(self, belief=None, sizes=None):
        # Measured over corpora and feature sets: at the usual temperature of 0.8 of
        # these units marginals are about right.
        if sizes is None:
            return 0.3 * self.phi_ * self.token_norm_
        return 0.3 * self._phi(sizes.breadth) * sizes.norm

    def _bound_kernel(self, breadth):
        return partial(
            cw_pass,
            phi=self._phi(breadth),
            diagonal=self.diagonal,
            limit=check_real("C", self.C),
            split=self.split_errors,
        )
