"""CPU seconds of utilities and of a whole round, beside CRFsuite's marginals."""

import statistics
import time
from functools import partial

import numpy as np
from _corpora import load_chunking
from _crfsuite import CRFsuite
from _tables import at_most, format_goals, format_table
from scipy import sparse

from skcw import CWSequenceTagger, MultiClassCW
from skcw.active import ActiveLearner
from skcw.active.utilities import (
    disagreement,
    entropy,
    least_confident,
    least_confident_word,
    margin,
    normalized_margin,
)
from skcw.data import SequenceEncoder

N_ROWS, N_COLUMNS, PER_ROW = 100_000, 50_000, 100
QUICK_ROWS = 2000
REPEATS = 5
ROW_UTILITIES = {
    "margin": margin,
    "normalized-margin": normalized_margin,
    "least-confident": least_confident,
    "entropy": entropy,
    "disagreement": disagreement,
}


def run(settings):
    """Return the CPU seconds of everything that has a goal."""
    rows = _rows(settings.quick)
    words = _sentences(settings)
    return {
        "quick": settings.quick,
        "rows": rows,
        "sentences": words,
        "goals": [
            at_most(
                "slowest utility of 100,000 rows, s", max(rows.values()), 1.0, ".3f"
            ),
            at_most(
                "kd-pc of the pool / CRFsuite's marginals",
                words["kd-pc"] / words["CRFsuite marginals"],
                1.0,
                ".2f",
            ),
            at_most("a round of 1,000 candidates, s", words["round"], 0.5, ".3f"),
        ],
    }


def _cpu(*works):
    """Return the median CPU seconds of each piece of work; they take turns."""
    seconds = [[] for _ in works]
    for _ in range(REPEATS):
        for own, work in zip(seconds, works, strict=True):
            began = time.process_time()
            work()
            own.append(time.process_time() - began)
    return [statistics.median(own) for own in seconds]


def _rows(quick):
    n = QUICK_ROWS if quick else N_ROWS
    rng = np.random.default_rng(0)
    columns = rng.integers(0, N_COLUMNS, n * PER_ROW)
    indptr = np.arange(0, n * PER_ROW + 1, PER_ROW)
    X = sparse.csr_matrix((np.ones(n * PER_ROW), columns, indptr), (n, N_COLUMNS))
    X.sum_duplicates()
    y = np.sign(X @ rng.standard_normal(N_COLUMNS))
    model = MultiClassCW(random_state=0, max_iter=1).fit(X[:1000], y[:1000])
    works = [partial(utility, model, X) for utility in ROW_UTILITIES.values()]
    return dict(zip(ROW_UTILITIES, _cpu(*works), strict=True))


def _sentences(settings):
    (corpus,) = load_chunking(settings.data_home, settings.quick, parts=("train",))
    X, y = corpus.features(), corpus.labels
    batch = SequenceEncoder().fit_transform(X)
    n = min(1000, len(batch) // 2)
    model = CWSequenceTagger(random_state=0).fit(batch[:n], y[:n])
    crf = CRFsuite("lbfgs", max_iterations=20).fit(X[:n], y[:n])
    draws = partial(least_confident_word, model, batch, "kd-pc", n_draws=50)
    ours, others, asked = _cpu(
        draws,
        partial(crf.predict_marginals, X),
        partial(least_confident_word, model, batch, "marginal"),
    )
    return {
        "n_sentences": len(batch),
        "kd-pc": ours,
        "marginal": asked,
        "CRFsuite marginals": others,
        "round": _round(batch, y, n),
    }


def _round(batch, y, n):
    """Return the CPU seconds of a round: score 1,000, choose 10, learn them online."""
    utility = partial(least_confident_word, method="kd-pc", n_draws=50)
    tagger = CWSequenceTagger(random_state=0)
    learner = ActiveLearner(tagger, batch, utility=utility, n_candidates=1000)
    learner.seed(np.arange(n), y[:n])

    def work():
        asked = learner.query(10)
        learner.teach(asked, [y[i] for i in asked])

    return _cpu(work)[0]


def render(found):
    """Return the tables of this part."""
    rows = [[name, f"{s:.3f}"] for name, s in found["rows"].items()]
    words = dict(found["sentences"])
    n_sentences = words.pop("n_sentences")
    others = [[name, f"{s:.3f}"] for name, s in words.items()]
    return "\n\n".join(
        [
            "Speed: CPU seconds of one process, median of five, taking turns",
            format_table([f"{N_ROWS} rows, {PER_ROW} words each", "s"], rows),
            format_table([f"{n_sentences} sentences, 50 draws", "s"], others),
            format_goals(found["goals"], found["quick"]),
        ]
    )
