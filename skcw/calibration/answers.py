"""Predictions of a calibrated tagger: those of the inner tagger, with mapped confidence."""

from itertools import chain

import numpy as np

from skcw._util.checks import check_same_lengths
from skcw._util.ragged import object_rows, split_rows
from skcw.confidence.answers import check_length
from skcw.confidence.held_out import LEAST_RIVAL, flat_labels, flat_numbers
from skcw.data.frames import AnswersInFrames
from skcw.data.labels import encode_labels

# The event that the confidences of words are enough for.
LEAST_WORD = "least-word"
TRACE = 1e-9


def shared_rest(table, codes, confidence):
    """Return a table in which the predicted label has its confidence.

    The other labels share the rest as they do in the table; evenly where it gives them
    nothing.

    Parameters
    ----------
    table : ndarray of shape (n_tokens, n_labels)
        The marginals.
    codes : ndarray of int, shape (n_tokens,)
        The predicted labels.
    confidence : ndarray of shape (n_tokens,)
        Their confidence.

    Returns
    -------
    table : ndarray of float64, shape (n_tokens, n_labels)
        Every row sums to one.
    """
    n_tokens, n_labels = table.shape
    if n_labels == 1:
        return np.ones_like(table)
    predicted = np.arange(n_tokens), codes
    others = table.copy()
    others[predicted] = 0.0
    total = others.sum(axis=1, keepdims=True)
    even = np.full_like(others, 1.0 / (n_labels - 1))
    share = np.divide(others, total, out=even, where=total > 0)
    share *= (1.0 - confidence)[:, None]
    share[predicted] = confidence
    return share


