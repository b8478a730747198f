"""Slow twins of the evidence and of the fixed-sequence tests."""

from math import comb

import numpy as np

from skcw.calibration.risk_control import FOR_STARTS, STAKES, STARTS


def capital_of(excess, alpha, most):
    """Return the logarithm of the capital of a gambler, sentence by sentence."""
    worst = (1 - alpha) * most
    owned = []
    for stake in STAKES:
        money = 1.0
        for value in excess:
            times = max(value / worst, 1.0)
            money *= (1 - stake / most * min(value, worst)) ** times
        owned.append(money)
    return np.log(np.mean(owned))


def threshold_of(correct, confidence, group, alpha, delta, most):
    """Return the laxest threshold by trying all of them, or infinity."""
    confidence, wrong = np.asarray(confidence), 1.0 - np.asarray(correct, float)
    thresholds = np.unique(confidence)[::-1]
    numbers = np.unique(group)
    evidence = []
    for threshold in thresholds:
        taken = confidence >= threshold
        excess = [
            (wrong - alpha)[taken & (np.asarray(group) == number)].sum()
            for number in numbers
        ]
        evidence.append(capital_of(excess, alpha, most))
    gate = np.log(len(STARTS) / (FOR_STARTS * delta))
    enough = -np.log((1 - FOR_STARTS) * delta)
    best = np.inf
    ranked = np.sort(confidence)[::-1]
    for share in STARTS:
        begin = ranked[int(np.ceil(share * len(ranked))) - 1]
        k = int(np.flatnonzero(thresholds == begin)[0])
        if evidence[k] < gate:
            continue
        while k < len(thresholds) and evidence[k] >= enough:
            best = min(best, thresholds[k])
            k += 1
    return best


def tail(errors, n, alpha):
    """Return Pr[Binomial(n, alpha) <= errors], term by term."""
    return sum(
        comb(n, k) * alpha**k * (1 - alpha) ** (n - k) for k in range(errors + 1)
    )


def row_threshold_of(correct, confidence, alpha, delta):
    """Return the laxest threshold of single rows by trying all, or infinity."""
    confidence, wrong = np.asarray(confidence), ~np.asarray(correct, bool)
    n, begin = len(wrong), None
    for errors in (2, 1, 0):
        passing = [k for k in range(1, n + 1) if tail(errors, k, alpha) <= delta]
        if passing:
            begin = max(passing[0], -(-n // 4))
            break
    best = np.inf
    for threshold in np.unique(confidence)[::-1]:
        taken = confidence >= threshold
        if begin is None or taken.sum() < begin:
            continue
        if tail(wrong[taken].sum(), int(taken.sum()), alpha) > delta:
            break
        best = threshold
    return best
