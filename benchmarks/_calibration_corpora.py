"""The corpora of the thesis, and the question that is asked of each."""

import sys
from collections.abc import Callable
from typing import NamedTuple

from skcw.datasets import fetch_ark_twitter, fetch_ud_ewt, make_tagged_corpus

EWT, ARK = "UD-EWT", "ARK"
QUICK_SENTENCES = 120


class Source(NamedTuple):
    """Where a corpus comes from, what is asked, and what is asked in its place."""

    load: Callable
    folder: str
    query: str
    made_query: str
    seed: int


SOURCES = {
    EWT: Source(fetch_ud_ewt, "ud-english-ewt", "NN", "NN", 0),
    ARK: Source(fetch_ark_twitter, "ark-twitter-pos", "V", "VBD", 1),
}


class Tagged(NamedTuple):
    """Sentences of words with parts of speech: to learn from, to choose by, to ask."""

    name: str
    query: str
    words: list
    labels: list
    dev_words: list
    dev_labels: list
    test_words: list
    test_labels: list

    @property
    def size(self):
        """The numbers of words to learn from and to be asked about."""
        return tuple(sum(map(len, rows)) for rows in (self.labels, self.test_labels))


def has_tagged(data_home):
    """Tell whether the folder holds the corpora."""
    return data_home is not None and not _missing(data_home)


def _missing(data_home):
    folders = [data_home / source.folder for source in SOURCES.values()]
    return [folder for folder in folders if not folder.is_dir()]


def check_tagged(data_home, quick):
    """Say clearly what happens when the corpora are absent, or stop."""
    if has_tagged(data_home):
        return
    if data_home is None:
        reason = "no --data-home was given"
    else:
        reason = f"{_missing(data_home)[0]} does not exist"
    if not quick:
        sys.exit(
            f"{reason}: the full benchmark needs the folder with the real corpora "
            "(ud-english-ewt, ark-twitter-pos). With --quick a corpus that is made "
            "takes their place."
        )
    print(
        f"Note: {reason}. A corpus that is made takes the place of the real ones; its "
        "figures cannot be compared with those of the thesis.\n",
        file=sys.stderr,
    )


def load_tagged(name, settings):
    """Return a corpus; a made one where the real one is not there."""
    source = SOURCES[name]
    if not has_tagged(settings.data_home):
        return _made(source)
    parts = []
    for subset in ("train", "dev", "test"):
        tokens, labels = source.load(
            data_home=settings.data_home, subset=subset, return_X_y=True
        )
        n = QUICK_SENTENCES if settings.quick else len(labels)
        parts += [[[token[0] for token in row] for row in tokens[:n]], labels[:n]]
    return Tagged(name, source.query, *parts)


def _made(source):
    parts = []
    for seed in (source.seed, 100 + source.seed, 200 + source.seed):
        tokens, _ = make_tagged_corpus(
            QUICK_SENTENCES, random_state=seed, return_X_y=True
        )
        for column in (0, 1):
            parts.append([[token[column] for token in row] for row in tokens])
    return Tagged(f"made, seed {source.seed}", source.made_query, *parts)
