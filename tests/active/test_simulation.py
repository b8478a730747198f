"""Studies: the same result however they are run, and what a study says."""

import signal
import subprocess
import sys
from copy import deepcopy
from functools import partial

import numpy as np
import pytest

from skcw import (
    CWSequenceTagger,
    MultiClassCW,
    MultiClassPA,
    make_tagging_pipeline,
)
from skcw.active import ActiveLearner, Budget, simulate, simulation
from skcw.active.pool import noisy_labels
from skcw.active.simulation import Strategy, Study, _described
from skcw.active.utilities import least_confident_word
from skcw.features import WindowFeatures
from tests.active.problems import records, rows, sentences

X, Y = sentences()
TEST = {"test": (X[60:], Y[60:])}
SMALL = {"n_initial": 6, "batch": 4, "evaluate_every": 2, "n_repeats": 2, **TEST}
STRATEGIES = {
    "random": "random",
    "kd": partial(least_confident_word, method="kd-pc", n_draws=10),
    "PA": Strategy("min-margin", max_overlap=0.8, update="online"),
}


def study(**options):
    options = {**SMALL, "budget": Budget(labels=30), **options}
    return simulate(CWSequenceTagger(), X[:60], Y[:60], STRATEGIES, **options)


def without_times(study):
    return [{k: v for k, v in r.items() if k != "seconds"} for r in study.records]


@pytest.fixture(scope="module")
def plain():
    return study()


def test_a_study_scores_every_strategy_and_repetition(plain):
    assert plain.names == ["random", "kd", "PA"]
    assert len(plain.runs("kd")) == 2
    assert plain.curve("kd", by="n_labels")[0].tolist() == [6, 14, 22, 30]
    starts = {(r["repeat"], r["n_words"]) for r in plain.records if r["n_labels"] == 6}
    assert len(starts) == 2  # all strategies begin with the same items


def test_the_score_is_that_of_a_fit_to_what_was_labeled(plain):
    whole = simulate(
        CWSequenceTagger(),
        X[:20],
        Y[:20],
        ["random"],
        n_initial=5,
        batch=20,
        evaluate_every=1,
        n_repeats=1,
        **TEST,
    )
    assert whole.records[-1]["n_labels"] == 20
    assert whole.records[-1]["n_words"] == sum(map(len, X[:20]))


def test_processes_do_not_change_the_result(plain):
    assert without_times(study(n_jobs=2)) == without_times(plain)


def test_a_cache_gives_the_same_result_and_saves_the_work(plain, tmp_path, monkeypatch):
    first = study(cache=tmp_path)
    assert without_times(first) == without_times(plain)
    monkeypatch.setattr(simulation, "_run", None)
    assert study(cache=tmp_path).records == first.records


def test_a_cache_tells_studies_apart(tmp_path):
    study(cache=tmp_path)
    n_files = len(list(tmp_path.iterdir()))
    for options in ({"noise": 0.1}, {"batch": lambda n: 4}, {"batch": lambda n: 5}):
        study(cache=tmp_path, **options)
        n_files += 6
        assert len(list(tmp_path.iterdir())) == n_files


def test_what_a_learner_is_made_of_tells_studies_apart(tmp_path):
    names = [f"name{i}" for i in range(60)]
    options = {"budget": Budget(labels=6), "n_repeats": 1, "cache": tmp_path}

    def files(lexicon):
        features = WindowFeatures(
            ["word", "in(word, names)"], lexicons={"names": lexicon}
        )
        tagger = make_tagging_pipeline(features, CWSequenceTagger())
        simulate(tagger, X[:60], Y[:60], "random", **{**SMALL, **options})
        return len(list(tmp_path.iterdir()))

    # scikit-learn's repr is cut after 30 names.
    assert [files(names), files(names[:39] + ["other"] + names[40:])] == [1, 2]
    assert files(list(names)) == 2


def calls_itself(least):
    def count(n):
        return n if n == least else count(n - 1)

    return count


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (calls_itself(1), calls_itself(2)),
        (np.arange(9), np.arange(9) + (np.arange(9) == 4)),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}),
        (lambda n: (lambda k: k + 1)(n), lambda n: (lambda k: k + 2)(n)),
        (Budget(words=3).should_stop, Budget(words=4).should_stop),
        (len, max),
        (MultiClassPA, MultiClassCW),
    ],
)
def test_values_that_differ_are_described_differently(one, other):
    assert _described(one) == _described(deepcopy(one)) != _described(other)


