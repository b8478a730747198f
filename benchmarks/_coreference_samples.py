"""How near shares of samples come to the exact probability of a pair."""

import numpy as np
from _coreference_curves import SCORE, format_claims
from _coreference_runs import ALL, all_runs, exact_answers, sampled_answers
from _tables import format_table

from skcw import metrics

NUMBERS, QUICK_NUMBERS = (10, 30, 100, 300, 1000), (10, 100)
# A share is a fairly good estimate up to this mean distance, and part of the score.
NEAR, NEAR_SCORE = 0.01, 0.05
NOTE = """\
Exact: mention i is together with an earlier mention k if it chooses a mention j that is
together with k, and it chooses whatever those before it have chosen, so
P(i ~ k) = sum over j < i of P(i chooses j) P(j ~ k). CPU seconds: of all documents, for
samples drawing and asking about the pairs, for exact ones of all pairs."""


def run(settings):
    """Return the distances and the scores by numbers of samples."""
    one = all_runs(settings)[ALL]
    exact, seconds = exact_answers(one, settings)
    rows = {}
    for n in QUICK_NUMBERS if settings.quick else NUMBERS:
        answers, took = sampled_answers(one, settings, n)
        gap = np.abs(answers.confidence - exact)
        rows[str(n)] = {
            "mean": float(gap.mean()),
            "most": float(gap.max()),
            "root": _root(answers.correct, answers.confidence),
            "cpu": took,
        }
    rows["exact"] = {
        "mean": 0.0,
        "most": 0.0,
        "root": _root(answers.correct, exact),
        "cpu": seconds,
    }
    return {"quick": settings.quick, "rows": rows, "claims": _claims(rows)}


def _root(correct, confidence):
    return getattr(metrics, SCORE)(correct, confidence)


def _claims(rows):
    *_, most = (name for name in rows if name != "exact")
    sampled, exact = rows[most], rows["exact"]
    off = abs(sampled["root"] / exact["root"] - 1)
    return [
        {
            "claim": '3.4.2: probabilities of "do these belong to one cluster?" are '
            f"complicated to derive exactly (they take longer than {most} samples)",
            "measured": f"exact {exact['cpu']:.2f} s, samples {sampled['cpu']:.2f} s",
            "holds": bool(exact["cpu"] > sampled["cpu"]),
        },
        {
            "claim": f"3.4.2: samples give a fairly good estimate ({most}: mean "
            f"distance below {NEAR}, root of CalibMSE within {NEAR_SCORE:.0%})",
            "measured": f"{sampled['mean']:.4f}, {off:.1%}",
            "holds": bool(sampled["mean"] < NEAR and off < NEAR_SCORE),
        },
    ]


def render(found):
    """Return the results as text."""
    title = "Shares of samples against exact probabilities of pairs"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    header = ["samples", "mean distance", "largest", "root CalibMSE", "CPU s"]
    rows = [
        [
            name,
            f"{one['mean']:.4f}",
            f"{one['most']:.4f}",
            f"{one['root']:.4f}",
            f"{one['cpu']:.2f}",
        ]
        for name, one in found["rows"].items()
    ]
    return "\n\n".join([title, format_table(header, rows), NOTE, format_claims(found)])
