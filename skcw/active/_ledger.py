"""``Ledger``: what the records of a journal say is asked, labelled and audited."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

# How the items of a record came to be labelled.
SEED, COLD, UTILITY, AUDIT = "seed", "cold start", "utility", "audit"


# What a record tells of: it names the positions.
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
    """How an item came to be asked about, and what the audited model said of it."""

    how: str
    guess: object = None
    audit: Audit | None = None


class Ledger:
    """The state of a study, built up record by record.

    Parameters
    ----------
    pool : RowPool or SequencePool
        What is asked about.
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
        """Remember what a record says."""
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
    def labelled(self):
        """The positions that have labels, in the order in which they got them."""
        return np.array(list(self.labels), dtype=np.int64)

    @property
    def n_words(self):
        """The number of words of the labelled items."""
        return int(self._lengths[self.labelled].sum())

    def check_new(self, positions):
        """Raise at a position that has its labels already."""
        old = [i for i in positions.tolist() if i in self.labels]
        if old:
            raise ValueError(f"item {old[0]} of the pool has its labels already")

    def check_asked(self, positions):
        """Raise at a position that nobody asked about."""
        strange = [i for i in positions.tolist() if i not in self.pending]
        if strange:
            raise ValueError(
                f"item {strange[0]} of the pool was not asked about; seed takes labels "
                "that nobody asked for"
            )


def taught_again(records):
    """Tell whether labels come before the next audit, which needs the model."""
    for record in records:
        if "taught" in record:
            return True
        if record.get("how") == AUDIT:
            return False
    return False
