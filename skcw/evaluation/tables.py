"""Tables of weights, and of predicted entities with their confidence."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from skcw._util.text_table import Table, shown_token
from skcw.confidence.foreign import predictions_of
from skcw.data.batch import SequenceBatch
from skcw.tagging.crf import as_tagger


class Weight(NamedTuple):
    """A weight and its standard deviation.

    Parameters
    ----------
    name : str
        The feature, or the transition.
    weight : float
        The weight.
    std : float or None
        Its standard deviation; None for learners that keep none.

    Examples
    --------
    >>> from skcw.evaluation.tables import Weight
    >>> Weight("word[0]=Anna", 1.5, 0.2).std
    0.2
    """

    name: str
    weight: float
    std: float | None


class LearnedWeights:
    """The weights of a fitted tagger of any kind.

    Parameters
    ----------
    tagger : BaseSequenceTagger
        The tagger.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.evaluation.tables import LearnedWeights
    >>> tagger = CWSequenceTagger().fit([[["w=a"], ["w=b"]]], [["A", "B"]])
    >>> best, worst = LearnedWeights(tagger).of_features("A", 1)
    >>> best[0].name, worst[0].name
    ('w=a', 'w=b')
    """

    def __init__(self, tagger):
        self.labels = tagger.classes_.tolist()
        self.names = tagger.feature_names_
        self.features = np.asarray(tagger.coef_, dtype=np.float64)
        # Where the labels before are features like others, there are no transitions.
        self.transitions = getattr(tagger, "transition_coef_", None)
        self.feature_std = _std(getattr(tagger, "coef_variance_", None))
        self.transition_std = _std(getattr(tagger, "transition_variance_", None))
        self.edges = getattr(tagger, "edge_features_", {})

    def of_features(self, label, top):
        """Return the features with the largest and the smallest weights for a label.

        Parameters
        ----------
        label : str
            The label.
        top : int
            How many of each.

        Returns
        -------
        best, worst : list of Weight
            The largest weights above zero, and the smallest below it.
        """
        j = self.labels.index(label)
        column = self.features[:, j]
        order = np.argsort(-column, kind="stable")

        def rows(places):
            return [
                Weight(self.names[i], float(column[i]), _at(self.feature_std, (i, j)))
                for i in places
            ]

        best = rows(i for i in order[:top] if column[i] > 0)
        return best, rows(i for i in order[::-1][:top] if column[i] < 0)

    def of_transitions(self, label, top):
        """Return the largest transition weights before and after a label.

        Parameters
        ----------
        label : str
            The label.
        top : int
            How many.

        Returns
        -------
        transitions : list of Weight
            Called "A -> B", largest weight first; none if the tagger has no weights of
            transitions.
        """
        if self.transitions is None:
            return []
        j = self.labels.index(label)
        labels = self.labels
        pairs = {pair for i in range(len(labels)) for pair in ((i, j), (j, i))}
        weights, std = self.transitions, self.transition_std
        found = [
            Weight(
                f"{labels[a]} -> {labels[b]}", float(weights[a, b]), _at(std, (a, b))
            )
            for a, b in sorted(pairs)
        ]
        found.sort(key=lambda row: -abs(row.weight))
        return sorted(found[:top], key=lambda row: -row.weight)

    def of_edges(self, label, top):
        """Return the largest weights of transitions that look at words.

        Parameters
        ----------
        label : str
            The label before or after.
        top : int
            How many.

        Returns
        -------
        edges : list of Weight
            Called "A -> B & feature", largest weight first, without deviations; none if
            transitions do not look at words.
        """
        found = [
            Weight(f"{before} -> {after} & {name}", weight, None)
            for (name, before, after), weight in self.edges.items()
            if label in (before, after)
        ]
        found.sort(key=lambda row: (-abs(row.weight), row.name))
        return sorted(found[:top], key=lambda row: (-row.weight, row.name))


def _std(variance):
    return None if variance is None else np.sqrt(np.asarray(variance, np.float64))


def _at(array, place):
    return None if array is None else float(array[place])


def entity_table(
    estimator: Any,
    X: Iterable[Any],
    *,
    entity_confidence: str | None = None,
    method: str | None = None,
    **options: Any,
) -> Any:
    """Return the predicted entities of sentences as a table with their words.

    Parameters
    ----------
    estimator : tagger or pipeline
        A fitted one.
    X : sequence of sequences
        The sentences: lists of words, of tuples with the word first, or of features, of
        which the first is shown; or ``TokenColumns``.
    entity_confidence : str, default=None
        The event of the confidence, as in ``predict_entities``.
    method : str, default=None
        A method of ``predict_entities``.
    **options : float or int
        Those of ``predict_confidence``.

    Returns
    -------
    table : Table
        Shown as text on a terminal and as HTML in a notebook; ``rows`` has the values:
        the number of the sentence, the words, the label, the positions of the first and
        past the last word, and the confidence.

    Examples
    --------
    >>> from skcw import make_tagging_pipeline
    >>> from skcw.evaluation import entity_table
    >>> X = [["Ann", "met", "Bob"], ["Bob", "left"]]
    >>> y = [["B-PER", "O", "B-PER"], ["B-PER", "O"]]
    >>> pipeline = make_tagging_pipeline(["word"]).fit(X, y)
    >>> table = entity_table(pipeline, [["Ann", "left"], ["left"]], method="marginal")
    >>> table.headers
    ['sentence', 'words', 'label', 'start', 'end', 'confidence']
    >>> table.rows[0][:5]
    (0, 'Ann', 'PER', 0, 1)
    """
    X = X if hasattr(X, "__len__") else list(X)
    given = {"entity_confidence": entity_confidence, "method": method} | options
    given = {name: value for name, value in given.items() if value is not None}
    found = predictions_of(as_tagger(estimator), X).entities(**given)
    rows = [
        (number, words_of(X, number, entity), *entity)
        for number, entities in enumerate(found)
        for entity in entities
    ]
    headers = ["sentence", "words", "label", "start", "end", "confidence"]
    return Table(headers, rows, [None, None, None, None, None, ".3f"])


def words_of(X, number, entity):
    """Return the words of an entity, where X still has any."""
    if isinstance(X, SequenceBatch):
        return ""
    tokens = X[number][entity.start : entity.end]
    return " ".join(map(shown_token, tokens))
