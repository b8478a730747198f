"""Run cases in a forked child, so that a crash or an endless loop is a counted finding.

A case is a function of a seed. What it returns is searched for NaN, what it raises is
sorted into documented errors and others. One child runs many cases and reports each of
them through a pipe; when it dies or is silent for too long, the parent counts the case
it was at, and a new child takes up the rest. That costs a fork per finding, not one per
case.
"""

import argparse
import faulthandler
import gc
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from numbers import Number
from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcw.exceptions import SkcwError

# What a user is told to expect of bad input; scikit-learn's own errors are ValueErrors.
DOCUMENTED = (SkcwError, ValueError, TypeError)

OK, DOCUMENTED_ERROR = "ok", "documented error"
OTHER, NAN, CRASH, HANG = "other exception", "NaN", "crash", "hang"
KINDS = (OK, DOCUMENTED_ERROR, OTHER, NAN, CRASH, HANG)
FINDINGS = (OTHER, NAN, CRASH, HANG)


@dataclass
class Finding:
    """A case that went wrong: its seed, how, and the end of the traceback."""

    seed: object
    kind: str
    detail: str

    def __str__(self):
        return f"seed {self.seed}: {self.kind}: {self.detail}"


@dataclass
class Report:
    """How many cases ended in which way, what went wrong, and the slowest one."""

    counts: Counter = field(default_factory=Counter)
    findings: list = field(default_factory=list)
    messages: Counter = field(default_factory=Counter)
    slowest: float = 0.0

    def add(self, seed, kind, detail="", seconds=0.0):
        """Count one case."""
        self.counts[kind] += 1
        self.slowest = max(self.slowest, seconds)
        if kind in FINDINGS:
            self.findings.append(Finding(seed, kind, detail))
        elif kind == DOCUMENTED_ERROR:
            self.messages[detail] += 1

    def __add__(self, other):
        return Report(
            self.counts + other.counts,
            self.findings + other.findings,
            self.messages + other.messages,
            max(self.slowest, other.slowest),
        )

    def row(self):
        """Return the counts as one line of a table."""
        return "  ".join(f"{self.counts[kind]:>{len(kind)}}" for kind in KINDS)


class Limits(NamedTuple):
    """What a child may take before it is stopped.

    A hang is a matter of the time for which the case itself computes, so that a busy
    machine makes none; the clock on the wall is there for those that wait for ever.
    """

    cpu_seconds: float = 10.0
    wall_seconds: float = 60.0
    # Bytes of address space besides what the process has; None for any number.
    memory: int | None = None


def run_cases(case, seeds, *, documented=DOCUMENTED, report=None, **limits):
    """Run ``case(seed)`` for every seed in forked children and count how it ends.

    Parameters
    ----------
    case : callable
        Takes a seed; what it returns must hold no NaN.
    seeds : iterable
        Whatever `case` takes.
    documented : tuple of exception classes
        The errors that a case may end in.
    report : Report, default=None
        A report to add to.
    **limits : dict
        Fields of `Limits` that are not as usual. A case that takes longer counts as a
        hang, and its child is killed.

    Returns
    -------
    report : Report
        The counts and the findings.
    """
    report = Report() if report is None else report
    seeds = list(seeds)
    done = 0
    while done < len(seeds):
        done += _one_child(case, seeds[done:], documented, Limits(**limits), report)
    return report


def _one_child(case, seeds, documented, limits, report):
    """Run cases until one of them ends the child; return how many are counted."""
    reader, writer = os.pipe()
    gc.collect()
    sys.stdout.flush()
    with warnings.catch_warnings():
        # Newer Pythons warn of forks beside threads; children of ours use few things.
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        os.close(reader)
        _run_child(case, seeds, documented, limits, writer)
    os.close(writer)
    try:
        n_reported, was_silent = _listen(reader, seeds, limits.wall_seconds, report)
        if was_silent:
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(reader)
        status = os.waitpid(child, 0)[1]
    if n_reported == len(seeds):
        return n_reported
    seed = seeds[n_reported]
    if was_silent:
        report.add(seed, HANG, f"{limits.wall_seconds:g} s without an end")
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        report.add(seed, HANG, f"computed for more than {limits.cpu_seconds:g} s")
    else:
        report.add(seed, CRASH, _ending(status))
    return n_reported + 1


