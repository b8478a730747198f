"""The journal of an active learner: one line of JSON for everything that happened.

A line is on the disk before the method that wrote it returns. What a crash leaves of a
line that was being written is cut off when the journal is opened again.
"""

import json
import os
from pathlib import Path

import numpy as np

from skcw.data._files import replacing
from skcw.exceptions import ModelFileError

FORMAT = 1


class Journal:
    """Records in memory and, where a path is given, in a file that only grows.

    Parameters
    ----------
    path : str, path-like or None
        The file; None keeps the records in memory alone.
    records : list of dict, default=()
        What the file holds already.
    """

    def __init__(self, path, records=()):
        self.path = None if path is None else Path(path)
        self.records = list(records)

    @classmethod
    def start(cls, path, header):
        """Return a new journal; raise rather than write over an old one."""
        if path is not None and Path(path).exists() and Path(path).stat().st_size:
            raise FileExistsError(
                f"{path} exists: ActiveLearner.resume goes on with the study in it; "
                "give another name to start a new one"
            )
        journal = cls(path)
        journal.add({"format": FORMAT, **header})
        return journal

    @classmethod
    def open(cls, path):
        """Return the journal in a file, without a last line that is incomplete."""
        raw = Path(path).read_bytes()
        whole = raw[: raw.rfind(b"\n") + 1]
        if len(whole) < len(raw):
            with open(path, "r+b") as file:
                file.truncate(len(whole))
        try:
            records = [json.loads(line) for line in whole.splitlines()]
            version = records[0]["format"]
        except (ValueError, IndexError, KeyError, TypeError) as error:
            raise ModelFileError(
                f"{path} is not the journal of an active learner: {error!r}"
            ) from error
        if version != FORMAT:
            raise ModelFileError(
                f"{path} is a journal of format {version}; this version of skcw reads "
                f"{FORMAT}"
            )
        return cls(path, records)

    @property
    def header(self):
        """The first record: the settings and the pool."""
        return self.records[0]

    def add(self, record):
        """Append a record, on the disk before it returns."""
        line = _line(record)
        if self.path is not None:
            with open(self.path, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        self.records.append(json.loads(line))

    def undo(self):
        """Take the last record back."""
        line = _line(self.records.pop())
        if self.path is not None:
            with open(self.path, "r+b") as file:
                file.truncate(file.seek(0, os.SEEK_END) - len(line))

    def save(self, path):
        """Write all records to another file, complete or not at all."""
        with replacing(path) as draft, open(draft, "wb") as file:
            file.write(b"".join(map(_line, self.records)))
            file.flush()
            os.fsync(file.fileno())


def _line(record):
    return json.dumps(record, default=_plain).encode() + b"\n"


def _plain(value):
    """Turn what NumPy holds into what JSON can."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be kept in a journal")
