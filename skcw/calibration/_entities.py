"""Whole entities of a calibrated tagger, and how sure it is of them."""

from inspect import signature
from itertools import chain

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw.calibration._judging import Judged
from skcw.data.ragged import object_rows
from skcw.metrics import extract_spans

# The definition that the confidences of words are enough for.
LEAST_WORD = "least-word"


def entities_of(tagger, X, definition, options):
    """Return the entities that a tagger predicts, with its own confidences."""
    ask = tagger.predict_entities
    if "definition" in signature(ask).parameters:
        return ask(X, definition=definition, **options)
    if definition != LEAST_WORD or options:
        raise ValueError(
            f"a {type(tagger).__name__} knows nothing of an entity but its least sure "
            f"word: entities={definition!r} cannot be served, set {LEAST_WORD!r} or "
            "None, and no options of a method"
        )
    return ask(X)


def judge_entities(tagger, X, y, definition, options, weight=None):
    """Return what a fitted tagger says of the entities that it predicts.

    Parameters
    ----------
    tagger : estimator
        With ``predict_entities``.
    X : sequences
        They can be read more than once.
    y : sequences of str
        The true labels.
    definition : str
        What the confidence of an entity is about.
    options : dict
        Options of ``predict_entities``.
    weight : ndarray of shape (n_sequences,), default=None
        What each sequence counts.

    Returns
    -------
    judged : Judged
        The entities; one is right if the truth has it, from its first to its last word
        and of its type.
    """
    weight = np.ones(len(y)) if weight is None else weight
    rows = entities_of(tagger, X, definition, options)
    judged = [
        (entity.confidence, tuple(entity[:3]) in truth, entity.label, each)
        for entities, truth, each in zip(rows, _true_spans(y), weight, strict=True)
        for entity in entities
    ]
    confidence, correct, label, each = zip(*judged, strict=True) if judged else [()] * 4
    return Judged(
        np.array(confidence, dtype=np.float64),
        np.array(correct, dtype=np.float64),
        np.array(label, dtype=str),
        np.array(each, dtype=np.float64),
    )


def some_entities(judged):
    """Return the folds in which entities were predicted, or say that there is none."""
    some = [one for one in judged if one.weight.any()]
    if not some:
        raise ValueError(
            "no entity was predicted, so there is nothing that entities= could map; "
            "labels must mark spans, such as B-PER and I-PER"
        )
    return some


def _true_spans(y):
    return [set(map(tuple, extract_spans(labels))) for labels in y]


class CalibratedEntities:
    """Entities with calibrated confidences, by maps of words or of their own."""

    def predict_entities(self, X, definition=None, method=None):
        """Return the entities that the predicted labels mark.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        definition : str, default=None
            None, or what the confidences were calibrated for: the value of `entities`,
            or ``"least-word"`` without one.
        method : str, default=None
            None, or the method that the maps were learnt for.

        Returns
        -------
        entities : ndarray of shape (n_sequences,), dtype object
            For each sequence a list of named tuples ``(label, start, end,
            confidence)``. With `entities` the confidence is the probability that the
            truth has this very entity; without, that of the least sure word.
        """
        check_is_fitted(self)
        self._check_method(method)
        learnt = self.entities or LEAST_WORD
        if definition not in (None, learnt):
            raise ValueError(
                f"definition is {definition!r}, but confidences were calibrated for "
                f"{learnt!r}; set entities={definition!r} and fit again, or ask tagger_"
            )
        if not self.entity_maps_:
            return super().predict_entities(X)
        rows = entities_of(self.tagger_, X, learnt, self.confidence_options_)
        found = list(chain.from_iterable(rows))
        label = np.array([entity.label for entity in found], dtype=str)
        confidence = np.array([entity.confidence for entity in found], dtype=np.float64)
        mapped = iter(self._mapped(self.entity_maps_, confidence, label).tolist())
        return object_rows(
            [entity._replace(confidence=next(mapped)) for entity in row] for row in rows
        )
