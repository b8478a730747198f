"""Time and memory of boosting, of a perceptron pass and of voting, on made lists."""

from statistics import median
from time import process_time

import numpy as np
from _measure import progress
from _tables import at_most, format_goals, format_table

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.reranking import CandidateLists, RerankedTagger, VotedPerceptronReranker
from skcw.reranking.base import Problem
from skcw.reranking.boosting import RankBooster

MB = 2**20
# Votes on more lists would only take longer.
N_VOTED = 2000


def made_lists(n_lists, n_candidates, n_features, seed=0):
    """Return lists with errors whose features have the frequencies of words.

    The candidates of a list share most of their features, as labelings do. Features
    have weights by which the best candidate is chosen, but for noise.
    """
    rng = np.random.RandomState(seed)
    truth = rng.normal(size=n_features)
    n = n_lists * n_candidates
    common, own = 20, 12
    ranks = (n_features ** rng.rand(n_lists, common)).astype(np.int64) - 1
    mine = (n_features ** rng.rand(n, own)).astype(np.int64) - 1
    rows = np.concatenate([np.repeat(ranks, n_candidates, axis=0), mine], axis=1)
    totals = truth[mine].sum(axis=1).reshape(n_lists, n_candidates)
    # As on real corpora the base model is right about four lists in five.
    base = totals + rng.normal(scale=0.7, size=totals.shape)
    lists = CandidateLists(
        np.arange(n_lists + 1) * n_candidates,
        base.ravel(),
        np.arange(n + 1) * (common + own),
        rows.ravel(),
        n_features,
    )
    errors = totals.max(axis=1, keepdims=True) - totals
    return lists, list(errors)


def run(settings):
    """Return seconds of processor time and megabytes."""
    size = (400, 10, 900, 1000) if settings.quick else (40_000, 20, 90_000, 100_000)
    *shape, n_rounds = size
    progress("made lists")
    lists, errors = made_lists(*shape)
    problem = Problem.of(lists, errors, None)
    return {
        "quick": settings.quick,
        "shape": shape,
        "megabytes": {"lists": lists.nbytes / MB},
        "boosting": _boosting(problem, n_rounds),
        "voting": _voting(lists, errors),
        "whole": _whole(60 if settings.quick else 600),
    }


def _boosting(problem, n_rounds):
    progress("boosting")
    began = process_time()
    machine = RankBooster(problem, 1e-3)
    found = {"index": process_time() - began, "megabytes": machine.nbytes / MB}
    n_pairs = np.diff(machine.feature_starts)
    rows, losses = [], []
    # Pieces of rounds, so that their time can be held against what they touch.
    for _ in range(10):
        began = process_time()
        rounds = machine.boost(n_rounds // 10)
        seconds = process_time() - began
        rows.append([len(rounds), int(n_pairs[rounds.feature].sum()), seconds])
        losses += rounds.losses.tolist()
    found |= {"pieces": rows, "loss": [losses[0], losses[-1]]}
    found["never_rises"] = bool((np.diff(losses) <= 0).all())
    return found


def _voting(lists, errors):
    progress("voted perceptron")
    reranker = VotedPerceptronReranker(score_scale=0.2)
    began = process_time()
    reranker.fit(lists, errors)
    found = {"pass": process_time() - began, "steps": reranker.n_steps_}
    some = lists[:N_VOTED]
    for name, voting in (("averaged", False), ("voted", True)):
        reranker.set_params(voting=voting)
        began = process_time()
        reranker.predict(some)
        found[name] = 1e6 * (process_time() - began) / len(some)
    return found


def _whole(n_sentences):
    """Return microseconds per sentence from words to labels, averaged and voted."""
    progress("from words to labels")
    X, y = make_tagged_corpus(n_sentences, random_state=0, return_X_y=True)
    base = make_tagging_pipeline("ner", CWSequenceTagger(random_state=0))
    # Both ways of choosing are timed, whether they gain or not.
    tagger = RerankedTagger(base, VotedPerceptronReranker(), held_out_folds=0)
    tagger.fit(X, y)
    found = {"steps": tagger.reranker_.n_steps_}
    for name, voting in (("averaged", False), ("voted", True)):
        tagger.reranker_.set_params(voting=voting)
        seconds = []
        for _ in range(3):
            began = process_time()
            tagger.predict(X)
            seconds.append(process_time() - began)
        found[name] = 1e6 * median(seconds) / len(X)
    return found


def render(found):
    """Return the figures as text."""
    n_lists, n_candidates, n_features = found["shape"]
    boosting, voting, whole = (found[k] for k in ("boosting", "voting", "whole"))
    rows = [
        [n, touched, f"{seconds:.2f}", f"{1e9 * seconds / max(touched, 1):.0f}"]
        for n, touched, seconds in boosting["pieces"]
    ]
    total = sum(seconds for *_, seconds in boosting["pieces"])
    rest = [
        ["lists", f"{found['megabytes']['lists']:.0f} MB"],
        ["pairs with both indices", f"{boosting['megabytes']:.0f} MB"],
        ["making the indices", f"{boosting['index']:.1f} s"],
        ["all rounds of boosting", f"{total:.1f} s"],
        ["one pass of the perceptron", f"{voting['pass']:.2f} s"],
        ["choosing by the average, a list", f"{voting['averaged']:.1f} µs"],
        [f"choosing by {voting['steps']} steps, a list", f"{voting['voted']:.0f} µs"],
        ["words to labels, averaged, a sentence", f"{whole['averaged']:.0f} µs"],
        [f"the same, votes of {whole['steps']} steps", f"{whole['voted']:.0f} µs"],
    ]
    ratio = whole["voted"] / whole["averaged"]
    goals = [
        at_most("100,000 rounds of boosting (s)", total, 300.0),
        at_most("a pass of the perceptron (s)", voting["pass"], 10.0),
        at_most("votes over average, from words to labels", ratio, 3.0, ".2f"),
        at_most(
            "votes over average, ranking alone",
            voting["voted"] / voting["averaged"],
            5.0,
        ),
    ]
    head = f"{n_lists} lists of {n_candidates} candidates, {n_features} features"
    return "\n\n".join(
        [
            f"{head}; processor time",
            format_table(["rounds", "pairs touched", "seconds", "ns per pair"], rows),
            f"The loss falls from {boosting['loss'][0]:.0f} to "
            f"{boosting['loss'][1]:.0f} and never rises: {boosting['never_rises']}",
            format_table(["work", "cost"], rest),
            format_goals(goals, found["quick"]),
        ]
    )
