"""``Predictions``: what a model predicts for some sequences, computed at most once."""

from itertools import product
from numbers import Integral
from typing import NamedTuple

import numpy as np

from skcw._util.checks import check_same_lengths
from skcw._util.ragged import frozen, object_rows, split_rows
from skcw.confidence.draws import count_draws, draw_votes
from skcw.confidence.marginals import draw_chains
from skcw.confidence.tallies import SPAN_EVENTS, Labelings, labeling_lead, span_borders
from skcw.data.frames import AnswersInFrames
from skcw.data.labels import encode_labels
from skcw.data.schemes import extract_spans


class Entity(NamedTuple):
    """A labeled span of words; ``end`` is exclusive, as in a Python slice.

    Parameters
    ----------
    label : str
        Its label, without prefix.
    start : int
        The position of its first word.
    end : int
        One past the position of its last word.
    confidence : float
        How sure the tagger is of it.

    Examples
    --------
    >>> from skcw.confidence import Entity
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


def check_length(length):
    """Return the length of marginals; raise unless it is one or two."""
    if isinstance(length, bool) or length not in (1, 2):
        raise ValueError(
            f"length is {length!r}; marginals are of single labels (1) or of pairs of "
            "neighbors (2). sample answers questions about more words"
        )
    return length


def check_span_event(entity_confidence):
    """Return a span event; raise unless it is one."""
    if entity_confidence not in SPAN_EVENTS:
        raise ValueError(
            f"entity_confidence is {entity_confidence!r}; it must be one of {', '.join(SPAN_EVENTS)}"
        )
    return entity_confidence


class Predictions(AnswersInFrames):
    """What a tagger predicts for some sequences, which are encoded and scored once.

    ``tagger.predict_all(X)`` returns one. Nothing is computed before it is asked for, and
    nothing twice; ``predict(X)`` of a tagger is ``predict_all(X).labels()``, and so on. What it
    returns is the caller's own; only the table of all labels cannot be written to.

    Parameters
    ----------
    scored : ScoredBatch
        The sequences under the model.
    confidence : ModelConfidence
        The methods of the model and their settings.
    classes : list of str
        The labels.
    log_probability : bool, default=False
        Whether scores are logarithms of probabilities up to a constant.

    Attributes
    ----------
    classes : list of str
        The labels.
    offsets : ndarray of int64, shape (n_sequences + 1,)
        Where each sequence begins.
    lengths : ndarray of int64, shape (n_sequences,)
        The number of tokens of each sequence.
    confidence_methods : dict of str to Method
        The methods that the model supports.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    >>> answers = CWSequenceTagger(random_state=0).fit(X, y).predict_all([["Bob", "met"], []])
    >>> answers.labels()
    array([list(['P', 'O']), list([])], dtype=object)
    >>> answers.confidence("delta")[0].round(1)
    array([0.7, 0.5])
    >>> [label for label, *_ in answers.entities(method="delta")[0]]
    ['P']
    >>> answers.label_table("kbv").shape
    (2, 2)
    """

    def __init__(self, scored, confidence, classes, log_probability=False):
        self.classes = classes
        self.offsets = scored.offsets
        self.lengths = scored.lengths
        self._scored = scored
        self._confidence = confidence
        self._log_probability = log_probability
        self._kept = {}

    def __len__(self):
        return len(self.lengths)

    def _once(self, compute, *key):
        """Return what a function computes; the second time, what it has computed."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    @property
    def confidence_methods(self):
        """The methods that the model supports."""
        return self._confidence.served

    @property
    def codes(self):
        """The numbers of the predicted labels of all tokens."""
        return self._scored.viterbi()[0]

    @property
    def temperature(self):
        """What scores of labelings are divided by to get logarithms of shares."""
        if self._log_probability or "marginal" not in self._confidence.served:
            return 1.0
        return self._confidence.settings("marginal").temperature

    def labels(self):
        """Return the best labeling of every sequence.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            One list of labels per sequence.
        """
        return self._as_labels(self.codes)

    def nbest(self, n):
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
        n = min(check_n(n), self._scored.most_labelings())
        codes, total, found = self._once(lambda: self._n_best(n), "nbest", n)
        ranks = [self._as_labels(row) for row in codes]
        return object_rows(
            [(ranks[r][s], float(total[s, r])) for r in range(found[s])]
            for s in range(len(self))
        )

    def labeling_shares(self, n):
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
        temperature = self.temperature
        return object_rows(
            _softmax(np.array([score for _, score in row]) / temperature)
            for row in self.nbest(n)
        )

    def _n_best(self, n):
        """Return the codes of the n best labelings, their scores and their number."""
        codes, total, found = self._scored.k_best(n)
        if self._log_probability:
            _, log_z = self._scored.marginals()
            total = np.minimum(total - log_z[:, None], 0.0)
        return codes, total, found

    def confidence(self, method=None, **options):
        """Return how sure the tagger is of each predicted label.

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
        return split_rows(self._by_token(method, options).copy(), self.offsets)

    def _by_token(self, method, options):
        """Return how sure the tagger is of the predicted label of all tokens."""
        name, chosen = self._confidence.chosen(method)
        settings = self._confidence.settings(name, **options)
        return self._once(
            lambda: chosen.compute(self._scored, self.codes, settings), name, settings
        )

    def label_table(self, method=None, **options):
        """Return how sure the tagger is of every label at every token.

        Parameters
        ----------
        method : str, default=None
            A method that judges any label.
        **options : float or int
            Those of ``predict_confidence``.

        Returns
        -------
        table : ndarray of float64, shape (n_tokens, n_labels)
            A row for each token of all sequences, a column for each of ``classes``. It
            is kept for other questions, so it cannot be written to.
        """
        name, chosen = self._any_label(method)
        settings = self._confidence.settings(name, **options)
        return self._once(
            lambda: frozen(chosen.compute(self._scored, None, settings)),
            "table",
            name,
            settings,
        )

    def _any_label(self, method):
        name, chosen = self._confidence.chosen(method)
        if not chosen.any_label:
            able = [n for n, m in self._confidence.served.items() if m.any_label]
            raise ValueError(
                f"method {name!r} compares the predicted label with its rivals; to "
                f"judge given labels it must be one of {', '.join(able)}"
            )
        return name, chosen

    def marginals(self, length=1):
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
        if check_length(length) == 2:
            pairs = list(product(self.classes, repeat=2))
            rows = self._pair_rows(pairs, "marginal", {})
            return object_rows(
                [dict(zip(pairs, row, strict=True)) for row in table.tolist()]
                for table in rows
            )
        table = self.label_table("marginal")
        tokens = [dict(zip(self.classes, row, strict=True)) for row in table.tolist()]
        return split_rows(tokens, self.offsets)

    def pair_confidence(self, pairs, method=None, **options):
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
        name, chosen = self._confidence.chosen_for("pairs", method)
        settings = self._confidence.settings(name, **options)
        number = {label: code for code, label in enumerate(self.classes)}
        codes = [[number[label] for label in pair] for pair in pairs]
        left, right = np.array(codes, dtype=np.intp).reshape(-1, 2).T
        table = chosen.pairs(self._scored, left, right, settings)
        begins, ends = self.offsets[:-1].tolist(), self.offsets[1:].tolist()
        for begin, end in zip(begins, ends, strict=True):
            yield table[begin : max(end - 1, begin)]

    def label_confidence(self, y, method=None, **options):
        """Return how sure the tagger is of given labels, such as an annotator's.

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
        name, chosen = self._any_label(method)
        codes, lengths, _ = encode_labels(y, self.classes, grow=False)
        check_same_lengths(self.lengths, lengths)
        settings = self._confidence.settings(name, **options)
        sure = chosen.compute(self._scored, np.maximum(codes, 0), settings)
        return split_rows(np.where(codes >= 0, sure, 0.0), self.offsets)

    def sequence_confidence(self, method=None, **options):
        """Return how sure the tagger is that a whole labeling is right.

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
        name, chosen = self._confidence.chosen_for("sequences", method)
        settings = self._confidence.settings(name, **options)
        return self._once(
            lambda: chosen.sequences(self._scored, self.codes, settings),
            "sequences",
            name,
            settings,
        ).copy()

    def lead(self, in_deviations=False):
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
        return self._once(
            lambda: labeling_lead(self._scored, in_deviations=in_deviations),
            "lead",
            in_deviations,
        ).copy()

    def entities(self, entity_confidence=None, method=None, **options):
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
        entity_confidence = check_span_event(entity_confidence or "least-word")
        rows, starts, stops = self._once(self._find_spans, "spans")
        if entity_confidence == "least-word":
            by_word = self._by_token(method, options)
            sure = [by_word[a:b].min() for a, b in zip(starts, stops, strict=True)]
        else:
            sure = self._of_spans(starts, stops, entity_confidence, method, options)
        sure = iter(sure)
        return object_rows(
            [Entity(*span, float(next(sure))) for span in row] for row in rows
        )

    def _of_spans(self, starts, stops, entity_confidence, method, options):
        name, chosen = self._confidence.chosen_for("spans", method)
        settings = self._confidence.settings(name, **options)
        spans = np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64)
        borders = span_borders(self.classes, self.codes, spans[0], entity_confidence)
        return chosen.spans(self._scored, self.codes, spans, borders, settings)

    def _find_spans(self):
        """Return the spans of each sequence, and where they lie in the batch."""
        rows = [extract_spans(labels) for labels in self.labels()]
        begins = self.offsets[:-1].tolist()
        pairs = list(zip(begins, rows, strict=True))
        starts = [begin + span.start for begin, row in pairs for span in row]
        stops = [begin + span.end for begin, row in pairs for span in row]
        return rows, starts, stops

    def voted(self, unit_variance=None, **options):
        """Return the label that most drawn models give each word.

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
        how, settings = self._drawing(unit_variance, options)
        draws = settings.n_draws, settings.variance_scale
        votes = draw_votes(self._scored, *draws, seed=settings.seed, **how)
        return self._as_labels(votes.argmax(axis=1))

    def sampled(self, n, unit_variance=None, **options):
        """Return labelings drawn from what the model believes.

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
        if self._log_probability and unit_variance is None:
            known, what = (
                ("temperature", "random_state"),
                "the distribution of labelings",
            )
            _check_options(options, known, what)
            settings = self._confidence.settings("marginal", n_draws=n, **options)
            drawn = settings.n_draws, settings.temperature, settings.seed
            return self._as_labelings(draw_chains(self._scored, *drawn))
        _check_options(
            options, ("variance_scale", "random_state"), "the belief about weights"
        )
        how, settings = self._drawing(unit_variance, {**options, "n_draws": n})
        drawn = Labelings(settings.n_draws, self._scored.n_tokens)
        draws = settings.n_draws, settings.variance_scale
        count_draws(self._scored, *draws, [drawn], seed=settings.seed, **how)
        return self._as_labelings(drawn.codes)

    def _drawing(self, unit_variance, options):
        """Return how weights are drawn, and the settings of that method."""
        if unit_variance is None:
            unit_variance = self._confidence.belief.variance is None
        if "kd-fixed" not in self._confidence.served:
            raise ValueError("this tagger cannot draw weights, nor labelings from them")
        name, _ = self._confidence.chosen("kd-fixed" if unit_variance else "kd-pc")
        settings = self._confidence.settings(name, **options)
        return {"unit_variance": unit_variance}, settings

    def _as_labels(self, codes):
        # NumPy looks them up several times as fast as a loop.
        labels = np.array(self.classes, dtype=object)[codes].tolist()
        return split_rows(labels, self.offsets)

    def _as_labelings(self, codes):
        """Return codes of shape (n, n_tokens) as n lists of labels per sequence."""
        labels = np.array(self.classes, dtype=object)[codes]
        begins, ends = self.offsets[:-1].tolist(), self.offsets[1:].tolist()
        return object_rows(
            labels[:, a:b].tolist() for a, b in zip(begins, ends, strict=True)
        )


def _check_options(options, known, what):
    """Raise at an option that would change nothing."""
    if unknown := set(options) - set(known):
        raise TypeError(
            f"draws from {what} have no option {min(unknown)!r}; options are "
            f"{' and '.join(known)}"
        )


def _softmax(scores):
    """Return positive numbers that sum to one; none for no scores."""
    powers = np.exp(scores - scores.max(initial=-np.inf))
    return powers / powers.sum() if len(powers) else powers