def test_a_new_version_does_its_own_studies(tmp_path, monkeypatch):
    small = {"budget": Budget(labels=6), "n_repeats": 1, "cache": tmp_path}
    study(**small)
    monkeypatch.setattr(simulation, "__version__", "99.0")
    study(**small)
    assert len(list(tmp_path.iterdir())) == 6


# The same study in a process that dies when three of its six runs are complete. It must
# not find the sources of the package, so it imports nothing from here.
KILLED = """
import os, signal, sys
from functools import partial
from skcw import CWSequenceTagger
from skcw.active import ActiveLearner, Budget, simulate, simulation
from skcw.active import simulation
from skcw.active.simulation import Strategy
from skcw.active.utilities import least_confident_word
from skcw.datasets import make_tagged_corpus

X, y = map(list, make_tagged_corpus(80, random_state=0, return_X_y=True))
write = simulation._Store.write
def write_and_die(self, *run):
    write(self, *run)
    if len(list(self.folder.glob("*.json"))) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
simulation._Store.write = write_and_die
strategies = {
    "random": "random",
    "kd": partial(least_confident_word, method="kd-pc", n_draws=10),
    "PA": Strategy("min-margin", max_overlap=0.8, update="online"),
}
simulate(
    CWSequenceTagger(), X[:60], y[:60], strategies, test=(X[60:], y[60:]),
    n_initial=6, batch=4, evaluate_every=2, n_repeats=2, budget=Budget(labels=30),
    cache=sys.argv[1],
)
"""


def test_a_study_that_was_killed_goes_on_with_the_same_result(plain, tmp_path):
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False)
    assert killed.returncode == -signal.SIGKILL
    done = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    assert len(done) == 3
    assert without_times(study(cache=tmp_path)) == without_times(plain)
    # What was complete is not done again.
    assert {path: path.stat().st_mtime_ns for path in done} == done


def test_a_run_ends_with_its_budget_its_score_or_its_pool():
    assert study(budget=Budget(words=100)).records[-1]["n_words"] < 200
    assert study(until_score=0.0).records[-1]["n_labels"] == 6
    options = {"n_initial": 6, "n_repeats": 1, **TEST}
    small = simulate(CWSequenceTagger(), X[:25], Y[:25], "random", **options)
    assert small.records[-1]["n_labels"] == 25


def test_a_criterion_is_recorded_and_does_not_end_the_run():
    found = study(stopping=lambda: Budget(labels=20))
    own = [r for r in found.records if r["strategy"] == "kd" and r["repeat"] == 0]
    assert [r["stopped"] is None for r in own] == [True, True, False, False]


def test_the_protocol_of_the_first_paper_on_rows():
    R, labels = rows(100)
    found = simulate(
        MultiClassCW(1.0),
        R[:80],
        labels[:80],
        {"ACL": "normalized-margin", "PA": Strategy("margin", MultiClassPA())},
        test=(R[80:], labels[80:]),
        n_initial=2,
        batch=1,
        n_candidates=None,
        budget=Budget(labels=40),
        evaluate_every=1,
        update="online",
        n_repeats=2,
    )
    sizes, scores = found.runs("ACL", "n_labels")[0]
    assert sizes.tolist() == list(range(2, 41))
    assert scores[-5:].mean() > 0.7


def test_noise_makes_a_study_worse():
    clean, noisy = (
        study(noise=noise, budget=Budget(labels=60), n_repeats=3)
        for noise in (0.0, 0.4)
    )
    scores = [np.mean([y[-1] for _, y in s.runs("random")]) for s in (clean, noisy)]
    assert scores[1] < scores[0] - 0.02


def test_an_annotator_errs_at_the_given_rate_and_always_in_the_same_way():
    y = ["a", "b"] * 2000
    noisy = noisy_labels(y, 0.1, random_state=3)
    wrong = np.mean(noisy != np.array(y))
    assert wrong == pytest.approx(0.1, abs=0.02)
    np.testing.assert_array_equal(
        noisy[:100], noisy_labels(y[:100], 0.1, random_state=3)
    )
    sequences = noisy_labels(Y, 0.2)
    assert [len(row) for row in sequences] == [len(row) for row in Y]
    assert sentences()[1] == Y
    # An error is not cut to the length of the truth.
    assert noisy_labels(np.array(["a"]), 1.0, classes=["a", "bcd"]).tolist() == ["bcd"]


def test_the_first_rows_have_all_classes():
    R, labels = rows(200, n_classes=4)
    labels[labels == "d"] = "c"
    labels[7] = "d"
    options = {"test": (R, labels), "n_initial": 4, "n_repeats": 1}
    found = simulate(
        MultiClassCW(), R, labels, "random", budget=Budget(labels=8), **options
    )
    assert found.records[0]["n_labels"] == 4


