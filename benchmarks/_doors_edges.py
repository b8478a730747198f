"""Transitions that look at words: templates of CRF++ with and without B lines."""

import time

import numpy as np
from _corpora import has_corpora, load_chunking, load_entities
from _measure import added_memory, in_fresh_process, progress
from _scores import span_scores
from _tables import format_table, number

from skcw import CWSequenceTagger
from skcw.features import WindowFeatures

# The template that CRF++ brings for chunks.
TEMPLATE = [
    *(f"U0{n}:%x[{at},0]" for n, at in enumerate(range(-2, 3))),
    "U05:%x[-1,0]/%x[0,0]",
    "U06:%x[0,0]/%x[1,0]",
    *(f"U{10 + n}:%x[{at},1]" for n, at in enumerate(range(-2, 3))),
    *(f"U{15 + n}:%x[{at},1]/%x[{at + 1},1]" for n, at in enumerate(range(-2, 2))),
    *(
        f"U{20 + n}:%x[{at},1]/%x[{at + 1},1]/%x[{at + 2},1]"
        for n, at in enumerate(range(-2, 1))
    ),
    "B",
]
STEPS = ["B01:%x[0,0]", "B02:%x[0,1]", "B03:%x[-1,1]/%x[0,1]", "B04:%x[-1,0]"]
WAYS = {"B": [], "B and B...%x": STEPS}
CORPORA, MADE = ("CoNLL-2000", "Spanish"), ("made",)
NOTE = f"""\
Span F1 of CW on the test set, mean over the seeds, with the template of CRF++ for
chunks (words and parts of speech at -2 to 2, their pairs and triples) and the bare B,
and with four more lines: {", ".join(STEPS[:2])},
{", ".join(STEPS[2:])}. CPU seconds (medians), from words: training as it
comes, and tagging the test set. Memory is what training adds at its peak, in a process
of its own."""


def run(settings):
    """Return the scores, seconds and megabytes of both templates."""
    rows = []
    for corpus in CORPORA if has_corpora(settings.data_home) else MADE:
        for way, steps in WAYS.items():
            progress(f"transitions: {corpus}, {way}")
            given = (corpus, settings.data_home, settings.quick, [*TEMPLATE, *steps])
            found = [_measured(*given, seed) for seed in range(settings.seeds)]
            row = {
                key: float(np.median([one[key] for one in found])) for key in found[0]
            }
            row["f1"] = float(np.mean([one["f1"] for one in found]))
            row["megabytes"] = in_fresh_process(_memory, *given)
            rows.append({"corpus": corpus, "lines": way, **row})
    return {"rows": rows, "seeds": settings.seeds}


def _load(corpus, data_home, quick):
    if corpus == "Spanish":
        parts = load_entities(data_home, "conll2002-es", quick)
        return parts["train"], parts["test"]
    return load_chunking(data_home, quick)


def _trained(train, lines, seed):
    window = WindowFeatures(lines)
    batch = window.fit_transform(train.tokens)
    return window, CWSequenceTagger(random_state=seed).fit(batch, train.labels)


def _measured(corpus, data_home, quick, lines, seed):
    train, test = _load(corpus, data_home, quick)
    began = time.process_time()
    window, tagger = _trained(train, lines, seed)
    learned = time.process_time()
    predicted = tagger.predict(window.transform(test.tokens))
    return {
        "f1": span_scores(test.labels, predicted)["f1"],
        "train": learned - began,
        "tag": time.process_time() - learned,
    }


def _memory(corpus, data_home, quick, lines):
    train, _ = _load(corpus, data_home, quick)
    return added_memory(lambda: _trained(train, lines, 0))


def render(found):
    """Return the table."""
    header = ("corpus, lines", "F1", "train, s", "tag, s", "memory, MB")
    forms = {"f1": ".4f", "train": ".1f", "tag": ".2f", "megabytes": ".0f"}
    rows = [
        (
            f"{row['corpus']}, {row['lines']}",
            *(number(row[key], form) for key, form in forms.items()),
        )
        for row in found["rows"]
    ]
    title = f"Transitions that look at words ({found['seeds']} seeds)"
    return f"{title}\n\n{format_table(header, rows)}\n\n{NOTE}"
