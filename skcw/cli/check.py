"""List labels of a corpus that may be wrong.

The corpus is cut into folds; for each fold a model is trained on the others and gives
the probability of the labels in that fold. Those that differ from its own are listed,
the least probable first, with the words around them.

Examples
--------
  skcw check train.conll
  skcw check train.conll --top 200 --folds 10 --json=suspects.json
  skcw check ud.conllu --features pos
"""

from skcw._util.text_table import aligned
from skcw.cli.features import make_features
from skcw.cli.inputs import open_input, read_labeled
from skcw.cli.learners import make_tagger
from skcw.cli.messages import UsageError, check_readable, report
from skcw.cli.options import add_file, add_number, add_training, command_parser

HEADERS = ("line", "probability", "given", "expected", "context")
AROUND = 3


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(commands, "check", run)
    add_file(parser, "corpus", "the corpus to check; - is standard input", "CORPUS")
    text = "list at most N labels (default: 50)"
    add_number(parser, "--top", text=text, default=50)
    text = "folds of sentences, at least 2 (default: 5)"
    add_number(parser, "--folds", text=text, default=5)
    add_training(parser, "convert the labels to this scheme first")


def run(options):
    """Check."""
    check_readable(options, options.corpus)
    from sklearn.model_selection import KFold

    from skcw.cli.train import parameters
    from skcw.evaluation import cross_val_confidence
    from skcw.pipeline import make_tagging_pipeline

    if options.folds < 2:
        raise UsageError("--folds must be at least 2: one to test, the others to train")
    options.quiet = True  # Nobody needs a line for each pass of each fold.
    tagger = make_tagger(options.model, options.seed, parameters(options))
    corpus = open_input(options.corpus, options)
    X, y = read_labeled(corpus)
    features, _ = make_features(options, X, corpus.label_column())
    pipeline = make_tagging_pipeline(features, tagger)
    # Neighbors are often of one document: a model must not learn from those.
    found = cross_val_confidence(pipeline, X, y, cv=KFold(options.folds))
    suspects = found.suspects(y)
    rows = [_row(X, y, found, *place) for place in suspects[: options.top]]
    result = {"words": int(X.n_tokens), "doubted": len(suspects), "suspects": rows}
    report(options, result, _text(result))


def _row(X, y, found, sentence, word):
    words = list(X[sentence : sentence + 1].column(0)[0])
    before = words[max(0, word - AROUND) : word]
    after = words[word + 1 : word + 1 + AROUND]
    return {
        "line": int(X.lines[X.offsets[sentence] + word]),
        "sentence": sentence,
        "position": word,
        "probability": float(found.given_confidence[sentence][word]),
        "given": y[sentence][word],
        "expected": found.labels[sentence][word],
        "context": " ".join([*before, f"[{words[word]}]", *after]),
    }


def _text(result):
    head = (
        f"{result['doubted']:,} of {result['words']:,} labels are not those that a "
        "model trained without them gives"
    )
    rows = [[row[name] for name in HEADERS] for row in result["suspects"]]
    if not rows:
        return head
    return f"{head}\n\n{aligned(rows, HEADERS, (None, '.6f', None, None, None))}"
