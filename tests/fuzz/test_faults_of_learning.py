"""Ctrl-C and a lack of memory in fit and predict: an error, and the model as it was."""

import os
import signal
import threading
import warnings

import pytest

from tests.fuzz.isolation import DOCUMENTED_ERROR, OK, run_cases
from tests.learners import data_of, learners, said_by

LEARNERS = learners()
# So much more than the process has: from far too little to just about enough.
ROOM = [1 << 18, 1 << 20, 1 << 21, 1 << 23]
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


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in UNSAFE])
def test_a_lack_of_memory_in_fit_leaves_the_model_as_it_was(name):
    model, before, kind = fitted(name)
    X, y = big(kind)

    def fit(seed):
        try:
            model.fit(X, y)
        except MemoryError:
            # Whatever it took is given back with the error.
            pass
        else:
            return "done"
        raise MemoryError

    def fit_and_ask(seed):
        try:
            fit(seed)
        except MemoryError:
            assert said_by(model, kind) == before
            raise

    for room in ROOM:
        report = run_cases(fit, [0], documented=(MemoryError,), memory=room)
        assert not report.findings
    # The model is asked without the limit, in a child that has failed within it.
    report = run_cases(limited(fit_and_ask), [0], documented=(MemoryError,))
    assert not report.findings


def limited(case):
    """Return a case that has little memory while it learns, and enough after that."""
    import resource

    def run(seed):
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), hard))
        try:
            return case(seed)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

    return run


@pytest.mark.parametrize("name", LEARNERS)
def test_a_lack_of_memory_in_predict_is_an_error_and_no_crash(name):
    model, _, kind = fitted(name)
    X = big(kind)[0]
    asks = {"lists": "decision_function", "words": "__call__"}
    ask = getattr(model, asks.get(kind, "predict"))
    for room in ROOM:
        report = run_cases(
            lambda seed: ask(X), [0], documented=(MemoryError,), memory=room
        )
        assert not report.findings
    assert sum(report.counts[kind] for kind in (OK, DOCUMENTED_ERROR)) == 1


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
