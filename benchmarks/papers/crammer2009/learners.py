"""Every learner on the folds of every set, in one process or several.

What is done is kept, in memory and in the cache folder, and not done again.
"""

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import skcw
from common.measure import centerd_rmse, progress
from common.rows import (
    AMAZON,
    ENRON_A,
    ENRON_B,
    FOLD_SEED,
    NEWS,
    REUTERS,
    folds_of,
    load_rows,
)
from common.runner import process_pool
from skcw import MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron

# ---- The learners of Tables 2 and 3, and between which values one may choose ----

PASSES, QUICK_PASSES = 10, 2
PERCEPTRON, PA_1, PA_5 = "perceptron", "PA k=1", "PA k=5"
CW_1, CW_5, CW_ALL = "CW k=1", "CW k=5", "CW all"
PARALLEL, EXACT = "CW all, parallel", "CW all, exact"
SVM_PAIRS, SVM_MC, MAXENT = "SVM 1-vs-1", "SVM MC", "maxent"
AROW, DEFAULTS = "AROW", "CW by default"

ONLINE_BASELINES = (PERCEPTRON, PA_1, PA_5)
BASELINES = (*ONLINE_BASELINES, SVM_PAIRS, SVM_MC, MAXENT)
PAPERS_CW = (CW_1, CW_5, CW_ALL)
TABLE_2 = (CW_ALL, PARALLEL, EXACT)
TABLE_3 = (*ONLINE_BASELINES, *PAPERS_CW, SVM_PAIRS, SVM_MC, MAXENT)
BESIDE = (AROW, DEFAULTS)

ETAS = (0.53, 0.6, 0.75, 0.9, 0.99)
# A step of PA on a row of 150 ones is never longer than 1/300.
PA_LIMITS = (0.001, 0.003, 0.01, 0.1, 1.0)
AROW_RS = (0.1, 1.0, 10.0, 100.0, 1000.0)
SVM_CS = (0.001, 0.01, 0.1, 1.0)
MAXENT_CS = (0.01, 0.1, 1.0, 10.0)
# Enough for all of these to converge; a warning that one does not stops the run.
MOST_ITERATIONS = 1_000_000


@dataclass(frozen=True)
class Learner:
    """A classifier for each value of its parameter."""

    make: Callable
    values: tuple = (None,)
    online: bool = True
    # A slow one keeps what was chosen inside the first fold.
    slow: bool = False
    tuned: bool = True

    def grid(self, quick):
        """Return the values to choose from."""
        if quick:
            return self.values[: 1 if self.slow else 2]
        return self.values


def _cw(eta, **options):
    """Return CW as in the paper, whatever the defaults of the class are."""
    options = {"update": "sequential", "n_rivals": "all"} | options
    return MultiClassCW(
        norm.ppf(eta),
        C=np.inf,
        step="variance",
        bound="outer",
        diagonal="precision",
        initial_variance=1.0,
        variance_scale=1.0,
        averaging=False,
        **options,
    )


LEARNERS = {
    PERCEPTRON: Learner(lambda _: MultiClassPerceptron()),
    PA_1: Learner(partial(MultiClassPA, n_rivals=1), PA_LIMITS),
    PA_5: Learner(partial(MultiClassPA, n_rivals=5), PA_LIMITS),
    CW_1: Learner(partial(_cw, update="single", n_rivals=1), ETAS),
    CW_5: Learner(partial(_cw, n_rivals=5), ETAS),
    CW_ALL: Learner(_cw, ETAS),
    PARALLEL: Learner(partial(_cw, update="parallel"), ETAS),
    EXACT: Learner(partial(_cw, update="exact"), ETAS, slow=True),
    AROW: Learner(MultiClassAROW, AROW_RS),
    DEFAULTS: Learner(lambda _: MultiClassCW(), tuned=False),
    SVM_PAIRS: Learner(
        lambda C: OneVsOneClassifier(LinearSVC(C=C, max_iter=MOST_ITERATIONS)),
        SVM_CS,
        online=False,
        slow=True,
    ),
    SVM_MC: Learner(
        lambda C: LinearSVC(
            C=C, multi_class="crammer_singer", max_iter=MOST_ITERATIONS
        ),
        SVM_CS,
        online=False,
        slow=True,
    ),
    MAXENT: Learner(
        lambda C: LogisticRegression(C=C, tol=1e-3, max_iter=MOST_ITERATIONS),
        MAXENT_CS,
        online=False,
        slow=True,
    ),
}


# ---- Figures of Crammer ----

