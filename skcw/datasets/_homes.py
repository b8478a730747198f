"""Where the real corpora lie."""

import os
from pathlib import Path

VARIABLE = "SKCW_DATA"
DEFAULT = "~/skcw_data"


def get_data_home(data_home=None):
    """Return the folder in which the loaders look for real corpora.

    It is not made: only a download does that.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder; None means the one that the environment variable ``SKCW_DATA``
        names, and ``~/skcw_data`` where it names none.

    Returns
    -------
    folder : pathlib.Path
        The folder, with ``~`` expanded.

    Examples
    --------
    >>> from skcw.datasets import get_data_home
    >>> get_data_home("corpora").name
    'corpora'
    """
    if data_home is None:
        data_home = os.environ.get(VARIABLE) or DEFAULT
    return Path(data_home).expanduser()
