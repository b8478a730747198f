"""Taggers that encode what they read and keep a row of weights for every feature."""

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw._belief import Belief
from skcw.data.batch import SequenceBatch
from skcw.data.encoder import check_batch, encode_any
from skcw.data.labels import check_lengths, encode_labels, joined_labels
from skcw.data.ragged import split_rows
from skcw.data.vocabulary import Vocabulary
from skcw.tagging._base import BaseSequenceTagger
from skcw.tagging._memory import TrainingMemory, batch_hashes


def check_n(n):
    """Return a number of labelings; raise unless it is a positive integer."""
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be a positive integer, got {n!r}")
    return int(n)


class EncodedTagger(TrainingMemory, BaseSequenceTagger):
    """Base of the taggers whose token weights are the rows of a belief.

    It reads sequences and labels and saves what was learnt; a subclass learns and
    sets what ``_fitted`` returns. Prediction takes any form of X that ``fit`` takes,
    and features and labels that were never seen in training are harmless.
    """

    def _fitted(self, belief, vocabulary, labels):
        """Return the attributes of a tagger with these weights."""
        attributes = {
            "belief_": belief,
            "vocabulary_": vocabulary,
            "classes_": np.array(labels, dtype=str),
        }
        if vocabulary is None:
            attributes["n_features_in_"] = len(belief.row_of)
        return attributes

    def _keep(self, attributes):
        """Set fitted attributes in place of older ones."""
        vars(self).pop("n_features_in_", None)
        for name, value in attributes.items():
            setattr(self, name, value)

    def encode(self, X):
        """Return sequences in compiled form, to be used several times.

        Parameters
        ----------
        X : iterable of sequences
            The sequences; features not known are left out.

        Returns
        -------
        batch : SequenceBatch
            The encoded sequences.
        """
        check_is_fitted(self, "belief_")
        return self._encoded(X, grow=False)

    def _encoded(self, X, grow):
        """Return X with the feature numbers of the fitted tagger, new ones appended."""
        n_features = len(self.belief_.row_of)
        if isinstance(X, SequenceBatch):
            return check_batch(X, self.vocabulary_, n_features)
        columns = n_features if self.vocabulary_ is None else None
        return encode_any(X, self.vocabulary_, grow=grow, n_columns=columns)

    def _sequence_hashes(self, X):
        batch = self.encode(X)
        return batch_hashes(batch), batch.lengths

    def _training_batch(self, X, fresh):
        if not fresh:
            return self._encoded(X, grow=True)
        return X if isinstance(X, SequenceBatch) else encode_any(X)

    def _training_labels(self, y, batch, fresh, classes=None):
        """Return the codes of the labels and the labels of all codes."""
        known = joined_labels([] if fresh else self.classes_.tolist(), classes)
        codes, lengths, labels = encode_labels(y, known)
        check_lengths(batch.lengths, lengths)
        if not labels:
            raise ValueError("there is nothing to learn from: X has no token")
        return codes, labels

    def _reusable(self, X):
        return self.encode(X)

    def _as_labels(self, codes, offsets):
        names = self.classes_.tolist()
        labels = [names[code] for code in codes.tolist()]
        return split_rows(labels, offsets)

    def _as_marginals(self, rows, offsets):
        """Return a table of probabilities as a list of dicts per sequence."""
        names = self.classes_.tolist()
        tokens = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
        return split_rows(tokens, offsets)

    @property
    def coef_(self):
        """The weights, of shape (n_features, n_classes)."""
        return self.belief_.feature_weights()

    @property
    def feature_names_(self):
        """The names of the features."""
        if self.vocabulary_ is None:
            return np.array([f"x{i}" for i in range(self.n_features_in_)], object)
        return np.array(self.vocabulary_.names(), dtype=object)

    def _state(self):
        check_is_fitted(self, "belief_")
        state = {
            "classes": self.classes_.tolist(),
            "rounds": self.belief_.rounds,
            "n_iter": self.n_iter_,
            "history": self.history_,
        }
        arrays = {f"belief.{k}": v for k, v in self.belief_.arrays().items()}
        arrays |= vocabulary_arrays(self.vocabulary_)
        return state, arrays | self._memory_arrays()

    def _restore(self, state, arrays):
        belief = Belief(
            len(state["classes"]),
            arrays["belief.row_of"],
            arrays["belief.mean"],
            arrays.get("belief.variance"),
            arrays.get("belief.average"),
            state["rounds"],
        )
        belief.check()
        vocabulary = restored_vocabulary(arrays, len(belief.row_of))
        self._keep(EncodedTagger._fitted(self, belief, vocabulary, state["classes"]))
        self.n_iter_, self.history_ = state["n_iter"], state["history"]
        self.training_hashes_ = arrays.get("training_hashes")


def vocabulary_arrays(vocabulary):
    """Return the arrays of a vocabulary under the names they are saved by."""
    return {} if vocabulary is None else vocabulary.arrays()


def restored_vocabulary(arrays, n_features):
    """Return the vocabulary among saved arrays, or None where there is none."""
    vocabulary = Vocabulary.from_arrays(arrays)
    if vocabulary is not None:
        vocabulary.check(n_features)
    return vocabulary
