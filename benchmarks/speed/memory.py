"""The memory and the speed of learning from, and tagging, a corpus made on the fly."""

import tempfile
import time
from pathlib import Path

import numpy as np

from common.measure import in_fresh_process, peak_memory, progress
from common.tables import at_most, format_goals, format_table
from skcw import CWSequenceTagger, InferenceModel, make_tagging_pipeline
from skcw.data import TokenColumns
from skcw.data.vocabulary import Vocabulary

SIZES, QUICK_SIZES = (1_000_000, 10_000_000, 100_000_000), (50_000, 200_000)
MEMORY = {False: "200M", True: "20M"}
PART_WORDS, SENTENCE_WORDS = 50_000, 20
N_WORDS, N_CLASSES, NEW_SHARE = 50_000, 5, 0.02
LABELS = np.array(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"], dtype=object)
FEATURES = ["word[-1..1]", "suffix(3)"]
NOTE = """\
Sentences of 20 words are made on the fly and never stored: words by Zipf's law, one of
fifty of which has not occurred before, labels by the classes of a word and the one
before it. One pass of CW by fit_stream, then a tenth as many words are tagged with
confidences. Words a second: of the CPU time of the process, without that of making the
corpus. Memory: peak of the process. Each size has a process of its own."""


def parts(n_words, seed=0):
    """Yield sentences and labels, some thousand at a time."""
    rng = np.random.RandomState(seed)
    made = new = 0
    while made < n_words:
        n = min(PART_WORDS, n_words - made) // SENTENCE_WORDS * SENTENCE_WORDS
        if not n:
            return
        # Zipf's law by the inverse of its distribution function.
        words = np.exp(rng.rand(n) * np.log(N_WORDS)).astype(np.int64) - 1
        fresh = rng.rand(n) < NEW_SHARE
        words[fresh] = N_WORDS + new + np.arange(fresh.sum())
        new += int(fresh.sum())
        kinds, codes = np.unique(words, return_inverse=True)
        names = Vocabulary.from_names(
            f"w{kind % 997}x{kind}" for kind in kinds.tolist()
        )
        offsets = np.arange(0, n + 1, SENTENCE_WORDS)
        X = TokenColumns(offsets, [codes.astype(np.int32)], [names], ["word"])
        yield X, _labels(words, n)
        made += n


def _labels(words, n):
    classes = (words * 2654435761 % 2**32 >> 7) % N_CLASSES
    before = np.append(0, classes[:-1])
    before[::SENTENCE_WORDS] = 0
    begins = np.where(classes >= 3, 1 + 2 * (classes - 3), 0)
    inside = (classes >= 3) & (before == classes)
    return LABELS[begins + inside].reshape(-1, SENTENCE_WORDS).tolist()


def measure(n_words, memory, folder):
    """Learn from so many words and tag a tenth as many; return times and memory."""
    tagger = CWSequenceTagger(max_iter=1, calibrate_confidence=False, random_state=0)
    model = make_tagging_pipeline(FEATURES, tagger)
    began = time.process_time()
    for _ in parts(n_words // 10):
        pass
    making = 10 * (time.process_time() - began)
    began = time.process_time()
    model.fit_stream(lambda: parts(n_words), memory=memory, folder=folder)
    learning = time.process_time() - began - making
    path = Path(folder, "model.skcw")
    model.save(path)
    opened = InferenceModel.open(path, mapped=True)
    began, right, tagged = time.process_time(), 0, 0
    for X, y in parts(n_words // 10, seed=1):
        answers = opened.predict_all(X)
        answers.confidence()
        right += sum(map(_n_equal, answers.labels(), y))
        tagged += X.n_tokens
    tagging = time.process_time() - began - making / 10
    return {
        "words": n_words,
        "features": model[0].n_features_out_,
        "learning": n_words / learning,
        "training": n_words / sum(r["seconds"] for r in model.tagger.history_),
        "tagging": tagged / tagging,
        "accuracy": right / tagged,
        "memory": peak_memory(),
        "passing": model.tagger.history_[0]["seconds"],
    }


def _n_equal(guess, gold):
    return sum(map(str.__eq__, guess, gold))


def run(settings):
    """Return what each size takes, and the goal."""
    sizes = QUICK_SIZES if settings.quick else SIZES
    rows = []
    for size in sizes:
        progress(f"memory: {size} words")
        with tempfile.TemporaryDirectory() as folder:
            given = size, MEMORY[settings.quick], folder
            rows.append(in_fresh_process(measure, *given))
    growth = rows[-1]["memory"] / rows[-2]["memory"]
    title = "memory, largest corpus to the one of a tenth (quick: a quarter)"
    goals = [at_most(title, growth, 1.1, ".2f")]
    memory = MEMORY[settings.quick]
    return {"quick": settings.quick, "given": memory, "rows": rows, "goals": goals}


def render(found):
    """Return the results as text."""
    rows = [
        [
            f"{row['words']:,}",
            f"{row['features']:,}",
            f"{row['learning']:,.0f}",
            f"{row['tagging']:,.0f}",
            f"{100 * row['accuracy']:.2f} %",
            f"{row['memory']:.0f}",
        ]
        for row in found["rows"]
    ]
    title = f"Corpora of any size, with memory={found['given']!r}"
    if found["quick"]:
        title += " (quick: small, no measurement)"
    heads = ("words", "features", "learned a second", "tagged a second", "right", "MB")
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(heads, rows), NOTE, goals])
