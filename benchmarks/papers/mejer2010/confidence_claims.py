"""What Mejer & Crammer (2010) say about confidence, and whether it holds here.

Each claim is a number for every split that is positive where the claim holds, or None
if it is about another set. On a set it holds if the mean over the splits is positive.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from papers.mejer2010.confidence_figures import FEWEST_WORDS
from papers.mejer2010.confidence_trials import (
    CRF,
    CW,
    MANY_DRAWS,
    OUR_DRAWS,
    PA,
    PAPERS_DRAWS,
    PAPERS_ROWS,
    RANDOM,
)

MOST_REVIEWED = 5000
# The paper's difference of 100 words in 50,000: less is called equal.
EQUAL = 0.02
K_DRAWS = ("KD-Fixed", "KD-PC")
# The paper chooses 30 labelings for KBV and WKBV, of 10, 20 ... 80.
PAPERS_K, LARGEST_K = 30, 80


class Claim(NamedTuple):
    """A sentence of the paper, and a number for a split that is to be positive."""

    text: str
    lead: Callable
    form: str = "+.4f"


def row_of(split, row, learner=CW):
    """Return a row of a split; the CRF has one row, whoever is asked."""
    return split[CRF if row == CRF else learner]["rows"][row]


def _get(split, row, key, learner=CW):
    return row_of(split, row, learner)[key]


def _least_lead(better, worse, key, learner=CW):
    """The worst of the better rows is ahead of the best of the worse ones by..."""
    sign = -1.0 if key == "rmse" else 1.0

    def lead(split, name):
        first = [sign * _get(split, row, key, learner) for row in better]
        second = [sign * _get(split, row, key, learner) for row in worse]
        return min(first) - max(second)

    return lead


def found_by(split, row, learner=CW):
    """Return how many wrong words are among the first 5,000."""
    found = row_of(split, row, learner)
    return found["errors"] - found[f"left_{MOST_REVIEWED}"]


def _more_than_delta(split, name):
    return min(found_by(split, row) for row in K_DRAWS) - found_by(split, "Delta")


def _crf_finds_more(split, name):
    """Return how many more the CRF finds than the better of the draws."""
    return found_by(split, CRF) - max(found_by(split, row) for row in K_DRAWS)


def _crf_finds_as_many(split, name):
    few = EQUAL * _get(split, "KD-PC", "errors")
    return few - abs(_crf_finds_more(split, name))


def _only(wanted, lead):
    """Return the claim about one set."""
    return lambda split, name: lead(split, name) if name == wanted else None


def _negative(lead):
    return lambda split, name: -lead(split, name)


def _errors_and_found_agree(split, name):
    """Return +1 if the model that has more errors finds more of them, else -1."""
    errors = _get(split, CRF, "errors") - _get(split, "KD-PC", "errors")
    return float(np.sign(errors * _crf_finds_more(split, name)))


def bias(split, row):
    """Return the mean of accuracy minus center over the bins that hold enough words."""
    return float(np.mean(_off_the_line(split, row)))


def _distance(split, row):
    return float(np.mean(np.abs(_off_the_line(split, row))))


def _off_the_line(split, row):
    bins = _get(split, row, "bins")
    count, right = np.array(bins["count"]), np.array(bins["right"])
    enough = count >= min(FEWEST_WORDS, count.max())
    center = (np.arange(len(count)) + 0.5) / len(count)
    return right[enough] / count[enough] - center[enough]


def _draws_closest(split, name):
    others = min(_distance(split, row) for row in (CRF, "KD-Fixed", "WKBV"))
    return others - _distance(split, "KD-PC")


def _falls_with_k(row):
    """Return by how much the held-out AP falls from the paper's K to its largest."""

    def lead(split, name):
        fit = split[CW]["tuned"]["error_average_precision"][row]
        return ap_at(fit, PAPERS_K) - ap_at(fit, LARGEST_K)

    return lead


def ap_at(fit, n_best):
    """Return the held-out AP at the value of K that was tried next to this one."""
    curve = fit["curves"]["n_best"]
    nearest = np.argmin(np.abs(np.array(curve["grid"]) - n_best))
    return curve["scores"][nearest]


def _voting_loses(votes, key):
    sign = -1.0 if key == "token_error" else 1.0

    def lead(split, name):
        scores = split[CW]["inference"]
        return sign * (scores["Viterbi"][key] - scores[votes][key])

    return lead


