"""One skcw method for all sets, beside the tuned CRF."""

import numpy as np
from _confidence_protocol import CRF, CW, CW_MEAN, REVIEWED, rows_of

from skcw.confidence.methods import METHODS

LOWER_IS_BETTER = ("rmse", *(f"left_{n}" for n in REVIEWED))


def best_row(trials):
    """Return the learner and row that beat the CRF most often, and who always does.

    Counted are RMSE and the errors left after review on every set, means over the
    splits; if several rows win as often, the one with the lowest mean of its shares
    of the CRF's figures. It is chosen after the fact: with as many rows, one may be
    lucky.
    """
    candidates = {
        (learner, row.name): _shares(trials, learner, row.name)
        for learner in (CW, CW_MEAN)
        for row in rows_of(learner)
        if METHODS[row.method].probability
    }
    ranked = sorted(candidates, key=lambda one: _rank(candidates[one]))
    always = [list(one) for one in ranked if (candidates[one] < 1).all()]
    learner, row = ranked[0]
    return {
        "learner": learner,
        "row": row,
        "wins": int((candidates[ranked[0]] < 1).sum()),
        "of": len(candidates[ranked[0]]),
        "always_better": always,
    }


def _rank(shares):
    return -(shares < 1).sum(), shares.mean()


def _shares(trials, learner, row):
    """Return the row's figures as shares of the CRF's, all sets in one array."""
    shares = []
    for one in trials.values():
        for key in LOWER_IS_BETTER:
            ours = np.mean([trial["rows"][row][key] for trial in one[learner]])
            crfs = np.mean([trial["rows"][CRF][key] for trial in one[CRF]])
            shares.append(ours / crfs if crfs > 0 else 1.0 + ours)
    return np.array(shares)


def wins_by_split(one, learner, row):
    """Return on how many splits the row is below the CRF, by figure."""
    return {
        key: sum(
            ours["rows"][row][key] < crfs["rows"][CRF][key]
            for ours, crfs in zip(one[learner], one[CRF], strict=True)
        )
        for key in LOWER_IS_BETTER
    }
