"""Taggers trained online: one pass after the other over labeled sequences."""

from collections.abc import Iterable, Iterator
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from skcw._model.blocks import BlockExamples
from skcw._model.checkpoint import keeping
from skcw._model.corpus import PassOptions
from skcw._model.decoding import Decoder
from skcw._model.examples import (
    CONSTRAINTS,
    Examples,
    TokenSizes,
    hold_out,
    legal_steps,
    token_costs,
)
from skcw._model.gaussian import Belief, padded
from skcw._model.merge import merge_taggers
from skcw._model.sequence_training import described_training, train_models
from skcw._model.shards import checked_n_shards
from skcw._model.training import PassTasks, Plan, Stopping
from skcw._util.checks import check_same_lengths
from skcw._util.compat import CallbackSupportMixin, Interval, StrOptions, _fit_context
from skcw._util.one_step import changes_at_once
from skcw.confidence.settings import DEFAULT_TEMPERATURE
from skcw.data.batch import SequenceBatch
from skcw.data.edges import edge_features
from skcw.data.encoder import check_batch, drop_rare, encode_any
from skcw.data.labels import encode_labels
from skcw.data.schemes import span_ends
from skcw.tagging.base import N_JOBS
from skcw.tagging.belief_tagger import CONSTRAINTS_STATE, BeliefTagger
from skcw.tagging.judges import choose_judges, learned_confidence
from skcw.tagging.out_of_core import check_streamable, spilled
from skcw.tagging.weights import pruned_attributes

# What is kept of ``TokenSizes``.
TOKEN_SIZES = ("token_norm_", "token_breadth_")
# Above this breadth of feature vectors most training data can be separated: late passes
# hardly change weights, and those of early passes only spoil the average.
MANY_FEATURES = 3.0


