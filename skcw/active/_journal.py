"""The journal of an active learner: one line of JSON for everything that happened.

A line is on the disk before the method that wrote it returns. What a crash leaves of a
line that was being written is cut off when the journal is opened again. One learner at
a time writes to a journal: it is locked as long as it is open.
"""

import json
import os
import warnings
import weakref
from io import FileIO
from pathlib import Path

import numpy as np

from skcw.data._files import replacing, take_lock
from skcw.exceptions import ModelFileError

FORMAT = 1


class Journal:
    """Records in memory and, where there is a file, in one that only grows.

    Parameters
    ----------
    file : file object or None
        The file, open and locked; None keeps the records in memory alone.
    records : list of dict, default=()
        What the file holds already.
    """

    def __init__(self, file, records=()):
        self.records = list(records)
        self.path = None
        if file is not None:
            # Absolute: the program may change its folder.
            self.path = Path(file.name).absolute()
            self._file = file
            self._owner = os.getpid()
            self._close = weakref.finalize(self, file.close)

    @classmethod
    def start(cls, path, header):
        """Return a new journal; raise rather than write over an old one."""
        _line(header)  # Before a file is made: it may hold what JSON cannot.
        file = None if path is None else _open_locked(path, "a+")
        if file is not None and file.seek(0, os.SEEK_END):
            file.close()
            raise FileExistsError(
                f"{path} exists: ActiveLearner.resume goes on with the study in it; "
                "give another name to start a new one"
            )
        journal = cls(file)
        journal.add({"format": FORMAT, **header})
        return journal

    @classmethod
    def open(cls, path):
        """Return the journal in a file, without a last line that is incomplete."""
        file = _open_locked(path, "r+")
        try:
            raw = file.read()
            whole = raw[: raw.rfind(b"\n") + 1]
            records = _read(whole, path)
            # Only now: what is no journal is left alone.
            if len(whole) < len(raw):
                file.truncate(len(whole))
        except BaseException:
            file.close()
            raise
        return cls(file, records)

    @property
    def header(self):
        """The first record: the settings and the pool."""
        return self.records[0]

    def add(self, record):
        """Append a record, on the disk before it returns."""
        line = _line(record)
        if self.path is not None:
            self._append(line)
        self.records.append(json.loads(line))

    def _append(self, line):
        """Write a line, all of it or nothing."""
        self._check_mine()
        end = self._file.seek(0, os.SEEK_END)
        try:
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except BaseException:
            self._file.truncate(end)
            raise

    def _is_at(self, path):
        """Tell whether a path leads to the file that is open."""
        if self.path is None or self._file.closed:
            return False
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return False
        return os.path.samestat(found, os.fstat(self._file.fileno()))

    def _check_mine(self):
        """Raise unless what is written now is found by the name of the file."""
        if self._file.closed:
            raise ValueError(
                f"the journal {self.path} is closed; ActiveLearner.resume goes on with "
                "it"
            )
        if os.getpid() != self._owner:
            raise BlockingIOError(
                f"the journal {self.path} belongs to process {self._owner}, of which "
                "this one was forked; only that one writes to it"
            )
        if not self._is_at(self.path):
            raise FileNotFoundError(
                f"the journal {self.path} was removed or replaced while a learner was "
                "writing to it; its method save writes everything to another file"
            )

    def undo(self):
        """Take the last record back."""
        line = _line(self.records.pop())
        if self.path is not None:
            self._file.truncate(self._file.seek(0, os.SEEK_END) - len(line))

    def save(self, path):
        """Write all records to another file, complete or not at all."""
        if self._is_at(path):
            # They are there, and a new file of that name would not be locked.
            return
        with replacing(path) as draft, open(draft, "wb") as file:
            file.write(b"".join(map(_line, self.records)))
            file.flush()
            os.fsync(file.fileno())

    def close(self):
        """Let others write to the file."""
        if self.path is not None:
            self._close()

    def __getstate__(self):
        if self.path is not None:
            raise TypeError(
                f"a learner that writes to {self.path} cannot be copied, because only "
                "one may; save the journal under another name and resume from that"
            )
        return self.__dict__


def _open_locked(path, mode):
    """Return a file without a buffer that nobody else writes to."""
    file = FileIO(path, mode)
    try:
        is_mine = take_lock(file)
    except (OSError, ImportError):
        is_mine = True
        warnings.warn(
            f"{path} cannot be locked there: see to it that no two learners write to "
            "it at once",
            stacklevel=4,
        )
    if not is_mine:
        file.close()
        raise BlockingIOError(
            f"another learner writes to {path}, in this process or in another one: "
            "close that one first, or wait until its process ends"
        )
    file.seek(0)
    return file


def _read(whole, path):
    """Return the records in complete lines; raise unless they are a journal's."""
    records = []
    try:
        for line in whole.splitlines():
            records.append(json.loads(line))
        version = records[0]["format"]
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise ModelFileError(
            f"{path} is not the journal of an active learner, or was damaged after "
            f"line {len(records)}: {error!r}"
        ) from error
    if version != FORMAT:
        raise ModelFileError(
            f"{path} is a journal of format {version}; this version of skcw reads "
            f"{FORMAT}"
        )
    if not {"settings", "pool"} <= set(records[0]):
        raise ModelFileError(f"the first line of the journal {path} has no settings")
    return records


def _line(record):
    return json.dumps(record, default=_plain).encode() + b"\n"


def _plain(value):
    """Turn what NumPy holds into what JSON can."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be kept in a journal")
