"""What section 4 of Mejer & Crammer (2010) says of precision, recall and passes.

Each claim is a number for every set that is positive where the claim holds: its mean
over the folds, with the standard error of that mean.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from _tables import format_table
from _tagging_folds import PASSES, curves_of_all_sets

AROW, CW, PA, PERCEPTRON = "AROW", "CW", "5-best PA", "Perceptron"
PAPERS = (PERCEPTRON, PA, CW, AROW)
# A learner has converged if its last step is at most this part of its first one.
CONVERGED = 0.1
NAMES_ONLY = ("Spanish", "Dutch")
NOTE = f"""\
Leads are means of the folds with their standard errors; a claim holds on a set if its
lead is positive. All learners are the paper's, with plain decoding and parameters
chosen on one random 3/4-1/4 split. A step is the distance between two passes in the
plane of precision and recall; converged: the last of {PASSES} passes moves at most
{CONVERGED} of what the second did."""


class Claim(NamedTuple):
    """A sentence of the paper, and its lead in one fold: a function of curves."""

    text: str
    lead: Callable
    only: tuple = ()


def _last(measure):
    """Return the function that gives a learner's score after the last pass."""
    return lambda curves, learner: curves[learner][-1][measure]


_precision, _recall, _f = map(_last, ("precision", "recall", "f1"))


def _step(curve, number):
    """Return how far a pass has moved precision and recall."""
    before, after = curve[number - 2], curve[number - 1]
    return np.hypot(*(after[m] - before[m] for m in ("precision", "recall")))


def _converged(curves):
    ratios = [_step(curves[name], PASSES) / _step(curves[name], 2) for name in PAPERS]
    return CONVERGED - max(ratios)


def _gain(curves, learner):
    return curves[learner][-1]["f1"] - curves[learner][0]["f1"]


def _perceptron_gains_most(curves):
    return _gain(curves, PERCEPTRON) - max(_gain(curves, name) for name in PAPERS[1:])


def _pa_pays_for_recall(curves):
    """Return the least of its lead in recall and its arrears in precision and F."""
    others = CW, AROW
    return min(
        _recall(curves, PA) - max(_recall(curves, name) for name in others),
        min(_precision(curves, name) for name in others) - _precision(curves, PA),
        min(_f(curves, name) for name in others) - _f(curves, PA),
    )


def _ahead(score, first, second):
    return lambda curves: score(curves, first) - score(curves, second)


CLAIMS = (
    Claim("AROW's F is above CW's", _ahead(_f, AROW, CW)),
    Claim("CW's F is above 5-best PA's", _ahead(_f, CW, PA)),
    Claim("5-best PA's F is above the perceptron's", _ahead(_f, PA, PERCEPTRON)),
    Claim(f"all have converged after {PASSES} passes", _converged),
    Claim("the perceptron gains most from further passes", _perceptron_gains_most),
    Claim(
        "names: AROW's precision above CW's", _ahead(_precision, AROW, CW), NAMES_ONLY
    ),
    Claim("names: CW's recall above AROW's", _ahead(_recall, CW, AROW), NAMES_ONLY),
    Claim("PA: best recall, worst precision and F of the three", _pa_pays_for_recall),
)


def run(settings):
    """Return the lead of every claim on every set."""
    found = curves_of_all_sets(settings)
    return {
        "quick": settings.quick,
        "folds": 1 if settings.quick else settings.folds,
        "sets": list(found),
        "claims": [_judged(claim, found) for claim in CLAIMS],
    }


def _judged(claim, found):
    leads = {}
    for name, one in found.items():
        if claim.only and name not in claim.only:
            continue
        n_folds = len(one["curves"][CW])
        folds = [
            {learner: one["curves"][learner][fold] for learner in PAPERS}
            for fold in range(n_folds)
        ]
        values = [float(claim.lead(curves)) for curves in folds]
        error = np.std(values, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else None
        leads[name] = [float(np.mean(values)), None if error is None else float(error)]
    return {"text": claim.text, "leads": leads}


def render(found):
    """Return the results as text."""
    folds = "single split" if found["quick"] else f"{found['folds']} folds"
    title = f"Section 4's claims about precision, recall and passes, {folds}"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    rows = [
        [
            claim["text"],
            *(_cell(claim["leads"].get(name)) for name in found["sets"]),
            "(quick)" if found["quick"] else _verdict(claim["leads"]),
        ]
        for claim in found["claims"]
    ]
    return "\n\n".join([title, format_table(["", *found["sets"], "holds"], rows), NOTE])


def _cell(lead):
    if lead is None:
        return "-"
    mean, error = lead
    return f"{mean:+.4f}" + ("" if error is None else f" ({error:.4f})")


def _verdict(leads):
    held = sum(mean > 0 for mean, _ in leads.values())
    return f"{held} of {len(leads)}"
