"""How the time of a pass grows with tokens and with labels."""

import statistics
from collections import Counter

import numpy as np
from _corpora import load_chunking
from _measure import progress
from _tables import at_most, format_goals, format_table

from skcw import CWSequenceTagger
from skcw.data import SequenceEncoder

SHARES = (0.25, 0.5, 1.0)
LABELS = (8, 16, 32, 64)
PASSES = 5
# Linear growth: more data also has more features, which fill the caches.
LINEAR = 1.15
QUADRATIC = 2.0


def run(settings):
    """Return the seconds per pass at several sizes."""
    corpus, _ = load_chunking(settings.data_home, settings.quick)
    X = corpus.features()
    tokens = _by_tokens(corpus, X, settings.seeds)
    labels = _by_labels(corpus, X, settings.seeds)
    return {
        "quick": settings.quick,
        "corpus": corpus.name,
        "tokens": tokens,
        "labels": labels,
        "goals": [
            at_most("exponent of tokens", _exponent(tokens), LINEAR, ".2f"),
            at_most("exponent of labels", _exponent(labels), QUADRATIC, ".2f"),
        ],
    }


def _by_tokens(corpus, X, seeds):
    """Measure a quarter, a half and all of the tokens."""
    order = np.random.RandomState(0).permutation(len(X))
    ends = np.cumsum([len(X[i]) for i in order])
    problems = []
    for share in SHARES:
        chosen = order[: np.searchsorted(ends, share * ends[-1]) + 1]
        y = [corpus.labels[i] for i in chosen]
        # Encoded on its own: a smaller corpus has fewer features, too.
        batch = SequenceEncoder().fit_transform([X[i] for i in chosen])
        problems.append((batch.n_tokens, batch, y))
    return _seconds_per_pass("tokens", problems, seeds)


def _by_labels(corpus, X, seeds):
    """Measure label sets of several sizes on the same tokens."""
    batch = SequenceEncoder().fit_transform(X)
    problems = [(n, batch, _relabeled(corpus, n)) for n in LABELS]
    return _seconds_per_pass("labels", problems, seeds)


def _relabeled(corpus, n_labels):
    """Deal the pairs of label and part of speech out to so many new labels.

    They go in order of frequency, so that the new labels are of similar size, and as
    easy to learn whatever their number.
    """
    pairs = [
        [(label, tag) for label, (_, tag) in zip(labels, sentence, strict=True)]
        for labels, sentence in zip(corpus.labels, corpus.tokens, strict=True)
    ]
    counts = Counter(pair for row in pairs for pair in row)
    new = {pair: str(i % n_labels) for i, (pair, _) in enumerate(counts.most_common())}
    return [[new[pair] for pair in row] for row in pairs]


def _seconds_per_pass(what, problems, seeds):
    """Return size and seconds per pass of every problem, the problems taking turns."""
    found = {size: [] for size, _, _ in problems}
    for seed in range(seeds):
        progress(f"scaling: {what}, run {seed + 1} of {seeds}")
        for size, batch, y in problems:
            tagger = CWSequenceTagger(max_iter=PASSES, random_state=seed)
            history = tagger.fit(batch, y).history_
            found[size].append(statistics.mean(r["seconds"] for r in history))
    return [[size, statistics.median(seconds)] for size, seconds in found.items()]


def _exponent(rows):
    """Return b of the power law seconds = a * size**b that fits best."""
    sizes, seconds = np.log(np.array(rows, dtype=float)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


def render(found):
    """Return the results as text."""
    tables = []
    for what in ("tokens", "labels"):
        first_size, first_seconds = found[what][0]
        rows = [
            [size, f"{s:.4f}", f"{size / first_size:.2f}", f"{s / first_seconds:.2f}"]
            for size, s in found[what]
        ]
        tables.append(format_table([what, "s per pass", "size x", "time x"], rows))
    return "\n\n".join(
        [
            f"Scaling: CW on {found['corpus']}, mean of {PASSES} passes, medians over "
            "seeds" + (" (quick: no measurement)" if found["quick"] else ""),
            *tables,
            "Labels are split by part of speech and dealt out to sets of each size.\n"
            "Exponent b: seconds per pass grow as size to the power of b.",
            format_goals(found["goals"], found["quick"]),
        ]
    )
