"""The journal of a study, and the ledger of its queries."""

import json
import os
import warnings
import weakref
from dataclasses import dataclass
from io import FileIO
from itertools import chain
from pathlib import Path

import numpy as np

from skcw._util.files import replacing, take_lock
from skcw.exceptions import ModelFileError

FORMAT = 1


class Journal:
    """Records in memory and, where there is a file, in one that only grows.

    Parameters
    ----------
    file : file object or None
        The file, open and locked; None keeps the records in memory alone.
    records : list of dict, default=()
        The records in the file.
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
            # Only now: another file is left unchanged.
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
        """Raise unless the open file is still the one at its path."""
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
    """Return a value of NumPy as one that JSON can hold."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be kept in a journal")


# How the items of a record came to be labeled.
SEED, COLD, UTILITY, AUDIT = "seed", "cold start", "utility", "audit"


# The kinds of records; each names positions.
KINDS = ("asked", "released", "taught")


def positions_of(record):
    """Return the positions that a record is about."""
    kinds = [kind for kind in KINDS if kind in record]
    if len(kinds) != 1:
        raise LookupError(f"a record is about {' and '.join(kinds) or 'nothing'}")
    return record[kinds[0]]


class Audit:
    """How often each item was drawn, and the share of wrong words where it is known."""

    def __init__(self, counts):
        self.counts = counts
        self.wrong = {}

    @property
    def is_complete(self):
        """Whether all items have their labels."""
        return len(self.wrong) == len(self.counts)

    def shares(self):
        """Return one share of wrong words per draw."""
        each = ([self.wrong[i]] * n for i, n in self.counts.items())
        return list(chain.from_iterable(each))


@dataclass
class Question:
    """Why an item was queried, and the prediction of the audited model."""

    how: str
    guess: object = None
    audit: Audit | None = None


class Ledger:
    """The state of a study, built up record by record.

    Parameters
    ----------
    pool : RowPool or SequencePool
        The pool.
    """

    def __init__(self, pool):
        self._lengths = pool.lengths
        self._kind = pool.kind
        self.n_asked = 0
        self.history = []
        self.audits = []
        # By position; the labels in the order in which they came.
        self.pending, self.labels = {}, {}

    def apply(self, record):
        """Apply a record."""
        if "asked" in record:
            self._ask(record)
        elif "released" in record:
            for position in record["released"]:
                self.pending.pop(position)
        else:
            self._teach(record)

    def _ask(self, record):
        self.n_asked += 1
        how, asked, audit = record["how"], record["asked"], None
        if how == AUDIT:
            audit = Audit(dict(zip(asked, record["counts"], strict=True)))
            self.audits.append(audit)
        guesses = record.get("guess") or [None] * len(asked)
        for position, guess in zip(asked, guesses, strict=True):
            self.pending[position] = Question(how, guess, audit)

    def _teach(self, record):
        pairs = list(zip(record["taught"], record["labels"], strict=True))
        for position, row in pairs:
            asked = self.pending.pop(position, None)
            if asked and asked.audit is not None:
                wrong = self._kind.count_wrong(asked.guess, row)
                asked.audit.wrong[position] = float(wrong / self._lengths[position])
        self.labels.update(pairs)
        self.history.append(
            {
                "how": record["how"],
                "positions": record["taught"],
                "n_wrong": record["n_wrong"],
                "n_labels": len(self.labels),
                "n_words": self.n_words,
            }
        )

    @property
    def labeled(self):
        """The positions that have labels, in the order in which they got them."""
        return np.array(list(self.labels), dtype=np.int64)

    @property
    def n_words(self):
        """The number of words of the labeled items."""
        return int(self._lengths[self.labeled].sum())

    def check_new(self, positions):
        """Raise at a position that has its labels already."""
        old = [i for i in positions.tolist() if i in self.labels]
        if old:
            raise ValueError(f"item {old[0]} of the pool has its labels already")

    def check_asked(self, positions):
        """Raise at a position that was not queried."""
        strange = [i for i in positions.tolist() if i not in self.pending]
        if strange:
            raise ValueError(
                f"item {strange[0]} of the pool was not queried; seed takes labels "
                "without a query"
            )
