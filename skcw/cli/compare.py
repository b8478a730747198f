"""``skcw compare``: all learners on the same features, side by side."""

import gc
import time

from skcw.cli.messages import UsageError, progress_bar, report, table
from skcw.cli.options import (
    add_features,
    add_json,
    add_label_column,
    add_quiet,
    add_reading,
    add_scheme,
    add_seed,
    command_parser,
    positive,
)
from skcw.cli.taggers import MEANS, OLDER, TAGGERS, TITLES, make_tagger

TEXT = """\
Train confidence-weighted learners and a tuned CRF on the same features of the same
sentences, test them on others, and print

  span F1        F1 over whole names or chunks, in per cent
  wrong words    the share of words that get a wrong label, in per cent
  ±              how far the figure before it moves with other test sentences: half
                 the width of the interval that holds 95 % of 500 resampled tests
  found          the share of all wrong words that a reader finds by checking only the
                 tenth of the words that the learner is least sure of, in per cent
  off            how far confidences are from the share of words that are right: their
                 root CalibMSE, without any calibration, in percentage points
  fit s, tag s   seconds for training and for labeling the test sentences

Features are computed once; their time is not included. Without files, a built-in corpus
is used: a quarter of it for training and the rest for testing, which is cheap. With one
file, a quarter of its sentences is held out for testing.

examples:
  skcw compare
  skcw compare train.conll test.conll --features chunking
  skcw compare corpus.conll --learners cw,crf --json
  skcw compare --learners cw,hmm,maxent
"""

DOUBTFUL = 0.1
HELD_OUT = 0.25
# Generated sentences cost nothing: most of them make the figures more certain.
HELD_OUT_BUILT_IN = 0.75
LEARNERS = ["cw", *MEANS, *(name for name in TAGGERS if name != "cw")]


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(
        commands, "compare", run, "train all learners and compare them", TEXT
    )
    parser.add_argument(
        "train", nargs="?", metavar="TRAIN", help="a corpus to learn from"
    )
    parser.add_argument("test", nargs="?", metavar="TEST", help="a corpus to test on")
    parser.add_argument(
        "--learners",
        type=lambda text: text.split(","),
        default=LEARNERS,
        metavar="NAME,...",
        help=f"which of {', '.join(LEARNERS)} (default: all of these), or of "
        f"{', '.join(OLDER)}",
    )
    parser.add_argument(
        "--sentences",
        type=positive,
        default=4000,
        metavar="N",
        help="the size of the built-in corpus (default: 4000)",
    )
    add_label_column(parser)
    add_scheme(parser, "convert all labels to this scheme first")
    add_seed(parser)
    add_json(parser)
    add_quiet(parser)
    add_features(parser)
    add_reading(parser)


def run(options):
    """Train and test all learners, and report."""
    from skcw.cli.evaluate import margins_of_error, sentence_counts
    from skcw.cli.features import make_features
    from skcw.cli.inputs import read_like

    known = [*LEARNERS, *OLDER]
    unknown = [name for name in options.learners if name not in known]
    if unknown:
        raise UsageError(
            f"each of --learners must be one of {', '.join(known)}, not {unknown[0]!r}"
        )
    (X_train, y_train), held_out, label = _corpora(options)
    encoder, templates = make_features(options, X_train, label)
    X_test, y_test = held_out or read_like(
        options.test, options, X_train, encoder, templates
    )
    train, fit_seconds = _timed(encoder.fit_transform, X_train)
    test, tag_seconds = _timed(encoder.transform, X_test)
    rows = []
    bar = progress_bar(options.learners, quiet=options.quiet)
    for name in bar:
        bar.set_description(f"training {TITLES[name]}")
        tagger = make_tagger(name, options.seed)
        labels, row = _measure(name, tagger, train, y_train, test, y_test)
        counts = sentence_counts(y_test, labels)
        row["span_f1_margin"], row["token_error_margin"] = margins_of_error(
            counts, options.seed
        )
        rows.append(row)
    result = {
        "train": {"sentences": len(train), "words": train.n_tokens},
        "test": {"sentences": len(test), "words": test.n_tokens},
        "features": train.n_features,
        "feature_seconds": fit_seconds + tag_seconds,
        "learners": rows,
    }
    report(options, result, _text(result))


def _corpora(options):
    """Return (X, y) to train on, (X, y) held out or None, and the label column."""
    from skcw.cli.inputs import open_input, read_labeled

    share, label = HELD_OUT_BUILT_IN, None
    if options.train is None:
        X, y = _built_in(options)
    else:
        corpus = open_input(options.train, options)
        (X, y), share, label = read_labeled(corpus), HELD_OUT, corpus.label_column()
    if options.test is not None:
        return (X, y), None, label
    return *_split(X, y, share, options.seed), label


