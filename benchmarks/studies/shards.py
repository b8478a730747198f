"""How much faster two processes train, what travels, and what a pass costs."""

import time
from tempfile import TemporaryDirectory

import joblib
import numpy as np

from common.corpora import load_chunking, load_entities
from common.measure import progress, span_scores
from common.rows import NEWS, load_rows, set_or_made
from common.tables import at_least, at_most, format_goals, format_table, number
from skcw import CWSequenceTagger, MultiClassCW
from skcw._model.mixing import Mixture, Moves
from skcw._model.shards import write_shard
from skcw.data import SequenceBatch, SequenceEncoder

# ---- What shards cost ----

SHARDS = (1, 2, 4, 16, 64)
QUICK_SHARDS = (1, 2, 4)
JUDGED = 16
MORE_PASSES = (2, 4)
MOST_LOST = 0.002
NOTE_SHARDS = """\
Span F1 on the test set (20 Newsgroups: accuracy on every fourth message) of the CW
learners at their defaults, mean of the seeds. All have made the same number of passes;
the table below has more passes of 16 shards. The rules of merging were chosen on fifths
of the training parts, and on other messages of 20 Newsgroups than those of the test."""


def tasks(settings):
    """Return what is learned, by name: a function of shards, factor of passes, seed."""
    found = {}
    home, quick = settings.data_home, settings.quick
    train, test = load_chunking(home, quick)
    found["CoNLL-2000"] = _tagging(train, test)
    if home:
        for name, folder in (("Spanish", "conll2002-es"), ("Dutch", "conll2002-nl")):
            parts = load_entities(home, folder, quick)
            found[name] = _tagging(parts["train"], parts["test"])
    name = set_or_made(NEWS, home)
    found[name] = _classification(load_rows(name, home, quick))
    return found


def _tagging(train, test):
    encoder = SequenceEncoder()
    X, new = encoder.fit_transform(train.features()), test.features()

    def score(n_shards, times, seed):
        tagger = CWSequenceTagger(
            max_iter=10 * times,
            calibrate_confidence=False,
            random_state=seed,
        )
        tagger.fit(X, train.labels, n_shards=n_shards)
        return float(
            span_scores(test.labels, tagger.predict(encoder.transform(new)))["f1"]
        )

    return score


def _classification(rows):
    test = np.arange(len(rows.y)) % 4 == 3

    def score(n_shards, times, seed):
        classifier = MultiClassCW(
            max_iter=5 * times, variance_scale=1.0, random_state=seed
        )
        classifier.fit(rows.X[~test], rows.y[~test], n_shards=n_shards)
        return float(classifier.score(rows.X[test], rows.y[test]))

    return score


def run_shards(settings):
    """Return the scores by set and number of shards, and goals."""
    shards = QUICK_SHARDS if settings.quick else SHARDS
    judged = shards[-1] if settings.quick else JUDGED
    found, more, goals = {}, {}, []
    for name, score in tasks(settings).items():

        def mean(n_shards, times=1, score=score):
            return float(
                np.mean([score(n_shards, times, s) for s in range(settings.seeds)])
            )

        progress(f"{name} in shards")
        found[name] = {n: mean(n) for n in shards}
        more[name] = {times: mean(judged, times) for times in MORE_PASSES}
        loss = found[name][1] - found[name][judged]
        what = f"loss with {judged} shards, {name}"
        goals.append(at_most(what, loss, MOST_LOST, ".4f"))
    return {
        "scores": {
            name: {str(n): v for n, v in own.items()} for name, own in found.items()
        },
        "more passes": {
            name: {str(n): v for n, v in own.items()} for name, own in more.items()
        },
        "judged": judged,
        "seeds": settings.seeds,
        "goals": goals,
        "quick": settings.quick,
    }


