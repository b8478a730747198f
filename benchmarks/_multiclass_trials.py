"""Every learner on the folds of every set, in one process or several.

What is done is kept, in memory and in the cache folder, and not done again.
"""

import json
import time
import warnings

import numpy as np
from _measure import progress
from _multiclass_data import FOLD_SEED, folds_of, load_rows
from _multiclass_learners import LEARNERS, PASSES, QUICK_PASSES
from _runner import process_pool
from _scores import centerd_rmse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import skcw

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
        early_stopping={"validation_fraction": HELD_OUT, "n_iter_no_change": passes},
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
