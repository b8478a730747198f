"""Words with their confidence and outcome, to be drawn from sentence by sentence.

A pool is a population: sentences are drawn from it with replacement, and the risk of a
threshold is what it is in the whole pool. Real pools are what a CW tagger says of
sentences that it has not learned from; synthetic ones have errors that cluster in ways
that are known.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np
from _corpora import has_corpora
from _travel_corpora import ARK, DUTCH, EWT, NP, READY, SPANISH, Sentences, _read

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw._util.ragged import joined_ranges
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import cross_val_confidence
from skcw.metrics import token_correct

REAL = {
    NP: ("train", "test"),
    SPANISH: ("train", "dev"),
    DUTCH: ("train", "test"),
    ARK: ("train", "dev", "test"),
    EWT: ("train", "dev", "test"),
}
MADE = "made corpus"
FOLDS = 4
N_SYNTHETIC, N_WORDS = 20_000, 12


class Pool(NamedTuple):
    """Words of many sentences, and the words in the order of their confidence."""

    name: str
    confidence: np.ndarray
    wrong: np.ndarray
    offsets: np.ndarray
    ranked: np.ndarray
    wrong_above: np.ndarray

    @classmethod
    def of(cls, name, confidence, wrong):
        """Return the pool of sentences, each with an array of either kind."""
        lengths = [len(row) for row in confidence]
        sure, bad = np.concatenate(confidence), np.concatenate(wrong).astype(float)
        order = np.argsort(-sure, kind="stable")
        above = np.concatenate([[0.0], np.cumsum(bad[order])])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return cls(name, sure, bad, offsets, -sure[order], above)

    @property
    def n_sentences(self):
        """The number of sentences."""
        return len(self.offsets) - 1

    def draw(self, n, rng):
        """Return confidence, wrongness and sentence of the words of n sentences."""
        drawn = rng.randint(self.n_sentences, size=n)
        lengths = np.diff(self.offsets)[drawn]
        words = joined_ranges(self.offsets[drawn], lengths)
        return (
            self.confidence[words],
            self.wrong[words],
            np.repeat(np.arange(n), lengths),
        )

    def judged(self, threshold):
        """Return the true risk and the accepted share of a threshold."""
        n = int(np.searchsorted(self.ranked, -threshold, side="right"))
        return self.wrong_above[n] / max(n, 1), n / len(self.ranked)

    def oracle(self, alpha):
        """Return the largest share that can be accepted at a true risk of alpha."""
        ends = np.flatnonzero(np.append(np.diff(self.ranked) != 0, True)) + 1
        good = ends[self.wrong_above[ends] <= alpha * ends]
        return good[-1] / len(self.ranked) if len(good) else 0.0


def real_pools(settings):
    """Return the pools of the real corpora, or of the made one in their place."""
    if not has_corpora(settings.data_home):
        n = 400 if settings.quick else 2000
        tokens, labels = make_tagged_corpus(n, random_state=0, return_X_y=True)
        return [_asked(MADE, Sentences(tokens, labels), "ner")]
    names = [ARK] if settings.quick else list(REAL)
    return [_kept(name, settings) for name in names]


def _kept(name, settings):
    """Return a pool; a folder keeps what was asked before."""
    path = settings.cache and settings.cache / f"guarantee-{name.split()[0]}.npz"
    if path and path.exists():
        found = np.load(path)
        at = found["offsets"][1:-1]
        rows = (np.split(found[key], at) for key in ("confidence", "wrong"))
        return Pool.of(name, *rows)
    parts = [_read(name, part, settings.data_home) for part in REAL[name]]
    whole = Sentences(*map(list, map(chain.from_iterable, zip(*parts, strict=True))))
    if settings.quick:
        whole = Sentences(whole.tokens[:300], whole.labels[:300])
    pool = _asked(name, whole, READY.get(name, "ner"))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = ("confidence", "wrong", "offsets")
        np.savez(path, **{key: getattr(pool, key) for key in arrays})
    return pool


def _asked(name, sentences, features):
    """Return what copies of a tagger say of folds that they have not learned from."""
    tagger = make_tagging_pipeline(features, CWSequenceTagger(random_state=0))
    order = np.random.RandomState(0).permutation(len(sentences.labels))
    X, y = ([rows[i] for i in order] for rows in sentences)
    found = cross_val_confidence(tagger, X, y, cv=FOLDS)
    wrong = [~np.asarray(row, dtype=bool) for row in token_correct(y, found.labels)]
    return Pool.of(name, list(found.confidence), wrong)


def synthetic_pools(quick):
    """Return pools whose errors are independent, in clusters, or anywhere."""
    rng = np.random.RandomState(0)
    n = N_SYNTHETIC // (10 if quick else 1)
    sure = rng.beta(12, 0.6, size=(n, N_WORDS))
    alone = rng.uniform(size=sure.shape) > sure
    # Whole sentences are hard, and what is wrong in them comes in threes.
    hard = rng.beta(0.6, 12, size=n)
    in_hard = 1 - hard[:, None] * rng.uniform(0.5, 1.5, size=sure.shape)
    clustered = np.zeros(sure.shape, dtype=bool)
    bad = np.flatnonzero(rng.uniform(size=n) < 4 * hard)
    first = rng.randint(N_WORDS - 2, size=len(bad))
    for shift in range(3):
        clustered[bad, first + shift] = True
    # Some sentences are lists in which all is wrong: more than is expected of any.
    lists = alone.copy()
    lists[rng.uniform(size=n) < 0.002] = True
    # Confidence says nothing at all, and the risk is a little above what is promised.
    useless = rng.uniform(size=sure.shape) < 0.011
    return [
        Pool.of("independent", list(sure), list(alone)),
        Pool.of("three in a row", list(in_hard), list(clustered)),
        Pool.of("rare lists", list(sure), list(lists)),
        Pool.of("useless confidence", list(sure), list(useless)),
    ]
