"""What section 4 of Mejer & Crammer (2010) says of precision, recall and passes.

Each claim is a number for every set that is positive where the claim holds. Claims
about scores are judged in every fold: the mean, with its standard error. Claims about
the picture or about significance are judged once, on the means of the folds.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from common.tables import format_table
from papers.mejer2010.tables import DIAGONALS, PASSES, curves_of_all_sets, paired_tests

AROW, CW, PA, PERCEPTRON = "AROW", "CW", "5-best PA", "Perceptron"
PAPERS = (PERCEPTRON, PA, CW, AROW)
# A learner has converged if its last step is at most this part of its first one.
CONVERGED = 0.1
SIGNIFICANT = 0.01
NAMES_ONLY = ("Spanish", "Dutch")
NOTE = f"""\
A claim holds on a set if its number is positive. Those with a standard error in
brackets are means of the folds; the others are made of the means. All learners are the
paper's, with plain decoding and parameters chosen on one random 3/4-1/4 split. p: of
the paired t-test over the folds, as in the paper; the claim is that it is below
{SIGNIFICANT} in favor of the first, or above. A step is the distance between two
passes in the plane of precision and recall; converged: the last of {PASSES} passes
moves each learner at most {CONVERGED} of what the second did."""


class Claim(NamedTuple):
    """A sentence of the paper, and a number that is to be positive.

    ``lead`` is a function of {learner: curve}, of a fold or of the means, or, where
    ``whole``, of all that is known of the set.
    """

    text: str
    lead: Callable
    only: tuple = ()
    each_fold: bool = True
    whole: bool = False


def _last(measure):
    """Return the function that gives a learner's score after the last pass."""
    return lambda curves, learner: curves[learner][-1][measure]


_precision, _recall, _f = map(_last, ("precision", "recall", "f1"))


def _step(curve, number):
    """Return how far a pass has moved precision and recall."""
    before, after = curve[number - 2], curve[number - 1]
    return np.hypot(*(after[m] - before[m] for m in ("precision", "recall")))


def _converged(curves):
    steps = [(_step(curves[name], PASSES), _step(curves[name], 2)) for name in PAPERS]
    return min(CONVERGED * first - last for last, first in steps)


def _perceptron_moves_most(curves):
    """Return how much longer its second pass moves it than any other learner."""
    others = max(_step(curves[name], 2) for name in PAPERS[1:])
    return _step(curves[PERCEPTRON], 2) - others


def _pa_pays_for_recall(curves):
    """Return the least of its lead in recall and its arrears in precision and F."""
    others = CW, AROW
    return min(
        _recall(curves, PA) - max(_recall(curves, name) for name in others),
        min(_precision(curves, name) for name in others) - _precision(curves, PA),
        min(_f(curves, name) for name in others) - _f(curves, PA),
    )


def _ahead(score, first, *others):
    def lead(curves):
        return score(curves, first) - max(score(curves, name) for name in others)

    return lead


def _significant(first, second):
    """Return by how much p is below the bound; negative if the second is ahead."""

    def lead(one):
        p, difference = _p_and_difference(one, first, second)
        return SIGNIFICANT - p if difference > 0 else -SIGNIFICANT

    return lead


def _not_significant(first, second):
    return lambda one: _p_and_difference(one, first, second)[0] - SIGNIFICANT


def _p_and_difference(one, first, second):
    f1 = [
        [curve[-1]["f1"] for curve in one["curves"][name]] for name in (first, second)
    ]
    p, _ = paired_tests(*f1, one)
    return 1.0 if p is None else p, np.mean(f1[0]) - np.mean(f1[1])


CLAIMS = (
    Claim("AROW's F is above CW's", _ahead(_f, AROW, CW)),
    Claim("but not significantly: p", _not_significant(AROW, CW), whole=True),
    Claim("CW's F is above 5-best PA's", _ahead(_f, CW, PA)),
    Claim("5-best PA's F is above the perceptron's", _ahead(_f, PA, PERCEPTRON)),
    Claim("AROW significantly above PA (2 of 4)", _significant(AROW, PA), whole=True),
    Claim(
        "AROW significantly above the perceptron",
        _significant(AROW, PERCEPTRON),
        whole=True,
    ),
    Claim(
        "CW: the diagonal of the covariance has the best F",
        _ahead(_f, CW, *DIAGONALS),
        each_fold=False,
    ),
    Claim(f"all have converged after {PASSES} passes", _converged, each_fold=False),
    Claim(
        "the second pass moves the perceptron most",
        _perceptron_moves_most,
        each_fold=False,
    ),
    Claim(
        "names: AROW's precision above CW's", _ahead(_precision, AROW, CW), NAMES_ONLY
    ),
    Claim("names: CW's recall above AROW's", _ahead(_recall, CW, AROW), NAMES_ONLY),
    Claim(
        "PA: best recall, worst precision and F of the three (2 of 4)",
        _pa_pays_for_recall,
        each_fold=False,
    ),
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
    leads = {
        name: lead_of(claim, one)
        for name, one in found.items()
        if not claim.only or name in claim.only
    }
    return {"text": claim.text, "leads": leads}


def lead_of(claim, one):
    """Return by how much a claim holds on a set, and the standard error or None."""
    if claim.whole:
        return [float(claim.lead(one)), None]
    if not claim.each_fold:
        return [float(claim.lead(_mean_curves(one["curves"]))), None]
    n_folds = len(one["curves"][CW])
    values = [
        float(claim.lead({name: runs[fold] for name, runs in one["curves"].items()}))
        for fold in range(n_folds)
    ]
    error = np.std(values, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else None
    return [float(np.mean(values)), None if error is None else float(error)]


def _mean_curves(curves):
    """Return the curve of every learner, averaged over the folds, as in Fig. 1."""
    return {
        learner: [
            {m: np.mean([scores[m] for scores in after]) for m in after[0]}
            for after in zip(*runs, strict=True)
        ]
        for learner, runs in curves.items()
    }


def render(found):
    """Return the results as text."""
    folds = "single split" if found["quick"] else f"{found['folds']} folds"
    title = f"Section 4's claims, {folds}"
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
