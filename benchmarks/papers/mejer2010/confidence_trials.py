"""All trials, in one process or several; what is done is kept and not done again."""

import json
import time
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from common.corpora import lines_of, load_paper_set, paper_sets
from common.crfsuite import crf_answers, three_quarters
from common.measure import all_scores, centerd_rmse, progress
from common.runner import process_pool
from papers.mejer2010.tables import LEARNERS as LEARNERS_OF_TABLE2
from papers.mejer2010.tables import augmented
from skcw._util.ragged import object_rows
from skcw.confidence.methods import METHODS
from skcw.features import WindowFeatures
from skcw.metrics import (
    area_under_risk_coverage,
    calibration_bins,
    error_average_precision,
    errors_at_k,
    residual_errors_at_k,
    token_correct,
)

# ---- What is compared: learners, methods, and how each of them is tuned ----

PASSES = 10
CW, PA, CRF = "CW", "PA", "tuned CRF"

# The paper's learners look for their rival by score alone; beside them stand the same
# ones, trained by cost-augmented decoding: {decoder: (CW, PA)}.
PLAIN, AUGMENTED = "plain", "cost-augmented"
PAPERS = {
    PLAIN: (f"CW, {PLAIN}", f"PA, {PLAIN}"),
    AUGMENTED: (f"CW, {AUGMENTED}", f"PA, {AUGMENTED}"),
}
PAPERS_LEARNERS = (*PAPERS[PLAIN], *PAPERS[AUGMENTED])
IN_TABLE2 = dict(
    zip(
        PAPERS_LEARNERS,
        ("CW", "5-best PA", augmented("CW"), augmented("5-best PA")),
        strict=True,
    )
)
# The paper takes phi and C from its Table 2.
TABLE2 = Path(__file__).resolve().parent / "tagging.json"
RANDOM = "random order"

# The paper chooses by average precision. All else is chosen by the logarithmic loss:
# a proper score, it asks for a good order and for true probabilities at once.
PAPERS_RULE, OUR_RULE = "error_average_precision", "log_loss"
PAPERS_DRAWS, OUR_DRAWS, QUICK_DRAWS = 50, 200, 10
REVIEWED = (1000, 5000)


class Row(NamedTuple):
    """A method with its number of draws, and the rule that its parameters follow."""

    name: str
    method: str
    n_draws: int = 1
    rule: str = OUR_RULE


PAPERS_ROWS = (
    Row("KD-Fixed", "kd-fixed", PAPERS_DRAWS, PAPERS_RULE),
    Row("KD-PC", "kd-pc", PAPERS_DRAWS, PAPERS_RULE),
    Row("Delta", "delta"),
    Row("WKBV", "wkbv", rule=PAPERS_RULE),
    Row("KBV", "kbv", rule=PAPERS_RULE),
)
MANY_DRAWS = f"KD-PC, {OUR_DRAWS} draws"
MORE_DRAWS = Row(MANY_DRAWS, "kd-pc", OUR_DRAWS, PAPERS_RULE)


class Effort(NamedTuple):
    """How many values of a parameter are tried, with how many draws each."""

    n_values: int = 12
    tuning_draws: int = 30
    most_draws: int = OUR_DRAWS


def effort(quick):
    """Return the effort of a full or of a quick run."""
    return Effort(3, 5, QUICK_DRAWS) if quick else Effort()


def tagger_of(learner, split, name):
    """Return a learner with the parameter that Table 2 has chosen for that set."""
    tagger, parameter, _ = LEARNERS_OF_TABLE2[IN_TABLE2[learner]]
    sets = json.loads(TABLE2.read_text("utf-8"))["table2"]["sets"]
    tuned = sets.get(name, {}).get("tuning", {}).get(IN_TABLE2[learner])
    chosen = {parameter: tuned["chosen"]} if tuned else {}
    return clone(tagger).set_params(max_iter=PASSES, random_state=split, **chosen)


