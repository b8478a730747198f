"""``skcw train``: from a labeled corpus to a model in a file."""

import os
import time
import warnings

from skcw.cli.long_trainings import add_long_training, checkpoint_of
from skcw.cli.messages import (
    UsageError,
    check_replaceable,
    check_writable,
    report,
    table,
)
from skcw.cli.options import (
    add_features,
    add_json,
    add_label_column,
    add_quiet,
    add_reading,
    add_scheme,
    add_tagger,
    command_parser,
    share,
    value_of,
)
from skcw.cli.taggers import kept_passes, kept_text, make_tagger


def add_model_file(parser):
    """Add ``--output``, ``--half`` and ``--mapped``."""
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the file to write"
    )
    parser.add_argument(
        "--half",
        action="store_true",
        help="save the weights in half precision, in a smaller file",
    )
    parser.add_argument(
        "--mapped",
        action="store_true",
        help="save all weights, those that are zero too, in a larger file that the "
        "processes of skcw tag --jobs share",
    )


def save_model(model, options):
    """Write a model to the file and in the form that the options name."""
    dtype = "float16" if options.half else None
    model.save(options.output, dtype, mapped=options.mapped)


TEXT = """\
Learn to label words from a column file (one word per line, an empty line after each
sentence), CoNLL-U, CSV or JSON lines, and save the model, features and all, in one
file. It remembers how the file was read, so that `tag` and `evaluate` need not be told.

Progress goes to standard error, one line per pass. With --dev, the pass that does best
on that file is kept (by span F1 if labels are spans, else by token accuracy), and
training stops after three passes without improvement. A CRF shows its accuracy on that
file but always keeps its last pass.

examples:
  skcw train train.conll -o names.skcw
  skcw train train.conll -o names.skcw --dev dev.conll --passes 30
  skcw train train.conll -o chunks.skcw --features chunking --model arow --set r=2
  skcw train eng.train -o names.skcw --columns word,pos,chunk --lexicon town=towns.txt
  skcw train ud.conllu -o pos.skcw --features pos
  skcw train words.csv -o names.skcw --sentence-column sentence_id --label-column tag
  skcw train hf.jsonl -o names.skcw --label-names O,B-PER,I-PER,B-LOC,I-LOC
  skcw train train.conll -o names.skcw --calibrate held-out.conll --accept-risk 0.01
  skcw train big.conll -o names.skcw --checkpoint saved --checkpoint-every 10m --resume
  skcw train huge.conll.gz -o names.skcw --memory 2G --min-count 2
  skcw train huge.conll.gz -o names.skcw --memory 2G --shards 8 --jobs 4
"""

ROWS = ("model", "learner", "sentences", "words", "labels", "features", "passes")

FLATTERING = (
    "\n\nThe model has seen the words of the training data, so these figures flatter "
    "it;\n--dev FILE gives fair ones."
)


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(
        commands, "train", run, "learn from a corpus and save a model", TEXT
    )
    parser.add_argument(
        "corpus", metavar="CORPUS", help="the file to learn from; - is standard input"
    )
    add_model_file(parser)
    parser.add_argument(
        "--dev", metavar="FILE", help="a corpus to judge each pass and the result by"
    )
    _add_promise(parser)
    add_long_training(parser)
    add_label_column(parser)
    add_scheme(parser, "convert all labels to this scheme first")
    add_json(parser)
    add_quiet(parser)
    add_features(parser)
    add_tagger(parser)
    add_reading(parser)


def _add_promise(parser):
    group = parser.add_argument_group("accepting at a bounded risk")
    group.add_argument(
        "--calibrate",
        metavar="FILE",
        help="a labeled corpus that is neither CORPUS nor --dev: find the threshold "
        "by which `skcw tag --accept` accepts labels",
    )
    group.add_argument(
        "--accept-risk",
        type=share,
        action="append",
        metavar="RISK",
        help="the largest share of wrong ones among what is accepted (default: 0.01); "
        "may be repeated",
    )
    group.add_argument(
        "--accept-level",
        type=share,
        default=0.95,
        metavar="LEVEL",
        help="the probability with which that holds (default: 0.95)",
    )
    group.add_argument(
        "--accept-unit",
        choices=["word", "entity", "sentence"],
        default="word",
        help="what is accepted (default: word)",
    )


def run(options):
    """Train."""
    clock = Clock()
    tagger = make_tagger(options.model, options.seed, parameters(options))
    _check_output(options)
    checkpoint = checkpoint_of(options)
    if options.memory is not None:
        from skcw.cli.streaming import train_streaming

        result = train_streaming(options, tagger, checkpoint, clock)
        report(options, result, _text(result))
        return
    # scikit-learn takes longer to import than a small corpus takes to read.
    clock.end("starting")
    features, (X, y), (X_dev, y_dev), held_out, reading = _prepared(options)
    clock.end("reading")
    batch = features.fit_transform(X)
    judged = (batch, y) if X_dev is None else (features.transform(X_dev), y_dev)
    clock.end("features")
    dev = {} if X_dev is None else {"X_dev": judged[0], "y_dev": y_dev}
    if checkpoint is not None:
        dev["checkpoint"] = checkpoint
    tagger.fit(batch, y, **dev)
    clock.end("training")
    promises = _save(features, tagger, options, X, held_out, reading)
    if checkpoint is not None:
        checkpoint.clear()
    if options.calibrate is not None:
        clock.end("calibrating")
    result = {
        "model": options.output,
        "learner": type(tagger).__name__,
        "sentences": len(X),
        "words": int(X.n_tokens),
        "labels": len(tagger.classes_),
        "features": features.n_features_out_,
        "passes": tagger.n_iter_,
        "pass_kept": kept_passes(tagger),
        "seconds": clock.total(),
        "seconds_of": clock.seconds,
        **scores_of(tagger, *judged, "training" if X_dev is None else "dev"),
        "history": tagger.history_,
        "promises": promises,
        "calibration": options.calibrate,
    }
    report(options, result, _text(result))


