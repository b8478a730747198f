"""Risk control: accepted shares, broken bounds, sizes of sets, planted errors.

Parts, each of which can be run by itself; results are merged into one JSON file:

risks     calibration sentences are drawn again and again from pools of real and of
          synthetic sentences; how often is the true risk above the bound, and how much
          is accepted, beside an oracle and methods for single words (MAPIE)
rows      the same for independent rows: the accepted share of five sets of documents
          beside an oracle's, and broken bounds where the truth is known
sets      how large sets are that miss at most a given share of the truth
planted   errors are planted into a corpus: how many are among the first places that
          `skcw check` and cleanlab list, and how long does it take

    python benchmarks/studies/bench_risks.py --data-home DIR
    python benchmarks/studies/bench_risks.py --quick

MAPIE and cleanlab come with ``pip install 'skcw[benchmark]'``; without them their rows
are missing.
``--quick`` shows on small subsets that every part works; without the corpora it uses
some that are made. Its figures are no measurement.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks

from itertools import chain
from typing import NamedTuple

import numpy as np

from common.corpora import CONLL
from common.rows import (
    ENRON_A,
    FOLDERS,
    NEWS,
    REUTERS,
    SENTIMENT,
    SMS,
    rows_and_labels,
)
from common.rows import MADE as MADE_REVIEWS
from common.runner import Part, main
from common.tables import at_least, format_goals, format_table
from common.tagged import ARK, DUTCH, EWT, NP, READY, SPANISH, TAGGED, Sentences, _read
from skcw import CWSequenceTagger, MultiClassCW, make_tagging_pipeline
from skcw._util.ragged import joined_ranges
from skcw.calibration import conformal_threshold, risk_threshold
from skcw.calibration.risk_control import (
    MOST_WRONG,
    Steps,
    entity_candidates,
    entity_scores,
    scores_of_truth,
)
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import cross_val_confidence
from skcw.metrics import token_correct
from studies import planted

# ---- Words with their confidence and outcome ----

REAL = {
    NP: ("train", "test"),
    SPANISH: ("train", "dev"),
    DUTCH: ("train", "test"),
    ARK: ("train", "dev", "test"),
    EWT: ("train", "dev", "test"),
}
MADE = "made corpus"
FOLDS = 4
N_SYNTHETIC, N_WORDS = 20_000, 12


class Pool(NamedTuple):
    """Words of many sentences, and the words in the order of their confidence."""

    name: str
    confidence: np.ndarray
    wrong: np.ndarray
    offsets: np.ndarray
    ranked: np.ndarray
    wrong_above: np.ndarray

    @classmethod
    def of(cls, name, confidence, wrong):
        """Return the pool of sentences, each with an array of either kind."""
        lengths = [len(row) for row in confidence]
        sure, bad = np.concatenate(confidence), np.concatenate(wrong).astype(float)
        order = np.argsort(-sure, kind="stable")
        above = np.concatenate([[0.0], np.cumsum(bad[order])])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return cls(name, sure, bad, offsets, -sure[order], above)

    @property
    def n_sentences(self):
        """The number of sentences."""
        return len(self.offsets) - 1

    def draw(self, n, rng):
        """Return confidence, wrongness and sentence of the words of n sentences."""
        drawn = rng.randint(self.n_sentences, size=n)
        lengths = np.diff(self.offsets)[drawn]
        words = joined_ranges(self.offsets[drawn], lengths)
        return (
            self.confidence[words],
            self.wrong[words],
            np.repeat(np.arange(n), lengths),
        )

    def judged(self, threshold):
        """Return the true risk and the accepted share of a threshold."""
        n = int(np.searchsorted(self.ranked, -threshold, side="right"))
        return self.wrong_above[n] / max(n, 1), n / len(self.ranked)

    def oracle(self, alpha):
        """Return the largest share that can be accepted at a true risk of alpha."""
        ends = np.flatnonzero(np.append(np.diff(self.ranked) != 0, True)) + 1
        good = ends[self.wrong_above[ends] <= alpha * ends]
        return good[-1] / len(self.ranked) if len(good) else 0.0


def real_pools(settings):
    """Return the pools of the real corpora, or of the made one in their place."""
    if settings.data_home is None:
        n = 400 if settings.quick else 2000
        tokens, labels = make_tagged_corpus(n, random_state=0, return_X_y=True)
        return [_asked(MADE, Sentences(tokens, labels), "ner")]
    names = [ARK] if settings.quick else list(REAL)
    return [
        _asked(name, _whole(name, settings), READY.get(name, "ner")) for name in names
    ]


def _whole(name, settings):
    """Return the sentences of all parts of a corpus."""
    parts = [_read(name, part, settings.data_home) for part in REAL[name]]
    tokens, labels = map(list, map(chain.from_iterable, zip(*parts, strict=True)))
    n = 300 if settings.quick else len(labels)
    return Sentences(tokens[:n], labels[:n])


def _asked(name, sentences, features):
    """Return what copies of a tagger say of folds that they have not learned from."""
    tagger = make_tagging_pipeline(features, CWSequenceTagger(random_state=0))
    order = np.random.RandomState(0).permutation(len(sentences.labels))
    X, y = ([rows[i] for i in order] for rows in sentences)
    found = cross_val_confidence(tagger, X, y, cv=FOLDS)
    wrong = [~np.asarray(row, dtype=bool) for row in token_correct(y, found.labels)]
    return Pool.of(name, list(found.confidence), wrong)


def synthetic_pools(quick):
    """Return pools whose errors are independent, in clusters, or anywhere."""
    rng = np.random.RandomState(0)
    n = N_SYNTHETIC // (10 if quick else 1)
    sure = rng.beta(12, 0.6, size=(n, N_WORDS))
    alone = rng.uniform(size=sure.shape) > sure
    # Whole sentences are hard, and what is wrong in them comes in threes.
    hard = rng.beta(0.6, 12, size=n)
    in_hard = 1 - hard[:, None] * rng.uniform(0.5, 1.5, size=sure.shape)
    clustered = np.zeros(sure.shape, dtype=bool)
    bad = np.flatnonzero(rng.uniform(size=n) < 4 * hard)
    first = rng.randint(N_WORDS - 2, size=len(bad))
    for shift in range(3):
        clustered[bad, first + shift] = True
    # Some sentences are lists in which all is wrong: more than is expected of any.
    lists = alone.copy()
    lists[rng.uniform(size=n) < 0.002] = True
    # Confidence says nothing at all, and the risk is a little above the bound.
    useless = rng.uniform(size=sure.shape) < 0.011
    return [
        Pool.of("independent", list(sure), list(alone)),
        Pool.of("three in a row", list(in_hard), list(clustered)),
        Pool.of("rare lists", list(sure), list(lists)),
        Pool.of("useless confidence", list(sure), list(useless)),
    ]


# ---- How often bounds are broken and how much is accepted ----

N_REPEATS, QUICK_REPEATS = 1000, 10
ALPHAS_RISKS, DELTAS, SIZES = (0.01, 0.05), (0.05, 0.2), (500, 2000)
MAIN = (0.01, 0.05, 2000)
GOAL = 0.9
OURS, WORDS, MAPIE = "sentences", "words as if independent", "MAPIE"
# MAPIE tests each threshold for itself: a hundred, evenly spread over the words.
N_THRESHOLDS = 100
# Word-level methods take longer than all that is asked of ours.
PEER_REPEATS = 200


def run_risks(settings):
    """Draw calibration sets from every pool; count how often the bound is broken."""
    repeats = QUICK_REPEATS if settings.quick else N_REPEATS
    rows = []
    pools = [*real_pools(settings), *synthetic_pools(settings.quick)]
    for pool in pools:
        for size in SIZES:
            rows += _of_size(pool, size, repeats)
    real = {pool.name for pool in pools[: len(pools) - 4]}
    return {
        "quick": settings.quick,
        "repeats": repeats,
        "max_errors_per_group": MOST_WRONG,
        "real": sorted(real),
        "rows": rows,
        "goals": _goals(rows, real),
    }


def _of_size(pool, size, repeats):
    cells = {}
    for repeat in range(repeats):
        rng = np.random.RandomState(repeat)
        drawn = pool.draw(size, rng)
        for key, threshold in _thresholds(drawn, size, repeat < PEER_REPEATS):
            cells.setdefault(key, []).append(pool.judged(threshold))
    rows = []
    for (method, alpha, delta), judged in cells.items():
        risk, share = np.transpose(judged)
        rows.append(
            {
                "pool": pool.name,
                "draws": len(judged),
                "method": method,
                "alpha": alpha,
                "delta": delta,
                "sentences": size,
                "violations": float((risk > alpha).mean()),
                "refused": float((share == 0).mean()),
                "share": float(share.mean()),
                "oracle": pool.oracle(alpha),
                "risk": float(risk.mean()),
            }
        )
    return rows


def _thresholds(drawn, size, with_peers):
    """Yield the threshold of every method, risk and level for one calibration set."""
    sure, wrong, sentence = drawn
    order = np.argsort(-sure, kind="stable")
    steps = Steps(sure[order], wrong[order], sentence[order])
    for alpha in ALPHAS_RISKS:
        for delta in DELTAS:
            made = steps.threshold(alpha, delta, MOST_WRONG, 1 - delta, "words")
            yield (OURS, alpha, delta), made.threshold
    alpha, delta, main_size = MAIN
    if size == main_size and with_peers:
        [made] = risk_threshold(1 - wrong, sure, alpha, confidence_level=1 - delta)
        yield (WORDS, alpha, delta), made.threshold
        threshold = mapie_threshold(sure, wrong, alpha, delta)
        if threshold is not None:
            yield (MAPIE, alpha, delta), threshold


def mapie_threshold(sure, wrong, alpha, delta):
    """Return what MAPIE finds if each word is a row; None if it is not installed."""
    try:
        from mapie.risk_control import BinaryClassificationController
    except ImportError:
        return None
    grid = np.unique(np.quantile(sure, np.linspace(0, 1, N_THRESHOLDS + 1)[:-1]))
    controller = BinaryClassificationController(
        predict_function=lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]),
        risk="precision",
        target_level=1 - alpha,
        confidence_level=1 - delta,
        list_predict_params=grid,
    )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(sure[:, None], (1 - wrong).astype(int))
    valid = np.ravel(controller.valid_predict_params)
    return float(valid.min()) if len(valid) else np.inf


def _goals(rows, real):
    goals = []
    for row in rows:
        settled = (row["alpha"], row["delta"], row["sentences"]) == MAIN
        if row["method"] == OURS and settled and row["pool"] in real:
            share = row["share"] / row["oracle"] if row["oracle"] else 0.0
            what = f"{row['pool']}: accepted, of what an oracle accepts"
            goals.append(at_least(what, share, GOAL, ".3f"))
    return goals


def render_risks(found):
    """Return the tables."""
    repeats = found["repeats"]
    title = (
        f"Broken bounds in {repeats} draws of calibration sentences (of word-level "
        f"methods in {min(repeats, PEER_REPEATS)}),\nwith the largest share that "
        "chance allows (delta and three standard errors; * is above\nit), and accepted "
        "shares beside an oracle's."
    )
    header = ["pool", "method", "alpha", "delta", "sentences", "broken", "allowed"]
    header += ["refused", "accepted", "oracle", "ratio", "mean risk"]
    rows = [_cells(row, row["draws"]) for row in found["rows"]]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(header, rows), goals])


def allowed(delta, repeats):
    """Return the share of broken bounds that chance allows."""
    return delta + 3 * np.sqrt(delta * (1 - delta) / repeats)


def _cells(row, repeats):
    ratio = row["share"] / row["oracle"] if row["oracle"] else None
    most = allowed(row["delta"], repeats)
    return [
        row["pool"],
        row["method"],
        f"{row['alpha']:g}",
        f"{row['delta']:g}",
        row["sentences"],
        f"{row['violations']:.3f}" + ("*" if row["violations"] > most else ""),
        f"{most:.3f}",
        f"{row['refused']:.3f}",
        f"{row['share']:.3f}",
        f"{row['oracle']:.3f}",
        "-" if ratio is None else f"{ratio:.3f}",
        f"{row['risk']:.4f}",
    ]


# ---- Rows: power on sets of documents, and bounds where the truth is known ----

ROW_SETS = (SMS, NEWS, SENTIMENT, REUTERS, ENRON_A)
ROW_SIZES = (200, 400, 800, 1200, 2000, 5000)
ROWS_IN_POOL = 100_000


def run_rows(settings):
    """Draw calibration rows from every pool, as `run_risks` does with sentences."""
    repeats = QUICK_REPEATS if settings.quick else N_REPEATS
    names = (MADE_REVIEWS,) if settings.data_home is None else ROW_SETS
    pools = [_pool_of_rows(name, settings) for name in names]
    synthetic = made_pools_of_rows(settings.quick)
    rows = []
    for pool in pools + synthetic:
        for alpha in ALPHAS_RISKS:
            for size in ROW_SIZES:
                rows.append(_row_of_rows(pool, alpha, size, repeats))
    return {"quick": settings.quick, "repeats": repeats, "rows": rows}


def _pool_of_rows(name, settings):
    """Return what classifiers say of the folds that they have not learned from."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    X, y = rows_and_labels(name, settings)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    classifier = MultiClassCW(random_state=0)
    table = cross_val_predict(classifier, X, y, cv=folds, method="predict_proba")
    return _alone(name, table.max(axis=1), table.argmax(axis=1) != y)


