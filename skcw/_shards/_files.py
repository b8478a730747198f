"""Named arrays in a file that any process can open, mapped into its memory.

An encoded corpus is written once. Whoever works on it gets the name of the file and the
digest of its content, a few bytes, and opens it: the system keeps one copy in memory
for all processes of a machine. A file that is torn, or that holds anything but what was
written, is refused.
"""

import os
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from skcw._persistence import read_model, stored_checksum, write_model
from skcw.exceptions import ModelFileError, ShardError

# A process keeps so many files open that it has used last.
MOST_OPEN = 64
SUFFIX = ".shard"

_opened = OrderedDict()
_lock = Lock()


class ShardFile(NamedTuple):
    """A file of named arrays: where it is, and what it holds.

    It is small, so it can be sent to workers, and equal to any other of the same
    content at the same place. `write_shard` makes one.

    Parameters
    ----------
    path : str
        The file.
    digest : str
        Sixteen hexadecimal digits that tell its content.
    n_bytes : int
        Its size.
    """

    path: str
    digest: str
    n_bytes: int

    def open(self):
        """Return the header and the arrays, mapped; once opened, without reading again.

        Returns
        -------
        header : dict
            What was given to `write_shard`.
        arrays : dict of str to ndarray
            The arrays. Writing to one changes neither the file nor other processes.
        """
        state = self._state()
        key = self.path, self.digest
        with _lock:
            known = _opened.get(key)
            if known is not None and known[0] == state:
                _opened.move_to_end(key)
                return known[1]
        content = self._read()
        with _lock:
            # A mapping keeps a file on the disk that its training has removed.
            for other in [k for k in _opened if not os.path.exists(k[0])]:
                del _opened[other]
            _opened[key] = state, content
            _opened.move_to_end(key)
            while len(_opened) > MOST_OPEN:
                _opened.popitem(last=False)
        return content

    def _state(self):
        """Return what is different once somebody has written to the file."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise ShardError(
                f"the shard {self.path} cannot be opened: {error.strerror}. All "
                "workers must see the folder of the shards, and nobody may clear it "
                "during the training"
            ) from error
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self):
        try:
            if stored_checksum(self.path) != self.digest:
                raise ModelFileError("another one was written in its place")
            header, arrays = read_model(self.path, mapped=True)
        except (OSError, ModelFileError) as error:
            raise ShardError(
                f"the shard {self.path} is not what was written there: {error}. Start "
                "the training again, with a folder that nobody else writes to"
            ) from error
        return header["shard"], arrays

    def close(self):
        """Forget the mapping that this process has, if there is any."""
        with _lock:
            _opened.pop((self.path, self.digest), None)


def forget_files(folder):
    """Forget the mappings that this process has of the files in a folder."""
    with _lock:
        for key in [k for k in _opened if Path(k[0]).parent == Path(folder).absolute()]:
            del _opened[key]


def write_shard(folder, name, arrays, header=None):
    """Write named arrays into a folder.

    Parameters
    ----------
    folder : str or path-like
        An existing folder that all workers see.
    name : str
        The name of the file, without its ending. An older one is replaced.
    arrays : dict of str to ndarray or None
        The arrays; what is None is left out.
    header : dict, default=None
        Strings, numbers, lists and dicts to keep with them.

    Returns
    -------
    shard : ShardFile
        What opens the file, here or in another process.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from skcw._shards._files import write_shard
    >>> with TemporaryDirectory() as folder:
    ...     shard = write_shard(folder, "first", {"gold": np.array([0, 1, 1])})
    ...     header, arrays = shard.open()
    ...     shard.close()
    >>> arrays["gold"]
    array([0, 1, 1])
    """
    path = Path(folder, f"{name}{SUFFIX}").absolute()
    given = {name: array for name, array in arrays.items() if array is not None}
    try:
        write_model(path, {"shard": header or {}}, given, scratch=True)
    except OSError as error:
        # A full disk names nothing.
        error.filename = error.filename or str(path)
        raise
    return ShardFile(str(path), stored_checksum(path), path.stat().st_size)
