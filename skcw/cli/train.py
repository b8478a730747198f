"""Learn from a corpus and save a model.

CORPUS is a column file (one word per line, an empty line after each sentence), CoNLL-U,
CSV or JSON lines. The model, features and all, is saved in one file. It remembers how
CORPUS was read, so that `tag` and `evaluate` need no options for it.

Progress goes to standard error, one line per pass. With --dev, the pass that does best
on that file is kept (by span F1 if labels are spans, else by token accuracy), and
training stops after three passes without improvement. A CRF shows its accuracy on that
file but always keeps its last pass.

Examples
--------
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

import os
import time
import warnings
from collections import Counter
from itertools import chain

from skcw._util.text_table import aligned
from skcw.cli.features import make_features
from skcw.cli.inputs import Corpus, open_input, read_like, tell_of_unknown
from skcw.cli.learners import kept_passes, kept_text, make_tagger
from skcw.cli.messages import (
    UsageError,
    are_same,
    check_readable,
    check_replaceable,
    note,
    report,
)
from skcw.cli.options import (
    add_file,
    add_flag,
    add_number,
    add_training,
    command_parser,
    pace,
    share,
    size,
    value_of,
)

ROWS = ("model", "learner", "sentences", "words", "labels", "features", "passes")

# Of few labels, one that occurs once is worth a line; of many, many are rare.
MOST_ONCE, ENOUGH_WORDS = 5, 1000

JUDGED = {"dev": "on the dev file", "training": "on the training data"}
FLATTERING = (
    "\n\nThe model has seen the words of the training data, so these figures flatter "
    "it;\n--dev FILE gives fair ones."
)


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(commands, "train", run)
    text = "the file to learn from; - is standard input"
    add_file(parser, "corpus", text, "CORPUS")
    _add_model_file(parser)
    add_file(parser, "--dev", "a corpus to judge each pass and the result by")
    _add_risk(parser)
    _add_long_training(parser)
    add_training(parser, "convert all labels to this scheme first")


def _add_model_file(parser):
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the file to write"
    )
    text = "round the weights to half precision, for a smaller file"
    add_flag(parser, "--half", text=text)
    add_flag(
        parser,
        "--mapped",
        text="save the model as it is in memory, not packed, in a larger file that the "
        "processes of skcw tag --jobs share",
    )


def _add_risk(parser):
    group = parser.add_argument_group("risk control")
    add_file(
        group,
        "--calibrate",
        "a labeled corpus that is neither CORPUS nor --dev: find the threshold "
        "by which `skcw tag --accept` accepts labels",
    )
    text = "calibrate even on sentences that the model has learned from"
    add_flag(group, "--allow-training-data", text=text)
    group.add_argument(
        "--accept-risk",
        type=share,
        action="append",
        metavar="RISK",
        help="the largest share of errors among the accepted ones (default: 0.01); "
        "may be repeated",
    )
    group.add_argument(
        "--confidence-level",
        type=share,
        default=0.95,
        metavar="LEVEL",
        help="the probability with which that bound holds (default: 0.95)",
    )
    group.add_argument(
        "--accept-unit",
        choices=["word", "entity", "sentence"],
        default="word",
        help="the unit that is accepted (default: word)",
    )


def _add_long_training(parser):
    group = parser.add_argument_group("large corpora and long trainings (all but crf)")
    group.add_argument(
        "--memory",
        type=size,
        metavar="SIZE",
        help="train out of core, in about so much memory, such as 500M or 2G: CORPUS "
        "is read once, and encoded into temporary files",
    )
    add_number(
        group,
        "--max-features",
        text="with --memory: keep so many features, the most frequent ones (default: "
        "as many as half of the memory has room for)",
    )
    add_number(
        group,
        "--shards",
        text="train on N parts of CORPUS in parallel and merge them in each pass "
        "(default: 1)",
    )
    add_number(
        group,
        "--jobs",
        text="workers for --shards or --models; the model is bit-identical for any "
        "number (default: 1)",
    )
    group.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="save the training in this folder now and then; once the model is saved, "
        "its files are removed",
    )
    group.add_argument(
        "--checkpoint-every",
        type=pace,
        metavar="N",
        help="after so many passes, or minutes: 2, 10m (default: 1, each pass)",
    )
    add_flag(
        group,
        "--resume",
        text="continue from the last checkpoint, if there is one; the model is "
        "bit-identical to that of an uninterrupted training",
    )


def run(options):
    """Train."""
    clock = Clock()
    _check_options(options)
    from skcw.pipeline import make_tagging_pipeline

    tagger = make_tagger(options.model, options.seed, parameters(options))
    checkpoint = _checkpoint_of(options)
    # scikit-learn takes longer to import than a small corpus takes to read.
    clock.end("starting")
    file = open_input(options.corpus, options)
    corpus = Corpus(file, in_blocks=options.memory is not None)
    features, templates = make_features(options, corpus.first, file.label_column())
    dev, held_out = (
        name and read_like(name, options, corpus.first, features, templates)
        for name in (options.dev, options.calibrate)
    )
    pipeline = make_tagging_pipeline(features, tagger)
    judged = _fit(pipeline, corpus, dev, checkpoint, clock)
    model, tagger = _saved(pipeline, corpus, held_out, options), pipeline.tagger
    _tell_of_slips(tagger, options)
    _tell_of_labels(tagger.classes_, corpus, dev, held_out)
    if checkpoint is not None:
        checkpoint.clear()
    if options.calibrate is not None:
        clock.end("calibrating")
    result = {
        "model": options.output,
        "learner": type(tagger).__name__,
        "sentences": corpus.n_sentences,
        "words": corpus.n_words,
        "labels": len(tagger.classes_),
        "features": pipeline[0].n_features_out_,
        "passes": tagger.n_iter_,
        "pass_kept": kept_passes(tagger),
        "seconds": clock.total(),
        "seconds_of": clock.seconds,
        **_scores(tagger, *judged, "training" if dev is None else "dev"),
        "history": tagger.history_,
        "thresholds": [str(found) for found in getattr(model, "thresholds_", ())],
        "calibration": options.calibrate,
    }
    report(options, result, _text(result))


class Clock:
    """Takes the time of each stage of the work."""

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


def _check_options(options):
    """Refuse, before any work, contradictions and files that cannot be written."""
    if options.max_features is not None and options.memory is None:
        raise UsageError("--max-features needs --memory; see also --min-count")
    if options.shards is not None and options.model == "crf":
        raise UsageError("--shards does not go with --model crf")
    whole = options.model == "crf" or options.calibrate is not None
    if options.memory is not None and whole:
        raise UsageError("--memory goes neither with --model crf nor with --calibrate")
    if options.calibrate is None and options.accept_risk is not None:
        raise UsageError("--accept-risk needs sentences to calibrate on: --calibrate")
    if options.calibrate is None and options.allow_training_data:
        raise UsageError("--allow-training-data is for sentences of --calibrate")
    for name in filter(None, (options.corpus, options.dev, options.calibrate)):
        if os.path.exists(options.output) and are_same(options.output, name):
            raise UsageError(f"-o would overwrite the corpus {name}")
    check_replaceable(options.output)
    for name in filter(None, (options.corpus, options.dev)):
        known = options.calibrate and are_same(options.calibrate, name)
        if known and not options.allow_training_data:
            used = "the model has learned from it"
            if not are_same(options.corpus, name):
                used = "the pass to keep is chosen by it"
            raise UsageError(
                f"--calibrate must not be {name}: {used}, so it cannot be used for "
                "calibration; --allow-training-data does so anyway"
            )
    if options.checkpoint is None:
        if options.resume or options.checkpoint_every is not None:
            raise UsageError("--resume and --checkpoint-every need --checkpoint DIR")
    elif options.model == "crf":
        raise UsageError("CRFsuite trains in one go: --checkpoint is for the others")
    check_readable(options, options.corpus, options.dev, options.calibrate)


def _checkpoint_of(options):
    """Return where to save the training, or None."""
    if options.checkpoint is None:
        return None
    from skcw._model.checkpoint import Checkpoint

    every = options.checkpoint_every or {}
    checkpoint = Checkpoint(options.checkpoint, resume=options.resume, **every)
    checkpoint.check()
    return checkpoint


def parameters(options):
    """Return the parameters of the learner that the options set."""
    given = {name: value_of(text) for name, text in options.set}
    named = {
        "max_iter": options.passes,
        "n_models": options.models,
        # An option of `skcw train` alone.
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


def _fit(pipeline, corpus, dev, checkpoint, clock):
    """Train, and return the batch and the labels that judge the result, if any."""
    from skcw.io import Tokenizer

    options = corpus.file.options
    given = {} if checkpoint is None else {"checkpoint": checkpoint}
    given |= {} if options.shards is None else {"n_shards": options.shards}
    if options.memory is not None:
        given |= {} if dev is None else {"X_dev": dev[0], "y_dev": dev[1]}
        limits = {"memory": options.memory, "max_features": options.max_features}
        pipeline.fit_stream(corpus, **limits, **given)
        clock.end("training")
        return (None, None) if dev is None else (pipeline.encode(dev[0]), dev[1])
    clock.end("reading")
    # As `fit` of the pipeline, but the scores use the same features once more.
    ((X, y),) = corpus
    features, tagger = pipeline[0], pipeline.tagger
    batch = features.fit_transform(X)
    judged = (batch, y) if dev is None else (features.transform(dev[0]), dev[1])
    clock.end("features")
    given |= {} if dev is None else {"X_dev": judged[0], "y_dev": judged[1]}
    tagger.fit(batch, y, **given)
    pipeline.tokenizer_ = Tokenizer.from_corpus(X)
    clock.end("training")
    return judged


def _saved(pipeline, corpus, held_out, options):
    """Save the model, which is selective if sentences are held out, and return it."""
    tagger = pipeline.tagger
    # These were meant for this training alone.
    tagger.set_params(verbose=0)
    if options.jobs is not None:
        tagger.set_params(n_jobs=None)
    model = pipeline
    if held_out is not None:
        from skcw.cli.risk import calibrated

        model = calibrated(pipeline, options, held_out)
    model.reading_ = corpus.file.reading()
    dtype = "float16" if options.half else None
    model.save(options.output, dtype, mapped=options.mapped)
    return model


def _tell_of_slips(tagger, options):
    """Tell of sentences that break the scheme that nearly all of them follow."""
    faults = getattr(tagger, "scheme_faults_", {})
    scheme = getattr(tagger, "constraints_", None)
    if faults.get(scheme) and tagger.constraints == "auto":
        note(
            options,
            f"sentences that break the scheme {scheme}: {faults[scheme]} of "
            f"{faults['sequences']}; they are learned from as they are (`skcw convert "
            "--scheme` says where the first is, and repairs them)",
        )


def _tell_of_labels(classes, corpus, dev, held_out):
    """Tell of labels that may be misspelled: rare ones, and those of training only."""
    from skcw.data.schemes import stray_labels

    options, counts = corpus.file.options, corpus.labels
    strays = stray_labels(counts)  # Training has warned of them.
    once = sorted(label for label in counts.keys() - strays if counts[label] == 1)
    if 0 < len(once) <= MOST_ONCE and corpus.n_words >= ENOUGH_WORDS:
        note(options, f"labels that occur once: {', '.join(once)}; a typing error?")
    for name, judged in ((options.dev, dev), (options.calibrate, held_out)):
        if judged is not None:
            found = Counter(chain.from_iterable(judged[1]))
            tell_of_unknown(found, classes, name, options)


def _scores(tagger, batch, y, judged_on):
    """Return how good the labels are, if something judges them."""
    if batch is None:
        return {"judged_on": None}
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
    stages = ", ".join(f"{n} {s:.2f}" for n, s in result["seconds_of"].items())
    rows = [(name, result[name]) for name in ROWS]
    if result["pass_kept"] is not None:
        rows.append(("pass kept", kept_text(result["pass_kept"], result["passes"])))
    rows.append(("seconds in all", f"{result['seconds']:.2f} ({stages})"))
    if result["judged_on"] is not None:
        judged = JUDGED[result["judged_on"]]
        rows += [
            (f"span F1 {judged}", f"{100 * result['span_f1']:.2f} %"),
            (f"token accuracy {judged}", f"{100 * result['token_accuracy']:.2f} %"),
        ]
    held_out = f"calibrated on {result['calibration']}"
    rows += [(held_out, text) for text in result["thresholds"]]
    return aligned(rows, ()) + (FLATTERING if result["judged_on"] == "training" else "")