def rows_of(learner):
    """Return the rows that a learner can serve."""
    if learner == CRF:
        return ()
    without_variance = learner.startswith(PA)
    return [
        row
        for row in (*PAPERS_ROWS, MORE_DRAWS)
        if not (without_variance and METHODS[row.method].needs_variance)
    ]


def conditions(quick):
    """Return what all rows depend on: results under others are not used.

    The library is no part of it: empty the cache when a method has changed.
    """
    return {"passes": PASSES, "effort": list(effort(quick))}


# ---- What the confidences of one set of test words are worth ----

RANKED = np.arange(0, 5001, 100)
N_BINS = 20
SCALARS = ("ap", "rmse", "errors", *(f"left_{n}" for n in REVIEWED), "area")


def measure(confidence, correct, probability):
    """Return all figures and curves of one method.

    ``ap``: average precision of finding wrong words; ``rmse`` over 20 bins;
    ``errors`` in all; ``left_n``: errors left after n words are reviewed; ``area``
    under risk-coverage; ``found`` among the first `RANKED`.
    """
    found = {
        "ap": error_average_precision(correct, confidence),
        "rmse": centerd_rmse(correct, confidence) if probability else None,
        "errors": int(np.sum(~correct)),
        "area": area_under_risk_coverage(correct, confidence),
        "found": errors_at_k(correct, confidence, RANKED).tolist(),
        "bins": _bins(confidence, correct) if probability else None,
    }
    left = residual_errors_at_k(correct, confidence, np.array(REVIEWED)).tolist()
    found |= {f"left_{n}": value for n, value in zip(REVIEWED, left, strict=True)}
    return found


def _bins(confidence, correct):
    """Return how many words each bin holds, and how many of them are right."""
    bins = calibration_bins(correct, confidence, strategy="uniform", claim="center")
    place = np.rint(N_BINS * bins.confidence - 0.5).astype(int)
    count, right = np.zeros((2, N_BINS), dtype=int)
    count[place] = bins.count
    right[place] = np.rint(bins.count * bins.accuracy)
    return {"count": count.tolist(), "right": right.tolist()}


# ---- One learner on one split of one set: fit, tune, measure ----

# The held-out quarter of a training part is cut by its own seed.
TUNING_SEED = 1000


def run_trial(name, split, learner, settings, kept):
    """Return the rows of a learner on a split, and what was chosen on the way.

    Rows that an earlier run has kept are taken over, if they were made the same way.
    """
    if learner == CRF:
        correct, confidence = crf_answers(name, split, settings)
        return {"rows": {CRF: measure(confidence, correct, True)}}
    missing = [row for row in rows_of(learner) if not _is_kept(row, kept)]
    if kept and not missing:
        return kept
    started = time.perf_counter()
    X, y, X_test, y_test = _problem(name, split, settings)
    say = f"confidence: {name}, split {split}, {learner}"
    progress(f"{say}: tuning")
    new = partial(tagger_of, learner, split, name)
    tuned = _tune(X, y, split, new, missing, effort(settings.quick))
    progress(f"{say}: measuring")
    tagger = new().fit(X, y)
    rows = _measure_rows(tagger, tuned, X_test, y_test, missing, settings.quick)
    trial = {"rows": kept.get("rows", {}) | rows, "tuned": kept.get("tuned", {})}
    for rule, chosen in tuned.items():
        trial["tuned"][rule] = trial["tuned"].get(rule, {}) | chosen
    tagger.confidence_ = trial["tuned"][PAPERS_RULE]
    trial["inference"] = kept.get("inference") or _inference(
        tagger, X_test, y_test, learner, settings.quick
    )
    trial["seconds"] = kept.get("seconds", 0.0) + time.perf_counter() - started
    return trial


def _is_kept(row, kept):
    return kept.get("rows", {}).get(row.name, {}).get("made_by") == list(row)


@cache
def _corpus(name, data_home, quick):
    return load_paper_set(name, data_home, quick)


