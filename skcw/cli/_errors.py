"""What can go wrong at a command line, in one line each."""

import re
import sys

# Advice of the readers, as it is followed on the command line.
OPTIONS = {
    r'\bencoding="([^"]+)"': r"--encoding \1",
    r'\bcomment="([^"]+)"': r'--comment "\1"',
    r"\bcolumns=": "--columns",
}


class UsageError(Exception):
    """The options contradict each other or the model; the exit code is 2."""


def describe(error):
    """Return an error as one line, the file first where it is one of files.

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
        return where + error.strerror
    text = " ".join(str(error).split()) or type(error).__name__
    for advice, option in OPTIONS.items():
        text = re.sub(advice, option, text)
    return text


def warn(command, message):
    """Say on standard error what may be a mistake, in one line.

    Parameters
    ----------
    command : str
        The name of the command.
    message : str
        What is the matter, and what to do.
    """
    print(f"skcw {command}: warning: {message}", file=sys.stderr)
