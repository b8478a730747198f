"""Transitions that look at words, against every labeling of short sequences."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._kernels.sequence_passes import (
    arow_pass,
    cw_pass,
    pa_pass,
    perceptron_pass,
)
from skcw._model.decoding import Decoder
from skcw._model.examples import Examples
from skcw._model.gaussian import Belief
from skcw._model.mixing import BeliefMean
from skcw.confidence.draws import count_draws, draw_marginals
from skcw.confidence.marginals import draw_chains, marginal_spans
from skcw.confidence.methods import delta, delta_deviation, delta_max
from skcw.confidence.settings import Settings
from skcw.confidence.tallies import labeling_lead, span_borders
from skcw.data.batch import SequenceBatch
from skcw.data.edges import split_edges
from skcw.data.schemes import transition_constraints
from tests.kernels.problems import (
    EXACT,
    FLOAT32,
    pass_options,
    random_belief,
    random_corpus,
    run_passes,
)
from tests.reference import draws, passes
from tests.reference import edges as twin

N_FEATURES = 9
EDGES = np.array([1, 4, 8], dtype=np.int32)
LENGTHS = (3, 0, 1, 4, 2)
BIO = ["O", "B-x", "I-x"]
FORBIDDEN = transition_constraints("BIO", BIO)
# Shares of 4,000 draws are this near to what they stand for (five deviations).
CHANCE = 5 * np.sqrt(0.25 / 4000)

each_border = pytest.mark.parametrize(
    "forbidden", [None, FORBIDDEN], ids=["free", "BIO"]
)
each_kind = pytest.mark.parametrize(
    "real_values", [False, True], ids=["ones", "values"]
)


def belief_with_edges(rng, n_labels, with_variance=True, dtype=np.float64):
    """Return a closed belief in which some steps of some features have a row."""
    plain = random_belief(rng, N_FEATURES, n_labels, with_variance, dtype)
    width, first = plain.width, plain.n_rows
    plain.row_of[EDGES] = width
    touched = rng.random((len(EDGES), n_labels)) < 0.7
    edge_rows = np.full(touched.shape, width, dtype=np.int32)
    edge_rows[touched] = first + np.arange(touched.sum())
    more = np.zeros((touched.sum(), width), dtype)
    more[:, :n_labels] = rng.normal(size=(len(more), n_labels))
    mean = np.concatenate([plain.mean, more.ravel()])
    variance = plain.variance
    if variance is not None:
        narrow = np.full_like(more, 1.5) * rng.uniform(0.2, 1.0, size=more.shape)
        variance = np.concatenate([variance, narrow.ravel()]).astype(dtype)
    return Belief(
        n_labels,
        plain.row_of,
        mean,
        variance,
        mean.copy(),
        0.0,
        edges=EDGES,
        edge_rows=edge_rows,
    )


def vector(belief, kind="weights"):
    """Return a belief as the twin's vector."""
    parts = (
        belief.feature_weights(kind),
        belief.transition_weights(kind),
        belief.edge_weights(kind),
    )
    return np.concatenate([part.ravel() for part in parts]).astype(np.float64)


def problem(n_labels=3, real_values=False, lengths=LENGTHS, dtype=np.float64, seed=0):
    """Return a belief, a batch, and the batch as the twin's sentences."""
    rng = np.random.default_rng([seed, n_labels])
    belief = belief_with_edges(rng, n_labels, dtype=dtype)
    corpus = random_corpus(rng, n_labels, lengths, N_FEATURES, real_values)
    batch = SequenceBatch(*corpus[:4], N_FEATURES)
    return belief, batch, sentences_of(corpus), corpus.gold


def sentences_of(corpus):
    found = []
    for tokens, gold, _ in corpus.sentences(N_FEATURES):
        X, E = tokens.copy(), tokens[:, EDGES].copy()
        X[:, EDGES] = 0.0
        # No step leads into the first token: its features must not matter.
        E[:1] = 1e6
        found.append((X, E, gold))
    return found


