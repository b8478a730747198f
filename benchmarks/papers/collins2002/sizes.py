"""Rerankers as they come, from a hundred training sentences to thousands."""

from operator import itemgetter

import numpy as np

from common.corpora import MADE
from common.measure import progress
from common.tables import at_least, format_goals, format_table
from papers.collins2002.lists import (
    BASES,
    LANGUAGES,
    N_BEST,
    N_FOLDS,
    base_tagger,
    paper_features,
    read,
    words_of,
)
from skcw._util.ragged import object_rows
from skcw.datasets import fetch_conll2000, make_tagged_corpus
from skcw.reranking import (
    AROWReranker,
    BoostingReranker,
    CWReranker,
    RerankedTagger,
    VotedPerceptronReranker,
)
from skcw.reranking.candidates import labeling_size
from skcw.reranking.selection import (
    LEAST_EVIDENCE,
    HeldOut,
    Sentences,
    best_of,
    compared,
    folds_to_hold_out,
    jackknifed_nbest,
    sentence_folds,
)
from skcw.reranking.words import lower_case_lexicon

# Sentences to learn from, and how many random samples of them; None takes all.
SIZES = {100: 2, 300: 2, 1000: 2, None: 1}
CORPORA = (*LANGUAGES, "CoNLL-2000", "built-in")
# Chunks are many, and so are their features; more would take hours.
MOST_SENTENCES = {"CoNLL-2000": 3000, "built-in": 3000}
MOST_TESTED = 1000
MOST_OF_MAXENT = 1000
# What the evidence must be: what the tagger asks for, less and more.
THRESHOLDS = (float("-inf"), 0.0, 1.0, LEAST_EVIDENCE, 2.0, 2.5)
# A loss of more standard deviations than this is no accident.
CLEARLY = 2.0


def rerankers():
    """Return the rerankers with their default parameters."""
    return {
        "boosting": BoostingReranker(random_state=0),
        "voted perceptron": VotedPerceptronReranker(),
        "CW": CWReranker(random_state=0),
        "AROW": AROWReranker(random_state=0),
    }


def run(settings):
    """Return base and reranked F1 for all corpora and sizes."""
    corpora, sizes = CORPORA, SIZES
    if settings.quick or settings.data_home is None:
        corpora, sizes = [MADE], {60: 1, None: 1}
    rows = [row for name in corpora for row in _of_corpus(name, sizes, settings)]
    return {"quick": settings.quick, "rows": rows}


def _of_corpus(name, sizes, settings):
    train, test = (_read(name, settings, subset) for subset in ("train", "test"))
    most = MOST_SENTENCES.get(name, len(train.y))
    test = test[np.arange(min(MOST_TESTED, len(test.y)))]
    for size, n_samples in sizes.items():
        n = min(size or most, len(train.y))
        for seed in range(n_samples):
            order = np.random.RandomState(seed).permutation(len(train.y))
            some = train[np.sort(order[:n])]
            for base in _bases(n, seed):
                row = _sample(base, some, test)
                progress(f"sizes: {name}, {base}, {n} sentences, sample {seed}: {row}")
                yield {"corpus": name, "tagger": base, "size": n, "seed": seed, **row}


def _bases(size, seed):
    """Return the base taggers: MaxEnt takes long, and is in the tables at full size."""
    return BASES if size <= MOST_OF_MAXENT and not seed else ["CW"]


def _read(name, settings, subset):
    if name == "CoNLL-2000":
        X, y = fetch_conll2000(
            data_home=settings.data_home, subset=subset, return_X_y=True
        )
    elif name == "built-in":
        n, seed = (4000, 0) if subset == "train" else (MOST_TESTED, 99)
        X, y = make_tagged_corpus(n, random_state=seed, return_X_y=True)
    else:
        X, y = read(name, settings, subset)
    filled = [s for s, labels in enumerate(y) if len(labels)]
    return Sentences(
        object_rows([X[s] for s in filled]), object_rows([list(y[s]) for s in filled])
    )


