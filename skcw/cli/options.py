"""Options that several commands share."""

import ast
import sys
from argparse import ArgumentTypeError, RawDescriptionHelpFormatter

from skcw.cli.learners import LEARNERS, names_of
from skcw.io.formats import FORMATS

COLUMNS = (
    "the columns to learn from, in the order of the file: word,pos. NAME=NUMBER picks "
    "one by its number, counted from 0: word=1,pos=3; in CSV and JSON lines, NAME=NAME "
    "by its name. Default: all but the label, called word, pos, x2, x3, ...; word=1 "
    "in CoNLL-U"
)
LEARNED_COLUMNS = (
    "where FILE has the columns that the model has learned from, in the order of "
    "training, counted from 0: word=1,pos=3; in CSV and JSON lines by name: "
    "word=Token. Default: as in training, or the first ones"
)

SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " ", "blanks": " ", "auto": None}


def described(text):
    """Return description and epilog of a parser: a docstring, and its examples."""
    text = (text or "").replace("\nExamples\n--------\n", "\nexamples:\n")
    description, title, examples = text.partition("\nexamples:\n")
    return {"description": description, "epilog": title[1:] + examples}


def command_parser(commands, name, run, summary=None, text=None):
    """Add a command and return its parser.

    Parameters
    ----------
    commands : argparse action
        The result of ``add_subparsers``.
    name : str
        The name of the command.
    run : callable
        ``run(options)`` does the work.
    summary : str, default=None
        One line for the list of commands; by default the first of `text`.
    text : str, default=None
        What the command does, and a section with examples; by default the docstring of
        its module.

    Returns
    -------
    parser : argparse.ArgumentParser
        The parser of the command.
    """
    # Python without docstrings (-OO) has commands without descriptions.
    text = text or sys.modules[run.__module__].__doc__ or ""
    summary = summary or text.partition("\n")[0].rstrip(".")
    parser = commands.add_parser(
        name,
        help=summary[:1].lower() + summary[1:],
        **described(text),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=name, run=run, parser=parser)
    return parser


def add_file(parser, name, text, metavar="FILE", **more):
    """Add a file to read."""
    parser.add_argument(name, metavar=metavar, help=text, **more)


def add_number(parser, *names, text, default=None, least=1):
    """Add an option whose value is a whole number, 1 or more, or 0 or more."""
    kind = positive if least else natural
    parser.add_argument(*names, type=kind, default=default, metavar="N", help=text)


def add_flag(parser, *names, text):
    """Add an option without a value."""
    parser.add_argument(*names, action="store_true", help=text)


def add_model(parser):
    """Add the file of a model."""
    add_file(parser, "model", "a file that `skcw train` has written", "MODEL")


def add_json(
    parser,
    text="print JSON instead of the table; --json=FILE writes it there, and the table "
    "to standard output",
    metavar="FILE",
):
    """Add ``--json``, which takes a file only after an equals sign."""
    parser.add_argument("--json", nargs="?", const="-", metavar=metavar, help=text)


