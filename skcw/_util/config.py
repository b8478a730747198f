"""``skcw.set_config``: the folder of shards, for all estimators of a process."""

import os
from contextlib import contextmanager
from contextvars import ContextVar

_everywhere = {"shard_folder": None}
# What holds inside ``config_context``, in this thread or task alone.
_inside = ContextVar("skcw_config", default=None)


def get_config():
    """Return the current settings.

    Returns
    -------
    config : dict
        A copy: name of the setting -> its value.

    See Also
    --------
    set_config : Changes them, and says what they mean.

    Examples
    --------
    >>> import skcw
    >>> skcw.get_config()
    {'shard_folder': None}
    """
    return {**_everywhere, **(_inside.get() or {})}


def set_config(*, shard_folder=None):
    """Change the settings of this process; None leaves a setting unchanged.

    Parameters
    ----------
    shard_folder : str or path-like, default=None
        The folder in which a training with workers of other processes or machines
        (``joblib.parallel_config``) keeps its shards until it ends: all workers must
        see it. An empty string restores the default: the ``folder`` of ``fit_stream``
        if it is given, otherwise ``JOBLIB_TEMP_FOLDER`` or the system's folder.

    See Also
    --------
    config_context : The same for a block of code.

    Examples
    --------
    >>> import skcw
    >>> skcw.set_config(shard_folder="")
    >>> skcw.get_config()["shard_folder"] is None
    True
    """
    _everywhere.update(_checked(shard_folder))


@contextmanager
def config_context(*, shard_folder=None):
    """Change the settings inside a ``with`` block, in this thread alone.

    Parameters
    ----------
    shard_folder : str or path-like, default=None
        As in :func:`set_config`.

    Yields
    ------
    None
        The settings are as before when the block ends, even by an error.

    Examples
    --------
    >>> import skcw
    >>> with skcw.config_context(shard_folder="."):
    ...     skcw.get_config()
    {'shard_folder': '.'}
    """
    token = _inside.set({**(_inside.get() or {}), **_checked(shard_folder)})
    try:
        yield
    finally:
        _inside.reset(token)


def _checked(shard_folder):
    """Return the settings that are given; raise at a folder that does not exist."""
    if shard_folder is None:
        return {}
    folder = os.fspath(shard_folder)
    if folder and not os.path.isdir(folder):
        raise ValueError(f"shard_folder is {folder!r}, which is not a folder")
    return {"shard_folder": folder or None}