class Clock:
    """Tells how long each stage of the work takes."""

    def __init__(self):
        self.seconds = {}
        self.began = self.before = time.perf_counter()

    def end(self, stage):
        """End a stage; the next one begins."""
        now = time.perf_counter()
        self.seconds[stage] = now - self.before
        self.before = now

    def total(self):
        """Return the seconds since the beginning."""
        return time.perf_counter() - self.began


def _check_output(options):
    """Refuse, before any work, a file that cannot or must not be written."""
    check_writable(options.output)
    if options.max_features is not None and options.memory is None:
        raise UsageError("--max-features needs --memory; see also --min-count")
    if options.memory is not None and (options.model == "crf" or options.calibrate):
        raise UsageError("--memory goes neither with --model crf nor with --calibrate")
    if options.calibrate is None and options.accept_risk is not None:
        raise UsageError("--accept-risk needs sentences to calibrate on: --calibrate")
    for name in filter(None, (options.corpus, options.dev, options.calibrate)):
        both_exist = os.path.exists(options.output) and os.path.exists(name)
        if both_exist and os.path.samefile(options.output, name):
            raise UsageError(f"-o would overwrite the corpus {name}")
    check_replaceable(options.output)
    for name in filter(None, (options.corpus, options.dev)):
        if options.calibrate and _are_same(options.calibrate, name):
            raise UsageError(
                f"--calibrate must not be {name}: the model has learned from it, so "
                "that it does not tell how often the model is right"
            )


def _are_same(name, other):
    both_exist = os.path.exists(name) and os.path.exists(other)
    return name == other or (both_exist and os.path.samefile(name, other))


def parameters(options):
    """Return the parameters of the learner that the options set."""
    given = {name: value_of(text) for name, text in options.set}
    named = {
        "max_iter": options.passes,
        "n_models": options.models,
        # Options of `skcw train` alone.
        "n_shards": getattr(options, "shards", None),
        "n_jobs": getattr(options, "jobs", None),
    }
    for name, value in named.items():
        if value is None:
            continue
        if name in given:
            raise UsageError(f"{name} is given twice, once by --set")
        given[name] = value
    given.setdefault("verbose", 0 if options.quiet else 1)
    return given


def _prepared(options):
    """Return unfitted features, what to learn, judge and calibrate by, and how."""
    from skcw.cli.features import make_features
    from skcw.cli.inputs import open_input, read_labeled, read_like

    corpus = open_input(options.corpus, options)
    X, y = read_labeled(corpus)
    features, templates = make_features(options, X, corpus.label_column())
    dev, held_out = (
        name and read_like(name, options, X, features, templates)
        for name in (options.dev, options.calibrate)
    )
    return features, (X, y), dev or (None, None), held_out, corpus.reading()


def _save(features, tagger, options, X, held_out, reading):
    """Save the model; return what it promises, in words."""
    from skcw.io import Tokenizer
    from skcw.pipeline import make_tagging_pipeline

    quieten(tagger, options)
    model = make_tagging_pipeline(features, tagger)
    model.tokenizer_ = Tokenizer.from_corpus(X)
    if options.calibrate is not None:
        from skcw.cli.promises import calibrated

        model = calibrated(model, options, X, held_out)
    model.reading_ = reading
    save_model(model, options)
    return [str(promise) for promise in getattr(model, "thresholds_", ())]


def quieten(tagger, options):
    """Take back what was for this training: who opens the model did not ask for it."""
    tagger.set_params(verbose=0)
    if options.jobs is not None:
        tagger.set_params(n_jobs=None)


def scores_of(tagger, batch, y, judged_on):
    """Return how good the labels are; the batch is the one that training used."""
    from skcw.exceptions import OutsideLabelWarning
    from skcw.metrics import span_f1_score, token_accuracy_score

    labels = tagger.predict(batch)
    with warnings.catch_warnings():
        # Training has warned of it.
        warnings.simplefilter("ignore", OutsideLabelWarning)
        span_f1 = span_f1_score(y, labels)
    return {
        "judged_on": judged_on,
        "span_f1": span_f1,
        "token_accuracy": token_accuracy_score(y, labels),
    }


def _text(result):
    where = {"dev": "on the dev file", "training": "on the training data"}
    judged = where.get(result["judged_on"])
    stages = ", ".join(f"{n} {s:.2f}" for n, s in result["seconds_of"].items())
    rows = [
        *((name, result[name]) for name in ROWS),
        ("seconds in all", f"{result['seconds']:.2f} ({stages})"),
    ]
    if judged is not None:
        rows += [
            (f"span F1 {judged}", f"{100 * result['span_f1']:.2f} %"),
            (f"token accuracy {judged}", f"{100 * result['token_accuracy']:.2f} %"),
        ]
    if result["pass_kept"] is not None:
        kept = kept_text(result["pass_kept"], result["passes"])
        rows.insert(len(ROWS), ("pass kept", kept))
    rows += [(f"of {result['calibration']}", text) for text in result["promises"]]
    return table(rows, ()) + (FLATTERING if result["judged_on"] == "training" else "")
