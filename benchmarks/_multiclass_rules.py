"""Labels by the mean or by the exact distribution, and scales of the variances."""

import numpy as np
from _measure import progress
from _multiclass_data import folds_of, load_rows, set_names
from _multiclass_learners import MAXENT
from _multiclass_trials import trials_of
from _runner import process_pool
from _scores import centerd_rmse
from _tables import format_table

from skcw import MultiClassCW

SCALES = (1.0, "log_loss", "root_calibration_mse")
MOST_FOLDS, QUICK_SCALE_FOLDS = 3, 2
# As in the fit of the scale: a probability of zero must not cost an infinite loss.
LEAST = 1e-15
NOTE = """\
MultiClassCW with its defaults. Mean rule: the label with the highest mean score, as
`predict` gives it; its probabilities are `predict_proba`, in which it changes places
with a label that is more probable. Bayes rule: the label that is most probable under
the exact distribution, `predict_distribution`. Differ: rows in which the two rules do;
won: those of them in which the Bayes rule is right and the mean rule wrong, and the
reverse. RMSE: of the labels' probabilities over 20 bins. Scale: what the variances are
multiplied by, given or chosen in `fit` on 5 held-out folds (median over the folds)."""


def run(settings):
    """Return how good labels and probabilities are by either rule."""
    names = set_names(settings.data_home)
    tasks = [(name, scale) for name in names for scale in SCALES]
    sets = {name: {} for name in names}
    with process_pool(settings.jobs) as pool:
        mapped = pool.map if pool else map
        answers = mapped(_one_scale, tasks, [settings] * len(tasks))
        for (name, scale), found in zip(tasks, answers, strict=True):
            progress(f"rules: {name}, scale {scale} done")
            sets[name][str(scale)] = found
    maxent = trials_of(names, [MAXENT], settings)
    for name, one in sets.items():
        one[MAXENT] = _maxent(maxent[name][MAXENT][:MOST_FOLDS])
    return {"quick": settings.quick, "most_folds": MOST_FOLDS, "sets": sets}


def _one_scale(task, settings):
    name, scale = task
    rows = load_rows(name, settings.data_home, settings.quick)
    scales, parts = [], []
    for fold, (train, test) in enumerate(folds_of(name, settings)[:MOST_FOLDS]):
        folds = QUICK_SCALE_FOLDS if settings.quick else None
        model = MultiClassCW(variance_scale=scale, scale_cv=folds, random_state=fold)
        model.fit(rows.X[train], rows.y[train])
        X_test = rows.X[test]
        outputs = model.predict_distribution(X_test), model.predict_proba(X_test)
        parts.append((*outputs, rows.y[test]))
        scales.append(model.variance_scale_)
    exact, followed, gold = map(np.concatenate, zip(*parts, strict=True))
    return {"scale": float(np.median(scales)), **_compare(exact, followed, gold)}


def _compare(exact, followed, gold):
    """Return what either rule is worth."""
    bayes, mean = exact.argmax(axis=1), followed.argmax(axis=1)
    differ = bayes != mean
    return {
        "rows": len(gold),
        "differ": int(differ.sum()),
        "bayes_won": int(np.sum(differ & (bayes == gold))),
        "mean_won": int(np.sum(differ & (mean == gold))),
        "bayes": _worth(exact, gold),
        "mean": _worth(followed, gold),
    }


def _worth(probability, gold):
    right = probability.argmax(axis=1) == gold
    return {
        "accuracy": float(right.mean()),
        "log_loss": float(_log_loss(probability, gold)),
        "rmse": float(centerd_rmse(right, np.clip(probability.max(axis=1), 0, 1))),
    }


def _log_loss(probability, gold):
    truth = probability[np.arange(len(gold)), gold]
    return -np.log(np.maximum(truth, LEAST)).mean()


def _maxent(trials):
    """Return the means over the same folds."""
    return {
        key: float(np.mean([trial[key] for trial in trials]))
        for key in ("log_loss", "rmse")
    }


def render(found):
    """Return the results as text."""
    title = (
        "Prediction by the mean or by the exact distribution, at most "
        f"{found['most_folds']} folds a set"
    )
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    rows = []
    for name, one in found["sets"].items():
        rows += [_row(name, key, one[key]) for key in one if key != MAXENT]
        loss, rmse = one[MAXENT]["log_loss"], one[MAXENT]["rmse"]
        empty = ["-"] * 5
        rows.append(
            [f"{name}, {MAXENT}", *empty, f"{loss:.4f}", "-", f"{rmse:.4f}", "-"]
        )
    header = (
        *("set, scale by", "scale", "% right, mean", "Bayes", "differ", "won"),
        *("log-loss, mean", "Bayes", "RMSE, mean", "Bayes"),
    )
    return "\n\n".join([title, format_table(header, rows), NOTE])


def _row(name, key, one):
    mean, bayes = one["mean"], one["bayes"]
    return [
        f"{name}, {key}",
        f"{one['scale']:.3g}",
        *[f"{100 * rule['accuracy']:.2f}" for rule in (mean, bayes)],
        f"{one['differ']} of {one['rows']}",
        f"{one['bayes_won']} : {one['mean_won']}",
        *[f"{rule['log_loss']:.4f}" for rule in (mean, bayes)],
        *[f"{rule['rmse']:.4f}" for rule in (mean, bayes)],
    ]