def _split(X, y, share, seed):
    """Return (X, y) to train on and (X, y) to test on."""
    from sklearn.model_selection import train_test_split

    if len(X) < 8:
        raise ValueError(f"{len(X)} sentences are too few to hold out some for a test")
    rows = train_test_split(range(len(X)), test_size=share, random_state=seed)
    return [(X[sorted(part)], y[sorted(part)]) for part in rows]


def _built_in(options):
    from skcw._util.ragged import object_rows
    from skcw.data import TokenColumns
    from skcw.datasets import make_tagged_corpus

    corpus = make_tagged_corpus(options.sentences, random_state=options.seed)
    X = TokenColumns.from_sequences(corpus.tokens, names=["word", "pos"])
    return X, object_rows(corpus.labels)


def _measure(name, tagger, train, y_train, test, y_test):
    """Fit a tagger, use it, and return its labels and its row of the table."""
    import numpy as np

    from skcw.metrics import (
        root_calibration_mse,
        span_f1_score,
        token_accuracy_score,
        token_correct,
    )

    if name == "crf":
        # CRFsuite reads lists of strings: making them is not part of its work.
        train, test = train.to_lists(), test.to_lists()
    _, fit_seconds = _timed(tagger.fit, train, y_train)
    labels, tag_seconds = _timed(tagger.predict, test)
    confidence = tagger.predict_confidence(test)
    return labels, {
        "learner": name,
        "span_f1": span_f1_score(y_test, labels),
        "token_error": 1 - token_accuracy_score(y_test, labels),
        "errors_at_k": share_found(y_test, labels, confidence),
        "calibration_error": root_calibration_mse(
            np.concatenate(list(token_correct(y_test, labels))),
            np.concatenate(list(confidence)),
        ),
        "fit_seconds": fit_seconds,
        "tag_seconds": tag_seconds,
    }


def _timed(function, *arguments):
    """Return the result of a call and the seconds that it took.

    As in timeit, the garbage of what went before is not charged to it.
    """
    gc.disable()
    try:
        began = time.perf_counter()
        result = function(*arguments)
        return result, time.perf_counter() - began
    finally:
        gc.enable()


def share_found(y_true, y_pred, confidence, share=DOUBTFUL):
    """Return the share of the wrong words that are among the least confident ones.

    Parameters
    ----------
    y_true : sequences of str
        True labels.
    y_pred : sequences of str
        Predicted labels.
    confidence : sequences of float
        How sure the tagger is of each of them.
    share : float, default=0.1
        How many of the words a reader checks.

    Returns
    -------
    found : float or None
        From 0 to 1; None if no word is wrong. Words of equal confidence at the border
        count by their mean.
    """
    import numpy as np

    from skcw import metrics

    correct = np.concatenate(list(metrics.token_correct(y_true, y_pred)))
    if correct.all():
        return None
    sure = np.concatenate(list(confidence))
    n_read = max(1, round(share * len(sure)))
    found = metrics.errors_at_k(correct, sure, n_read)
    return found / np.count_nonzero(~correct)


def _text(result):
    rows = [
        (
            TITLES[row["learner"]],
            100 * row["span_f1"],
            100 * row["span_f1_margin"],
            100 * row["token_error"],
            100 * row["token_error_margin"],
            None if row["errors_at_k"] is None else 100 * row["errors_at_k"],
            100 * row["calibration_error"],
            row["fit_seconds"],
            row["tag_seconds"],
        )
        for row in result["learners"]
    ]
    headers = ["learner", "span F1 %", "±", "wrong words %", "±", "found %", "off %"]
    headers += ["fit s", "tag s"]
    formats = [None, ".2f", ".2f", ".2f", ".2f", ".1f", ".1f", ".2f", ".3f"]
    train, test = result["train"], result["test"]
    return (
        f"{train['sentences']} sentences ({train['words']} words) to train, "
        f"{test['sentences']} ({test['words']}) to test; {result['features']} features "
        f"in {result['feature_seconds']:.2f} s\n\n"
        f"{table(rows, headers, formats)}\n\n"
        "±: with other test sentences, 95 times in 100 the figure moves by less\n"
        "found: of the wrong words, those among the 10 % that the learner doubts most\n"
        "off: how far confidences are from the share of words that are right"
    )