def lattices(belief, sentences, forbidden=None):
    """Return all labelings of each sentence with their scores."""
    mean = vector(belief)
    return [
        twin.every_labeling(mean, X, E, belief.n_labels, forbidden)
        for X, E, _ in sentences
    ]


@each_border
@each_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_decoding_is_that_of_all_labelings(dtype, real_values, forbidden):
    belief, batch, sentences, gold = problem(real_values=real_values, dtype=dtype)
    legal = None if forbidden is None else forbidden.astype(dtype)
    scored = Decoder(belief, legal).open(batch)
    labels, total = scored.viterbi()
    near = {"rtol": EXACT if dtype == np.float64 else FLOAT32, "atol": EXACT}
    table, log_z = scored.marginals()
    forced, of_gold = scored.max_marginals(), scored.path_scores(gold)
    codes, scores, found = scored.k_best(5)
    for s, (rows, expected) in enumerate(lattices(belief, sentences, forbidden)):
        here = slice(*batch.offsets[s : s + 2])
        best = np.argsort(-expected, kind="stable")
        assert_array_equal(labels[here], rows[best[0]])
        assert_allclose(total[s], expected[best[0]], **near)
        n = min(5, np.isfinite(expected).sum())
        assert found[s] == n
        assert_allclose(scores[s, :n], expected[best[:n]], **near)
        assert_array_equal(codes[:n, here], rows[best[:n]])
        place = (rows == gold[here]).all(axis=1)
        assert_allclose(of_gold[s], expected[place][0], **near)
        shares, expected_z = twin.marginals(rows, expected, 3)
        assert_allclose(table[here], shares, atol=near["rtol"])
        assert_allclose(log_z[s], expected_z, **near)
        assert_allclose(forced[here], twin.max_marginals(rows, expected, 3), **near)


@pytest.mark.parametrize("n_labels", [1, 2, 8, 9])
def test_any_number_of_labels(n_labels):
    belief, batch, sentences, _ = problem(n_labels, lengths=(2, 3))
    scored = Decoder(belief).open(batch)
    table, log_z = scored.marginals()
    for s, (rows, expected) in enumerate(lattices(belief, sentences)):
        here = slice(*batch.offsets[s : s + 2])
        assert_array_equal(scored.viterbi()[0][here], rows[expected.argmax()])
        shares, expected_z = twin.marginals(rows, expected, n_labels)
        assert_allclose(table[here], shares, atol=EXACT)
        assert_allclose(log_z[s], expected_z, rtol=EXACT, atol=EXACT)


def test_marginals_of_any_range():
    # So far apart that scaled numbers underflow and logarithms have to do.
    belief, batch, sentences, _ = problem()
    belief.average *= 400.0
    table, log_z = Decoder(belief).open(batch).marginals()
    for s, (rows, expected) in enumerate(lattices(belief, sentences)):
        here = slice(*batch.offsets[s : s + 2])
        shares, expected_z = twin.marginals(rows, expected, 3)
        assert_allclose(table[here], shares, atol=EXACT)
        assert_allclose(log_z[s], expected_z, rtol=EXACT)


@each_border
@each_kind
@pytest.mark.parametrize("fixed", [False, True])
def test_gaps_and_deviations_are_those_of_the_change(fixed, real_values, forbidden):
    # Two labels in five places: steps repeat and cancel, with and without their words.
    belief, batch, sentences, _ = problem(real_values=real_values, lengths=(5, 4, 1))
    scored = Decoder(belief, forbidden).open(batch)
    best = scored.viterbi()[0]
    free = np.random.default_rng(3).integers(2, size=len(best)).astype(np.int32)
    for codes in (best, best if forbidden is not None else free):
        gap, deviation = delta_deviation(scored, codes, unit_variance=fixed)
        smallest = delta(scored, codes)
        mean, variance = vector(belief), vector(belief, "variance")
        variance = np.ones_like(variance) if fixed else variance
        at = 0
        for X, E, y in sentences:
            labels = codes[at : at + len(y)]
            for t in range(len(y)):
                found = twin.one_label_changes(
                    mean, variance, X, E, labels, t, 3, forbidden
                )
                least = min(found, key=lambda change: change[0] / change[1])
                assert_allclose((gap[at], deviation[at]), least, rtol=EXACT)
                assert_allclose(smallest[at], min(found)[0], rtol=EXACT)
                at += 1
    assert (delta_max(scored, best) >= 0).all()


