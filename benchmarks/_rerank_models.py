"""Rerankers of the benchmark: their grids, chosen on held-out training sentences."""

from time import process_time

from skcw.metrics import span_f1_score
from skcw.metrics.span_scores import span_precision_recall_fscore_support
from skcw.reranking import (
    BoostingReranker,
    CWReranker,
    GlobalFeatures,
    VotedPerceptronReranker,
)
from skcw.reranking.candidates import candidate_errors

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
    found = span_precision_recall_fscore_support(gold, labels, average="micro")
    return {name: 100 * score for name, score in zip("PRF", found[:3], strict=True)}


def reduction(base, new):
    """Return by how many per cent errors fall from one score to another."""
    return 100 * (new - base) / (100 - base)
