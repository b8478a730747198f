"""Section 5 of Mejer & Crammer (2010) with the paper's learners and both decoders.

The paper's learners look for their rival by score alone. The same learners trained by
cost-augmented decoding stand beside them, and every claim is judged for both.
"""

import numpy as np

from common.tables import format_table, number
from papers.mejer2010.confidence_claims import judge
from papers.mejer2010.confidence_figures import (
    PAPERS_FIGURES,
    draw_papers_figures,
)
from papers.mejer2010.confidence_trials import (
    CRF,
    CW,
    PA,
    PAPERS,
    PAPERS_LEARNERS,
    PLAIN,
    RANDOM,
    SCALARS,
    all_trials,
    rows_of,
)

# ---- Which confidence finds wrong words: all methods, with the defaults of skcw ----

FORMS = {"ap": ".4f", "rmse": ".4f", "area": ".5f"}
HEADER = {"ap": "AP", "rmse": "RMSE", "area": "area"}
INFERENCE = {"f1": ".4f", "token_error": ".3%"}


def set_of(by_learner):
    """Return mean and spread of every figure, by learner and row."""
    return {learner: _rows(learner, trials) for learner, trials in by_learner.items()}


def _rows(learner, trials):
    names = [*[row.name for row in rows_of(learner)], RANDOM]
    return {
        name: {
            key: mean_and_spread([trial["rows"][name][key] for trial in trials])
            for key in SCALARS
        }
        for name in ([CRF] if learner == CRF else names)
    }


def inference_of(by_learner):
    """Return F and token error of the best labeling and of votes."""
    return {
        learner: {
            rule: {
                key: mean_and_spread([t["inference"][rule][key] for t in trials])
                for key in INFERENCE
            }
            for rule in trials[0]["inference"]
        }
        for learner, trials in by_learner.items()
        if learner != CRF
    }


def values_chosen(by_learner):
    """Return the values that were chosen, one for each split."""
    return {
        learner: {
            rule: {
                method: _values([t["tuned"][rule][method] for t in trials])
                for method in methods
            }
            for rule, methods in trials[0]["tuned"].items()
        }
        for learner, trials in by_learner.items()
        if learner != CRF
    }


def _values(fits):
    return {
        parameter: [fit["values"][parameter] for fit in fits]
        for parameter in fits[0]["values"]
    }


def mean_and_spread(values):
    """Return mean and standard deviation, or None where there are no values."""
    if values[0] is None:
        return None
    return [float(np.mean(values)), float(np.std(values, ddof=len(values) > 1))]


def figures_table(name, learner, rows):
    """Return the figures of a learner on a set as text."""
    header = [f"{name}, {learner}", *[_head(key) for key in SCALARS]]
    table = [[row, *_cells(one, SCALARS)] for row, one in rows.items()]
    return format_table(header, table)


def _head(key):
    return HEADER.get(key, key.replace("_", " "))


def _cells(row, keys):
    return [_cell(row[key], FORMS.get(key, ".0f")) for key in keys]


def _cell(value, form):
    if value is None:
        return number(None, "")
    mean, spread = value
    return f"{mean:{form}} ±{spread:{form}}"


def claim_rows(claims, found):
    """Return the claims as rows of a table."""
    return [
        [
            one["claim"],
            *[_lead(one, name) for name in found["sets"]],
            _verdict(one["held"], len(one["leads"]), found["quick"]),
        ]
        for one in claims
    ]


def _lead(claim, name):
    if name not in claim["leads"]:
        return "-"
    return f"{claim['leads'][name]:{claim['form']}} ({claim['splits'][name]})"


def _verdict(held, n_sets, quick):
    if quick:
        return "(quick)"
    return "yes" if held == n_sets else f"{held} of {n_sets}" if held else "NO"


def inference_table(found):
    """Return the scores of the best labeling and of votes as text."""
    rows = [
        [
            f"{name}, {learner}: {rule}",
            *[_cell(one[k], f) for k, f in INFERENCE.items()],
        ]
        for name, learners in found["inference"].items()
        for learner, rules in learners.items()
        for rule, one in rules.items()
    ]
    return format_table(["labels by", "F", "wrong words"], rows)


# ---- Section 5 of the paper with both decoders ----

CLAIMS_NOTE = """\
By how much the claim holds: below 0 it does not. Mean over the splits; in brackets on
how many of {} splits."""
NOTE = """\
Learners as in Table 2 of bench_tagging.py, with phi and C chosen there: hard CW on the
whole rival, five-best PA. Plain: the paper's. Cost-augmented: wrong labels are made
better when the learner looks for its rival; labels to rate are found plainly in both.
AP: average precision of finding wrong words, the least confident first. RMSE: over 20
bins. Left n: wrong words left after the n least confident are reviewed. Area: under
risk-coverage. Means and standard deviations over the splits; 50 draws, but for the row
that says 200; values chosen by AP on a quarter of the training part, as in the paper.
CRF: lbfgs, 150 iterations; c1 and c2 chosen by F on a part of the first split."""


def run(settings):
    """Return figures, and the claims for plain and for cost-augmented decoding."""
    trials = all_trials(settings, (*PAPERS_LEARNERS, CRF))
    draw_papers_figures(_as_in_the_paper(trials, PLAIN), settings.output)
    return {
        "quick": settings.quick,
        "splits": settings.splits,
        "sets": {name: set_of(one) for name, one in trials.items()},
        "inference": {name: inference_of(one) for name, one in trials.items()},
        "chosen": {name: values_chosen(one) for name, one in trials.items()},
        "claims": {
            decoder: judge(_as_in_the_paper(trials, decoder)) for decoder in PAPERS
        },
    }


def _as_in_the_paper(trials, decoder):
    """Return the trials of one decoder under the names that claims ask for."""
    cw, pa = PAPERS[decoder]
    return {
        name: {CW: one[cw], PA: one[pa], CRF: one[CRF]} for name, one in trials.items()
    }


def render(found):
    """Return the results as text."""
    title = f"Confidence as in the paper: {found['splits']} splits, 75/25"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    blocks = [title]
    for decoder, claims in found["claims"].items():
        header = [f"claim, {decoder} decoding", *found["sets"], "held"]
        blocks.append(format_table(header, claim_rows(claims, found)))
    blocks.append(CLAIMS_NOTE.format(found["splits"]))
    for name, learners in found["sets"].items():
        blocks += [figures_table(name, *one) for one in learners.items()]
    pictures = f"Pictures, plain decoding: {', '.join(PAPERS_FIGURES)}"
    return "\n\n".join([*blocks, NOTE, inference_table(found), pictures])