def _listen(reader, seeds, wall_seconds, report):
    """Take in the reports of a child; return their number, and whether it fell silent.

    The clock of a case starts when the report of the one before arrives.
    """
    n_reported, rest = 0, b""
    while n_reported < len(seeds):
        if not select.select([reader], [], [], wall_seconds)[0]:
            return n_reported, True
        text = os.read(reader, 1 << 16)
        if not text:
            break
        *lines, rest = (rest + text).split(b"\n")
        for line in lines:
            kind, detail, seconds = json.loads(line)
            report.add(seeds[n_reported], kind, detail, seconds)
            n_reported += 1
    return n_reported, False


def _ending(status):
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"left with exit code {os.waitstatus_to_exitcode(status)}"


def _run_child(case, seeds, documented, limits, writer):
    """Run all cases, report each, and leave without cleaning up after the parent."""
    try:
        _prepare_child(limits.memory)
        for seed in seeds:
            began = time.process_time()
            # The signal that comes at the end of that time ends the process.
            signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
            kind, detail = _outcome(case, seed, documented)
            seconds = time.process_time() - began
            os.write(writer, json.dumps([kind, detail, seconds]).encode() + b"\n")
        os._exit(0)
    finally:
        os._exit(99)


def _prepare_child(memory):
    """Silence a child and limit what it may take."""
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    faulthandler.disable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory, used + memory))


def _outcome(case, seed, documented):
    try:
        answer = case(seed)
    except documented as error:
        return DOCUMENTED_ERROR, type(error).__name__
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}:{where.lineno}"
        return OTHER, f"{type(error).__name__}: {str(error)[:200]} ({place})"
    found = nan_within(answer)
    return (NAN, found) if found else (OK, "")


def nan_within(value, name="answer", depth=6):
    """Return where a NaN is within an answer or a fitted object, or "" if nowhere."""
    if isinstance(value, (str, bytes)) or value is None or depth < 0:
        return ""
    if sparse.issparse(value):
        value = value.data
    if isinstance(value, np.ndarray) and value.dtype != object:
        inexact = np.issubdtype(value.dtype, np.inexact)
        return name if inexact and np.isnan(value).any() else ""
    if isinstance(value, Number):
        return name if value != value else ""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        parts = enumerate(value)
    else:
        parts = getattr(value, "__dict__", {}).items()
    found = (nan_within(part, f"{name}.{key}", depth - 1) for key, part in parts)
    return next(filter(None, found), "")


def long_run(description, groups, n_cases, **options):
    """Run many cases by hand and print what became of them, a line per group.

    Parameters
    ----------
    description : str
        For the help of the command line.
    groups : callable
        Takes no argument; returns a dict of cases by the name of their group.
    n_cases : int
        How many cases to run altogether unless ``--cases`` says otherwise.
    **options : dict
        Further arguments of `run_cases`.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=n_cases)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", help="groups whose name contains this")
    chosen = parser.parse_args()
    cases = {
        name: case
        for name, case in groups().items()
        if chosen.only is None or chosen.only in name
    }
    n_each = -(-chosen.cases // len(cases))
    total = Report()
    print(f"{'':40}  {'  '.join(KINDS)}  slowest (s)")
    for name, case in cases.items():
        report = run_cases(case, range(chosen.seed, chosen.seed + n_each), **options)
        print(f"{name[:40]:40}  {report.row()}  {report.slowest:.2f}", flush=True)
        for finding in report.findings[:5]:
            print(f"    {finding}", flush=True)
        total += report
    print(f"{'all':40}  {total.row()}  {total.slowest:.2f}")
    print(dict(total.messages))
    return 1 if total.findings else 0
