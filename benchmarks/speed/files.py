"""Model files of taggers, the memory of `fit`, and what commands take to start."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import skcw
from common import tagged
from common.measure import added_memory, in_fresh_process, progress, timed
from common.tables import at_most, format_goals, format_table
from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.data.packing import NAMES, compacted
from skcw.io.model_files import write_model

CORPORA = (tagged.SPANISH, tagged.DUTCH, tagged.CHUNKS, tagged.ARK, tagged.EWT)
FEATURES = ("ready", "three")
REPEATS = 7
STARTS = {
    "python": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import skcw": ["-c", "import skcw"],
    "skcw tag, no such model": ["-m", "skcw", "tag", "nowhere"],
    "skcw train, no such corpus": ["-m", "skcw", "train", "nowhere", "-o", "nothing"],
}
NOTE = """\
A pipeline or a tagger of CW learns from the training set. Cells: a file that holds the
cells of weights that were touched, and all else as it is in memory. Packed: what `save`
writes. Opening: CPU milliseconds of skcw.load, medians, the two files taking turns.
Memory: what `fit` adds at its peak in a
process of its own."""
NOTE_START = "CPU seconds of whole processes, medians; bytecode is compiled."


def run(settings):
    """Return sizes of files, times of opening and the memory of `fit`."""
    quick = settings.quick
    corpora = (tagged.BUILT_IN,) if quick else CORPORA
    rows = [
        in_fresh_process(_measure, corpus, features, settings)
        for corpus in corpora
        for features in FEATURES
    ]
    goals = [
        at_most("largest share of the file of cells", _most(rows, "share"), 0.5, ".2f"),
        at_most("longest to open, beside that", _most(rows, "slower"), 1.0, ".2f"),
    ]
    return {"quick": quick, "rows": rows, "goals": goals}


def _most(rows, key):
    return max(row[key] for row in rows)


def _measure(corpus, features, settings):
    progress(f"files: {corpus}, {features}")
    train, _ = tagged.load(corpus, settings)
    tagger, X = CWSequenceTagger(random_state=0), train.tokens
    if features == "ready":
        model = make_tagging_pipeline(tagged.READY.get(corpus, "ner"), tagger)
    else:
        model, X = tagger, [tagged.three_strings(row) for row in X]
    memory = added_memory(lambda: model.fit(X, train.labels))
    with tempfile.TemporaryDirectory() as folder:
        packed, cells = Path(folder, "packed"), Path(folder, "cells")
        _, saving = timed(lambda: model.save(packed), clock=time.process_time)
        _save_cells(model, cells)
        size, before = os.path.getsize(packed), os.path.getsize(cells)
        opening, opening_cells = _opening_seconds(packed, cells)
    return {
        "corpus": corpus,
        "features": features,
        "cells": before,
        "packed": size,
        "share": size / before,
        "saving": saving,
        "opening": opening,
        "opening_cells": opening_cells,
        "slower": opening / opening_cells,
        "memory": memory,
    }


def _save_cells(model, path):
    """Write a file that is not packed, but for the cells of weights."""
    header, arrays = model.to_saved()
    stored, recipes = compacted(arrays)
    del recipes[NAMES]
    stored = {n: a for n, a in stored.items() if not n.endswith(".sizes")}
    stored |= {n: a for n, a in arrays.items() if n.endswith((".ends", ".slots"))}
    write_model(path, {**header, **recipes}, stored)


def _opening_seconds(*paths):
    taken = {path: [] for path in paths}
    for _ in range(REPEATS):
        for path, seconds in taken.items():
            _, spent = timed(partial(skcw.load, path), clock=time.process_time)
            seconds.append(spent)
    return [statistics.median(seconds) for seconds in taken.values()]


def render(found):
    """Return the results as text."""
    rows = [
        [
            row["corpus"],
            row["features"],
            f"{row['cells'] / 1e6:.2f}",
            f"{row['packed'] / 1e6:.2f}",
            f"{row['share']:.2f}",
            f"{1e3 * row['saving']:.0f}",
            f"{1e3 * row['opening']:.1f}",
            f"{1e3 * row['opening_cells']:.1f}",
            f"{row['memory']:.0f}",
        ]
        for row in found["rows"]
    ]
    heads = ("corpus", "features", "cells MB", "packed MB", "share", "save ms")
    heads += ("open ms", "open cells ms", "fit adds MB")
    title = "Model files of taggers"
    if found["quick"]:
        title += " (quick: small, no measurement)"
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(heads, rows), NOTE, goals])


def run_start(settings):
    """Return the CPU seconds until commands and imports are there."""
    taken = {name: [] for name in STARTS}
    for _ in range(1 if settings.quick else REPEATS):
        for name, command in STARTS.items():
            taken[name].append(_cpu_seconds(command))
    now = {name: statistics.median(seconds) for name, seconds in taken.items()}
    goals = [at_most(name, now[name], 0.2, ".2f") for name in list(STARTS)[2:]]
    return {"quick": settings.quick, "now": now, "goals": goals}


def _cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-P", *command], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def render_start(found):
    """Return the results as text."""
    rows = [[name, f"{seconds:.3f}"] for name, seconds in found["now"].items()]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join(
        ["Start", format_table(("process", "CPU s"), rows), NOTE_START, goals]
    )
