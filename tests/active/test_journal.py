"""The journal: going on after a crash, and one writer at a time."""

import errno
import json
import os
import pickle
import signal
import subprocess
import sys
from copy import deepcopy
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from skcw import CRFSequenceTagger, CWSequenceTagger, MultiClassCW
from skcw._util import files as _files
from skcw.active import ActiveLearner
from skcw.active.learner import UPDATES
from skcw.active.utilities import least_confident_word
from skcw.exceptions import ModelFileError
from tests.active.problems import advance, rows, sentences, weights

X, Y = sentences()
TAGGER = CWSequenceTagger(random_state=0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


def same(one, other):
    """Tell whether two learners know and will do the same."""
    return (
        one.history_ == other.history_
        and one.labels == other.labels
        and one.pending.tolist() == other.pending.tolist()
        and np.array_equal(weights(one), weights(other))
        and one.query(5).tolist() == other.query(5).tolist()
    )


def test_integers_are_labels_of_rows_and_survive_a_journal(tmp_path):
    R, labels = rows()
    codes = np.searchsorted(["a", "b"], labels)
    with ActiveLearner(MultiClassCW(), R, journal=tmp_path / "j") as learner:
        learner.seed(np.arange(8), codes[:8])
    again = ActiveLearner.resume(tmp_path / "j", MultiClassCW(), R)
    np.testing.assert_array_equal(again.estimator_.classes_, [0, 1])
    assert again.estimator_.predict(R).dtype.kind == "i"


@pytest.mark.parametrize("update", UPDATES)
def test_a_study_goes_on_from_its_journal_as_if_nothing_had_happened(tmp_path, update):
    options = {"update": update, "n_candidates": 30, "random_state": 5}
    path = tmp_path / "study.jsonl"
    # Some rounds are too small for "lazy" to fit another model to rank by.
    learner = advance(ActiveLearner(TAGGER, X, journal=path, **options), 18, 1)
    learner.audit(2)
    learner.close()
    again = ActiveLearner.resume(path, TAGGER, X)
    whole = advance(ActiveLearner(TAGGER, X, **options), 18, 1)
    whole.audit(2)
    audited = whole.audited_estimator_.belief_.weights
    assert np.array_equal(again.audited_estimator_.belief_.weights, audited)
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
    advance(ActiveLearner(TAGGER, X, journal=path)).close()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"taught": [1, 2], "lab')
    again = ActiveLearner.resume(path, TAGGER, X)
    assert path.read_bytes() == whole
    assert same(again, advance(ActiveLearner(TAGGER, X)))


def test_a_killed_process_loses_no_label(tmp_path):
    path = tmp_path / "study.jsonl"
    program = f"""
import os, signal
from skcw import CWSequenceTagger
from skcw.active import ActiveLearner
from skcw.datasets import make_tagged_corpus
X, y = make_tagged_corpus(80, random_state=0, return_X_y=True)
class Killed(CWSequenceTagger):
    def fit(self, X, y):
        if len(y) == 16:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)
learner = ActiveLearner(Killed(random_state=0), list(X), journal={str(path)!r})
while True:
    asked = learner.query(4)
    learner.teach(asked, [y[i] for i in asked])
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode < 0
    # The fourth batch was given, but the process died while it was being learned.
    again = ActiveLearner.resume(path, TAGGER, X)
    assert same(again, advance(ActiveLearner(TAGGER, X), 4))


def test_only_the_last_of_many_fits_is_done_again(tmp_path, monkeypatch):
    path = tmp_path / "j"
    crf = CRFSequenceTagger(max_iter=10)
    learner = ActiveLearner(crf, X, update="refit", journal=path)
    advance(learner).close()
    fits = []
    fit = CRFSequenceTagger.fit
    monkeypatch.setattr(
        CRFSequenceTagger, "fit", lambda *args: fits.append(1) or fit(*args)
    )
    again = ActiveLearner.resume(path, crf, X)
    assert again.estimator_ is again.estimator_
    assert len(fits) == 1
    assert again.history_ == learner.history_


def test_another_pool_is_refused(tmp_path):
    advance(ActiveLearner(TAGGER, X, journal=tmp_path / "j"), 1).close()
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(tmp_path / "j", TAGGER, X[1:])
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(tmp_path / "j", TAGGER, [X[1], X[0], *X[2:]])


def test_pools_of_matrices_are_told_apart(tmp_path):
    R, labels = rows()
    with ActiveLearner(MultiClassCW(), R, journal=tmp_path / "j") as learner:
        learner.seed(np.arange(9), labels[:9])
    other = R.copy()
    other.data[0] = 2.0
    same_rows = sparse.csr_array(R)
    ActiveLearner.resume(tmp_path / "j", MultiClassCW(), same_rows).close()
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(tmp_path / "j", MultiClassCW(), other)


def test_data_frames_are_told_apart_by_what_they_hold(tmp_path):
    from pandas import DataFrame

    R, labels = rows()
    frame = DataFrame(R.toarray(), columns=[f"word{i}" for i in range(R.shape[1])])
    learner = ActiveLearner(MultiClassCW(), frame, journal=tmp_path / "j")
    learner.seed(np.arange(9), labels[:9])
    learner.teach(learner.query(2), labels[learner.pending])
    learner.close()
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(tmp_path / "j", MultiClassCW(), frame + 1.0)
    assert ActiveLearner.resume(tmp_path / "j", MultiClassCW(), frame).n_labels == 11


def test_what_is_no_journal_is_refused(tmp_path):
    path = tmp_path / "j"
    cut = "hello\nand a line without an end"
    for text in ("", "hello\n", cut, "[1]\n", '{"format": 99}\n', '{"format": 1}\n'):
        path.write_text(text)
        with pytest.raises(ModelFileError, match="journal"):
            ActiveLearner.resume(path, TAGGER, X)
        assert path.read_text() == text


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


def test_a_second_learner_is_told_that_the_journal_is_taken(path):
    learner = advance(ActiveLearner(TAGGER, X, journal=path), 1)
    written = path.read_bytes()
    with pytest.raises(BlockingIOError, match=r"another learner writes to .*study"):
        ActiveLearner.resume(path, TAGGER, X)
    with pytest.raises(BlockingIOError, match=r"another learner writes to .*study"):
        ActiveLearner(TAGGER, X, journal=path)
    assert path.read_bytes() == written
    advance(learner, 1)
    learner.close()
    assert advance(ActiveLearner.resume(path, TAGGER, X), 1).n_labels == 12


def test_an_attempt_to_resume_that_fails_leaves_no_lock(path):
    advance(ActiveLearner(TAGGER, X, journal=path), 1).close()
    with pytest.raises(ModelFileError, match="another pool"):
        ActiveLearner.resume(path, TAGGER, X[1:])
    assert ActiveLearner.resume(path, TAGGER, X).n_labels == 4


HOLDER = """
import sys, time
from skcw import CWSequenceTagger
from skcw.active import ActiveLearner
learner = ActiveLearner(CWSequenceTagger(), [["a"], ["b"]], journal=sys.argv[1])
learner.teach(learner.query(1), [["O"]])
print("ready", flush=True)
time.sleep(600)
"""


def test_the_lock_of_another_process_dies_with_it(path):
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(BlockingIOError, match="another learner writes to"):
            ActiveLearner.resume(path, CWSequenceTagger(), [["a"], ["b"]])
        holder.send_signal(signal.SIGKILL)
    again = ActiveLearner.resume(path, CWSequenceTagger(), [["a"], ["b"]])
    assert again.n_labels == 1


def test_a_closed_learner_answers_but_does_not_ask(path):
    with ActiveLearner(TAGGER, X, journal=path) as learner:
        advance(learner, 1)
    assert learner.n_labels == 4 and len(learner.estimator_.predict(X)) == len(X)
    written = path.read_bytes()
    for _ in range(2):
        with pytest.raises(ValueError, match=r"study.jsonl is closed.*resume"):
            learner.query(1)
    assert path.read_bytes() == written and not len(learner.pending)


def test_a_learner_that_nobody_holds_is_closed(path):
    advance(ActiveLearner(TAGGER, X, journal=path), 1)
    assert ActiveLearner.resume(path, TAGGER, X).n_labels == 4


def test_a_learner_without_a_file_has_nothing_to_close():
    learner = ActiveLearner(TAGGER, X)
    learner.close()
    assert advance(learner, 1).n_labels == 4


@pytest.mark.parametrize("copy", [deepcopy, pickle.dumps])
def test_a_learner_with_a_file_is_not_copied(path, copy):
    learner = advance(ActiveLearner(TAGGER, X, journal=path), 1)
    with pytest.raises(TypeError, match=r"writes to .*study.jsonl cannot be copied"):
        copy(learner)
    in_memory = advance(ActiveLearner(TAGGER, X), 1)
    assert same(pickle.loads(pickle.dumps(in_memory)), in_memory)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_does_not_write(path):
    learner = advance(ActiveLearner(TAGGER, X, journal=path), 1)
    written = path.read_bytes()
    child = os.fork()
    if not child:
        try:
            learner.query(1)
        except BlockingIOError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert path.read_bytes() == written
    advance(learner, 1)


def test_a_full_disk_leaves_the_journal_as_it_was(path, monkeypatch):
    learner = advance(ActiveLearner(TAGGER, X, journal=path), 1)
    written = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space"):
            learner.query(1)
    assert path.read_bytes() == written and not len(learner.pending)
    advance(learner, 1).close()
    assert same(
        ActiveLearner.resume(path, TAGGER, X), advance(ActiveLearner(TAGGER, X), 2)
    )


def test_a_journal_that_vanished_is_missed_and_can_be_saved(path, tmp_path):
    learner = advance(ActiveLearner(TAGGER, X, journal=path), 1)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"study.jsonl was removed or replaced"):
        learner.query(1)
    learner.save(tmp_path / "other")
    again = ActiveLearner.resume(tmp_path / "other", TAGGER, X)
    assert again.labels == learner.labels


def test_a_journal_saved_under_its_own_name_goes_on(path):
    learner = advance(ActiveLearner(TAGGER, X, journal=path), 1)
    learner.save(path)
    advance(learner, 1).close()
    assert ActiveLearner.resume(path, TAGGER, X).n_labels == 8


def test_a_journal_stays_where_it_is_when_the_program_goes_elsewhere(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    learner = ActiveLearner(TAGGER, X, journal="study.jsonl")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    advance(learner, 1).close()
    assert ActiveLearner.resume(tmp_path / "study.jsonl", TAGGER, X).n_labels == 4


def test_what_cannot_be_written_makes_no_file(path):
    with pytest.raises(TypeError, match="cannot be kept in a journal"):
        ActiveLearner(TAGGER, X, classes=[{"a", "set"}], journal=path)
    assert not path.exists()


def test_a_file_system_without_locks_is_named(path, monkeypatch):
    def refuse(file, flags):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(
        _files, "fcntl", SimpleNamespace(flock=refuse, LOCK_EX=2, LOCK_NB=4)
    )
    with pytest.warns(UserWarning, match=r"study.jsonl cannot be locked"):
        learner = ActiveLearner(TAGGER, X, journal=path)
    assert advance(learner, 1).n_labels == 4


def test_where_fcntl_is_missing_the_lock_is_that_of_windows(path, monkeypatch):
    holders = []

    def locking(descriptor, mode, n_bytes):
        """Lock a file once, at the position where it stands."""
        where = os.lseek(descriptor, 0, os.SEEK_CUR)
        assert (mode, n_bytes) == ("now", 1) and where > 1 << 32
        if holders:
            raise OSError(errno.EACCES, "permission denied")
        holders.append(descriptor)

    windows = SimpleNamespace(locking=locking, LK_NBLCK="now")
    monkeypatch.setattr(_files, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    learner = advance(ActiveLearner(TAGGER, X, journal=path), 1)
    with pytest.raises(BlockingIOError, match="another learner writes to"):
        ActiveLearner.resume(path, TAGGER, X)
    learner.close()
    holders.clear()
    assert ActiveLearner.resume(path, TAGGER, X).n_labels == 4
