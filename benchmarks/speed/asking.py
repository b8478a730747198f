"""CPU seconds of ``skcw tag``, of ``confidence_pairs``, and of one sentence."""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import sklearn_crfsuite

import skcw
from common import tagged
from common.corpora import load_chunking
from common.measure import in_fresh_process, progress
from common.tables import at_least, at_most, format_goals, format_table
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
# A service asks for one sentence of so many words at a time.
WORDS = 15
QUESTIONS = 2000
THREADS = 8
CRF = "crfsuite"
SENTENCE_LABELS = {
    "labels": "labels",
    "entities": "entities by marginals",
    "to_dict": "to_dict by marginals",
    "entities_default": "entities by default",
    "to_dict_default": "to_dict by default",
    "words": "labels of words",
    CRF: "labels of words by sklearn-crfsuite",
}
NOTE_COMMAND = """\
CPU seconds of whole processes; work is what remains without the start."""
NOTE_ASKING = f"""\
CPU seconds inside a process that has opened a pipeline; each figure is the least of
{CALLS} calls, because the first ones warm up."""

NOTE_SENTENCE = f"""\
{WORDS} words of Spanish news, features and tokenizing included, by an open
`InferenceModel` with "ner" features; milliseconds are CPU time, medians over the
sentences. Sentences a second are by the clock, for {QUESTIONS:,} of them in all. The
CRF has the features of its tutorial; it and `predict_all` are given words."""


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


def run_sentence(settings):
    """Return what one sentence costs, and how many a second threads answer."""
    corpus = tagged.BUILT_IN if settings.data_home is None else tagged.SPANISH
    train, test = tagged.load(corpus, settings)
    words = [tagged.words_only(row) for row in train.tokens]
    asked = [tagged.words_only(row) for row in test.tokens]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.skcw")
        tagger = skcw.CWSequenceTagger(random_state=0)
        skcw.make_tagging_pipeline("ner", tagger).fit(words, train.labels).save(file)
        asked = _sentences_of(file, asked, 40 if settings.quick else QUESTIONS)

        def measure():
            progress("sentence")
            return in_fresh_process(_answers, file, words, train.labels, asked)

        now = _medians(measure, settings.seeds)
    return {
        "quick": settings.quick,
        "figures": now,
        "goals": _sentence_goals(now),
    }


def _sentence_goals(now):
    costs = list(SENTENCE_LABELS.items())[:5]
    beside = now["words_threads"] / now[f"{CRF}_threads"]
    return [
        *(
            at_most(f"{label} / labels", now[key] / now["labels"], 1.5, ".2f")
            for key, label in costs[1:]
        ),
        *(
            at_most(f"milliseconds of {label}", now[key], 1.0, ".2f")
            for key, label in costs
        ),
        at_most("answers of threads that differ", now["n_different"], 0, ".0f"),
        at_least(f"labels of words by {THREADS} threads / CRF", beside, 1.0, ".1f"),
    ]


def _sentences_of(file, rows, n_questions):
    """Return parts of sentences that the tokenizer of a model cuts as they were."""
    split = skcw.InferenceModel.open(file).tokenizer.split
    parts = [row[i : i + WORDS] for row in rows for i in range(0, len(row), WORDS)]
    found = []
    for part in parts:
        cut = [[token.word for token in tokens] for tokens in split(" ".join(part))]
        if len(part) == WORDS and cut == [part]:
            found.append(part)
    return [found[i % len(found)] for i in range(n_questions)]


def _answers(file, words, labels, asked):
    """Return milliseconds and throughput of a model, beside a CRF's."""
    crf = sklearn_crfsuite.CRF(algorithm="ap", max_iterations=10)
    crf.fit([_crf_features(row) for row in words], labels)
    model = skcw.InferenceModel.open(file)
    ask = model.predict_text
    questions = {
        "labels": lambda text: ask(text).predictions.labels()[0],
        "entities": lambda text: ask(text).entities(method="marginal"),
        "to_dict": lambda text: ask(text).to_dict(method="marginal"),
        "entities_default": lambda text: ask(text).entities(),
        "to_dict_default": lambda text: ask(text).to_dict(),
        "words": lambda text: model.predict_all([text.split()]).labels()[0],
        CRF: lambda text: crf.predict_single(_crf_features(text.split())),
    }
    texts = [" ".join(words) for words in asked]
    found = {key: _milliseconds(work, texts) for key, work in questions.items()}
    found["n_different"] = 0
    for key, work in questions.items():
        answers, found[f"{key}_one"] = _throughput(work, texts, 1)
        again, found[f"{key}_threads"] = _throughput(work, texts, THREADS)
        found["n_different"] += sum(a != b for a, b in zip(answers, again, strict=True))
    return found


def _crf_features(words):
    return tagged.tutorial_dicts([(word,) for word in words])


def _milliseconds(work, questions):
    """Return the median CPU time of a question after a few to warm up."""
    seconds = []
    for question in questions:
        start = time.process_time()
        work(question)
        seconds.append(time.process_time() - start)
    return 1000 * float(np.median(seconds[len(seconds) // 10 :]))


def _throughput(work, questions, n_threads):
    """Return the answers of threads that share the questions, and how many a second."""
    size = -(-len(questions) // n_threads)
    shares = [questions[i : i + size] for i in range(0, len(questions), size)]
    with ThreadPoolExecutor(n_threads) as pool:
        start = time.perf_counter()
        answers = list(pool.map(lambda share: [work(one) for one in share], shares))
        seconds = time.perf_counter() - start
    return [answer for share in answers for answer in share], len(questions) / seconds


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


def render_sentence(found):
    """Return the results as text."""
    title = "Asking a model for one sentence"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    now = found["figures"]
    rows = [
        [label, f"{now[key]:.3f}"]
        + [f"{now[f'{key}_{name}']:,.0f}" for name in ("one", "threads")]
        for key, label in SENTENCE_LABELS.items()
    ]
    head = "", "CPU ms", "a second, 1 thread", f"{THREADS} threads"
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, format_table(head, rows), NOTE_SENTENCE, goals])


def _rendered(title, found, labels, note):
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    rows = [[label, f"{found['figures'][key]:.3f}"] for key, label in labels.items()]
    table = format_table(("", "CPU seconds"), rows)
    return "\n\n".join(
        [title, table, note, format_goals(found["goals"], found["quick"])]
    )