class OnlineTagger(CallbackSupportMixin, BeliefTagger):
    """Base of CW, AROW, PA and the perceptron.

    One path trains: ``fit`` starts from the prior and makes ``max_iter`` passes,
    ``partial_fit`` continues from where it is and makes one. A subclass gives
    ``_bound_kernel``, its compiled pass, given the mean breadth of feature vectors.
    """

    # Whether the cost of a wrong label is in units of the length of the token's
    # feature vector.
    _cost_grows_with_features = False
    _merged = staticmethod(merge_taggers)
    # The prior variance of every weight; None for learners that keep no variances.
    _initial_variance = None
    _learns_edges = True
    _default_method = "noisy-marginal"
    _saved_attributes = (*CONSTRAINTS_STATE, "confidence_source_", *TOKEN_SIZES)

    _parameter_constraints = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "averaging": ["boolean"],
        "margin_cost": [Interval(Real, 0, 1e10, closed="both")],
        "shuffle": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "constraints": CONSTRAINTS,
        "n_models": [Interval(Integral, 1, None, closed="left")],
        "learn_unknown_token": ["boolean"],
        "calibrate_confidence": ["boolean"],
        "early_stopping": ["boolean", dict],
        "warm_start": ["boolean"],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "dtype": [StrOptions({"float32", "float64"})],
        "verbose": ["verbose"],
    }

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        sample_weight: ArrayLike | None = None,
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Any] | None = None,
        *,
        n_shards: int = 1,
        checkpoint: Any = None,
    ) -> Self:
        """Learn from labeled sequences.

        Parameters
        ----------
        X : iterable of sequences
            A list, object array, iterator or ``SequenceBatch`` of sequences. A token
            is a list of feature strings, a dict as sklearn-crfsuite takes it, or a
            string; or a sequence is a 2-D array or CSR matrix of numbers.
        y : iterable of sequences of str
            The labels.
        sample_weight : array-like of shape (n_sequences,), default=None
            A weight w presents the sequence w times in a row in every pass; a
            fraction scales the step of the last presentation, 0 leaves it out. At most
            10,000.
        X_dev : iterable of sequences, default=None
            Sequences to judge each pass by, by span F1 where labels are spans and by
            token accuracy elsewhere; the best pass is kept, and training stops after
            some passes without gain, as ``early_stopping`` says.
        y_dev : iterable of sequences of str, default=None
            Their labels.
        n_shards : int, default=1
            Split the sequences into this many shards, which are learned side by side,
            by ``n_jobs`` threads or the workers of ``joblib.parallel_config``, and
            merged in every pass. The result depends on this number, not on the workers.
        checkpoint : skcw.Checkpoint, default=None
            Where to save the training now and then, to continue it after a crash.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        fresh = not (self.warm_start and hasattr(self, "belief_"))
        if (X_dev is None) != (y_dev is None):
            raise ValueError(
                "give both X_dev and y_dev by name, or neither (the third argument is "
                "sample_weight)"
            )
        dev = None if X_dev is None else (X_dev, y_dev)
        options = {"dev": dev, "n_shards": n_shards, "checkpoint": checkpoint}
        y = list(y) if isinstance(y, Iterator) else y
        batch = self._common_batch(X, fresh, self.min_count)
        data, labels = self._examples(batch, y, sample_weight, fresh)
        return self._learn(data, y, labels, fresh, **options)

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        classes: Iterable[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue with one pass over more sequences.

        It continues from the averaged weights of ``fit``, and averages over the rounds
        since (or since a new label appeared). New features and new labels may appear
        at any time, and ``min_count``, which needs all data at once, does not count.
        Several models that were averaged continue as one. If anything fails, the
        tagger is as it was before.

        Parameters
        ----------
        X : iterable of sequences
            The sequences, as for ``fit``.
        y : iterable of sequences of str
            The labels.
        classes : sequence of str, default=None
            Labels to know in advance, in this order.
        sample_weight : array-like of shape (n_sequences,), default=None
            As for ``fit``.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        # scikit-learn checks parameters before the first call only.
        self._validate_params()
        fresh = not hasattr(self, "belief_")
        y = list(y) if isinstance(y, Iterator) else y
        batch = self._common_batch(X, fresh)
        data, labels = self._examples(batch, y, sample_weight, fresh, classes)
        return self._learn(data, y, labels, fresh, one_pass=True)

    @changes_at_once
    @_fit_context(prefer_skip_nested_validation=True)
    def fit_stream(
        self,
        source: Any,
        *,
        memory: int | str = "1G",
        max_features: int | None = None,
        folder: str | PathLike[str] | None = None,
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Any] | None = None,
        n_shards: int = 1,
        checkpoint: Any = None,
    ) -> Self:
        """Learn from labeled sequences that do not fit into memory.

        The source is read once. Its sequences are encoded into blocks in temporary
        files, and one block at a time is in memory. In each pass the blocks come in
        another order, and so do the sequences within each (unless ``shuffle`` is
        False: then the weights are those of ``fit``, bit for bit). With ``n_shards``
        the sequences of each block are first dealt out to files of the shards, one of
        which each worker has in memory; besides, it has the weights of its features.

        Parameters
        ----------
        source : callable or iterable
            A function that returns an iterator of pairs (X, y), or such an iterator:
            some sequences of feature strings or dicts, and their labels.
        memory : int or str, default="1G"
            About how much memory to use, besides that of Python and its libraries:
            bytes, or a size such as ``"500M"``.
        max_features : int, default=None
            The most features to keep; by default as many as half of the memory has
            room for. If there are more, the rarest are forgotten.
        folder : str or path-like, default=None
            Where to put the temporary files; by default where the system has them. If
            there are shards, their workers must see it.
        X_dev : iterable of sequences, default=None
            As for ``fit``.
        y_dev : iterable of sequences of str, default=None
            As for ``fit``.
        n_shards : int, default=1
            As for ``fit``.
        checkpoint : skcw.Checkpoint, default=None
            As for ``fit``.

        Returns
        -------
        self : object
            The fitted tagger.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("give both X_dev and y_dev, or neither")
        dev = None if X_dev is None else (X_dev, y_dev)
        check_streamable(self, dev)
        limits = memory, max_features, self.min_count, folder
        options = {"dev": dev, "n_shards": n_shards, "checkpoint": checkpoint}
        with spilled(source, self, encode_any, *limits) as corpus:
            data = BlockExamples(corpus)
            return self._learn(data, [], corpus.labels, True, **options)

    @changes_at_once
    def prune(self, share: float = 0.25, *, drop_features: bool = True) -> Self:
        """Set the weights nearest to zero back to the prior, for a smaller model.

        Weights of features are compared by their size in standard deviations; by their
        size alone if the tagger keeps no variances. Transitions stay. What was learned
        about confidence is adapted, so that it stays about the same; where nothing was
        (``calibrate_confidence=False``), use ``fit_confidence`` afterwards.

        Parameters
        ----------
        share : float, default=0.25
            The share of the weights that training has moved to be set back. 0 removes
            only weights of zero; the default hardly changes scores.
        drop_features : bool, default=True
            Whether to forget the names of features without any weight, of which most
            models have more than of others. Prune a pipeline by its own method then,
            and encode batches again: features have other numbers now. If a word has no
            other features, it becomes an unknown one.

        Returns
        -------
        self : object
            The tagger. It may continue to learn, forgotten features too.

        Examples
        --------
        >>> from skcw import CWSequenceTagger
        >>> X = [["Ann", "left"], ["Bob", "left", "town"]]
        >>> y = [["PER", "O"], ["PER", "O", "O"]]
        >>> tagger = CWSequenceTagger(random_state=0).fit(X, y)
        >>> tagger.prune(0.2).predict([["Ann", "left"]])[0]
        ['PER', 'O']
        """
        vars(self).update(pruned_attributes(self, share, drop_features))
        return self

    def _learn(
        self,
        data,
        y,
        labels,
        fresh,
        *,
        dev=None,
        one_pass=False,
        n_shards=1,
        checkpoint=None,
    ):
        """Train a copy of the belief, and only then change the tagger."""
        batch = data.batch
        # The warning names the line that calls fit, above two decorators.
        rules = legal_steps(self, labels, data, fresh, self.dtype, 6)
        rng = check_random_state(self.random_state)
        n_models, max_iter = (1, 1) if one_pass else (self.n_models, self.max_iter)
        seeds = rng.randint(np.iinfo(np.int32).max, size=n_models)

        def fitted(belief):
            return self._fitted(belief, batch.vocabulary, labels, rules.forbidden)

        n_tasks = max_iter if n_models == 1 else n_models
        tasks = PassTasks(self, batch, y, n_tasks, fitted)
        counts = data.label_counts(len(labels))
        costs = token_costs(self.class_weight, labels, counts, one_pass)
        data, source, new = self._set_apart(data, dev, rng, labels, one_pass)
        sizes = self._sizes_of(data, fresh)
        plan = self._plan(max_iter, costs, rules, labels, n_shards, sizes.breadth)
        if source in ("dev", "held-out"):
            plan.dev_score = self._dev_scorer(plan, *new)
        start = self._starting_belief(batch, len(labels), fresh)
        wanted = self.calibrate_confidence and not (fresh and one_pass)
        corpus = data.corpus(start, self._cost_grows_with_features)
        judges = choose_judges(data, n_models, seeds[0], wanted, source, *new[:1])
        about = partial(
            described_training, self, plan, data, start, labels, rules, *new[:1]
        )
        with keeping(checkpoint, self, about) as keeper_of:
            belief, history, judging = train_models(
                start, corpus, plan, seeds, judges.held_out, tasks, keeper_of
            )
        if one_pass:
            judging = [start]
        else:
            belief = belief.with_average_restarted()
        sure = self._learned_settings(judges, judging, sizes, rules, fresh)
        memory = self._memory(data, fresh)
        self._keep(fitted(belief) | rules.attributes() | sure)
        self.history_ = history
        self.n_iter_ = max(record["epoch"] for record in history)
        self.training_hashes_ = memory
        tasks.finish(belief)
        return self

    def _set_apart(self, data, dev, rng, labels, one_pass):
        """Return the data to learn from, and the kind and data new to the tagger."""
        if one_pass:
            return data, "stream", (data,)
        if dev is not None:
            return data, "dev", self._dev_set(*dev, data.batch, labels)
        if self.early_stopping is not False:
            share = Stopping.of(self.early_stopping).validation_fraction
            data, held_out = hold_out(data, share, rng)
            return data, "held-out", (held_out,)
        return data, None, ()

    def _sizes_of(self, data, fresh):
        """Return how large feature vectors were when training began."""
        # A fit of no words, which only tells the labels, has none.
        learned = not fresh and self.belief_.n_rows > self.belief_.width + 1
        if learned:
            return TokenSizes(self.token_norm_, self.token_breadth_)
        return data.token_sizes()

    def _plan(self, max_iter, costs, rules, labels, n_shards, breadth):
        """Return what all passes have in common."""
        cost_unit = self.margin_cost * self._cost_unit(breadth)
        # To count mislabeled tokens takes more time.
        counting = self.verbose > 0 or cost_unit == 0
        width = padded(len(labels))
        return Plan(
            self._bound_kernel(breadth),
            PassOptions(None, costs, rules.forbidden, cost_unit, width, counting),
            max_iter,
            self.shuffle,
            Stopping.of(self.early_stopping),
            self.verbose,
            dev_metric="span F1" if rules.spans else "accuracy",
            n_shards=checked_n_shards(n_shards),
            n_jobs=self.n_jobs,
            # What is presented only once has to be learned from, not hidden.
            hiding=max_iter > 1,
            label_score=label_scorer(labels, rules.spans),
            linear_average=self.averaging == "auto" and breadth > MANY_FEATURES,
        )

    def _learned_settings(self, judges, judging, sizes, rules, fresh):
        """Return the attributes of confidence after a training."""
        names = ("confidence_", "confidence_source_")
        known = {} if fresh else {k: v for k, v in vars(self).items() if k in names}
        known |= zip(TOKEN_SIZES, sizes, strict=True)
        if judges.source in ("off", "rule"):
            nothing = {"confidence_": {}, "confidence_source_": "off"}
            if self.calibrate_confidence:
                nothing["confidence_source_"] = "rule"
            return nothing | known
        confidence = learned_confidence(
            judges,
            judging,
            rules.forbidden,
            lambda judged: self._margin(judged, sizes),
            known.get("confidence_", {}),
        )
        source = {"confidence_source_": judges.source}
        return known | {"confidence_": confidence, **source}

    def _common_batch(self, X, fresh, min_count=1):
        """Return the training data without rare features."""
        batch = self._training_batch(X, fresh).with_precision(self.dtype)
        if min_count > 1 and isinstance(X, SequenceBatch):
            raise ValueError(
                "min_count cannot change a SequenceBatch; set it on the "
                "SequenceEncoder that makes the batch"
            )
        return drop_rare(batch, min_count) if fresh else batch

    def _dev_set(self, X_dev, y_dev, batch, labels):
        if isinstance(X_dev, SequenceBatch):
            dev = check_batch(X_dev, batch.vocabulary, batch.n_features)
        else:
            columns = batch.n_features if batch.vocabulary is None else None
            dev = encode_any(X_dev, batch.vocabulary, grow=False, n_columns=columns)
        y_dev = list(y_dev) if isinstance(y_dev, Iterator) else y_dev
        gold, lengths, names = encode_labels(y_dev, labels)
        check_same_lengths(dev.lengths, lengths)
        codes = np.where(gold < len(labels), gold, -1).astype(np.int32)
        return Examples(dev, codes, None), gold, names

    def _dev_scorer(self, plan, data, gold=None, names=None):
        """Return what judges a belief: span F1 where labels are spans, or accuracy.

        `gold` and `names` have numbers for labels that the tagger does not know, too.
        """
        gold = data.codes if gold is None else gold
        batch = data.batch
        # It may travel to workers, without the tagger.
        n_jobs, label_score = self.n_jobs, plan.label_score
        forbidden = plan.options.forbidden

        def score(belief):
            belief = belief.extended(batch.n_features, belief.n_labels)
            guess, _ = Decoder(belief, forbidden, n_jobs).open(batch).viterbi()
            return label_score(gold, guess, batch.offsets, names)

        return score

    def _starting_belief(self, batch, n_labels, fresh):
        n_features, edges = batch.n_features, edge_features(batch.vocabulary)
        if not fresh:
            belief = self.belief_
            if self.learn_unknown_token != (belief.unknown_row is not None):
                raise ValueError(
                    f"learn_unknown_token is {self.learn_unknown_token}, but the "
                    f"tagger was trained with {not self.learn_unknown_token}; set it "
                    "back, or train again by fit with warm_start=False"
                )
            if n_labels > belief.n_labels:
                # The average so far knows nothing of the new labels.
                belief = belief.with_average_restarted()
            grown = belief.extended(n_features, n_labels, edges)
            return grown.as_dtype(self.dtype, self.averaging)
        return Belief.start(
            n_features,
            n_labels,
            self._initial_variance,
            self.averaging,
            self.dtype,
            self.learn_unknown_token,
            edges,
        )

    def _cost_unit(self, breadth):
        """Return the score that a cost of one is worth in cost-augmented decoding."""
        return 1.0

    def _usual_temperature(self):
        # Measured with 100 sentences: the more labels share what is left, the lower
        # the temperature at which the first of them is as sure as it may be.
        many = max(1.0, len(self.classes_) / 10.0)
        return DEFAULT_TEMPERATURE / many**0.5

    @property
    def coef_variance_(self):
        """The variance of each weight, of shape (n_features, n_classes)."""
        self._need_variance("coef_variance_")
        return self.belief_.feature_weights("variance")

    @property
    def transition_variance_(self):
        """The variance of each transition weight."""
        self._need_variance("transition_variance_")
        return self.belief_.transition_weights("variance")

    def _need_variance(self, name):
        if self._initial_variance is None:
            raise AttributeError(f"{type(self).__name__} has no {name}")


# Parameters of CW and AROW alone, which keep a variance for every weight.
GAUSSIAN_CONSTRAINTS = {
    **OnlineTagger._parameter_constraints,
    "diagonal": [StrOptions({"covariance", "precision", "optimal"})],
}


def label_scorer(labels, spans):
    """Return what judges codes of labels: span F1 where they are spans, or accuracy.

    It is called with the true codes, the guessed ones and the offsets of the sequences,
    and with the labels of all codes where there are more of them.
    """

    def accuracy(gold, guess, offsets, names=None):
        return np.mean(guess == gold) if len(gold) else 0.0

    def span_f1(gold, guess, offsets, names=None):
        true, true_kinds = span_ends(names or labels, gold, offsets)
        found, kinds = span_ends(names or labels, guess, offsets)
        n_right = np.sum((true > 0) & (true == found) & (true_kinds == kinds))
        n_spans = np.count_nonzero(true) + np.count_nonzero(found)
        return float(2 * n_right / n_spans) if n_spans else 0.0

    return span_f1 if spans else accuracy
