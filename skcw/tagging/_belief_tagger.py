"""Prediction from a belief over weights."""

from skcw._decoding import Decoder
from skcw.data.ragged import object_rows
from skcw.tagging._base import only_sequence
from skcw.tagging._confidence import ConfidenceMixin
from skcw.tagging._encoded_tagger import EncodedTagger, check_n
from skcw.tagging._explanation import explain_sequence
from skcw.tagging._sampling import LabelingSampler

# What is saved besides of how sure to be.
SURENESS = ("confidence_source_", "token_norm_")


class BeliefTagger(ConfidenceMixin, LabelingSampler, EncodedTagger):
    """Base of the taggers whose fitted state is a belief over weights.

    It predicts, explains and says how sure it is; a subclass learns and sets what
    ``_fitted`` returns.
    """

    def _fitted(self, belief, vocabulary, labels, forbidden):
        """Return the attributes of a tagger with this belief."""
        attributes = super()._fitted(belief, vocabulary, labels)
        return attributes | {"forbidden_": forbidden}

    def _decoder(self, batch):
        belief = self._belief_for(batch)
        return Decoder(belief, self.forbidden_, self.n_jobs, self._borders())

    def _belief_for(self, batch):
        """Return the belief with a row for every feature of a batch."""
        # A batch may come from an encoder that has learnt features since.
        n_features = max(batch.n_features, len(self.belief_.row_of))
        if n_features > len(self.belief_.row_of):
            return self.belief_.extended(n_features, self.belief_.n_labels)
        return self.belief_

    def _border_rows(self):
        """Return the rows of weights for the first and for the last token, if any."""
        return None

    def _borders(self):
        """Return what labels score at the two ends of a sequence, or None."""
        rows = self._border_rows()
        if rows is None:
            return None
        weights = self.belief_.weights.reshape(-1, self.belief_.width)
        return weights[list(rows), : self.belief_.n_labels]

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
        n = check_n(n)
        batch = self.encode(X)
        decoder = self._decoder(batch)
        n = min(n, decoder.most_labelings(batch))
        codes, total, found = decoder.k_best(batch, n)
        ranks = [self._as_labels(row, batch.offsets) for row in codes]
        return object_rows(
            [(ranks[r][s], float(total[s, r])) for r in range(found[s])]
            for s in range(len(batch))
        )

    def predict_marginals(self, X):
        """Return forward-backward marginals, in the form of sklearn-crfsuite.

        The scores of a margin-trained tagger have no probabilistic scale, so they are
        divided by ``temperature_`` first.

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
        rows, _ = self._decoder(batch).marginals(batch, self.temperature_)
        return self._as_marginals(rows, batch.offsets)

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
            decoder.belief,
            classes,
            names,
            batch,
            codes,
            self.forbidden_,
            self._border_rows(),
        )

    @property
    def transition_coef_(self):
        """The transition weights, of shape (n_classes, n_classes)."""
        return self.belief_.transition_weights()

    def _state(self):
        state, arrays = super()._state()
        state["confidence"] = getattr(self, "confidence_", {})
        for name in SURENESS:
            if hasattr(self, name):
                state[name] = getattr(self, name)
        state |= self._rules_state()
        if self.forbidden_ is not None:
            arrays["forbidden"] = self.forbidden_
        return state, arrays

    def _restore(self, state, arrays):
        super()._restore(state, arrays)
        self._restore_rules(state, arrays)
        if state.get("confidence"):
            self.confidence_ = state["confidence"]
        for name in SURENESS:
            if name in state:
                setattr(self, name, state[name])

    def _rules_state(self):
        """Return what is saved of how the constraints were found."""
        return {
            "constraints": self.constraints_,
            "scheme_faults": self.scheme_faults_,
        }

    def _restore_rules(self, state, arrays):
        # Files of older versions do not tell; partial_fit then counts from there on.
        given = "given" if "forbidden" in arrays else None
        self.constraints_ = state.get("constraints", given)
        self.scheme_faults_ = state.get("scheme_faults", {})
        # A model that has lost its constraints would tag in another way.
        self.forbidden_ = arrays["forbidden"] if self.constraints_ else None
