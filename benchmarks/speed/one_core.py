"""Speed on one core: training of taggers beside CRFsuite."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from common.corpora import load_chunking
from common.crfsuite import CRFsuite
from common.measure import progress
from common.tables import at_least, format_goals, format_table, number
from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.data import SequenceEncoder

PASSES = 10
PEER, ALL = "CRFsuite ap", "CW, all presented"
TAGGERS = {
    ALL: CWSequenceTagger,
    "AROW": AROWSequenceTagger,
    "5-best PA": PASequenceTagger,
    "perceptron": PerceptronSequenceTagger,
}
NOTE = f"""\
CPU seconds of the process, medians over the seeds, learners taking turns. Train: on
encoded sequences, {PASSES} passes over CoNLL-2000, calibrate_confidence=False; fit:
from feature strings."""


def run(settings):
    """Return seconds of taggers."""
    with threadpool_limits(1):
        found = {
            "quick": settings.quick,
            "seeds": settings.seeds,
            "taggers": _taggers(settings),
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


def _goals(found):
    peer, ours = found["taggers"][PEER], found["taggers"]
    return [
        at_least("training, times ap", peer["train"] / ours[ALL]["train"], 12),
        at_least("fit from strings, times ap", peer["fit"] / ours[ALL]["fit"], 9),
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
    title = f"One core ({found['seeds']} seeds)"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    return "\n\n".join(
        [
            title,
            format_table(("tagger", "train s", "fit s", "train x", "fit x"), taggers),
            NOTE,
            format_goals(found["goals"], found["quick"]),
        ]
    )
