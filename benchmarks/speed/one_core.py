"""Speed on one core: training of taggers beside CRFsuite, and what shrinking costs."""

import time
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from common.corpora import load_chunking
from common.crfsuite import CRFsuite
from common.measure import progress
from common.tables import at_least, format_goals, format_table, number
from common.tagged import (
    ARK,
    BUILT_IN,
    CHUNKS,
    DUTCH,
    EWT,
    NP,
    SPANISH,
    encode,
    load,
    part_of,
)
from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.data import SequenceEncoder
from skcw.metrics import span_f1_score, token_accuracy_score

PASSES = 10
FEW = 1000
CORPORA, MADE = (CHUNKS, NP, SPANISH, DUTCH, ARK, EWT), (BUILT_IN,)
RESTS = (0, 1, 2, 3)
PEER, ALL, REST = "CRFsuite ap", "CW, all presented", "CW, shrinking=2"
TAGGERS = {
    ALL: partial(CWSequenceTagger, shrinking=0),
    REST: partial(CWSequenceTagger, shrinking=2),
    "AROW": AROWSequenceTagger,
    "5-best PA": PASequenceTagger,
    "perceptron": PerceptronSequenceTagger,
}
NOTE = f"""\
CPU seconds of the process, medians over the seeds, learners taking turns. Train: on
encoded sequences, {PASSES} passes over CoNLL-2000, calibrate_confidence=False; fit:
from feature strings. Shrinking: a sequence that moved nothing rests for so
many passes; span F1 (accuracy on {ARK} and {EWT}) on the test set less that of
shrinking=0, mean over the seeds with its standard error; time: of training, as a share
of that of shrinking=0."""


def run(settings):
    """Return seconds of taggers, and what shrinking costs."""
    with threadpool_limits(1):
        found = {
            "quick": settings.quick,
            "seeds": settings.seeds,
            "taggers": _taggers(settings),
            "shrinking": _shrinking(settings),
        }
    return {**found, "goals": _goals(found)}


def _seconds(work):
    began = time.process_time()
    work()
    return time.process_time() - began


def _taggers(settings):
    train, _ = load_chunking(settings.data_home, settings.quick)
    X, y = train.features(), train.labels
    batch = SequenceEncoder().fit_transform(X)
    found = {}
    for seed in range(settings.seeds):
        progress(f"one core: taggers, run {seed + 1} of {settings.seeds}")
        peer = CRFsuite("ap", max_iterations=PASSES)
        encode_seconds = _seconds(lambda peer=peer: peer.append(X, y))
        seconds = _seconds(peer.train)
        found.setdefault(PEER, []).append((seconds, encode_seconds + seconds))
        for name, new in TAGGERS.items():
            tagger = new(max_iter=PASSES, calibrate_confidence=False, random_state=seed)
            seconds = _seconds(lambda tagger=tagger: tagger.fit(batch, y))
            fit = _seconds(lambda tagger=tagger: tagger.fit(X, y))
            found.setdefault(name, []).append((seconds, fit))
    return {
        name: dict(zip(("train", "fit"), np.median(runs, axis=0).tolist(), strict=True))
        for name, runs in found.items()
    }


def _shrinking(settings):
    rows = []
    real = settings.data_home and not settings.quick
    for corpus in CORPORA if real else MADE:
        data = encode(corpus, "ready", load(corpus, settings))
        for size in ("all", FEW):
            if size != "all" and size >= len(data.train):
                continue
            progress(f"one core: shrinking, {corpus}, {size}")
            runs = [_rested(data, size, seed) for seed in range(settings.seeds)]
            rows += _compared(corpus, size, runs)
    return rows


def _rested(data, size, seed):
    """Return score and seconds of each number of passes to rest, with one seed."""
    part = part_of(data, size, seed)
    score = span_f1_score if data.spans else token_accuracy_score
    found = {}
    for rest in RESTS:
        tagger = CWSequenceTagger(
            shrinking=rest, calibrate_confidence=False, random_state=seed
        )
        seconds = _seconds(lambda tagger=tagger: tagger.fit(part.X, part.y))
        found[rest] = score(part.y_test, tagger.predict(part.X_test)), seconds
    return found


def _compared(corpus, size, runs):
    rows = []
    base = np.array([run[0] for run in runs])
    for rest in RESTS[1:]:
        score, seconds = np.array([run[rest] for run in runs]).T
        gain = score - base[:, 0]
        error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else None
        rows.append(
            {
                "corpus": corpus,
                "size": size,
                "rest": rest,
                "base": float(base[:, 0].mean()),
                "gain": float(gain.mean()),
                "error": None if error is None else float(error),
                "time": float(np.median(seconds) / np.median(base[:, 1])),
            }
        )
    return rows


def _goals(found):
    peer, ours = found["taggers"][PEER], found["taggers"]
    return [
        at_least("training, times ap", peer["train"] / ours[ALL]["train"], 12),
        at_least(
            "training, shrinking=2, times ap", peer["train"] / ours[REST]["train"], 12
        ),
        at_least("fit from strings, times ap", peer["fit"] / ours[ALL]["fit"], 9),
        at_least(
            "least gain by shrinking=2, all sentences",
            min(
                row["gain"]
                for row in found["shrinking"]
                if row["rest"] == 2 and row["size"] == "all"
            ),
            -0.0005,
            ".4f",
        ),
    ]


def render(found):
    """Return the tables."""
    peer = found["taggers"][PEER]
    taggers = [
        (
            name,
            *(number(row[key], ".2f") for key in ("train", "fit")),
            *(number(peer[key] / row[key], ".1f") for key in ("train", "fit")),
        )
        for name, row in found["taggers"].items()
    ]
    rests = [
        (
            f"{row['corpus']}, {row['size']}",
            row["rest"],
            number(row["base"], ".4f"),
            number(row["gain"], "+.4f"),
            number(row["error"], ".4f"),
            number(row["time"], ".2f"),
        )
        for row in found["shrinking"]
    ]
    title = f"One core ({found['seeds']} seeds)"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    header = ("corpus, sentences", "rest", "score", "gain", "error", "time")
    return "\n\n".join(
        [
            title,
            format_table(("tagger", "train s", "fit s", "train x", "fit x"), taggers),
            format_table(header, rests),
            NOTE,
            format_goals(found["goals"], found["quick"]),
        ]
    )
