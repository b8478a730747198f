"""CRFsuite through python-crfsuite, as sklearn-crfsuite calls it."""

import os
import tempfile
import weakref

import pycrfsuite


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


def all_features(algorithm, **parameters):
    """Return a model with all possible states and transitions, as skcw has them."""
    return CRFsuite(
        algorithm,
        feature__possible_states=True,
        feature__possible_transitions=True,
        **parameters,
    )
