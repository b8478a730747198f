"""Which confidence finds wrong words: all methods, with the defaults of skcw."""

import numpy as np
from _confidence_best import best_row, wins_by_split
from _confidence_figures import REVIEW, draw_review
from _confidence_measures import SCALARS
from _confidence_protocol import CRF, OUR_DRAWS, PAPERS_DRAWS, RANDOM, rows_of
from _confidence_runs import all_trials
from _tables import format_table, number

FORMS = {"ap": ".4f", "rmse": ".4f", "area": ".5f"}
HEADER = {"ap": "AP", "rmse": "RMSE", "area": "area"}
INFERENCE = {"f1": ".4f", "token_error": ".3%"}
BESIDE_CRF = ("ap", "rmse", "left_1000", "left_5000", "errors", "area")
NOTE = f"""\
AP: average precision of finding wrong words, the least sure first; it rises with the
number of errors, so that it compares methods of one learner, and errors left after
review compare learners. RMSE: over 20 bins. Left n: wrong words left after the n least
sure are reviewed. Area: under risk-coverage, the mean risk over all coverages. Means
and standard deviations over the splits. Values are chosen on a quarter of the training
part, by a copy that has not seen it. The paper's rows (capitals): {PAPERS_DRAWS} draws,
chosen by AP as in the paper; in the others {OUR_DRAWS} draws, chosen by the logarithmic
loss, one rule for order and probability. Untuned: default scale and temperature. CRF:
lbfgs, 150 iterations; c1 and c2 chosen by F on a quarter of the first split's training
part."""


def run(settings):
    """Return the figures of all methods, the claims, and the best beside the CRF."""
    trials = all_trials(settings)
    best = best_row(trials)
    draw_review(trials, best, settings.output)
    best["split_wins"] = {
        name: wins_by_split(one, best["learner"], best["row"])
        for name, one in trials.items()
    }
    return {
        "quick": settings.quick,
        "splits": settings.splits,
        "sets": {name: set_of(one) for name, one in trials.items()},
        "inference": {name: inference_of(one) for name, one in trials.items()},
        "chosen": {name: values_chosen(one) for name, one in trials.items()},
        "best": best,
    }


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


def render(found):
    """Return the results as text."""
    title = f"Confidence in words: {found['splits']} splits, 75/25"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    blocks = [title, _best_table(found)]
    for name, learners in found["sets"].items():
        blocks += [figures_table(name, *one) for one in learners.items()]
    blocks += [NOTE, inference_table(found), f"Picture: {REVIEW}"]
    return "\n\n".join(blocks)


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


def _best_table(found):
    best, rows = found["best"], []
    for name, learners in found["sets"].items():
        for learner, row in ((best["learner"], best["row"]), (CRF, CRF)):
            who = row if learner == row else f"{learner}, {row}"
            rows.append([f"{name}: {who}", *_cells(learners[learner][row], BESIDE_CRF)])
    table = format_table(["best beside CRF", *map(_head, BESIDE_CRF)], rows)
    always = "; ".join(", ".join(one) for one in best["always_better"]) or "none"
    return (
        f"{table}\n\nBetter than the CRF in {best['wins']} of {best['of']} figures "
        f"(RMSE, left 1000, left 5000 on each set; chosen after the fact).\n"
        f"Better in all of them: {always}.\n{_split_wins(best, found['splits'])}"
    )


def _split_wins(best, n_splits):
    lines = [
        f"{name}: "
        + ", ".join(f"{_head(key)} on {won}" for key, won in wins.items())
        + f" of {n_splits} splits"
        for name, wins in best["split_wins"].items()
    ]
    return "\n".join(lines)


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
