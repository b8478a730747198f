"""Prediction from a belief over weights."""

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw.belief import Belief
from skcw.data.batch import SequenceBatch
from skcw.data.encoder import check_batch, encode_any
from skcw.data.ragged import object_rows, split_rows
from skcw.data.vocabulary import Vocabulary
from skcw.decoding import Decoder
from skcw.tagging._base import BaseSequenceTagger, only_sequence
from skcw.tagging._confidence import ConfidenceMixin
from skcw.tagging._explanation import explain_sequence


class BeliefTagger(ConfidenceMixin, BaseSequenceTagger):
    """Base of the taggers whose fitted state is a belief over weights.

    It predicts, explains and saves; a subclass learns and sets what ``_fitted``
    returns. Prediction takes any form of X that ``fit`` takes, and features and labels
    that were never seen in training are harmless.
    """

    def _fitted(self, belief, vocabulary, labels, forbidden):
        """Return the attributes of a tagger with this belief."""
        attributes = {
            "belief_": belief,
            "vocabulary_": vocabulary,
            "classes_": np.array(labels, dtype=str),
            "forbidden_": forbidden,
        }
        if vocabulary is None:
            attributes["n_features_in_"] = len(belief.row_of)
        return attributes

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
        n_features = len(self.belief_.row_of)
        if isinstance(X, SequenceBatch):
            return check_batch(X, self.vocabulary_, n_features)
        columns = n_features if self.vocabulary_ is None else None
        return encode_any(X, self.vocabulary_, grow=False, n_columns=columns)

    def _reusable(self, X):
        return self.encode(X)

    def _decoder(self, batch):
        # A batch may come from an encoder that has learnt features since.
        n_features = max(batch.n_features, len(self.belief_.row_of))
        belief = self.belief_
        if n_features > len(belief.row_of):
            belief = belief.grown(n_features, belief.n_labels)
        return Decoder(belief, self.forbidden_, self.n_jobs)

    def _as_labels(self, codes, offsets):
        names = self.classes_.tolist()
        labels = [names[code] for code in codes.tolist()]
        return split_rows(labels, offsets)

    def predict(self, X):
        """Return the best labeling of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            A list of labels per sequence.
        """
        batch = self.encode(X)
        codes, _ = self._decoder(batch).viterbi(batch)
        return self._as_labels(codes, batch.offsets)

    def predict_nbest(self, X, n):
        """Return the n best distinct labelings of every sequence.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        n : int
            How many labelings; fewer are returned where fewer exist.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            A list of ``(labels, score)`` per sequence, best first.
        """
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n must be a positive integer, got {n!r}")
        batch = self.encode(X)
        decoder = self._decoder(batch)
        n = min(int(n), decoder.most_labelings(batch))
        codes, total, found = decoder.k_best(batch, n)
        ranks = [self._as_labels(row, batch.offsets) for row in codes]
        return object_rows(
            [(ranks[r][s], float(total[s, r])) for r in range(found[s])]
            for s in range(len(batch))
        )

    def predict_marginals(self, X):
        """Return forward-backward marginals, in the form of sklearn-crfsuite.

        The scores of a margin-trained tagger have no probabilistic scale: these
        numbers rank labels, and are no calibrated probabilities.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        marginals : ndarray of shape (n_sequences,), dtype object
            A list per sequence with a dict per token: label -> marginal.
        """
        batch = self.encode(X)
        rows, _ = self._decoder(batch).marginals(batch)
        names = self.classes_.tolist()
        tokens = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
        return split_rows(tokens, batch.offsets)

    def explain(self, sequence):
        """Explain the label of every token of one sequence.

        Each token's label is compared with the best label to replace it while its
        neighbours stay as predicted: a legal one, where constraints leave any.

        Parameters
        ----------
        sequence : sequence of tokens
            One sequence, or a ``SequenceBatch`` of one.

        Returns
        -------
        explanations : list of TokenExplanation
            Per token the label, its rival, the margin between them and each
            feature's contribution to it, with standard deviations.
        """
        batch = self.encode(only_sequence(sequence))
        decoder = self._decoder(batch)
        codes, _ = decoder.viterbi(batch)
        names = batch._names() if batch.vocabulary is None else batch.vocabulary
        classes = self.classes_.tolist()
        return explain_sequence(
            decoder.belief, classes, names, batch, codes, self.forbidden_
        )

    @property
    def coef_(self):
        """The weights, of shape (n_features, n_classes)."""
        return self.belief_.feature_weights()

    @property
    def transition_coef_(self):
        """The transition weights, of shape (n_classes, n_classes)."""
        return self.belief_.transition_weights()

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
            "confidence": getattr(self, "confidence_", {}),
        }
        arrays = {f"belief.{k}": v for k, v in self.belief_.arrays().items()}
        if self.vocabulary_ is not None:
            for name in ("blob", "ends", "slots"):
                arrays[f"vocabulary.{name}"] = getattr(self.vocabulary_, name)
        if self.forbidden_ is not None:
            arrays["forbidden"] = self.forbidden_
        return state, arrays

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
        vocabulary = None
        if "vocabulary.blob" in arrays:
            vocabulary = Vocabulary(
                *(arrays[f"vocabulary.{name}"] for name in ("blob", "ends", "slots"))
            )
            vocabulary.check(len(belief.row_of))
        forbidden = arrays.get("forbidden")
        fitted = self._fitted(belief, vocabulary, state["classes"], forbidden)
        for name, value in fitted.items():
            setattr(self, name, value)
        self.n_iter_, self.history_ = state["n_iter"], state["history"]
        if state.get("confidence"):
            self.confidence_ = state["confidence"]