def _problem(name, split, settings):
    """Return features and labels of the training and of the test part."""
    corpus = _corpus(name, settings.data_home, settings.quick)
    train, test = map(corpus.part, three_quarters(len(corpus.tokens), split))
    features = WindowFeatures(lines_of(corpus))
    X = features.fit_transform(train.tokens)
    return (
        X,
        object_rows(train.labels),
        features.transform(test.tokens),
        object_rows(test.labels),
    )


def _tune(X, y, split, new, rows, effort):
    """Return, by rule and method, what suits a quarter of the training part best.

    The copy that is judged has learned from the other three quarters. Values are in
    units of the model, so they serve the model that learns from all.
    """
    wanted = {(row.rule, row.method) for row in rows}
    wanted = sorted(one for one in wanted if METHODS[one[1]].tunes)
    if not wanted:
        return {}
    kept, held_out = three_quarters(len(y), TUNING_SEED + split)
    tagger = new().fit(X[kept], y[kept])
    tuned = {}
    for rule, method in wanted:
        tagger.fit_confidence(
            X[held_out],
            y[held_out],
            method,
            metric=rule,
            n_values=effort.n_values,
            n_draws=effort.tuning_draws,
        )
        tuned.setdefault(rule, {})[method] = tagger.confidence_[method]
    return tuned


def _measure_rows(tagger, tuned, X, y, rows, quick):
    most = effort(quick).most_draws
    correct = np.concatenate(token_correct(y, tagger.predict(X)))
    found = {RANDOM: measure(np.zeros(len(correct)), correct, False)}
    for row in rows:
        tagger.confidence_ = tuned.get(row.rule, {})
        started = time.perf_counter()
        drawn = {"n_draws": min(row.n_draws, most)} if METHODS[row.method].draws else {}
        confidence = tagger.predict_confidence(X, row.method, **drawn)
        seconds = time.perf_counter() - started
        probability = METHODS[row.method].probability
        found[row.name] = {
            "made_by": list(row),
            "seconds": seconds,
            **measure(np.concatenate(confidence), correct, probability),
        }
    return found


def _inference(tagger, X, y, learner, quick):
    """Return scores of the best labeling, and of the labels most draws vote for."""
    n_draws = min(PAPERS_DRAWS, effort(quick).most_draws)
    found = {"Viterbi": all_scores(y, tagger.predict(X))}
    for fixed in (True,) if learner.startswith(PA) else (False, True):
        voted = tagger.predict_voted(X, unit_variance=fixed, n_draws=n_draws)
        found["KD-Fixed votes" if fixed else "KD-PC votes"] = all_scores(y, voted)
    return found


# ---- All trials, in one process or several ----


def all_trials(settings, learners):
    """Return ``{set: {learner: [trial of each split]}}``."""
    names = paper_sets(settings.data_home)
    tasks = [
        (name, split, learner)
        for split in range(settings.splits)
        for name in names
        for learner in learners
    ]
    # Those of the CRF come last, for they may have to be fitted.
    tasks.sort(key=lambda task: task[2] == CRF)
    trials = {name: {learner: [] for learner in learners} for name in names}
    with process_pool(settings.jobs) as pool:
        mapped = pool.map if pool else map
        answers = mapped(_trial, tasks, [settings] * len(tasks))
        for done, (task, trial) in enumerate(zip(tasks, answers, strict=True), 1):
            name, _, learner = task
            trials[name][learner].append(trial)
            progress(f"confidence: {done} of {len(tasks)} trials")
    return trials


def _trial(task, settings):
    name, split, learner = task
    stored = settings.cache and settings.cache / f"{learner}-{name}-{split}.json"
    wanted = conditions(settings.quick)
    kept = {}
    if stored and stored.exists():
        earlier = json.loads(stored.read_text("utf-8"))
        kept = earlier["trial"] if earlier["conditions"] == wanted else {}
    trial = run_trial(name, split, learner, settings, kept)
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        draft = stored.with_suffix(".draft")
        draft.write_text(json.dumps({"conditions": wanted, "trial": trial}), "utf-8")
        draft.replace(stored)
    return trial