def _alone(name, confidence, wrong):
    return Pool.of(name, list(confidence[:, None]), list(wrong[:, None]))


def made_pools_of_rows(quick):
    """Return pools of rows whose risk is known, some of them made to mislead."""
    rng = np.random.RandomState(0)
    n = ROWS_IN_POOL // (10 if quick else 1)
    sure = rng.beta(12, 0.6, size=n)
    wrong = rng.uniform(size=n) > sure
    useless = rng.uniform(size=n)
    surest = wrong | ((sure > 0.99) & (rng.uniform(size=n) < 0.06))
    return [
        _alone("calibrated", sure, wrong),
        _alone("ten values", sure.round(1), wrong),
        _alone("risk .011 anywhere", useless, rng.uniform(size=n) < 0.011),
        _alone("risk .055 anywhere", useless, rng.uniform(size=n) < 0.055),
        _alone("wrong among the surest", sure, surest),
        _alone("all right", useless, np.zeros(n, dtype=bool)),
        _alone("all wrong", useless, np.ones(n, dtype=bool)),
    ]


def _row_of_rows(pool, alpha, size, repeats):
    judged = []
    for repeat in range(repeats):
        sure, wrong, _ = pool.draw(size, np.random.RandomState(repeat))
        (made,) = risk_threshold(wrong == 0, sure, alpha)
        judged.append(pool.judged(made.threshold))
    risk, share = np.transpose(judged)
    return {
        "pool": pool.name,
        "alpha": alpha,
        "rows": size,
        "violations": float((risk > alpha).mean()),
        "refused": float((share == 0).mean()),
        "share": float(share.mean()),
        "oracle": pool.oracle(alpha),
    }