def render_shards(found):
    """Return two tables and the goals."""
    columns = list(next(iter(found["scores"].values())))
    rows = [
        (name, *(number(own[n], ".4f") for n in columns))
        for name, own in found["scores"].items()
    ]
    header = ("set", "one piece", *(f"{n} shards" for n in columns[1:]))
    more = [
        (
            name,
            number(found["scores"][name]["1"], ".4f"),
            *(number(v, ".4f") for v in own.values()),
        )
        for name, own in found["more passes"].items()
    ]
    times = next(iter(found["more passes"].values()))
    second = (
        "set",
        "one piece",
        *(f"{found['judged']} shards, {t} x passes" for t in times),
    )
    return "\n\n".join(
        [
            f"Training in shards ({found['seeds']} seeds)",
            format_table(header, rows),
            format_table(second, more),
            NOTE_SHARDS,
            format_goals(found["goals"], found["quick"]),
        ]
    )


# ---- How much faster two processes train, what travels, and what a pass costs ----

SPEEDUP_SHARDS = (2, 4, 16, 64)
PASSES = 4
# How many tokens, and the numbers of shards that are tried on them.
SIZES = {2_000_000: SPEEDUP_SHARDS, 8_000_000: SPEEDUP_SHARDS[:1]}
QUICK_SIZES = {20_000: SPEEDUP_SHARDS[:2]}
LENGTH, LABELS, WORDS, HASHES = 25, 20, 2_500, 1 << 16
TIMES_FASTER = 1.6
NOTE_SPEEDUP = """\
A corpus that is made: sentences of 25 tokens, each label followed by one of five
others, words by Zipf's law, a tenth of which belong to two labels. Tokens have 12
features: words and parts of words of a window, and pairs of words, hashed. Seconds of a
pass are the median of the passes after the first, which opens the shards; training
alone, encoding and confidence left out. Two processes are workers of loky; times as
fast: as one piece, right before; with two shards medians of 3 runs. Bytes are those of
the second pass; rivals are the tokens that were learned from in it. Below: how
many MB of moves are merged in a second, a quarter of the weights having moved in each
of two shards, and how many MB of a belief are written to a file; medians of 5."""


