"""The ready set "chunking" on CoNLL-2000, chosen on held-out training sentences."""

import numpy as np
from _corpora import load_chunking
from _measure import progress
from _scores import span_scores
from _tables import at_least, format_goals, format_table, number

from skcw import CWSequenceTagger
from skcw.data import convert_labels
from skcw.features import WindowFeatures
from skcw.features.lines import WORDS

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
        one = [f1(lines, train, test, 1, seed) for seed in range(settings.seeds)]
        rows.append(
            {
                "set": name,
                "held out": held_out(lines, train),
                "one": float(np.mean(one)),
                "eight": f1(lines, train, test, 8, 0),
            }
        )
    goal = at_least("F1 of the mean of eight", rows[-1]["eight"], GOAL, ".4f")
    return {"rows": rows, "seeds": settings.seeds, "goals": [goal]}


def held_out(lines, corpus, scheme=None):
    """Return the mean F1 on quarters of a corpus, of two models trained on the rest."""
    n, scores = len(corpus.tokens), []
    fold = np.arange(n) // (n // 4 + 1)
    for f in range(4):
        learned, held = (np.flatnonzero(fold != f), np.flatnonzero(fold == f))
        rest = corpus.part(learned)
        scores.append(f1(lines, rest, corpus.part(held), 2, 0, scheme))
    return float(np.mean(scores))


def f1(lines, train, test, n_models, seed, scheme=None):
    """Return the F1 on one corpus of models that learned another, in some scheme."""
    window = WindowFeatures(lines)
    batch = window.fit_transform(train.tokens)
    labels = train.labels if scheme is None else convert_labels(train.labels, scheme)
    tagger = CWSequenceTagger(
        n_models=n_models, calibrate_confidence=False, random_state=seed
    ).fit(batch, labels)
    predicted = tagger.predict(window.transform(test.tokens))
    if scheme is not None:
        predicted = convert_labels(predicted, "BIO")
    return span_scores(test.labels, predicted)["f1"]


def render(found):
    """Return the table and the goal."""
    names = ("held out", "one", "eight")
    rows = [(r["set"], *(number(r[n], ".4f") for n in names)) for r in found["rows"]]
    table = format_table(("features", "held out", "test, one", "test, eight"), rows)
    title = f"The ready set for chunks ({found['seeds']} seeds)"
    return f"{title}\n\n{table}\n\n{NOTE}\n\n{format_goals(found['goals'])}"
