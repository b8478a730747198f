"""Readers of the sequence corpora, which are not part of the project.

The folder holds ``conll2000``, ``conll2002-es`` and ``conll2002-nl`` with files such as
``train.txt.gz``: one token a line, columns separated by a TAB, the label last, a blank
line between sentences. Without it a corpus that is made takes their place, to show
that the scripts run.
"""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

# ---- The two feature sets of the benchmarks, as lists of strings ----

WINDOW = (-2, -1, 0, 1, 2)
AFFIXES = (1, 2, 3, 4)


def chunking_features(sentence):
    """Return the 20 features of every (word, part of speech) token.

    Bias; words -2..2; word bigrams -1|0 and 0|1; parts of speech -2..2, their four
    bigrams and three trigrams.
    """
    words = _padded([word for word, _ in sentence])
    tags = _padded([tag for _, tag in sentence])
    return [
        [
            "bias",
            *_unigrams("w", words, i),
            *_ngrams("w", words, i, 2, (-1, 0)),
            *_unigrams("p", tags, i),
            *_ngrams("p", tags, i, 2, (-2, -1, 0, 1)),
            *_ngrams("p", tags, i, 3, (-2, -1, 0)),
        ]
        for i in range(2, len(sentence) + 2)
    ]


def entity_features(sentence):
    """Return the 36 features of every (word, part of speech) token.

    Bias; word, lower-cased word, part of speech and collapsed shape at -2..2; word,
    part-of-speech and shape bigrams -1|0 and 0|1; the shape trigram; prefixes and
    suffixes of one to four characters.
    """
    plain = [word for word, _ in sentence]
    words = _padded(plain)
    lower = _padded([word.lower() for word in plain])
    tags = _padded([tag for _, tag in sentence])
    shapes = _padded([collapsed_shape(word) for word in plain])
    return [
        [
            "bias",
            *_unigrams("w", words, i),
            *_unigrams("l", lower, i),
            *_unigrams("p", tags, i),
            *_unigrams("s", shapes, i),
            *_ngrams("w", words, i, 2, (-1, 0)),
            *_ngrams("p", tags, i, 2, (-1, 0)),
            *_ngrams("s", shapes, i, 2, (-1, 0)),
            *_ngrams("s", shapes, i, 3, (-1,)),
            *[f"prefix{k}={words[i][:k]}" for k in AFFIXES],
            *[f"suffix{k}={words[i][-k:]}" for k in AFFIXES],
        ]
        for i in range(2, len(sentence) + 2)
    ]


def collapsed_shape(word):
    """Return the kinds of characters, runs shortened to one: McLeod-73 -> AaAa-0."""
    shape = []
    for c in word:
        kind = "A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return "".join(shape)


def _padded(column):
    return ["<s>", "<s>", *column, "</s>", "</s>"]


def _unigrams(name, column, i):
    return [f"{name}[{k}]={column[i + k]}" for k in WINDOW]


def _ngrams(name, column, i, n, starts):
    return [f"{name}{n}[{k}]={'|'.join(column[i + k : i + k + n])}" for k in starts]


# ---- The two feature sets of the benchmarks, said in lines of `WindowFeatures` ----

# What `_features.chunking_features` builds.
LINES = [
    "bias",
    "word[-2..2]",
    "bigram(word)[-1..0]",
    "pos[-2..2]",
    "bigram(pos)[-2..1]",
    "trigram(pos)[-2..0]",
]
# The features of `_features.entity_features`: affixes of short words apart.
ENTITY_LINES = [
    "bias",
    "word[-2..2]",
    "lower[-2..2]",
    "pos[-2..2]",
    "short_shape[-2..2]",
    "bigram(word)[-1..0]",
    "bigram(pos)[-1..0]",
    "bigram(short_shape)[-1..0]",
    "trigram(short_shape)[-1]",
    "prefix(1..4)",
    "suffix(1..4)",
]


def lines_of(corpus):
    """Return the lines that suit a corpus."""
    return LINES if "chunking" in corpus.name else ENTITY_LINES


# ---- Readers of the sequence corpora, which are not part of the project ----

MADE = "made"
CONLL = ("conll2000", "conll2002-es", "conll2002-nl")
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


def load_chunking(data_home, quick, parts=("train", "test")):
    """Return the CoNLL-2000 training and test sets with all 22 labels."""
    if data_home is None:
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
    if data_home is None:
        return None
    return _path(data_home, "conll2000", "train")


def paper_sets(data_home):
    """Return the names of the sets that `load_paper_set` can load."""
    return list(PAPER_SETS) if data_home is not None else [MADE]


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