def made(n_tokens):
    """Return an encoded corpus and its labels."""
    rng = np.random.default_rng(0)
    n_sentences = n_tokens // LENGTH
    follows = rng.integers(LABELS, size=(LABELS, 5))
    labels = np.empty((n_sentences, LENGTH), dtype=np.int64)
    labels[:, 0] = rng.integers(LABELS, size=n_sentences)
    for t in range(1, LENGTH):
        chosen = rng.choice(5, n_sentences, p=[0.5, 0.2, 0.1, 0.1, 0.1])
        labels[:, t] = follows[labels[:, t - 1], chosen]
    # Zipf's law by the inverse of its distribution function.
    kinds = np.exp(rng.random(labels.shape) * np.log(WORDS)).astype(np.int64)
    indices, n_views = _features(labels * (WORDS * 9 // 10) + kinds)
    n = labels.size
    batch = SequenceBatch(
        np.arange(0, n + 1, LENGTH),
        np.arange(0, n * n_views + 1, n_views),
        indices,
        None,
        n_views * HASHES,
    )
    names = np.array([f"L{k:02}" for k in range(LABELS)], dtype=object)
    return batch, names[labels].tolist()


def _features(words):
    """Return the numbers of the features of all tokens, and how many each has."""
    around = np.pad(words, ((0, 0), (2, 2)), constant_values=WORDS * LABELS)
    window = [around[:, k : k + LENGTH] for k in range(5)]
    pairs = [a * 31 + b * 7919 for a, b in (window[1:3], window[2:4])]
    views = [*window, *pairs, *(view % 500 for view in window)]
    indices = np.empty((*words.shape, len(views)), dtype=np.int32)
    for k, view in enumerate(views):
        indices[..., k] = (view * 2654435761 % 2**32 >> 8) % HASHES + k * HASHES
    return indices.ravel(), len(views)


def passes(data, n_shards):
    """Return the median seconds of a pass, CPU seconds of this process, the history."""
    tagger = CWSequenceTagger(
        max_iter=PASSES, calibrate_confidence=False, random_state=0
    )
    began = time.process_time()
    tagger.set_params(learn_unknown_token=False, constraints=None)
    tagger.fit(*data, n_shards=n_shards)
    cpu = time.process_time() - began
    seconds = [record["seconds"] for record in tagger.history_[1:]]
    return float(np.median(seconds)), cpu, tagger.history_[1]


def run_speedup(settings):
    """Return the seconds of a pass in one piece, in shards, and by two processes."""
    rows, goals = [], []
    sizes = QUICK_SIZES if settings.quick else SIZES
    for n_tokens, shards in sizes.items():
        data = made(n_tokens)
        own = [_medians(data, n_shards, n_tokens) for n_shards in (1, *shards)]
        rows += own
        for row in own[1:]:
            row["times"] = row["alone"] / row["two"]
        what = f"times as fast with two processes, {n_tokens:,} tokens"
        best = max(row["times"] for row in own[1:])
        goals.append(at_least(what, best, TIMES_FASTER, ".2f"))
    rates = [_rates(50_000 if settings.quick else 5_000_000) for _ in range(5)]
    merged, written = np.median(rates, axis=0).tolist()
    rest = {"goals": goals, "quick": settings.quick}
    return {"rows": rows, "merged": merged, "written": written, **rest}


def _medians(data, n_shards, n_tokens):
    """Return a row of the table; with two shards three runs take turns."""
    progress(f"a pass over {n_tokens:,} tokens in {n_shards} shards")
    runs = [_once(data, n_shards) for _ in range(3 if n_shards == 2 else 1)]
    medians = {
        name: float(np.median([run_speedup[name] for run_speedup in runs]))
        for name in runs[0]
    }
    return {"tokens": n_tokens, "shards": n_shards, **medians}


def _once(data, n_shards):
    """Return seconds and bytes of a training in one piece and in shards."""
    alone, cpu, _ = passes(data, 1)
    if n_shards == 1:
        return {"here": alone, "cpu": cpu}
    here, cpu, history = passes(data, n_shards)
    with joblib.parallel_config("loky", n_jobs=2):
        there, driver, _ = passes(data, n_shards)
    return {
        "alone": alone,
        "here": here,
        "cpu": cpu,
        "two": there,
        "driver": driver,
        "sent": history["bytes_sent"],
        "returned": history["bytes_returned"],
        "rivals": history["rival_tokens"],
    }


def _rates(n_cells):
    """Return the megabytes of moves merged, and of a belief written, in a second."""
    rng = np.random.default_rng(0)
    mean, drift = np.zeros((2, n_cells), dtype=np.float32)
    variance = np.ones(n_cells, dtype=np.float32)
    moves = []
    for _ in range(2):
        cells = np.flatnonzero(rng.random(n_cells) < 0.25).astype(np.int32)
        half = np.full(len(cells), 0.5, dtype=np.float32)
        moves.append(Moves(cells, half, half, half, 1.0, ()))
    began = time.perf_counter()
    mixture = Mixture(mean, variance, drift, 0.0)
    for own in moves:
        mixture.add(own)
    mixture.finish(number=1)
    merging = time.perf_counter() - began
    with TemporaryDirectory() as folder:
        began = time.perf_counter()
        write_shard(folder, "belief", {"mean": mean, "variance": variance})
        writing = time.perf_counter() - began
    n_bytes = np.array([sum(own.n_bytes for own in moves), 2 * mean.nbytes])
    return n_bytes / 1e6 / [merging, writing]


def render_speedup(found):
    """Return the table and the goals."""
    header = (
        "tokens", "shards", "s a pass, here", "s, two processes", "times as fast",
        "CPU s in all, here", "CPU s of the driver", "MB sent", "MB returned", "rivals",
    )  # fmt: skip
    rows = [
        (
            f"{row['tokens']:,}",
            row["shards"],
            number(row["here"], ".3f"),
            number(row.get("two"), ".3f"),
            number(row.get("times"), ".2f"),
            number(row["cpu"], ".1f"),
            number(row.get("driver"), ".1f"),
            number(row.get("sent", 0) / 1e6, ".1f"),
            number(row.get("returned", 0) / 1e6, ".1f"),
            number(row.get("rivals"), ",.0f"),
        )
        for row in found["rows"]
    ]
    rates = format_table(
        ("MB merged a second", "MB written a second"),
        [(number(found["merged"], ".0f"), number(found["written"], ".0f"))],
    )
    goals = format_goals(found["goals"], found["quick"])
    table = format_table(header, rows)
    return "\n\n".join(["A pass in shards", table, rates, NOTE_SPEEDUP, goals])
