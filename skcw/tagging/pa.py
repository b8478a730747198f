"""Passive-aggressive sequence tagging with k rivals."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from skcw._kernels.sequence_passes import pa_pass
from skcw._util.checks import check_real
from skcw._util.compat import Interval
from skcw.tagging.online import OnlineTagger


@dataclass(eq=False, repr=False, match_args=False)
class PASequenceTagger(OnlineTagger):
    """Sequence tagger trained by k-best passive-aggressive learning.

    After each sequence the weights move as little as possible so that the true labeling
    y leads each of the k best labelings z by its number of wrong tokens: w·(Φ(x, y) -
    Φ(x, z)) ≥ d(y, z) - ξ, one slack ξ for all of them at the price C [1]_, [2]_. The
    multipliers are found by Hildreth's method.

    Parameters
    ----------
    C : float, default=0.3
        The most that one sequence may move the weights: the sum of its multipliers.
    n_rivals : int, default=5
        How many rival labelings are compared with the true one.
    margin_cost : float, default=0.0
        Raise the scores of wrong labels by this when looking for the rival, which asks
        for a margin; 0 is plain decoding.
    max_iter : int, default=10
        Number of passes over the training sequences.
    averaging : bool, default=True
        Predict with the weights averaged over all rounds instead of the last ones.
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
    learn_unknown_token : bool, default=False
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
    transition_coef_ : ndarray of shape (n_classes, n_classes)
        The weights of label j after label i.
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

    References
    ----------
    .. [1] A. Mejer and K. Crammer, "Confidence in structured-prediction using
       confidence-weighted models", EMNLP 2010.
    .. [2] K. Crammer, R. McDonald and F. Pereira, "Scalable large-margin online
       learning for structured classification", technical report, 2005.

    Examples
    --------
    >>> from skcw import PASequenceTagger
    >>> X = [[["w=anna"], ["w=runs"]], [["w=bob"], ["w=runs"], ["w=home"]]]
    >>> y = [["NAME", "O"], ["NAME", "O", "O"]]
    >>> tagger = PASequenceTagger(random_state=0).fit(X, y)
    >>> tagger.predict([[["w=anna"], ["w=home"]]])[0]
    ['NAME', 'O']
    """

    C: float = 0.3
    _: KW_ONLY
    n_rivals: int = 5
    margin_cost: float = 0.0
    max_iter: int = 10
    averaging: bool = True
    shuffle: bool = True
    class_weight: dict | str | None = None
    min_count: int = 1
    constraints: Any = "auto"
    n_models: int = 1
    learn_unknown_token: bool = False
    calibrate_confidence: bool = True
    early_stopping: bool | dict = False
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    dtype: str = "float32"
    verbose: int = 0

    _parameter_constraints = {
        **OnlineTagger._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        # An update compares all rivals with each other.
        "n_rivals": [Interval(Integral, 1, 1000, closed="both")],
    }

    def _bound_kernel(self, breadth):
        return partial(pa_pass, budget=check_real("C", self.C), k=self.n_rivals)

    def _margin(self, belief=None, sizes=None):
        # Measured: at this share of the margin asked for, marginals are calibrated
        # about where those of CW are.
        return 0.25
