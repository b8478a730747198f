"""Messages on standard error: one-line errors and warnings, and progress bars."""

import re
import sys

# What messages of the package advise in Python -> the same for a command line.
ADVICE = {
    r'\bencoding="([^"]+)"': r"--encoding \1",
    r'\bcomment="([^"]+)"': r'--comment "\1"',
    r"\bcolumns=": "--columns",
    r"\bsentence=NAME": "--sentence-column NAME",
    r"\bname the column of the labels: .*": "--label-column tells where they are",
    r"\bpass names=.*": "--label-names says it",
    r"\bconvert_labels\(.*, outside=('[^']*')\)": r"--outside \1",
    r" \(what labels call the outside is said by outside=\.\.\.\)": "; see --outside",
    r"\buse dtype='(\w+)'": r"use --set dtype=\1",
    r"\bfit on more, or call fit_confidence .*": "train it on more sentences",
}


# What moves the cursor, colours the screen, or turns the direction of writing. Lines
# and columns stay.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


class UsageError(Exception):
    """The options contradict each other or the model; the exit code is 2."""


def visible(text):
    r"""Return a text that a terminal shows and does not obey.

    Parameters
    ----------
    text : str
        The text, which may hold anything that is in a file.

    Returns
    -------
    text : str
        With control characters as escapes.

    Examples
    --------
    >>> from skcw.cli._messages import visible
    >>> visible("B-\x1b[2J")
    'B-\\x1b[2J'
    """
    return _INVISIBLE.sub(lambda found: ascii(found[0])[1:-1], text)


def tell(line):
    """Print a line to standard error, where a terminal may be.

    Parameters
    ----------
    line : str
        The line.
    """
    print(visible(line), file=sys.stderr)


def describe(error):
    """Return an error as one line, with the file first if it is an error of files.

    Parameters
    ----------
    error : Exception
        The error.

    Returns
    -------
    line : str
        Its message, without line breaks.
    """
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        notes = "".join(f". {note}" for note in getattr(error, "__notes__", ()))
        return where + error.strerror + notes
    return one_line(error) or type(error).__name__


def one_line(message):
    """Return a message without line breaks, with advice for a command line.

    Parameters
    ----------
    message : object
        The message, an error or a warning.

    Returns
    -------
    line : str
        The line.
    """
    text = " ".join(str(message).split())
    for advice, option in ADVICE.items():
        text = re.sub(advice, option, text)
    return text


def warn(command, message):
    """Print a warning of one line.

    Parameters
    ----------
    command : str
        The name of the command.
    message : str
        What seems wrong, and what to do.
    """
    tell(f"skcw {command}: warning: {message}")


def note(options, message):
    """Print a line about what was assumed, unless the user wants no such lines.

    Parameters
    ----------
    options : argparse.Namespace
        With ``command``, and perhaps ``quiet``.
    message : str
        What was assumed, and what says otherwise.
    """
    if not getattr(options, "quiet", False):
        print(f"skcw {options.command}: {message}", file=sys.stderr)


def progress_bar(items=None, *, quiet=False, **about):
    """Return a progress bar; it is shown on terminals only.

    Parameters
    ----------
    items : iterable, default=None
        What the bar counts while it is iterated over.
    quiet : bool, default=False
        Show nothing at all.
    **about
        Further arguments of tqdm.

    Returns
    -------
    bar : tqdm.tqdm
        The bar.
    """
    from tqdm import tqdm

    return tqdm(
        items,
        disable=True if quiet else None,
        file=sys.stderr,
        leave=False,
        dynamic_ncols=True,
        **about,
    )
