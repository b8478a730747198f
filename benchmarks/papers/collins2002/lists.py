"""Rerankers of the benchmark: their grids, chosen on held-out training sentences."""

import pickle
from time import process_time

import numpy as np
from sklearn.base import clone

from common.corpora import MADE
from common.measure import progress
from skcw import CWSequenceTagger, MaxEntSequenceTagger, make_tagging_pipeline
from skcw._util.ragged import object_rows
from skcw.datasets import fetch_conll2002, make_tagged_corpus
from skcw.features.basic import cased_kind, collapsed_shape
from skcw.metrics import span_f1_score
from skcw.metrics.label_scores import span_precision_recall_fscore_support
from skcw.reranking import (
    BoostingReranker,
    CWReranker,
    GlobalFeatures,
    VotedPerceptronReranker,
)
from skcw.reranking.candidates import candidate_errors
from skcw.reranking.selection import sentence_folds
from skcw.reranking.words import lower_case_lexicon

# ---- Base taggers of the reranking benchmark, and their lists of candidates ----

LANGUAGES = {"Spanish": "es", "Dutch": "nl"}
TASKS = ("boundaries", "entities")
BASES = ("MaxEnt", "CW")
N_BEST = 20
N_FOLDS = 5
N_ORACLE = 50
# The last fifth of the training sentences chooses parameters.
HELD_OUT = 0.2


def first_letter(word):
    """Return the type of a word's first letter."""
    return cased_kind(word[:1])


def paper_features(words, lexicon):
    """Return the features of Collins (2002), section 2.2, for each word."""
    padded = ["^", *words, "$"]
    rows = []
    for t, word in enumerate(words):
        known = word.lower() in lexicon
        rows.append(
            [
                f"w={word}",
                f"w-1={padded[t]}",
                f"w+1={padded[t + 2]}",
                f"c={int(t == 0)}-{int(known)}-{first_letter(word)}",
                f"full={''.join(map(cased_kind, word))}",
                f"short={collapsed_shape(word, cased_kind)}",
            ]
        )
    return rows


def boundaries(rows):
    """Return labels without types: start, continuation, none."""
    return [[label[:1] + "-E" if label != "O" else "O" for label in y] for y in rows]


def read(language, settings, subset):
    """Return tokens and labels of a part of a corpus."""
    if language == MADE:
        n = {"train": 240, "dev": 60, "test": 120}[subset]
        seed = {"train": 0, "dev": 1, "test": 2}[subset]
        return make_tagged_corpus(n, random_state=seed, return_X_y=True)
    lang, home = LANGUAGES[language], settings.data_home
    X, y = fetch_conll2002(lang, data_home=home, subset=subset, return_X_y=True)
    filled = [s for s, labels in enumerate(y) if labels]
    return [X[s] for s in filled], [list(y[s]) for s in filled]


def words_of(tokens):
    """Return the words of tokens that may have further columns."""
    return [[t if isinstance(t, str) else t[0] for t in row] for row in tokens]


def base_tagger(base):
    """Return an unfitted tagger."""
    if base == "MaxEnt":
        return MaxEntSequenceTagger(min_count=5, beam=N_BEST, random_state=0)
    return make_tagging_pipeline("ner", CWSequenceTagger(random_state=0))


def make_lists(base, task, train, test, n_folds=N_FOLDS):
    """Return the n-best lists of training sentences (jackknifed) and of test sentences.

    Parameters
    ----------
    base, task : str
        What tags, and what is tagged.
    train, test : (tokens, labels)
        The sentences.
    n_folds : int
        The folds of jackknifing.

    Returns
    -------
    lists : dict
        ``train`` and ``test``: words, gold labels and n-best lists; the lists for the
        oracle; seconds of processor time.
    """
    began = process_time()
    (tokens, gold), (new, true) = train, test
    if task == "boundaries":
        gold, true = boundaries(gold), boundaries(true)
    words, new_words = words_of(tokens), words_of(new)
    X, probe = tokens, new
    if base == "MaxEnt":
        lexicon = lower_case_lexicon(words)
        X = [paper_features(row, lexicon) for row in words]
        probe = [paper_features(row, lexicon) for row in new_words]
    X, gold = object_rows(X), object_rows(gold)
    tagger = base_tagger(base).fit(X, gold)
    fit_seconds = process_time() - began
    folds = sentence_folds(tagger, X, gold, None, n_folds)
    jackknifed = jackknifed_nbest(base_tagger(base), X, gold, folds)
    seconds = process_time() - began
    began = process_time()
    found = tagger.predict_nbest(probe, N_BEST)
    test_seconds = process_time() - began
    return {
        "train": (words, gold.tolist(), jackknifed),
        "test": (new_words, true, found),
        "oracle": tagger.predict_nbest(probe, N_ORACLE),
        "seconds": {"fit": fit_seconds, "all": seconds, "test": test_seconds},
    }


def jackknifed_nbest(tagger, X, y, folds):
    """Return the n-best lists of sentences by copies that have not seen their fold."""
    found = object_rows([] for _ in folds)
    for fold in np.unique(folds[folds >= 0]):
        rest, own = (folds >= 0) & (folds != fold), folds == fold
        copy = clone(tagger).fit(X[rest], y[rest])
        found[own] = copy.predict_nbest(X[own], N_BEST)
    return found


