"""One learner on one split of one set: fit, tune, measure."""

import time
from functools import cache, partial

import numpy as np
from _confidence_crf import crf_answers, three_quarters
from _confidence_measures import measure
from _confidence_protocol import (
    CRF,
    PA,
    PAPERS_DRAWS,
    PAPERS_RULE,
    RANDOM,
    UNTUNED,
    effort,
    rows_of,
    tagger_of,
)
from _corpora import load_paper_set
from _feature_lines import lines_of
from _measure import progress
from _scores import all_scores

from skcw._util.ragged import object_rows
from skcw.confidence.methods import METHODS
from skcw.features import WindowFeatures
from skcw.metrics import token_correct

# The held-out quarter of a training part is cut by its own seed.
TUNING_SEED = 1000


def run_trial(name, split, learner, settings, kept):
    """Return the rows of a learner on a split, and what was chosen on the way.

    Rows that an earlier run has kept are taken over, if they were made the same way.
    """
    if learner == CRF:
        correct, confidence = crf_answers(name, split, settings)
        return {"rows": {CRF: measure(confidence, correct, True)}}
    missing = [row for row in rows_of(learner) if not _is_kept(row, kept)]
    if kept and not missing:
        return kept
    started = time.perf_counter()
    X, y, X_test, y_test = _problem(name, split, settings)
    say = f"confidence: {name}, split {split}, {learner}"
    progress(f"{say}: tuning")
    new = partial(tagger_of, learner, split, name)
    tuned = _tune(X, y, split, new, missing, effort(settings.quick))
    progress(f"{say}: measuring")
    tagger = new().fit(X, y)
    rows = _measure_rows(tagger, tuned, X_test, y_test, missing, settings.quick)
    trial = {"rows": kept.get("rows", {}) | rows, "tuned": kept.get("tuned", {})}
    for rule, chosen in tuned.items():
        trial["tuned"][rule] = trial["tuned"].get(rule, {}) | chosen
    tagger.confidence_ = trial["tuned"][PAPERS_RULE]
    trial["inference"] = kept.get("inference") or _inference(
        tagger, X_test, y_test, learner, settings.quick
    )
    trial["seconds"] = kept.get("seconds", 0.0) + time.perf_counter() - started
    return trial


def _is_kept(row, kept):
    return kept.get("rows", {}).get(row.name, {}).get("made_by") == list(row)


@cache
def _corpus(name, data_home, quick):
    return load_paper_set(name, data_home, quick)


def _problem(name, split, settings):
    """Return features and labels of the training and of the test part."""
    corpus = _corpus(name, settings.data_home, settings.quick)
    train, test = map(corpus.part, three_quarters(len(corpus.tokens), split))
    features = WindowFeatures(lines_of(corpus))
    X = features.fit_transform(train.tokens)
    return (
        X,
        object_rows(train.labels),
        features.transform(test.tokens),
        object_rows(test.labels),
    )


def _tune(X, y, split, new, rows, effort):
    """Return, by rule and method, what suits a quarter of the training part best.

    The copy that is judged has learned from the other three quarters. Values are in
    units of the model, so they serve the model that learns from all.
    """
    wanted = {(row.rule, row.method) for row in rows if row.rule != UNTUNED}
    wanted = sorted(one for one in wanted if METHODS[one[1]].tunes)
    if not wanted:
        return {}
    kept, held_out = three_quarters(len(y), TUNING_SEED + split)
    tagger = new().fit(X[kept], y[kept])
    tuned = {}
    for rule, method in wanted:
        tagger.fit_confidence(
            X[held_out],
            y[held_out],
            method,
            metric=rule,
            n_values=effort.n_values,
            n_draws=effort.tuning_draws,
        )
        tuned.setdefault(rule, {})[method] = tagger.confidence_[method]
    return tuned


def _measure_rows(tagger, tuned, X, y, rows, quick):
    most = effort(quick).most_draws
    correct = np.concatenate(token_correct(y, tagger.predict(X)))
    found = {RANDOM: measure(np.zeros(len(correct)), correct, False)}
    for row in rows:
        tagger.confidence_ = tuned.get(row.rule, {})
        started = time.perf_counter()
        confidence = tagger.predict_confidence(
            X, row.method, n_draws=min(row.n_draws, most)
        )
        seconds = time.perf_counter() - started
        probability = METHODS[row.method].probability
        found[row.name] = {
            "made_by": list(row),
            "seconds": seconds,
            **measure(np.concatenate(confidence), correct, probability),
        }
    return found


def _inference(tagger, X, y, learner, quick):
    """Return scores of the best labeling, and of the labels most draws vote for."""
    n_draws = min(PAPERS_DRAWS, effort(quick).most_draws)
    found = {"Viterbi": all_scores(y, tagger.predict(X))}
    for fixed in (True,) if learner.startswith(PA) else (False, True):
        voted = tagger.predict_voted(X, unit_variance=fixed, n_draws=n_draws)
        found["KD-Fixed votes" if fixed else "KD-PC votes"] = all_scores(y, voted)
    return found
