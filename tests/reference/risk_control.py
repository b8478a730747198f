"""Slow twins of the evidence and of the fixed-sequence tests."""

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
