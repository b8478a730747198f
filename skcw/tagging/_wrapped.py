"""``WrappedTagger``: base class of taggers that change what another one answers."""

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcw.tagging._base import BaseSequenceTagger


def _inside(wrapped, method):
    """Tell whether the tagger inside has a method."""
    return getattr(wrapped.tagger, method, None) is not None


class WrappedTagger(BaseSequenceTagger):
    """Base of the taggers around another one: ``tagger``, fitted as ``tagger_``.

    What concerns its sequences, features and passes is asked of the inner tagger.
    """

    @available_if(lambda self: _inside(self, "encode"))
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

    def seen_fraction(self, X):
        """Return the fraction of the words of X that the inner tagger has learnt from.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        fraction : float
            From 0 to 1. Words that were only used for calibration do not count.
        """
        check_is_fitted(self)
        return self.tagger_.seen_fraction(X)

    @available_if(lambda self: _inside(self, "explain"))
    def explain(self, sequence):
        """Explain the label of every token of one sequence.

        Parameters
        ----------
        sequence : sequence of tokens
            One sequence, or a ``SequenceBatch`` of one.

        Returns
        -------
        explanations : Explanations
            The answers of the inner tagger: a list, shown as a table.
        """
        check_is_fitted(self)
        return self.tagger_.explain(sequence)

    @property
    def classes_(self):
        """The labels."""
        return self.tagger_.classes_

    @property
    def n_iter_(self):
        """The number of passes of the inner tagger."""
        return self.tagger_.n_iter_

    @property
    def history_(self):
        """The passes of the inner tagger."""
        return self.tagger_.history_

    @property
    def vocabulary_(self):
        """The names of the features of the inner tagger, if it keeps them."""
        return self.tagger_.vocabulary_

    @property
    def n_features_in_(self):
        """The number of columns, if sequences were arrays of numbers."""
        return self.tagger_.n_features_in_
