"""``ActiveLearner``: a pool, what is known of it, and what to ask about next."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from numbers import Integral
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skcw.active.journal import (
    AUDIT,
    COLD,
    SEED,
    UTILITY,
    Journal,
    Ledger,
    positions_of,
)
from skcw.active.pool import (
    askable,
    check_answers,
    check_number,
    check_overlap,
    check_positions,
    draw_candidates,
    is_fitted,
    read_pool,
    select_batch,
)
from skcw.active.utilities import find_utility, random_utility
from skcw.confidence.foreign import inner_estimator
from skcw.exceptions import ModelFileError

# By what share labels grow until the model that ranks is fitted to them again. Between
# two fits it stays as it is: an online update of a few labels makes it worse.
GROWTH = {"lazy": 0.1, "refit": 0.0}
ONLINE = "online"
UPDATES = (*GROWTH, ONLINE)
# Over all labels, where the model that was given knows more than these.
N_PASSES = 10
# The entry of a journal for a utility that is a function.
OWN = "a function"


class ActiveLearner:
    """Active learner with a pool: query items, learn their labels, log every step.

    It works with sequences and with rows. Everything that happens is written to a
    journal, from which a study goes on after a crash exactly as if there had been none.

    Parameters
    ----------
    estimator : tagger or classifier
        The estimator. It is copied; if it is already fitted, it ranks items from the
        start.
    X : rows or sequences
        The pool, as the estimator takes it. A ``SequenceBatch`` saves encoding the
        same sequences in every round.
    utility : str or callable, default=None
        The ranking of the items: a name of :func:`utility_names`, or a function of an
        estimator and X, such as ``functools.partial(least_confident_word,
        method="kd-pc")``. By default ``"margin"`` for rows, and for sequences
        ``"normalized-log-prob"``, or ``"least-confident-word"`` if the tagger is one of
        another package or has another estimator inside.
    update : {"lazy", "refit", "online"}, default="lazy"
        How labels are learned. ``"refit"`` fits a fresh copy of the estimator to all of
        them in each round. ``"lazy"`` does so when they have grown by a tenth, which
        ranks about as well, and when ``estimator_`` is asked for. ``"online"`` lets
        ``partial_fit`` learn the new labels once, which is fast but leaves a poorer
        model. If the estimator was fitted before, ``"lazy"`` continues from there, by
        passes of ``partial_fit`` over all labels, where ``"refit"`` forgets what it has
        learned.
    n_candidates : int or None, default=1000
        Rank a random subset of this size in each round, as in the paper [1]_, which is
        fast and keeps batches diverse; None for all that is left.
    max_overlap : float, default=None
        Keep items out of a batch that repeat the others, see :func:`select_batch`.
    classes : sequence of labels, default=None
        All labels that may appear; others are then refused. A classifier that learns
        online needs them, unless the first labels have every class.
    random_state : int, default=0
        The seed of everything random. Each round has its own.
    journal : str or path-like, default=None
        A new file for the journal, locked until the learner is closed or its process
        ends; by default it is kept in memory until ``save``.

    Attributes
    ----------
    estimator_ : tagger or classifier
        The model that has learned all labels; ``"lazy"`` fits it when it is asked for.
    history_ : list of dict
        One record per call of ``seed`` and ``teach``: ``how`` the items were chosen,
        their ``positions``, ``n_wrong`` (how many of their words the model that ranks
        had wrong before; None without a model), and ``n_labels`` and ``n_words`` since
        the beginning.
    audited_estimator_ : tagger or classifier or None
        The model of the last ``audit``.

    See Also
    --------
    simulate : The same loop with known labels, to compare strategies.

    References
    ----------
    .. [1] Avihai Mejer and Koby Crammer, "Confidence in Structured-Prediction using
       Confidence-Weighted Models", 2010, section 6.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active import ActiveLearner
    >>> from skcw.datasets import make_tagged_corpus
    >>> X, y = make_tagged_corpus(60, random_state=0, return_X_y=True)
    >>> learner = ActiveLearner(CWSequenceTagger(random_state=0), X, n_candidates=30)
    >>> for _ in range(3):
    ...     asked = learner.query(5)
    ...     learner.teach(asked, [y[i] for i in asked])
    >>> [record["how"] for record in learner.history_]
    ['cold start', 'utility', 'utility']
    >>> learner.n_labels
    15
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        *,
        utility: str | Callable[..., Any] | None = None,
        update: str = "lazy",
        n_candidates: int | None = 1000,
        max_overlap: float | None = None,
        classes: Iterable[Any] | None = None,
        random_state: int = 0,
        journal: str | PathLike[str] | None = None,
    ) -> None:
        pool = read_pool(X, estimator)
        if isinstance(classes, str):
            raise TypeError(f"classes is a single string, {classes!r}, not a list")
        settings = {
            "utility": OWN if callable(utility) else utility,
            "update": update,
            "n_candidates": n_candidates,
            "max_overlap": max_overlap,
            "classes": None if classes is None else list(classes),
            "random_state": random_state,
        }
        _check_settings(settings, estimator)
        self._prepare(estimator, pool, utility, settings)
        header = {"settings": settings, "pool": pool.fingerprint()}
        self._journal = Journal.start(journal, header)

    def _prepare(self, estimator, pool, utility, settings):
        if utility is None:
            utility = _default_utility(estimator, pool.kind)
        self._utility = find_utility(utility, pool.kind)
        self._pool, self._settings = pool, settings
        self._blank = estimator
        self._was_fitted = self._is_fitted = is_fitted(estimator)
        # Models by the number of labels that they have learned.
        self._models, self._n_ranking = {0: deepcopy(estimator)}, 0
        self.audited_estimator_ = None
        self._ledger = Ledger(pool)

    # State.

    @property
    def pool(self):
        """The items, with ``take(positions)`` and ``lengths``."""
        return self._pool

    @property
    def estimator_(self):
        """The model that has learned all labels."""
        return self._model(0 if self._settings["update"] == ONLINE else self.n_labels)

    @property
    def history_(self):
        """One record per call of ``seed`` and ``teach``."""
        return self._ledger.history

    @property
    def is_fitted(self):
        """Whether the model is fitted."""
        return self._is_fitted

    @property
    def labeled(self):
        """The positions that have labels, in the order in which they got them."""
        return self._ledger.labeled

    @property
    def labels(self):
        """Their labels: one label or one list of labels each."""
        return list(self._ledger.labels.values())

    @property
    def pending(self):
        """The queried positions without labels."""
        return np.array(list(self._ledger.pending), dtype=np.int64)

    @property
    def unlabeled(self):
        """The positions that have no labels, pending ones included."""
        is_left = np.ones(len(self._pool), dtype=bool)
        is_left[self.labeled] = False
        return np.flatnonzero(is_left)

    @property
    def n_labels(self):
        """The number of labeled items."""
        return len(self._ledger.labels)

    @property
    def n_words(self):
        """The number of words of the labeled items."""
        return self._ledger.n_words

    @property
    def audits(self):
        """The shares of wrong words of each audit, one per draw; None if incomplete."""
        return [a.shares() if a.is_complete else None for a in self._ledger.audits]

    # Queries.

    def query(self, n: int | None = None, *, words: int | None = None) -> np.ndarray:
        """Return the positions to label next, the most useful first.

        Without a model they are chosen at random. Items that were asked about before
        are not returned again; ``pending`` lists those without an answer.

        Parameters
        ----------
        n : int, default=None
            How many items.
        words : int, default=None
            How many words they may have in all; not for rows, which have none.

        Returns
        -------
        positions : ndarray of int64
            Positions in the pool.
        """
        if words is not None and not self._pool.kind.has_sequences:
            raise ValueError("rows have no words; say how many rows: n")
        most = self._settings["n_candidates"]
        if isinstance(n, Integral) and most is not None and n > most:
            raise ValueError(
                f"{n} items are asked for, but a round ranks n_candidates={most} only"
            )
        free = self._free()
        rng = self._rng()
        candidates = draw_candidates(free, most, rng)
        lengths = self._pool.lengths[candidates]
        if words is not None and lengths.sum() < words and len(candidates) < len(free):
            raise ValueError(
                f"{words} words are asked for, but a round ranks n_candidates={most} "
                f"items only, of {lengths.sum()} words"
            )
        utilities = self._utilities(candidates, rng)
        max_overlap = self._settings["max_overlap"]
        chosen = select_batch(
            utilities,
            n,
            words=words,
            lengths=lengths,
            features=None if max_overlap is None else self._pool.features(candidates),
            max_overlap=max_overlap,
        )
        positions = candidates[chosen]
        how = UTILITY if self._is_fitted else COLD
        self._add({"asked": positions.tolist(), "how": how})
        return positions

    def _utilities(self, candidates, rng):
        if not self._is_fitted or self._utility is random_utility:
            return rng.random(len(candidates))
        model = self._model(self._n_ranking)
        found = self._utility(model, self._pool.take(candidates))
        found = np.array(found, dtype=np.float64)
        if found.shape != candidates.shape:
            raise ValueError(
                f"the utility gave an array of shape {found.shape} for "
                f"{len(candidates)} items"
            )
        return askable(found, self._pool.lengths[candidates])

    def audit(self, n: int) -> np.ndarray:
        """Return positions drawn at random, to learn how many words are wrong.

        Each of n draws takes an item with a probability in proportion to its length,
        so that the mean share of wrong words in what is drawn is that of the items that
        are neither labeled nor pending. An item may be drawn twice, and is returned
        once. Label all of them and ``teach``; :class:`AuditedErrorRate` draws the
        conclusion. To ``release`` one of them is to abandon the audit.

        Parameters
        ----------
        n : int
            The number of draws.

        Returns
        -------
        positions : ndarray of int64
            Positions in the pool.
        """
        check_number("n", n)
        if not self._is_fitted:
            raise ValueError("there is no model to audit yet: teach some labels first")
        if any(question.audit for question in self._ledger.pending.values()):
            raise ValueError("label or release what the last audit asked about first")
        free = self._free()
        share = self._pool.lengths[free] / self._pool.lengths[free].sum()
        drawn = self._rng().choice(free, n, p=share)
        positions, counts = np.unique(drawn, return_counts=True)
        guess = self._predicted(self.estimator_, positions)
        record = {"asked": positions.tolist(), "how": AUDIT}
        self._add(record | {"counts": counts.tolist(), "guess": guess})
        return positions

    def release(self, positions: ArrayLike) -> None:
        """Withdraw queries: these items may be queried again.

        Parameters
        ----------
        positions : array-like of int
            Positions that are pending.
        """
        positions = check_positions(positions, len(self._pool))
        self._ledger.check_asked(positions)
        self._add({"released": positions.tolist()})

    def _free(self):
        free = self.unlabeled
        free = free[~np.isin(free, self.pending)]
        free = free[self._pool.lengths[free] > 0]
        if not len(free):
            raise ValueError(
                f"all {len(self._pool)} items of the pool are labeled, pending or "
                "empty: there is nothing left to ask about"
            )
        return free

    def _rng(self):
        return np.random.default_rng(
            [self._settings["random_state"], self._ledger.n_asked]
        )

    # Labels.

    def teach(self, positions: ArrayLike, y: Iterable[Any]) -> None:
        """Learn the labels of queried items.

        If anything is wrong with them, nothing changes. Not all items that are pending
        need be labeled at once.

        Parameters
        ----------
        positions : array-like of int
            Positions that ``query`` or ``audit`` returned.
        y : sequence of labels, or of sequences of labels
            Their labels, in the same order.
        """
        positions = check_positions(positions, len(self._pool))
        self._ledger.check_new(positions)
        self._ledger.check_asked(positions)
        asked = [self._ledger.pending[i].how for i in positions.tolist()]
        self._learn(positions, y, ", ".join(dict.fromkeys(asked)))

    def seed(self, positions: ArrayLike, y: Iterable[Any]) -> None:
        """Learn labels that were known before any query.

        Parameters
        ----------
        positions : array-like of int
            Positions in the pool that have no labels yet.
        y : sequence of labels, or of sequences of labels
            Their labels, in the same order.
        """
        positions = check_positions(positions, len(self._pool))
        self._ledger.check_new(positions)
        self._learn(positions, y, SEED)

    def _learn(self, positions, y, how):
        kind = self._pool.kind
        rows = check_answers(y, positions, self._pool, self.labels)
        self._check_classes(rows)
        n_wrong = None
        if self._is_fitted:
            guess = self._predicted(self._model(self._n_ranking), positions)
            n_wrong = sum(map(kind.count_wrong, guess, rows))
        # On the disk first: training may take long, and be interrupted.
        record = {"taught": positions.tolist(), "labels": rows}
        self._journal.add(record | {"how": how, "n_wrong": n_wrong})
        try:
            self._train(positions, self._journal.records[-1]["labels"])
        except BaseException:
            self._journal.undo()
            raise
        self._apply(self._journal.records[-1])

    def _train(self, positions, rows):
        """Bring the model up to date with labels that are not among the others yet."""
        n_labels = self.n_labels + len(rows)
        if self._settings["update"] == ONLINE:
            # The first call must name all classes.
            kind, classes = self._pool.kind, self._settings["classes"]
            classes = kind.classes(rows) if classes is None else classes
            is_needed = not self._is_fitted and classes is not None
            first = {"classes": classes} if is_needed else {}
            self._models[0].partial_fit(
                self._pool.take(positions), kind.targets(rows), **first
            )
        elif self._is_due(n_labels):
            positions = np.concatenate([self.labeled, positions])
            self._models[n_labels] = self._fit_to(positions, self.labels + rows)

    def _is_due(self, n_labels):
        """Tell whether so many labels ask for another model to rank by."""
        growth = GROWTH.get(self._settings["update"])
        return growth is not None and n_labels >= self._n_ranking * (1 + growth)

    def _model(self, n_labels):
        """Return the model of the first labels, fitted now if it is not there."""
        if n_labels not in self._models:
            wanted = self.labeled[:n_labels], self.labels[:n_labels]
            self._models[n_labels] = self._fit_to(*wanted)
        return self._models[n_labels]

    def _fit_to(self, positions, rows):
        """Return another model, fitted to labels."""
        X, y = self._pool.take(positions), self._pool.kind.targets(rows)
        if self._settings["update"] == "refit" or not self._was_fitted:
            return clone(self._blank).fit(X, y)
        model = deepcopy(self._blank)
        for _ in range(N_PASSES):
            model.partial_fit(X, y)
        return model

    def _predicted(self, model, positions):
        """Return the predicted labels of items, as plain lists."""
        found = model.predict(self._pool.take(positions))
        return [getattr(row, "tolist", lambda row=row: row)() for row in found]

    def _check_classes(self, rows):
        classes = self._settings["classes"]
        words = () if classes is None else self._pool.kind.words(rows)
        if unknown := [label for label in words if label not in classes]:
            raise ValueError(f"label {unknown[0]!r} is not among the classes {classes}")
        if self._is_fitted:
            return
        known = self.labels + rows
        if self._settings["update"] == ONLINE:
            known = classes or known
        if not self._pool.kind.can_begin(known):
            raise ValueError(
                f"the first labels are all {known[0]!r}, and a classifier needs two "
                "classes to begin with: label more items and teach all of them "
                "together"
            )

    # Records.

    def _add(self, record):
        self._journal.add(record)
        self._apply(self._journal.records[-1])

    def _apply(self, record):
        """Apply a record, now that the model has learned it."""
        self._ledger.apply(record)
        if "taught" in record:
            self._is_fitted = True
            if self._is_due(self.n_labels):
                self._n_ranking = self.n_labels
            # Only two models are of use: the one that ranks and the last one.
            used = self._n_ranking, self.n_labels
            self._models = {n: m for n, m in self._models.items() if n in used}
        elif record.get("how") == AUDIT:
            self.audited_estimator_ = deepcopy(self.estimator_)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the journal to a file that ``resume`` can read.

        Parameters
        ----------
        path : str or path-like
            The file; an older one is replaced once the new one is complete.
        """
        self._journal.save(path)

    def close(self) -> None:
        """Close the journal; another learner may then resume from it.

        This one answers, but asks and learns no more. What is garbage or in a process
        that ends is closed by itself; ``with`` closes, too. Nothing happens if the
        journal is in memory alone.
        """
        self._journal.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @classmethod
    def resume(
        cls,
        path: str | PathLike[str],
        estimator: Any,
        X: Any,
        *,
        utility: Callable[..., Any] | None = None,
    ) -> Self:
        """Return the learner that wrote a journal, in its last state.

        Labels are learned again in the order in which they came, so the model is the
        same if the estimator has an integer as ``random_state``. The learner goes on
        writing to the same file, in which one learner writes at a time: if another one
        is still at work with it, that is an error.

        Parameters
        ----------
        path : str or path-like
            The journal.
        estimator : tagger or classifier
            The estimator that the study began with.
        X : rows or sequences
            The same pool.
        utility : callable, default=None
            The utility, if it was a function.

        Returns
        -------
        learner : ActiveLearner
            The learner.
        """
        journal = Journal.open(path)
        try:
            return cls._resumed(journal, estimator, read_pool(X, estimator), utility)
        except BaseException as error:
            journal.close()
            if isinstance(error, (LookupError, AttributeError, OverflowError)):
                raise ModelFileError(
                    f"{path} is not the journal of such a study, or damaged: {error!r}"
                ) from error
            raise

    @classmethod
    def _resumed(cls, journal, estimator, pool, utility):
        """Return a learner that has learned all that a journal says."""
        path, settings = journal.path, journal.header["settings"]
        if journal.header["pool"] != pool.fingerprint():
            raise ModelFileError(f"{path} is the journal of a study of another pool")
        if settings["utility"] == OWN and not callable(utility):
            raise ValueError(
                f"the utility of the study in {path} is a function; give it again as "
                "utility"
            )
        _check_settings(settings, estimator)
        learner = cls.__new__(cls)
        named = settings["utility"] if utility is None else utility
        learner._prepare(estimator, pool, named, settings)
        learner._journal = journal
        learner._replay(journal.records[1:])
        return learner

    def _replay(self, records):
        """Replay records; models that are fitted to all labels wait until needed."""
        for record in records:
            check_positions(positions_of(record), len(self._pool))
        for record in records:
            if "taught" in record and self._settings["update"] == ONLINE:
                self._train(np.array(record["taught"]), record["labels"])
            self._apply(record)

    def __repr__(self):
        return (
            f"ActiveLearner({type(self._blank).__name__}, {self.n_labels} of "
            f"{len(self._pool)} items labeled, {len(self.pending)} pending)"
        )


def _default_utility(estimator, kind):
    if not kind.has_sequences:
        return "margin"
    tagger = inner_estimator(estimator) or estimator
    # Others, and those around another estimator, may know of single words alone.
    is_plain = hasattr(tagger, "predict_all") and not hasattr(tagger, "estimator")
    return "normalized-log-prob" if is_plain else "least-confident-word"


def _check_settings(settings, estimator):
    update = settings["update"]
    if update not in UPDATES:
        raise ValueError(
            f"update is {update!r}; it must be one of {', '.join(UPDATES)}"
        )
    continues = update == "lazy" and is_fitted(estimator)
    needed = "partial_fit" if update == ONLINE or continues else "fit"
    if not hasattr(estimator, needed):
        raise TypeError(
            f"{type(estimator).__name__} has no {needed}"
            f"{' to continue from where it is' if continues else ''}; choose "
            f"update={ONLINE if needed == 'fit' else 'refit'!r}"
        )
    if settings["n_candidates"] is not None:
        check_number("n_candidates", settings["n_candidates"])
    check_overlap(settings["max_overlap"])
    if not isinstance(settings["classes"], (list, type(None))):
        raise TypeError(f"classes are {settings['classes']!r}, not a list")
    # A number, so that a study can go on from its journal.
    check_number("random_state", settings["random_state"], least=0)
