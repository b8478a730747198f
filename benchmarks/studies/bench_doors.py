"""What features of one's own data buy: clusters, vectors, and a richer ready set.

Parts, each of which can be run by itself; results are merged into one JSON file:

clusters   Spanish and Dutch names with clusters and vectors of the training text
chunking   the ready set "chunking" on CoNLL-2000, with one model and the mean of eight
scheme     the same with labels in IOBES
edges      templates of CRF++ with and without transitions that look at words

    python benchmarks/studies/bench_doors.py --data-home DIR
    python benchmarks/studies/bench_doors.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks

import time

import numpy as np

from common.corpora import (
    CONLL,
    MADE,
    TaggedCorpus,
    load_chunking,
    load_entities,
)
from common.measure import added_memory, in_fresh_process, progress, span_scores
from common.runner import Part, main
from common.tables import at_least, format_goals, format_table, number
from skcw import CWSequenceTagger
from skcw.data import convert_labels
from skcw.features import VectorFeatures, WindowFeatures, learn_clusters, learn_vectors
from skcw.features.joined_features import join_features
from skcw.features.lines import WORDS

# ---- Names in Spanish and Dutch with what the training text shows of words ----

LANGUAGES = {"Spanish": "conll2002-es", "Dutch": "conll2002-nl"}
N_CLUSTERS = 100
N_DIMENSIONS = 50
NORMS = (0.5, 1.0, 2.0)
PLAIN, CLUSTERS, VECTORS = "ner", "ner + clusters", "ner + vectors"
NOTE_CLUSTERS = f"""\
Span F1 of CW with the ready set "ner", mean over the seeds; clusters ({N_CLUSTERS}) and
vectors ({N_DIMENSIONS} dimensions) are learned from the training set's words alone,
with a window of one word. Clusters: `cluster(c)[-1..1]`. Vectors: those of the word,
brought to the length that the row says. Chosen on the development sets."""


def run_clusters(settings):
    """Return the scores of each language, set and kind of features."""
    found = []
    for language, corpora in _corpora(settings).items():
        train = corpora["train"]
        clusters = learn_clusters(train.tokens, N_CLUSTERS, window=1, random_state=0)
        vectors = learn_vectors(train.tokens, N_DIMENSIONS, window=1, random_state=0)
        lines = ["ner", "cluster(c)[-1..1]"]
        kinds = {
            PLAIN: WindowFeatures("ner"),
            CLUSTERS: WindowFeatures(lines, clusters={"c": clusters}),
        }
        for norm in NORMS:
            part = VectorFeatures(vectors, norm=norm)
            kinds[f"{VECTORS} of length {norm:g}"] = join_features("ner", part)
        for kind, features in kinds.items():
            progress(f"{language}: {kind}")
            scores = _scores(features, corpora, settings.seeds)
            found.append({"language": language, "features": kind, **scores})
    return {"rows": found, "seeds": settings.seeds}


def _corpora(settings):
    if settings.data_home:
        return {
            language: load_entities(settings.data_home, folder, settings.quick)
            for language, folder in LANGUAGES.items()
        }
    from skcw.datasets import make_tagged_corpus

    made = {}
    for seed, part in enumerate(("train", "dev", "test")):
        tokens, labels = make_tagged_corpus(200, random_state=seed, return_X_y=True)
        made[part] = TaggedCorpus(MADE, tokens, labels, None)
    return {MADE: made}


def _scores(features, corpora, n_seeds):
    """Return the mean span F1 on the development and on the test set."""
    train = corpora["train"]
    batch = features.fit_transform(train.tokens)
    others = {p: features.transform(corpora[p].tokens) for p in ("dev", "test")}
    scores = {"dev": [], "test": []}
    for seed in range(n_seeds):
        tagger = CWSequenceTagger(calibrate_confidence=False, random_state=seed)
        tagger.fit(batch, train.labels)
        for part, encoded in others.items():
            score = span_scores(corpora[part].labels, tagger.predict(encoded))
            scores[part].append(score["f1"])
    return {part: float(np.mean(values)) for part, values in scores.items()}


def render_clusters(found):
    """Return the table."""
    rows = [
        (
            f"{row['language']}, {row['features']}",
            *(number(row[part], ".4f") for part in ("dev", "test")),
        )
        for row in found["rows"]
    ]
    table = format_table(("corpus, features", "dev", "test"), rows)
    return (
        f"Clusters and vectors ({found['seeds']} seeds)\n\n{table}\n\n{NOTE_CLUSTERS}"
    )


# ---- The ready set "chunking" on CoNLL-2000 ----

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
NOTE_CHUNKING = """\
Span F1 of CW. Held out: a quarter of the training sentences at a time, the mean of two
models, mean over the four quarters; only by this was the set chosen. Test: trained on
all training sentences, one model (mean over the seeds) and the mean of eight."""


def run_chunking(settings):
    """Return the scores of both sets."""
    train, test = load_chunking(settings.data_home, settings.quick)
    rows = []
    for name, lines in SETS.items():
        progress(f"chunking: {name}")
        rows.append({"set": name, **_of_set(lines, train, test, settings.seeds)})
    goal = at_least("F1 of the mean of eight", rows[-1]["eight"], GOAL, ".4f")
    return {"rows": rows, "seeds": settings.seeds, "goals": [goal]}


def _of_set(lines, train, test, n_seeds, scheme=None):
    one = [f1(lines, train, test, 1, seed, scheme) for seed in range(n_seeds)]
    return {
        "held out": held_out(lines, train, scheme),
        "one": float(np.mean(one)),
        "eight": f1(lines, train, test, 8, 0, scheme),
    }


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


def render_chunking(found):
    """Return the table and the goal."""
    title = f"The ready set for chunks ({found['seeds']} seeds)"
    return _scores_table(title, found["rows"], NOTE_CHUNKING, found["goals"])


def _scores_table(title, rows, note, goals):
    names = ("held out", "one", "eight")
    cells = [(r["set"], *(number(r[n], ".4f") for n in names)) for r in rows]
    table = format_table(("features", "held out", "test, one", "test, eight"), cells)
    return f"{title}\n\n{table}\n\n{note}\n\n{format_goals(goals)}"


# ---- The same with labels in IOBES ----

SCHEME = "IOBES"
NOTE_SCHEME = """\
As the table above, but labels were converted to IOBES (S- for a chunk of one
word, E- for the last word of a longer one) to learn, and back to be judged."""


def run_scheme(settings):
    """Return the scores of labels in IOBES."""
    train, test = load_chunking(settings.data_home, settings.quick)
    progress(f"labels in {SCHEME}")
    scores = _of_set("chunking", train, test, settings.seeds, SCHEME)
    goal = at_least("F1 of the mean of eight", scores["eight"], GOAL, ".4f")
    return {**scores, "seeds": settings.seeds, "goals": [goal]}


def render_scheme(found):
    """Return the table and the goal."""
    rows = [found | {"set": f"chunking, {SCHEME}"}]
    title = f"Chunks with labels in another scheme ({found['seeds']} seeds)"
    return _scores_table(title, rows, NOTE_SCHEME, found["goals"])


# ---- Transitions that look at words ----

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
CORPORA = "CoNLL-2000", "Spanish"
NOTE_EDGES = f"""\
Span F1 of CW on the test set, mean over the seeds, with the template of CRF++ for
chunks (words and parts of speech at -2 to 2, their pairs and triples) and the bare B,
and with four more lines: {", ".join(STEPS[:2])},
{", ".join(STEPS[2:])}. CPU seconds (medians), from words: training as it
comes, and tagging the test set. Memory is what training adds at its peak, in a process
of its own."""


def run_edges(settings):
    """Return the scores, seconds and megabytes of both templates."""
    rows = []
    for corpus in CORPORA if settings.data_home else [MADE]:
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


def render_edges(found):
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
    return f"{title}\n\n{format_table(header, rows)}\n\n{NOTE_EDGES}"


PARTS = {
    "clusters": Part(run_clusters, render_clusters),
    "chunking": Part(run_chunking, render_chunking),
    "scheme": Part(run_scheme, render_scheme),
    "edges": Part(run_edges, render_edges),
}


if __name__ == "__main__":
    main(__file__, PARTS, CONLL)
