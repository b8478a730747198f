"""Claims of the papers, as the benchmarks state them, can be true and can be false."""

from functools import cache

import numpy as np
import pytest

from tests.benchmarks.modules import benchmark_module

tables = benchmark_module("papers.mejer2010.tables")
tagging = benchmark_module("papers.mejer2010.claims")
table3 = benchmark_module("papers.mejer2010.table3")
trials = benchmark_module("papers.mejer2010.confidence_trials")
confidence = benchmark_module("papers.mejer2010.confidence_claims")
multiclass = benchmark_module("papers.crammer2009.figures")

WORLDS = 200
N_FOLDS = 3
SCORES = ("precision", "recall", "f1")
SETS = ("NP chunking", "Spanish", "Dutch")
EXACT = 1e-12


@cache
def worlds(a_world):
    """Return many outcomes, drawn at random."""
    rng = np.random.default_rng(0)
    return [a_world(rng) for _ in range(WORLDS)]


def signs(leads):
    """Return which of -1 and 1 occur as signs."""
    return {int(np.sign(lead)) for lead in leads} - {0}


def a_set(rng):
    """Return scores as those of the folds, drawn at random."""
    level = {name: rng.uniform(0.6, 0.8, 3) for name in tables.LEARNERS}
    spread = rng.choice([0.001, 0.1])
    rate = {name: rng.uniform(0.05, 2.0) for name in tables.LEARNERS}

    def curve(name):
        path = 1 - np.exp(-rate[name] * np.arange(1, tables.PASSES + 1))
        scores = level[name] * path[:, None] + spread * rng.normal(size=(1, 3))
        return [
            dict(zip(("precision", "recall", "f1"), s, strict=True)) for s in scores
        ]

    curves = {name: [curve(name) for _ in range(N_FOLDS)] for name in tables.LEARNERS}
    return {"curves": curves, "fold_sizes": [90, 10]}


@pytest.mark.parametrize("claim", tagging.CLAIMS, ids=lambda claim: claim.text)
def test_claims_about_learners_can_hold_and_fail(claim):
    leads = (tagging.lead_of(claim, one)[0] for one in worlds(a_set))
    assert signs(leads) == {-1, 1}


def a_row(rng):
    count = rng.integers(1, 2000, 20)
    share = rng.uniform(0, 1, 20) if rng.random() < 0.5 else rng.choice([0.01, 0.99])
    return {
        "ap": rng.uniform(),
        "rmse": rng.uniform(),
        "errors": int(rng.integers(2000, 2100)),
        "left_5000": float(rng.integers(0, 200)),
        "bins": {"count": count.tolist(), "right": (count * share).tolist()},
    }


def a_trial(rng):
    rows = [row.name for row in (*trials.PAPERS_ROWS, trials.MORE_DRAWS)]
    curve = {"n_best": {"grid": [10, 30, 80], "scores": rng.uniform(size=3).tolist()}}
    fits = {name: {"curves": curve} for name in ("kbv", "wkbv")}
    scores = ("Viterbi", "KD-PC votes", "KD-Fixed votes")
    return {
        "rows": {name: a_row(rng) for name in (*rows, trials.RANDOM)},
        "tuned": {trials.PAPERS_RULE: fits},
        "inference": {
            name: {"f1": rng.uniform(), "token_error": rng.uniform()} for name in scores
        },
    }


def a_split(rng):
    crf = {"rows": {trials.CRF: a_row(rng)}}
    return {
        trials.CW: a_trial(rng),
        trials.PA: a_trial(rng),
        trials.CRF: crf,
    }


@pytest.mark.parametrize("claim", confidence.CLAIMS, ids=lambda claim: claim.text)
def test_claims_about_confidence_can_hold_and_fail(claim):
    rng, leads = np.random.default_rng(1), []
    for _ in range(WORLDS):
        split = a_split(rng)
        leads += [
            claim.lead(split, name) for name in ("NP chunking", "Spanish", "Dutch")
        ]
    assert signs(lead for lead in leads if lead is not None) == {-1, 1}


