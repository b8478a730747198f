"""How sure a tagger is: of words, entities and whole sequences."""

import warnings
from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw.confidence.draws import draw_votes
from skcw.confidence.learning import LEARNT
from skcw.confidence.methods import check_method
from skcw.confidence.settings import check_count, check_positive, usual_values
from skcw.confidence.tuning import settings_of
from skcw.confidence.whole import (
    DEFINITIONS,
    JOINT_METHODS,
    sequence_confidence,
    span_confidence,
)
from skcw.data.checks import check_same_lengths
from skcw.data.labels import encode_labels
from skcw.data.ragged import object_rows, split_rows
from skcw.exceptions import UnlearntConfidenceWarning
from skcw.metrics import extract_spans
from skcw.tagging._base import Entity
from skcw.tagging._confidence_fitting import ConfidenceFitting

# Votes need more draws than marginals, which are smooth already.
N_DRAWS, N_DRAWN_MARGINALS = 100, 32


class ConfidenceMixin(ConfidenceFitting):
    """Confidence of a tagger that has a belief and decodes encoded batches."""

    # Of words; spans and whole sequences are asked by "marginal".
    _default_method = "marginal"

    def predict_confidence(
        self,
        X,
        method=None,
        *,
        scale=None,
        temperature=None,
        k=None,
        n_draws=None,
        random_state=None,
    ):
        """Return how sure the tagger is of each predicted label.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        method : str, default=None
            From cheap to costly; by default ``"draw-marginal-fixed"`` for the taggers
            that are trained by margins and ``"marginal"`` for the others.

            - ``"delta"``: what the best labeling loses in score if that one word gets
              its best other label. Ranks words; no probability.
            - ``"delta-std"``: the same in standard deviations of that difference;
              ``"delta-probit"``: the probability that it is positive. CW and AROW.
            - ``"delta-max"``: the loss when the rest of the labeling may adapt.
            - ``"marginal"``: the forward-backward probability of the label.
            - ``"kbv"``, ``"wkbv"``: the share of the `k` best labelings that have the
              label, each counting one or by its score.
            - ``"kd-independent"``: the share of `n_draws` draws of the scores of single
              tokens that keep the label. CW and AROW.
            - ``"kd-fixed"``, ``"kd-pc"``: the share of weight vectors drawn around the
              mean that keep the label, with one variance for all weights, or with
              that of the belief (CW and AROW).
            - ``"draw-marginal-fixed"``, ``"draw-marginal"``: marginals averaged over
              such draws, with one variance for all weights or that of the belief (CW
              and AROW). ``"blend"``: the mean of ``"kd-pc"`` and ``"marginal"``.
        scale : float, default=None
            The factor of the variances of draws, in units of the model's own scale.
            By default what ``fit`` or ``fit_confidence`` has chosen for the method, or
            3.0 (4.0 for ``"kd-fixed"``, none for ``"draw-marginal-fixed"``).
        temperature : float, default=None
            What scores are divided by, in units of the margin that training asks
            for. By default what ``fit`` or ``fit_confidence`` has chosen, or 0.8.
        k : int, default=None
            How many labelings vote; by default 30, or what was chosen.
        n_draws : int, default=None
            How many weight vectors are drawn; by default 32 for averaged marginals and
            100 for votes, which rank better with up to several hundred.
        random_state : int, default=None
            The seed of the draws; by default 0 for ``"draw-marginal-fixed"``, and for
            the others the tagger's if that is an integer, or 0. The answer depends on
            it, the model and the sequence alone.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            A float array per sequence.

        Notes
        -----
        Wrong words left after the 5,000 least sure of 64,000 to 78,000 were reviewed,
        and RMSE over 20 bins, for the mean of eight CW models on NP chunks, Spanish and
        Dutch names (five splits, 200 draws, parameters as they come unless noted):

        ===================  =============  =====================
        method               left           RMSE
        ===================  =============  =====================
        delta                805, 752, 182
        kbv (fitted)         598, 636, 291  .049, .082, .151
        delta-max            448, 371, 65
        marginal             440, 366, 63   .0202, .0246, .0246
        kd-pc (fitted)       439, 350, 62   .0197, .0243, .0245
        blend                428, 341, 57   .0217, .0244, .0251
        kd-fixed             415, 300, 54   .0212, .0255, .0248
        a tuned CRF          424, 340, 56   .0274, .0348, .0284
        ===================  =============  =====================
        """
        name, chosen = self._chosen_method(method)
        batch = self.encode(X)
        decoder = self._decoder(batch)
        settings = self._settings(
            name,
            chosen,
            scale=scale,
            temperature=temperature,
            k=k,
            n_draws=n_draws,
            random_state=random_state,
        )
        codes, _ = decoder.viterbi(batch)
        return split_rows(
            chosen.compute(decoder, batch, codes, settings), batch.offsets
        )

    def label_confidence(self, X, y, method=None, **options):
        """Return how sure the tagger is of given labels, such as an annotator's.

        Ask a tagger that has not learnt from these sequences: one that has, believes
        what it was told.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        y : iterable of sequences of str
            The labels to judge.
        method : str, default=None
            A method of ``predict_confidence`` that gives probabilities.
        **options : float or int
            ``scale``, ``temperature``, ``k``, ``n_draws`` and ``random_state`` as in
            ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of shape (n_sequences,), dtype object
            A float array per sequence; 0 for labels the tagger does not know.
        """
        name, chosen = self._chosen_method(method)
        if not chosen.probability or name == "delta-probit":
            raise ValueError(
                f"method {name!r} compares the predicted label with its rivals; given "
                "labels are judged by marginal, kbv, wkbv, kd-..., draw-marginal, blend"
            )
        batch = self.encode(X)
        codes, lengths, _ = encode_labels(y, self.classes_.tolist(), grow=False)
        check_same_lengths(batch.lengths, lengths)
        settings = self._settings(name, chosen, **options)
        known = np.maximum(codes, 0)
        sure = chosen.compute(self._decoder(batch), batch, known, settings)
        return split_rows(np.where(codes >= 0, sure, 0.0), batch.offsets)

    def predict_sequence_confidence(self, X, method=None, **options):
        """Return how sure the tagger is that a whole labeling is right.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        method : str, default=None
            ``"marginal"``, the default, is the probability of the labeling;
            ``"kbv"`` its share among the `k` best; ``"kd-independent"``,
            ``"kd-fixed"`` and ``"kd-pc"`` the share of drawn models that give the
            very same labeling.
        **options : float or int
            ``scale``, ``temperature``, ``k``, ``n_draws`` and ``random_state`` as in
            ``predict_confidence``.

        Returns
        -------
        confidence : ndarray of float64, shape (n_sequences,)
            One number per sequence; 1 for an empty one.
        """
        name, chosen = self._chosen_method(method, JOINT_METHODS)
        batch = self.encode(X)
        decoder = self._decoder(batch)
        settings = self._settings(name, chosen, **options)
        codes, _ = decoder.viterbi(batch)
        return sequence_confidence(decoder, batch, codes, name, settings)

    def predict_entities(self, X, definition="least-word", method=None, **options):
        """Return the entities that the predicted labels mark.

        Parameters
        ----------
        X : sequences
            The sequences.
        definition : str, default="least-word"
            What the confidence of an entity is about.

            - ``"least-word"``: its least sure word. Cheap, with any method; to rank.
            - ``"all-words"``: all its words have their labels. To accept annotations.
            - ``"boundary"``: an entity of any type begins and ends there. To link or
              to mask.
            - ``"exact"``: it begins and ends there and has its type, by whatever labels
              of its words. What span F1 counts; the one to calibrate.
        method : str, default=None
            Any of ``predict_confidence`` for ``"least-word"``; for the others
            ``"marginal"`` (the default, by forward-backward under constraints),
            ``"kbv"``, ``"kd-independent"``, ``"kd-fixed"`` or ``"kd-pc"``.
        **options : float or int
            ``scale``, ``temperature``, ``k``, ``n_draws`` and ``random_state`` as in
            ``predict_confidence``.

        Returns
        -------
        entities : ndarray of shape (n_sequences,), dtype object
            For each sequence a list of named tuples ``(label, start, end,
            confidence)``.
        """
        if definition not in DEFINITIONS:
            raise ValueError(
                f"definition is {definition!r}; there are {', '.join(DEFINITIONS)}"
            )
        words = definition == "least-word"
        name, chosen = self._chosen_method(method, None if words else JOINT_METHODS)
        batch = self.encode(X)
        decoder = self._decoder(batch)
        settings = self._settings(name, chosen, **options)
        codes, _ = decoder.viterbi(batch)
        found, starts, stops = self._spans(codes, batch.offsets)
        if words:
            by_word = chosen.compute(decoder, batch, codes, settings)
            sure = [by_word[a:b].min() for a, b in zip(starts, stops, strict=True)]
        else:
            spans = np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64)
            labels = self.classes_.tolist()
            sure = span_confidence(
                decoder, batch, codes, spans, definition, name, settings, labels
            )
        sure = iter(sure)
        return object_rows(
            [Entity(*span, float(next(sure))) for span in row] for row in found
        )

    def _spans(self, codes, offsets):
        """Return the spans of each sequence, and where they lie in the batch."""
        found = [extract_spans(labels) for labels in self._as_labels(codes, offsets)]
        begins = offsets[:-1].tolist()
        starts = [
            b + s.start for b, row in zip(begins, found, strict=True) for s in row
        ]
        stops = [b + s.end for b, row in zip(begins, found, strict=True) for s in row]
        return found, starts, stops

    def predict_voted(self, X, fixed=None, **options):
        """Return the label that most drawn models give each word.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.
        fixed : bool, default=None
            Whether all weights are drawn with one variance; by default where the tagger
            keeps none.
        **options : float or int
            ``scale``, ``n_draws`` and ``random_state`` as in ``predict_confidence``.

        Returns
        -------
        labels : ndarray of shape (n_sequences,), dtype object
            A list of labels per sequence. Each word is voted on by itself, so the
            labels need not fit together.
        """
        check_is_fitted(self, "belief_")
        fixed = self.belief_.variance is None if fixed is None else fixed
        name, chosen = self._chosen_method("kd-fixed" if fixed else "kd-pc")
        settings = self._settings(name, chosen, **options)
        batch = self.encode(X)
        votes = draw_votes(
            self._decoder(batch),
            batch,
            settings.n_draws,
            settings.scale,
            seed=settings.seed,
            fixed=fixed,
        )
        return self._as_labels(votes.argmax(axis=1), batch.offsets)

    def _chosen_method(self, name, among=None):
        check_is_fitted(self, "belief_")
        if name is None:
            name = self._default_method if among is None else "marginal"
        if among is not None and name not in among:
            raise ValueError(
                f"method is {name!r}; for spans and whole sequences there are "
                f"{', '.join(among)}"
            )
        return name, check_method(name, self.belief_.variance is not None)

    def _settings(self, name, method, *, n_draws=None, random_state=None, **options):
        """Return the settings of a call: what is given, was fitted, or is usual."""
        fitted = getattr(self, "confidence_", {}).get(name, {}).get("values", {})
        if name in LEARNT and not fitted and not options.get("temperature"):
            self._warn_of_rule()
        values = self._usual_values(method) | fitted
        if n_draws is None:
            n_draws = N_DRAWN_MARGINALS if "temperature" in method.tunes else N_DRAWS
        if unknown := set(options) - set(values):
            raise TypeError(
                f"there is no option {min(unknown)!r}; there are scale, temperature, "
                "k, n_draws and random_state"
            )
        values |= {key: v for key, v in options.items() if v is not None}
        check_positive("temperature", values["temperature"])
        # No noise at all is what fit may find best, but nothing to ask for.
        if options.get("scale") is not None:
            check_positive("scale", values["scale"])
        check_count("k", values["k"])
        check_count("n_draws", n_draws)
        return settings_of(
            values,
            self.belief_,
            self._margin(),
            method.fixed,
            n_draws=int(n_draws),
            seed=self._draw_seed(random_state, name),
        )

    def _warn_of_rule(self):
        """Warn if ``fit`` would have learnt how sure to be, but could not."""
        if getattr(self, "confidence_source_", None) == "rule":
            warnings.warn(
                "the tagger has learnt from too few sequences to know how sure it may "
                "be, so its confidence follows a rule of thumb; fit on more, or call "
                "fit_confidence with labelled sequences that are new to it",
                UnlearntConfidenceWarning,
                stacklevel=4,
            )

    def _usual_values(self, method):
        """Return the values that are used where none is given or fitted."""
        return usual_values(method.fixed) | method.usual

    def _draw_seed(self, random_state, name):
        if random_state is None:
            # What is asked by default does not depend on how training was seeded.
            own = None if name in LEARNT else getattr(self, "random_state", None)
            return int(own) if isinstance(own, Integral) else 0
        if not isinstance(random_state, Integral) or not 0 <= random_state < 2**64:
            raise ValueError(
                "random_state of draws is an integer from 0 to 2**64 - 1, got "
                f"{random_state!r}"
            )
        return int(random_state)

    @property
    def temperature_(self):
        """What scores are divided by in ``predict_marginals``."""
        return self._settings(*self._chosen_method("marginal")).temperature

    def _margin(self, belief=None, norm=None):
        """Return the unit of temperatures; see the learners."""
        return 1.0