@each_kind
def test_leads_in_deviations_are_those_of_the_two_best(real_values):
    belief, batch, sentences, _ = problem(real_values=real_values)
    found = labeling_lead(Decoder(belief).open(batch), in_deviations=True)
    variance = vector(belief, "variance")
    for s, (rows, scores) in enumerate(lattices(belief, sentences)):
        if len(rows) < 2:
            continue
        X, E, _ = sentences[s]
        first, second = rows[np.argsort(-scores)[:2]]
        change = twin.phi(X, E, first, 3) - twin.phi(X, E, second, 3)
        lead = scores.max() - np.sort(scores)[-2]
        assert_allclose(found[s], lead / np.sqrt(change**2 @ variance), rtol=EXACT)


def test_spans_have_the_probability_of_their_labelings():
    belief, batch, sentences, _ = problem(seed=1)
    scored = Decoder(belief).open(batch)
    codes = scored.viterbi()[0]
    starts = np.array([0, 1, 4, 5])
    stops = np.array([2, 3, 7, 6])
    asked = scored, codes, (starts, stops)
    settings, borders = Settings(0.0, 1.0), span_borders(BIO, codes, starts, "boundary")
    found = marginal_spans(*asked, None, settings)
    exact = marginal_spans(*asked, borders, settings)
    owner = np.searchsorted(batch.offsets, starts, side="right") - 1
    for n, s in enumerate(owner):
        rows, scores = lattices(belief, sentences)[s]
        share = np.exp(scores - scores.max())
        share /= share.sum()
        a, b = starts[n] - batch.offsets[s], stops[n] - batch.offsets[s]
        same = (rows[:, a:b] == codes[starts[n] : stops[n]]).all(axis=1)
        assert_allclose(found[n], share[same].sum(), rtol=EXACT)
        spans = [_spans(row) for row in rows]
        assert_allclose(exact[n], share[[(a, b) in one for one in spans]].sum())


def _spans(codes):
    """Return the spans of one type; I after O begins one, as conlleval reads it."""
    labels = [BIO[c] for c in codes] + ["O"]
    starts = [
        t
        for t, (before, label) in enumerate(pairwise(["O", *labels[:-1]]))
        if label == "B-x" or (label == "I-x" and before == "O")
    ]
    return {
        (t, next(e for e in range(t + 1, len(labels)) if labels[e] != "I-x"))
        for t in starts
    }


def drawn_vector(belief, draw, scale, fixed):
    """Return the twin's vector of one draw."""
    weights, transitions = draws.drawn_model(belief, 5, draw, scale, fixed)
    numbers = (1 << 33) + np.arange(belief.edge_rows.size)
    mean = belief.edge_weights().reshape(-1, belief.n_labels)
    variance = 1.0
    if not fixed:
        variance = belief.edge_weights("variance").reshape(-1, belief.n_labels)
    normals = draws.normals(5, draw, numbers, belief.n_labels)
    steps = mean + np.sqrt(scale * variance) * normals
    return np.concatenate([p.ravel() for p in (weights, transitions, steps)])


