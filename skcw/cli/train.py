"""``skcw train``: from a labelled corpus to a model in a file."""

import os
import time

from skcw.cli._errors import UsageError
from skcw.cli._files import check_writable
from skcw.cli._options import (
    add_features,
    add_json,
    add_label_column,
    add_quiet,
    add_reading,
    add_scheme,
    add_tagger,
    command_parser,
    value_of,
)
from skcw.cli._tables import report, table
from skcw.cli._taggers import make_tagger, passes_parameter

TEXT = """\
Learn to label words from a column file (one word a line, an empty line after each
sentence) and save the model, features and all, in one file.

Progress goes to standard error, a line per pass. With --dev the best pass by its token
accuracy on that file is kept, and training stops when three passes bring nothing.

examples:
  skcw train train.conll -o names.skcw
  skcw train train.conll -o names.skcw --dev dev.conll --passes 30
  skcw train train.conll -o chunks.skcw --features chunking --model arow --set r=2
  skcw train eng.train -o names.skcw --columns word,pos,chunk --lexicon town=towns.txt
  skcw train ud.conllu -o pos.skcw --conllu --features pos
"""


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(
        commands, "train", run, "learn from a corpus and save a model", TEXT
    )
    parser.add_argument(
        "corpus", metavar="CORPUS", help="the file to learn from; - is standard input"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the file to write"
    )
    parser.add_argument(
        "--dev", metavar="FILE", help="a corpus to judge each pass by, and the result"
    )
    add_label_column(parser)
    add_scheme(parser, "learn and test labels written in this scheme")
    add_json(parser)
    add_quiet(parser)
    add_features(parser)
    add_tagger(parser)
    add_reading(parser)


def run(options):
    """Train."""
    began = time.perf_counter()
    tagger = make_tagger(options.model, options.seed, _parameters(options))
    _check_output(options)
    pipeline, (X, y), (X_dev, y_dev) = _prepared(options, tagger)
    pipeline.fit(X, y, X_dev=X_dev, y_dev=y_dev)
    # Whoever opens the model did not ask for progress.
    tagger.set_params(verbose=0)
    pipeline.save(options.output)
    seconds = time.perf_counter() - began
    judged = (X, y) if X_dev is None else (X_dev, y_dev)
    result = {
        "model": options.output,
        "learner": type(tagger).__name__,
        "sentences": len(X),
        "words": int(X.n_tokens),
        "labels": len(pipeline.classes_),
        "features": pipeline[0].n_features_out_,
        "passes": tagger.n_iter_,
        "seconds": seconds,
        **_scores(pipeline, *judged, "training" if X_dev is None else "dev"),
        "history": tagger.history_,
    }
    report(options, result, _text(result))


def _check_output(options):
    """Refuse, before all work, a file that cannot or must not be written."""
    check_writable(options.output)
    for name in filter(None, (options.corpus, options.dev)):
        both_exist = os.path.exists(options.output) and os.path.exists(name)
        if both_exist and os.path.samefile(options.output, name):
            raise UsageError(f"-o would overwrite the corpus {name}")


def _parameters(options):
    """Return what the options say on parameters of the learner."""
    given = {name: value_of(text) for name, text in options.set}
    named = {
        passes_parameter(options.model): options.passes,
        "n_models": options.models,
    }
    for name, value in named.items():
        if value is None:
            continue
        if name in given:
            raise UsageError(f"{name} is given twice, once by --set")
        given[name] = value
    given.setdefault("verbose", 0 if options.quiet else 1)
    return given


def _prepared(options, tagger):
    """Return the unfitted pipeline, the training data and the dev data."""
    from skcw.cli._corpus import make_features, read_labelled
    from skcw.pipeline import make_tagging_pipeline

    data = read_labelled(options.corpus, options)
    pipeline = make_tagging_pipeline(make_features(options, data[0]), tagger)
    dev = (None, None)
    if options.dev is not None:
        dev = read_labelled(options.dev, options)
    return pipeline, data, dev


def _scores(pipeline, X, y, judged_on):
    from skcw.metrics import span_f1_score, token_accuracy_score

    labels = pipeline.predict(X)
    return {
        "judged_on": judged_on,
        "span_f1": span_f1_score(y, labels),
        "token_accuracy": token_accuracy_score(y, labels),
    }


def _text(result):
    where = {"dev": "on the dev file", "training": "on the training data"}
    judged = where[result["judged_on"]]
    rows = [
        ("model", result["model"]),
        ("learner", result["learner"]),
        ("sentences", result["sentences"]),
        ("words", result["words"]),
        ("labels", result["labels"]),
        ("features", result["features"]),
        ("passes", result["passes"]),
        ("seconds", f"{result['seconds']:.2f}"),
        (f"span F1 {judged}", f"{100 * result['span_f1']:.2f} %"),
        (f"token accuracy {judged}", f"{100 * result['token_accuracy']:.2f} %"),
    ]
    return table(rows, ())
