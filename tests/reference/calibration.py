"""Bins and isotonic means of weighted words, in exact fractions."""

from fractions import Fraction
from itertools import pairwise


def tie_stretches(words):
    """Return [confidence, mass, mean outcome] of each confidence that has mass.

    Words are (confidence, right, weight).
    """
    stretches = []
    for level in sorted({confidence for confidence, _, _ in words}):
        same = [(y, Fraction(w)) for confidence, y, w in words if confidence == level]
        mass = sum(w for _, w in same)
        if mass:
            right = sum(w for y, w in same if y)
            stretches.append([Fraction(level), mass, right / mass])
    return stretches


def cut_line(words, edges):
    """Return what lies between edges of the line of words, as lists of stretches."""
    bins = [[] for _ in edges[1:]]
    begin = Fraction(0)
    for level, mass, accuracy in tie_stretches(words):
        end = begin + mass
        for j, (low, high) in enumerate(pairwise(edges)):
            inside = min(high, end) - max(low, begin)
            if inside > 0:
                bins[j].append((level, inside, accuracy))
        begin = end
    return bins


def adaptive_bins(words, size):
    """Return bins of that mass; a short last one belongs to the one before it."""
    total = sum(Fraction(w) for _, _, w in words)
    n_bins = max(1, int(total / size))
    return cut_line(words, [Fraction(size) * j for j in range(n_bins)] + [total])


def bin_sums(stretches):
    """Return the mass of a bin, its mean confidence and its accuracy."""
    mass = sum(m for _, m, _ in stretches)
    confidence = sum(level * m for level, m, _ in stretches) / mass
    return mass, confidence, sum(m * p for _, m, p in stretches) / mass


def mean_square(bins):
    """Return the mean over bins of the squared gap between claim and accuracy."""
    sums = [bin_sums(stretches) for stretches in bins]
    total = sum(mass for mass, _, _ in sums)
    return sum(mass * (q - p) ** 2 for mass, q, p in sums) / total


def isotonic_means(mass, right):
    """Return the isotonic mean at each place: the max-min formula.

    The greatest over all beginnings of the least over all ends of the mean between.
    """
    n = len(mass)

    def mean(first, last):
        return sum(right[first : last + 1]) / sum(mass[first : last + 1])

    return [
        max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1))
        for i in range(n)
    ]
