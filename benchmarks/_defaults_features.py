"""The ready sets of features, and what a group of features adds or takes away."""

from functools import partial

import numpy as np
from _defaults_table import render_groups
from _measure import progress
from _scores import span_scores
from _travel_corpora import (
    ARK,
    BUILT_IN,
    CHUNKS,
    DUTCH,
    EWT,
    NP,
    SPANISH,
    Sentences,
    _read,
    load,
)

from skcw import CWSequenceTagger
from skcw.features import WindowFeatures
from skcw.features.lines import READY_SETS
from skcw.metrics import token_accuracy_score

TITLE = "Ready sets of features"
NOTE = """\
A CW tagger that learns from the first 2,000 sentences (ARK: 1,000), means of the seeds.
Chunks: span F1 on the last quarter of the training sentences of CoNLL-2000, with all
labels and with NP alone. Names: span F1 on the development sets of CoNLL-2002. Parts of
speech: accuracy on those of ARK and EWT (XPOS)."""
SETS = {"chunking": (CHUNKS, NP), "ner": (SPANISH, DUTCH), "pos": (ARK, EWT)}
FLAGS = ["has_digit", "has_hyphen", "first_capital", "all_capitals"]
# What is taken from a ready set (lines that begin so), and what is added.
SENTENCES = 2_000
CHANGES = {
    "chunking": {
        "the set": ((), ()),
        "without words & parts of speech": (
            ("word[-2..2] & pos", "word & pos", "word[-1] & pos", "word[1] & pos"),
            (),
        ),
        "without lower-cased words": (("lower",), ()),
        "without suffixes and the shape": (("suffix", "short_shape"), ()),
        "with prefixes": ((), ("prefix(1..4)",)),
    },
    "ner": {
        "the set": ((), ()),
        "without lower-cased words": (("lower",), ()),
        "without long shapes": (("shape",), ()),
        "with runs of 3 characters": ((), ("ngrams(3)",)),
        "with flags": ((), FLAGS),
    },
    "pos": {
        "the set": ((), ()),
        "without lower-cased words": (("lower",), ()),
        "without flags and the shape of the first word": (
            (*FLAGS, "first & short_shape"),
            (),
        ),
        "with runs of 2 and 3 characters": ((), ("ngrams(2..3)",)),
    },
}


def run(settings):
    """Return what every set reaches, and what it does after each change."""
    groups = {}
    for name, changes in CHANGES.items():
        sets = (BUILT_IN,) if settings.quick else SETS[name]
        parts = {one: _train_and_held_out(one, settings) for one in sets}
        groups[name] = {}
        for row, (without, added) in changes.items():
            progress(f"features: {name}, {row}")
            lines = changed(READY_SETS[name], without, added)
            groups[name][row] = {
                one: _judged(lines, one, *both, settings.seeds)
                for one, both in parts.items()
            }
    return {"quick": settings.quick, "seeds": settings.seeds, "groups": groups}


def changed(lines, without, added):
    """Return the lines but those that begin so, and what is added."""
    return [line for line in lines if not line.startswith(tuple(without))] + list(added)


def _train_and_held_out(name, settings):
    """Return sentences to learn from and to judge by; no test set is looked at."""
    if name == BUILT_IN:
        return load(name, settings)
    train = _read(name, "train", settings.data_home)
    first = Sentences(train.tokens[:SENTENCES], train.labels[:SENTENCES])
    if name not in (CHUNKS, NP):
        return first, _read(name, "dev", settings.data_home)
    cut = len(train.tokens) * 3 // 4
    return first, Sentences(train.tokens[cut:], train.labels[cut:])


def _judged(lines, name, train, held_out, seeds):
    features = WindowFeatures(lines)
    X, X_new = features.fit_transform(train.tokens), features.transform(held_out.tokens)
    found = []
    for seed in range(seeds):
        tagger = CWSequenceTagger(calibrate_confidence=False, random_state=seed)
        labels = tagger.fit(X, train.labels).predict(X_new)
        if name in (ARK, EWT):
            found.append(token_accuracy_score(held_out.labels, labels))
        else:
            found.append(span_scores(held_out.labels, labels)["f1"])
    return float(np.mean(found))


render = partial(render_groups, TITLE, NOTE)
