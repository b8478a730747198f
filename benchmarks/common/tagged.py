"""The corpora of the thesis, and the question that is asked of each."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from common.corpora import collapsed_shape
from skcw.data import SequenceBatch, SequenceEncoder
from skcw.datasets import (
    fetch_ark_twitter,
    fetch_conll2000,
    fetch_conll2002,
    fetch_ud_ewt,
    make_tagged_corpus,
)
from skcw.features import WindowFeatures

# ---- The grid of corpora, feature sets and sizes that defaults are judged on ----

BUILT_IN = "built-in"
CHUNKS, NP, SPANISH, DUTCH = "CoNLL-2000", "NP", "Spanish", "Dutch"
ARK, EWT = "ARK", "EWT XPOS"
# From few labels and words to many: what is cheap is known first.
CORPORA = (BUILT_IN, ARK, NP, DUTCH, SPANISH, CHUNKS, EWT)
FEATURES = ("words", "three", "dicts", "ready")
READY = {CHUNKS: "chunking", NP: "chunking", ARK: "pos", EWT: "pos"}
ALL = "all"
SIZES = (100, 1000, ALL)
MADE_SENTENCES = (4000, 2000)
QUICK_SENTENCES = (120, 60)
QUICK_SIZES = (100, ALL)


class Sentences(NamedTuple):
    """Tokens as tuples, the word first and its part of speech second if known."""

    tokens: list
    labels: list


class Encoded(NamedTuple):
    """A corpus with one feature set, to learn from and to be judged by."""

    corpus: str
    features: str
    train: SequenceBatch
    train_labels: list
    test: SequenceBatch
    test_labels: list

    @property
    def spans(self):
        """Whether the labels are spans, judged by F1, or tags, by accuracy."""
        return self.corpus not in (ARK, EWT)


class Subset(NamedTuple):
    """What one learner gets: sentences to learn from, and the test set."""

    X: SequenceBatch
    y: list
    X_test: SequenceBatch
    y_test: list


def load(corpus, settings):
    """Return the training and the test sentences of a corpus."""
    if corpus == BUILT_IN:
        counts = QUICK_SENTENCES if settings.quick else MADE_SENTENCES
        return tuple(
            Sentences(*make_tagged_corpus(n, random_state=seed, return_X_y=True))
            for seed, n in enumerate(counts)
        )
    return tuple(_read(corpus, part, settings.data_home) for part in ("train", "test"))


def _read(corpus, subset, home):
    options = {"data_home": home, "subset": subset, "return_X_y": True}
    if corpus in (CHUNKS, NP):
        tokens, labels = fetch_conll2000(**options)
    elif corpus in (SPANISH, DUTCH):
        language = {SPANISH: "es", DUTCH: "nl"}[corpus]
        tokens, labels = fetch_conll2002(language, **options)
    else:
        loader = {ARK: fetch_ark_twitter, EWT: fetch_ud_ewt}[corpus]
        tokens, labels = loader(**options)
        # The universal tag would give most of the finer one away.
        tokens = [[token[:1] for token in row] for row in tokens]
    if corpus == NP:
        labels = [[x if x.endswith("-NP") else "O" for x in row] for row in labels]
    return Sentences([list(row) for row in tokens], [list(row) for row in labels])


def encode(corpus, features, sentences):
    """Return the training and test sentences with one of the feature sets."""
    train, test = sentences
    if features == "ready":
        encoder = WindowFeatures(READY.get(corpus, "ner"))
        X, X_test = encoder.fit_transform(train.tokens), encoder.transform(test.tokens)
    else:
        build, encoder = BUILDERS[features], SequenceEncoder()
        X = encoder.fit_transform([build(row) for row in train.tokens])
        X_test = encoder.transform([build(row) for row in test.tokens])
    return Encoded(corpus, features, X, train.labels, X_test, test.labels)


def part_of(data, size, seed):
    """Return a random part of the training sentences, or all of them.

    Only the features that occur in it are kept, as if nothing else had been seen:
    one that was never learned has no weight, but it has a variance.
    """
    if size == ALL:
        return Subset(data.train, data.train_labels, data.test, data.test_labels)
    chosen = np.random.RandomState(seed).permutation(len(data.train))[:size]
    X = data.train[chosen]._compact()
    known = np.zeros(X.n_features, dtype=bool)
    known[X.indices] = True
    y = [data.train_labels[i] for i in chosen]
    return Subset(_only(X, known), y, _only(data.test, known), data.test_labels)


def split(part, n_fit):
    """Return the first sentences of a part as training, the others as test set."""
    known = np.zeros(part.X.n_features, dtype=bool)
    X = part.X[:n_fit]._compact()
    known[X.indices] = True
    judged = _only(part.X[n_fit:]._compact(), known)
    return Subset(_only(X, known), part.y[:n_fit], judged, part.y[n_fit:])


def _only(batch, known):
    """Return a batch with the known features alone, numbered anew."""
    number = np.cumsum(known) - 1
    kept = known[batch.indices]
    before = np.concatenate([[0], np.cumsum(kept)])
    return SequenceBatch(
        batch.offsets,
        before[batch.indptr],
        number[batch.indices[kept]],
        None if batch.values is None else batch.values[kept],
        int(known.sum()),
        batch.vocabulary.select(known),
    )


def sizes_of(data, settings):
    """Return the sizes of a corpus; ARK's thousand sentences are all it has."""
    sizes = QUICK_SIZES if settings.quick else SIZES
    return [size for size in sizes if size == ALL or size < len(data.train)]


