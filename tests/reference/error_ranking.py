"""Figures of error ranking, from one order of words at a time."""

from itertools import permutations

import numpy as np


def tied_orders(correct, confidence):
    """Return, for every order of tied words, the wrong flags from least confident.

    Sorting is stable, so sorting all orders of all words meets each order of the ties
    equally often.
    """
    words = list(zip(confidence, correct, strict=True))
    ranked = (sorted(order, key=lambda word: word[0]) for order in permutations(words))
    return [[not right for _, right in order] for order in ranked]


def average_precision(wrong):
    """Return the mean of the precisions at the ranks of wrong words."""
    ranks = [rank for rank, flag in enumerate(wrong, start=1) if flag]
    return np.mean([sum(wrong[:rank]) / rank for rank in ranks])


def risks(wrong):
    """Return the share of wrong words among the 1, 2, ... most confident."""
    trusted = wrong[::-1]
    return [sum(trusted[:k]) / k for k in range(1, len(wrong) + 1)]
