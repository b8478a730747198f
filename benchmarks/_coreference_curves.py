"""Calibration of "are these two mentions in one cluster?", by kinds of models."""

from itertools import pairwise

from _coreference_runs import (
    ALL,
    ASKED,
    COSTED,
    FIRST,
    FOLDS,
    ITERATIONS,
    MODELS,
    PENALTY,
    SAMPLES,
    all_runs,
    clustered,
    sampled_answers,
)
from _coreference_scores import b_cubed
from _coreference_scores import pairwise as pairwise_f
from _measure import progress
from _pictures import new_figure, save_picture
from _tables import format_table

from skcw.metrics import brier_loss, compare_scores, score_decomposition, score_interval
from skcw.metrics.calibration_errors import calibration_mse

FIGURE = "coreference-curves.png"
SCORE = "root_calibration_mse"
RESAMPLES, QUICK_RESAMPLES = 1000, 50
CURVE_BINS = 10
DRAWN = {
    FIRST: "distances only",
    ALL: "all features",
    COSTED: "all, with costs",
}
# Models are of about the same accuracy up to this difference of B-cubed F.
SAME_F = 0.03
NOTE = f"""\
Mention ranking on gold mentions; each group of features is added to those before it.
{FOLDS} folds of documents; L-BFGS, {ITERATIONS} iterations at most, L2 penalty
{PENALTY}. The answer is the share of {SAMPLES} drawn clusterings in which {ASKED} pairs
of mentions of each document, drawn at random, are together. F: of the clusters by the
most probable choices. Intervals take all pairs of a document together. Lean: mean
answer less share of yes. Discrimination: what the answers, mapped as well as can be,
save of the Brier loss."""


def run(settings):
    """Return what every model is worth; draw the curves."""
    rows, answers = {}, {}
    for name, one in all_runs(settings).items():
        progress(f"{name}: samples and intervals")
        answers[name], _ = sampled_answers(one, settings)
        rows[name] = _judged(one, answers[name], settings)
    _draw(answers, settings)
    some = answers[ALL]
    return {
        "quick": settings.quick,
        "documents": int(some.groups[-1]) + 1,
        "mentions": sum(map(len, all_runs(settings)[ALL].tables)),
        "pairs": len(some.correct),
        "yes": float(some.correct.mean()),
        "rows": rows,
        "claims": _claims(rows, answers, settings),
    }


def _resamples(settings):
    return QUICK_RESAMPLES if settings.quick else RESAMPLES


def _judged(one, asked, settings):
    truth, found = [each.clusters for each in one.documents], clustered(one)
    root = score_interval(SCORE, **asked._asdict(), n_resamples=_resamples(settings))
    parts = score_decomposition("brier_loss", asked.correct, asked.confidence)
    return {
        "b_cubed": b_cubed(truth, found),
        "pairwise": pairwise_f(truth, found),
        "root": [root.value, root.low, root.high],
        "mse": calibration_mse(asked.correct, asked.confidence),
        "lean": float(asked.confidence.mean() - asked.correct.mean()),
        "brier": brier_loss(asked.correct, asked.confidence),
        "discrimination": parts.discrimination,
        "fit_cpu": one.fit_seconds,
    }


def _difference(first, second, settings):
    """Return the interval of the difference of two models' roots of CalibMSE."""
    found = compare_scores(
        SCORE,
        *first[:2],
        *second[:2],
        groups=first.groups,
        n_resamples=_resamples(settings),
    )
    return [found.low, found.high]


def _claims(rows, answers, settings):
    """Return each claim, what was measured, and whether it holds."""
    steps = list(pairwise(list(MODELS)[:-1]))
    differences = [_difference(answers[b], answers[a], settings) for a, b in steps]
    sharper = [rows[b]["discrimination"] - rows[a]["discrimination"] for a, b in steps]
    low, high = _difference(answers[COSTED], answers[ALL], settings)
    apart = abs(rows[COSTED]["b_cubed"] - rows[ALL]["b_cubed"])
    by_f = sorted(rows, key=lambda name: -rows[name]["b_cubed"])
    by_root = sorted(rows, key=lambda name: rows[name]["root"][0])
    return [
        {
            "claim": "4.1.2: each further group of features lowers the root of "
            "CalibMSE (interval of the difference below 0)",
            "measured": ", ".join(f"[{a:+.4f}, {b:+.4f}]" for a, b in differences),
            "holds": all(bool(high < 0) for _, high in differences),
        },
        {
            "claim": "4.1.2: each further group makes answers more refined "
            "(discrimination rises)",
            "measured": ", ".join(f"{gain:+.4f}" for gain in sharper),
            "holds": bool(min(sharper) > 0),
        },
        {
            "claim": "3.4.2: calibration tells apart models that are about as accurate "
            f"(B-cubed F of likelihood and costs within {SAME_F}, interval of the "
            "difference of roots without 0)",
            "measured": f"F apart {apart:.4f}, roots [{low:+.4f}, {high:+.4f}]",
            "holds": bool(apart <= SAME_F and not low <= 0 <= high),
        },
        {
            "claim": "Abstract: calibration is complementary to accuracy (the order of "
            "the models by root of CalibMSE is not that by F)",
            "measured": f"by F {_order(by_f)}; by root {_order(by_root)}",
            "holds": by_f != by_root,
        },
    ]


def _order(names):
    """Return models by their places in the table."""
    places = list(MODELS)
    return " ".join(str(places.index(name) + 1) for name in names)


def _draw(answers, settings):
    figure = new_figure(figsize=(6.5, 7))
    if figure is None:
        return
    from skcw.display import ConfidenceCalibrationDisplay

    panel = figure.subplots()
    for name, short in DRAWN.items():
        ConfidenceCalibrationDisplay.from_predictions(
            **answers[name]._asdict(),
            strategy="uniform",
            n_bins=CURVE_BINS,
            # The table has the scores, which are of other bins.
            score=None,
            name=short,
            query="same cluster",
            unit="pairs",
            ax=panel,
        )
    save_picture(figure, settings.output / FIGURE)


def render(found):
    """Return the results as text."""
    title = (
        f"Coreference: {found['documents']} documents, {found['mentions']} mentions, "
        f"{found['pairs']} pairs asked about, {found['yes']:.1%} of them in one cluster"
    )
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    header = ["", "B-cubed F", "pairwise F", "root CalibMSE", "95 % interval"]
    header += ["CalibMSE", "lean", "Brier", "discrimination", "fit CPU s"]
    rows = [
        [
            f"{place}. {name}",
            f"{one['b_cubed']:.4f}",
            f"{one['pairwise']:.4f}",
            f"{one['root'][0]:.4f}",
            "{1:.4f}-{2:.4f}".format(*one["root"]),
            f"{one['mse']:.5f}",
            f"{one['lean']:+.4f}",
            f"{one['brier']:.4f}",
            f"{one['discrimination']:.4f}",
            f"{one['fit_cpu']:.0f}",
        ]
        for place, (name, one) in enumerate(found["rows"].items(), 1)
    ]
    texts = [title, format_table(header, rows), NOTE, format_claims(found)]
    texts.append(f"Curves: {FIGURE}, {CURVE_BINS} bins of equal width.")
    return "\n\n".join(texts)


def format_claims(found):
    """Return the claims as text, one below the other."""
    verdict = {True: "holds", False: "DOES NOT HOLD"}
    lines = ["Claims of the thesis (its own words are of another system and corpus)"]
    for one in found["claims"]:
        said = "(quick)" if found["quick"] else verdict[one["holds"]]
        lines.append(f"- {one['claim']}\n  {one['measured']}: {said}")
    return "\n".join(lines)