def held_out(train):
    """Return training sentences without the last ones, and these."""
    tokens, labels = train
    cut = int(len(tokens) * (1 - HELD_OUT))
    return (tokens[:cut], labels[:cut]), (tokens[cut:], labels[cut:])


def lists_to_choose_by(base, task, train):
    """Return lists by which parameters of rerankers are chosen.

    The lists of all training sentences will not do: most of them come from taggers that
    have learned the sentences held out, and a reranker that corrects these taggers
    unlearns what is true of those sentences.
    """
    return make_lists(base, task, *held_out(train), n_folds=N_FOLDS - 1)


def kept_lists(settings, language, base, task, choosing=False):
    """Return the lists of a corpus, from the cache if there is one.

    Those to choose parameters by are made of the training sentences alone.
    """
    name = f"lists-{language}-{base}-{task}{'-choosing' * choosing}.pickle"
    path = settings.cache / name if settings.cache else None
    if path and path.exists():
        return pickle.loads(path.read_bytes())
    progress(f"candidates: {language}, {base}, {task}")
    train = read(language, settings, "train")
    if choosing:
        lists = lists_to_choose_by(base, task, train)
    else:
        lists = make_lists(base, task, train, read(language, settings, "test"))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(lists))
    return lists


def split(tokens, labels, seed, most):
    """Return training and test sentences of a random split, three to one."""
    order = np.random.RandomState(seed).permutation(len(tokens))[:most]
    cut = len(order) * 3 // 4
    return tuple(
        ([tokens[i] for i in part], [labels[i] for i in part])
        for part in (order[:cut], order[cut:])
    )


# ---- Rerankers of the benchmark ----

# The paper's templates see borders; types need some more.
TEMPLATES = {
    "boundaries": ("entities", "quotations"),
    "entities": ("entities", "quotations", "types"),
}
# Rounds of boosting, and how strongly steps are smoothed.
ROUNDS = ((1000, 1e-3), (10_000, 1e-3), (1000, 1e-2), (10_000, 1e-2), (3000, 1e-4))


def grids(quick):
    """Return the settings to choose from, by the name of the reranker."""
    scales = (0.1, 0.5) if quick else (0.1, 0.5, 2.0, 10.0)
    passes = (1,) if quick else (1, 4, 10)
    # Rounds are chosen like all else: a share of the lists that boosting learns from
    # would not do, as `lists_to_choose_by` says.
    rounds = ((30, 1e-3), (300, 1e-3)) if quick else ROUNDS
    boosting = [
        BoostingReranker(n, smoothing=smoothing, validation_fraction=None)
        for n, smoothing in rounds
    ]
    voted = [
        VotedPerceptronReranker(
            score_scale=scale, max_iter=n, shuffle=True, random_state=0
        )
        for scale in scales
        for n in passes
    ]
    cw = [
        CWReranker(C=limit, score_scale=scale, random_state=0)
        for scale in scales
        for limit in ((0.1,) if quick else (0.02, 0.1))
    ]
    return {"boosting": boosting, "voted perceptron": voted, "CW": cw}


class Ranked:
    """N-best lists with their features and errors, for training and for testing."""

    def __init__(self, lists, templates, min_count=5):
        words, gold, nbest = lists["train"]
        new, true, found = lists["test"]
        began = process_time()
        self.features = GlobalFeatures(templates, min_count=min_count)
        self.train = self.features.fit_transform(words, nbest)
        middle = process_time()
        self.test = self.features.transform(new, found)
        self.seconds = {"train": middle - began, "test": process_time() - middle}
        self.gold, self.true = gold, true
        self.errors = candidate_errors(self.train.labelings, gold, "entities")

    def chosen(self, grid):
        """Return the best of some rerankers, by the F1 in the test sentences."""
        if len(grid) == 1:
            return grid[0]
        return max(grid, key=lambda reranker: self.scored(reranker)["F"])

    def scored(self, reranker):
        """Fit a reranker on all training lists; return scores, and seconds."""
        began = process_time()
        reranker.fit(self.train, self.errors)
        middle = process_time()
        best = reranker.predict(self.test)
        return {
            **scores(self.test, self.true, best),
            "fit": middle - began,
            "test": process_time() - middle,
        }


def labels_at(lists, best):
    """Return the labelings at the positions chosen."""
    return [row[j] for row, j in zip(lists.labelings, best, strict=True)]


def f1(lists, gold, best):
    """Return the F1 of the candidates chosen."""
    return span_f1_score(gold, labels_at(lists, best))


def scores(lists, gold, best):
    """Return precision, recall and F1 of the candidates chosen, in per cent."""
    labels = labels_at(lists, best)
    scores = span_precision_recall_fscore_support(gold, labels, average="micro")
    return {name: 100 * score for name, score in zip("PRF", scores[:3], strict=True)}


def reduction(base, new):
    """Return by how many per cent errors fall from one score to another."""
    return 100 * (new - base) / (100 - base)
