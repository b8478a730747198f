"""How much faster two processes train, what travels, and what a pass costs."""

import time

import joblib
import numpy as np
from _measure import progress
from _tables import at_least, format_goals, format_table, number

from skcw import CWSequenceTagger
from skcw.data import SequenceBatch

SHARDS = (2, 4, 16, 64)
PASSES = 4
N_TOKENS = {False: 2_000_000, True: 20_000}
LENGTH, FEATURES, LABELS = 25, 20, 20
GOAL = 1.6
NOTE = """\
A corpus that is made: sentences of 25 tokens with 20 of 200,000 features each, some of
which tell one of 20 labels. Seconds of a pass are the median of the passes after the
first, which opens the shards; training alone, encoding and confidence left out. Two
processes are workers of loky. Bytes are those of the second pass."""


def made(n_tokens):
    """Return an encoded corpus and its labels."""
    rng = np.random.default_rng(0)
    n = n_tokens // LENGTH * LENGTH
    labels = rng.integers(LABELS, size=n)
    features = (rng.pareto(0.8, (n, FEATURES)) * 50).astype(np.int64) % 200_000
    told = rng.random(n) < 0.8
    features[told, 0] = 200_000 + labels[told] * 50 + rng.integers(50, size=told.sum())
    batch = SequenceBatch(
        np.arange(0, n + 1, LENGTH),
        np.arange(0, n * FEATURES + 1, FEATURES),
        np.sort(features, axis=1).ravel().astype(np.int32),
        None,
        201_000,
    )
    names = np.array([f"L{k:02}" for k in range(LABELS)], dtype=object)
    return batch, [row.tolist() for row in names[labels].reshape(-1, LENGTH)]


def passes(data, n_shards):
    """Return the median seconds of a pass, CPU seconds of this process, the history."""
    tagger = CWSequenceTagger(
        n_shards=n_shards, max_iter=PASSES, learn_confidence=False, random_state=0
    )
    began = time.process_time()
    tagger.set_params(learn_unknown=False, constraints=None).fit(*data)
    cpu = time.process_time() - began
    seconds = [record["seconds"] for record in tagger.history_[1:]]
    return float(np.median(seconds)), cpu, tagger.history_[1]


def run(settings):
    """Return the seconds of a pass in one piece, in shards, and by two processes."""
    data = made(N_TOKENS[settings.quick])
    n_tokens = int(data[0].n_tokens)
    progress("a pass in one piece")
    alone, cpu, _ = passes(data, 1)
    rows = {"1": {"here": alone, "cpu": cpu}}
    for n_shards in SHARDS[:2] if settings.quick else SHARDS:
        progress(f"a pass in {n_shards} shards")
        here, cpu, history = passes(data, n_shards)
        with joblib.parallel_config("loky", n_jobs=2):
            there, driver, _ = passes(data, n_shards)
        rows[str(n_shards)] = {
            "here": here,
            "cpu": cpu,
            "two": there,
            "driver": driver,
            "sent": history["bytes_sent"],
            "returned": history["bytes_returned"],
        }
    best = max(alone / row["two"] for row in rows.values() if "two" in row)
    return {
        "tokens": n_tokens,
        "rows": rows,
        "goals": [at_least("times as fast with two processes", best, GOAL, ".2f")],
        "quick": settings.quick,
    }


def render(found):
    """Return the table and the goal."""
    header = (
        "shards", "s a pass, here", "s, two processes", "CPU s in all, here",
        "CPU s of the driver", "MB sent", "MB returned",
    )  # fmt: skip
    rows = [
        (
            n,
            number(row["here"], ".3f"),
            number(row.get("two"), ".3f"),
            number(row["cpu"], ".1f"),
            number(row.get("driver"), ".1f"),
            number(row.get("sent", 0) / 1e6, ".1f"),
            number(row.get("returned", 0) / 1e6, ".1f"),
        )
        for n, row in found["rows"].items()
    ]
    title = f"A pass over {found['tokens']:,} tokens"
    goals = format_goals(found["goals"], found["quick"])
    return f"{title}\n\n{format_table(header, rows)}\n\n{NOTE}\n\n{goals}"
