"""List labels of a corpus that may be wrong.

The corpus is cut into folds; for each fold a model is trained on the others and gives
the probability of the labels in that fold. Stretches of words whose labels differ from
its own are listed, the least probable ones, grouped by the given and the expected type.

To correct a corpus, write the list into a table, put an x into the column `mark` of the
rows whose `expected` labels are right, or that you have set right there, and have the
corrected corpus written in the format of the old one.

Examples
--------
  skcw check train.conll
  skcw check train.conll --top 200 --folds 10 --json=suspects.json
  skcw check ud.conllu --features pos
  skcw check train.conll --top 500 -o suspects.csv
  skcw check train.conll --fix suspects.csv -o corrected.conll
"""

import csv
from argparse import Namespace
from collections import Counter
from itertools import chain

from skcw._util.text_table import aligned
from skcw.cli.features import make_features
from skcw.cli.inputs import open_input, read_labeled
from skcw.cli.learners import make_tagger
from skcw.cli.messages import (
    UsageError,
    are_same,
    check_readable,
    note,
    report,
    warn,
    written,
)
from skcw.cli.options import add_file, add_number, add_training, command_parser

HEADERS = ("line", "probability", "given", "expected", "context")
FORMATS = (None, ".6f", None, None, None)
# The columns of the table that is marked.
COLUMNS = ("mark", *HEADERS[1:], "line", "sentence", "position")
AROUND = 3
# The summary leaves out confusions that are rarer than these.
MOST_CONFUSIONS = 20


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(commands, "check", run)
    add_file(parser, "corpus", "the corpus to check; - is standard input", "CORPUS")
    text = "list at most N stretches of words (default: 50)"
    add_number(parser, "--top", text=text, default=50)
    text = "folds of sentences, at least 2 (default: 5)"
    add_number(parser, "--folds", text=text, default=5)
    text = "correct the corpus by the marked rows of this table, without training"
    add_file(parser, "--fix", text, "TABLE")
    text = "write the list as CSV, to be marked; with --fix, the corrected corpus"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)
    add_training(parser, "convert the labels to this scheme first")


def run(options):
    """Check, or correct what was checked."""
    check_readable(options, options.corpus, options.fix)
    if options.fix is not None:
        fix(options)
        return
    given = options.output, options.corpus
    if options.output not in (None, "-") and are_same(*given):
        raise UsageError("-o is the corpus itself; the list needs a file of its own")
    if options.folds < 2:
        raise UsageError("--folds must be at least 2: one to test, the others to train")
    corpus = open_input(options.corpus, options)
    X, y = read_labeled(corpus)
    options.quiet = True  # Nobody needs a line for each pass of each fold.
    if options.output is not None:
        _refuse_blanks(y)
    suspects = _suspects(options, corpus, X, y)
    rows = [_row(X, suspect) for suspect in suspects[: options.top]]
    if options.output is not None:
        _write_table(options.output, rows)
    counts = Counter(suspect.confusion for suspect in suspects).most_common()
    result = {
        "words": int(X.n_tokens),
        "doubted": sum(map(_n_different, suspects)),
        "stretches": len(suspects),
        "confusions": [{"from": a, "to": b, "count": n} for (a, b), n in counts],
        "suspects": rows,
    }
    if options.output != "-":
        report(options, result, _text(result))


def _suspects(options, corpus, X, y):
    from sklearn.model_selection import KFold

    from skcw.cli.train import parameters
    from skcw.evaluation import cross_val_confidence
    from skcw.pipeline import make_tagging_pipeline

    tagger = make_tagger(options.model, options.seed, parameters(options))
    features, _ = make_features(options, X, corpus.label_column())
    pipeline = make_tagging_pipeline(features, tagger)
    # Neighbors are often of one document: a model must not learn from those.
    return cross_val_confidence(pipeline, X, y, cv=KFold(options.folds)).suspects(y)


def _n_different(suspect):
    pairs = zip(suspect.given, suspect.expected, strict=True)
    return sum(one != other for one, other in pairs)


def _row(X, suspect):
    s, start, end, given, expected, confusion, probability = suspect
    return {
        "line": int(X.lines[X.offsets[s] + start]),
        "sentence": s,
        "position": start,
        "probability": probability,
        "given": " ".join(given),
        "expected": " ".join(expected),
        "confusion": " -> ".join(confusion),
        "context": _context(X, s, start, end),
    }


