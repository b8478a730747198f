"""Sets: they contain the truth as often as promised, and are no larger than needed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.calibration import conformal_sets, conformal_threshold
from skcw.calibration.risk_control import (
    entity_candidates,
    entity_scores,
    scores_of_truth,
)
from skcw.datasets import make_tagged_corpus

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(SCORES, st.sampled_from([0.05, 0.2, 0.5]), st.integers(0, 3))
def test_the_sum_of_losses_leaves_room_for_the_worst_sentence(scores, alpha, missing):
    least = conformal_threshold(scores, alpha, n_missing=missing)
    n_missed = missing + sum(score < least for score in scores)
    loss = n_missed - alpha * (len(scores) + missing) + (1 - alpha)
    if np.isfinite(least):
        assert loss <= 1e-9
        # Any larger threshold that is a score would miss one more.
        above = [score for score in scores if score > least]
        if above:
            more = missing + sum(score < min(above) for score in scores)
            assert more - alpha * (len(scores) + missing) + (1 - alpha) > -1e-9
    elif np.isnan(least):
        assert missing > alpha * (len(scores) + missing) - (1 - alpha)


def test_the_expected_share_of_truths_missed_is_at_most_the_risk():
    rng = np.random.RandomState(0)
    missed = []
    for _ in range(400):
        scores = rng.uniform(size=60)
        missed.append((rng.uniform(size=50) < conformal_threshold(scores, 0.1)).mean())
    assert np.mean(missed) <= 0.1 + 3 * np.std(missed) / 20


def test_too_few_sentences_get_full_sets():
    least = conformal_threshold([[0.9, 0.8]], 0.1)
    assert least == -np.inf
    assert conformal_sets([[0.7, 0.3]], least, ["A", "B"]) == [["A", "B"]]


def test_a_set_is_never_empty_and_has_the_best_label_first():
    table = [[0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]
    assert conformal_sets(table, 0.99, "ABC") == [["B"], ["A"]]
    assert conformal_sets(table, 0.3, "ABC") == [["B", "C"], ["A", "B", "C"]]


def test_the_truth_of_an_unknown_label_has_no_score():
    scores = scores_of_truth([[0.2, 0.8], [0.6, 0.4]], ["A", "B"], ["B", "?"])
    np.testing.assert_array_equal(scores, [0.8, np.nan])


def test_candidates_are_the_spans_of_the_best_labelings():
    X, y = make_tagged_corpus(200, random_state=0, return_X_y=True)
    tagger = CWSequenceTagger(random_state=0, calibrate_confidence=False)
    answers = (
        make_tagging_pipeline("ner", tagger).fit(X[:150], y[:150]).predict_all(X[150:])
    )
    one, many = entity_candidates(answers, 1), entity_candidates(answers, 15)
    for entities, few, row in zip(answers.entities(), one, many, strict=True):
        spans = {tuple(entity[:3]) for entity in entities}
        assert spans == set(few) and spans <= set(row)
        assert all(0 < score <= 1 for score in row.values())
    _, missed = entity_scores(one, y[150:])
    _, fewer = entity_scores(many, y[150:])
    assert 0 < fewer < missed


def test_bad_risks_are_refused():
    with pytest.raises(ValueError, match=r"risk is 1\.5"):
        conformal_threshold([0.5], 1.5)
