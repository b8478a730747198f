"""Train all learners and compare them.

Confidence-weighted learners and a tuned CRF of sklearn-crfsuite are trained on the same
features of the same sentences and tested on others. The table shows

  span F1        F1 over whole names or chunks, in per cent
  wrong words    the share of words that get a wrong label, in per cent
  ±              how far the figure before it moves with other test sentences: half
                 the width of the interval that holds 95 % of 500 resampled tests
  found          the share of all wrong words among the tenth of the words that the
                 learner is least confident of, in per cent
  off            how far confidences are from the share of words that are right: their
                 root CalibMSE, without any calibration, in percentage points
  fit s, tag s   seconds for training and for labeling the test sentences

Features are computed once; their time is not included. Without files, a built-in corpus
is used: a quarter of it for training and the rest for testing, which is cheap. With one
file, a quarter of its sentences is held out for testing.

Examples
--------
  skcw compare
  skcw compare train.conll test.conll --features chunking
  skcw compare corpus.conll --learners cw,crf --json
  skcw compare --learners cw,hmm,maxent
"""

import gc
import time

from skcw._util.text_table import aligned
from skcw.cli.features import make_features
from skcw.cli.inputs import open_input, read_labeled, read_like
from skcw.cli.learners import LEARNERS, make_tagger, names_of
from skcw.cli.messages import UsageError, progress_bar, report
from skcw.cli.options import add_file, add_number, add_training, command_parser

# Key, title and format of the columns in per cent.
SHARES = (
    ("span_f1", "span F1 %", ".2f"),
    ("span_f1_margin", "±", ".2f"),
    ("token_error", "wrong words %", ".2f"),
    ("token_error_margin", "±", ".2f"),
    ("errors_at_k", "found %", ".1f"),
    ("calibration_error", "off %", ".1f"),
)
DOUBTFUL = 0.1
HELD_OUT = 0.25
# Generated sentences cost nothing: most of them make the figures more certain.
HELD_OUT_BUILT_IN = 0.75


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(commands, "compare", run)
    add_file(parser, "train", "a corpus to learn from", "TRAIN", nargs="?")
    add_file(parser, "test", "a corpus to test on", "TEST", nargs="?")
    usual = names_of("compare")
    parser.add_argument(
        "--learners",
        type=lambda text: text.split(","),
        default=usual,
        metavar="NAME,...",
        help=f"which of {', '.join(LEARNERS)} (default: {','.join(usual)})",
    )
    text = "the size of the built-in corpus (default: 4000)"
    add_number(parser, "--sentences", text=text, default=4000)
    add_training(parser, "convert all labels to this scheme first", False)


def run(options):
    """Train and test all learners, and report."""
    from skcw.cli.evaluate import margins_of_error, sentence_counts

    unknown = [name for name in options.learners if name not in LEARNERS]
    if unknown:
        names = ", ".join(LEARNERS)
        raise UsageError(
            f"each of --learners must be one of {names}, not {unknown[0]!r}"
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
        bar.set_description(f"training {LEARNERS[name].title}")
        labels, row = _measure(name, options.seed, train, y_train, test, y_test)
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


def _measure(name, seed, train, y_train, test, y_test):
    """Fit a learner, use it, and return its labels and its row of the table."""
    from skcw._util.ragged import object_rows
    from skcw.metrics import root_calibration_mse, span_f1_score, token_accuracy_score
    from skcw.tagging.crf import as_tagger

    if name == "crf":
        # It reads lists of strings: making them is not part of its work.
        tagger, train, test = _original_crf(), train.to_lists(), test.to_lists()
    else:
        tagger = make_tagger(name, seed)
    _, fit_seconds = _timed(tagger.fit, train, y_train)
    labels, tag_seconds = _timed(tagger.predict, test)
    # Of sentences of one length, sklearn-crfsuite makes a table.
    labels = object_rows(map(list, labels))
    confidence = as_tagger(tagger).predict_confidence(test)
    return labels, {
        "learner": name,
        "span_f1": span_f1_score(y_test, labels),
        "token_error": 1 - token_accuracy_score(y_test, labels),
        "errors_at_k": share_found(y_test, labels, confidence),
        "calibration_error": root_calibration_mse(
            *_correct_and_confidence(y_test, labels, confidence)
        ),
        "fit_seconds": fit_seconds,
        "tag_seconds": tag_seconds,
    }


def _original_crf():
    """Return the CRF of sklearn-crfsuite, with the parameters of ``--model crf``."""
    from sklearn_crfsuite import CRF

    params = dict(LEARNERS["crf"].params)
    return CRF(max_iterations=params.pop("max_iter"), **params)


def _correct_and_confidence(y_true, y_pred, confidence):
    """Return whether each word is right and its confidence, in two arrays."""
    import numpy as np

    from skcw.metrics import token_correct

    correct = np.concatenate(list(token_correct(y_true, y_pred)))
    return correct, np.concatenate(list(confidence))


def _timed(function, *arguments):
    """Return the result of a call and the seconds that it took.

    As in timeit, garbage of earlier work is not charged to it.
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
        The confidence of each of them.
    share : float, default=0.1
        How many of the words a reader checks.

    Returns
    -------
    found : float or None
        From 0 to 1; None if no word is wrong. Words of equal confidence at the border
        count by their mean.
    """
    from skcw.metrics import errors_at_k

    correct, sure = _correct_and_confidence(y_true, y_pred, confidence)
    if correct.all():
        return None
    [found] = errors_at_k(correct, sure, max(1, round(share * len(sure))))
    return found / int((~correct).sum())


def _text(result):
    rows = [
        (
            LEARNERS[row["learner"]].title,
            *(None if row[name] is None else 100 * row[name] for name, *_ in SHARES),
            row["fit_seconds"],
            row["tag_seconds"],
        )
        for row in result["learners"]
    ]
    headers = ["learner", *(title for _, title, _ in SHARES), "fit s", "tag s"]
    formats = [None, *(form for *_, form in SHARES), ".2f", ".3f"]
    train, test = result["train"], result["test"]
    return (
        f"{train['sentences']} sentences ({train['words']} words) to train, "
        f"{test['sentences']} ({test['words']}) to test; {result['features']} features "
        f"in {result['feature_seconds']:.2f} s\n\n"
        f"{aligned(rows, headers, formats)}\n\n"
        "±: with other test sentences, 95 times in 100 the figure moves by less\n"
        "found: of the wrong words, those among the 10 % that the learner doubts most\n"
        "off: how far confidences are from the share of right words; lower is better"
    )
