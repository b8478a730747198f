"""Tag words (names, chunks, parts of speech) and know which labels to doubt.

A corpus is a text file with one word per line, its columns separated by TABs or blanks,
the label last, and an empty line after each sentence:

    Anna    NNP  B-PER
    left    VBD  O
    Madrid  NNP  B-LOC

CoNLL-U, CSV with a header and JSON lines are read, too, by every command; each reports
the format that it detected.

Examples
--------
  skcw compare                                 all learners on a built-in corpus
  skcw train train.conll -o names.skcw         learn, and save a model
  skcw tag names.skcw new.conll --confidence   label a file, or standard input
  skcw evaluate names.skcw test.conll          precision, recall and F1
  skcw inspect names.skcw --label B-PER        the weights behind a label
  skcw check train.conll                       labels that may be wrong
  skcw convert train.conll train.jsonl         the same corpus in another format

See `skcw COMMAND --help` for details. Exit codes: 0 done, 1 wrong data or model,
2 wrong usage, 130 interrupted.
"""

import os
import sys
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from importlib import import_module

from skcw._util.version import __version__
from skcw.cli.messages import (
    UsageError,
    check_outputs,
    describe,
    one_line,
    tell,
    visible,
)
from skcw.cli.options import described, explicit_json
from skcw.io.formats import OptionError

# In the order of the help; each has a module of its own, with `add_parser`.
COMMANDS = ("train", "tag", "evaluate", "compare", "inspect", "check", "convert")

# A shell reports 128 plus the number of the signal that ended a program.
INTERRUPTED = 128 + 2
BROKEN_PIPE = 128 + 13


class Parser(ArgumentParser):
    """A parser whose messages escape control characters."""

    def error(self, message):
        """Print usage and message, and leave with the code 2."""
        super().error(visible(message))


def make_parsers(names=COMMANDS):
    """Return the parser of the whole command line, and {name: parser} of commands."""
    parser = Parser(
        prog="skcw",
        **described(__doc__),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"skcw {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        import_module(f"skcw.cli.{name}").add_parser(commands)
    return parser, commands.choices


def parse(argv):
    """Return the options of a command line; they may stand among the files.

    Parameters
    ----------
    argv : list of str
        The words after ``skcw``.

    Returns
    -------
    options : argparse.Namespace
        With ``command`` and ``run``.
    """
    # A command that is named does not wait for the others.
    named = argv[:1] if argv and argv[0] in COMMANDS else COMMANDS
    parser, commands = make_parsers(named)
    if not argv:
        parser.print_help(sys.stderr)
        parser.exit(2)
    command = commands.get(argv[0])
    if command is None:
        return parser.parse_args(argv)
    # argparse alone would expect all files before the first option.
    return command.parse_intermixed_args(explicit_json(argv[1:]))


def main(argv: list[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Parameters
    ----------
    argv : list of str, default=None
        The words after ``skcw``; those of the process if None.

    Returns
    -------
    code : int
        0 for success, 1 for wrong data, 130 after Ctrl-C. Wrong usage leaves by
        ``SystemExit`` with the code 2.

    Examples
    --------
    >>> from skcw.cli import main
    >>> main(["evaluate", "no-such-file.conll"])
    1
    """
    argv = sys.argv[1:] if argv is None else argv
    options = parse(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn_briefly(options.command)
            given = vars(options)
            check_outputs(*(given.get(name) for name in ("json", "plot", "output")))
            options.run(options)
            sys.stdout.flush()
    except (UsageError, OptionError) as error:
        options.parser.error(one_line(error))
    except KeyboardInterrupt:
        return _fail(options.command, "interrupted", INTERRUPTED)
    except BrokenPipeError:
        _forget_output()
        return BROKEN_PIPE
    except (ValueError, OSError) as error:
        return _fail(options.command, describe(error), 1)
    return 0


def _fail(command, message, code):
    tell(f"skcw {command}: {message}")
    return code


def _warn_briefly(command):
    """Return a function that shows a warning in one line, as the errors are shown."""

    def show(message, category, filename, lineno, file=None, line=None):
        text = one_line(message)
        tell(f"skcw {command}: warning: {text}")

    return show


def _forget_output():
    """Let the interpreter's last flush go nowhere: the reader has gone."""
    try:
        target = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, target)
    os.close(nowhere)