CW_ROWS = tuple(row.name for row in PAPERS_ROWS)
CLAIMS = (
    Claim(
        "AP: every method is above a random order", _least_lead(CW_ROWS, [RANDOM], "ap")
    ),
    Claim("AP: WKBV above KBV", _least_lead(["WKBV"], ["KBV"], "ap")),
    Claim(
        "AP: Delta above WKBV and KBV", _least_lead(["Delta"], ["WKBV", "KBV"], "ap")
    ),
    Claim("AP: KD-PC above Delta", _least_lead(["KD-PC"], ["Delta"], "ap")),
    Claim("AP: KD-Fixed above Delta", _least_lead(["KD-Fixed"], ["Delta"], "ap")),
    Claim(
        "AP: KD-PC and KD-Fixed above WKBV and KBV",
        _least_lead(K_DRAWS, ["WKBV", "KBV"], "ap"),
    ),
    Claim(
        "AP: KD-Fixed above KD-PC (3 of 4 sets)",
        _least_lead(["KD-Fixed"], ["KD-PC"], "ap"),
    ),
    Claim(
        "AP: CRF above KD-PC and KD-Fixed (2 of 4 sets)",
        _least_lead([CRF], K_DRAWS, "ap"),
    ),
    Claim(
        "AP, PA: KD-Fixed above Delta, WKBV and KBV",
        _least_lead(["KD-Fixed"], ["Delta", "WKBV", "KBV"], "ap", PA),
    ),
    Claim(
        "first 5,000: both K-Draws find more than Delta (about 100)",
        _more_than_delta,
        "+.0f",
    ),
    Claim(
        "first 5,000, NP chunking: CRF finds more than K-Draws (about 150)",
        _only("NP chunking", _crf_finds_more),
        "+.0f",
    ),
    Claim(
        "first 5,000, Spanish: CRF finds fewer (about 80)",
        _only("Spanish", _negative(_crf_finds_more)),
        "+.0f",
    ),
    Claim(
        "first 5,000, Dutch: CRF finds as many (within 2 % of all errors)",
        _only("Dutch", _crf_finds_as_many),
        "+.0f",
    ),
    Claim("of CRF and CW, who errs more finds more", _errors_and_found_agree, "+.1f"),
    Claim(
        f"AP of KD-PC: {OUR_DRAWS} draws do no harm beside {PAPERS_DRAWS}",
        _least_lead([MANY_DRAWS], ["KD-PC"], "ap"),
    ),
    Claim(f"AP of KBV falls from K = {PAPERS_K} to {LARGEST_K}", _falls_with_k("kbv")),
    Claim(
        f"AP of WKBV falls from K = {PAPERS_K} to {LARGEST_K}", _falls_with_k("wkbv")
    ),
    Claim("RMSE: KD-PC below KD-Fixed", _least_lead(["KD-PC"], ["KD-Fixed"], "rmse")),
    Claim("RMSE: KD-PC below CRF", _least_lead(["KD-PC"], [CRF], "rmse")),
    Claim(
        "RMSE: KD-PC lowest of KD-PC, KD-Fixed, WKBV and CRF",
        _least_lead(["KD-PC"], ["KD-Fixed", "WKBV", CRF], "rmse"),
    ),
    Claim(
        "RMSE: WKBV highest of these",
        _least_lead(["KD-PC", "KD-Fixed", CRF], ["WKBV"], "rmse"),
    ),
    Claim(
        "RMSE: KBV above WKBV and all others",
        _least_lead(["KD-PC", "KD-Fixed", "WKBV", CRF], ["KBV"], "rmse"),
    ),
    Claim(
        "RMSE, PA: KD-Fixed below WKBV", _least_lead(["KD-Fixed"], ["WKBV"], "rmse", PA)
    ),
    Claim(
        "bins: WKBV too pessimistic", lambda split, name: bias(split, "WKBV"), "+.3f"
    ),
    Claim("bins: CRF too optimistic", lambda split, name: -bias(split, CRF), "+.3f"),
    Claim(
        "bins: KD-Fixed too pessimistic on Dutch",
        _only("Dutch", lambda split, name: bias(split, "KD-Fixed")),
        "+.3f",
    ),
    Claim("bins: KD-PC nearest to the line", _draws_closest, "+.3f"),
    Claim(
        "votes of KD-PC draws: lower F than Viterbi", _voting_loses("KD-PC votes", "f1")
    ),
    Claim(
        "votes of KD-PC draws: more wrong words",
        _voting_loses("KD-PC votes", "token_error"),
        "+.5f",
    ),
    Claim(
        "votes of KD-Fixed draws: lower F than Viterbi",
        _voting_loses("KD-Fixed votes", "f1"),
    ),
)


def splits_of(by_learner):
    """Return ``[{learner: trial}]``, one for each split."""
    learners = list(by_learner)
    return [
        dict(zip(learners, trials, strict=True))
        for trials in zip(*by_learner.values(), strict=True)
    ]


def judge(trials):
    """Return for every claim by how much it holds on every set, and on how many."""
    sets = {name: splits_of(one) for name, one in trials.items()}
    return [_judged(claim, sets) for claim in CLAIMS]


def _judged(claim, sets):
    leads = {}
    for name, splits in sets.items():
        values = [claim.lead(split, name) for split in splits]
        if values[0] is not None:
            leads[name] = values
    means = {name: float(np.mean(values)) for name, values in leads.items()}
    return {
        "claim": claim.text,
        "form": claim.form,
        "leads": means,
        "splits": {name: sum(v > 0 for v in values) for name, values in leads.items()},
        "held": sum(mean > 0 for mean in means.values()),
    }
