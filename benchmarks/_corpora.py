"""Readers of the sequence corpora, which are not part of the project.

The folder holds ``conll2000``, ``conll2002-es`` and ``conll2002-nl`` with files such as
``train.txt.gz``: one token a line, columns separated by a TAB, the label last, a blank
line between sentences. Without it a corpus that is made takes their place, to show
that the scripts run.
"""

import gzip
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from _features import chunking_features, entity_features

MADE = "made"
QUICK_SENTENCES = 250

# The sets of Mejer & Crammer (2010), Table 1, and the files that make them up.
PAPER_SETS = {
    "NP chunking": ("conll2000", ("train", "test")),
    "Spanish": ("conll2002-es", ("train", "dev")),
    "Dutch": ("conll2002-nl", ("train", "test")),
}


@dataclass(frozen=True)
class TaggedCorpus:
    """Sentences of (word, part of speech) pairs, their labels, and their features."""

    name: str
    tokens: list
    labels: list
    featurize: Callable

    def features(self):
        """Return one list of feature strings per token, built anew."""
        return [self.featurize(sentence) for sentence in self.tokens]

    def part(self, positions):
        """Return the corpus of the sentences at these positions."""
        return TaggedCorpus(
            self.name,
            [self.tokens[i] for i in positions],
            [self.labels[i] for i in positions],
            self.featurize,
        )


def has_corpora(data_home):
    """Tell whether the folder holds every file that the benchmark reads."""
    if data_home is None:
        return False
    return not _missing(data_home)


def _missing(data_home):
    wanted = {_path(data_home, s, f) for s, files in PAPER_SETS.values() for f in files}
    return sorted(path for path in wanted if not path.is_file())


def check_corpora(data_home, quick):
    """Say clearly what happens when the corpora are absent, or stop."""
    if has_corpora(data_home):
        return
    if data_home is None:
        reason = "no --data-home was given"
    else:
        reason = f"{_missing(data_home)[0]} does not exist"
    if not quick:
        sys.exit(
            f"{reason}: the full benchmark needs the folder with the real corpora "
            "(conll2000, conll2002-es, conll2002-nl). With --quick a corpus that is "
            "made takes their place."
        )
    print(
        f"Note: {reason}. A corpus that is made takes the place of the real ones; its "
        "figures cannot be compared with those of the paper or of the goals.\n",
        file=sys.stderr,
    )


def load_chunking(data_home, quick, parts=("train", "test")):
    """Return the CoNLL-2000 training and test sets with all 22 labels."""
    if not has_corpora(data_home):
        return tuple(_made(QUICK_SENTENCES, seed) for seed, _ in enumerate(parts))
    return tuple(
        _corpus("chunking", _read(data_home, "conll2000", file, quick))
        for file in parts
    )


def load_entities(data_home, folder, quick):
    """Return the training, development and test sets of names in one language."""
    return {
        part: _corpus(folder, _read(data_home, folder, part, quick))
        for part in ("train", "dev", "test")
    }


def chunking_path(data_home):
    """Return the file of the CoNLL-2000 training set, or None."""
    if not has_corpora(data_home):
        return None
    return _path(data_home, "conll2000", "train")


def paper_sets(data_home):
    """Return the names of the sets that `load_paper_set` can load."""
    return list(PAPER_SETS) if has_corpora(data_home) else [MADE]


def load_paper_set(name, data_home, quick):
    """Return one of the sets of the paper as one corpus."""
    if name == MADE:
        return _made(2 * QUICK_SENTENCES, 0)
    folder, files = PAPER_SETS[name]
    sentences = [s for f in files for s in _read(data_home, folder, f, quick)]
    if name == "NP chunking":
        sentences = [[_noun_phrase(token) for token in s] for s in sentences]
    return _corpus(name, sentences)


def _noun_phrase(token):
    word, tag, label = token
    return word, tag, label if label.endswith("-NP") else "O"


def _corpus(name, sentences):
    return TaggedCorpus(
        name,
        [[token[:2] for token in sentence] for sentence in sentences],
        [[token[-1] for token in sentence] for sentence in sentences],
        chunking_features if "chunking" in name else entity_features,
    )


def _made(n_sentences, seed):
    from skcw.datasets import make_tagged_corpus

    tokens, labels = make_tagged_corpus(n_sentences, random_state=seed, return_X_y=True)
    return TaggedCorpus(MADE, tokens, labels, entity_features)


def _path(data_home, folder, file):
    return Path(data_home) / folder / f"{file}.txt.gz"


def _read(data_home, folder, file, quick):
    with gzip.open(_path(data_home, folder, file), "rt", encoding="utf-8") as lines:
        return list(islice(_sentences(lines), QUICK_SENTENCES if quick else None))


def _sentences(lines):
    sentence = []
    for line in lines:
        line = line.rstrip("\n")
        if line:
            sentence.append(tuple(line.split("\t")))
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence
