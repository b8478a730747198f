"""Rerankers with their defaults, from a hundred training sentences to thousands.

`RerankedTagger.fit` chooses on held-out training sentences whether to rerank, and how.
"""

import numpy as np

from common.corpora import MADE
from common.measure import progress
from common.tables import at_least, format_goals, format_table
from papers.collins2002.lists import (
    BASES,
    LANGUAGES,
    base_tagger,
    paper_features,
    read,
    words_of,
)
from skcw.metrics import span_f1_score
from skcw.reranking import (
    AROWReranker,
    BoostingReranker,
    CWReranker,
    RerankedTagger,
    VotedPerceptronReranker,
)
from skcw.reranking.words import lower_case_lexicon

# Sentences to learn from, and how many random samples of them; None takes all.
SIZES, QUICK_SIZES = {100: 2, 300: 2, 1000: 2, None: 1}, {None: 1}
MOST_TESTED = 1000
# MaxEnt takes long, and is in the tables at full size.
MOST_OF_MAXENT = 1000
RERANKERS = {
    "boosting": BoostingReranker(random_state=0),
    "voted perceptron": VotedPerceptronReranker(),
    "CW": CWReranker(random_state=0),
    "AROW": AROWReranker(random_state=0),
}
NOTE = """\
F1 of the base tagger in percent, what each reranker adds, and the evidence on held-out
training sentences in standard deviations ("-": labels are left as they are)."""


def run(settings):
    """Return base and reranked F1 for all corpora and sizes."""
    is_quick = settings.quick or settings.data_home is None
    corpora, sizes = ([MADE], QUICK_SIZES) if is_quick else (LANGUAGES, SIZES)
    rows = [row for name in corpora for row in _of_corpus(name, sizes, settings)]
    return {"quick": settings.quick, "rows": rows}


def _of_corpus(name, sizes, settings):
    (X, y), test = (read(name, settings, subset) for subset in ("train", "test"))
    test = tuple(part[:MOST_TESTED] for part in test)
    for size, n_samples in sizes.items():
        n = min(size or len(y), len(y))
        for seed in range(n_samples):
            chosen = np.sort(np.random.RandomState(seed).permutation(len(y))[:n])
            some = [X[i] for i in chosen], [y[i] for i in chosen]
            with_maxent = n <= MOST_OF_MAXENT and not seed and not settings.quick
            for base in BASES if with_maxent else ["CW"]:
                progress(f"sizes: {name}, {base}, {n} sentences, sample {seed}")
                row = {"corpus": name, "tagger": base, "size": n, "seed": seed}
                yield row | _sample(base, some, test)


def _sample(base, train, test):
    """Return F1 of the base tagger, and what each reranker adds to it."""
    (X, y), (X_test, y_test) = train, test
    if base == "MaxEnt":
        lexicon = lower_case_lexicon(words_of(X))
        X, X_test = (
            [paper_features(row, lexicon) for row in words_of(part)]
            for part in (X, X_test)
        )
    found = {"rerankers": {}}
    for name, reranker in RERANKERS.items():
        tagger = RerankedTagger(base_tagger(base), reranker).fit(X, y)
        found["base"] = 100 * span_f1_score(y_test, tagger.estimator_.predict(X_test))
        f1 = 100 * span_f1_score(y_test, tagger.predict(X_test))
        evidence = max(trial.evidence for trial in tagger.trials_)
        found["rerankers"][name] = {
            "gain": f1 - found["base"],
            "evidence": float(evidence) if tagger.reranks_ else None,
        }
    return found


def render(found):
    """Return the table and the goals."""
    rows = [
        [
            f"{row['corpus']}, {row['tagger']}",
            row["size"],
            f"{row['base']:.2f}",
            *(_cell(row["rerankers"][name]) for name in RERANKERS),
        ]
        for row in found["rows"]
    ]
    table = format_table(["corpus, base", "sentences", "F alone", *RERANKERS], rows)
    least = {
        name: min(row["rerankers"][name]["gain"] for row in found["rows"])
        for name in RERANKERS
    }
    goals = [
        at_least(f"{name}: least gain", x, 0.0, ".2f") for name, x in least.items()
    ]
    return "\n\n".join([table, NOTE, format_goals(goals, found["quick"])])


def _cell(one):
    if one["evidence"] is None:
        return "-"
    return f"{one['gain']:+.2f} ({one['evidence']:.1f})"
