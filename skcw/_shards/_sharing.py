"""Arrays that workers share: as they are in threads, by a file in other processes."""

import os
import shutil
import tempfile
from contextlib import suppress
from threading import Lock

from skcw._config import get_config
from skcw._shards._files import ShardFile, forget_files, write_shard


class ShardFolder:
    """A folder for the files of one training, made when the first one is written.

    It lies in the folder that ``skcw.set_config(shard_folder=...)`` names, else in that
    of the training, else where joblib is told to keep its files
    (``JOBLIB_TEMP_FOLDER``), else where the system does. It is cleared at the end.

    Parameters
    ----------
    parent : str, path-like or None, default=None
        The folder that the training was told to keep its files in, if any.

    Examples
    --------
    >>> import numpy as np
    >>> import pickle
    >>> from skcw._shards._sharing import ShardFolder
    >>> with ShardFolder() as folder:
    ...     shared = folder.share({"gold": np.array([0, 1])})
    ...     here = shared.open()[1]["gold"]
    ...     elsewhere = pickle.loads(pickle.dumps(shared)).open()[1]["gold"]
    >>> here, elsewhere
    (array([0, 1]), array([0, 1]))
    """

    def __init__(self, parent=None):
        # Settings belong to the thread that trains, and engines pickle in others.
        parent = get_config()["shard_folder"] or parent
        self.parent = parent or os.environ.get("JOBLIB_TEMP_FOLDER")
        self.path = None
        self.n_files = 0
        # Of writing a file; what made that fail.
        self.error = None
        self.lock = Lock()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.path is not None:
            forget_files(self.path)
            shutil.rmtree(self.path, ignore_errors=True)

    def share(self, arrays, header=None):
        """Return an object with these arrays that can be sent to any worker."""
        return SharedArrays(self, arrays, header or {})

    def write(self, arrays, header):
        """Write a file of the arrays."""
        try:
            if self.path is None:
                self.path = tempfile.mkdtemp(prefix="skcw-shards-", dir=self.parent)
            self.n_files += 1
            return write_shard(self.path, f"{self.n_files}", arrays, header)
        except Exception as error:
            self.error = error
            raise


class SharedArrays:
    """Named arrays that are written to a file when they are first sent away.

    Who gets them there has a `ShardFile`, which opens them in the same way. Threads are
    sent nothing.

    Parameters
    ----------
    folder : ShardFolder
        Where the file would be.
    arrays : dict of str to ndarray or None
        The arrays; what is None is left out.
    header : dict
        Strings, numbers, lists and dicts to keep with them.
    """

    def __init__(self, folder, arrays, header):
        self.folder = folder
        self.content = header, {k: v for k, v in arrays.items() if v is not None}
        self.file = None

    def open(self):
        """Return the header and the arrays."""
        return self.content

    @property
    def n_bytes(self):
        """The size of the arrays, whether they have been sent or not."""
        return sum(array.nbytes for array in self.content[1].values())

    def remove(self):
        """Remove the file, if there is one: nobody is going to ask for it again."""
        if self.file is not None:
            # Where files that somebody has mapped cannot be removed, the folder waits.
            with suppress(OSError):
                os.unlink(self.file.path)

    def __reduce__(self):
        with self.folder.lock:
            if self.file is None:
                header, arrays = self.content
                self.file = self.folder.write(arrays, header)
        return ShardFile, tuple(self.file)
