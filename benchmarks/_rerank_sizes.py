"""Rerankers as they come, from a hundred training sentences to thousands."""

import numpy as np
from _corpora import MADE
from _measure import progress
from _rerank_lists import LANGUAGES, N_BEST, N_FOLDS, base_tagger, read
from _tables import at_least, format_goals, format_table

from skcw.data._ragged import object_rows
from skcw.datasets import fetch_conll2000, make_tagged_corpus
from skcw.metrics import span_f1_score
from skcw.reranking import (
    AROWReranker,
    BoostingReranker,
    CWReranker,
    RerankedTagger,
    ScoreReranker,
    VotedPerceptronReranker,
)
from skcw.reranking._errors import labeling_size
from skcw.reranking._jackknife import jackknifed_nbest, sentence_folds
from skcw.reranking._selection import (
    HeldOut,
    Sentences,
    best_of,
    compared,
    folds_to_hold_out,
)

# Sentences to learn from, and how many random samples of them; None takes all.
SIZES = {100: 3, 300: 3, 1000: 2, None: 1}
CORPORA = (*LANGUAGES, "CoNLL-2000", "built-in")
# Chunks are many, and so are their features; more would take hours.
MOST_SENTENCES = {"CoNLL-2000": 3000, "built-in": 3000}
MOST_TESTED = 1000
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
        for seed in range(n_samples):
            n = min(size or most, len(train.y))
            order = np.random.RandomState(seed).permutation(len(train.y))
            row = _sample(train[np.sort(order[:n])], test)
            progress(f"sizes: {name}, {n} sentences, sample {seed}: {row}")
            yield {"corpus": name, "size": n, "seed": seed, **row}


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


def _sample(train, test):
    """Return F1 of the base tagger and of each reranker, and what was chosen.

    It does what ``RerankedTagger.fit`` does, but for all rerankers at once.
    """
    base, tagger = base_tagger("CW"), RerankedTagger(base_tagger("CW"))
    fitted = base_tagger("CW").fit(train.X, train.y)
    folds = sentence_folds(fitted, train.X, train.y, None, N_FOLDS)
    nbest = jackknifed_nbest(base, train.X, train.y, folds, N_BEST)

    def encode(sentences, lists, features):
        return tagger._encoded(sentences, lists, features, fitted, None)

    families = {name: one.variants() for name, one in rerankers().items()}
    every = [one for variants in families.values() for one in variants]
    held_out = HeldOut(base, N_BEST, encode, "entities", every)
    for fold in folds_to_hold_out(folds, "auto"):
        held_out.add(fitted, train, fold, folds, nbest)
    trials = iter(held_out.trials())
    lists, errors, features = encode(train, nbest, None)
    new, new_errors, _ = encode(test, fitted.predict_nbest(test.X, N_BEST), features)
    found = {"base": _judged(new, test.y, [0] * len(new)), "rerankers": {}}
    first = _counts(new, new_errors, test.y, [0] * len(new))
    for name, variants in families.items():
        tried = [next(trials) for _ in variants]
        best = best_of(tried)
        always = variants[len(variants) // 2].fit(lists, errors).predict(new)
        chosen = ScoreReranker() if best is None else variants[best]
        labels = chosen.fit(lists, errors).predict(new)
        found["rerankers"][name] = {
            "F": _judged(new, test.y, labels),
            "always": _judged(new, test.y, always),
            "chosen": "left" if best is None else _scale_of(chosen),
            "evidence": max(trial.evidence for trial in tried),
            "test_evidence": compared(
                first, _counts(new, new_errors, test.y, labels), [1.0] * len(new)
            )[2],
        }
    return found


def _scale_of(reranker):
    scale = getattr(reranker, "score_scale", None)
    return "used" if scale is None else f"{scale:g}"


def _judged(lists, y, best):
    chosen = [row[j] for row, j in zip(lists.labelings, best, strict=True)]
    return 100 * span_f1_score(y, chosen)


def _counts(lists, errors, y, best):
    rows = zip(lists.labelings, errors, y, best, strict=True)
    return [(e[j], labeling_size(row[j], true, "entities")) for row, e, true, j in rows]


def render(found):
    """Return the table as text."""
    names = list(found["rows"][0]["rerankers"])
    lines, worst = [], dict.fromkeys(names, 0.0)
    for row in found["rows"]:
        cells = []
        for name in names:
            one = row["rerankers"][name]
            worst[name] = min(worst[name], one["test_evidence"])
            cells += [
                f"{one['always'] - row['base']:+.2f}",
                f"{one['F'] - row['base']:+.2f}",
                one["chosen"],
            ]
        lines.append([row["corpus"], row["size"], f"{row['base']:.2f}", *cells])
    header = ["corpus", "sentences", "CW alone"]
    for name in names:
        header += [name, "chosen", "scale"]
    goals = [
        at_least(f"{name}: evidence of the largest loss", value, -CLEARLY)
        for name, value in worst.items()
    ]
    text = (
        "Gains in F over the CW tagger, of each reranker in any case and as the tagger "
        "chose it\non held-out training sentences (left: as the tagger has it)"
    )
    return "\n\n".join(
        [text, format_table(header, lines), format_goals(goals, found["quick"])]
    )
