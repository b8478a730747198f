"""How large sets are that miss at most a promised share of the truth."""

from itertools import chain

import numpy as np
from _corpora import has_corpora
from _guarantee_pools import MADE, REAL
from _tables import format_table
from _travel_corpora import ARK, READY, SPANISH, Sentences, _read

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.calibration import conformal_threshold
from skcw.calibration.conformal import entity_candidates, entity_scores, scores_of_truth
from skcw.datasets import make_tagged_corpus

ALPHAS = (0.01, 0.05)
ENTITY_ALPHAS = (0.1, 0.2)
N_BEST = 20
N_SPLITS = 10


def run(settings):
    """Calibrate on one half of unseen sentences, and look at the sets of the other."""
    rows = []
    for name in _names(settings):
        sentences = _sentences(name, settings)
        answers, y = _answers(name, sentences)
        rows += _label_rows(name, answers, y)
        if name not in (ARK, "EWT XPOS"):
            rows += _entity_rows(name, answers, y)
    return {"quick": settings.quick, "rows": rows}


def _names(settings):
    if not has_corpora(settings.data_home):
        return [MADE]
    return [ARK] if settings.quick else [ARK, SPANISH, "EWT XPOS"]


def _sentences(name, settings):
    if name == MADE:
        n = 400 if settings.quick else 3000
        return Sentences(*make_tagged_corpus(n, random_state=0, return_X_y=True))
    parts = [_read(name, part, settings.data_home) for part in REAL[name]]
    whole = Sentences(*map(list, map(chain.from_iterable, zip(*parts, strict=True))))
    n = 300 if settings.quick else len(whole.labels)
    return Sentences(whole.tokens[:n], whole.labels[:n])


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
        for alpha in ALPHAS:
            least = conformal_threshold(old[1], alpha, groups=sentence[first])
            for method, judged in (
                ("skcw", _by_score(*new, least)),
                ("mass", _by_mass(*new, 1 - alpha)),
                ("mass, cal.", _calibrated_mass(*old, *new, alpha)),
                ("n best", _by_rank(*old, *new, alpha)),
            ):
                found.setdefault((method, alpha), []).append(judged)
    return [_row(name, *key, *np.mean(judged, axis=0)) for key, judged in found.items()]


def _row(name, method, alpha, missed, size, unit="labels"):
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
            _row(name, "skcw", alpha, *_found(candidates, y, half, least), "entities")
        )
    none = _found(candidates, y, half, -np.inf)
    rows.append(_row(name, f"all of {N_BEST} best", 0.0, *none, "entities"))
    best = entity_candidates(answers, 1)
    rows.append(
        _row(name, "best labeling", 0.0, *_found(best, y, half, 0.0), "entities")
    )
    return rows


def _found(candidates, y, half, least):
    """Return the share of true entities missed, and sets per true entity."""
    scores, missing = entity_scores(candidates[half:], y[half:])
    flat = np.concatenate([np.empty(0), *scores])
    n_true = max(len(flat) + missing, 1)
    size = sum(score >= least for row in candidates[half:] for score in row.values())
    return (missing + (flat < least).sum()) / n_true, size / n_true


def render(found):
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
