"""``ActiveLearner``: the loop, its records, and going on after a crash."""

import json
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from skcw import CRFSequenceTagger, CWSequenceTagger, MultiClassCW
from skcw.active import ActiveLearner, least_confident_word
from skcw.data import SequenceEncoder
from skcw.exceptions import ModelFileError
from tests.active.problems import rows, sentences

X, Y = sentences()
WORDS = [len(x) for x in X]
TAGGER = CWSequenceTagger(random_state=0)


def answers(positions):
    return [Y[i] for i in positions]


def advance(learner, n_rounds=3, n=4):
    for _ in range(n_rounds):
        asked = learner.query(n)
        learner.teach(asked, answers(asked))
    return learner


def weights(learner):
    return learner.estimator_.belief_.weights


def same(one, other):
    """Tell whether two learners know and will do the same."""
    return (
        one.history_ == other.history_
        and one.labels == other.labels
        and one.pending.tolist() == other.pending.tolist()
        and np.array_equal(weights(one), weights(other))
        and one.query(5).tolist() == other.query(5).tolist()
    )


def test_the_loop_labels_what_it_asks_for():
    learner = advance(ActiveLearner(TAGGER, X))
    assert learner.n_labels == 12 == len(set(learner.labelled))
    assert learner.n_words == sum(WORDS[i] for i in learner.labelled)
    assert learner.labels == answers(learner.labelled)
    assert len(learner.unlabelled) == len(X) - 12
    assert [r["how"] for r in learner.history_] == ["cold start", "utility", "utility"]
    assert [r["n_labels"] for r in learner.history_] == [4, 8, 12]
    assert not len(learner.pending)


def test_the_estimator_that_was_given_stays_as_it_was():
    tagger = CWSequenceTagger(random_state=0)
    advance(ActiveLearner(tagger, X), 1)
    assert not hasattr(tagger, "belief_")


def test_online_learning_is_one_partial_fit_for_each_batch():
    learner = advance(ActiveLearner(TAGGER, X))
    tagger = CWSequenceTagger(random_state=0)
    for record in learner.history_:
        own = record["positions"]
        tagger.partial_fit([X[i] for i in own], answers(own))
    np.testing.assert_array_equal(weights(learner), tagger.belief_.weights)


def test_refitting_is_a_fit_to_all_labels_in_their_order():
    learner = advance(ActiveLearner(TAGGER, X, update="refit"))
    own = learner.labelled
    tagger = CWSequenceTagger(random_state=0).fit([X[i] for i in own], answers(own))
    np.testing.assert_array_equal(weights(learner), tagger.belief_.weights)


def test_the_most_useful_items_are_asked_first():
    learner = advance(ActiveLearner(TAGGER, X, utility="min-margin"), 1, 10)
    left = learner.unlabelled
    from skcw.active import min_margin

    utility = min_margin(learner.estimator_, [X[i] for i in left])
    order = sorted(range(len(left)), key=lambda k: (-utility[k], WORDS[left[k]]))
    assert learner.query(5).tolist() == left[order[:5]].tolist()


def test_questions_may_be_bought_by_the_word():
    learner = advance(ActiveLearner(TAGGER, X), 1)
    asked = learner.query(words=40)
    assert 0 < sum(WORDS[i] for i in asked) <= 40


def test_what_is_pending_is_not_asked_again_unless_it_is_released():
    learner = ActiveLearner(TAGGER, X[:6])
    first = learner.query(4)
    assert set(learner.query(2)) == set(range(6)) - set(first)
    assert len(learner.pending) == 6
    learner.release(first[:1])
    assert learner.query(1).tolist() == first[:1].tolist()


def test_answers_may_come_in_parts_and_in_any_order():
    learner = ActiveLearner(TAGGER, X)
    asked = learner.query(4)
    learner.teach(asked[[2, 0]], answers(asked[[2, 0]]))
    assert learner.pending.tolist() == asked[[1, 3]].tolist()
    learner.teach(asked[1], [Y[asked[1]]])
    assert learner.n_labels == 3


