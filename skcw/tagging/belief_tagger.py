"""``BeliefTagger``: base class of taggers that learn a belief over weights."""

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skcw._model.decoding import Decoder
from skcw._model.examples import Examples, checked_weights
from skcw._model.gaussian import Belief
from skcw._model.training_hashes import batch_hashes, known_share
from skcw._util.checks import check_same_lengths
from skcw._util.limits import LEAST_SETTING, MOST_PRESENTATIONS
from skcw._util.one_step import changes_at_once, reads_at_once
from skcw._util.ragged import object_rows
from skcw.confidence.fitting import METRICS, fit_method, make_trial
from skcw.confidence.inference_model import serving_state
from skcw.confidence.methods import METHODS
from skcw.confidence.predictions import ModelLayer, Predictions
from skcw.confidence.settings import (
    DEFAULT_TEMPERATURE,
    ModelConfidence,
    check_count,
    checked_fits,
)
from skcw.data.batch import SequenceBatch
from skcw.data.edges import edge_features, refuse_edges
from skcw.data.encoder import check_batch, encode_any
from skcw.data.labels import encode_labels, joined_labels
from skcw.data.saved import saved_array, saved_kind, saved_number, saved_texts
from skcw.data.schemes import saved_constraints, saved_faults, saved_forbidden
from skcw.data.vocabulary import Vocabulary
from skcw.io.loading import without_seconds
from skcw.tagging import weights as learned
from skcw.tagging.base import BaseSequenceTagger, only_sequence
from skcw.tagging.explanation import explain_sequence, with_tokens

# What taggers that obey constraints know of them.
CONSTRAINTS_STATE = ("constraints_", "scheme_faults_")


