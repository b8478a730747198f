"""How hard the corpora and the reviews are that `skcw.datasets` makes."""

from functools import partial

import numpy as np
from _defaults_table import render_groups
from _measure import progress
from _scores import span_scores
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skcw import CRFSequenceTagger
from skcw.datasets import make_reviews, make_tagged_corpus
from skcw.features.basic import basic_features

TITLE = "Corpora and reviews that are made"
NOTE = """\
Means of three pairs of seeds, one to learn from and one to be judged by. Corpora: span
F1 of CRFSequenceTagger() on basic_features. Reviews: accuracy of LinearSVC() on tf-idf
of words, runs of words, or pieces of words."""
PAIRS, QUICK_PAIRS = ((0, 1), (2, 3), (4, 5)), ((0, 1),)
N, MANY, QUICK_N = 1_000, 10_000, 100
CORPORA = {
    "as it comes": {},
    "ambiguity 0, unseen_rate 0": {"ambiguity": 0.0, "unseen_rate": 0.0},
    "ambiguity 1": {"ambiguity": 1.0},
}
RUNS = {"ngram_range": (1, 3)}
PIECES = {"analyzer": "char_wb", "ngram_range": (2, 5)}
# For each row the options of the reviews, and those of the features.
REVIEWS = {
    "as it comes": ({}, {}),
    "ambiguity 0, negation 0, unseen_rate 0": (
        {"ambiguity": 0.0, "negation": 0.0, "unseen_rate": 0.0},
        {},
    ),
    "ambiguity 1": ({"ambiguity": 1.0}, {}),
    "unseen_rate 1": ({"unseen_rate": 1.0}, {}),
    "unseen_rate 1, pieces of 2 to 5 letters": ({"unseen_rate": 1.0}, PIECES),
    "negation 0.5": ({"negation": 0.5}, {}),
    "negation 0.5, runs of 1 to 3 words": ({"negation": 0.5}, RUNS),
    "stars": ({"target": "rating"}, {}),
    "domain": ({"target": "domain"}, {}),
    "10,000": ({"n_reviews": MANY}, {}),
    "10,000, runs of 1 to 3 words": ({"n_reviews": MANY}, RUNS),
}


def run(settings):
    """Return what the learners reach on every kind."""
    pairs = QUICK_PAIRS if settings.quick else PAIRS
    n = QUICK_N if settings.quick else N
    corpora, reviews = {}, {}
    for row, options in CORPORA.items():
        progress(f"made: corpora, {row}")
        found = [_corpus(pair, n, options) for pair in pairs]
        corpora[row] = {"span F1": float(np.mean(found))}
    for row, (options, features) in REVIEWS.items():
        progress(f"made: reviews, {row}")
        options = {"n_reviews": n} | options
        if settings.quick:
            options["n_reviews"] = n
        found = [_reviews(pair, options, features) for pair in pairs]
        reviews[row] = {"accuracy": float(np.mean(found))}
    groups = {"corpora": corpora, "reviews": reviews}
    return {"quick": settings.quick, "groups": groups}


def _corpus(pair, n, options):
    (X, y), (X_new, y_new) = (
        make_tagged_corpus(n, random_state=seed, return_X_y=True, **options)
        for seed in pair
    )
    X, X_new = ([basic_features(row) for row in rows] for rows in (X, X_new))
    return span_scores(y_new, CRFSequenceTagger().fit(X, y).predict(X_new))["f1"]


def _reviews(pair, options, features):
    (X, y), (X_new, y_new) = (
        make_reviews(random_state=seed, return_X_y=True, **options) for seed in pair
    )
    model = make_pipeline(TfidfVectorizer(**features), LinearSVC())
    return model.fit(X, y).score(X_new, y_new)


render = partial(render_groups, TITLE, NOTE)