def test_the_model_is_judged_by_labels_before_it_learns_them():
    learner = advance(ActiveLearner(TAGGER, X), 1, 10)
    asked = learner.query(5)
    guess = learner.estimator_.predict([X[i] for i in asked])
    wrong = sum(
        a != b
        for own, i in zip(guess, asked, strict=True)
        for a, b in zip(own, Y[i], strict=True)
    )
    learner.teach(asked, answers(asked))
    assert learner.history_[-1]["n_wrong"] == wrong
    assert learner.history_[0]["n_wrong"] is None


def test_a_fitted_estimator_is_asked_at_once():
    tagger = CWSequenceTagger(random_state=0).fit(X[:20], Y[:20])
    learner = ActiveLearner(tagger, X[20:])
    learner.teach(learner.query(2), [Y[20 + i] for i in learner.pending])
    assert learner.history_[0]["how"] == "utility"


@pytest.mark.parametrize("utility", ["min-margin", "min-conf-margin", "random"])
def test_a_model_that_knows_one_label_goes_on_asking(utility):
    learner = ActiveLearner(TAGGER, X, utility=utility)
    first = learner.query(3)
    learner.teach(first, [["O"] * WORDS[i] for i in first])
    assert len(learner.query(len(X) - 3)) == len(X) - 3


@pytest.mark.parametrize("form", [list, "objects", "batch"])
def test_the_form_of_the_pool_does_not_matter(form):
    pool = X
    if form == "objects":
        pool = np.empty(len(X), dtype=object)
        pool[:] = X
    elif form == "batch":
        pool = SequenceEncoder().fit_transform(X)
    learner = advance(ActiveLearner(TAGGER, pool, max_overlap=0.6))
    expected = advance(ActiveLearner(TAGGER, X, max_overlap=0.6))
    assert learner.history_ == expected.history_


@pytest.mark.parametrize("update", ["online", "refit"])
def test_rows_are_learnt_like_sequences(update):
    R, labels = rows()
    learner = ActiveLearner(
        MultiClassCW(random_state=0),
        R,
        utility="normalised-margin",
        update=update,
        classes=["a", "b"],
    )
    learner.seed([0, 1, 2, 3, 4], labels[:5])
    for _ in range(20):
        asked = learner.query(2)
        learner.teach(asked, labels[asked])
    assert learner.n_labels == learner.n_words == 45
    assert learner.estimator_.score(R, labels) > 0.85


def test_integers_are_labels_of_rows_and_survive_a_journal(tmp_path):
    R, labels = rows()
    codes = np.searchsorted(["a", "b"], labels)
    learner = ActiveLearner(MultiClassCW(), R, journal=tmp_path / "j")
    learner.seed(np.arange(8), codes[:8])
    again = ActiveLearner.resume(tmp_path / "j", MultiClassCW(), R)
    np.testing.assert_array_equal(again.estimator_.classes_, [0, 1])
    assert again.estimator_.predict(R).dtype.kind == "i"


@pytest.mark.parametrize("update", ["online", "refit"])
def test_a_study_goes_on_from_its_journal_as_if_nothing_had_happened(tmp_path, update):
    options = {"update": update, "n_candidates": 30, "random_state": 5}
    path = tmp_path / "study.jsonl"
    learner = advance(ActiveLearner(TAGGER, X, journal=path, **options))
    learner.query(3)
    again = ActiveLearner.resume(path, TAGGER, X)
    whole = advance(ActiveLearner(TAGGER, X, **options))
    whole.query(3)
    assert same(again, whole)


def test_a_saved_study_is_resumed_with_its_own_utility(tmp_path):
    utility = partial(least_confident_word, method="kd-pc")
    learner = advance(ActiveLearner(TAGGER, X, utility=utility))
    learner.save(tmp_path / "j")
    with pytest.raises(ValueError, match="is a function; give it again"):
        ActiveLearner.resume(tmp_path / "j", TAGGER, X)
    assert same(
        ActiveLearner.resume(tmp_path / "j", TAGGER, X, utility=utility), learner
    )


