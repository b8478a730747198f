"""Marginals of two neighboring labels: of lattices, and of every tagger."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import skcw
from skcw import CRFSequenceTagger, CWSequenceTagger, HMMSequenceTagger
from skcw.calibration import CalibratedTagger
from skcw.exceptions import NoLegalLabelingError
from tests.kernels.problems import small_lattices
from tests.learners import LABELS, SENTENCES, learners
from tests.reference import lattice as twin

EXACT = 1e-9
NOTHING = 1e-12
# Scores are kept in single precision, and the two ways of summing differ by that.
SINGLE = 1e-5
NEW = [[], *SENTENCES[25:31], SENTENCES[40][:1]]
# A calibrated tagger refuses; a selective one asks the tagger inside, and needs more
# sentences to promise anything.
BY_PAIRS = [
    name
    for name, (_, kind) in learners().items()
    if kind == "sentences" and name not in ("calibrated", "selective")
]


@cache
def fitted(name):
    make, _ = learners()[name]
    return make().fit(SENTENCES[:25], LABELS[:25])


@given(small_lattices(st.floats(-8, 8, width=16)))
def test_the_twin_sums_over_all_labelings(problem):
    found = twin.pair_marginals(*problem)
    expected = twin.pair_marginals_by_enumeration(*problem)
    assert_allclose(found, expected, rtol=EXACT, atol=NOTHING)


@pytest.mark.parametrize("name", BY_PAIRS)
def test_pairs_sum_to_the_marginals_of_their_labels(name):
    tagger = fitted(name)
    labels = tagger.classes_.tolist()
    singles, pairs = tagger.predict_marginals(NEW), tagger.predict_marginals(NEW, 2)
    assert pairs.shape == (len(NEW),) and pairs.dtype == object
    for x, single, pair in zip(NEW, singles, pairs, strict=True):
        assert len(pair) == max(len(x) - 1, 0)
        for t, table in enumerate(pair):
            assert list(table) == [(i, j) for i in labels for j in labels]
            joint = np.array(list(table.values())).reshape(len(labels), -1)
            assert_allclose(
                joint.sum(axis=0), [single[t + 1][j] for j in labels], atol=SINGLE
            )
            # Later words tell nothing of earlier labels in a chain of decisions, of
            # which a beam forgets some; all others know both.
            if name != "MaxEnt":
                assert_allclose(
                    joint.sum(axis=1), [single[t][i] for i in labels], atol=SINGLE
                )


def test_pair_marginals_are_the_shares_of_drawn_labelings():
    tagger = fitted("HMM")
    (x,) = [SENTENCES[30]]
    drawn = tagger.sample([x], 4000, random_state=1)[0]
    for t, table in enumerate(tagger.predict_marginals_single(x, length=2)):
        pair = max(table, key=table.get)
        share = np.mean([(row[t], row[t + 1]) == pair for row in drawn])
        # Five standard errors: one false alarm in a million.
        assert abs(share - table[pair]) <= 5 * 0.5 / np.sqrt(4000)


def test_forbidden_neighbors_have_probability_zero():
    X = [[["w=a"], ["w=b"], ["w=c"]]] * 3
    y = [["B-x", "I-x", "O"], ["O", "B-x", "I-x"], ["O", "O", "O"]]
    tagger = CWSequenceTagger(constraints="BIO", random_state=0).fit(X, y)
    with pytest.warns(skcw.exceptions.UnlearnedConfidenceWarning):
        tables = tagger.predict_marginals_single(X[0], length=2)
    for table in tables:
        assert table["O", "I-x"] == 0.0
        assert_allclose(sum(table.values()), 1.0, rtol=EXACT)


def test_a_sequence_without_a_legal_labeling_is_an_error():
    X, y = [[["w=a"], ["w=b"]]], [["A", "B"]]
    matrix = np.array([[False, True], [False, False], [True, True], [True, True]])
    tagger = HMMSequenceTagger(constraints=(["A", "B"], matrix[:2])).fit(X, y)
    with pytest.raises(NoLegalLabelingError):
        tagger.predict_marginals([[["w=a"], ["w=b"], ["w=a"]]], length=2)


def test_asked_pairs_are_summed_and_unknown_labels_count_nothing():
    tagger, x = fitted("CRF"), SENTENCES[30]
    answers = tagger.predict_all([x, []])
    first, second = tagger.classes_[:2].tolist()
    both = [(first, second), (second, first), (first, "never seen")]
    found = answers.pair_confidence([*both, both[0]])
    tables = answers.marginals(length=2)[0]
    assert_allclose(
        found[0], [row[both[0]] + row[both[1]] for row in tables], rtol=EXACT
    )
    assert found[1].shape == (0,)
    assert_array_equal(answers.pair_confidence([("x", "y")])[0], np.zeros(len(x) - 1))


def test_a_temperature_may_be_given():
    answers = fitted("CW").predict_all([SENTENCES[30]])
    pair = tuple(answers.labels()[0][:2])
    cold, hot = (
        answers.pair_confidence([pair], temperature=t)[0][0] for t in (0.1, 9.0)
    )
    assert cold > hot


@pytest.mark.parametrize("length", [0, 3, True, "2", None, 1.5])
def test_other_lengths_are_refused(length):
    with pytest.raises(ValueError, match="length is"):
        fitted("CRF").predict_marginals(NEW, length=length)


def test_methods_that_know_no_pairs_are_refused():
    with pytest.raises(ValueError, match="for whole pairs it must be one of marginal"):
        fitted("CRF").predict_all(NEW).pair_confidence([("O", "O")], method="kbv")


def test_pairs_of_a_calibrated_tagger_are_those_of_the_tagger_inside():
    tagger = CalibratedTagger(CRFSequenceTagger(max_iter=3), cv=2, method="beta")
    tagger.fit(SENTENCES[:25], LABELS[:25])
    with pytest.raises(ValueError, match="ask estimator_"):
        tagger.predict_marginals(NEW, length=2)
    assert len(tagger.estimator_.predict_marginals(NEW, length=2)) == len(NEW)


@pytest.mark.parametrize(
    "pairs", ["PO", ("P", "O"), [("P",), ("O",)], [["P", "O", "P"]]]
)
def test_pairs_that_are_none_are_named(pairs):
    with pytest.raises(ValueError, match="give pairs of labels"):
        fitted("CRF").predict_all(NEW).pair_confidence(pairs)
