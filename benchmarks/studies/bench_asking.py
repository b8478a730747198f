"""Active learning: is it worth its labels, and how long does an annotator wait?

Parts, each of which can be run by itself; results are merged into one JSON file:

words     the model of the loop at equal words, beside fresh fits to the same words and
          to random ones, on five corpora
updates   the same by how labels are learned, with small steps
seconds   CPU seconds from an answer to the next question

    OMP_NUM_THREADS=1 python benchmarks/studies/bench_asking.py --data-home DIR \\
        --seeds 10
    python benchmarks/studies/bench_asking.py --quick

``--corpora`` names sets: these only.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks

import time
from statistics import median

import numpy as np
from scipy import stats
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from common.corpora import CONLL
from common.measure import progress, span_scores
from common.runner import Part, main
from common.tables import format_table
from common.tagged import (
    ARK,
    BUILT_IN,
    DUTCH,
    EWT,
    NP,
    READY,
    SPANISH,
    TAGGED,
    encode,
    load,
)
from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw._util.ragged import object_rows
from skcw.active import ActiveLearner
from skcw.metrics import token_accuracy_score

CORPORA = (SPANISH, DUTCH, NP, ARK, EWT)
STRATEGIES = {
    "random": {"utility": "random"},
    "chosen": {},
    "online": {"utility": "least-confident-word", "update": "online"},
}
STEP, QUICK_STEP, N_STEPS = 800, 100, 8
SHOWN = (1, 2, 4, 8)
SMALL_STEP, QUICK_SMALL_STEP, MOST_WORDS = 80, 20, 3200
UPDATES = ("lazy", "refit", "online")
LABELED, QUICK_LABELED = (100, 1_000, 5_000), (10, 20)
N_POOL, N_ANSWERS = 10_000, 11


class Loop:
    """A corpus to label and to judge by, and what a learner makes of it."""

    def __init__(self, name, settings):
        self.data = encode(name, "ready", load(name, settings))
        self.y = object_rows(self.data.train_labels)

    def score(self, model):
        """Return the span F1 of a model on the test sentences, or its accuracy."""
        labels = model.predict(self.data.test)
        if self.data.spans:
            return span_scores(self.data.test_labels, labels)["f1"]
        return token_accuracy_score(self.data.test_labels, labels)

    def start(self, seed, **options):
        """Return a learner that has no labels yet."""
        tagger = CWSequenceTagger(random_state=seed)
        return ActiveLearner(tagger, self.data.train, random_state=seed, **options)

    def buy(self, learner, most):
        """Let the learner ask for the words that are left of a budget, and learn."""
        asked = learner.query(words=most - learner.n_words)
        learner.teach(asked, self.y[asked])

    def judge(self, learner, seed):
        """Return the scores of the loop's own model and of a fresh fit."""
        own = learner.labeled
        fresh = CWSequenceTagger(random_state=seed)
        fresh.fit(self.data.train[own], self.y[own])
        return self.score(learner.estimator_), self.score(fresh)


def names_of(settings):
    """Return the corpora to ask about."""
    if settings.data_home is None:
        return (BUILT_IN,)
    return settings.corpora or ((ARK,) if settings.quick else CORPORA)


# ---- Scores at equal words ----

TITLE_WORDS = "Scores at equal words"
NOTE_WORDS = """\
Span F1 (accuracy on ARK and EWT) on the test sets, means of the seeds. The pool is the
training set, and a seed begins with the same words in every column. "chosen": the
learner with its defaults, "loop" its own model and "fresh" a fit to the same words.
"gain": chosen (fresh) less random, with the 95 % interval of the paired differences
over seeds (Student's t); it does not cover the choice of the test set. "online":
update="online" and the least confident word, the former defaults but for the 1,000
candidates of a round."""


def run_words(settings):
    """Return the scores of all strategies, for each corpus and seed."""
    step = QUICK_STEP if settings.quick else STEP
    sets = {}
    with threadpool_limits(1):
        for name in names_of(settings):
            loop = Loop(name, settings)
            sets[name] = {
                strategy: [
                    _bought(loop, options, seed, step) for seed in range(settings.seeds)
                ]
                for strategy, options in STRATEGIES.items()
            }
    return {
        "quick": settings.quick,
        "seeds": settings.seeds,
        "words": [step * n for n in SHOWN],
        "sets": sets,
        "means": means_of(sets),
    }


def means_of(sets):
    """Return the means of the loop's model and of a fresh fit, by words bought."""
    return {
        name: {
            strategy: np.mean(runs, axis=0).tolist() for strategy, runs in one.items()
        }
        for name, one in sets.items()
    }


def _bought(loop, options, seed, step):
    """Return the scores of the loop's model and of a fresh fit, by words bought."""
    progress(f"words: {loop.data.corpus}, {options}, seed {seed}")
    learner, found = loop.start(seed, **options), []
    for number in range(1, N_STEPS + 1):
        loop.buy(learner, step * number)
        if number in SHOWN:
            found.append(loop.judge(learner, seed))
    return found


