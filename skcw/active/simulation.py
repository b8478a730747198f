"""Studies of active learning with known labels."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.metrics import check_scoring
from tabulate import tabulate
from tqdm import tqdm

from skcw._model.decoding import n_workers
from skcw._util.files import replacing
from skcw._util.version import __version__
from skcw.active.learner import ActiveLearner
from skcw.active.pool import as_items, check_number, digest_of, noisy_labels, read_pool
from skcw.active.stopping import Budget

COLUMNS = ("strategy", "repeat", "n_labels", "n_words", "score", "seconds", "stopped")


class Study:
    """Result of :func:`simulate`: one record for each scoring of a run.

    Parameters
    ----------
    records : list of dict
        With ``strategy``, ``repeat``, ``n_labels``, ``n_words``, ``score``,
        ``seconds`` (since the run began) and ``stopped`` (why a criterion would have
        stopped by then, or None).
    names : list of str
        The strategies, in the order in which they were given.

    Examples
    --------
    >>> from skcw.active.simulation import Study
    >>> common = {"strategy": "random", "repeat": 0, "seconds": 0.1, "stopped": None}
    >>> records = [
    ...     {**common, "n_labels": 10, "n_words": 100, "score": 0.5},
    ...     {**common, "n_labels": 20, "n_words": 200, "score": 0.9},
    ... ]
    >>> study = Study(records, ["random"])
    >>> study.needed("random", 0.7)
    array([150.])
    """

    def __init__(self, records, names):
        self.records = list(records)
        self.names = list(names)

    def column(self, name):
        """Return one column of the records as a list."""
        if name not in COLUMNS:
            raise ValueError(
                f"unknown column {name!r}; must be one of {', '.join(COLUMNS)}"
            )
        return [record[name] for record in self.records]

    def to_frame(self):
        """Return the records as a DataFrame of pandas, which must be installed."""
        from pandas import DataFrame

        return DataFrame(self.records, columns=list(COLUMNS))

    def runs(self, name, by="n_words"):
        """Return the curve of each repetition of a strategy: (sizes, scores)."""
        if name not in self.names:
            raise ValueError(
                f"unknown strategy {name!r}; must be one of {', '.join(self.names)}"
            )
        if by not in ("n_words", "n_labels"):
            raise ValueError(f"by is {by!r}; it must be 'n_words' or 'n_labels'")
        own = [record for record in self.records if record["strategy"] == name]
        if not own:
            raise ValueError(f"there are no records of the strategy {name!r}")
        repeats = sorted({record["repeat"] for record in own})
        return [
            tuple(
                np.array([r[key] for r in own if r["repeat"] == repeat], dtype=float)
                for key in (by, "score")
            )
            for repeat in repeats
        ]

    def curve(self, name, by="n_words", sizes=None):
        """Return the mean learning curve of a strategy and how its runs spread.

        Parameters
        ----------
        name : str
            The strategy.
        by : {"n_words", "n_labels"}, default="n_words"
            The unit of cost.
        sizes : array-like, default=None
            Where to read the curves, by straight lines between scores; by default
            wherever a run was scored, as far as all runs go.

        Returns
        -------
        sizes, mean, low, high : ndarray of float64
            The mean score of the runs, the lowest and the highest.
        """
        runs = self.runs(name, by)
        if sizes is None:
            least, most = max(x[0] for x, _ in runs), min(x[-1] for x, _ in runs)
            sizes = np.unique(np.concatenate([x for x, _ in runs]))
            sizes = sizes[(sizes >= least) & (sizes <= most)]
        sizes = np.asarray(sizes, dtype=np.float64)
        table = np.array(
            [np.interp(sizes, x, y, left=np.nan, right=np.nan) for x, y in runs]
        )
        return sizes, table.mean(axis=0), table.min(axis=0), table.max(axis=0)

    def needed(self, name, score, by="n_words"):
        """Return the size at which each run of a strategy first reached a score.

        Parameters
        ----------
        name : str
            The strategy.
        score : float
            The score.
        by : {"n_words", "n_labels"}, default="n_words"
            The unit of size.

        Returns
        -------
        sizes : ndarray of float64, shape (n_repeats,)
            Between two scores by a straight line; not a number for a run that never
            got there.
        """
        return np.array([_first_reaching(*run, score) for run in self.runs(name, by)])

    def __str__(self):
        rows = []
        for name in self.names:
            last = [(x[-1], y[-1]) for x, y in self.runs(name)]
            first = [y[0] for _, y in self.runs(name)]
            sizes, scores = zip(*last, strict=True)
            labels = [x[-1] for x, _ in self.runs(name, "n_labels")]
            means = map(np.mean, (first, labels, sizes, scores))
            rows.append([name, len(last), *means])
        header = ["strategy", "runs", "first score", "items", "words", "last score"]
        form = ["", "d", ".4f", ".0f", ".0f", ".4f"]
        return tabulate(rows, header, floatfmt=form, disable_numparse=[0])

    def __repr__(self):
        return f"Study({len(self.names)} strategies, {len(self.records)} records)"


def _first_reaching(sizes, scores, wanted):
    there = np.flatnonzero(scores >= wanted)
    if not len(there):
        return np.nan
    k = there[0]
    if k == 0:
        return sizes[0]
    step = (wanted - scores[k - 1]) / (scores[k] - scores[k - 1])
    return sizes[k - 1] + step * (sizes[k] - sizes[k - 1])


@dataclass(frozen=True)
class Strategy:
    """One way to choose items and to learn from them.

    Parameters
    ----------
    utility : str or callable
        The ranking of the items, as for ``ActiveLearner``.
    estimator : tagger or classifier, default=None
        The estimator; None is that of the study.
    update : {"lazy", "refit", "online"}, default=None
        How it learns; None is the update of the study.
    max_overlap : float, default=None
        Keep items out of a batch that repeat the others, see :func:`select_batch`.
    batch : int or callable, default=None
        The size of a batch; None is that of the study.

    Examples
    --------
    >>> from skcw import MultiClassPA
    >>> from skcw.active.simulation import Strategy
    >>> Strategy("margin", MultiClassPA()).utility
    'margin'
    """

    utility: str | Callable
    estimator: object = None
    update: str | None = None
    max_overlap: float | None = None
    batch: int | Callable | None = None


def simulate(
    estimator: Any,
    X: Any,
    y: Iterable[Any],
    strategies: Any,
    *,
    test: tuple[Any, Any],
    n_initial: int = 50,
    batch: Any = 10,
    n_candidates: int | None = 1000,
    budget: Budget | None = None,
    until_score: float | None = None,
    evaluate_every: int = 10,
    update: str = "lazy",
    scoring: str | Callable[..., Any] | None = None,
    stopping: Callable[..., Any] | None = None,
    noise: float = 0.0,
    n_repeats: int = 5,
    n_jobs: int | None = None,
    cache: str | PathLike[str] | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Any:
    """Simulate active learning with known labels, and score it along the way.

    The defaults are those of the study of sequences in [1]_, section 6. In repetition r
    all strategies begin with the same items.

    Parameters
    ----------
    estimator : tagger or classifier
        The estimator, unless a strategy brings its own. A copy gets, in place of its
        own ``random_state``, that of the study plus the number of the repetition.
    X : rows or sequences
        The pool.
    y : sequence of labels, or of sequences of labels
        Its labels, which play the annotator.
    strategies : list of str, or dict of str to str, callable or Strategy
        Names of utilities, or a dict from your own names to strategies.
    test : tuple of (X, y)
        Other rows or sequences and their labels, which score the models.
    n_initial : int, default=50
        The number of items that are labeled from the beginning, chosen at random. Of
        rows there is one from each class before there are two from any, as in [2]_.
    batch : int or callable, default=10
        The number of items in a round, or a function that gives it for a number of
        labeled items.
    n_candidates : int or None, default=1000
        The size of the random subset that is ranked in each round; None for all.
    budget : Budget, default=None
        Stop at its numbers of items and of words; by default with the pool.
    until_score : float, default=None
        Stop when a score reaches this.
    evaluate_every : int, default=10
        The number of rounds from one score to the next.
    update : {"lazy", "refit", "online"}, default="lazy"
        How labels are learned, see ``ActiveLearner``.
    scoring : str or callable, default=None
        As in scikit-learn; None is the estimator's own ``score``.
    stopping : callable, default=None
        A function without arguments that returns a fresh stopping criterion for each
        run. Where it would have stopped is recorded; the run goes on.
    noise : float, default=0.0
        The probability that the annotator gives a wrong label, see
        :func:`noisy_labels`.
    n_repeats : int, default=5
        The number of repetitions.
    n_jobs : int, default=None
        The number of processes, as in joblib.
    cache : str or path-like, default=None
        A folder that keeps each run that is complete. A study that was interrupted goes
        on there, and gives the same result.
    random_state : int, default=0
        The seed.
    verbose : int, default=0
        Above 0, a progress bar is shown.

    Returns
    -------
    study : Study
        The scores of all runs, as a table and as curves.

    See Also
    --------
    skcw.display.LearningCurveDisplay : The curves with bands.

    References
    ----------
    .. [1] Avihai Mejer and Koby Crammer, "Confidence in Structured-Prediction using
       Confidence-Weighted Models", 2010.
    .. [2] Mark Dredze and Koby Crammer, "Active Learning with Confidence", 2008.

    Examples
    --------
    >>> from skcw import CWSequenceTagger
    >>> from skcw.active import Budget, simulate
    >>> from skcw.datasets import make_tagged_corpus
    >>> X, y = make_tagged_corpus(200, random_state=0, return_X_y=True)
    >>> study = simulate(
    ...     CWSequenceTagger(),
    ...     X[:150],
    ...     y[:150],
    ...     ["random", "min-margin"],
    ...     test=(X[150:], y[150:]),
    ...     n_initial=10,
    ...     budget=Budget(labels=40),
    ...     evaluate_every=1,
    ...     n_repeats=2,
    ... )
    >>> study.names
    ['random', 'min-margin']
    >>> study.curve("min-margin", by="n_labels")[0]
    array([10., 20., 30., 40.])
    """
    pool = read_pool(X, estimator)
    items = as_items(y)
    _check(pool, items, n_initial)
    check_number("n_repeats", n_repeats)
    check_number("evaluate_every", evaluate_every)
    check_number("random_state", random_state, least=0)
    budget = Budget(labels=len(pool)) if budget is None else budget
    if not isinstance(budget, Budget):
        raise TypeError(f"budget is {budget!r}; it must be a Budget")
    plan = SimpleNamespace(
        estimator=estimator,
        X=X,
        y=items,
        test=test,
        n_initial=n_initial,
        batch=batch,
        n_candidates=n_candidates,
        max_labels=min(budget.labels or len(pool), len(pool)),
        max_words=budget.words,
        until_score=until_score,
        evaluate_every=evaluate_every,
        update=update,
        classes=pool.kind.classes(items),
        scoring=scoring,
        stopping=stopping,
        noise=noise,
        random_state=random_state,
    )
    named = _named(strategies)
    for strategy in named.values():
        # What is wrong with any of them is found before the first run.
        _learner_of(plan, strategy, random_state, pool.take([0]))
    tasks = [(name, repeat) for repeat in range(n_repeats) for name in named]
    store = None if cache is None else _Store(cache, plan, pool)
    work = (delayed(_stored_run)(plan, named[n], n, r, store) for n, r in tasks)
    found = Parallel(n_jobs=n_workers(n_jobs, len(tasks)), return_as="generator")(work)
    shown = tqdm(found, total=len(tasks), disable=not verbose, desc="runs")
    return Study([record for run in shown for record in run], list(named))


def _stored_run(plan, strategy, name, repeat, store):
    """Return the records of a run, computed now or earlier."""
    if store is None:
        return _run(plan, strategy, name, repeat)
    kept = store.read(strategy, name, repeat)
    if kept is None:
        kept = _run(plan, strategy, name, repeat)
        store.write(strategy, name, repeat, kept)
    return kept


def _run(plan, strategy, name, repeat):
    """Return one record for each time that a run was scored."""
    seed = plan.random_state + repeat
    learner, batch, score = _learner_of(plan, strategy, seed, plan.X)
    answers = noisy_labels(plan.y, plan.noise, random_state=seed)
    first = _first_items(plan, seed)
    learner.seed(first, answers[first])
    criterion = plan.stopping() if plan.stopping else None
    return _rounds(plan, learner, answers, score, criterion, batch, name, repeat)


def _learner_of(plan, strategy, seed, X):
    """Return the learner of a strategy, the size of its batches and its scorer."""
    estimator = plan.estimator if strategy.estimator is None else strategy.estimator
    estimator = clone(estimator)
    # Also those of the steps of a pipeline.
    names = [n for n in estimator.get_params() if n.split("__")[-1] == "random_state"]
    estimator.set_params(**dict.fromkeys(names, seed))
    learner = ActiveLearner(
        estimator,
        X,
        utility=strategy.utility,
        update=strategy.update or plan.update,
        n_candidates=plan.n_candidates,
        max_overlap=strategy.max_overlap,
        classes=plan.classes,
        random_state=seed,
    )
    batch = plan.batch if strategy.batch is None else strategy.batch
    if not callable(batch):
        check_number("batch", batch)
    return learner, batch, check_scoring(estimator, scoring=plan.scoring)


def _rounds(plan, learner, answers, score, criterion, batch, name, repeat):
    began, records, stopped = perf_counter(), [], None
    for number in range(len(answers) + 1):
        if criterion is not None and stopped is None and criterion.should_stop(learner):
            stopped = criterion.reason_
        left = min(plan.max_labels - learner.n_labels, _n_free(learner))
        spent = plan.max_words is not None and learner.n_words >= plan.max_words
        is_last = left < 1 or spent
        if number % plan.evaluate_every == 0 or is_last:
            records.append(
                {
                    "strategy": name,
                    "repeat": repeat,
                    "n_labels": learner.n_labels,
                    "n_words": learner.n_words,
                    "score": float(score(learner.estimator_, *plan.test)),
                    "seconds": perf_counter() - began,
                    "stopped": stopped,
                }
            )
            goal = plan.until_score
            is_last |= goal is not None and records[-1]["score"] >= goal
        if is_last:
            return records
        wanted = batch(learner.n_labels) if callable(batch) else batch
        asked = learner.query(min(wanted, left, plan.n_candidates or left))
        learner.teach(asked, answers[asked])
    return records


def _n_free(learner):
    return np.count_nonzero(learner.pool.lengths[learner.unlabeled])


def _first_items(plan, seed):
    """Return the items that are labeled at first; of rows some of each class."""
    rng = np.random.default_rng([seed, 0])
    order = rng.permutation(len(plan.y))
    if plan.classes is not None:
        labels = plan.y[order]
        turn = np.zeros(len(order), dtype=np.int64)
        for label in plan.classes:
            own = np.flatnonzero(labels == label)
            turn[own] = np.arange(len(own))
        # One row of each class before the second of any.
        order = order[np.argsort(turn, kind="stable")]
    else:
        order = order[[len(plan.y[i]) > 0 for i in order]]
    return order[: plan.n_initial]


def _named(strategies):
    if not isinstance(strategies, dict):
        if isinstance(strategies, str):
            strategies = [strategies]
        strategies = {name: name for name in strategies}
    if not strategies:
        raise ValueError("there is no strategy to simulate")
    return {
        str(name): what if isinstance(what, Strategy) else Strategy(what)
        for name, what in strategies.items()
    }


def _check(pool, y, n_initial):
    if len(y) != len(pool):
        raise ValueError(f"X has {len(pool)} items but y has {len(y)}")
    check_number("n_initial", n_initial)
    if n_initial > len(pool):
        raise ValueError(
            f"n_initial is {n_initial}, but the pool has {len(pool)} items only"
        )
    if not pool.kind.can_begin(y.tolist()):
        raise ValueError("y has one class only; a classifier needs two")


class _Store:
    """Complete runs in a folder, one file each."""

    def __init__(self, folder, plan, pool):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        X_test, y_test = plan.test
        data = [p.fingerprint() for p in (pool, read_pool(X_test, plan.estimator))]
        data = digest_of([*data, *plan.y, *y_test])
        self.study = _digest(f"{__version__} {data}", plan)

    def _path(self, strategy, name, repeat):
        key = _digest(self.study, strategy)
        plain = "".join(c if c.isalnum() else "-" for c in name)
        return self.folder / f"{plain}-{repeat}-{key}.json"

    def read(self, strategy, name, repeat):
        """Return the records of a run, or None."""
        path = self._path(strategy, name, repeat)
        return json.loads(path.read_text("utf-8")) if path.exists() else None

    def write(self, strategy, name, repeat, records):
        """Keep the records of a run, all or none."""
        with replacing(self._path(strategy, name, repeat)) as draft:
            draft.write_text(json.dumps(records), "utf-8")


def _digest(first, settings):
    """Return a short hash of settings, but for the data, which are hashed before."""
    words = [str(first)]
    for name, value in vars(settings).items():
        if name in ("X", "y", "test"):
            continue
        words.append(f"{name}={_described(value)}")
    return hashlib.sha256(";".join(words).encode()).hexdigest()[:12]


def _described(value):
    """Return a text that is the same in every process, and that tells values apart.

    The ``repr`` of an estimator will not do: scikit-learn shortens it.
    """
    if value is None or isinstance(value, (str, bytes, int, float)):
        return repr(value)
    if isinstance(value, partial):
        given = value.func, value.args, value.keywords
        return f"partial{_described(given)}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}[{','.join(map(_described, value))}]"
    if isinstance(value, dict):
        return f"dict{_described(sorted(value.items(), key=repr))}"
    if hasattr(value, "__code__"):
        # Two functions without a name differ in what they do and in what they hold,
        # but for themselves, if they are recursive.
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        held = [thing for thing in held if thing is not value]
        defaults = value.__defaults__, value.__kwdefaults__
        owner = getattr(value, "__self__", None)
        made_of = _name_of(value), _parts_of(value.__code__), defaults, held, owner
        return f"function{_described(made_of)}"
    if isinstance(value, type):
        return _name_of(value)
    if hasattr(value, "get_params"):
        return _name_of(type(value)) + _described(value.get_params(deep=False))
    return joblib.hash(value)


def _parts_of(code):
    """Return what the code of a function does, inner functions included."""
    constants = [_parts_of(c) if hasattr(c, "co_code") else c for c in code.co_consts]
    return code.co_code, code.co_names, constants


def _name_of(value):
    return f"{value.__module__}.{value.__qualname__}"