def test_a_line_that_a_crash_cut_off_is_forgotten(tmp_path):
    path = tmp_path / "j"
    learner = advance(ActiveLearner(TAGGER, X, journal=path))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"taught": [1, 2], "lab')
    again = ActiveLearner.resume(path, TAGGER, X)
    assert path.read_bytes() == whole
    assert same(again, learner)


def test_a_killed_process_loses_no_label(tmp_path):
    path = tmp_path / "study.jsonl"
    program = f"""
import os, signal
from skcw import CWSequenceTagger
from skcw.active import ActiveLearner
from skcw.datasets import make_tagged_corpus
X, y = make_tagged_corpus(80, random_state=0, return_X_y=True)
class Killed(CWSequenceTagger):
    def partial_fit(self, X, y, **options):
        if getattr(self, "n_calls", 0) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        self.n_calls = getattr(self, "n_calls", 0) + 1
        return super().partial_fit(X, y, **options)
learner = ActiveLearner(Killed(random_state=0), list(X), journal={str(path)!r})
while True:
    asked = learner.query(4)
    learner.teach(asked, [y[i] for i in asked])
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode < 0
    # The fourth batch was given, but the process died while it was being learnt.
    again = ActiveLearner.resume(path, TAGGER, X)
    assert same(again, advance(ActiveLearner(TAGGER, X), 4))


def test_only_the_last_of_many_fits_is_done_again(tmp_path, monkeypatch):
    path = tmp_path / "j"
    crf = CRFSequenceTagger(max_iter=10)
    learner = ActiveLearner(crf, X, update="refit", journal=path)
    advance(learner)
    fits = []
    fit = CRFSequenceTagger.fit
    monkeypatch.setattr(
        CRFSequenceTagger, "fit", lambda *args: fits.append(1) or fit(*args)
    )
    again = ActiveLearner.resume(path, crf, X)
    assert len(fits) == 1
    assert again.history_ == learner.history_


def test_another_pool_is_refused(tmp_path):
    advance(ActiveLearner(TAGGER, X, journal=tmp_path / "j"), 1)
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(tmp_path / "j", TAGGER, X[1:])
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(tmp_path / "j", TAGGER, [X[1], X[0], *X[2:]])


def test_pools_of_matrices_are_told_apart(tmp_path):
    R, labels = rows()
    learner = ActiveLearner(MultiClassCW(), R, journal=tmp_path / "j")
    learner.seed(np.arange(9), labels[:9])
    other = R.copy()
    other.data[0] = 2.0
    ActiveLearner.resume(tmp_path / "j", MultiClassCW(), sparse.csr_array(R))
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(tmp_path / "j", MultiClassCW(), other)


def test_data_frames_are_told_apart_by_what_they_hold(tmp_path):
    from pandas import DataFrame

    R, labels = rows()
    frame = DataFrame(R.toarray(), columns=[f"word{i}" for i in range(R.shape[1])])
    learner = ActiveLearner(MultiClassCW(), frame, journal=tmp_path / "j")
    learner.seed(np.arange(9), labels[:9])
    learner.teach(learner.query(2), labels[learner.pending])
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(tmp_path / "j", MultiClassCW(), frame + 1.0)
    assert ActiveLearner.resume(tmp_path / "j", MultiClassCW(), frame).n_labels == 11


def test_what_is_no_journal_is_refused(tmp_path):
    path = tmp_path / "j"
    for text in ("", "hello\n", "[1]\n", '{"format": 99}\n'):
        path.write_text(text)
        with pytest.raises(ModelFileError, match="journal"):
            ActiveLearner.resume(path, TAGGER, X)


def test_a_journal_is_never_written_over(tmp_path):
    path = tmp_path / "j"
    path.write_text("precious")
    with pytest.raises(FileExistsError, match="resume"):
        ActiveLearner(TAGGER, X, journal=path)
    assert path.read_text() == "precious"


def test_every_line_of_a_journal_is_plain_json(tmp_path):
    path = tmp_path / "j"
    advance(ActiveLearner(TAGGER, X, journal=path), 2)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert list(records[0]) == ["format", "settings", "pool"]
    assert [("asked" in r, "taught" in r) for r in records[1:]] == [
        (True, False),
        (False, True),
    ] * 2