def _context(X, s, start, end):
    """Return the words of a stretch in brackets, with some around them."""
    words = list(X[s : s + 1].column(0)[0])
    before, after = words[max(0, start - AROUND) : start], words[end : end + AROUND]
    return " ".join([*before, f"[{' '.join(words[start:end])}]", *after])


def _text(result):
    head = (
        f"{result['doubted']:,} of {result['words']:,} labels, in "
        f"{result['stretches']:,} places, are not those that a model trained without "
        "them gives"
    )
    if not result["suspects"]:
        return head
    counts = [list(row.values()) for row in result["confusions"]]
    parts = [head, aligned(counts[:MOST_CONFUSIONS], ("given", "expected", "places"))]
    if len(counts) > MOST_CONFUSIONS:
        parts[-1] += f"\n... and {len(counts) - MOST_CONFUSIONS} others, rarer"
    groups = {}
    for row in result["suspects"]:
        groups.setdefault(row["confusion"], []).append([row[name] for name in HEADERS])
    for title, rows in groups.items():
        parts.append(f"{title}\n{aligned(rows, HEADERS, FORMATS)}")
    return "\n\n".join(parts)


def _write_table(name, rows):
    from skcw.io.csv_format import csv_text

    table = [COLUMNS, *([row.get(column, "") for column in COLUMNS] for row in rows)]
    with written(name) as file:
        file.write(csv_text(table).encode("utf-8", "backslashreplace"))


def _refuse_blanks(y):
    """Raise if a label has a blank, which is what separates labels in the table."""
    blank = next((label for label in chain.from_iterable(y) if " " in label), None)
    if blank is not None:
        raise ValueError(
            f"the label {blank!r} has a blank in it, which separates labels in the "
            "table; rename it first"
        )


def fix(options):
    """Write the corpus with the labels of the marked rows of a table.

    Parameters
    ----------
    options : argparse.Namespace
        With ``corpus``, ``fix``, ``output`` and the options of reading.
    """
    if "-" in (options.corpus, options.fix):
        raise UsageError("--fix reads files, not standard input")
    if options.output and are_same(options.output, options.fix):
        raise UsageError("-o is the table itself; the corpus needs another file")
    X, y = read_labeled(open_input(options.corpus, options))
    known, original = set(chain.from_iterable(y)), y
    if options.scheme is not None:
        _, original = read_labeled(open_input(options.corpus, _without_scheme(options)))
    new, n_rows = [list(labels) for labels in y], 0
    for place, row in _marked(options.fix):
        s, start, labels = _correction(X, y, row, f"{options.fix}, {place}")
        for label in set(labels) - known:
            warn("check", f"{options.fix}, {place}: {options.corpus} has no {label!r}")
        new[s][start : start + len(labels)] = labels
        n_rows += 1
    changed = {s: row for s, row in enumerate(new) if row != list(original[s])}
    with written(options.output or "-") as file:
        for part in open_input(options.corpus, options).relabeled(changed):
            file.write(part)
    note(options, f"{n_rows} marked rows, {len(changed)} sentences with other labels")


def _without_scheme(options):
    return Namespace(**{**vars(options), "scheme": None, "quiet": True})


def _marked(name):
    """Yield the rows of a table that are marked, and where they are."""
    from skcw.data.text_lines import lines_of
    from skcw.io.csv_format import separator_of

    lines = list(lines_of(name, "utf-8"))
    separator = separator_of(lines[0] if lines else "") or ","
    rows = csv.DictReader(lines, delimiter=separator)
    missing = set(COLUMNS) - set(rows.fieldnames or ())
    if missing:
        raise ValueError(
            f"{name} has no column {min(missing)!r}: it is not a table that "
            "`skcw check -o` writes"
        )
    for number, row in enumerate(rows, start=1):
        if (row["mark"] or "").strip():
            yield f"row {number}", {name: row[name] or "" for name in COLUMNS}


def _correction(X, y, row, place):
    """Return sentence, first word and new labels of a row; raise if it does not fit."""
    given, labels = row["given"].split(), row["expected"].split()
    try:
        s, start = int(row["sentence"]), int(row["position"])
        end = start + len(given)
        same = 0 <= s < len(y) and list(y[s][start:end]) == given
        same = same and _context(X, s, start, end) == row["context"]
    except ValueError:
        same = False
    if not same:
        raise ValueError(f"{place}: the corpus does not have these words and labels")
    if len(labels) != len(given):
        raise ValueError(
            f"{place}: {len(labels)} labels are expected of {len(given)} words"
        )
    return s, start, labels
