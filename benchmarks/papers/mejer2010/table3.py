"""Table 3 of Mejer & Crammer (2010): CW against CRF, here a tuned one."""

import statistics
import textwrap

from common.corpora import load_paper_set, paper_sets
from common.crfsuite import CRFsuite, three_quarters
from common.measure import all_scores, progress, span_scores, timed
from common.tables import format_table, number
from skcw import CWSequenceTagger

PASSES = 10
N_MODELS = 8
SPLIT_SEED, TUNING_SEED = 0, 1
C_GRID, FIRST_C1 = (0.01, 0.05, 0.2), 0.05
ITERATIONS, QUICK_ITERATIONS = 150, 20
CW, CW_MEAN, CRF = "CW", f"mean of {N_MODELS} CW", "tuned CRF"
SCORES = ("precision", "recall", "f1", "token_error")

# Precision, recall, F and the share of mislabeled words in the paper.
PAPER = {
    "NP chunking": {
        "CW": (0.945, 0.942, 0.943, 0.0234),
        "CRF": (0.938, 0.934, 0.936, 0.0266),
    },
    "Dutch": {
        "CW": (0.803, 0.755, 0.778, 0.0205),
        "CRF": (0.775, 0.753, 0.764, 0.0209),
    },
    "Spanish": {
        "CW": (0.738, 0.720, 0.729, 0.0409),
        "CRF": (0.751, 0.730, 0.740, 0.0205),
    },
}


def run(settings):
    """Return scores and fit times of CW and of the tuned CRF on one 75/25 split."""
    sets = {name: _one_set(name, settings) for name in paper_sets(settings.data_home)}
    return {
        "quick": settings.quick,
        "iterations": _iterations(settings.quick),
        "sets": sets,
    }


def _one_set(name, settings):
    corpus = load_paper_set(name, settings.data_home, settings.quick)
    train, test = map(corpus.part, three_quarters(len(corpus.tokens), SPLIT_SEED))
    progress(f"table3: building features of {name}")
    X, X_test = train.features(), test.features()
    tuning = _tune_crf(name, X, train.labels, settings.quick)
    c1, c2, _ = max(tuning, key=lambda tried: tried[2])
    progress(f"table3: {name}, final CRF with c1 = {c1}, c2 = {c2}")
    crf = _crf(c1, c2, settings.quick)
    problem = X, train.labels, X_test, test.labels
    rows = {CW: [], CW_MEAN: [], CRF: [_measure(crf, *problem)]}
    for seed in range(settings.seeds):
        for row, n_models in ((CW, 1), (CW_MEAN, N_MODELS)):
            progress(f"table3: {name}, {row}, run {seed + 1} of {settings.seeds}")
            tagger = CWSequenceTagger(
                max_iter=PASSES, n_models=n_models, n_jobs=None, random_state=seed
            )
            rows[row].append(_measure(tagger, *problem))
    return {
        "sentences": [len(X), len(X_test)],
        "tuning": tuning,
        "c1": c1,
        "c2": c2,
        "rows": {row: _summary(runs) for row, runs in rows.items()},
    }


def _iterations(quick):
    return QUICK_ITERATIONS if quick else ITERATIONS


def _crf(c1, c2, quick):
    return CRFsuite(
        "lbfgs",
        c1=c1,
        c2=c2,
        max_iterations=_iterations(quick),
        feature__possible_transitions=True,
    )


def _tune_crf(name, X, y, quick):
    """Try c2, then c1 beside the best c2, on a 75/25 split of the training part."""
    train, test = three_quarters(len(X), TUNING_SEED)
    X_train, y_train = [X[i] for i in train], [y[i] for i in train]
    X_test, y_test = [X[i] for i in test], [y[i] for i in test]
    tried = []

    def attempt(c1, c2):
        model = _crf(c1, c2, quick).fit(X_train, y_train)
        tried.append([c1, c2, span_scores(y_test, model.predict(X_test))["f1"]])
        progress(f"table3: {name}, c1 = {c1}, c2 = {c2}: F {tried[-1][2]:.4f}")

    for c2 in C_GRID[:2] if quick else C_GRID:
        attempt(FIRST_C1, c2)
    best_c2 = max(tried, key=lambda row: row[2])[1]
    for c1 in () if quick else C_GRID:
        if c1 != FIRST_C1:
            attempt(c1, best_c2)
    return tried


def _measure(model, X, y, X_test, y_test):
    _, fit = timed(lambda: model.fit(X, y))
    return {"fit": fit, **all_scores(y_test, model.predict(X_test))}


def _summary(runs):
    """Return mean scores, the median time, and the F of every run."""
    row = {name: statistics.mean(run[name] for run in runs) for name in SCORES}
    row["fit"] = statistics.median(run["fit"] for run in runs)
    row["f1_values"] = [run["f1"] for run in runs]
    return row


def render(found):
    """Return the results as text."""
    blocks = [
        "Table 3: CW (default parameters, 10 passes) against CRF, 75/25 split"
        + (" (quick: a subset, no measurement)" if found["quick"] else "")
    ]
    for name, one in found["sets"].items():
        header = [name, "runs", "precision", "recall", "F", "% err", "F range", "fit s"]
        rows = [_row(row, values) for row, values in one["rows"].items()]
        rows += [
            [f"paper's {who}", "-", *_scores(values), "-", "-"]
            for who, values in PAPER.get(name, {}).items()
        ]
        blocks.append(format_table(header, rows))
        blocks.append(_tuning_note(one, found["iterations"]))
    blocks.append(
        "Fit: encoding included, one thread; mean scores and median times over the "
        "runs, which differ in\ntheir shuffles. The CRF's time is that of its final "
        "fit alone. Features are richer than the paper's."
    )
    blocks.append(_claims_table(found))
    return "\n\n".join(blocks)


def papers_winner_leads(name, rows):
    """Return by how much the better of CW and CRF in the paper is ahead here."""
    paper = {who: scores[2] for who, scores in PAPER[name].items()}
    ahead, behind = (CW, CRF) if paper["CW"] > paper["CRF"] else (CRF, CW)
    return ahead, rows[ahead]["f1"] - rows[behind]["f1"]


def _claims_table(found):
    table = []
    for name, one in found["sets"].items():
        if name in PAPER:
            ahead, lead = papers_winner_leads(name, one["rows"])
            verdict = "(quick)" if found["quick"] else "yes" if lead > 0 else "NO"
            table.append([f"{name}: {ahead} has the better F", f"{lead:+.4f}", verdict])
    return format_table(["claim of the paper, single models", "lead", "holds"], table)


def _row(name, row):
    values = row["f1_values"]
    span = f"{min(values):.4f}-{max(values):.4f}" if len(values) > 1 else "-"
    scores = _scores([row[key] for key in SCORES], ".4f")
    return [name, len(values), *scores, span, number(row["fit"], ".2f")]


def _scores(values, form=".3f"):
    *spans, error = values
    return [*[format(value, form) for value in spans], f"{error:.2%}"]


def _tuning_note(one, iterations):
    tried = ", ".join(f"({c1}, {c2}) {f1:.4f}" for c1, c2, f1 in one["tuning"])
    return textwrap.fill(
        f"CRF: lbfgs, {iterations} iterations, all possible transitions; (c1, c2) and "
        f"F on a quarter of the training part: {tried}. "
        f"Chosen: ({one['c1']}, {one['c2']}).",
        width=88,
    )
