"""Planted errors: how many are found among the first places that are doubted."""

import time

import numpy as np

from common.tables import format_table
from common.tagged import ARK, DUTCH, NP, READY, SPANISH, Sentences, _read
from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.data.schemes import are_spans, extract_spans, split_label
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import cross_val_confidence

MADE = "made corpus"
SHARE = 0.02
FIRST = 100
FOLDS = 5
SKCW, CLEANLAB, GROUPED = "skcw check", "cleanlab, words", "cleanlab, places of skcw"


def run(settings):
    """Plant errors into each corpus and look for them."""
    rows = []
    for name in _names(settings):
        sentences = _sentences(name, settings)
        labels, planted = _with_errors(sentences.labels)
        rows += _found_in(name, sentences.tokens, labels, planted)
    return {"quick": settings.quick, "share": SHARE, "rows": rows}


def _names(settings):
    if settings.data_home is None or settings.quick:
        return [MADE]
    return [MADE, NP, SPANISH, DUTCH, ARK]


def _sentences(name, settings):
    if name == MADE:
        n = 300 if settings.quick else 3000
        return Sentences(*make_tagged_corpus(n, random_state=0, return_X_y=True))
    found = _read(name, "train", settings.data_home)
    return Sentences(found.tokens[:4000], found.labels[:4000])


def _with_errors(labels):
    """Return labels of which some are wrong, and the words of each error."""
    rng = np.random.RandomState(0)
    names = sorted({label for row in labels for label in row})
    spoil = _spoiled_spans if are_spans(names) else _spoiled_words
    changed, planted = [list(row) for row in labels], []
    for s, row in enumerate(changed):
        for words in spoil(row, names, rng):
            planted.append([(s, int(t)) for t in words])
    return changed, planted


def _spoiled_words(row, names, rng):
    """Replace some labels by others; yield the words."""
    for t in np.flatnonzero(rng.uniform(size=len(row)) < SHARE):
        others = [name for name in names if name != row[t]]
        row[t] = others[rng.randint(len(others))]
        yield [t]


def _spoiled_spans(row, names, rng):
    """Change the type or an end of some spans, drop some, add some; yield the words."""
    kinds = sorted({split_label(name)[1] for name in names if name != "O"})
    for kind, start, end in extract_spans(row):
        if rng.uniform() >= SHARE:
            continue
        before, others = list(row), [k for k in kinds if k != kind]
        fault = rng.choice(["type", "drop", "end", "extra"])
        free = [t for t in range(len(row)) if row[max(0, t - 1) : t + 2] in FREE]
        if fault == "type" and others:
            _mark(row, start, end, others[rng.randint(len(others))])
        elif fault == "end" and end - start > 1:
            row[start:end] = ["O"] * (end - start)
            first = start + rng.randint(2)
            _mark(row, first, first + end - start - 1, kind)
        elif fault == "extra" and free:
            t = free[rng.randint(len(free))]
            _mark(row, t, t + 1, kinds[rng.randint(len(kinds))])
        else:
            row[start:end] = ["O"] * (end - start)
        yield [t for t in range(len(row)) if row[t] != before[t]]


# Words around which, and on which, there is no span.
FREE = (["O"], ["O"] * 2, ["O"] * 3)


def _mark(row, start, end, kind):
    row[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)


def _found_in(name, tokens, labels, planted):
    tagger = CWSequenceTagger(random_state=0)
    pipeline = make_tagging_pipeline(READY.get(name, "ner"), tagger)
    began = time.process_time()
    found = cross_val_confidence(pipeline, tokens, labels, cv=FOLDS)
    shared = time.process_time() - began
    began = time.process_time()
    suspects = found.suspects(labels)
    seconds = time.process_time() - began
    places = [[(x.sentence, t) for t in range(x.start, x.end)] for x in suspects]
    rows = [_row(name, SKCW, places, planted, shared, seconds)]
    return rows + _cleanlab_rows(name, pipeline, tokens, labels, planted, places)


def _cleanlab_rows(name, pipeline, tokens, labels, planted, places):
    """Return what cleanlab finds in the marginals of the same folds."""
    try:
        from cleanlab.token_classification.filter import find_label_issues
    except ImportError:
        return []
    began = time.process_time()
    codes, tables = _tables_of(pipeline, tokens, labels)
    shared = time.process_time() - began
    began = time.process_time()
    issues = [[tuple(map(int, place))] for place in find_label_issues(codes, tables)]
    seconds = time.process_time() - began
    # The first of the words of a place stands for all of them.
    home = {word: k for k, words in enumerate(places) for word in words}
    firsts = dict.fromkeys(home.get(word, word) for (word,) in issues)
    grouped = [places[k] if isinstance(k, int) else [k] for k in firsts]
    return [
        _row(name, CLEANLAB, issues, planted, shared, seconds),
        _row(name, GROUPED, grouped, planted, shared, seconds),
    ]


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
    """Return a row; a place is right if it holds a planted error not listed before."""
    error = {word: k for k, words in enumerate(planted) for word in words}
    known, right = set(), []
    for words in places:
        new = {error[word] for word in words if word in error} - known
        right.append(bool(new))
        known |= new
    right = np.array(right)
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    return {
        "corpus": name,
        "method": method,
        "planted": len(planted),
        "listed": len(places),
        "average_precision": float(precision[right].sum() / len(planted)),
        "precision_first": float(right[:FIRST].mean()),
        "precision_planted": float(right[: len(planted)].mean()),
        "found": len(known),
        "asking": shared,
        "ranking": seconds,
    }


def render(found):
    """Return the table."""
    title = (
        f"{100 * found['share']:g} % of the spans (ARK: of the labels) are made wrong: "
        "another type, another\nend, none, or one more. A listed place is right if "
        "it holds a planted error\nthat none before it held. AP: average precision; "
        f"then precision of the first {FIRST}\nand of as many as were planted; CPU "
        "seconds to train and ask five models, and to\nrank. What is found beyond the "
        "planted ones may be true errors of the corpus."
    )
    header = ["corpus", "method", "planted", "listed", "found", "AP"]
    header += [f"first {FIRST}", "as planted", "asking s", "ranking s"]
    rows = [
        [
            row["corpus"],
            row["method"],
            row["planted"],
            row["listed"],
            row["found"],
            f"{row['average_precision']:.3f}",
            f"{row['precision_first']:.2f}",
            f"{row['precision_planted']:.3f}",
            f"{row['asking']:.2f}",
            f"{row['ranking']:.3f}",
        ]
        for row in found["rows"]
    ]
    return f"{title}\n\n{format_table(header, rows)}"