@each_border
@each_kind
@pytest.mark.parametrize("fixed", [False, True])
def test_draws_are_those_of_drawn_weights(fixed, real_values, forbidden):
    belief, batch, sentences, _ = problem(real_values=real_values, dtype=np.float32)
    legal = None if forbidden is None else forbidden.astype(np.float32)
    scored = Decoder(belief, legal).open(batch)
    labelings = np.zeros((10, batch.n_tokens), dtype=np.int32)
    counted = []

    def keep(found, tokens, sequences):
        first = sum(n for at, n in counted if at == tokens)
        labelings[first : first + len(found), tokens] = found
        counted.append((tokens, len(found)))

    count_draws(scored, 10, 0.3, [keep], seed=5, unit_variance=fixed)
    table = draw_marginals(scored, 10, 0.3, seed=5, unit_variance=fixed)
    expected = np.zeros_like(table)
    for draw in range(10):
        model = drawn_vector(belief, draw, 0.3, fixed)
        for s, (X, E, _) in enumerate(sentences):
            here = slice(*batch.offsets[s : s + 2])
            rows, scores = twin.every_labeling(model, X, E, 3, forbidden)
            assert_array_equal(labelings[draw, here], rows[scores.argmax()])
            expected[here] += twin.marginals(rows, scores, 3)[0] / 10
    assert_allclose(table, expected, atol=FLOAT32)


def test_draws_of_any_range():
    belief, batch, sentences, _ = problem(dtype=np.float32)
    belief.average *= 400.0
    table = draw_marginals(Decoder(belief).open(batch), 2, 0.0, seed=0)
    for s, (rows, scores) in enumerate(lattices(belief, sentences)):
        here = slice(*batch.offsets[s : s + 2])
        assert_allclose(table[here], twin.marginals(rows, scores, 3)[0], atol=FLOAT32)


def test_drawn_chains_have_the_shares_of_marginals():
    belief, batch, *_ = problem()
    scored = Decoder(belief).open(batch)
    codes = draw_chains(scored, 4000, 1.0, seed=0)
    shares = (codes[:, :, None] == np.arange(3)).mean(axis=0)
    assert_allclose(shares, scored.marginals()[0], atol=CHANCE)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_pieces_and_threads_change_no_bit(monkeypatch, n_jobs):
    belief, batch, *_ = problem(lengths=(4, 1, 3, 0, 5, 2))

    def everything(decoder):
        scored = decoder.open(batch)
        codes, _ = scored.viterbi()
        return [
            codes,
            *scored.k_best(3),
            scored.marginals()[0],
            scored.max_marginals(),
            *delta_deviation(scored, codes),
            draw_marginals(scored, 9, 0.3, seed=0),
            draw_marginals(scored, 9, 0.3, seed=0, independent=True),
        ]

    whole = everything(Decoder(belief))
    monkeypatch.setattr("skcw._model.decoding.TRANSITIONS_PER_PIECE", 64)
    for one, other in zip(
        whole, everything(Decoder(belief, None, n_jobs)), strict=True
    ):
        assert_array_equal(one, other)


LEARNERS = {
    "CW": (cw_pass, (0.7, "covariance"), passes.cw_rule(0.7, "covariance"), 1),
    "CW optimal": (cw_pass, (0.7, "optimal"), passes.cw_rule(0.7, "optimal"), 1),
    "AROW": (arow_pass, (0.3, "precision"), passes.arow_rule(0.3, "precision"), 1),
    "perceptron": (perceptron_pass, (), passes.perceptron_rule, 1),
    "PA": (pa_pass, (0.8, 1), passes.pa_rule(0.8), 1),
    "PA with three": (pa_pass, (0.8, 3), passes.pa_rule(0.8), 3),
}


@pytest.mark.parametrize("name", LEARNERS)
@each_border
@each_kind
@pytest.mark.parametrize("cost_unit", [0.0, 0.4])
def test_passes_are_those_on_dense_vectors(name, cost_unit, real_values, forbidden):
    kernel, parameters, rule, k = LEARNERS[name]
    rng = np.random.default_rng(4)
    with_variance = name.startswith(("CW", "AROW"))
    start = belief_with_edges(rng, 3, with_variance)
    corpus = random_corpus(rng, 3, (3, 1, 4, 2, 3, 4), N_FEATURES, real_values)
    cost = np.array([1.0, 0.5, 2.0])
    options = pass_options(
        corpus, 3, cost=cost, forbidden=forbidden, cost_unit=cost_unit
    )
    split = Examples(SequenceBatch(*corpus[:4], N_FEATURES), corpus.gold, None).corpus(
        start
    )
    corpus_of_kernel = corpus._replace(
        indptr=split.indptr,
        indices=split.indices,
        values=split.values,
        edges=split.edges,
    )
    belief, _ = run_passes(kernel, start, corpus_of_kernel, options, *parameters)
    mean, variance, average = twin.learn(
        vector(start, "mean"),
        vector(start, "variance") if with_variance else None,
        sentences_of(corpus),
        cost,
        cost_unit,
        rule,
        k,
        forbidden,
    )
    assert_allclose(vector(belief, "mean"), mean, rtol=EXACT, atol=EXACT)
    assert_allclose(vector(belief), average, rtol=EXACT, atol=EXACT)
    if with_variance:
        assert_allclose(vector(belief, "variance"), variance, rtol=EXACT)


