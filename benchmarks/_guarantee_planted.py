"""Planted errors: how many are found among the first labels that are doubted."""

import time

import numpy as np
from _corpora import has_corpora
from _tables import format_table
from _travel_corpora import ARK, DUTCH, READY, Sentences, _read

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import cross_val_confidence

SHARE = 0.02
FIRST = (50, 100, 200, 500)
FOLDS = 5
MADE = "made corpus"
SKCW, CLEANLAB, CLEANLAB_SCORES = "skcw check", "cleanlab issues", "cleanlab scores"


def run(settings):
    """Plant errors into each corpus and look for them."""
    rows = []
    for name in _names(settings):
        sentences = _sentences(name, settings)
        labels, planted = _with_errors(sentences.labels)
        rows += _found_in(name, sentences.tokens, labels, planted)
    return {"quick": settings.quick, "share": SHARE, "rows": rows}


def _names(settings):
    if not has_corpora(settings.data_home):
        return [MADE]
    return [MADE] if settings.quick else [MADE, ARK, DUTCH]


def _sentences(name, settings):
    if name == MADE:
        n = 300 if settings.quick else 3000
        return Sentences(*make_tagged_corpus(n, random_state=0, return_X_y=True))
    found = _read(name, "train", settings.data_home)
    return Sentences(found.tokens[:4000], found.labels[:4000])


def _with_errors(labels):
    """Return labels of which some are replaced by others, and where."""
    rng = np.random.RandomState(0)
    names = sorted({label for row in labels for label in row})
    changed, planted = [list(row) for row in labels], set()
    for s, row in enumerate(changed):
        for t in np.flatnonzero(rng.uniform(size=len(row)) < SHARE):
            others = [name for name in names if name != row[t]]
            row[t] = others[rng.randint(len(others))]
            planted.add((s, int(t)))
    return changed, planted


def _found_in(name, tokens, labels, planted):
    tagger = CWSequenceTagger(random_state=0)
    pipeline = make_tagging_pipeline(READY.get(name, "ner"), tagger)
    began = time.process_time()
    found = cross_val_confidence(pipeline, tokens, labels, cv=FOLDS)
    shared = time.process_time() - began
    began = time.process_time()
    suspects = found.suspects(labels)
    rows = [_row(name, SKCW, suspects, planted, shared, time.process_time() - began)]
    rows += _cleanlab_rows(name, pipeline, tokens, labels, planted)
    return rows


def _cleanlab_rows(name, pipeline, tokens, labels, planted):
    """Return what cleanlab finds in the marginals of the same folds."""
    try:
        from cleanlab.token_classification.filter import find_label_issues
        from cleanlab.token_classification.rank import get_label_quality_scores
    except ImportError:
        return []
    began = time.process_time()
    codes, tables = _tables_of(pipeline, tokens, labels)
    shared = time.process_time() - began
    began = time.process_time()
    issues = [tuple(map(int, place)) for place in find_label_issues(codes, tables)]
    seconds = time.process_time() - began
    rows = [_row(name, CLEANLAB, issues, planted, shared, seconds)]
    began = time.process_time()
    _, scores = get_label_quality_scores(codes, tables)
    ranked = sorted(
        (float(score), s, t)
        for s, row in enumerate(scores)
        for t, score in enumerate(np.asarray(row).tolist())
    )
    places = [(s, t) for _, s, t in ranked]
    seconds = time.process_time() - began
    rows.append(_row(name, CLEANLAB_SCORES, places, planted, shared, seconds))
    return rows


def _tables_of(pipeline, tokens, labels):
    """Return labels as numbers and the out-of-fold marginals of all of them."""
    from sklearn.base import clone
    from sklearn.model_selection import KFold

    names = sorted({label for row in labels for label in row})
    number = {label: k for k, label in enumerate(names)}
    tables = [None] * len(labels)
    for train, test in KFold(FOLDS).split(labels):
        fitted = clone(pipeline).fit(
            [tokens[i] for i in train], [labels[i] for i in train]
        )
        answers = fitted.predict_all([tokens[i] for i in test])
        table = np.zeros((answers.offsets[-1], len(names)))
        table[:, [number[label] for label in answers.classes]] = answers.label_table(
            "marginal"
        )
        for i, start, stop in zip(
            test, answers.offsets, answers.offsets[1:], strict=False
        ):
            tables[i] = table[start:stop]
    return [[number[label] for label in row] for row in labels], tables


def _row(name, method, places, planted, shared, seconds):
    return {
        "corpus": name,
        "method": method,
        "planted": len(planted),
        "listed": len(places),
        "found": [sum(place in planted for place in places[:n]) for n in FIRST],
        "asking": shared,
        "ranking": seconds,
    }


def render(found):
    """Return the table."""
    title = (
        f"{100 * found['share']:g} % of the labels are replaced by others at random. "
        "Planted ones among the first n that are\nlisted, and CPU seconds to train and "
        "ask the models of five folds, and then to rank.\nWhat is found beyond the "
        "planted ones may be true errors of the corpus."
    )
    header = ["corpus", "method", "planted", "listed", *(f"in {n}" for n in FIRST)]
    header += ["asking s", "ranking s"]
    rows = [
        [
            row["corpus"],
            row["method"],
            row["planted"],
            row["listed"],
            *row["found"],
            f"{row['asking']:.2f}",
            f"{row['ranking']:.3f}",
        ]
        for row in found["rows"]
    ]
    return f"{title}\n\n{format_table(header, rows)}"
