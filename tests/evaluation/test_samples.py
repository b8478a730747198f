"""Questions asked of sampled structures: labelings, clusterings and trees."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw import HMMSequenceTagger
from skcw.display import ConfidenceCalibrationDisplay
from skcw.evaluation import confidence_pairs, same_cluster, sampled_pairs
from skcw.metrics import calibration_mse, score_interval
from tests.learners import LABELS, SENTENCES

EXACT = 1e-12
CLUSTERINGS = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=2, max_size=6
    )
)
DRAWN = [[["A", "B"], ["A", "A"], ["B", "B"], ["A", "B"]], [["B"], ["B"]]]
TRUE = [["A", "A"], ["A"]]


@given(CLUSTERINGS)
def test_a_share_is_the_mean_over_samples(structures):
    true, *drawn = structures
    found = sampled_pairs([drawn], [true], same_cluster)
    pairs = list(combinations(range(len(true)), 2))
    expected = [np.mean([ids[i] == ids[j] for ids in drawn]) for i, j in pairs]
    assert_allclose(found.confidence, expected, rtol=EXACT)
    assert found.correct.tolist() == [true[i] == true[j] for i, j in pairs]


@given(CLUSTERINGS, st.randoms())
def test_the_order_of_samples_and_the_names_of_clusters_mean_nothing(structures, rng):
    true, *drawn = structures
    found = sampled_pairs([drawn], [true], same_cluster)
    names = list("wxyz")
    rng.shuffle(names)
    renamed = [[names[k] for k in row] for row in drawn]
    rng.shuffle(renamed)
    again = sampled_pairs([renamed], [true], same_cluster)
    assert_array_equal(found.confidence, again.confidence)
    assert_array_equal(found.correct, again.correct)


@given(CLUSTERINGS)
def test_a_truth_among_its_only_samples_is_certain(structures):
    true = structures[0]
    found = sampled_pairs([[true, true]], [true], same_cluster)
    assert_array_equal(found.confidence, found.correct)


@given(CLUSTERINGS)
def test_sets_say_the_same_of_places_that_a_sample_has_found(structures):
    true, *drawn = structures
    pairs = list(combinations(range(len(true)), 2))
    every = sampled_pairs([drawn], [true], same_cluster)
    asked = every.confidence > 0
    found = sampled_pairs(
        [drawn], [true], lambda ids: {(i, j) for i, j in pairs if ids[i] == ids[j]}
    )
    assert_allclose(np.sort(found.confidence), np.sort(every.confidence[asked]))
    assert found.correct.sum() == every.correct[asked].sum()


@pytest.mark.parametrize(
    ("question", "confidence", "correct", "groups"),
    [
        ("A", [0.75, 0.25, 0.0], [True, True, True], [0, 0, 1]),
        ("not A", [0.25, 0.75, 1.0], [False, False, False], [0, 0, 1]),
        (["A", "B"], [1.0, 1.0, 1.0], [True, True, True], [0, 0, 1]),
        ("pair:A B", [0.5], [False], [0]),
        ({"pair": [("A", "B"), ("A", "A")]}, [0.75], [True], [0]),
        (lambda labels: [len(set(labels)) == 1], [0.5, 1.0], [True, True], [0, 1]),
        (lambda labels: (x == "A" for x in labels), [0.75, 0.25, 0.0], [1] * 3, None),
        (lambda labels: [1.0 * (labels[0] == "A")], [0.75, 0.0], [1, 1], [0, 1]),
    ],
)
def test_questions_about_labelings(question, confidence, correct, groups):
    found = sampled_pairs(DRAWN, TRUE, question)
    assert_allclose(found.confidence, confidence, rtol=EXACT)
    assert found.correct.dtype == bool and found.groups.dtype == np.intp
    assert_array_equal(found.correct, correct)
    assert groups is None or found.groups.tolist() == groups


def test_spans_are_asked_about_where_a_sample_has_one():
    drawn = [[["B-P", "I-P", "O"], ["B-P", "O", "O"], ["B-P", "I-P", "B-L"]]]
    true = [["B-P", "I-P", "B-P"]]
    found = sampled_pairs(drawn, true, "span:P")
    assert_allclose(np.sort(found.confidence), [1 / 3, 2 / 3])
    assert found.correct[found.confidence.argmax()] and found.correct.sum() == 1
    assert len(sampled_pairs(drawn, true, "span:*").correct) == 3
    assert sampled_pairs(drawn, true, {"span": ["L"]}).correct.tolist() == [False]


def test_trees_of_any_class_can_be_asked_about():
    class Tree:
        def __init__(self, *brackets):
            self.brackets = brackets

    def constituents(tree):
        return frozenset(tree.brackets)

    drawn = [[Tree((0, 3), (0, 2)), Tree((0, 3), (1, 3))], [Tree()]]
    found = sampled_pairs(drawn, [Tree((0, 3), (1, 3)), Tree((0, 2))], constituents)
    assert found.confidence.tolist() == [0.5, 1.0, 0.5]
    assert found.correct.tolist() == [False, True, True]
    assert found.groups.tolist() == [0, 0, 0]


def test_shares_of_labelings_tend_to_the_answers_of_the_model():
    tagger = HMMSequenceTagger().fit(SENTENCES[:40], LABELS[:40])
    X, y, n = SENTENCES[40:], LABELS[40:], 2000
    label = tagger.classes_[0]
    drawn = tagger.sample(X, n, random_state=0)
    found = sampled_pairs(drawn, y, label)
    exact = confidence_pairs(tagger, X, y, label)
    assert_array_equal(found.correct, exact.correct)
    assert_array_equal(found.groups, exact.groups)
    # Six standard errors, of some hundred shares.
    assert np.abs(found.confidence - exact.confidence).max() < 6 * 0.5 / np.sqrt(n)


def test_answers_serve_scores_intervals_and_displays():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, (12, 6))
    drawn = np.where(rng.random((12, 40, 6)) < 0.6, true[:, None], 3)
    found = sampled_pairs(drawn, true, same_cluster)
    assert len(found.correct) == 12 * 15
    score = score_interval(
        "calibration_mse", **found._asdict(), bin_size=20, n_resamples=50
    )
    assert score.value == calibration_mse(found.correct, found.confidence, bin_size=20)
    display = ConfidenceCalibrationDisplay.from_predictions(
        **found._asdict(), query="same cluster", unit="pairs", n_resamples=50
    )
    assert display.bins.count.sum() == len(found.correct)


def test_equal_lists_are_asked_about_once_and_all_else_each_time():
    class Tree(list):
        """Equal to others with the same children, whatever its own label is."""

    asked = []

    def question(structure):
        asked.append(structure)
        return [structure[0] == "A"]

    labelings = [["A", "B"], ["B", "B"], ["A", "B"], ("A", "B")]
    found = sampled_pairs([labelings], [["A", "A"]], question)
    assert found.confidence == [0.75] and len(asked) == 3
    asked.clear()
    trees = [Tree("A"), Tree("A"), np.array(["B"]), [["A"]]]
    found = sampled_pairs([trees], [["A"]], question)
    assert found.confidence == [0.5] and len(asked) == 5


def test_structures_may_have_different_numbers_of_samples_and_places():
    found = sampled_pairs([[[0, 0]], [[0], [1]], [[]]], [[0, 1], [0], []], same_cluster)
    assert found.confidence.tolist() == [1.0] and found.groups.tolist() == [0]
    assert sampled_pairs([], [], same_cluster).correct.shape == (0,)
    rows = iter([iter([[0, 0], [0, 1]])])
    assert sampled_pairs(rows, iter([[1, 1]]), same_cluster).confidence == [0.5]


@pytest.mark.parametrize(
    ("samples", "truth", "question", "error", "words"),
    [
        (DRAWN, TRUE[:1], "A", ValueError, "samples has 2 structures but truth has 1"),
        ([[], [["A"]]], TRUE, "A", ValueError, r"samples\[0\] is empty"),
        (DRAWN, TRUE, None, ValueError, "question is None"),
        (DRAWN, TRUE, "C", ValueError, "label 'C', which neither the samples nor"),
        (DRAWN, TRUE, "pair:A C", ValueError, "label 'C'"),
        (DRAWN, TRUE, "pair:A", ValueError, "a pair has two labels"),
        (DRAWN, TRUE, {"pair": "A B C"}, ValueError, "a pair has two labels"),
        (DRAWN, TRUE, {"pair": []}, ValueError, "a pair has two labels"),
        (DRAWN, TRUE, {"pair": [(None, "A")]}, TypeError, "it must be None, a label"),
        (DRAWN, [["A"], ["A"]], "A", ValueError, r"truth\[0\] the question returned 1"),
        (DRAWN, TRUE, lambda _: True, TypeError, r"truth\[0\] .* returned True"),
        (DRAWN, TRUE, lambda _: "yes", TypeError, "returned 'yes'"),
        (DRAWN, TRUE, lambda _: {"a": True}, TypeError, "either one bool"),
        (DRAWN, TRUE, lambda _: [0.5], TypeError, "array of type float64"),
        (DRAWN, TRUE, lambda _: [["A"]], TypeError, r"shape \(1, 1\)"),
        ({"a": 1}, TRUE, "A", TypeError, "samples is a dict"),
        (DRAWN, {"a"}, "A", TypeError, "truth is a set"),
        (3, TRUE, "A", TypeError, "samples is of type int"),
        ([3, 4], TRUE, "A", TypeError, r"samples\[0\] is of type int"),
    ],
)
def test_bad_input_is_refused_and_told_what_is_wrong(
    samples, truth, question, error, words
):
    with pytest.raises(error, match=words):
        sampled_pairs(samples, truth, question)


@pytest.mark.parametrize("first", [{0}, [True]], ids=["set", "bools"])
def test_a_question_answers_in_one_form(first):
    other = [True] if isinstance(first, set) else {0}
    answers = iter([first, other])
    with pytest.raises(ValueError, match=r"samples\[0\]\[0\]"):
        sampled_pairs([[["A"]]], [["A"]], lambda _: next(answers))


@pytest.mark.parametrize(
    ("clustering", "words"),
    [
        ([[0, 1]], "2 dimensions"),
        (["x", None], r"clustering\[1\] is None"),
        ([0.0, np.nan], r"clustering\[1\] is nan"),
        (3, "0 dimensions"),
    ],
)
def test_a_clustering_names_a_cluster_for_each_mention(clustering, words):
    with pytest.raises(ValueError, match=words):
        same_cluster(clustering)


def test_clusters_of_different_types_are_different_clusters():
    assert not same_cluster([1, "1"]).any()
    with pytest.raises(ValueError, match=r"clustering\[0\] is nan"):
        same_cluster([float("nan"), "x", float("nan")])


def test_a_type_of_entity_that_nobody_has_is_a_slip():
    truth = [["B-PER", "O"]]
    with pytest.raises(ValueError, match="names the type of entity 'PERR'"):
        sampled_pairs([truth], truth, "span:PERR")


@pytest.mark.parametrize("pair", [{"A", "B"}, "AB"])
def test_a_pair_has_an_order_and_two_labels(pair):
    with pytest.raises(ValueError, match="a pair has two labels"):
        sampled_pairs([[["A", "B"]]], [["A", "B"]], {"pair": pair})
