"""Laws of all methods, and of those that are put together from others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcw._model import decoding as decoding
from skcw._model.decoding import Decoder
from skcw._model.gaussian import Belief
from skcw.confidence.draws import DRAWN_TEMPERATURE, draw_marginals
from skcw.confidence.methods import METHODS, check_method, served_methods
from skcw.confidence.settings import Settings, saved_confidence
from skcw.data.batch import SequenceBatch
from tests.confidence.lattices import (
    BIO,
    DRAWN,
    IOBES,
    JOINT_METHODS,
    sequence_confidence,
    small_problem,
    span_confidence,
    spans_of,
)
from tests.reference import draws as twin

each_method = pytest.mark.parametrize("name", METHODS)
SETTINGS = Settings(0.3, temperature=0.6, n_draws=21, n_best=7, seed=3)
# How many standard errors a share may be off.
ERRORS = 4.5
# What rounding in single precision may add to a share of 1.
SINGLE = 1e-5


def compute(name, scored, codes, settings=SETTINGS):
    return METHODS[name].compute(scored, codes, settings)


@each_method
@pytest.mark.parametrize("constraints", [None, "BIO"])
def test_every_word_has_one_number(name, constraints):
    decoder, batch, codes = small_problem(constraints=constraints)
    found = compute(name, decoder.open(batch), codes)
    assert found.shape == (batch.n_tokens,) and found.dtype == np.float64
    assert not np.isnan(found).any()
    assert (found >= 0).all()
    if METHODS[name].probability:
        assert (found <= 1).all()
        # Other labels are legal at some words, so that something is in doubt.
        assert (found < 1).any()


@each_method
def test_the_order_of_sequences_changes_no_bit(name):
    decoder, batch, codes = small_problem()
    whole = compute(name, decoder.open(batch), codes)
    order = np.random.default_rng(1).permutation(len(batch))
    at = np.concatenate([np.arange(*batch.offsets[[s, s + 1]]) for s in order])
    assert_array_equal(compute(name, decoder.open(batch[order]), codes[at]), whole[at])


@each_method
def test_neither_splitting_nor_pieces_nor_threads_change_a_bit(name, monkeypatch):
    decoder, batch, codes = small_problem()
    whole = compute(name, decoder.open(batch), codes)
    for s in range(len(batch)):
        here = slice(*batch.offsets[[s, s + 1]])
        alone = compute(name, decoder.open(batch[s : s + 1]), codes[here])
        assert_array_equal(alone, whole[here])
    monkeypatch.setattr(decoding, "TOKENS_PER_PIECE", 4)
    for n_jobs in (None, 2):
        decoder, *_ = small_problem(n_jobs=n_jobs)
        assert_array_equal(compute(name, decoder.open(batch), codes), whole)


@pytest.mark.parametrize("name", JOINT_METHODS)
def test_neither_pieces_nor_threads_change_a_whole_sequence(name, monkeypatch):
    decoder, batch, codes = small_problem()
    whole = sequence_confidence(decoder.open(batch), codes, name, SETTINGS)
    assert (whole[batch.lengths == 0] == 1).all()
    monkeypatch.setattr(decoding, "TOKENS_PER_PIECE", 4)
    decoder, *_ = small_problem(n_jobs=2)
    assert_array_equal(
        sequence_confidence(decoder.open(batch), codes, name, SETTINGS), whole
    )


@each_method
def test_a_batch_without_words_is_answered_with_nothing(name):
    decoder, batch, codes = small_problem()
    empty = batch[np.array([1, 5])]
    assert len(compute(name, decoder.open(empty), codes[:0])) == 0
    assert len(compute(name, decoder.open(batch[:0]), codes[:0])) == 0


@each_method
def test_with_one_label_there_is_no_doubt(name):
    decoder, batch, codes = small_problem(["B-x"])
    found = compute(name, decoder.open(batch), codes)
    assert_allclose(found, 1.0 if METHODS[name].probability else np.inf, rtol=1e-12)


@pytest.mark.parametrize(
    "name", [n for n, m in METHODS.items() if m.tunes and "n_best" not in m.tunes]
)
def test_without_spread_and_heat_there_is_no_doubt(name):
    decoder, batch, codes = small_problem(constraints="BIO")
    cold = SETTINGS._replace(variance_scale=1e-12, temperature=1e-4)
    # A word of features never touched is a tie.
    tied = compute("delta-max", decoder.open(batch), codes) < 0.01
    found = compute(name, decoder.open(batch), codes, cold)
    assert_allclose(found[~tied], 1.0, rtol=1e-9)
    assert tied.sum() == 1 and found[tied] < 0.6


@pytest.mark.parametrize("name", ["kbv", "wkbv"])
def test_the_best_labeling_alone_has_no_doubt(name):
    decoder, batch, codes = small_problem()
    alone = SETTINGS._replace(n_best=1)
    assert_array_equal(compute(name, decoder.open(batch), codes, alone), 1.0)


@pytest.mark.parametrize(
    "name", [n for n, m in METHODS.items() if "variance_scale" in m.tunes]
)
def test_more_spread_is_more_doubt(name):
    decoder, batch, codes = small_problem()
    means = [
        compute(
            name, decoder.open(batch), codes, SETTINGS._replace(variance_scale=s)
        ).mean()
        for s in (0.01, 0.3, 30.0)
    ]
    assert means[0] > means[1] > means[2]


def test_with_variances_of_one_both_draws_agree():
    decoder, batch, codes = small_problem()
    decoder.belief.variance = np.ones_like(decoder.belief.variance)
    pair = [compute(name, decoder.open(batch), codes) for name in ("kd-pc", "kd-fixed")]
    assert_array_equal(*pair)
    assert (pair[0] < 1).any()
    whole = [
        sequence_confidence(decoder.open(batch), codes, name, SETTINGS)
        for name in ("kd-pc", "kd-fixed")
    ]
    assert_array_equal(*whole)


def test_a_blend_is_the_mean_of_its_halves():
    decoder, batch, codes = small_problem()
    halves = [
        compute(name, decoder.open(batch), codes) for name in ("kd-pc", "marginal")
    ]
    found = compute("blend", decoder.open(batch), codes)
    assert_allclose(found, np.mean(halves, axis=0), rtol=1e-12)


def test_averaged_marginals_are_those_of_draws_at_a_lower_temperature():
    decoder, batch, codes = small_problem()
    rows = draw_marginals(
        decoder.open(batch), 21, 0.3, temperature=DRAWN_TEMPERATURE * 0.6, seed=3
    )
    found = compute("draw-marginal", decoder.open(batch), codes)
    assert_allclose(found, rows[np.arange(len(codes)), codes], rtol=1e-12)


@each_method
def test_the_seed_matters_to_draws_alone(name):
    decoder, batch, codes = small_problem()
    found = compute(name, decoder.open(batch), codes)
    again = compute(name, decoder.open(batch), codes)
    other = compute(name, decoder.open(batch), codes, SETTINGS._replace(seed=4))
    assert_array_equal(found, again)
    drawn = name.startswith("kd-") or name in (
        "draw-marginal",
        "blend",
    )
    assert (found != other).any() == drawn


@pytest.mark.parametrize(
    "name", [n for n, m in METHODS.items() if "n_best" not in m.tunes]
)
def test_one_word_is_as_sure_as_independent_gaussians_are(name):
    # One word that has two features, three labels: no transitions take part.
    belief = Belief.start(2, 3, initial_variance=1.0)
    belief.row_of[:] = belief.width + 1, belief.width + 2
    rows = np.zeros((belief.width + 3, belief.width), np.float32)
    rows[-2:, :3] = [[0.4, 0.1, -0.2], [0.3, 0.4, 0.1]]
    belief.mean = belief.average = rows.ravel()
    spread = np.ones_like(rows)
    spread[-2:, :3] = [[0.5, 1.0, 0.7], [0.8, 0.2, 0.9]]
    belief.variance = spread.ravel()
    decoder, batch = Decoder(belief), SequenceBatch([0, 1], [0, 2], [0, 1], None, 2)
    codes, _ = decoder.open(batch).viterbi()
    settings = SETTINGS._replace(n_draws=4000, variance_scale=0.4)
    (found,) = compute(name, decoder.open(batch), codes, settings)
    mean, variance = np.array([0.7, 0.5, -0.1]), 0.4 * np.array([1.3, 1.2, 1.6])
    if METHODS[name].unit_variance:
        variance = 0.4 * np.full(3, 2.0)
    share = np.exp(mean / 0.6) / np.exp(mean / 0.6).sum()
    noisy = share / (1 + np.expm1(0.4) * share)
    votes = twin.best_label_shares(mean, variance)[0]
    error = ERRORS * np.sqrt(votes * (1 - votes) / 4000)
    root = np.sqrt(variance[0] + variance[1:])
    ratio = ((mean[0] - mean[1:]) / root).min()
    expected = {
        "delta": (0.2, SINGLE),
        "delta-max": (0.2, SINGLE),
        "delta-std": (ratio * np.sqrt(0.4), SINGLE),
        "delta-probit": (twin.norm.cdf(ratio), SINGLE),
        "marginal": (share[0], SINGLE),
        "noisy-marginal": (noisy[0] / noisy.sum(), SINGLE),
        "blend": ((votes + share[0]) / 2, error / 2),
    }
    if name == "draw-marginal":
        drawn = np.random.default_rng(0).normal(mean, np.sqrt(variance), (40_000, 3))
        each = np.exp(drawn / (DRAWN_TEMPERATURE * 0.6))
        each = each[:, 0] / each.sum(axis=1)
        expected[name] = each.mean(), ERRORS * each.std() / np.sqrt(4000)
    value, tolerance = expected.get(name, (votes, error))
    assert abs(found - value) < tolerance


@pytest.mark.parametrize("name", JOINT_METHODS)
@pytest.mark.parametrize("labels", [BIO, IOBES], ids=["BIO", "IOBES"])
@pytest.mark.parametrize("constraints", [False, True])
def test_an_entity_is_never_surer_than_its_least_sure_word(name, labels, constraints):
    scheme = ("BIO" if labels is BIO else "IOBES") if constraints else None
    for seed in range(3):
        decoder, batch, codes = small_problem(labels, scheme, seed)
        _, *spans = spans_of(codes, batch.offsets, labels)
        words = compute(name, decoder.open(batch), codes)
        least = [words[a:b].min() for a, b in zip(*spans, strict=True)]
        found = {
            definition: span_confidence(
                decoder.open(batch), codes, spans, definition, name, SETTINGS, labels
            )
            for definition in ("all-words", "boundary", "exact")
        }
        assert (found["all-words"] <= np.array(least) + SINGLE).all()
        assert (found["exact"] <= found["boundary"] + SINGLE).all()
        whole = sequence_confidence(decoder.open(batch), codes, name, SETTINGS)
        owner = np.searchsorted(batch.offsets, spans[0], side="right") - 1
        assert (whole[owner] <= found["all-words"] + SINGLE).all()
        assert (whole[owner] <= found["exact"] + SINGLE).all()


@pytest.mark.parametrize("name", [*DRAWN, "kbv", "wkbv", "marginal"])
def test_what_constraints_leave_no_choice_in_is_beyond_doubt(name):
    # Only A B is legal.
    legal = np.zeros((2, 2), dtype=bool)
    legal[0, 1] = True
    decoder, batch, codes = small_problem(
        ["A", "B"], (["A", "B"], legal), lengths=(2, 2, 1)
    )
    found = compute(name, decoder.open(batch), codes)
    assert_allclose(found[:4], 1.0, rtol=1e-9)
    assert found[4] < 1


def test_methods_are_served_where_there_are_variances():
    assert served_methods(True) == METHODS
    served = served_methods(False)
    for name, method in METHODS.items():
        assert check_method(name, METHODS) is method
        assert (name in served) != method.needs_variance
        if method.needs_variance:
            with pytest.raises(
                ValueError, match=r"needs a variance.*one of delta, delta-max"
            ):
                check_method(name, served)


def test_an_unknown_method_is_answered_with_those_there_are():
    with pytest.raises(
        ValueError, match=r"'magic'; it must be one of delta, delta-std.* blend"
    ):
        check_method("magic", METHODS)
    with pytest.raises(ValueError, match=r"one of delta, .*noisy-marginal, .*kd-fixed"):
        check_method("kd", served_methods(False))


@pytest.mark.parametrize("name", [n for n, m in METHODS.items() if m.any_label])
@pytest.mark.parametrize("constraints", [None, "BIO"])
def test_a_table_has_what_is_said_of_each_label(name, constraints):
    decoder, batch, codes = small_problem(constraints=constraints)
    scored = decoder.open(batch)
    table = METHODS[name].compute(scored, None, SETTINGS)
    assert table.shape == (batch.n_tokens, len(BIO))
    assert_allclose(table.sum(axis=1), 1.0, rtol=1e-6)
    for code in range(len(BIO)):
        every = np.full_like(codes, code)
        assert_array_equal(table[:, code], compute(name, scored, every))


def test_the_seed_and_the_units_of_a_file_are_checked():
    own = {"margin": 1.0, "temperature": 0.8, "is_rule": False}
    belief = Belief.start(2, 3)
    for seed in (0, 2**64 - 1):
        found = saved_confidence(belief, {}, own | {"seed": seed})
        assert found.settings("kd-fixed").seed == seed
        assert found.settings("kd-fixed", random_state=seed).seed == seed
    for bad in ({"seed": 1.5}, {"seed": -1}, {"seed": 2**64}, {"margin": 0.0}):
        with pytest.raises(ValueError, match=r"seed|margin"):
            saved_confidence(belief, {}, own | {"seed": 0} | bad)