def render_rows(found):
    """Return the table."""
    most = allowed(0.05, found["repeats"])
    title = (
        f"Independent rows, delta .05, {found['repeats']} draws: broken bounds (* is "
        f"above {most:.3f}, delta and three\nstandard errors), draws that accept "
        "nothing, and the accepted share beside an oracle's."
    )
    header = ["pool", "alpha", "rows", "broken", "refused", "accepted", "oracle"]
    rows = [
        [
            row["pool"],
            f"{row['alpha']:g}",
            row["rows"],
            f"{row['violations']:.3f}" + ("*" if row["violations"] > most else ""),
            f"{row['refused']:.3f}",
            f"{row['share']:.3f}",
            f"{row['oracle']:.3f}",
        ]
        for row in found["rows"]
    ]
    return f"{title}\n\n{format_table(header, rows)}"


# ---- How large sets are that miss at most a given share of the truth ----

ALPHAS_SETS = (0.01, 0.05)
ENTITY_ALPHAS = (0.1, 0.2)
N_BEST = 20
N_SPLITS = 10


def run_sets(settings):
    """Calibrate on one half of unseen sentences, and look at the sets of the other."""
    rows = []
    for name in _names_sets(settings):
        sentences = _sentences_sets(name, settings)
        answers, y = _answers(name, sentences)
        rows += _label_rows(name, answers, y)
        if name not in (ARK, EWT):
            rows += _entity_rows(name, answers, y)
    return {"quick": settings.quick, "rows": rows}


