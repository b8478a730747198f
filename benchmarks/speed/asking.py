"""CPU seconds of ``skcw tag``, and of ``confidence_pairs`` beside one question."""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import skcw
from common.corpora import load_chunking
from common.measure import in_fresh_process, progress
from common.tables import at_most, format_goals, format_table
from skcw.evaluation import confidence_pairs
from skcw.io import read_columns, write_columns

# The work of one run is short beside the start of Python: ratios need more of it.
COPIES = 5
CALLS = 3
COMMAND_LABELS = {
    "start": "start (one sentence)",
    "tag": "test columns",
    "confidence": "test columns with confidence",
    "work": f"work of {COPIES} copies",
    "confidence_work": f"work of {COPIES} copies with confidence",
    "ratio": "with confidence / without",
}
ASKING_LABELS = {
    "predict": "predict",
    "confidence": "predict_confidence",
    "query": "confidence_pairs",
    "one": "confidence_pairs of one label",
    "ten": "confidence_pairs of ten labels",
    "query_ratio": "confidence_pairs / predict_confidence",
    "label_ratio": "ten labels / one label",
}
NOTE_COMMAND = """\
CPU seconds of whole processes; work is what remains without the start."""
NOTE_ASKING = f"""\
CPU seconds inside a process that has opened a pipeline; each figure is the least of
{CALLS} calls, because the first ones warm up."""


@contextmanager
def _trained(settings):
    """Give a test file and the file of a pipeline that has learned from another."""
    train, test = load_chunking(settings.data_home, settings.quick)
    with tempfile.TemporaryDirectory() as folder:
        corpus, file, model = (
            Path(folder, name) for name in ("train.conll", "test.conll", "model.skcw")
        )
        write_columns(corpus, train.tokens, train.labels)
        write_columns(file, test.tokens, test.labels)
        options = ["-q", "-o", model, "--features", "chunking"]
        # Confidence by plain marginals, whatever `fit` would choose here.
        options += ["--set", "calibrate_confidence=False"]
        _cpu_seconds("train", corpus, *options)
        yield file, model


def _cpu_seconds(*arguments):
    """Return the CPU seconds of a command of skcw."""
    command = [sys.executable, "-P", "-m", "skcw", *map(str, arguments)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_command(settings):
    """Return the medians of ``skcw tag``, and the goals."""
    with _trained(settings) as (file, model):
        text = file.read_text(encoding="utf-8")
        one, many = file.with_name("one.conll"), file.with_name("many.conll")
        one.write_text(text[: text.index("\n\n") + 2], encoding="utf-8")
        many.write_text(text * COPIES, encoding="utf-8")
        output = file.with_name("out.conll")

        def tag(source, *options):
            return _cpu_seconds("tag", "-q", model, source, "-o", output, *options)

        def measure():
            progress("command")
            start = tag(one)
            work = tag(many) - start
            confidence_work = tag(many, "--confidence") - start
            return {
                "start": start,
                "tag": tag(file),
                "confidence": tag(file, "--confidence"),
                "work": work,
                "confidence_work": confidence_work,
                # The work of a quick run may drown in the noise.
                "ratio": confidence_work / max(work, 1e-3),
            }

        now = _medians(measure, settings.seeds)
    goals = [
        at_most("CPU seconds of skcw tag", now["tag"], 0.4, ".2f"),
        at_most("skcw tag --confidence / skcw tag", now["ratio"], 1.4, ".2f"),
    ]
    return {"quick": settings.quick, "figures": now, "goals": goals}


def run_asking(settings):
    """Return the medians of each question, and the goals."""
    with _trained(settings) as (file, model):

        def measure():
            progress("asking")
            seconds = in_fresh_process(_questions, model, file)
            return {
                **seconds,
                "query_ratio": seconds["query"] / seconds["confidence"],
                "label_ratio": seconds["ten"] / seconds["one"],
            }

        now = _medians(measure, settings.seeds)
    goals = [
        at_most(ASKING_LABELS[key], now[key], 1.2, ".2f")
        for key in ("query_ratio", "label_ratio")
    ]
    return {"quick": settings.quick, "figures": now, "goals": goals}


def _questions(model, file):
    """Return the CPU seconds of each question to a saved pipeline."""
    pipeline = skcw.load(model)
    X, y = read_columns(file).split_label()
    labels = [str(label) for label in pipeline.tagger.classes_[:10]]
    questions = {
        "predict": lambda: pipeline.predict(X),
        "confidence": lambda: pipeline.predict_confidence(X),
        "query": lambda: confidence_pairs(pipeline, X, y),
        "one": lambda: confidence_pairs(pipeline, X, y, labels[0]),
        "ten": lambda: confidence_pairs(pipeline, X, y, labels),
    }
    return {name: _least_seconds(ask) for name, ask in questions.items()}


def _least_seconds(work):
    """Return the CPU seconds of the fastest of some calls."""
    seconds = []
    for _ in range(CALLS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _medians(work, rounds):
    rows = [work() for _ in range(rounds)]
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def render_command(found):
    """Return the results as text."""
    title = "skcw tag of the CoNLL-2000 test columns"
    return _rendered(title, found, COMMAND_LABELS, NOTE_COMMAND)


def render_asking(found):
    """Return the results as text."""
    title = "Asking a pipeline about the CoNLL-2000 test columns"
    return _rendered(title, found, ASKING_LABELS, NOTE_ASKING)


def _rendered(title, found, labels, note):
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    rows = [[label, f"{found['figures'][key]:.3f}"] for key, label in labels.items()]
    table = format_table(("", "CPU seconds"), rows)
    return "\n\n".join(
        [title, table, note, format_goals(found["goals"], found["quick"])]
    )
