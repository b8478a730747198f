"""``Predictions``: all that can be asked about some sequences, over a stack of layers.

At the bottom of the stack a model answers in flat arrays (`ModelLayer`). A calibrated,
selective or reranked tagger puts a `Layer` on it that changes some of the answers.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from skcw._util.checks import check_same_lengths
from skcw._util.marked_text import SHOWN, joined_words, sentences_html
from skcw._util.ragged import frozen, object_rows, split_rows
from skcw.confidence.draws import tally_draws
from skcw.confidence.marginals import draw_chains
from skcw.confidence.settings import check_count
from skcw.confidence.tallies import (
    SPAN_EVENTS,
    Labelings,
    Votes,
    labeling_lead,
    span_borders,
)
from skcw.data.columns import TokenColumns
from skcw.data.frames import AnswersInFrames, columns_of_tokens
from skcw.data.labels import encode_labels
from skcw.data.schemes import are_spans, extract_spans


class Entity(NamedTuple):
    """A labeled span of tokens; ``end`` is exclusive, as in a Python slice.

    Parameters
    ----------
    label : str
        Its label, without prefix.
    start : int
        The position of its first token.
    end : int
        One past the position of its last token.
    confidence : float
        How confident the tagger is of it.

    Examples
    --------
    >>> from skcw.confidence.predictions import Entity
    >>> Entity("PER", 0, 2, 0.9)
    Entity(label='PER', start=0, end=2, confidence=0.9)
    """

    label: str
    start: int
    end: int
    confidence: float


def check_n(n):
    """Return a number of labelings; raise unless it is a positive integer."""
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be a positive integer, got {n!r}")
    return int(n)


class Predictions(AnswersInFrames):
    """What a tagger predicts for some sequences, which are encoded and scored once.

    ``tagger.predict_all(X)`` returns one. Nothing is computed before it is needed, and
    nothing twice; ``predict(X)`` of a tagger is ``predict_all(X).labels()``, and so on.
    Results belong to the caller; only the table of all labels is read-only.

    Parameters
    ----------
    layer : Layer or ModelLayer
        The topmost layer: the model, or what a wrapper changes in its answers.
    X : sequences, default=None
        The sequences, for tables and pages that show their words.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
    >>> predictions = tagger.predict_all([["Bob", "met"], []])
    >>> predictions.labels()
    array([list(['P', 'O']), list([])], dtype=object)
    >>> predictions.confidence("delta")[0].round(1)
    array([0.7, 0.5])
    >>> [label for label, *_ in predictions.entities(method="delta")[0]]
    ['P']
    >>> predictions.label_table("kbv").shape
    (2, 2)
    """

    def __init__(self, layer: Any, X: Any = None) -> None:
        self.layer = layer
        # What is read once is gone.
        self.X = X if hasattr(X, "__len__") else None

    def __len__(self):
        return len(self.lengths)

    def __repr__(self):
        return (
            f"Predictions({len(self)} sequences, {self.offsets[-1]} tokens, "
            f"{len(self.classes)} labels)"
        )

    def _repr_html_(self):
        if self.tokens is None:
            return None
        shown = joined_words(self.tokens.words()[:SHOWN])
        return sentences_html(*shown, self, are_spans(self.classes))

    @cached_property
    def tokens(self):
        """The tokens as ``TokenColumns``; None where they have no text."""
        found = None
        if isinstance(self.X, (TokenColumns, Sequence, np.ndarray)):
            # Numbers, and tuples of features, are no columns.
            with suppress(TypeError, ValueError):
                found = columns_of_tokens(self.X)
        if found is None:
            return None
        shown = found.n_columns and np.array_equal(found.lengths, self.lengths)
        return found if shown else None

    @property
    def classes(self):
        """The labels."""
        return self.layer.classes

    @property
    def offsets(self):
        """Where each sequence begins: int64, one more than there are sequences."""
        return self.layer.offsets

    @property
    def lengths(self):
        """The number of tokens of each sequence."""
        return np.diff(self.offsets)

    @property
    def codes(self):
        """The numbers of the predicted labels of all tokens."""
        return self.layer.codes

    @property
    def temperature(self):
        """What scores of labelings are divided by to get logarithms of shares."""
        return self.layer.temperature

    @property
    def confidence_methods(self):
        """The methods of confidence that can be asked for, by name."""
        return self.layer.confidence_methods

    def labels(self) -> np.ndarray:
        """Return the best labeling of every sequence.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            One list of labels per sequence.
        """
        return self._as_labels(self.codes)

    def nbest(self, n: int) -> np.ndarray:
        """Return the n best distinct labelings of every sequence.

        Parameters
        ----------
        n : int
            How many labelings; fewer are returned where fewer exist.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            One list of ``(labels, score)`` per sequence, best first.
        """
        codes, total, found = self.layer.nbest(check_n(n))
        ranks = [self._as_labels(row) for row in codes]
        return object_rows(
            [(ranks[r][s], float(total[s, r])) for r in range(found[s])]
            for s in range(len(self))
        )

    def labeling_shares(self, n: int) -> np.ndarray:
        """Return how probable each of the n best labelings is among them.

        Parameters
        ----------
        n : int
            How many labelings.

        Returns
        -------
        shares : ndarray of shape (n_sequences,), dtype object
            One float array per sequence, which sums to one, in the order of ``nbest``.
        """
        return object_rows(self.layer.labeling_shares(check_n(n)))

    def confidence(self, method: str | None = None, **options: Any) -> np.ndarray:
        """Return the confidence in each predicted label.

        Parameters
        ----------
        method : str, default=None
            A method of ``confidence_methods``; None is the tagger's default.
        **options : float or int
            Those of ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            One float array per sequence.
        """
        by_token = self.layer.confidence(method, options)
        return split_rows(by_token.copy(), self.offsets)

    def label_table(self, method: str | None = None, **options: Any) -> np.ndarray:
        """Return the confidence in every label at every token.

        Parameters
        ----------
        method : str, default=None
            A method that judges any label.
        **options : float or int
            Those of ``predict_confidence``.

        Returns
        -------
        table : ndarray of float64, shape (n_tokens, n_labels)
            A row for each token of all sequences, a column for each of ``classes``.
            It is shared with other questions, and so read-only.
        """
        return self.layer.label_table(method, options)

    def marginals(self, length: int = 1) -> np.ndarray:
        """Return the marginal of every label, in the form of sklearn-crfsuite.

        Parameters
        ----------
        length : {1, 2}, default=1
            Whether marginals are of single labels, or of pairs of neighbors.

        Returns
        -------
        marginals : ndarray of shape (n_sequences,), dtype object
            One list per sequence, with one dict per token: label -> marginal. With
            ``length=2`` one dict for each two neighbors: (label, next label) ->
            marginal.
        """
        if isinstance(length, bool) or length not in (1, 2):
            raise ValueError(
                f"length is {length!r}; marginals are of single labels (1) or of pairs "
                "of neighbors (2). sample answers questions about more tokens"
            )
        if length == 2:
            pairs = list(product(self.classes, repeat=2))
            rows = self._pair_rows(pairs, "marginal", {})
            return object_rows(
                [dict(zip(pairs, row, strict=True)) for row in table.tolist()]
                for table in rows
            )
        table = self.layer.marginals().tolist()
        tokens = [dict(zip(self.classes, row, strict=True)) for row in table]
        return split_rows(tokens, self.offsets)

    def pair_confidence(
        self, pairs: Sequence[Any], method: str | None = None, **options: Any
    ) -> np.ndarray:
        """Return how probable it is that two neighbors have one of some label pairs.

        Parameters
        ----------
        pairs : sequence of (str, str)
            The label of a token and that of the next one. Pairs with labels that the
            tagger does not know have probability 0.
        method : str, default=None
            A method for pairs; None is ``"marginal"``, the only one so far.
        **options : float or int
            Those of ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            One float array per sequence, with one number for each two neighbors: one
            less than there are tokens, and none where there is none.
        """
        pairs = [pair if isinstance(pair, str) else tuple(pair) for pair in pairs]
        for pair in pairs:
            if isinstance(pair, str) or len(pair) != 2:
                raise ValueError(
                    f"pairs holds {pair!r}; give pairs of labels, such as ('DT', 'NN')"
                )
        known = [pair for pair in dict.fromkeys(pairs) if {*pair} <= {*self.classes}]
        rows = self._pair_rows(known, method, options)
        return object_rows(np.minimum(table.sum(axis=1), 1.0) for table in rows)

    def _pair_rows(self, pairs, method, options):
        """Yield a table per sequence: neighbors in rows, pairs in columns."""
        number = {label: code for code, label in enumerate(self.classes)}
        codes = [[number[label] for label in pair] for pair in pairs]
        left, right = np.array(codes, dtype=np.intp).reshape(-1, 2).T
        table = self.layer.pair_confidence(left, right, method, options)
        begins, ends = self.offsets[:-1].tolist(), self.offsets[1:].tolist()
        for begin, end in zip(begins, ends, strict=True):
            yield table[begin : max(end - 1, begin)]

    def label_confidence(
        self, y: Iterable[Any], method: str | None = None, **options: Any
    ) -> np.ndarray:
        """Return the confidence in given labels, such as an annotator's.

        Parameters
        ----------
        y : iterable of sequences of str
            The labels to judge.
        method : str, default=None
            A method that judges any label.
        **options : float or int
            Those of ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            One float array per sequence; 0 for labels the tagger does not know.
        """
        codes, lengths, _ = encode_labels(y, self.classes, grow=False)
        check_same_lengths(self.lengths, lengths)
        sure = self.layer.label_confidence(np.maximum(codes, 0), method, options)
        return split_rows(np.where(codes >= 0, sure, 0.0), self.offsets)

    def sequence_confidence(
        self, method: str | None = None, **options: Any
    ) -> np.ndarray:
        """Return the confidence that a whole labeling is right.

        Parameters
        ----------
        method : str, default=None
            A method for sequences; None is ``"marginal"``.
        **options : float or int
            Those of ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of float64, shape (n_sequences,)
            One number per sequence; 1 for an empty one.
        """
        return self.layer.sequence_confidence(method, options).copy()

    def lead(self, in_deviations: bool = False) -> np.ndarray:
        """Return by how much the best labeling leads the second best one.

        Parameters
        ----------
        in_deviations : bool, default=False
            Whether to count in standard deviations of that difference, which only a
            model that keeps variances can.

        Returns
        -------
        lead : ndarray of float64, shape (n_sequences,)
            One number per sequence; infinite where there is one labeling only.
        """
        return self.layer.lead(in_deviations).copy()

    def entities(
        self,
        entity_confidence: str | None = None,
        method: str | None = None,
        **options: Any,
    ) -> np.ndarray:
        """Return the entities that the predicted labels mark.

        Parameters
        ----------
        entity_confidence : str, default=None
            What the confidence is about, see ``predict_entities``; None is
            ``"least-word"``.
        method : str, default=None
            A method; for other events than ``"least-word"`` one for spans.
        **options : float or int
            Those of ``predict_confidence``.

        Returns
        -------
        entities : ndarray of shape (n_sequences,), dtype object
            For each sequence a list of named tuples ``(label, start, end,
            confidence)``.
        """
        return object_rows(self.layer.entities(entity_confidence, method, options))

    def voted(self, unit_variance: bool | None = None, **options: Any) -> np.ndarray:
        """Return the label that most drawn models give each token.

        Parameters
        ----------
        unit_variance : bool, default=None
            Whether all weights are drawn with one variance; by default where the model
            keeps none.
        **options : float or int
            ``variance_scale``, ``n_draws`` and ``random_state``.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            One list of labels per sequence.
        """
        return self._as_labels(self.layer.voted(unit_variance, options))

    def sampled(
        self, n: int, unit_variance: bool | None = None, **options: Any
    ) -> np.ndarray:
        """Return labelings drawn from the model's distribution.

        Parameters
        ----------
        n : int
            How many labelings of every sequence.
        unit_variance : bool, default=None
            As in ``sample`` of the taggers.
        **options : float or int
            Those of ``sample``.

        Returns
        -------
        labelings : ndarray of shape (n_sequences,), dtype object
            One list of n labelings per sequence, each a list of labels.
        """
        codes = self.layer.sampled(n, unit_variance, options)
        labels = np.array(self.classes, dtype=object)[codes]
        begins, ends = self.offsets[:-1].tolist(), self.offsets[1:].tolist()
        return object_rows(
            labels[:, a:b].tolist() for a, b in zip(begins, ends, strict=True)
        )

    def accepted(self, risk: float | None = None) -> np.ndarray:
        """Return what a selective tagger accepts.

        Parameters
        ----------
        risk : float, default=None
            One of the tagger's risks; None is the first.

        Returns
        -------
        accepted : ndarray of shape (n_sequences,), dtype object
            One array of bool per sequence, as :meth:`skcw.SelectiveTagger.accept` has.
        """
        return self.layer.accepted(risk)

    def sets(self) -> np.ndarray:
        """Return the conformal sets of a selective tagger.

        Returns
        -------
        sets : ndarray of shape (n_sequences,), dtype object
            As :meth:`skcw.SelectiveTagger.predict_sets` has them.
        """
        return self.layer.sets()

    def _as_labels(self, codes):
        # NumPy looks them up several times as fast as a loop.
        labels = np.array(self.classes, dtype=object)[codes].tolist()
        return split_rows(labels, self.offsets)


class Layer:
    """What a wrapper changes in the answers of the layer below; the rest is unchanged.

    A subclass defines those methods of `ModelLayer` whose answers differ.

    Parameters
    ----------
    below : Layer or ModelLayer
        The layer that it is put on.
    """

    def __init__(self, below):
        self.below = below

    def __getattr__(self, name):
        # Only what a subclass does not define comes here.
        if name == "below" or name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.below, name)


class ModelLayer:
    """The answers of a model, in flat arrays over the tokens of all sequences.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    model : ModelConfidence
        The methods of the model and their settings.
    classes : list of str
        The labels.
    log_probability : bool, default=False
        Whether scores are logarithms of probabilities up to a constant.
    """

    def __init__(self, scored, model, classes, log_probability=False):
        self.scored = scored
        self.model = model
        self.classes = classes
        self.log_probability = log_probability
        self.offsets = scored.offsets
        self._kept = {}

    def _once(self, compute, *key):
        """Return what a function computes; the second time, what it has computed."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    @property
    def confidence_methods(self):
        """The methods that the model supports."""
        return self.model.served

    @property
    def codes(self):
        """The numbers of the predicted labels."""
        return self.scored.viterbi()[0]

    @property
    def temperature(self):
        """What scores of labelings are divided by to get logarithms of shares."""
        if self.log_probability or "marginal" not in self.confidence_methods:
            return 1.0
        return self.model.settings("marginal").temperature

    def nbest(self, n):
        """Return the codes of the n best labelings, their scores and their number."""
        n = min(n, self.scored.most_labelings())
        return self._once(lambda: self._find_nbest(n), "nbest", n)

    def _find_nbest(self, n):
        codes, total, found = self.scored.k_best(n)
        if self.log_probability:
            _, log_z = self.scored.marginals()
            total = np.minimum(total - log_z[:, None], 0.0)
        return codes, total, found

    def labeling_shares(self, n):
        """Yield the shares of the n best labelings of each sequence."""
        temperature = self.temperature
        _, total, found = self.nbest(n)
        for row, size in zip(total, found.tolist(), strict=True):
            yield softmax(row[:size] / temperature)

    def confidence(self, method, options):
        """Return the confidence in the predicted labels."""
        name, chosen, settings = self._chosen(method, options)
        return self._once(
            lambda: chosen.compute(self.scored, self.codes, settings), name, settings
        )

    def _chosen(self, method, options, kind=None):
        """Return a method that can judge things of a kind, and its settings."""
        name, chosen = self.model.chosen(method, kind)
        return name, chosen, self.model.settings(name, **options)

    def label_table(self, method, options):
        """Return the confidence in every label at every token."""
        name, chosen, settings = self._chosen(method, options, "any_label")
        compute = chosen.compute
        return self._once(
            lambda: frozen(compute(self.scored, None, settings)), "all", name, settings
        )

    def marginals(self):
        """Return the marginal of every label at every token."""
        return self.label_table("marginal", {})

    def label_confidence(self, codes, method, options):
        """Return the confidence in given labels."""
        _, chosen, settings = self._chosen(method, options, "any_label")
        return chosen.compute(self.scored, codes, settings)

    def pair_confidence(self, left, right, method, options):
        """Return a table: tokens in rows, label pairs with the next one in columns."""
        _, chosen, settings = self._chosen(method, options, "pairs")
        return chosen.pairs(self.scored, left, right, settings)

    def sequence_confidence(self, method, options):
        """Return the confidence in the labeling of each sequence."""
        _, chosen, settings = self._chosen(method, options, "sequences")
        return self._once(
            lambda: chosen.sequences(self.scored, self.codes, settings),
            chosen.sequences,
            settings,
        )

    def lead(self, in_deviations):
        """Return by how much the best labeling leads the second best one."""
        return self._once(
            lambda: labeling_lead(self.scored, in_deviations=in_deviations),
            "lead",
            in_deviations,
        )

    def entities(self, entity_confidence, method, options):
        """Yield the entities of each sequence."""
        event = entity_confidence or "least-word"
        if event not in SPAN_EVENTS:
            raise ValueError(
                f"entity_confidence is {event!r}; it must be one of "
                f"{', '.join(SPAN_EVENTS)}"
            )
        rows, starts, stops = self._spans
        if event == "least-word":
            by_token = self.confidence(method, options)
            sure = [by_token[a:b].min() for a, b in zip(starts, stops, strict=True)]
        else:
            sure = self._span_confidence(event, method, options)
        sure = iter(sure)
        for row in rows:
            yield [Entity(*span, float(next(sure))) for span in row]

    def _span_confidence(self, event, method, options):
        _, chosen, settings = self._chosen(method, options, "spans")
        spans = tuple(np.array(ends, dtype=np.int64) for ends in self._spans[1:])
        borders = span_borders(self.classes, self.codes, spans[0], event)
        return chosen.spans(self.scored, self.codes, spans, borders, settings)

    @cached_property
    def _spans(self):
        """The spans of each sequence, and where they lie in the batch."""
        labels = np.array(self.classes, dtype=object)[self.codes].tolist()
        rows = [extract_spans(row) for row in split_rows(labels, self.offsets)]
        pairs = list(zip(self.offsets[:-1].tolist(), rows, strict=True))
        starts = [begin + span.start for begin, row in pairs for span in row]
        stops = [begin + span.end for begin, row in pairs for span in row]
        return rows, starts, stops

    def voted(self, unit_variance, options):
        """Return the labels that most drawn models give."""
        how, settings = self._drawing(unit_variance, options)
        votes = Votes(self.scored.n_tokens, self.scored.n_labels)
        return tally_draws(self.scored, settings, votes, **how).counts.argmax(axis=1)

    def sampled(self, n, unit_variance, options):
        """Return the codes of n drawn labelings, of shape (n, n_tokens)."""
        if self.log_probability and unit_variance is None:
            known = "temperature", "random_state"
            _check_options(options, known, "the distribution of labelings")
            check_count("n_draws", n)
            seed = self.model.draw_seed(options.pop("random_state", None))
            temperature = self.model.settings("marginal", **options).temperature
            return draw_chains(self.scored, int(n), temperature, seed)
        known = "variance_scale", "random_state"
        _check_options(options, known, "the distribution of weights")
        how, settings = self._drawing(unit_variance, {**options, "n_draws": n})
        drawn = Labelings(settings.n_draws, self.scored.n_tokens)
        return tally_draws(self.scored, settings, drawn, **how).codes

    def _drawing(self, unit_variance, options):
        """Return how weights are drawn, and the settings of that method."""
        if unit_variance is None:
            unit_variance = self.model.belief.variance is None
        if "kd-fixed" not in self.confidence_methods:
            raise ValueError("this tagger cannot draw weights, nor labelings from them")
        name, _ = self.model.chosen("kd-fixed" if unit_variance else "kd-pc")
        settings = self.model.settings(name, **options)
        return {"unit_variance": unit_variance}, settings

    def accepted(self, risk):
        """Raise: a model by itself has no threshold."""
        raise TypeError("only a SelectiveTagger accepts labels; fit one around this")

    def sets(self):
        """Raise: a model by itself has no threshold."""
        raise TypeError("only a SelectiveTagger has sets; fit one around this tagger")


def _check_options(options, known, what):
    """Raise at an option that would change nothing."""
    if unknown := set(options) - set(known):
        raise TypeError(
            f"draws from {what} have no option {min(unknown)!r}; options are "
            f"{' and '.join(known)}"
        )


def softmax(scores):
    """Return positive numbers that sum to one; none for no scores."""
    powers = np.exp(scores - scores.max(initial=-np.inf))
    return powers / powers.sum() if len(powers) else powers