def words_only(sentence):
    """Return the words: one string a token."""
    return [token[0] for token in sentence]


def three_strings(sentence):
    """Return word, suffix and shape of every token."""
    return [
        [f"word={w}", f"suffix={w[-3:]}", f"shape={collapsed_shape(w)}"]
        for w in words_only(sentence)
    ]


def tutorial_dicts(sentence):
    """Return the feature dicts that sklearn-crfsuite's tutorial builds."""
    near = [_neighbor(token) for token in sentence]
    found = []
    for i, token in enumerate(sentence):
        word = token[0]
        features = {
            "bias": 1.0,
            "word[-3:]": word[-3:],
            "word[-2:]": word[-2:],
            "word.isdigit()": word.isdigit(),
            **near[i],
        }
        for offset, edge in ((-1, "BOS"), (1, "EOS")):
            if 0 <= i + offset < len(sentence):
                sides = near[i + offset].items()
                features |= {f"{offset:+d}:{key}": value for key, value in sides}
            else:
                features[edge] = True
        found.append(features)
    return found


def _neighbor(token):
    word = token[0]
    features = {
        "word.lower()": word.lower(),
        "word.istitle()": word.istitle(),
        "word.isupper()": word.isupper(),
    }
    if len(token) > 1:
        features |= {"postag": token[1], "postag[:2]": token[1][:2]}
    return features


BUILDERS = {"words": words_only, "three": three_strings, "dicts": tutorial_dicts}


# ---- The corpora of the thesis, and the question that is asked of each ----

UD_EWT = "UD-EWT"
QUICK_TAGGED = 120
TAGGED = ("ud-english-ewt", "ark-twitter-pos")


class Source(NamedTuple):
    """Where a corpus comes from, what is asked, and what is asked in its place."""

    load: Callable
    query: str
    made_query: str
    seed: int


SOURCES = {
    UD_EWT: Source(fetch_ud_ewt, "NN", "NN", 0),
    ARK: Source(fetch_ark_twitter, "V", "VBD", 1),
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


def load_tagged(name, settings):
    """Return a corpus; a made one where the real one is not there."""
    source = SOURCES[name]
    if settings.data_home is None:
        return _made(source)
    parts = []
    for subset in ("train", "dev", "test"):
        tokens, labels = source.load(
            data_home=settings.data_home, subset=subset, return_X_y=True
        )
        n = QUICK_TAGGED if settings.quick else len(labels)
        parts += [[[token[0] for token in row] for row in tokens[:n]], labels[:n]]
    return Tagged(name, source.query, *parts)


def _made(source):
    parts = []
    for seed in (source.seed, 100 + source.seed, 200 + source.seed):
        tokens, _ = make_tagged_corpus(QUICK_TAGGED, random_state=seed, return_X_y=True)
        for column in (0, 1):
            parts.append([[token[column] for token in row] for row in tokens])
    return Tagged(f"made, seed {source.seed}", source.made_query, *parts)
