"""How much faster two workers are: a pass in shards, all of `fit`, several models."""

import time

import joblib
import numpy as np

from common.corpora import load_chunking
from common.measure import progress
from common.tables import at_least, at_most, format_goals, format_table, number
from skcw import CWSequenceTagger
from skcw.data import SequenceEncoder
from studies.shards import made

TOKENS, QUICK_TOKENS = 2_000_000, 20_000
REPEATS, MODELS = 5, 8
TIMES_FASTER, MOST_OF_ONE = 1.6, 0.55
# joblib's backend and the number of workers.
WORKERS = (("threading", 1), ("threading", 2), ("loky", 2))
NOTE = """\
CW at its defaults on data that is encoded; seconds of the clock, the least of {repeats}
runs that take turns. In shards: one worker learns in one piece, two have a shard each;
a pass is the median of those after the first, which opens the shards. Models: as many
trainings, averaged, by one worker and by two."""


def seconds(data, backend, n_jobs, n_shards, n_models):
    """Return the seconds of a pass, and those of all of `fit`."""
    tagger = CWSequenceTagger(n_models=n_models, n_jobs=n_jobs, random_state=0)
    began = time.perf_counter()
    with joblib.parallel_config(backend):
        tagger.fit(*data, n_shards=n_shards)
    whole = time.perf_counter() - began
    return np.median([record["seconds"] for record in tagger.history_[1:]]), whole


def compared(data, repeats, sharded):
    """Return the least seconds of a pass and of `fit` by each kind of workers."""
    tasks = [
        (backend, n_jobs, n_jobs if sharded else 1, 1 if sharded else MODELS)
        for backend, n_jobs in WORKERS
    ]
    runs = [[seconds(data, *task) for task in tasks] for _ in range(repeats)]
    return np.min(runs, axis=0).T.tolist()


def run(settings):
    """Return the seconds of one worker, of two threads and of two processes."""
    n_tokens = QUICK_TOKENS if settings.quick else TOKENS
    repeats = 1 if settings.quick else REPEATS
    train, _ = load_chunking(settings.data_home, settings.quick)
    chunking = SequenceEncoder().fit_transform(train.features()), train.labels
    rows, goals = [], []
    for name, data in {f"{n_tokens:,}": made(n_tokens), "CoNLL-2000": chunking}.items():
        progress(f"workers on {name}")
        a_pass, fit = compared(data, repeats, sharded=True)
        _, models = compared(data, repeats, sharded=False)
        rows += [
            {"data": name, "what": what, "seconds": own}
            for what, own in (("pass", a_pass), ("fit", fit), ("models", models))
        ]
        if name != "CoNLL-2000":
            # Its passes take less time than their merge.
            for what, (one, *two) in (("a pass", a_pass), ("fit", fit)):
                goals.append(at_least(what, one / min(two), TIMES_FASTER, ".2f"))
        share = min(models[1:]) / models[0]
        what = f"share of the time of one, {MODELS} models, {name}"
        goals.append(at_most(what, share, MOST_OF_ONE, ".2f"))
    return {"rows": rows, "repeats": repeats, "goals": goals, "quick": settings.quick}


def render(found):
    """Return the table and the goals."""
    header = ("data", "what", "s, one", "s, two threads", "s, two processes", "times")
    rows = [
        (
            row["data"],
            row["what"],
            *(number(s, ".3f") for s in row["seconds"]),
            number(row["seconds"][0] / min(row["seconds"][1:]), ".2f"),
        )
        for row in found["rows"]
    ]
    return "\n\n".join(
        [
            "Two workers",
            format_table(header, rows),
            NOTE.format(repeats=found["repeats"]),
            format_goals(found["goals"], found["quick"]),
        ]
    )