def _sample(base, train, test):
    """Return F1 of the base tagger and of each reranker, and what was chosen.

    It does what ``RerankedTagger.fit`` does, but for all rerankers at once, and holds
    out all folds where the tagger stops as soon as the evidence is clear.
    """
    if base == "MaxEnt":
        lexicon = lower_case_lexicon(words_of(train.X))
        train, test = (_with_paper_features(part, lexicon) for part in (train, test))
    unfitted, tagger = base_tagger(base), RerankedTagger(base_tagger(base))
    fitted = base_tagger(base).fit(train.X, train.y)
    prefix = tagger._word_prefix(train.X, fitted)

    def encode(sentences, lists, features):
        return tagger._encoded(sentences, lists, features, fitted, prefix)

    folds = sentence_folds(fitted, train.X, train.y, None, N_FOLDS)
    nbest = jackknifed_nbest(unfitted, train.X, train.y, folds, N_BEST)
    families = {name: one.variants() for name, one in rerankers().items()}
    every = [one for variants in families.values() for one in variants]
    held_out = HeldOut(unfitted, N_BEST, encode, "entities", every)
    for fold in folds_to_hold_out(folds, "auto"):
        held_out.add(fitted, train, fold, folds, nbest)
    trials = iter(held_out.trials())
    lists, errors, features = encode(train, nbest, None)
    new, new_errors, _ = encode(test, fitted.predict_nbest(test.X, N_BEST), features)
    judge = _Judge(new, new_errors, test.y)
    found = {"base": 100 * judge.base_score, "rerankers": {}}
    for name, variants in families.items():
        tried = [next(trials) for _ in variants]
        judged = [judge(one.fit(lists, errors).predict(new)) for one in variants]
        best = best_of(tried)
        found["rerankers"][name] = {
            "always": judged[len(variants) // 2][0],
            "chosen": "left" if best is None else _scale_of(variants[best]),
            "tried": [
                [trial.gain, trial.evidence, *on_test]
                for trial, on_test in zip(tried, judged, strict=True)
            ],
        }
    return found


def _with_paper_features(sentences, lexicon):
    rows = [paper_features(row, lexicon) for row in words_of(sentences.X)]
    return Sentences(object_rows(rows), sentences.y)


def _scale_of(reranker):
    scale = getattr(reranker, "score_scale", None)
    return "used" if scale is None else f"{scale:g}"


class _Judge:
    """Scores of the candidates chosen in test sentences, beside those of the base."""

    def __init__(self, lists, errors, y):
        self.lists, self.errors, self.y = lists, errors, y
        self.first = self._counts([0] * len(lists))
        self.base_score = compared(self.first, self.first, [1.0] * len(lists))[0]

    def __call__(self, best):
        """Return F1, and how many standard deviations it is above the base's."""
        weight = [1.0] * len(self.lists)
        score, _, evidence = compared(self.first, self._counts(best), weight)
        return 100 * score, evidence

    def _counts(self, best):
        rows = zip(self.lists.labelings, self.errors, self.y, best, strict=True)
        return [
            (errors[j], labeling_size(labelings[j], truth, "entities"))
            for labelings, errors, truth, j in rows
        ]


def best_tried(one):
    """Return the figures of the variant that did best on held-out sentences."""
    return max(one["tried"], key=itemgetter(0))


def outcome(row, name, threshold):
    """Return gain in F on the test set and its evidence if so much is asked for.

    Parameters
    ----------
    row : dict
        A sample.
    name : str
        The reranker.
    threshold : float
        The least evidence on held-out training sentences.

    Returns
    -------
    gain, evidence : float
        Zeros where labels are left as they are.
    """
    _, held_out, new, evidence = best_tried(row["rerankers"][name])
    return (new - row["base"], evidence) if held_out >= threshold else (0.0, 0.0)


def render(found):
    """Return the tables as text."""
    names = list(found["rows"][0]["rerankers"])
    text = (
        "Gains in F over the base tagger, of each reranker in any case and as the "
        "tagger chose\nit on held-out training sentences, and the evidence there "
        "(left: as the base has it)"
    )
    worst = {
        name: min(outcome(row, name, LEAST_EVIDENCE)[1] for row in found["rows"])
        for name in names
    }
    goals = [
        at_least(f"{name}: evidence of the largest loss", value, -CLEARLY)
        for name, value in worst.items()
    ]
    return "\n\n".join(
        [
            text,
            _samples(found["rows"], names),
            "All samples, by the evidence on held-out sentences that is asked for",
            _by_threshold(found["rows"], names),
            format_goals(goals, found["quick"]),
        ]
    )


def _samples(rows, names):
    header = ["corpus", "base", "sentences", "F alone"]
    for name in names:
        header += [name, "chosen", "scale", "evidence"]
    lines = []
    for row in rows:
        line = [row["corpus"], row["tagger"], row["size"], f"{row['base']:.2f}"]
        for name in names:
            one = row["rerankers"][name]
            line += [
                f"{one['always'] - row['base']:+.2f}",
                f"{outcome(row, name, LEAST_EVIDENCE)[0]:+.2f}",
                one["chosen"],
                f"{best_tried(one)[1]:.1f}",
            ]
        lines.append(line)
    return format_table(header, lines)


def _by_threshold(rows, names):
    """Return a table of gains and losses, by what the evidence must be."""
    lines = []
    for name in names:
        for threshold in THRESHOLDS:
            found = [outcome(row, name, threshold) for row in rows]
            gains, evidence = (list(column) for column in zip(*found, strict=True))
            lines.append(
                [
                    name,
                    "none" if threshold == THRESHOLDS[0] else f"{threshold:g}",
                    sum(gain != 0.0 for gain in gains),
                    f"{np.mean(gains):+.2f}",
                    f"{min(gains):+.2f}",
                    f"{max(gains):+.2f}",
                    f"{min(evidence):.1f}",
                ]
            )
    header = ["reranker", "asked for", "reranked", "mean gain", "least", "most"]
    return format_table([*header, "evidence of the largest loss"], lines)
