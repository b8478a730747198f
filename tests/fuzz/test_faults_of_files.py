"""Faults while files are written: a kill, a full disk, a reader that goes away."""

import errno
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

import skcw
from skcw import CRFSequenceTagger, CWSequenceTagger, make_tagging_pipeline
from skcw._util.files import replacing
from skcw.cli import main
from skcw.io import write_columns
from tests.fuzz.isolation import OK, run_cases
from tests.fuzz.kills import (
    BROKEN,
    DRAFT,
    NEW,
    OLD,
    kill_many,
    killed_while_saving,
    large_models,
)
from tests.fuzz.saved_models import X, Y, short

LIMIT = 4096


@contextmanager
def small_disk():
    """Let no file become larger than some bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, former)


def test_a_kill_leaves_the_old_model_or_the_new_one():
    counts = kill_many(25)
    assert counts[OLD] + counts[NEW] == 25
    assert counts[OLD] and not counts[DRAFT]


def test_the_kill_would_be_seen_to_break_a_model(tmp_path, monkeypatch):
    old, new = large_models()
    save = CWSequenceTagger.save

    def save_in_place(tagger, path):
        if tagger is old:
            return save(tagger, path)
        os.truncate(path, 1000)
        signal.pause()

    monkeypatch.setattr(CWSequenceTagger, "save", save_in_place)
    [found] = killed_while_saving(old, new, 0.2, tmp_path)
    assert found.startswith(BROKEN)


def test_a_draft_that_was_left_is_taken_away_by_the_next_save(tmp_path):
    path = tmp_path / "model"
    tagger = short().fit(X, Y)
    tagger.save(path)
    (tmp_path / ".model.draft").write_bytes(b"whole, but never renamed")
    tagger.save(path)
    assert os.listdir(tmp_path) == ["model"]


def test_a_draft_has_no_name(tmp_path):
    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    with replacing(tmp_path / "result") as draft:
        draft.write_text("new")
        assert os.listdir(tmp_path) == []


def test_where_every_file_has_a_name_the_draft_is_removed(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "result"
    with replacing(path) as draft:
        draft.write_text("new")
        assert draft.name.startswith(".result.") and draft.name.endswith(".draft")
    assert path.read_text() == "new"
    with pytest.raises(RuntimeError), replacing(path) as draft:
        draft.write_text("half")
        raise RuntimeError
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["result"]


# Each learns first, and returns what saves it: CRFsuite itself writes while it learns.
SAVERS = {
    "tagger": lambda: short().fit(X, Y).save,
    "pipeline": lambda: make_tagging_pipeline(["word"]).fit(X, Y).save,
    "CRFsuite": lambda: CRFSequenceTagger(max_iter=2).fit(X, Y).to_crfsuite,
    "columns": lambda: lambda path: write_columns(path, X * 20, Y * 20),
}


@pytest.mark.parametrize("what", SAVERS)
@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_names_the_file_and_leaves_the_old_one(what, there, tmp_path):
    path = tmp_path / "result"
    if there:
        path.write_text("old")
    save = SAVERS[what]()
    with small_disk(), pytest.raises(OSError, match=str(path)) as caught:
        save(path)
    assert caught.value.errno == errno.EFBIG
    assert os.listdir(tmp_path) == (["result"] if there else [])
    assert not there or path.read_text() == "old"


def test_the_command_line_names_the_file_on_a_full_disk(tmp_path, capsys):
    corpus = tmp_path / "train.conll"
    corpus.write_text("Ann NNP B-PER\nleft VBD O\n\n" * 5)
    with small_disk():
        command = ["train", str(corpus), "-o", str(tmp_path / "model"), "--quiet"]
        assert main(command) == 1
    told = capsys.readouterr().err
    assert f"{tmp_path / 'model'}: File too large" in told
    assert os.listdir(tmp_path) == ["train.conll"]


def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path):
    pipeline = make_tagging_pipeline(["word"], short()).fit(X, Y)
    pipeline.save(tmp_path / "model")
    write_columns(tmp_path / "new.conll", X * 400)
    command = [sys.executable, "-P", "-m", "skcw", "tag", "model", "new.conll"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 128 + signal.SIGPIPE
    assert told == b""


def test_a_file_that_is_changed_in_place_does_not_touch_an_open_model(tmp_path):
    path = tmp_path / "model"
    tagger = short().fit(X, Y)
    tagger.save(path)
    opened = skcw.load(path)
    expected = opened.predict(X).tolist()
    os.truncate(path, 100)
    report = run_cases(lambda _: opened.predict(X).tolist() == expected or 1 / 0, [0])
    assert report.counts[OK] == 1, report.findings