# Instances, features and labels, Table 1.
SIZES = {
    "20 News": (18_828, 252_115, 20),
    "Amazon 7": (13_580, 686_724, 7),
    "Amazon 3": (7_000, 494_481, 3),
    "Enron A": (3_000, 13_559, 10),
    "Enron B": (3_000, 18_065, 10),
    "NYTD": (10_000, 108_671, 26),
    "NYTO": (10_000, 108_671, 34),
    "NYTS": (10_000, 114_316, 20),
    "Reuters (RCV1)": (4_000, 23_699, 4),
}
# Accuracy in percent: sequential, parallel, exact.
_TABLE_2 = {
    "20 News": (92.16, 91.41, 88.08),
    "Amazon 7": (77.98, 78.35, 77.92),
    "Amazon 3": (93.54, 93.81, 93.00),
    "Enron A": (82.40, 81.30, 77.07),
    "Enron B": (71.80, 72.13, 68.00),
    "NYTD": (83.43, 81.43, 80.92),
    "NYTO": (82.02, 78.67, 80.60),
    "NYTS": (52.96, 54.78, 51.62),
    "Reuters (RCV1)": (93.60, 93.97, 93.47),
}
# Perceptron; PA k = 1, 5; CW k = 1, 5, all; SVM 1-vs-1, SVM multi-class; maxent.
_TABLE_3 = {
    "20 News": (81.07, 88.59, 88.60, 92.90, 92.78, 92.16, 85.18, 90.33, 88.94),
    "Amazon 7": (74.93, 76.55, 76.72, 78.70, 78.04, 77.98, 75.11, 76.60, 76.40),
    "Amazon 3": (92.26, 92.47, 93.29, 94.01, 94.29, 93.54, 92.83, 93.60, 93.60),
    "Enron A": (74.23, 79.27, 80.77, 83.83, 82.23, 82.40, 80.23, 82.60, 82.80),
    "Enron B": (66.30, 69.93, 68.90, 73.57, 72.27, 71.80, 65.97, 71.87, 69.47),
    "NYTD": (80.67, 83.12, 81.31, 84.57, 83.94, 83.43, 82.95, 82.00, 83.54),
    "NYTO": (78.47, 81.93, 81.22, 82.72, 82.55, 82.02, 82.13, 81.01, 82.53),
    "NYTS": (50.80, 56.19, 55.04, 54.67, 54.26, 52.96, 55.81, 56.74, 53.82),
    "Reuters (RCV1)": (92.10, 93.12, 93.30, 93.60, 93.67, 93.60, 92.97, 93.32, 93.40),
}
_MARKS = {
    "20 News": ("**", "**", "**"),
    "Amazon 7": ("**", "**", "**"),
    "Amazon 3": ("†", "**", ""),
    "Enron A": ("††", "†", "†"),
    "Enron B": ("**", "**", "**"),
    "NYTD": ("**", "*", ""),
    "NYTO": ("†", "†", ""),
}
# Our set -> those of the paper beside which it stands, the same or of the same kind.
COUNTERPARTS = {
    NEWS: ("20 News",),
    AMAZON: ("Amazon 7", "Amazon 3"),
    ENRON_A: ("Enron A",),
    ENRON_B: ("Enron B",),
    REUTERS: ("Reuters (RCV1)",),
}
# Mean number of passes chosen, over all sets.
PAPERS_PASSES = {CW_1: 6.67, CW_5: 2.22, CW_ALL: 4.33, PARALLEL: 7.56, EXACT: 1.25}
# Mean probability of right and of wrong predictions on Enron B.
PROBABILITIES = {CW_1: (0.75, 0.44), MAXENT: (0.83, 0.56)}


def papers_sets(names):
    """Return the paper's sets that stand beside ours, and those that none does."""
    beside = [one for name in names for one in COUNTERPARTS.get(name, ())]
    return beside, [one for one in SIZES if one not in beside]


def papers_accuracy(one, learner):
    """Return the paper's accuracy in percent, or None, and its marks."""
    if learner in TABLE_3:
        mark = ""
        if learner in PAPERS_CW and one in _MARKS:
            mark = _MARKS[one][PAPERS_CW.index(learner)]
        return _TABLE_3[one][TABLE_3.index(learner)], mark
    if learner in TABLE_2:
        return _TABLE_2[one][TABLE_2.index(learner)], ""
    return None, ""


# ---- Every learner on the folds of every set, in one process or several ----

HELD_OUT = 0.15
_done = {}


def trials_of(names, learners, settings):
    """Return ``{set: {learner: [trial of each fold]}}``."""
    tasks = [(name, learner) for name in names for learner in learners]
    open_tasks = [task for task in tasks if (task, settings) not in _done]
    # The slow ones first: no process waits long for the last of another.
    open_tasks.sort(key=lambda task: not LEARNERS[task[1]].slow)
    with process_pool(settings.jobs) as pool:
        mapped = pool.map if pool and len(open_tasks) > 1 else map
        answers = mapped(_cached, open_tasks, [settings] * len(open_tasks))
        for number, (task, found) in enumerate(zip(open_tasks, answers, strict=True)):
            _done[task, settings] = found
            progress(f"{', '.join(task)}: {number + 1} of {len(open_tasks)} done")
    return {
        name: {one: _done[(name, one), settings] for one in learners} for name in names
    }