def explicit_json(argv):
    """Return the arguments with a bare ``--json`` written out as ``--json=-``.

    ``skcw evaluate --json out.conll`` must not take the corpus for the file to write.

    Parameters
    ----------
    argv : list of str
        The arguments.

    Returns
    -------
    arguments : list of str
        The same, with ``--json=-`` for a bare ``--json``.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    return ["--json=-" if a == "--json" else a for a in argv[:end]] + list(argv[end:])


def add_quiet(parser):
    """Add ``--quiet``."""
    text = "show neither progress nor notes on standard error"
    add_flag(parser, "-q", "--quiet", text=text)


def add_reading(parser, columns=COLUMNS):
    """Add the options that say how column files are laid out.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of a command.
    columns : str
        The help of ``--columns``.
    """
    group = parser.add_argument_group("how files are read")
    _add_format(group)
    group.add_argument("--columns", type=column_list, metavar="NAME,...", help=columns)
    group.add_argument(
        "--sentence-column",
        metavar="NAME",
        help="the column of a CSV file that tells sentences apart (default: "
        "sentence_id, sent_id, sentence or Sentence #)",
    )
    group.add_argument(
        "--label-names",
        metavar="NAME,... | FILE",
        help="the labels that numbers in JSON lines stand for, from 0 on: "
        "O,B-PER,I-PER; or a file with one per line, or with an id2label in JSON",
    )
    group.add_argument(
        "--misaligned",
        choices=["widen", "drop", "raise"],
        help="what to do about spans in JSON that begin or end within a word: widen "
        "them to whole words, drop them, or raise an error (default: widen; how many "
        "is told)",
    )
    group.add_argument(
        "--outside",
        metavar="LABEL",
        help='the label of words outside of all names (default: O); it is read as "O"',
    )
    group.add_argument(
        "--separator",
        type=separator,
        metavar="SEP",
        help='separator of columns: "tab", "blanks" or a character (default: TAB if '
        "the first line has one, else blanks; in CSV the most frequent in the header)",
    )
    group.add_argument(
        "--comment",
        metavar="PREFIX",
        help="skip lines that begin with this (default: # in lines without a "
        "TAB, if columns are separated by TABs)",
    )
    group.add_argument(
        "--encoding", type=encoding, metavar="NAME", help="default: utf-8"
    )


def _add_format(group):
    titles = ", ".join(format.title for format in FORMATS.values())
    group.add_argument(
        "--format",
        choices=list(FORMATS),
        help=f"{titles} (default: guessed from the first line, and reported unless it "
        "is columns)",
    )
    group.add_argument(
        "--conllu",
        action="store_const",
        dest="format",
        const="conllu",
        help="the same as --format conllu: comments begin with #; ranges such as 1-2 "
        "and empty nodes such as 1.1 are not words",
    )


def add_label_column(
    parser,
    text="the column of the labels; the first is 0, the last -1 (default: -1; 3 in "
    "CoNLL-U); a name in CSV and JSON lines",
):
    """Add ``--label-column``."""
    parser.add_argument(
        "--label-column", type=number_or_name, metavar="COLUMN", help=text
    )


def add_scheme(parser, text):
    """Add ``--scheme``."""
    parser.add_argument(
        "--scheme", choices=["IOB1", "IOB2", "IOBES", "BILOU"], help=text
    )


def add_features(parser):
    """Add the options that choose features."""
    group = parser.add_argument_group("features")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--features",
        metavar="SET",
        help="ner, chunking or pos, or features of your own, separated by ';': "
        '"word[-2..2]; suffix(1..3)" (default: ner)',
    )
    add_file(
        either,
        "--template",
        "features from a file, one per line: CRF++ templates such as "
        "U01:%%x[-1,0]/%%x[0,0], lines as for --features, or both; lines such as "
        "B01:%%x[0,0] are weights of pairs of labels (cw, arow, pa, perceptron)",
    )
    tables = {
        "lexicon": "a list of words, one per line, for the feature in(NAME); may be "
        "repeated. Ready sets are extended by in(NAME)[-1..1]; features of your own "
        "must name it. If entries have several words, span(NAME) is the place in one",
        "clusters": "clusters of words for the feature cluster(NAME): Brown clusters "
        "(path, word, count) or a word and its cluster on each line; may be repeated. "
        "Ready sets are extended by cluster(NAME)[-1..1]",
    }
    for name, text in tables.items():
        group.add_argument(
            f"--{name}",
            type=name_and_file,
            action="append",
            default=[],
            metavar="NAME=FILE",
            help=text,
        )
    text = "leave out features that occur fewer than N times (default: 1)"
    add_number(group, "--min-count", text=text, default=1)


def add_tagger(parser):
    """Add the options that choose a learner."""
    group, names = parser.add_argument_group("learner"), names_of("train")
    group.add_argument(
        "--model",
        choices=names,
        default="cw",
        help=f"{', '.join(LEARNERS[name].about for name in names)} (default: cw)",
    )
    text = "passes over the corpus (default: 10; at most 150 for crf)"
    add_number(group, "--passes", text=text)
    text = "train N models on different shuffles and average them (default: 1)"
    add_number(group, "--models", text=text)
    group.add_argument(
        "--set",
        type=name_and_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other parameter of the learner, such as phi=0.5 or constraints=BIO; "
        "may be repeated",
    )
    add_seed(group)


def add_training(parser, scheme, choose_tagger=True):
    """Add the options of all commands that train.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of a command.
    scheme : str
        The help of ``--scheme``.
    choose_tagger : bool, default=True
        Whether there are options of one learner; otherwise the seed alone.
    """
    add_label_column(parser)
    add_scheme(parser, scheme)
    add_json(parser)
    add_quiet(parser)
    add_features(parser)
    (add_tagger if choose_tagger else add_seed)(parser)
    add_reading(parser)


def add_seed(parser):
    """Add ``--seed``."""
    text = "seed for all random choices (default: 0)"
    add_number(parser, "--seed", text=text, default=0, least=0)


def positive(text):
    """Return a whole number above 0."""
    number = natural(text)
    if not number:
        raise ArgumentTypeError("must be at least 1")
    return number


def natural(text):
    """Return a whole number, 0 or more, that fits a seed."""
    return _number(text, "whole number", int, range(2**32).__contains__, "2**32 - 1")


def share(text):
    """Return a number between 0 and 1."""
    return _number(text, "number", float, lambda number: 0 < number < 1, "1")


def _number(text, noun, kind, fits, most):
    try:
        number = kind(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a {noun}") from None
    if not fits(number):
        raise ArgumentTypeError(f"{text} is not between 0 and {most}")
    return number


def pace(text):
    """Return how often to save a training: {"every_passes": 2}, or minutes: 10m."""
    if not text.endswith("m"):
        return {"every_passes": positive(text)}
    noun, fits = "number of minutes", lambda minutes: 0 < minutes < 1e6
    found = _number(
        text, noun, lambda text: float(text[:-1]), fits, "a million minutes"
    )
    return {"every_passes": None, "every_minutes": found}


def size(text):
    """Return the bytes that a size such as 2G stands for."""
    from skcw.tagging.out_of_core import bytes_of

    try:
        return bytes_of(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def separator(text):
    """Return the separator that a word or a character stands for."""
    found = SEPARATORS.get(text, text)
    single = found is None or (len(found) == 1 and found.isascii())
    if not single or (found or " ") in "\r\n":
        raise ArgumentTypeError(
            f'{text!r} is neither "tab", "blanks" nor an ASCII character'
        )
    return found


def encoding(text):
    """Return the name of an encoding that Python knows."""
    try:
        "".encode(text)
    except LookupError:
        raise ArgumentTypeError(f"{text!r} is not a known encoding") from None
    return text


def name_and_value(text):
    """Return the two sides of NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def name_and_file(text):
    """Return the two sides of NAME=FILE."""
    name, _, file = text.partition("=")
    if not (name.isidentifier() and file):
        raise ArgumentTypeError(
            f"{text!r} is not of the form NAME=FILE, such as town=towns.txt"
        )
    return name, file


def value_of(text):
    """Return the number, True, None, list... that a text stands for, or the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def number_or_name(text):
    """Return the number of a column, or its name."""
    try:
        return int(text)
    except ValueError:
        return text


def column_list(text):
    """Return {name: column} of NAME,NAME=COLUMN,...; None stands for a bare name."""
    columns = {}
    for item in text.split(","):
        name, equals, column = item.strip().partition("=")
        if not name or name in columns or (equals and not column):
            raise ArgumentTypeError(f"{text!r} names a column twice, or not at all")
        columns[name] = number_or_name(column) if equals else None
    return columns
