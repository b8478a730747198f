"""skcw tag --jobs: the same file from several processes, in the same order."""

import os
import pickle
import signal
import sys

import pytest

from skcw.cli import tag as _jobs
from skcw.cli.main import make_parsers
from skcw.io import corpora as _inputs
from skcw.io import read_columns, write_json_lines
from skcw.io.csv_format import csv_text

BLOCKS = range(23)


@pytest.fixture(autouse=True)
def importable(request, monkeypatch):
    """Let workers, which are new processes, import the functions of this file.

    The project comes last: its sources must not hide the installed package.
    """
    project = str(request.config.rootpath)
    others = [folder for folder in sys.path if folder != project]
    monkeypatch.setattr(sys, "path", [*others, project])


def doubling(factor):
    """Return what a worker does; it tells in which process."""
    return lambda block: (factor * block, os.getpid())


def dying(number):
    def work(block):
        if block == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    return work


def failing(number):
    def work(block):
        if block == number:
            raise ValueError(f"block {block} is bad")
        return block

    return work


def missing(path):
    raise FileNotFoundError(2, "No such file", path)


def test_work_is_done_elsewhere_in_order_and_no_more_is_read_than_there_is_room_for():
    read, found = [], []

    def blocks():
        for block in BLOCKS:
            read.append(block)
            yield block

    for one in _jobs.in_order(blocks(), 2, doubling, (3,)):
        found.append(one)
        assert len(read) <= len(found) + _jobs.AHEAD * 2
    assert [(block, value) for block, (value, _) in found] == [
        (block, 3 * block) for block in BLOCKS
    ]
    assert os.getpid() not in {process for _, (_, process) in found}


def test_workers_know_every_option(run, files, monkeypatch):
    seen = []

    def noted(blocks, n_jobs, open_worker, arguments):
        seen.append(arguments)
        yield from ()

    monkeypatch.setattr(_jobs, "in_order", noted)
    assert run("tag", files / "m.skcw", files / "test.conll", "--jobs", 2)[0] == 0
    ((wanted, model),) = seen
    assert model is None
    (parser,) = make_parsers(["tag"])[1].values()
    known = {action.dest for action in parser._actions} - {"help"}
    assert known <= set(wanted)
    assert pickle.loads(pickle.dumps(wanted)) == wanted


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_worker_that_dies_is_told():
    with pytest.raises(ValueError, match="one of 2 worker processes ended before"):
        list(_jobs.in_order(BLOCKS, 2, dying, (3,)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_is_that_of_the_first_bad_block(n_jobs):
    tagged = _jobs.in_order(BLOCKS, n_jobs, failing, (4,))
    found = []
    with pytest.raises(ValueError, match="block 4 is bad"):
        found.extend(block for block, _ in tagged)
    assert found == [0, 1, 2, 3]


def test_what_keeps_workers_from_starting_is_told():
    with pytest.raises(FileNotFoundError, match=r"No such file: 'm\.skcw'"):
        list(_jobs.in_order(BLOCKS, 2, missing, ("m.skcw",)))


@pytest.fixture
def inputs(files, tmp_path):
    """Return the same sentences in three formats."""
    X, y = read_columns(
        files / "test.conll", names=["word", "pos", "tag"]
    ).split_label()
    text = (files / "test.conll").read_text()
    (tmp_path / "a.conll").write_text(text.replace("\n\n", "\n\n\n", 3))
    write_json_lines(tmp_path / "a.jsonl", X, y)
    rows = [(str(s), word, pos) for s, row in enumerate(X) for word, pos in row]
    (tmp_path / "a.csv").write_text(csv_text([("sentence_id", "word", "pos"), *rows]))
    return [tmp_path / f"a.{kind}" for kind in ("conll", "jsonl", "csv")]


def test_the_file_is_the_same_to_the_byte(run, files, inputs, monkeypatch):
    monkeypatch.setattr(_inputs, "BLOCK_TOKENS", 60)
    for name in inputs:
        args = ["tag", files / "m.skcw", name, "-q", "-c", "-n", 2]
        alone = run(*args)
        assert alone[0] == 0
        assert run(*args, "--jobs", 2) == alone


def test_what_is_accepted_is_counted_over_workers(run, files, tmp_path, monkeypatch):
    monkeypatch.setattr(_inputs, "BLOCK_TOKENS", 60)
    model = tmp_path / "m"
    calibration = ["--calibrate", files / "test.conll", "--accept-risk", "0.3"]
    args = ["-o", model, "-q", "--passes", 2, *calibration]
    assert run("train", files / "train.conll", *args)[0] == 0
    alone = run("tag", model, files / "test.conll", "--accept")
    assert "accepted " in alone[2]
    assert run("tag", model, files / "test.conll", "--accept", "-j", 2) == alone


@pytest.mark.parametrize(
    "options", [["--text"], ["--sentence-buffered"], ["--jobs", 0], ["--jobs", "x"]]
)
def test_wrong_usage(run, files, options):
    jobs = [] if "--jobs" in options else ["--jobs", 2]
    code, _, err = run("tag", files / "m.skcw", files / "test.conll", *jobs, *options)
    assert code == 2 and "jobs" in err
