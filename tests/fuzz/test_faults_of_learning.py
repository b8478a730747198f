"""Ctrl-C and a lack of memory in fit and predict: an error, and the model as it was."""

import os
import resource
import signal
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.fuzz.isolation import DOCUMENTED_ERROR, run_cases
from tests.learners import data_of, learners, said_by

LEARNERS = learners()
# So much more than the process uses: far too little. With just about enough, memory may
# end inside NumPy, which ends the process with it (see SECURITY.md).
ROOM = [1 << 16, 1 << 18]
# CRFsuite allocates without looking, and ends the process (see SECURITY.md).
UNSAFE = {"CRF"}


def big(kind):
    """Return data that take some memory to learn from."""
    X, y = data_of(kind, 1)
    if kind in ("sentences", "lists"):
        return X * 20, y * 20
    return (X.repeat(40, axis=0), y.repeat(40))


def fitted(name):
    """Return a model, what it says, and its kind of data."""
    make, kind = LEARNERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(*data_of(kind, 0))
        return model, said_by(model, kind), kind


def within(room, work):
    """Call a function that may take so many bytes beyond those in use.

    What the process has taken and does not use would serve otherwise, so that is
    hoarded first. A thread has all of its stack from the start: the main one's grows,
    and where it cannot the process ends, whatever it is at.
    """

    def limited():
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used, hard))
        hoard = []
        for size in (1 << 20, 1 << 16, 1 << 12):
            with suppress(MemoryError):
                while True:
                    hoard.append(bytes(size))
        resource.setrlimit(resource.RLIMIT_AS, (used + room, hard))
        try:
            return work()
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
            hoard.clear()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(limited).result()


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in UNSAFE])
def test_a_lack_of_memory_in_fit_leaves_the_model_as_it_was(name):
    model, before, kind = fitted(name)
    X, y = big(kind)

    def fit_and_ask(room):
        nonlocal before
        try:
            within(room, lambda: model.fit(X, y))
        except MemoryError:
            assert said_by(model, kind) == before
            raise
        before = said_by(model, kind)

    report = run_cases(fit_and_ask, ROOM, documented=(MemoryError,))
    assert not report.findings
    assert report.counts[DOCUMENTED_ERROR]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_lack_of_memory_in_predict_is_an_error_and_no_crash(name):
    model, _, kind = fitted(name)
    X = big(kind)[0]
    asks = {"lists": "decision_function", "words": "__call__"}
    ask = getattr(model, asks.get(kind, "predict"))

    report = run_cases(
        lambda room: within(room, lambda: ask(X)),
        ROOM,
        documented=(MemoryError,),
    )
    assert not report.findings
    assert report.counts[DOCUMENTED_ERROR]


@pytest.mark.parametrize("name", LEARNERS)
def test_ctrl_c_in_fit_leaves_the_model_as_it_was_or_done(name):
    model, before, kind = fitted(name)
    X, y = big(kind)

    def interrupted(delay):
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            timer.start()
            model.fit(X, y)
            timer.join()
        except KeyboardInterrupt:
            pass
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        said = said_by(model, kind)
        if said != before:
            # Then the fit was done before the signal was heard.
            assert said == said_by(LEARNERS[name][0]().fit(X, y), kind)

    report = run_cases(interrupted, [0.001, 0.02])
    assert not report.findings, report.findings
