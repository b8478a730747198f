"""``skcw evaluate``: precision, recall and F1 as the conlleval program prints them."""

from skcw.cli._files import input_of, looks_like_model
from skcw.cli._messages import UsageError
from skcw.cli._options import (
    LEARNT_COLUMNS,
    add_json,
    add_label_column,
    add_reading,
    add_scheme,
    command_parser,
)
from skcw.cli._tables import report

TEXT = """\
Compare predicted labels with true ones and print the table of conlleval. All figures
are percentages except the last one of a line, the number of phrases found of that type.

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
        "the column of the true labels; the first is 0, the last -1 (default: -1 with "
        "a model, else -2; 3 with --conllu)",
    )
    parser.add_argument(
        "--predicted-column",
        type=int,
        metavar="NUMBER",
        help="the column of the predicted labels, without a model (default: -1)",
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
    from skcw.cli._scoring import SpanTally

    if len(options.inputs) > 2:
        raise UsageError("give a model and a file, or a file alone")
    tally = SpanTally(options.raw)
    if len(options.inputs) == 2:
        if options.predicted_column is not None:
            raise UsageError("--predicted-column cannot be used with a model")
        labels = _labels_of_model(*options.inputs, options)
        same = _same_labels(options.inputs[1], options, of_model=True)
    else:
        name = options.inputs[0] if options.inputs else "-"
        if looks_like_model(name):
            raise UsageError(
                f"{name} is a model; name a file with true labels after it"
            )
        labels = _labels_of_file(name, options)
        same = _same_labels(name, options, of_model=False)
    for gold, guess in labels:
        same.add(gold, guess)
        tally.add(rescheme(gold, options), rescheme(guess, options))
    if not tally.words:
        raise ValueError("there are no words to evaluate")
    same.check()
    report(options, tally.figures(), tally.text())


def _same_labels(name, options, of_model):
    """Return a check that both columns hold labels."""
    from skcw.cli._column_checks import LabelColumns
    from skcw.cli._corpus import label_column, title_of

    gold = label_column(options, otherwise=-1 if of_model else -2)
    true = f"column {gold} of {title_of(name)}"
    if of_model:
        hint = "--label-column tells where the true labels are (the last is -1)"
        return LabelColumns(true, "the labels of the model", hint)
    hint = (
        "--label-column and --predicted-column tell where the true and the predicted "
        "labels are (the last is -1; after `skcw tag --confidence` they are -3 and -2)"
    )
    return LabelColumns(true, f"column {_predicted_column(options)}", hint)


def _predicted_column(options):
    return -1 if options.predicted_column is None else options.predicted_column


def _labels_of_model(model, name, options):
    """Yield the true and the predicted labels of a gold file, block by block."""
    from skcw.cli._blocks import labelled_blocks
    from skcw.cli._column_checks import check_file
    from skcw.cli._corpus import open_model

    features, ask = open_model(model)
    for number, (X, gold) in enumerate(labelled_blocks(name, options)):
        if not number:
            check_file(features, X, name, "evaluate", " besides the labels")
        yield gold, ask(X).labels()


def _labels_of_file(name, options):
    """Yield the true and the predicted labels that a file holds, block by block."""
    from skcw.cli._corpus import label_column, reading_options
    from skcw.data import iter_columns

    gold = label_column(options, otherwise=-2)
    chosen = [gold, _predicted_column(options)]
    blocks = iter_columns(input_of(name), columns=chosen, **reading_options(options))
    for block in blocks:
        yield block.column(0), block.column(1)