def _cached(task, settings):
    name, learner = task
    file = f"{name}-{learner}.json".replace(" ", "-").replace(",", "")
    stored = settings.cache and settings.cache / file
    wanted = _conditions(name, learner, settings)
    if stored and stored.exists():
        earlier = json.loads(stored.read_text("utf-8"))
        if earlier["conditions"] == wanted:
            return earlier["trials"]
    with threadpool_limits(1), warnings.catch_warnings():
        # What has not converged is no peer.
        warnings.simplefilter("error", ConvergenceWarning)
        trials = _run(name, LEARNERS[learner], settings)
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        draft = stored.with_suffix(".draft")
        draft.write_text(json.dumps({"conditions": wanted, "trials": trials}), "utf-8")
        draft.replace(stored)
    return trials


def _conditions(name, learner, settings):
    """Return what a trial depends on, to tell whether a stored one still holds."""
    learner = LEARNERS[learner]
    return {
        "skcw": skcw.__version__,
        "folds": [len(folds_of(name, settings)), settings.folds, FOLD_SEED],
        "held_out": HELD_OUT,
        "passes": _passes(settings.quick),
        "grid": list(learner.grid(settings.quick)),
        "model": {
            key: str(value)
            for key, value in learner.make(learner.values[0]).get_params().items()
        },
    }


def _passes(quick):
    return QUICK_PASSES if quick else PASSES


def _run(name, learner, settings):
    rows = load_rows(name, settings.data_home, settings.quick)
    trials, chosen = [], None
    for fold, (train, test) in enumerate(folds_of(name, settings)):
        X, y = rows.X[train], rows.y[train]
        if chosen is None or not learner.slow:
            chosen = _choose(learner, X, y, fold, settings.quick)
        learn = _learn_online if learner.online else _learn_at_once
        model = learner.make(chosen["value"])
        data = X, y, rows.X[test], rows.y[test]
        passes = max(chosen["passes"], _passes(settings.quick))
        found = learn(model, data, chosen["passes"], passes, fold)
        trials.append({"fold": fold, **chosen, **found})
    return trials


def _choose(learner, X, y, seed, quick):
    """Choose the value, and the number of passes, on held-out training rows."""
    if not learner.tuned:
        return {"value": None, "passes": learner.make(None).max_iter}
    tried = []
    for value in learner.grid(quick):
        model = learner.make(value)
        judge = _score_passes if learner.online else _score
        for passes, accuracy in judge(model, X, y, seed, _passes(quick)):
            tried.append({"value": value, "passes": passes, "held_out": accuracy})
    # Of equals the one with the fewest passes, then the first value.
    return max(tried, key=lambda one: (one["held_out"], -one["passes"]))


def _score_passes(model, X, y, seed, passes):
    """Return (passes, accuracy on held-out rows) for every number of passes."""
    model.set_params(
        max_iter=passes,
        early_stopping={
            "validation_fraction": HELD_OUT,
            "n_iter_no_change": passes,
        },
        random_state=seed,
    )
    history = model.fit(X, y).history_
    return [(record["epoch"], record["dev_score"]) for record in history]


def _score(model, X, y, seed, _):
    kept, held_out = train_test_split(
        np.arange(len(y)), test_size=HELD_OUT, random_state=seed
    )
    return [(1, model.fit(X[kept], y[kept]).score(X[held_out], y[held_out]))]


def after_passes(model, X, y, passes, seed):
    """Train pass by pass and give the model after each of them.

    With a generator, not a seed, every pass has an order of its own.
    """
    model.set_params(random_state=np.random.RandomState(seed))
    classes = np.unique(y)
    for _ in range(passes):
        yield model.partial_fit(X, y, classes=classes)


def _learn_online(model, data, chosen, passes, seed):
    """Return labels after the chosen pass, and the accuracy after every one."""
    X, y, X_test, y_test = data
    accuracy = []
    for number, trained in enumerate(after_passes(model, X, y, passes, seed), 1):
        predicted = trained.predict(X_test)
        accuracy.append(float(np.mean(predicted == y_test)))
        if number == chosen:
            answer = predicted.tolist()
    return {"predicted": answer, "after_pass": accuracy}


def _learn_at_once(model, data, *_):
    """Return labels, seconds, and how good the probabilities are where there are."""
    X, y, X_test, y_test = data
    start = time.perf_counter()
    model.fit(X, y)
    found = {"fit_seconds": time.perf_counter() - start}
    if hasattr(model, "predict_proba"):
        probability = model.predict_proba(X_test)
        right = probability.argmax(axis=1) == y_test
        found["log_loss"] = log_loss(y_test, probability, labels=model.classes_)
        found["rmse"] = centerd_rmse(right, probability.max(axis=1))
    return {"predicted": model.predict(X_test).tolist(), **found}
