"""The ready set "chunking" on CoNLL-2000, chosen on held-out training sentences."""

import numpy as np
from _corpora import load_chunking
from _measure import progress
from _scores import span_scores
from _tables import at_least, format_goals, format_table, number

from skcw import CWSequenceTagger
from skcw.features import WindowFeatures
from skcw.features._sets import WORDS

# The set before: words and parts of speech, suffixes and the shape.
BEFORE = [
    *WORDS,
    "suffix(1..3)",
    "short_shape",
    "pos[-2..2]",
    "bigram(pos)[-2..1]",
    "trigram(pos)[-2..0]",
    "word[-1..1] & pos",
]
SETS = {"before": BEFORE, "chunking": "chunking"}
GOAL = 0.943
NOTE = """\
Span F1 of CW. Held out: a quarter of the training sentences at a time, the mean of two
models, mean over the four quarters; only by this was the set chosen. Test: trained on
all training sentences, one model (mean over the seeds) and the mean of eight."""


def run(settings):
    """Return the scores of both sets."""
    train, test = load_chunking(settings.data_home, settings.quick)
    rows = []
    for name, lines in SETS.items():
        progress(f"chunking: {name}")
        one = [_f1(lines, train, test, 1, seed) for seed in range(settings.seeds)]
        rows.append(
            {
                "set": name,
                "held out": _held_out(lines, train),
                "one": float(np.mean(one)),
                "eight": _f1(lines, train, test, 8, 0),
            }
        )
    goal = at_least("F1 of the mean of eight", rows[-1]["eight"], GOAL, ".4f")
    return {"rows": rows, "seeds": settings.seeds, "goals": [goal]}


def _held_out(lines, corpus):
    n, scores = len(corpus.tokens), []
    fold = np.arange(n) // (n // 4 + 1)
    for f in range(4):
        learnt, held = (np.flatnonzero(fold != f), np.flatnonzero(fold == f))
        scores.append(_f1(lines, corpus.part(learnt), corpus.part(held), 2, 0))
    return float(np.mean(scores))


def _f1(lines, train, test, n_models, seed):
    window = WindowFeatures(lines)
    batch = window.fit_transform(train.tokens)
    tagger = CWSequenceTagger(
        n_models=n_models, learn_confidence=False, random_state=seed
    ).fit(batch, train.labels)
    predicted = tagger.predict(window.transform(test.tokens))
    return span_scores(test.labels, predicted)["f1"]


def render(found):
    """Return the table and the goal."""
    names = ("held out", "one", "eight")
    rows = [(r["set"], *(number(r[n], ".4f") for n in names)) for r in found["rows"]]
    table = format_table(("features", "held out", "test, one", "test, eight"), rows)
    title = f"The ready set for chunks ({found['seeds']} seeds)"
    return f"{title}\n\n{table}\n\n{NOTE}\n\n{format_goals(found['goals'])}"
