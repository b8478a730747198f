"""What groups of features do to the accuracy and the calibration of a CRF."""

from _calibration_corpora import ARK, load_tagged
from _calibration_models import (
    BASIC_LINES,
    HEADER,
    OTHER_ITERATIONS,
    QUICK_ITERATIONS,
    RIGHT,
    cells,
    inputs,
    judged,
)
from _measure import progress
from _tables import format_table

from skcw import CRFSequenceTagger
from skcw.metrics import query_pairs

# Added one by one; together they are the set "pos".
GROUPS = {
    "transitions and word": BASIC_LINES,
    "+ bias": ["bias"],
    "+ lower-cased word": ["lower"],
    "+ affixes of 1 to 4": ["prefix(1..4)", "suffix(1..4)"],
    "+ shape": ["short_shape", "first & short_shape"],
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
CRFsuite, L-BFGS, c2 = 1, at most {OTHER_ITERATIONS} iterations; each row has the
features of those above it too. Features: distinct ones in the training part."""


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
    X, X_test = inputs(lines, corpus)
    most = QUICK_ITERATIONS if settings.quick else OTHER_ITERATIONS
    tagger = CRFSequenceTagger(max_iterations=most).fit(X, corpus.labels)
    answers = {
        corpus.query: query_pairs(tagger, X_test, corpus.test_labels, corpus.query),
        RIGHT: query_pairs(tagger, X_test, corpus.test_labels),
    }
    found = judged(answers, corpus.query, settings.quick)
    return found | {"features": X.n_features}


def render(found):
    """Return the results as text."""
    title = f"Groups of features of a CRF: {found['corpus']}, query {found['query']}"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    rows = [
        [group, one["features"], *cells(one)] for group, one in found["rows"].items()
    ]
    table = format_table(["", "features", *HEADER], rows)
    return "\n\n".join([title, table, NOTE])