def test_what_a_score_costs_is_read_between_two_scores():
    found = Study([*records([0.5, 0.7, 0.6]), *records([0.2, 0.3], 1)], ["s"])
    np.testing.assert_allclose(found.needed("s", 0.6), [150.0, np.nan])
    assert found.needed("s", 0.1).tolist() == [100.0, 100.0]
    assert found.needed("s", 0.7, by="n_labels")[0] == 2


def test_curves_are_means_where_all_runs_were():
    found = Study([*records([0.5, 0.7]), *records([0.3, 0.5, 0.9], 1, 50)], ["s"])
    sizes, mean, low, high = found.curve("s")
    assert sizes.tolist() == [100, 150]
    np.testing.assert_allclose([mean, low, high], [[0.5, 0.75], [0.5, 0.6], [0.5, 0.9]])
    _, mean, low, high = found.curve("s", sizes=[125])
    np.testing.assert_allclose([mean[0], low[0], high[0]], [0.625, 0.55, 0.7])


def test_a_study_is_a_table(plain):
    frame = plain.to_frame()
    assert len(frame) == len(plain.records)
    assert frame["strategy"].unique().tolist() == plain.names
    assert plain.column("score") == frame["score"].tolist()
    lines = str(plain).splitlines()
    assert [line.split()[0] for line in lines[2:]] == plain.names
    for call in (
        lambda: plain.column("f"),
        lambda: plain.runs("no"),
        lambda: plain.curve("kd", by="money"),
        lambda: Study([], ["kd"]).curve("kd"),
    ):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_initial": 0}, "n_initial"),
        ({"n_initial": 61}, "n_initial is 61, but the pool has 60"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"evaluate_every": 0}, "evaluate_every"),
        ({"random_state": -1}, "random_state"),
        ({"batch": 0}, "batch must be a whole number from 1"),
        ({"batch": "ten"}, "batch must be a whole number from 1"),
    ],
)
def test_bad_studies_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        study(**options)


@pytest.mark.parametrize(
    ("strategies", "options", "message"),
    [
        (["random", "min-marign"], {}, "utility is 'min-marign'; for sequences it mus"),
        ({"a": Strategy("random", update="refti")}, {}, "update is 'refti'"),
        ({"a": Strategy("random", batch=0)}, {}, "batch must be a whole number"),
        ({"a": Strategy("random", max_overlap=2)}, {}, "max_overlap must be"),
        (["random"], {"budget": 100}, "budget is 100; it must be a Budget"),
        (["random"], {"scoring": "spam_f1"}, "spam_f1"),
    ],
)
def test_a_mistake_is_found_before_the_first_run(
    strategies, options, message, monkeypatch
):
    monkeypatch.setattr(simulation, "_run", None)
    options = {**SMALL, **options}
    with pytest.raises((ValueError, TypeError), match=message):
        simulate(CWSequenceTagger(), X[:60], Y[:60], strategies, **options)


@pytest.mark.parametrize("update", [None, "online"])
def test_a_study_gives_the_numbers_of_the_loop(update):
    given = {} if update is None else {"update": update}
    found = simulate(
        CWSequenceTagger(),
        X[:60],
        Y[:60],
        "min-margin",
        budget=Budget(labels=30),
        random_state=3,
        **{**SMALL, "n_repeats": 1, "batch": 1, "evaluate_every": 1},
        **given,
    )
    tagger = CWSequenceTagger(random_state=3)
    learner = ActiveLearner(
        tagger, X[:60], utility="min-margin", random_state=3, **given
    )
    first = np.random.default_rng([3, 0]).permutation(60)[:6]
    learner.seed(first, [Y[i] for i in first])
    scores = []
    for _ in range(25):
        scores.append(learner.estimator_.score(*TEST["test"]))
        asked = learner.query(1)
        learner.teach(asked, [Y[i] for i in asked])
    assert found.column("score") == scores


def test_a_study_needs_labels_strategies_and_two_classes():
    tagger = CWSequenceTagger()
    with pytest.raises(ValueError, match="X has 60 items but y has 59"):
        simulate(tagger, X[:60], Y[:59], "random", **TEST)
    with pytest.raises(ValueError, match="no strategy"):
        simulate(tagger, X[:60], Y[:60], {}, **TEST)
    R, labels = rows()
    with pytest.raises(ValueError, match="one class only"):
        simulate(MultiClassCW(), R, ["a"] * 60, "random", test=(R, labels))


def test_progress_is_shown_when_asked_for(capsys):
    study(verbose=1)
    assert "runs" in capsys.readouterr().err
    study()
    assert capsys.readouterr().err == ""
