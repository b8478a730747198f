"""What a calibrated tagger leaves to the tagger inside."""

from sklearn.frozen import FrozenEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcw.tagging import BaseSequenceTagger


def unfrozen(tagger):
    """Return the tagger inside a FrozenEstimator, or the tagger itself."""
    return tagger.estimator if isinstance(tagger, FrozenEstimator) else tagger


def can_encode(tagger):
    """Tell whether a tagger encodes sequences and reads what it has encoded."""
    tagger = unfrozen(tagger)
    return isinstance(tagger, BaseSequenceTagger) and hasattr(tagger, "encode")


def inner_has(name):
    """Return a check whether the tagger inside has a method."""

    def check(self):
        if name == "encode":
            return can_encode(self.tagger)
        getattr(self.tagger, name)
        return True

    return check


def shared_rest(marginals, label, confidence):
    """Return marginals in which the predicted label has its confidence."""
    if len(marginals) == 1:
        return dict.fromkeys(marginals, 1.0)
    rest = 1.0 - float(confidence)
    even = rest / (len(marginals) - 1)
    others = sum(p for name, p in marginals.items() if name != label)
    shared = {
        name: rest * p / others if others else even for name, p in marginals.items()
    }
    return {**shared, label: float(confidence)}


class PassedAnswers:
    """Answers of the tagger inside, which calibration does not touch."""

    def predict(self, X):
        """Return the labels that the tagger inside predicts.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            A list of labels per sequence.
        """
        check_is_fitted(self)
        return self.tagger_.predict(X)

    @available_if(inner_has("predict_nbest"))
    def predict_nbest(self, X, n):
        """Return the n best distinct labelings of the tagger inside.

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
        check_is_fitted(self)
        return self.tagger_.predict_nbest(X, n)

    @available_if(inner_has("encode"))
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
        check_is_fitted(self)
        return self.tagger_.encode(X)

    @available_if(inner_has("training_share"))
    def training_share(self, X):
        """Return the share of the words of X that the tagger inside has learnt from.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        share : float
            From 0 to 1. Words that a map alone was learnt from do not count.
        """
        check_is_fitted(self)
        return self.tagger_.training_share(X)

    @available_if(inner_has("explain"))
    def explain(self, sequence):
        """Explain the label of every token of one sequence.

        Parameters
        ----------
        sequence : sequence of tokens
            One sequence, or a ``SequenceBatch`` of one.

        Returns
        -------
        explanations : list of TokenExplanation
            What the tagger inside says.
        """
        check_is_fitted(self)
        return self.tagger_.explain(sequence)

    @property
    def classes_(self):
        """The labels."""
        return self.tagger_.classes_

    @property
    def n_iter_(self):
        """The number of passes of the tagger inside."""
        return self.tagger_.n_iter_

    @property
    def history_(self):
        """The passes of the tagger inside."""
        return self.tagger_.history_

    @property
    def vocabulary_(self):
        """The names of the features of the tagger inside, if it keeps them."""
        return self.tagger_.vocabulary_

    @property
    def n_features_in_(self):
        """The number of columns, if sequences were arrays of numbers."""
        return self.tagger_.n_features_in_
