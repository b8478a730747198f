"""All trials, in one process or several; what is done is kept and not done again."""

import json

from _confidence_protocol import CRF, LEARNERS, conditions
from _confidence_trial import run_trial
from _corpora import paper_sets
from _measure import progress
from _runner import process_pool


def all_trials(settings, learners=LEARNERS):
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