def test_a_belief_grows_by_labels_and_edges_at_the_prior():
    belief, *_ = problem()
    grown = belief.extended(12, 9, [1, 4, 8, 11])
    assert grown.edge_rows.shape == (4, 9)
    assert_array_equal(grown.edge_weights()[:3, :3, :3], belief.edge_weights())
    rest = grown.edge_weights()
    rest[:3, :3, :3] = 0.0
    assert not rest.any()
    assert_array_equal(grown.edge_weights("variance")[3], 1.5)
    grown.check()


def test_the_mean_of_beliefs_is_that_of_their_edges():
    beliefs = [problem(seed=seed)[0] for seed in range(3)]
    # Each has touched other steps.
    assert len({tuple((b.edge_rows == b.width).ravel()) for b in beliefs}) > 1
    total = BeliefMean()
    for belief in beliefs:
        total.add(belief)
    result = total.result()
    result.check()
    assert_array_equal(result.edges, EDGES)
    mean = np.mean([b.edge_weights() for b in beliefs], axis=0)
    assert_allclose(result.edge_weights(), mean, rtol=EXACT)
    precision = np.mean([1 / b.edge_weights("variance") for b in beliefs], axis=0)
    assert_allclose(result.edge_weights("variance"), 1 / precision, rtol=EXACT)


def test_a_belief_survives_training_and_files():
    belief, *_ = problem()
    expanded, n_rows = belief.expanded_for_training()
    again = expanded.compacted(n_rows)
    assert_array_equal(again.edge_rows, belief.edge_rows)
    assert_array_equal(again.row_of, belief.row_of)
    opened = Belief.from_arrays(3, belief.arrays())
    assert_array_equal(opened.edge_weights(), belief.edge_weights())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("edges", [4, 1, 8], "not in order"),
        ("edges", [1, 4, 9], "not in order"),
        ("edges", [1, 4], "edge_rows"),
        ("edge_rows", [[8, 8, 8], [8, 8, 8], [8, 8, 7]], "row that does not exist"),
        ("edge_rows", [[8, 8, 8], [8, 8, 8], [8, 8, 9999]], "row that does not exist"),
        ("edge_rows", [[8, 8]] * 3, "edge_rows"),
    ],
)
def test_edges_of_a_file_must_fit(name, value, message):
    arrays = problem()[0].arrays()
    arrays[f"belief.{name}"] = np.array(value, dtype=np.int32)
    with pytest.raises(ValueError, match=message):
        Belief.from_arrays(3, arrays)


def test_too_many_steps_for_their_numbers_are_refused():
    _, batch, *_ = problem()
    with pytest.raises(ValueError, match="min_count"):
        split_edges(batch, EDGES, N_FEATURES, 2**30)


def test_values_that_are_too_large_are_named():
    belief, batch, *_ = problem()
    values = np.zeros(len(batch.indices))
    last = int(batch.indptr[-2])
    indices = batch.indices.copy()
    indices[last], values[last] = EDGES[0], 1e150
    belief.average[:] = 1e10
    wrong = SequenceBatch(batch.offsets, batch.indptr, indices, values, N_FEATURES)
    with pytest.raises(ValueError, match=r"sequence 4, token 1 .* transition"):
        Decoder(belief).open(wrong).viterbi()
