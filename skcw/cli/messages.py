"""Messages of the command line, and the files that it writes."""

import codecs
import io
import json
import os
import re
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

from skcw._util.files import rewriting

# Advice for Python in messages of the package -> the same for a command line.
ADVICE = {
    r'\bencoding="([^"]+)"': r"--encoding \1",
    r'\bcomment="([^"]+)"': r'--comment "\1"',
    r"\bname the column of the labels: .*": "--label-column tells where they are",
    r"\bpass names=.*": "--label-names says it",
    r"\bconvert_labels\(.*, outside=('[^']*')\)": r"--outside \1",
    r" \(what labels call the outside is said by outside=\.\.\.\)": "; see --outside",
    r"\buse dtype='(\w+)'": r"use --set dtype=\1",
    r"\bfit on more, or call fit_confidence .*": "train it on more sentences",
    r'\bto="(\w+)"': r"--to \1",
    # Options that are called in Python as on the command line.
    r"\b(columns|format|label_names|misaligned|separator|\w+_column)=([\w-]?)": (
        lambda found: f"--{found[1].replace('_', '-')} {found[2]}".rstrip()
    ),
}


# These move the cursor, color the screen, or turn the direction of writing. Lines
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
    >>> from skcw.cli.messages import visible
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
        The doubt, and the advice.
    """
    tell(f"skcw {command}: warning: {message}")


def note(options, message):
    """Print a line about an assumption, unless ``--quiet`` is set.

    Parameters
    ----------
    options : argparse.Namespace
        With ``command``, and perhaps ``quiet``.
    message : str
        The assumption, and the option that overrides it.
    """
    # A file that is read twice is told of once.
    told = vars(options).setdefault("told", set())
    if not getattr(options, "quiet", False) and message not in told:
        told.add(message)
        print(f"skcw {options.command}: {message}", file=sys.stderr)


def progress_bar(items=None, *, quiet=False, **about):
    """Return a progress bar; it is shown on terminals only.

    Parameters
    ----------
    items : iterable, default=None
        The bar counts them while it is iterated over.
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


def input_of(name):
    """Return the input that a name on the command line stands for.

    Parameters
    ----------
    name : str
        A file name, or "-".

    Returns
    -------
    source : str or binary file
        A path, or standard input, as the readers take them.
    """
    return sys.stdin.buffer if name == "-" else name


@contextmanager
def written(name):
    """Open a file for writing; it appears under its name only once it is complete.

    Parameters
    ----------
    name : str
        The file; "-" is standard output. It is compressed if its name ends in ``.gz``.
        Pipes and devices are written to directly.

    Yields
    ------
    file : binary file
        The file to write to.
    """
    if name == "-":
        with _standard_output() as file:
            yield file
        return
    with rewriting(name) as file:
        yield file


@contextmanager
def _standard_output():
    """Give standard output as a file that writes all it is given."""
    file = sys.stdout.buffer
    if sys.stdout.isatty():
        sys.stdout.flush()
        file = _Terminal(file)
    if not isinstance(file, io.RawIOBase):
        yield file
        file.flush()
        return
    # Unbuffered by PYTHONUNBUFFERED: its write may end halfway without an error.
    file = io.BufferedWriter(file)
    try:
        yield file
        file.flush()
    finally:
        with suppress(OSError):
            file.detach()


class _Terminal:
    """A terminal that is written to as a binary file, and obeys nothing in the text."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        """Write a text, with escapes for control characters."""
        text = bytes(data).decode("utf-8", "backslashreplace")
        self.file.write(visible(text).encode("utf-8", "backslashreplace"))

    def flush(self):
        """Show the text."""
        self.file.flush()


def check_readable(options, *names):
    """Raise early if a file is missing, before anything heavy is imported.

    Parameters
    ----------
    options : argparse.Namespace
        Perhaps with the files of ``add_features``.
    *names : str or None
        Further files that are going to be read.
    """
    tables = getattr(options, "lexicon", []) + getattr(options, "clusters", [])
    files = [*names, getattr(options, "template", None), *(file for _, file in tables)]
    for name in files:
        if name not in (None, "-"):
            os.stat(name)


def check_outputs(*names):
    """Raise early if one of some files could not be written in the end.

    Parameters
    ----------
    *names : str or None
        The files; "-" is standard output, and None is none.
    """
    for name in names:
        if name in (None, "-"):
            continue
        path, folder = Path(name), Path(name).parent
        if not folder.is_dir():
            raise FileNotFoundError(2, "there is no such folder", str(folder))
        if path.is_dir():
            raise IsADirectoryError(21, "is a folder, not a file", name)
        if path.exists() and not path.is_file():
            # Pipes and devices are written to directly.
            continue
        # Most commands write to standard output, and start sooner without it.
        from tempfile import TemporaryFile

        try:
            # Results appear under their names once they are complete, so that a file
            # beside them must be possible; permissions do not tell.
            with TemporaryFile(dir=folder):
                pass
        except OSError as error:
            text = "the folder cannot be written to"
            raise type(error)(error.errno, text, str(folder)) from None


def are_same(name, other):
    """Return whether two names are of one file, even if it is not there yet."""
    both_exist = os.path.exists(name) and os.path.exists(other)
    return name == other or (both_exist and os.path.samefile(name, other))


def check_replaceable(name):
    """Raise if a file is there that is not a model.

    Parameters
    ----------
    name : str
        The model that is going to be written.
    """
    path = Path(name)
    if path.exists() and not path.is_file():
        raise ValueError(f"{name} is not an ordinary file; a model needs one")
    if path.is_file() and path.stat().st_size and not looks_like_model(name):
        raise UsageError(
            f"-o would overwrite {name}, which is not a skcw model; remove it first, "
            "or choose another name"
        )


def looks_like_model(name):
    """Tell a model from a text by its first bytes: a length, and JSON.

    Parameters
    ----------
    name : str
        A file name, or "-".

    Returns
    -------
    is_model : bool
        Whether it is probably a model.
    """
    if not Path(name).is_file():
        return False
    with open(name, "rb") as file:
        head = file.read(9)
    # A text cannot have the zeros of a length in eight bytes.
    return len(head) == 9 and head[6:] == b"\0\0{"


def show(text):
    """Print a text, with escapes for characters that the terminal lacks or would obey.

    Parameters
    ----------
    text : str
        The text.
    """
    encoding = sys.stdout.encoding or "utf-8"
    if sys.stdout.isatty():
        text = visible(text)
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def report(options, result, text):
    """Print a result as a table, or as JSON if that was asked for.

    Parameters
    ----------
    options : argparse.Namespace
        With ``json``: None, "-" for standard output, or a file.
    result : dict or list
        The figures.
    text : str
        The same as a table.
    """
    if options.json is None or options.json != "-":
        show(text)
    if options.json is None:
        return
    # Python's escapes are not valid in JSON; UTF-8 needs them for half characters only,
    # and there the two agree.
    plain = options.json == "-" and not _is_utf8(sys.stdout.encoding)
    document = json.dumps(result, indent=2, ensure_ascii=plain, default=_plain)
    if options.json == "-":
        show(document)
        return
    with written(options.json) as file:
        file.write(document.encode("utf-8", "backslashreplace") + b"\n")


def _is_utf8(encoding):
    return codecs.lookup(encoding or "utf-8").name == "utf-8"


def _plain(value):
    """Turn objects of NumPy and pathlib into those of JSON."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
