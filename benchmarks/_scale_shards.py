"""What shards cost: scores after equal passes, and after more, against one piece."""

import numpy as np
from _corpora import has_corpora, load_chunking, load_entities
from _measure import progress
from _multiclass_data import NEWS, load_rows, set_or_made
from _scores import span_scores
from _tables import at_most, format_goals, format_table, number

from skcw import CWSequenceTagger, MultiClassCW
from skcw.data import SequenceEncoder

SHARDS = (1, 2, 4, 16, 64)
QUICK_SHARDS = (1, 2, 4)
JUDGED = 16
MORE_PASSES = (2, 4)
GOAL = 0.002
NOTE = """\
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
    if has_corpora(home):
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


def run(settings):
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
        goals.append(at_most(what, loss, GOAL, ".4f"))
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


def render(found):
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
            NOTE,
            format_goals(found["goals"], found["quick"]),
        ]
    )
