"""The ready set "chunking" on CoNLL-2000 with labels in IOBES."""

import numpy as np
from _corpora import load_chunking
from _doors_chunking import GOAL, f1, held_out
from _measure import progress
from _tables import at_least, format_goals, format_table, number

FEATURES, SCHEME = "chunking", "IOBES"
NOTE = """\
As the table of ready sets, but labels were converted to IOBES (S- for a chunk of one
word, E- for the last word of a longer one) to learn, and back to be judged."""


def run(settings):
    """Return the scores of labels in IOBES."""
    train, test = load_chunking(settings.data_home, settings.quick)
    progress(f"labels in {SCHEME}")
    seeds = range(settings.seeds)
    one = [f1(FEATURES, train, test, 1, seed, SCHEME) for seed in seeds]
    eight = f1(FEATURES, train, test, 8, 0, SCHEME)
    return {
        "held out": held_out(FEATURES, train, SCHEME),
        "one": float(np.mean(one)),
        "eight": eight,
        "seeds": settings.seeds,
        "goals": [at_least("F1 of the mean of eight", eight, GOAL, ".4f")],
    }


def render(found):
    """Return the table and the goal."""
    scores = [number(found[name], ".4f") for name in ("held out", "one", "eight")]
    header = ("features, labels", "held out", "test, one", "test, eight")
    table = format_table(header, [(f"{FEATURES}, {SCHEME}", *scores)])
    title = f"Chunks with labels in another scheme ({found['seeds']} seeds)"
    return f"{title}\n\n{table}\n\n{NOTE}\n\n{format_goals(found['goals'])}"
