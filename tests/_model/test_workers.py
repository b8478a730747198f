"""Workers of joblib: results in order, lost workers replaced, errors that say why."""

import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config

import skcw
from skcw._model.shards import ShardFolder, Workers
from skcw.exceptions import ShardError


def run_tasks(function, tasks, n_jobs, folder=None):
    with Workers(n_jobs, folder) as workers:
        yield from workers.run(function, tasks)


def by_value(function):
    """Let a function travel as it is: workers do not know the folder of tests."""
    function.__module__ = "__main__"
    return function


@by_value
def square(number):
    return number * number


@by_value
def square_unless_negative(number):
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number * number


@by_value
def die_once(task):
    """Kill the process that comes here first with this task."""
    number, marker = task
    if number == 1 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@by_value
def die(number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@by_value
def total(shared):
    return int(shared.open()[1]["numbers"].sum())


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_results_come_in_the_order_of_tasks(backend):
    with parallel_config(backend):
        assert list(run_tasks(square, range(7), n_jobs=2)) == [k**2 for k in range(7)]


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_the_error_of_a_task_is_raised_as_it_is(backend):
    with parallel_config(backend), pytest.raises(ValueError, match="-3 is negative"):
        list(run_tasks(square_unless_negative, [1, -3, 2], n_jobs=2))


def test_a_worker_that_is_killed_is_replaced(tmp_path):
    tasks = [(number, tmp_path / "marker") for number in range(4)]
    with parallel_config("loky"):
        assert list(run_tasks(die_once, tasks, n_jobs=2)) == [0, 1, 2, 3]
    assert (tmp_path / "marker").exists()


@by_value
def die_once_each(task):
    number, folder = task
    marker = Path(folder, str(number))
    if number % 2 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_every_task_may_cost_a_worker(tmp_path):
    tasks = [(number, tmp_path) for number in range(8)]
    with parallel_config("loky"):
        assert list(run_tasks(die_once_each, tasks, n_jobs=2)) == list(range(8))


def test_an_error_of_this_process_is_raised_as_it_is(monkeypatch):
    def fail(*given):
        raise MemoryError("no room for a task")

    monkeypatch.setattr("skcw._model.shards.write_shard", fail)
    with ShardFolder() as folder, parallel_config("loky"):
        tasks = [folder.share({"numbers": np.arange(3)})] * 2
        with pytest.raises(MemoryError, match="no room for a task"):
            list(run_tasks(total, tasks, 2, folder))


def test_a_task_that_kills_every_worker_is_named():
    with parallel_config("loky"), pytest.raises(ShardError, match="learn shard 3: 3"):
        list(run_tasks(die, range(4), n_jobs=2))


@pytest.mark.parametrize(("backend", "n_files"), [("threading", 0), ("loky", 3)])
def test_processes_share_files_and_threads_need_none(backend, n_files, tmp_path):
    with ShardFolder(tmp_path) as folder:
        tasks = [folder.share({"numbers": np.arange(k)}) for k in range(3)]
        for _ in range(2):
            with parallel_config(backend):
                assert list(run_tasks(total, tasks, 2, folder)) == [0, 0, 1]
        assert folder.n_files == n_files
        assert len(list(tmp_path.glob("skcw-shards-*/*.shard"))) == n_files
    assert not list(tmp_path.iterdir())


def test_a_shard_that_cannot_be_written_is_the_error(tmp_path):
    lost = tmp_path / "lost"
    lost.mkdir()
    with ShardFolder(lost) as folder:
        lost.rmdir()
        tasks = [folder.share({"numbers": np.arange(k)}) for k in range(3)]
        with parallel_config("loky"), pytest.raises(FileNotFoundError, match="lost"):
            list(run_tasks(total, tasks, 2, folder))


def test_a_file_that_nobody_needs_any_more_is_removed(tmp_path):
    with ShardFolder(tmp_path) as folder:
        shared = folder.share({"numbers": np.arange(3), "none": None})
        shared.remove()
        assert shared.n_bytes == 3 * 8
        elsewhere = pickle.loads(pickle.dumps(shared))
        assert elsewhere.open()[1]["numbers"].tolist() == [0, 1, 2]
        shared.remove()
        assert not list(tmp_path.glob("*/*.shard"))
        with pytest.raises(ShardError, match="cannot be opened"):
            elsewhere.open()


def test_the_usual_folder_is_that_of_joblib(tmp_path, monkeypatch):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with ShardFolder() as folder:
        pickle.dumps(folder.share({"numbers": np.arange(3)}))
        assert Path(folder.path).parent == tmp_path


def test_a_bound_kernel_carries_nothing_that_was_learned():
    tagger = skcw.CWSequenceTagger(phi=0.5).fit([["Ann", "left"]], [["PER", "O"]])
    sent = pickle.dumps(tagger._bound_kernel(1.0))
    assert pickle.loads(sent).keywords["phi"] == 0.5
    assert len(sent) < 2000
