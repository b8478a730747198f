"""``skcw.set_config``: settings that hold for all estimators of a process."""

import os
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

# What each setting may be; the first is the one that holds if nothing is said.
CHOICES = {"sequences": ("array", "list")}

_everywhere = {name: choices[0] for name, choices in CHOICES.items()}
_everywhere["shard_folder"] = None
# What holds inside ``config_context``, in this thread or task alone.
_inside = ContextVar("skcw_config", default=None)


def get_config():
    """Return the settings that hold now.

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
    {'sequences': 'array', 'shard_folder': None}
    """
    return {**_everywhere, **(_inside.get() or {})}


def set_config(*, sequences=None, shard_folder=None):
    """Change the settings of this process; what is None stays as it is.

    Parameters
    ----------
    sequences : {"array", "list"}, default=None
        The form in which estimators return one row per sequence. ``"array"``, with
        which a process begins, is a 1-D object array, which can be indexed by arrays
        and joined by ``cross_val_predict``. ``"list"`` is a plain list of lists, as of
        sklearn-crfsuite before 0.4: it can be compared with ``==`` and written as JSON.
        It holds for the methods of taggers, pipelines and all that wraps them;
        ``predict_all(X)`` always answers with arrays. Processes that joblib starts begin with
        arrays, which changes no score.
    shard_folder : str or path-like, default=None
        The folder in which a training with workers of other processes or machines
        (``joblib.parallel_config``) keeps its shards until it ends: all workers must
        see it. An empty string is the usual one: the ``folder`` of ``fit_stream``, if
        it is given, or what ``JOBLIB_TEMP_FOLDER`` says, or else the system.

    See Also
    --------
    config_context : The same for a block of code.

    Examples
    --------
    >>> import skcw
    >>> tagger = skcw.CWSequenceTagger().fit([["Ann", "left"]], [["PER", "O"]])
    >>> skcw.set_config(sequences="list")
    >>> tagger.predict([["Ann", "left"], ["Ann"]]) == [["PER", "O"], ["PER"]]
    True
    >>> skcw.set_config(sequences="array")
    """
    _everywhere.update(_checked(sequences, shard_folder))


@contextmanager
def config_context(*, sequences=None, shard_folder=None):
    """Change the settings inside a ``with`` block, in this thread alone.

    Parameters
    ----------
    sequences : {"array", "list"}, default=None
        As in :func:`set_config`; None leaves it as it is.
    shard_folder : str or path-like, default=None
        The same.

    Yields
    ------
    None
        The settings are as before when the block ends, even by an error.

    Examples
    --------
    >>> import skcw
    >>> tagger = skcw.CWSequenceTagger().fit([["Ann", "left"]], [["PER", "O"]])
    >>> with skcw.config_context(sequences="list"):
    ...     tagger.predict([["Ann", "left"]])
    [['PER', 'O']]
    >>> tagger.predict([["Ann", "left"]])
    array([list(['PER', 'O'])], dtype=object)
    """
    new = _checked(sequences, shard_folder)
    token = _inside.set({**(_inside.get() or {}), **new})
    try:
        yield
    finally:
        _inside.reset(token)


def _checked(sequences, shard_folder):
    """Return the settings that are given; raise at a value there is not."""
    given = {}
    if sequences is not None:
        if sequences not in CHOICES["sequences"]:
            raise ValueError(
                f"sequences is {sequences!r}; it must be one of "
                f"{', '.join(CHOICES['sequences'])}"
            )
        given["sequences"] = sequences
    if shard_folder is not None:
        folder = os.fspath(shard_folder)
        if folder and not os.path.isdir(folder):
            raise ValueError(f"shard_folder is {folder!r}, which is no folder")
        given["shard_folder"] = folder or None
    return given


def presented(rows):
    """Return one row per sequence in the form that the user has asked for.

    Parameters
    ----------
    rows : ndarray of dtype object
        The rows: lists or arrays.

    Returns
    -------
    rows : ndarray of dtype object, or list of lists
        The same rows.
    """
    if get_config()["sequences"] == "array":
        return rows
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
