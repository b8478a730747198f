"""Input and output files: ``-`` for standard streams, drafts for unfinished results."""

import gzip
import io
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

from skcw.cli._messages import UsageError, visible


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
        The file; "-" is standard output. What ends in ``.gz`` is compressed. Pipes and
        devices are written to directly.

    Yields
    ------
    file : binary file
        The file to write to.
    """
    if name == "-":
        with _standard_output() as file:
            yield file
        return
    from skcw.data._files import replacing

    path = Path(name)
    with replacing(path) as draft, _opened(draft, path.suffix == ".gz") as file:
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
        """Show what was written."""
        self.file.flush()


@contextmanager
def _opened(path, compressed):
    with open(path, "wb") as file:
        if not compressed:
            yield file
            return
        # The same result gives the same bytes at any time, under any name.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed


def check_writable(name):
    """Raise early if a result could not be written in the end.

    Parameters
    ----------
    name : str
        The file that is going to be written.
    """
    folder = Path(name).parent
    if not folder.is_dir():
        raise FileNotFoundError(2, "there is no such folder", str(folder))
    if Path(name).is_dir():
        raise IsADirectoryError(21, "is a folder, not a file", name)
    if Path(name).exists() and not Path(name).is_file():
        raise ValueError(f"{name} is not an ordinary file; a model needs one")
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "the folder cannot be written to", str(folder))


def check_replaceable(name):
    """Raise if a file is there that is not a model: it may be someone's work.

    Parameters
    ----------
    name : str
        The model that is going to be written.
    """
    path = Path(name)
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