class BeliefTagger(BaseSequenceTagger):
    """Base of the taggers whose fitted state is a belief over weights.

    It encodes, decodes, explains, estimates confidence, and saves; a subclass learns
    and sets what ``_fitted`` returns. Prediction takes any form of X that ``fit``
    takes, and ignores features that were never seen in training.
    """

    # Whether the score of a labeling is a sum over tokens and pairs of labels.
    _is_chain = True
    # Whether it learns weights of features that look at the label before.
    _learns_edges = False
    # The largest weight of a sequence.
    _heaviest = MOST_PRESENTATIONS
    # The methods of confidence there are, the default, and whether scores are the
    # logarithms of probabilities.
    _methods = METHODS
    _default_method = "marginal"
    _log_probability = False
    # The fitted attributes that are saved besides those that all have.
    _saved_attributes = CONSTRAINTS_STATE

    # Predictions and explanations.

    @reads_at_once
    def predict_all(self, X: Iterable[Any]) -> Predictions:
        """Return all predictions for X: labels, confidence, entities and so on.

        Sequences are encoded and scored once, and nothing is computed before it is
        needed, or twice.

        Parameters
        ----------
        X : iterable of sequences
            The sequences.

        Returns
        -------
        answers : Predictions
            With ``labels()``, ``confidence()``, ``entities()``, ``nbest(n)``,
            ``marginals()``, ``label_confidence(y)``, ``label_table()`` and
            ``sequence_confidence()``.
        """
        scored = self._open(self.encode(X))
        classes = self.classes_.tolist()
        model = scored, self._confidence(), classes, self._log_probability
        return Predictions(ModelLayer(*model), X)

    @property
    def confidence_methods_(self):
        """The methods of ``predict_confidence`` that this tagger supports, by name."""
        return self._confidence().served

    @property
    def default_method_(self):
        """The method of ``predict_confidence`` that is used if none is named."""
        return self._default_method

    @property
    def temperature_(self):
        """What scores are divided by in ``predict_marginals``."""
        return self._confidence().settings("marginal").temperature

    @available_if(lambda self: self._is_chain)
    @reads_at_once
    def explain(self, sequence, token=None, *, against=None):
        """Explain the label of every token of one sequence.

        The predicted labeling is compared with the best legal one that has another
        label at the token; neighbors change with it where that is better or the
        constraints demand it.

        Parameters
        ----------
        sequence : sequence of tokens
            One sequence, or a ``SequenceBatch`` of one.
        token : int, default=None
            Explain this token alone, counted from 0.
        against : str, default=None
            Compare the label of `token` with this one, or with the best label of this
            type: ``explain(sequence, token=3, against="LOC")`` tells why not LOC.

        Returns
        -------
        explanations : Explanations
            A list, shown as a table, with a ``TokenExplanation`` per token: the label,
            its rival, the margin between them and each feature's contribution to it,
            with standard deviations.
        """
        batch = self.encode(only_sequence(sequence))
        scored = self._open(batch)
        names = batch._names() if batch.vocabulary is None else batch.vocabulary
        explained = explain_sequence(
            self.classes_.tolist(),
            names,
            scored,
            token=token,
            against=against,
            border_rows=self._border_rows(),
        )
        return with_tokens(explained, sequence, token)

    @reads_at_once
    def train_overlap(self, X: Iterable[Any], unit: str = "word") -> float:
        """Return the share of the tokens of X that the tagger has learned from.

        Scores on such tokens say nothing about new ones. A sequence counts if it has
        the same features at every token as one in the training data. Most corpora
        repeat some sequences.

        Parameters
        ----------
        X : iterable of sequences
            The sequences, in the form in which others were given to ``fit``.
        unit : {"word", "sentence"}, default="word"
            What is counted: the words, or the sentences that have any.

        Returns
        -------
        fraction : float
            From 0 to 1; after training on more than 16,384 sequences estimated from a
            random sample of them. NaN for a tagger that was loaded from a file without
            hashes; ``save(path, train_hashes=True)`` writes them.
        """
        batch = self.encode(X)
        memory = getattr(self, "training_hashes_", None)
        if memory is None:
            return np.nan
        if unit not in ("word", "sentence"):
            raise ValueError(f"unit is {unit!r}; it must be 'word' or 'sentence'")
        counted = batch.lengths if unit == "word" else batch.lengths > 0
        return known_share(memory, batch_hashes(batch), counted)

    # Confidence.

    @changes_at_once
    def fit_confidence(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        method: str | None = None,
        *,
        metric: str | None = None,
        cv: Any = None,
        n_values: int = 20,
        n_draws: int = 50,
        random_state: int | None = None,
    ) -> Self:
        """Choose the parameters of a confidence method; weights stay as they are.

        Parameters
        ----------
        X : iterable of sequences
            Labeled sequences that the tagger has not learned from; or, with `cv`,
            those it has learned from.
        y : iterable of sequences of str
            Their labels.
        method : str, default=None
            The method of ``predict_confidence`` to tune.
        metric : str, default=None
            The measure of :mod:`skcw.metrics` to optimize: ``"log_loss"`` of "this
            label is right" (with ``clip=1e-4``), the default for methods that give
            probabilities; ``"error_average_precision"`` of finding wrong words, for
            which any temperature will do that ranks well; or
            ``"root_calibration_mse"``.
        cv : int, splitter or None, default=None
            With folds, copies of the tagger are fitted without each fold and asked
            about it; the values chosen are in units of the model's own scale, so they
            also suit this tagger.
        n_values : int, default=20
            How many values of the scale and of the temperature to try.
        n_draws : int, default=50
            How many weight vectors to draw for each value, if the method draws.
        random_state : int, default=None
            As in ``predict_confidence``.

        Returns
        -------
        self : object
            The tagger; ``confidence_[method]`` has the ``values`` chosen and, for
            plotting, the ``curves`` they come from.
        """
        check_is_fitted(self, "belief_")
        name, chosen = self._confidence().chosen(method)
        if metric is None:
            metric = "log_loss" if chosen.probability else "error_average_precision"
        if metric not in METRICS:
            raise ValueError(
                f"metric is {metric!r}; it must be one of {', '.join(METRICS)}"
            )
        if metric != "error_average_precision" and not chosen.probability:
            raise ValueError(
                f"{name!r} gives no probabilities, so metric must be "
                f"'error_average_precision', got {metric!r}"
            )
        check_count("n_values", n_values)
        fit = fit_method(
            name,
            list(self._trials(X, y, cv)),
            metric=metric,
            n_values=n_values,
            n_draws=n_draws,
            random_state=random_state,
        )
        self.confidence_ = {**getattr(self, "confidence_", {}), name: fit}
        return self

    def _trials(self, X, y, cv):
        """Yield taggers on sequences they have not learned from, and what they say."""
        # Only here, for folds are rarely asked for.
        from sklearn.model_selection import check_cv

        batch = self.encode(X)
        y = list(y) if isinstance(y, Iterator) else y
        _, lengths, _ = encode_labels(y)
        check_same_lengths(batch.lengths, lengths)
        y = object_rows(y)
        if cv is None:
            yield self._trial(batch, y)
            return
        fresh = clone(self)
        if "min_count" in fresh.get_params(deep=False):
            # Encoding has left rare features out already, and cannot do so twice.
            fresh.set_params(min_count=1)
        for train, test in check_cv(cv).split(batch, y):
            tagger = clone(fresh).fit(batch[train], y[train])
            yield tagger._trial(batch[test], y[test])

    def _trial(self, batch, y):
        gold, _, _ = encode_labels(y, self.classes_.tolist(), grow=False)
        return make_trial(self._confidence(), self._open(batch), gold)

    def _confidence(self):
        """Return how the fitted model estimates confidence."""
        check_is_fitted(self, "belief_")
        seed = getattr(self, "random_state", None)
        return ModelConfidence(
            self.belief_,
            margin=self._margin(),
            temperature=self._usual_temperature(),
            default=self._default_method,
            fitted=getattr(self, "confidence_", {}),
            seed=int(seed) if isinstance(seed, Integral) else 0,
            is_rule=getattr(self, "confidence_source_", None) == "rule",
            methods=self._methods,
        )

    def _margin(self, belief=None, sizes=None):
        """Return the unit of temperatures: the margin that training asks for.

        Without arguments it is that of the fitted tagger.
        """
        return 1.0

    def _usual_temperature(self):
        """Return the temperature where none is given or fitted, in that unit."""
        return 1.0 if self._log_probability else DEFAULT_TEMPERATURE

    # From sequences to a batch, and to its scores.

    @reads_at_once
    def encode(self, X: Iterable[Any]) -> Any:
        """Return sequences in compiled form, to be used several times.

        Parameters
        ----------
        X : iterable of sequences
            The sequences; features not known are left out.

        Returns
        -------
        batch : SequenceBatch
            The encoded sequences, which every method takes in place of X.
        """
        check_is_fitted(self, "belief_")
        return self._encoded(X, grow=False)

    def _encoded(self, X, grow):
        """Return X with the feature numbers of the fitted tagger, new ones appended."""
        n_features = len(self.belief_.row_of)
        if isinstance(X, SequenceBatch):
            return check_batch(X, self.vocabulary_, n_features)
        columns = n_features if self.vocabulary_ is None else None
        return encode_any(X, self.vocabulary_, grow=grow, n_columns=columns)

    def _training_batch(self, X, fresh):
        if not fresh:
            batch = self._encoded(X, grow=True)
        else:
            batch = X if isinstance(X, SequenceBatch) else encode_any(X)
        if not self._learns_edges:
            refuse_edges(batch.vocabulary, type(self).__name__)
        return batch

    def _examples(self, batch, y, sample_weight, fresh=True, classes=None):
        """Return encoded sequences with their labels, and the labels of all codes."""
        known = joined_labels([] if fresh else self.classes_.tolist(), classes)
        codes, lengths, labels = encode_labels(y, known)
        check_same_lengths(batch.lengths, lengths)
        if not labels:
            raise ValueError("X has no tokens, so there is nothing to learn from")
        weight = checked_weights(sample_weight, len(batch), at_most=self._heaviest)
        return Examples(batch, codes, weight), labels

    def _open(self, batch):
        """Return a batch under the fitted model."""
        belief = self._belief_for(batch)
        forbidden = getattr(self, "forbidden_", None)
        n_jobs = getattr(self, "n_jobs", None)
        return Decoder(belief, forbidden, n_jobs, self._borders()).open(batch)

    def _belief_for(self, batch):
        """Return the belief with a row for every feature of a batch."""
        # A batch may come from an encoder that has learned features since.
        n_features = max(batch.n_features, len(self.belief_.row_of))
        if n_features > len(self.belief_.row_of):
            edges = None
            if self._learns_edges:
                edges = edge_features(batch.vocabulary)
            return self.belief_.extended(n_features, self.belief_.n_labels, edges)
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

    # The fitted state.

    def _fitted(self, belief, vocabulary, labels, forbidden=None):
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

    def _keep(self, attributes):
        """Set fitted attributes in place of older ones."""
        vars(self).pop("n_features_in_", None)
        for name, value in attributes.items():
            setattr(self, name, value)

    def _memory(self, data, fresh=True):
        """Return what will be remembered of the sequences learned from."""
        return data.hashes(() if fresh else getattr(self, "training_hashes_", None))

    @property
    def coef_(self):
        """The weights, of shape (n_features, n_classes): one row per feature.

        Classifiers have one row per class, as in scikit-learn; taggers, which have many
        more features, would have to turn their rows around.
        """
        return self.belief_.feature_weights()

    @property
    def transition_coef_(self):
        """The transition weights, of shape (n_classes, n_classes)."""
        return learned.transition_coef(self)

    @property
    def feature_names_(self):
        """The names of the features."""
        return learned.feature_names(self.vocabulary_, self.belief_)

    @property
    def state_features_(self):
        """The weight of every (feature, label) whose weight is not zero."""
        return learned.state_features(self)

    @property
    def transition_features_(self):
        """The weight of every (label, next label) whose weight is not zero.

        Training by margins changes these weights only at mistakes that features and
        constraints leave, so ``("B-ORG", "I-ORG")`` may be low although it is likely.
        For likely transitions, as the weights of a CRF show them, sum
        ``predict_marginals(X, length=2)`` over some sequences.
        """
        return learned.by_names(self.transition_coef_, self.classes_, self.classes_)

    @property
    def edge_features_(self):
        """The weight of every (feature, label, next label) that is not zero.

        These features look at two labels: they come from lines of templates such as
        ``B01:%x[0,0]``, or have names that begin with ``label[-1]&``.
        """
        return learned.edge_features(self)

    @property
    def attributes_(self):
        """The features that have a weight."""
        return self.feature_names_[learned.with_weights(self.belief_)].tolist()

    @property
    def num_attributes_(self):
        """The number of features that have a weight."""
        return int(np.count_nonzero(learned.with_weights(self.belief_)))

    def _serving(self):
        """Return what lets the saved model answer without its estimator, if it can."""
        if not self._is_chain:
            return None
        return serving_state(
            self._confidence(),
            has_constraints=self.forbidden_ is not None,
            border_rows=self._border_rows(),
            log_probability=self._log_probability,
        )

    def _saved_state(self):
        check_is_fitted(self, "belief_")
        state = {
            "classes": self.classes_.tolist(),
            "rounds": self.belief_.rounds,
            "n_iter": self.n_iter_,
            "history": without_seconds(self.history_),
            "confidence": getattr(self, "confidence_", {}),
            "serving": self._serving(),
        }
        state |= {name: getattr(self, name) for name in self._saved_attributes}
        arrays = self.belief_.arrays()
        if self.vocabulary_ is not None:
            arrays |= self.vocabulary_.arrays()
        # Hashes of training sentences are written by `save` alone, when asked to.
        optional = {"forbidden": self.forbidden_}
        return state, arrays | {k: v for k, v in optional.items() if v is not None}

    def _restore(self, state, arrays):
        labels = saved_texts(state["classes"], "classes")
        belief = Belief.from_arrays(len(labels), arrays, state["rounds"])
        vocabulary = Vocabulary.restored(arrays, len(belief.row_of))
        self._keep(self._fitted(belief, vocabulary, labels))
        self._restore_rest(state, arrays)

    def _restore_rest(self, state, arrays):
        """Set what is neither weights nor names."""
        self.n_iter_ = saved_number(state["n_iter"], "n_iter", 0, whole=True)
        self.history_ = saved_kind(state["history"], "history", list)
        for record in self.history_:
            saved_kind(record, "history", dict)
        self.training_hashes_ = None
        if "training_hashes" in arrays:
            hashes = saved_array(arrays, "training_hashes", ("u8",), (None,))
            self.training_hashes_ = hashes
        if state.get("confidence"):
            self.confidence_ = checked_fits(state["confidence"])
        for name in self._saved_attributes:
            setattr(self, name, CHECKS_OF_STATE[name](state[name], name))
        # A model that has lost its constraints would tag in another way.
        if getattr(self, "constraints_", None):
            self.forbidden_ = saved_forbidden(arrays, len(self.classes_))


# What a file may say that a fitted tagger keeps besides its arrays.
CHECKS_OF_STATE = {
    "constraints_": saved_constraints,
    "scheme_faults_": saved_faults,
    "confidence_source_": lambda value, name: saved_kind(value, name, str),
    "token_norm_": lambda value, name: saved_number(value, name, LEAST_SETTING),
    "token_breadth_": lambda value, name: saved_number(value, name, LEAST_SETTING),
}
