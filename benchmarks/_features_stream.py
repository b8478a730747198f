"""The memory that ``skcw tag`` takes for one and for ten million words."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measure import peak_memory, progress
from _tables import at_most, format_goals, format_table

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus

SIZES, QUICK_SIZES = (1_000_000, 10_000_000), (20_000, 200_000)
SENTENCES = 5000
NOTE = """\
A model trained on the built-in corpus tags files of other sentences of it, with
confidences, from standard input to standard output. Memory: peak of the process."""


def run(settings):
    """Return time and memory for each size, and the goal."""
    sizes = QUICK_SIZES if settings.quick else SIZES
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        model = _train(folder)
        rows = []
        for size in sizes:
            progress(f"stream: {size} words")
            file = folder / f"{size}.conll"
            words = _write(file, size)
            seconds, memory = _tag(model, file)
            file.unlink()
            rows.append({"words": words, "seconds": seconds, "memory": memory})
    growth = rows[-1]["memory"] / rows[0]["memory"]
    goal = at_most("memory, largest to smallest file", growth, 1.1, ".2f")
    return {"quick": settings.quick, "rows": rows, "goals": [goal]}


def _train(folder):
    corpus = make_tagged_corpus(1000, random_state=0)
    pipeline = make_tagging_pipeline("ner", CWSequenceTagger(random_state=0))
    path = folder / "model.skcw"
    pipeline.fit(corpus.tokens, corpus.labels).save(path)
    return path


def _write(path, n_words):
    """Write at least so many words, some sentences again and again; return how many."""
    corpus = make_tagged_corpus(SENTENCES, random_state=1)
    sentences = ["".join(f"{w}\t{p}\n" for w, p in s) + "\n" for s in corpus.tokens]
    lengths = [len(s) for s in corpus.tokens]
    written = 0
    with open(path, "w", encoding="utf-8") as file:
        while written < n_words:
            for text, length in zip(sentences, lengths, strict=True):
                file.write(text)
                written += length
                if written >= n_words:
                    break
    return written


def _tag(model, path):
    """Return the seconds and the peak megabytes of one run of the command."""
    # -P: the sources in the current folder must not hide the installed package.
    command = [sys.executable, "-P", "-m", "skcw", "tag", str(model), "--confidence"]
    start, peak = time.perf_counter(), 0.0
    with open(path, "rb") as file:
        process = subprocess.Popen(command, stdin=file, stdout=subprocess.DEVNULL)
        # The system's own record of a child begins with the memory of its parent.
        while process.poll() is None:
            peak = max(peak, peak_memory(process.pid))
            time.sleep(0.02)
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed with {process.returncode}")
    return seconds, peak


def render(found):
    """Return the results as text."""
    rows = [
        [
            f"{row['words']:,}",
            f"{row['seconds']:.1f}",
            f"{row['words'] / row['seconds']:,.0f}",
            f"{row['memory']:.0f}",
        ]
        for row in found["rows"]
    ]
    title = "skcw tag of a long file"
    if found["quick"]:
        title += " (quick: short files, no measurement)"
    table = format_table(("words", "seconds", "words a second", "memory MB"), rows)
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, table, NOTE, goals])
