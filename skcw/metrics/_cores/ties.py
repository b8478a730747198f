"""Words of equal confidence as one, so that their order cannot matter."""

import numpy as np


class Ties:
    """The distinct confidences, and which of them each word has.

    Parameters
    ----------
    confidence : ndarray of shape (n,)
        Any numbers but NaN.

    Attributes
    ----------
    values : ndarray of shape (n_ties,)
        The distinct confidences, rising.
    code : ndarray of int of shape (n,)
        Place of each word's confidence among them.
    """

    def __init__(self, confidence):
        self.values, self.code = np.unique(confidence, return_inverse=True)

    def mass(self, weight):
        """Return the summed weight of the words of each confidence, or their number."""
        return np.bincount(self.code, weight, len(self.values))

    def sums(self, weight, y):
        """Return the summed weights of all words and of the right ones."""
        return self.mass(weight), self.mass(weight * y)
