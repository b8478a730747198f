"""The tuned CRF that confidences are compared with; its answers are kept in a cache."""

import os
import tempfile
import weakref

import numpy as np
import pycrfsuite

from common.corpora import load_paper_set
from common.measure import progress
from skcw import CRFSequenceTagger

# ---- CRFsuite through python-crfsuite, as sklearn-crfsuite calls it ----


class CRFsuite:
    """A CRFsuite model whose fit can be timed in its two halves.

    Appending the sequences copies and numbers their features: it is CRFsuite's
    encoding. ``Trainer.train`` is the training alone; it prints nothing with
    ``verbose=False``, and holds the interpreter until it is done. The model lives in
    a file, of which nothing is left behind.
    """

    def __init__(self, algorithm, **parameters):
        self.algorithm = algorithm
        self.parameters = {k.replace("__", "."): v for k, v in parameters.items()}

    def append(self, X, y):
        """Hand the sequences over."""
        self._trainer = pycrfsuite.Trainer(
            algorithm=self.algorithm, params=self.parameters, verbose=False
        )
        for sequence, labels in zip(X, y, strict=True):
            self._trainer.append(sequence, labels)
        return self

    def train(self):
        """Train on the sequences that were handed over, and let them go."""
        handle, self._path = tempfile.mkstemp(prefix="crfsuite-")
        os.close(handle)
        weakref.finalize(self, os.unlink, self._path)
        self._trainer.train(self._path)
        del self._trainer
        self._tagger = None
        return self

    def fit(self, X, y):
        """Append and train."""
        return self.append(X, y).train()

    def predict(self, X):
        """Return the labels of every sequence; the first call opens the model."""
        tagger = self._opened()
        return [tagger.tag(sequence) for sequence in X]

    def predict_marginals(self, X):
        """Return the probabilities of all labels, as sklearn-crfsuite makes them."""
        tagger = self._opened()
        labels, found = tagger.labels(), []
        for sequence in X:
            tagger.set(sequence)
            found.append(
                [
                    {label: tagger.marginal(label, i) for label in labels}
                    for i in range(len(sequence))
                ]
            )
        return found

    def predict_confidence(self, X):
        """Return labels, and the probability of each of them alone."""
        tagger = self._opened()
        found = []
        for sequence in X:
            labels = tagger.tag(sequence)
            found.append([(x, tagger.marginal(x, i)) for i, x in enumerate(labels)])
        return found

    def _opened(self):
        if self._tagger is None:
            self._tagger = pycrfsuite.Tagger()
            self._tagger.open(self._path)
        return self._tagger


# ---- The tuned CRF that confidences are compared with ----

# Chosen on a quarter of the training part of the first split: see table3 of
# bench_tagging.py. A CRF with its default penalties would flatter the others.
PENALTIES = {"Spanish": (0.01, 0.05), "Dutch": (0.01, 0.05)}
DEFAULT_PENALTIES = (0.05, 0.05)
ITERATIONS, QUICK_ITERATIONS = 150, 20


def three_quarters(n_sentences, split):
    """Return the positions of the training and of the test sentences of a split."""
    order = np.random.RandomState(split).permutation(n_sentences)
    cut = n_sentences * 3 // 4
    return order[:cut], order[cut:]


def crf_answers(name, split, settings):
    """Return which test words the CRF labels right, and their marginals."""
    stored = settings.cache / f"crf-{name}-{split}.npz" if settings.cache else None
    if stored and stored.exists():
        found = np.load(stored)
        return found["correct"], found["confidence"]
    corpus = load_paper_set(name, settings.data_home, settings.quick)
    train, test = map(corpus.part, three_quarters(len(corpus.tokens), split))
    progress(f"confidence: CRF on {name}, split {split}")
    c1, c2 = PENALTIES.get(name, DEFAULT_PENALTIES)
    crf = CRFSequenceTagger(
        c1=c1,
        c2=c2,
        max_iter=QUICK_ITERATIONS if settings.quick else ITERATIONS,
        all_possible_transitions=True,
    ).fit(train.features(), train.labels)
    X = test.features()
    predicted = [label for row in crf.predict(X) for label in row]
    gold = [label for row in test.labels for label in row]
    correct = np.array([a == b for a, b in zip(predicted, gold, strict=True)])
    confidence = np.concatenate(crf.predict_confidence(X))
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(stored, correct=correct, confidence=confidence)
    return correct, confidence
