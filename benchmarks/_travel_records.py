"""What was measured under a label, kept in one file so that runs can be compared."""

import json

KEYS = ("corpus", "features", "size", "seed", "learner")


class Records:
    """The records of one part under one label.

    Parameters
    ----------
    part : str
        The part of the benchmark.
    label : str
        What the package is called that is measured, such as "before".
    settings : Settings
        With the folder of the cache; None: nothing is kept.
    again : collection of (corpus, learner)
        What is to be measured again: the package has changed since, and its old
        figures would be taken for new ones.
    """

    def __init__(self, part, label, settings, again=()):
        self._path = (
            _folder(settings) / f"{part}-{label}.json" if settings.cache else None
        )
        self._by_key = {}
        if self._path is None or not self._path.exists():
            return
        for record in json.loads(self._path.read_text("utf-8")):
            if (record["corpus"], record["learner"]) not in again:
                self._by_key[_key(record)] = record

    @property
    def all(self):
        """All records."""
        return list(self._by_key.values())

    def has(self, key):
        """Tell whether this was measured."""
        return _key(key) in self._by_key

    def add(self, key, found):
        """Keep one record."""
        self._by_key[_key(key)] = key | found

    def save(self):
        """Write all records to the cache."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(json.dumps(record) for record in self.all)
        self._path.write_text(f"[{lines}]\n", "utf-8")


def labels_of(part, settings):
    """Return the labels that a cache holds, in the order of the alphabet but one.

    "before" goes first, whatever the others are called.
    """
    if settings.cache is None:
        return []
    paths = _folder(settings).glob(f"{part}-*.json")
    labels = [path.stem.removeprefix(f"{part}-") for path in paths]
    return sorted(labels, key=lambda label: (label != "before", label))


def _folder(settings):
    return settings.cache / "ours"


def _key(record):
    return tuple(record.get(name) for name in KEYS)