def render_words(found):
    """Return the table of this part."""
    header = ["corpus", "words", "random, fresh", "chosen, loop", "chosen, fresh"]
    header += ["gain", "95 % interval", "online, loop", "online, fresh"]
    rows = []
    for name, one in found["sets"].items():
        means = found["means"][name]
        differences = np.subtract(one["chosen"], one["random"])
        for k, words in enumerate(found["words"]):
            gains = differences[:, k, 1]
            cells = [means["random"][k][1], *means["chosen"][k], gains.mean()]
            cells = [f"{cell:.4f}" for cell in cells]
            rows.append(
                [name, words, *cells, _interval(gains)]
                + [f"{cell:.4f}" for cell in means["online"][k]]
            )
    return _titled(TITLE_WORDS, format_table(header, rows), NOTE_WORDS, found)


def _interval(differences):
    """Return the 95 % interval of a mean of paired differences, as text."""
    mean, n = differences.mean(), len(differences)
    half = stats.t.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n)
    return f"{mean - half:+.4f} to {mean + half:+.4f}"


def _titled(title, table, note, found):
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    if "seeds" in found:
        title += f": {found['seeds']} seeds"
    return f"{title}\n\n{table}\n\n{note}"


# ---- How labels are learned ----

TITLE_UPDATES = "How labels are learned"
NOTE_UPDATES = f"""\
The same scores after {MOST_WORDS} words in steps of {SMALL_STEP}, with the default
utility, and the CPU seconds of all steps without the scoring."""


def run_updates(settings):
    """Return the scores and seconds of each kind of update."""
    step = QUICK_SMALL_STEP if settings.quick else SMALL_STEP
    sets = {}
    with threadpool_limits(1):
        for name in names_of(settings):
            loop = Loop(name, settings)
            sets[name] = {
                update: [
                    _in_small_steps(loop, update, seed, step)
                    for seed in range(settings.seeds)
                ]
                for update in UPDATES
            }
    return {"quick": settings.quick, "seeds": settings.seeds, "sets": sets}


def _in_small_steps(loop, update, seed, step):
    progress(f"updates: {loop.data.corpus}, {update}, seed {seed}")
    began, learner = time.process_time(), loop.start(seed, update=update)
    for number in range(1, MOST_WORDS // SMALL_STEP + 1):
        loop.buy(learner, step * number)
    return *loop.judge(learner, seed), time.process_time() - began


def render_updates(found):
    """Return the table of this part."""
    rows = [
        [name, update, *(f"{value:.4f}" for value in means[:2]), f"{means[2]:.1f}"]
        for name, one in found["sets"].items()
        for update, runs in one.items()
        for means in [np.mean(runs, axis=0)]
    ]
    table = format_table(["corpus", "update", "loop", "fresh", "seconds"], rows)
    return _titled(TITLE_UPDATES, table, NOTE_UPDATES, found)


# ---- Seconds from an answer to the next question ----

TITLE_SECONDS = "Seconds from an answer to the next question"
NOTE_SECONDS = f"""\
CPU seconds of teach and query(1) with a pool of words, features included:
{N_POOL:,} Dutch sentences. Median and maximum of {N_ANSWERS} answers after so many
labels, "lazy" without one of its fits, which takes as long as one of "refit"; "all":
every sentence that is left is ranked, not 1,000 of them."""


def run_seconds(settings):
    """Return the median and the longest wait for each number of labels."""
    name = DUTCH if settings.data_home and not settings.quick else BUILT_IN
    tokens, labels = load(name, settings)[0]
    tokens, labels = tokens[:N_POOL], labels[:N_POOL]
    tagger = make_tagging_pipeline(
        READY.get(name, "ner"), CWSequenceTagger(random_state=0)
    )
    waits = []
    with threadpool_limits(1):
        for n in QUICK_LABELED if settings.quick else LABELED:
            for update in UPDATES:
                for n_candidates in (1000, None):
                    options = {"update": update, "n_candidates": n_candidates}
                    learner = ActiveLearner(clone(tagger), tokens, **options)
                    waits.append([n, *options.values(), *_waits(learner, labels, n)])
    return {"quick": settings.quick, "waits": waits}


def _waits(learner, labels, n):
    """Return the median and the longest of some waits after n labels."""
    learner.seed(np.arange(n), labels[:n])
    (asked,), seconds = learner.query(1), []
    for _ in range(N_ANSWERS):
        began = time.process_time()
        learner.teach([asked], [labels[asked]])
        (asked,) = learner.query(1)
        seconds.append(time.process_time() - began)
    return median(seconds), max(seconds)


def render_seconds(found):
    """Return the table of this part."""
    rows = [
        [n, update, most or "all", f"{middle:.3f}", f"{longest:.3f}"]
        for n, update, most, middle, longest in found["waits"]
    ]
    header = ["labeled", "update", "ranked", "median s", "longest s"]
    return _titled(TITLE_SECONDS, format_table(header, rows), NOTE_SECONDS, found)


PARTS = {
    "words": Part(run_words, render_words),
    "updates": Part(run_updates, render_updates),
    "seconds": Part(run_seconds, render_seconds),
}


if __name__ == "__main__":
    main(__file__, PARTS, (*CONLL, *TAGGED))
