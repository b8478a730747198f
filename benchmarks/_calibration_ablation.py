"""What groups of features do to the accuracy and the calibration of a CRF."""

from _calibration_corpora import ARK, load_tagged
from _calibration_models import (
    BASIC_LINES,
    HEADER,
    ITERATIONS,
    ask,
    cells,
    fit_crf,
    inputs,
    judged,
)
from _measure import progress
from _tables import format_table

# Added one by one; all but the length, which the thesis names, are the set "pos".
GROUPS = {
    "transitions and word": BASIC_LINES,
    "+ bias": ["bias"],
    "+ lower-cased word": ["lower"],
    "+ affixes of 1 to 4": ["prefix(1..4)", "suffix(1..4)"],
    "+ shape": ["short_shape", "first & short_shape"],
    "+ length of the word": ["length"],
    "+ flags": ["has_digit", "has_hyphen", "first_capital", "all_capitals"],
    "+ words beside": ["word[-2..-1]", "word[1..2]", "bigram(word)[-1..0]"],
    "+ their shapes, lower-cased": [
        "short_shape[-1]",
        "short_shape[1]",
        "lower[-2..-1]",
        "lower[1..2]",
    ],
}
NOTE = f"""\
CRFsuite, L-BFGS, at most {ITERATIONS} iterations, c2 chosen by the likelihood of the
development part; each row has the features of those above it too. Features: distinct
ones in the training part."""


def run(settings):
    """Return what the CRF is worth with each group added."""
    corpus = load_tagged(ARK, settings)
    rows, lines = {}, []
    for group, more in GROUPS.items():
        progress(f"ablation: {group}")
        lines = [*lines, *more]
        rows[group] = _judge(lines, corpus, settings)
    return {
        "quick": settings.quick,
        "corpus": corpus.name,
        "query": corpus.query,
        "rows": rows,
    }


def _judge(lines, corpus, settings):
    X = inputs(lines, corpus)
    tagger = fit_crf(X, corpus, settings.quick)
    found = judged(ask(tagger, X.test, corpus), corpus.query, settings.quick)
    return found | {"features": X.train.n_features, "c2": tagger.c2}


def render(found):
    """Return the results as text."""
    title = f"Groups of features of a CRF: {found['corpus']}, query {found['query']}"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    rows = [
        [group, one["features"], one["c2"], *cells(one)]
        for group, one in found["rows"].items()
    ]
    table = format_table(["", "features", "c2", *HEADER], rows)
    return "\n\n".join([title, table, NOTE])
