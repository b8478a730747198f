"""``ScoreReranker``: the order of the base model, with probabilities."""

import numpy as np

from skcw.reranking._base import BaseReranker

# A scale that the data do not bound stops where the odds of no pair exceed the
# exponential of this.
LARGEST_EXPONENT = 30.0
N_HALVINGS = 60


class ScoreReranker(BaseReranker):
    """Reranker that leaves lists in the order of their scores.

    It only learns how probable a candidate with a score is: the scale of scores at
    which the candidates to choose are most likely. ``RerankedTagger`` uses it where no
    other reranker was better than the base tagger.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Zeros.
    score_coef_ : float
        The scale of scores.

    Examples
    --------
    >>> from skcw.reranking import ScoreReranker
    >>> X = [[([0], -0.5), ([1], -0.9)], [([0], -0.1), ([1], -2.0)]]
    >>> reranker = ScoreReranker().fit(X, [[1, 0], [0, 1]])
    >>> reranker.predict(X)
    array([0, 0])
    >>> reranker.predict_confidence(X).round(2)
    array([0.6 , 0.87])
    """

    def _learn(self, problem):
        return {"coef_": problem.blank(), "score_coef_": likeliest_scale(problem)}


def likeliest_scale(problem):
    """Return the scale of scores at which the candidates to choose are most likely.

    The logarithm of their likelihood is concave; the search is by bisection on the sign
    of its slope.

    Parameters
    ----------
    problem : Problem
        Lists to learn from.

    Returns
    -------
    scale : float
        Above zero: the order stays as it is.
    """
    lists, known = problem.lists, problem.target >= 0
    first = np.repeat(
        np.maximum.reduceat(lists.scores, lists.offsets[:-1]), lists.lengths
    )
    gaps = lists.scores - first
    far = float(np.abs(gaps).max(initial=0.0))
    if not far or not (problem.weight[known] > 0).any():
        return 1.0
    low, high = 0.0, LARGEST_EXPONENT / far
    while _slope(high, gaps, problem) > 0.0 and high * far < 1e3 * LARGEST_EXPONENT:
        low, high = high, 2.0 * high
    for _ in range(N_HALVINGS):
        middle = 0.5 * (low + high)
        if _slope(middle, gaps, problem) > 0.0:
            low = middle
        else:
            high = middle
    return high


def _slope(scale, gaps, problem):
    """Return the slope of the logarithm of the likelihood."""
    lists, known = problem.lists, problem.target >= 0
    power = np.exp(scale * gaps)
    starts = lists.offsets[:-1]
    expected = np.add.reduceat(power * gaps, starts) / np.add.reduceat(power, starts)
    return float(problem.weight[known] @ (gaps[problem.target] - expected)[known])
