"""What reranking adds to the training of a tagger."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from common.corpora import load_chunking, load_entities
from common.measure import progress
from common.tables import at_most, format_goals, format_table, number
from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.reranking import RerankedTagger

SIZES, QUICK_SIZES = (1000, 3000, None), (100,)
MADE_SENTENCES = 9000
# Bases take so little time that one run of them says nothing.
BASE_RUNS = 3
COLUMNS = ("corpus", "sentences", "base s", "reranked s", "ratio", "reranks")
NOTE = """\
CPU seconds of the process, medians over the seeds: a pipeline of a ready set and CW,
and the same reranked with the defaults, base and all."""


def run(settings):
    """Return seconds of taggers with and without reranking."""
    with threadpool_limits(1):
        rows = [
            _row(settings.seeds, corpus, features, X[:size], y[:size])
            for corpus, features, X, y in _corpora(settings)
            for size in (QUICK_SIZES if settings.quick else SIZES)
        ]
    found = {"quick": settings.quick, "seeds": settings.seeds, "rows": rows}
    worst = max(row["reranked"] / row["base"] for row in rows)
    return {**found, "goals": [at_most("largest ratio", worst, 12)]}


def _corpora(settings):
    """Yield names, ready sets, sentences and labels."""
    n = QUICK_SIZES[0] if settings.quick else MADE_SENTENCES
    yield "made", "ner", *make_tagged_corpus(n, random_state=0, return_X_y=True)
    home, quick = settings.data_home, settings.quick
    if home is None:
        return
    for name in ("conll2002-es", "conll2002-nl"):
        train = load_entities(home, name, quick)["train"]
        yield name, "ner", train.tokens, train.labels
    (train,) = load_chunking(home, quick, ("train",))
    yield "conll2000", "chunking", train.tokens, train.labels


def _row(seeds, corpus, features, X, y):
    bases, reranked, reranks = [], [], []
    for seed in range(seeds):
        progress(f"reranking: {corpus}, {len(X)} sentences, run {seed + 1} of {seeds}")
        base = make_tagging_pipeline(features, CWSequenceTagger(random_state=seed))
        bases += [_seconds(base, X, y) for _ in range(BASE_RUNS)]
        tagger = RerankedTagger(base)
        reranked.append(_seconds(tagger, X, y))
        reranks.append(tagger.reranks_)
    return {
        "corpus": corpus,
        "sentences": len(X),
        "base": float(np.median(bases)),
        "reranked": float(np.median(reranked)),
        "reranks": sum(reranks),
    }


def _seconds(tagger, X, y):
    began = time.process_time()
    tagger.fit(X, y)
    return time.process_time() - began


def render(found):
    """Return the table."""
    rows = [
        (
            row["corpus"],
            f"{row['sentences']:,}",
            number(row["base"], ".2f"),
            number(row["reranked"], ".2f"),
            number(row["reranked"] / row["base"], ".1f"),
            f"{row['reranks']} of {found['seeds']}",
        )
        for row in found["rows"]
    ]
    title = f"Reranking ({found['seeds']} seeds)"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(COLUMNS, rows), NOTE, goals])
