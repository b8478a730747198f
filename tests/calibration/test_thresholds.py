"""Thresholds: the laws of risk control, and risks that no threshold keeps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw.calibration import recall_threshold, risk_threshold
from skcw.calibration.risk_control import RiskThreshold
from tests.reference.risk_control import row_threshold_of, threshold_of


def sentences(n, seed=0, n_words=8, quality=1.0):
    """Return outcomes and confidences of sentences, some of which are hard."""
    rng = np.random.RandomState(seed)
    hard = rng.beta(0.5, 8, size=(n, 1))
    confidence = np.clip(1 - hard * rng.uniform(0.2, 2, size=(n, n_words)), 0, 1)
    correct = rng.uniform(size=confidence.shape) < confidence**quality
    return correct, confidence


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_threshold_equals_that_of_trying_all(seed, alpha):
    correct, confidence = sentences(60, seed, n_words=4)
    confidence = confidence.round(2)
    group = np.repeat(np.arange(60), 4)
    (found,) = risk_threshold(
        correct, confidence, alpha, confidence_level=0.8, max_errors_per_group=2
    )
    expected = threshold_of(correct.ravel(), confidence.ravel(), group, alpha, 0.2, 2.0)
    assert found.threshold == expected


def rows(n, seed, decimals=2):
    """Return outcomes and confidences of rows: the surer, the more often right."""
    rng = np.random.RandomState(seed)
    confidence = rng.beta(4, 0.5, size=n).round(decimals)
    return rng.uniform(size=n) < confidence, confidence


@pytest.mark.parametrize("n", [5, 12, 20, 60, 150])
@pytest.mark.parametrize("alpha", [0.1, 0.2])
def test_the_threshold_of_rows_equals_that_of_trying_all(n, alpha):
    for seed in range(8):
        correct, confidence = rows(n, seed)
        (found,) = risk_threshold(correct, confidence, alpha, confidence_level=0.8)
        expected = row_threshold_of(correct, confidence, alpha, 0.2)
        assert found.threshold == expected
        alone = [[each] for each in correct], [[each] for each in confidence]
        assert risk_threshold(*alone, alpha, confidence_level=0.8) == [found]


@pytest.mark.parametrize("decimals", [1, 9])
def test_the_bound_of_rows_holds_as_often_as_its_level(decimals):
    truth, sure = rows(40_000, 99, decimals)
    broken = shares = 0
    for seed in range(300):
        drawn = np.random.RandomState(seed).randint(len(truth), size=200)
        (made,) = risk_threshold(truth[drawn], sure[drawn], 0.08, confidence_level=0.8)
        accepted = sure >= made.threshold
        broken += made.holds and (~truth[accepted]).mean() > 0.08
        shares += accepted.mean() / 300
    # 60 of 300 are allowed; three standard errors more are 81.
    assert broken <= 60 and shares > 0.6


def test_rows_that_are_all_right_or_all_wrong():
    confidence = np.linspace(0.5, 1, 400)
    (made,) = risk_threshold(np.ones(400, dtype=bool), confidence)
    assert made.accepted == 1.0
    (made,) = risk_threshold(np.ones(298, dtype=bool), confidence[:298])
    assert not made.holds and made.needed == 299
    assert not risk_threshold(np.zeros(400, dtype=bool), confidence, 0.5)[0].holds


def test_the_bound_holds_more_often_than_its_level():
    truth, sure = sentences(40_000, seed=99)
    broken = 0
    for seed in range(150):
        drawn = np.random.RandomState(seed).randint(len(truth), size=400)
        (made,) = risk_threshold(truth[drawn], sure[drawn], 0.05, confidence_level=0.8)
        accepted = sure >= made.threshold
        broken += made.holds and (~truth[accepted]).mean() > 0.05
    # 30 of 150 are allowed; five standard errors more would be 54.
    assert broken <= 30


@settings(max_examples=15)
@given(st.integers(0, 100), st.integers(2, 3), st.sampled_from([0.03, 0.1]))
def test_further_copies_of_all_sentences_never_lower_the_share(seed, times, alpha):
    correct, confidence = sentences(150, seed)
    (once,) = risk_threshold(correct, confidence, alpha)
    (often,) = risk_threshold(
        np.tile(correct, (times, 1)), np.tile(confidence, (times, 1)), alpha
    )
    assert often.accepted >= once.accepted


def test_the_order_of_sentences_changes_nothing():
    correct, confidence = sentences(500)
    order = np.random.RandomState(1).permutation(500)
    risks = [0.02, 0.1]
    found = risk_threshold(correct, confidence, risks)
    turned = risk_threshold(correct[order], confidence[order], risks)
    for one, other in zip(found, turned, strict=True):
        assert one.threshold == other.threshold and one.accepted == other.accepted


def test_a_risk_near_one_accepts_all():
    correct, confidence = sentences(100)
    assert risk_threshold(correct, confidence, 0.999)[0].accepted == 1.0


def test_without_a_wrong_word_all_is_accepted():
    _, confidence = sentences(400)
    (made,) = risk_threshold(np.ones_like(confidence, dtype=bool), confidence, 0.02)
    assert made.accepted == 1.0 and made.observed == 0.0


def test_larger_risks_accept_more_and_together_costs_something():
    correct, confidence = sentences(800)
    risks = [0.01, 0.03, 0.1]
    shares = [made.accepted for made in risk_threshold(correct, confidence, risks)]
    assert shares == sorted(shares) and shares[0] < shares[-1]
    careful = risk_threshold(correct, confidence, risks, together=True)
    assert all(a.accepted <= b for a, b in zip(careful, shares, strict=True))


def test_repeated_words_of_a_sentence_are_no_further_evidence():
    # As if independent, each word three times makes the bound easier; by sentences
    # it does not.
    correct, confidence = sentences(300, seed=3)
    thrice = np.repeat(correct, 3, axis=1), np.repeat(confidence, 3, axis=1)
    (words,) = risk_threshold(correct.ravel(), confidence.ravel(), 0.05)
    (fooled,) = risk_threshold(thrice[0].ravel(), thrice[1].ravel(), 0.05)
    assert fooled.accepted >= words.accepted
    (careful,) = risk_threshold(*thrice, 0.05, max_errors_per_group=9)
    (plain,) = risk_threshold(correct, confidence, 0.05, max_errors_per_group=3)
    assert careful.accepted == pytest.approx(plain.accepted, abs=0.02)


def test_too_few_sentences_say_how_many_would_do():
    correct, confidence = sentences(80)
    (made,) = risk_threshold(np.ones_like(correct), confidence, 0.001)
    assert not made.holds and made.accepted == 0.0 and 80 < made.needed < np.inf
    assert str(made).startswith("80 sentences cannot guarantee a risk of 0.1 %; about ")
    enough = int(1.1 * made.needed) // 80 + 1
    confidence = np.tile(confidence, (enough, 1))
    assert risk_threshold(np.ones(confidence.shape), confidence, 0.001)[0].holds


def test_a_single_sentence_guarantees_nothing():
    (made,) = risk_threshold([[True] * 5], [[0.9] * 5], 0.01)
    assert not made.holds and str(made).startswith(
        "1 sentence cannot guarantee a risk of 1 %"
    )


def test_a_bad_model_is_refused_with_the_reason():
    rng = np.random.RandomState(0)
    (made,) = risk_threshold(
        rng.uniform(size=(400, 5)) < 0.5, rng.uniform(size=(400, 5))
    )
    assert "too many of even the most confident words are wrong" in str(made)


def test_equal_confidences_are_accepted_or_left_together():
    correct = np.ones((500, 4), dtype=bool)
    confidence = np.full((500, 4), 0.5)
    assert risk_threshold(correct, confidence, 0.05)[0].accepted == 1.0
    correct[::4] = False
    assert risk_threshold(correct, confidence, 0.05)[0].accepted == 0.0


def test_infinite_confidences_are_the_surest():
    correct, confidence = sentences(400)
    confidence[confidence > 0.99] = np.inf
    (made,) = risk_threshold(correct, confidence, 0.05)
    assert made.holds and np.isfinite(made.threshold)
    assert made.accepted == (confidence >= made.threshold).mean()


def test_documents_need_more_than_sentences():
    # Errors come in whole documents: ten sentences in a row are right or wrong.
    correct, confidence = sentences(600)
    order = np.argsort(correct.sum(axis=1), kind="stable")
    correct, confidence = correct[order], confidence[order]
    (by_sentence,) = risk_threshold(correct, confidence, 0.07)
    documents = np.repeat(np.arange(60), 10)
    (by_document,) = risk_threshold(correct, confidence, 0.07, groups=documents)
    assert by_document.n_groups == 60
    assert by_document.accepted < by_sentence.accepted
    words = np.repeat(documents, 8)
    assert risk_threshold(correct, confidence, 0.07, groups=words) == [by_document]


@pytest.mark.parametrize("risk", [0, 1, -0.1, 2, "1 %", None, True, []])
def test_a_risk_outside_of_zero_and_one_is_refused(risk):
    with pytest.raises(ValueError, match="risk is"):
        risk_threshold([[True]], [[0.5]], risk)


@pytest.mark.parametrize(
    ("level", "error"),
    [(0, ValueError), (1, ValueError), (95, ValueError), ("high", TypeError)],
)
def test_a_level_outside_of_zero_and_one_is_refused(level, error):
    with pytest.raises(error, match="confidence_level is"):
        risk_threshold([[True]], [[0.5]], confidence_level=level)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="nothing to calibrate on"):
        risk_threshold([], [])
    with pytest.raises(ValueError, match="1 tokens in confidence but 2"):
        risk_threshold([[True, True]], [[0.5]])
    with pytest.raises(ValueError, match="NaN"):
        risk_threshold([[True]], [[np.nan]])
    with pytest.raises(ValueError, match="must be True where the label is right"):
        risk_threshold([[0.5]], [[0.5]])
    with pytest.raises(ValueError, match="max_errors_per_group"):
        risk_threshold([[True]], [[0.5]], max_errors_per_group=0)
    with pytest.raises(ValueError, match="groups has 3 entries"):
        risk_threshold([[True]], [[0.5]], groups=[1, 2, 3])
    with pytest.raises(ValueError, match="groups split sequence 0"):
        risk_threshold([[True, True], [True]], [[0.5, 0.5], [1]], groups=[0, 1, 1])


def entities(n, seed=0):
    rng = np.random.RandomState(seed)
    confidence = rng.beta(6, 1, size=(n, 3))
    correct = rng.uniform(size=(n, 3)) < confidence
    n_true = correct.sum(axis=1) + (rng.uniform(size=n) < 0.1)
    return correct, confidence, n_true


def test_what_is_accepted_misses_few_true_entities():
    correct, confidence, n_true = entities(2000)
    found = recall_threshold(correct, confidence, n_true, [0.1, 0.2])
    for made, alpha in zip(found, (0.1, 0.2), strict=True):
        missed = n_true.sum() - (correct & (confidence >= made.threshold)).sum()
        assert missed / n_true.sum() == pytest.approx(made.observed)
        assert made.observed < alpha and made.recall
    assert found[0].threshold < found[1].threshold
    assert "at most 20 % of the true ones are missing" in str(found[1])


def test_a_recall_that_is_out_of_reach_is_refused():
    correct, confidence, n_true = entities(500)
    (made,) = recall_threshold(correct, confidence, n_true + 3, 0.1)
    assert not made.holds and "of the true ones are missed by all entities" in str(made)
    with pytest.raises(ValueError, match="n_true must hold"):
        recall_threshold(correct, confidence, np.zeros(500))


def test_a_risk_that_is_out_of_reach_names_no_number():
    made = RiskThreshold(0.01, 0.95, "words", np.inf, 0.0, 0.0, 10, np.inf)
    assert not made.holds and "about" not in made.refusal()
