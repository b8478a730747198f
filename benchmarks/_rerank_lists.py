"""Base taggers of the reranking benchmark, and their lists of candidates."""

import pickle
from time import process_time

import numpy as np
from _corpora import MADE
from _measure import progress

from skcw import CWSequenceTagger, MaxEntSequenceTagger, make_tagging_pipeline
from skcw._util.ragged import object_rows
from skcw.datasets import fetch_conll2002, make_tagged_corpus
from skcw.features.basic import cased_kind, collapsed_shape
from skcw.reranking.selection import jackknifed_nbest, sentence_folds
from skcw.reranking.words import lower_case_lexicon

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
    jackknifed = jackknifed_nbest(base_tagger(base), X, gold, folds, N_BEST)
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