def _names_sets(settings):
    if settings.data_home is None:
        return [MADE]
    return [ARK] if settings.quick else [ARK, SPANISH, EWT]


def _sentences_sets(name, settings):
    if name == MADE:
        n = 400 if settings.quick else 3000
        return Sentences(*make_tagged_corpus(n, random_state=0, return_X_y=True))
    return _whole(name, settings)


def _answers(name, sentences):
    """Return what a tagger says of the half that it has not learned from."""
    order = np.random.RandomState(0).permutation(len(sentences.labels))
    X, y = ([rows[i] for i in order] for rows in sentences)
    half = len(y) // 2
    tagger = CWSequenceTagger(random_state=0)
    pipeline = make_tagging_pipeline(READY.get(name, "ner"), tagger)
    return pipeline.fit(X[:half], y[:half]).predict_all(X[half:]), y[half:]


def _label_rows(name, answers, y):
    table = answers.label_table("marginal")
    truth = scores_of_truth(table, answers.classes, [x for row in y for x in row])
    sentence = np.repeat(np.arange(len(y)), answers.lengths)
    found = {}
    for seed in range(N_SPLITS):
        half = np.random.RandomState(seed).permutation(len(y)) < len(y) // 2
        first = half[sentence]
        old, new = (table[first], truth[first]), (table[~first], truth[~first])
        for alpha in ALPHAS_SETS:
            least = conformal_threshold(old[1], alpha, groups=sentence[first])
            for method, judged in (
                ("skcw", _by_score(*new, least)),
                ("mass", _by_mass(*new, 1 - alpha)),
                ("mass, cal.", _calibrated_mass(*old, *new, alpha)),
                ("n best", _by_rank(*old, *new, alpha)),
            ):
                found.setdefault((method, alpha), []).append(judged)
    return [
        _row_sets(name, *key, *np.mean(judged, axis=0)) for key, judged in found.items()
    ]