def test_votes_of_the_best_viterbi_labelings_fall_from_30_to_80_only():
    # The best of all values is at 10: a maximum minus the end would hold wrongly.
    fit = {"curves": {"n_best": {"grid": [10, 30, 80], "scores": [0.9, 0.3, 0.4]}}}
    split = {trials.CW: {"tuned": {trials.PAPERS_RULE: {"kbv": fit}}}}
    claim = next(one for one in confidence.CLAIMS if "of KBV falls" in one.text)
    assert claim.lead(split, "Dutch") == pytest.approx(0.3 - 0.4, abs=EXACT)


def a_step(rng, sharpness):
    """Return the figures of one pass; wrong rows are rarer in sure bins, or not."""
    count = rng.integers(20, 400, 9)
    share = np.clip(np.linspace(0.7, 0.05, 9) * sharpness, 0, 1)
    if rng.random() < 0.5:
        rng.shuffle(share)
    wrong = np.rint(count * share).astype(int)
    return {
        "error": rng.uniform(),
        "entropy": rng.uniform(),
        "right": rng.uniform(),
        "wrong": rng.uniform(),
        "count": count.tolist(),
        "wrong_count": wrong.tolist(),
    }


def test_claims_about_probabilities_can_hold_and_fail():
    rng, leads = np.random.default_rng(2), {}
    for _ in range(WORLDS):
        steps = {str(i + 1): a_step(rng, rng.uniform(0.3, 1.4)) for i in range(3)}
        steps[multiclass.MAXENT] = a_step(rng, rng.uniform(0.3, 1.4))
        for one in multiclass.probability_claims(steps):
            leads.setdefault(one["claim"], []).extend(one["leads"].values())
    decided = [claim for claim, found in leads.items() if signs(found) != {-1, 1}]
    assert decided == []


def test_sure_rows_are_compared_by_hand():
    step = {"error": 0.2, "entropy": 0.5, "right": 0.7, "wrong": 0.4}
    cw = step | {"count": [20] * 8 + [40], "wrong_count": [10] * 8 + [2]}
    maxent = step | {"count": [20] * 8 + [90], "wrong_count": [10] * 8 + [9]}
    found = multiclass.probability_claims({"1": cw, "2": cw, multiclass.MAXENT: maxent})
    lead = {one["claim"].partition(":")[0]: one["leads"]["2"] for one in found}
    assert lead["errors among sure rows"] == pytest.approx(9 / 250 - 2 / 200, abs=EXACT)
    sure = next(one for one in found if "fewer sure rows" in one["claim"])
    assert sure["leads"]["2"] == pytest.approx(90 / 250 - 40 / 200, abs=EXACT)


def test_marks_compare_learners_that_find_their_rival_in_the_same_way():
    rng = np.random.default_rng(3)
    one = a_set(rng)
    rows = tables._learners(one, {})
    f1 = {name: [c[-1]["f1"] for c in runs] for name, runs in one["curves"].items()}
    for name in tables.PLAIN:
        for learner, reference in (
            (name, "AROW"),
            (tables.augmented(name), tables.augmented("AROW")),
        ):
            expected = tables.paired_tests(f1[learner], f1[reference], one)
            assert (rows[learner]["p"], rows[learner]["p_corrected"]) == expected
        gain = np.mean(f1[tables.augmented(name)]) - np.mean(f1[name])
        assert rows[tables.augmented(name)]["decoding"] == pytest.approx(
            gain, abs=EXACT
        )
        assert "decoding" not in rows[name]


def test_the_papers_learners_decode_plainly():
    for name, (tagger, _, _) in tables.PLAIN.items():
        assert tagger.margin_cost == 0
        assert tables.LEARNERS[tables.augmented(name)][0].margin_cost > 0


def test_the_papers_winner_is_judged_by_its_lead():
    rows = {table3.CW: {"f1": 0.7}, table3.CRF: {"f1": 0.9}}
    found = {name: table3.papers_winner_leads(name, rows) for name in SETS}
    assert {name: ahead for name, (ahead, _) in found.items()} == {
        "NP chunking": table3.CW,
        "Spanish": table3.CRF,
        "Dutch": table3.CW,
    }
    leads = [lead for _, lead in found.values()]
    assert leads == pytest.approx([-0.2, 0.2, -0.2], abs=EXACT)
