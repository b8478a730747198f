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
# How many tokens, and the numbers of shards that are tried on them.
SIZES = {2_000_000: SHARDS, 8_000_000: SHARDS[:1]}
QUICK_SIZES = {20_000: SHARDS[:2]}
LENGTH, LABELS, WORDS, HASHES = 25, 20, 2_500, 1 << 16
GOAL = 1.6
NOTE = """\
A corpus that is made: sentences of 25 tokens, each label followed by one of five
others, words by Zipf's law, a tenth of which belong to two labels. Tokens have 12
features: words and parts of words of a window, and pairs of words, hashed. Seconds of a
pass are the median of the passes after the first, which opens the shards; training
alone, encoding and confidence left out. Two processes are workers of loky. Bytes are
those of the second pass; rivals are the tokens that were learnt from in it."""


def made(n_tokens):
    """Return an encoded corpus and its labels."""
    rng = np.random.default_rng(0)
    n_sentences = n_tokens // LENGTH
    follows = rng.integers(LABELS, size=(LABELS, 5))
    labels = np.empty((n_sentences, LENGTH), dtype=np.int64)
    labels[:, 0] = rng.integers(LABELS, size=n_sentences)
    for t in range(1, LENGTH):
        chosen = rng.choice(5, n_sentences, p=[0.5, 0.2, 0.1, 0.1, 0.1])
        labels[:, t] = follows[labels[:, t - 1], chosen]
    # Zipf's law by the inverse of its distribution function.
    kinds = np.exp(rng.random(labels.shape) * np.log(WORDS)).astype(np.int64)
    indices, n_views = _features(labels * (WORDS * 9 // 10) + kinds)
    n = labels.size
    batch = SequenceBatch(
        np.arange(0, n + 1, LENGTH),
        np.arange(0, n * n_views + 1, n_views),
        indices,
        None,
        n_views * HASHES,
    )
    names = np.array([f"L{k:02}" for k in range(LABELS)], dtype=object)
    return batch, names[labels].tolist()


def _features(words):
    """Return the numbers of the features of all tokens, and how many each has."""
    around = np.pad(words, ((0, 0), (2, 2)), constant_values=WORDS * LABELS)
    window = [around[:, k : k + LENGTH] for k in range(5)]
    pairs = [a * 31 + b * 7919 for a, b in (window[1:3], window[2:4])]
    views = [*window, *pairs, *(view % 500 for view in window)]
    indices = np.empty((*words.shape, len(views)), dtype=np.int32)
    for k, view in enumerate(views):
        indices[..., k] = (view * 2654435761 % 2**32 >> 8) % HASHES + k * HASHES
    return indices.ravel(), len(views)


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
    rows, goals = [], []
    sizes = QUICK_SIZES if settings.quick else SIZES
    for n_tokens, shards in sizes.items():
        data = made(n_tokens)
        progress(f"a pass over {n_tokens:,} tokens")
        alone, cpu, _ = passes(data, 1)
        rows.append({"tokens": n_tokens, "shards": 1, "here": alone, "cpu": cpu})
        own = [_sharded(data, n_shards) for n_shards in shards]
        rows += [{"tokens": n_tokens, **row} for row in own]
        best = max(alone / row["two"] for row in own)
        what = f"times as fast with two processes, {n_tokens:,} tokens"
        goals.append(at_least(what, best, GOAL, ".2f"))
    return {"rows": rows, "goals": goals, "quick": settings.quick}


def _sharded(data, n_shards):
    progress(f"a pass in {n_shards} shards")
    here, cpu, history = passes(data, n_shards)
    with joblib.parallel_config("loky", n_jobs=2):
        there, driver, _ = passes(data, n_shards)
    return {
        "shards": n_shards,
        "here": here,
        "cpu": cpu,
        "two": there,
        "driver": driver,
        "sent": history["bytes_sent"],
        "returned": history["bytes_returned"],
        "rivals": history["rival_tokens"],
    }


def render(found):
    """Return the table and the goals."""
    header = (
        "tokens", "shards", "s a pass, here", "s, two processes", "CPU s in all, here",
        "CPU s of the driver", "MB sent", "MB returned", "rivals",
    )  # fmt: skip
    rows = [
        (
            f"{row['tokens']:,}",
            row["shards"],
            number(row["here"], ".3f"),
            number(row.get("two"), ".3f"),
            number(row["cpu"], ".1f"),
            number(row.get("driver"), ".1f"),
            number(row.get("sent", 0) / 1e6, ".1f"),
            number(row.get("returned", 0) / 1e6, ".1f"),
            number(row.get("rivals"), ",d"),
        )
        for row in found["rows"]
    ]
    goals = format_goals(found["goals"], found["quick"])
    return f"A pass in shards\n\n{format_table(header, rows)}\n\n{NOTE}\n\n{goals}"
