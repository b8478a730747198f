"""``skcw evaluate``: precision, recall and F1 as the conlleval program prints them."""

from skcw.cli._files import looks_like_model
from skcw.cli._messages import UsageError, warn
from skcw.cli._options import (
    LEARNT_COLUMNS,
    add_json,
    add_label_column,
    add_reading,
    add_scheme,
    command_parser,
    number_or_name,
)
from skcw.cli._tables import report

TEXT = """\
Compare predicted labels with true ones and print the table of conlleval. All figures
are percentages except the last one of a line, the number of phrases found of that type.

With a model, two kinds of lines follow: how far its confidences are from the share of
right labels and, if it was trained with --calibrate, which share of the words it
accepts and how many of those are wrong.

Give either a model and a file with true labels, or one file (or standard input) whose
last two columns are the true and the predicted labels, as `skcw tag` writes them for a
file that has true labels.

examples:
  skcw evaluate names.skcw test.conll
  skcw tag names.skcw test.conll | skcw evaluate
  skcw evaluate tagged.conll --label-column 2 --predicted-column 3
  skcw evaluate pos.skcw test.conll --raw --json
"""


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(
        commands, "evaluate", run, "print precision, recall and F1", TEXT
    )
    parser.usage = "skcw evaluate [options] [FILE | MODEL FILE]"
    parser.add_argument("inputs", nargs="*", metavar="FILE", help="see above")
    add_label_column(
        parser,
        "the column of the true labels; the first is 0, the last -1 (default: with a "
        "model as in training, else -2; 3 in CoNLL-U); a name in CSV and JSON lines",
    )
    parser.add_argument(
        "--predicted-column",
        type=number_or_name,
        metavar="COLUMN",
        help="the column of the predicted labels, without a model (default: -1; "
        "predicted in CSV and JSON lines)",
    )
    parser.add_argument(
        "-r",
        "--raw",
        action="store_true",
        help="count each word as a phrase: for parts of speech",
    )
    add_scheme(parser, "convert true and predicted labels to this scheme first")
    add_json(parser)
    add_reading(parser, LEARNT_COLUMNS)


def run(options):
    """Compare labels, and report."""
    from skcw.cli._corpus import rescheme
    from skcw.cli._inputs import open_input
    from skcw.cli._scoring import SpanTally

    if len(options.inputs) > 2:
        raise UsageError("give a model and a file, or a file alone")
    tally, confidence = SpanTally(options.raw), None
    if len(options.inputs) == 2:
        if options.predicted_column is not None:
            raise UsageError("--predicted-column cannot be used with a model")
        labels, confidence, corpus = _labels_of_model(*options.inputs, options)
        same = _same_labels(corpus, options, of_model=True)
    else:
        name = options.inputs[0] if options.inputs else "-"
        if looks_like_model(name):
            raise UsageError(
                f"{name} is a model; name a file with true labels after it"
            )
        corpus = open_input(name, options)
        labels = corpus.pairs(options.predicted_column)
        same = _same_labels(corpus, options, of_model=False)
    for gold, guess in labels:
        same.add(gold, guess)
        tally.add(rescheme(gold, options), rescheme(guess, options))
    if not tally.words:
        raise ValueError("there are no words to evaluate")
    same.check()
    if not options.raw:
        _warn_of_outside(same.true | same.predicted, options)
    figures, text = tally.figures(), tally.text()
    if confidence is not None:
        figures["confidence"] = confidence.figures()
        text = f"{text}\n{confidence.text()}"
    report(options, figures, text)


def _warn_of_outside(labels, options):
    """Warn if a label seems to stand for "O", which alone is no span."""
    from skcw.data._schemes import odd_outside

    odd = odd_outside(labels)
    if odd is not None:
        warn(
            options.command,
            f"the label {odd!r} seems to mean that a word is in no span, but only "
            f'"O" does: it is counted as a span. --outside {odd} says so',
        )


def _same_labels(corpus, options, of_model):
    """Return a check that both columns hold labels."""
    from skcw.cli._column_checks import LabelColumns

    true = corpus.label_title(of_model)
    if of_model:
        hint = "--label-column tells where the true labels are (the last is -1)"
        return LabelColumns(true, "the labels of the model", hint)
    hint = (
        "--label-column and --predicted-column tell where the true and the predicted "
        "labels are (the last is -1; after `skcw tag --confidence` they are -3 and -2)"
    )
    predicted = options.predicted_column
    return LabelColumns(true, f"column {-1 if predicted is None else predicted}", hint)


def _labels_of_model(model, name, options):
    """Return labels block by block, a tally of confidence, and the file."""
    from skcw.cli._corpus import open_model
    from skcw.cli._inputs import open_input
    from skcw.cli._promises import ConfidenceTally

    features, ask, selection, reading, tokenizer = open_model(model)
    if options.scheme is None and reading is not None:
        # The true labels are compared in the scheme that the model has learnt.
        options.scheme = reading.get("scheme")
    corpus = open_input(name, options, reading, tokenizer)
    tally = ConfidenceTally(selection)
    return _judged_blocks(features, ask, corpus, tally), tally, corpus


def _judged_blocks(features, ask, corpus, tally):
    """Yield the true and the predicted labels, and count how sure the model is."""
    from skcw.cli._column_checks import check_file
    from skcw.cli._corpus import rescheme

    for number, (X, gold) in enumerate(corpus.labelled()):
        X = corpus.for_model(X, features)
        if not number:
            check_file(features, X, corpus.name, "evaluate", " besides the labels")
        answers = ask(X)
        tally.add(answers, rescheme(gold, corpus.options))
        yield gold, answers.labels()
