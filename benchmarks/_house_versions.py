"""This version of the package and another one, measured in turns."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from _corpora import load_chunking
from _tables import format_goals, format_table

import skcw
from skcw.io import write_columns


def versions(settings):
    """Return the folders to import the package from, by the names of the versions."""
    now = Path(skcw.__file__).resolve().parents[1]
    if settings.before is None:
        return {"now": now}
    return {"before": settings.before.resolve(), "now": now}


def cpu_seconds(folder, *arguments):
    """Return the CPU seconds of a Python process that imports from a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_python(folder, *arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_python(folder, *arguments):
    """Run Python with the package of a folder; return its standard output."""
    command = [sys.executable, "-P", *map(str, arguments)]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


@contextmanager
def trained(settings):
    """Give the folders of the versions, a test file, and a model of each version."""
    train, test = load_chunking(settings.data_home, settings.quick)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        corpus, file = folder / "train.conll", folder / "test.conll"
        write_columns(corpus, train.tokens, train.labels)
        write_columns(file, test.tokens, test.labels)
        found, models = versions(settings), {}
        for name, home in found.items():
            models[name] = folder / f"{name}.skcw"
            made = ["-q", "-o", models[name], "--features", "chunking"]
            if name == "now":
                # Confidence by plain marginals, as the older version has it.
                made += ["--set", "calibrate_confidence=False"]
            run_python(home, "-m", "skcw", "train", corpus, *made)
        yield found, file, models


def in_turns(work, names, rounds):
    """Return the medians of what work(name) measures: {name: {figure: median}}."""
    found = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            found[name].append(work(name))
    return {
        name: {key: statistics.median(r[key] for r in rows) for key in rows[0]}
        for name, rows in found.items()
    }


def rendered(title, found, labels, note):
    """Return the figures of a part as text: a row per figure, a column per version."""
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    figures = found["figures"]
    rows = [
        [label, *(f"{version[key]:.3f}" for version in figures.values())]
        for key, label in labels.items()
    ]
    table = format_table(("CPU seconds", *figures), rows)
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, table, note, goals])