def _row_sets(name, method, alpha, missed, size, unit="labels"):
    return {
        "corpus": name,
        "sets of": unit,
        "method": method,
        "alpha": alpha,
        "missed": float(missed),
        "size": float(size),
    }


def _by_score(table, truth, least):
    """Return the share missed and the mean size, by a threshold of probabilities."""
    best = table.max(axis=1)
    sizes = np.maximum((table >= least).sum(axis=1), 1)
    return ((truth < least) & (truth < best)).mean(), sizes.mean()


def _mass_above(table, truth):
    """Return the probability of all labels that are more probable than the truth."""
    return np.where(table > truth[:, None], table, 0.0).sum(axis=1)


def _by_mass(table, truth, mass):
    """Return the same for the fewest labels that have this probability together."""
    ordered = -np.sort(-table, axis=1)
    before = np.cumsum(ordered, axis=1) - ordered
    sizes = (before < mass).sum(axis=1)
    return (_mass_above(table, truth) >= mass).mean(), sizes.mean()


def _calibrated_mass(table, truth, new_table, new_truth, alpha):
    """Return the same with the mass at which enough calibration words are covered."""
    mass = np.quantile(_mass_above(table, truth), 1 - alpha) + 1e-12
    return _by_mass(new_table, new_truth, mass)


def _by_rank(table, truth, new_table, new_truth, alpha):
    """Return the same for equally many labels of every word."""
    rank = (table > truth[:, None]).sum(axis=1) + 1
    most = int(np.quantile(rank, 1 - alpha, method="higher"))
    new_rank = (new_table > new_truth[:, None]).sum(axis=1) + 1
    return (new_rank > most).mean(), most


def _entity_rows(name, answers, y):
    candidates = entity_candidates(answers, N_BEST)
    half = len(y) // 2
    rows = []
    for alpha in ENTITY_ALPHAS:
        scores, missing = entity_scores(candidates[:half], y[:half])
        known = [row for row in scores if row]
        least = conformal_threshold(known, alpha, n_missing=missing)
        rows.append(
            _row_sets(
                name, "skcw", alpha, *_found(candidates, y, half, least), "entities"
            )
        )
    none = _found(candidates, y, half, -np.inf)
    rows.append(_row_sets(name, f"all of {N_BEST} best", 0.0, *none, "entities"))
    best = entity_candidates(answers, 1)
    rows.append(
        _row_sets(name, "best labeling", 0.0, *_found(best, y, half, 0.0), "entities")
    )
    return rows


def _found(candidates, y, half, least):
    """Return the share of true entities missed, and sets per true entity."""
    scores, missing = entity_scores(candidates[half:], y[half:])
    flat = np.concatenate([np.empty(0), *scores])
    n_true = max(len(flat) + missing, 1)
    size = sum(score >= least for row in candidates[half:] for score in row.values())
    return (missing + (flat < least).sum()) / n_true, size / n_true


def render_sets(found):
    """Return the table."""
    title = (
        "Sets that miss at most alpha of the truth, calibrated on half of the unseen "
        "sentences and\nlooked at on the other, labels in ten random halves: skcw's "
        "threshold of probabilities; the\nfewest labels with the mass 1 - alpha, as it "
        "comes and calibrated; equally many labels for\nevery word. The size of sets "
        "of entities is in spans per true entity."
    )
    header = ["corpus", "sets of", "method", "alpha", "missed", "mean size"]
    rows = [
        [
            row["corpus"],
            row["sets of"],
            row["method"],
            f"{row['alpha']:g}" if row["alpha"] else "-",
            f"{row['missed']:.4f}",
            f"{row['size']:.3f}",
        ]
        for row in found["rows"]
    ]
    return f"{title}\n\n{format_table(header, rows)}"


PARTS = {
    "risks": Part(run_risks, render_risks),
    "rows": Part(run_rows, render_rows),
    "sets": Part(run_sets, render_sets),
    "planted": Part(planted.run, planted.render),
}


if __name__ == "__main__":
    main(__file__, PARTS, (*CONLL, *TAGGED, *FOLDERS))