class CalibratedAnswers(AnswersInFrames):
    """Predictions of a calibrated tagger about some sequences; ``predict_all`` returns them.

    The inner tagger is asked once. Labels and labelings are its own.

    Parameters
    ----------
    answers : Predictions
        The answers of the inner tagger.
    tagger : CalibratedTagger
        The fitted calibrated tagger.
    """

    def __init__(self, answers, tagger):
        self._inner = answers
        self._tagger = tagger
        self._words = None

    def __len__(self):
        return len(self._inner)

    @property
    def classes(self):
        """The labels."""
        return self._inner.classes

    @property
    def offsets(self):
        """Where each sequence begins."""
        return self._inner.offsets

    @property
    def lengths(self):
        """The number of tokens of each sequence."""
        return self._inner.lengths

    @property
    def codes(self):
        """The numbers of the predicted labels of all tokens."""
        return self._inner.codes

    @property
    def temperature(self):
        """What scores of labelings are divided by to get logarithms of shares."""
        return self._inner.temperature

    @property
    def confidence_methods(self):
        """The only method: the one that the maps were learned for."""
        return self._tagger.confidence_methods_

    def labels(self):
        """Return the labels that the inner tagger predicts."""
        return self._inner.labels()

    def nbest(self, n):
        """Return the n best labelings of the inner tagger."""
        return self._inner.nbest(n)

    def labeling_shares(self, n):
        """Return how probable the inner tagger thinks each of the n best is."""
        return self._inner.labeling_shares(n)

    def lead(self, in_deviations=False):
        """Return the lead of the inner tagger's best labeling over the second."""
        return self._inner.lead(in_deviations)

    def sampled(self, n, unit_variance=None, **options):
        """Return labelings drawn from what the inner tagger believes."""
        return self._inner.sampled(n, unit_variance, **options)

    def voted(self, unit_variance=None, **options):
        """Return the label that most drawn models of the inner tagger give."""
        return self._inner.voted(unit_variance, **options)

    def confidence(self, method=None, **options):
        """Return the probability that each predicted label is right, per sequence."""
        self._tagger._check_asked(method, options)
        return split_rows(self._by_token().copy(), self.offsets)

    def _by_token(self):
        if self._words is None:
            maps = self._tagger.maps_
            rows = self._inner.confidence(**self._tagger.confidence_options_)
            own = any(each.by_label for each in maps)
            label = flat_labels(self.labels()) if own else None
            self._words = mapped(maps, flat_numbers(rows), label)
        return self._words

    def label_table(self, method=None, **options):
        """Return the probability of every label at every token.

        The predicted label has its confidence; the others share the rest as their
        marginals do once each was mapped by what is known of its label.
        """
        self._tagger._check_asked(method, options)
        table = self._rivals(self._inner.label_table("marginal"))
        return shared_rest(table, self.codes, self._by_token())

    def _rivals(self, table):
        """Return how probable each label is that was not predicted, by its own map."""
        maps = self._tagger.rival_maps_
        words, labels = np.nonzero(table >= LEAST_RIVAL)
        if not maps or not len(words):
            return table
        names = np.array(self.classes, dtype=str)[labels]
        found = table.copy()
        # What a map takes for impossible keeps a trace: there is a rest to share.
        found[words, labels] = mapped(maps, table[words, labels], names)
        return found + TRACE * table

    def marginals(self, length=1):
        """Return the same as a list of dicts per sequence: label -> probability."""
        if check_length(length) == 2:
            self.pair_confidence(())
        table = self.label_table()
        tokens = [dict(zip(self.classes, row, strict=True)) for row in table.tolist()]
        return split_rows(tokens, self.offsets)

    def pair_confidence(self, pairs, method=None, **options):
        """Raise: the confidence in pairs of labels is not calibrated."""
        raise ValueError(
            "the confidence in pairs of labels is not calibrated; ask tagger_ for it"
        )

    def label_confidence(self, y, method=None, **options):
        """Return the probability of given labels, 0 where they are not known."""
        codes, lengths, _ = encode_labels(y, self.classes, grow=False)
        check_same_lengths(self.lengths, lengths)
        table = self.label_table(method, **options)
        sure = table[np.arange(len(codes)), np.maximum(codes, 0)]
        return split_rows(np.where(codes >= 0, sure, 0.0), self.offsets)

    def sequence_confidence(self, method=None, **options):
        """Raise: the confidence in whole sequences is not calibrated."""
        raise ValueError(
            "the confidence in whole sequences is not calibrated; ask tagger_ for it"
        )

    def entities(self, entity_confidence=None, method=None, **options):
        """Return the predicted entities with their calibrated confidence."""
        tagger = self._tagger
        tagger._check_asked(method, options)
        learned = tagger.entity_confidence or LEAST_WORD
        if entity_confidence not in (None, learned):
            raise ValueError(
                f"entity_confidence is {entity_confidence!r}, but confidences were calibrated for "
                f"{learned!r}; set entity_confidence={entity_confidence!r} and fit again, or ask "
                "tagger_"
            )
        if not tagger.entity_maps_:
            return self._least_words()
        rows = self._inner.entities(learned, **tagger.confidence_options_)
        found = list(chain.from_iterable(rows))
        label = np.array([entity.label for entity in found], dtype=str)
        confidence = np.array([entity.confidence for entity in found], dtype=np.float64)
        return _with_confidence(rows, mapped(tagger.entity_maps_, confidence, label))

    def _least_words(self):
        """Return the entities, each as sure as its least sure word."""
        rows = self._inner.entities(LEAST_WORD, **self._tagger.confidence_options_)
        pairs = zip(rows, self.confidence(), strict=True)
        least = [float(sure[e.start : e.end].min()) for row, sure in pairs for e in row]
        return _with_confidence(rows, np.array(least))


def mapped(maps, confidence, label):
    """Return the mean of what several maps say."""
    return np.mean([each(confidence, label) for each in maps], axis=0)


def _with_confidence(rows, confidence):
    """Return entities with other confidences."""
    each = iter(confidence.tolist())
    return object_rows(
        [entity._replace(confidence=next(each)) for entity in row] for row in rows
    )
