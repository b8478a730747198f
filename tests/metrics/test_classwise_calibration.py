"""Calibration of every class, from tables and from rows of dicts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skcw.metrics import classwise_calibration_error, expected_calibration_error
from skcw.metrics.classwise_error import ClasswiseError, check_class_table

CLASSES = ["N", "O", "V"]


@pytest.fixture
def table():
    rng = np.random.default_rng(2)
    proba = rng.dirichlet(np.ones(3), size=120)
    y = np.array([rng.choice(CLASSES, p=p) for p in proba])
    return proba, y


def in_rows(values, length=10):
    return [values[i : i + length] for i in range(0, len(values), length)]


def dicts(proba):
    return [dict(zip(CLASSES, word.tolist(), strict=True)) for word in proba]


@pytest.mark.parametrize("options", [{}, {"norm": "l2"}, {"strategy": "quantile"}])
def test_it_is_the_mean_of_the_errors_of_all_classes(table, options):
    proba, y = table
    weight = np.arange(120) % 3
    want = np.mean(
        [
            expected_calibration_error(
                y == label, proba[:, j], sample_weight=weight, **options
            )
            for j, label in enumerate(CLASSES)
        ]
    )
    got = classwise_calibration_error(y, proba, sample_weight=weight, **options)
    assert_allclose(got, want, rtol=1e-12)


def test_every_layout_gives_the_same(table):
    proba, y = table
    want = classwise_calibration_error(y, proba, classes=CLASSES)
    layouts = [
        (proba.tolist(), y.tolist()),
        (in_rows(proba), in_rows(y)),
        (in_rows(proba.tolist()), in_rows(y.tolist())),
        (dicts(proba), y),
        (in_rows(dicts(proba)), in_rows(y)),
        ([[], *in_rows(dicts(proba))], [[], *in_rows(y.tolist())]),
    ]
    for words, labels in layouts:
        assert classwise_calibration_error(labels, iter(words)) == want
        assert classwise_calibration_error(labels, words) == want
        assert classwise_calibration_error(labels, words, classes=CLASSES) == want


def test_the_mean_may_leave_out_classes(table):
    proba, y = table
    want = expected_calibration_error(y == "V", proba[:, 2])
    assert classwise_calibration_error(y, proba, labels=["V"]) == want
    numbers = np.searchsorted(CLASSES, y)
    assert classwise_calibration_error(numbers, proba, labels=[2]) == want


def test_a_data_frame_knows_its_classes_whatever_their_order(table):
    pandas = pytest.importorskip("pandas")
    proba, y = table
    want = classwise_calibration_error(y, proba, classes=CLASSES)
    named = pandas.DataFrame(proba, columns=CLASSES)
    turned = named[["V", "N", "O"]]
    assert_allclose(classwise_calibration_error(y, turned), want, rtol=1e-12)
    rows = in_rows(turned)
    assert_allclose(classwise_calibration_error(in_rows(y), rows), want, rtol=1e-12)
    with pytest.raises(ValueError, match="proba have different columns"):
        classwise_calibration_error(in_rows(y)[:2], [rows[0], named[:10]])
    unnamed = pandas.DataFrame(proba)
    assert classwise_calibration_error(y, unnamed) == want
    numbers = np.searchsorted(CLASSES, y)
    assert classwise_calibration_error(numbers, unnamed[[2, 0, 1]]) == pytest.approx(
        want, rel=1e-12
    )


def test_a_label_without_a_probability_is_right_for_no_class():
    proba = [[0.5, 0.5], [0.5, 0.5]]
    got = classwise_calibration_error(["X", "N"], proba, classes=["N", "V"])
    assert_allclose(got, (0.0 + 0.5) / 2, atol=1e-12)
    rows = [[{"N": 1.0}, {"V": 1.0}]]
    assert classwise_calibration_error([["N", "V"]], rows) == 0.0


def test_the_core_takes_new_weights_and_rows_are_groups(table):
    proba, y = table
    pairs = check_class_table(in_rows(y), in_rows(proba), None, None, None, None)
    assert [len(pairs), pairs[0].group.max()] == [3, 11]
    weight = (np.arange(120) % 4).astype(float)
    want = classwise_calibration_error(y, proba, sample_weight=weight)
    assert ClasswiseError(pairs).value(weight) == want


@pytest.mark.parametrize(
    ("proba", "y", "options", "message"),
    [
        ([[0.5, 0.5]], ["N"], {}, "2 columns but there are 1 classes; give classes="),
        ([[0.5, 0.5]], ["N"], {"classes": ["N", "N"]}, "classes holds a label twice"),
        ([[0.5, 1.5]], ["N"], {"classes": "NV"}, r"proba\[0\] is \[0.5, 1.5\]"),
        ([[0.5, np.nan]], ["N"], {"classes": "NV"}, r"proba\[0\] is .*from 0 to 1"),
        ([[{"N": 2}], [{"N": 1}]], [["N"], ["N"]], {}, r"proba\[0\]\[0\] is \[2.0\]"),
        ([[0.5, 0.5]], ["N", "V"], {}, "proba has 1 tokens but y has 2"),
        ([[0.5, 0.5]], [["N"]], {}, "proba is flat but y has a row for each sequence"),
        ([[0.5, 0.5], [0.5]], ["N", "V"], {}, "proba must hold a probability of each"),
        (
            [[[0.5, 0.5]]],
            [["N", "V"]],
            {},
            "sequence 0 has 1 tokens in proba but 2 in y",
        ),
        ([], [], {}, "there are no tokens to judge"),
        ([[], []], [[], []], {}, "there are no tokens to judge"),
        (np.empty((0, 2)), [], {"classes": [0, 1]}, "there are no tokens to judge"),
        ([[{"N": 1}, 3]], [["N", "N"]], {}, r"proba\[0\]\[1\] is of type int beside"),
        ([{"N": 1}, "x"], ["N", "N"], {}, r"proba\[1\] is of type str beside dicts"),
        ([[0.5, 0.5]], ["N"], {"classes": "NV", "labels": ["X"]}, "labels holds 'X'"),
        ([[0.5, 0.5]], ["N"], {"classes": "NV", "labels": []}, "labels is empty"),
        ([0.5, 0.5], ["N", "V"], {}, "proba"),
    ],
)
def test_bad_tables_are_refused(proba, y, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        classwise_calibration_error(y, proba, **options)


def test_single_strings_are_refused():
    with pytest.raises(TypeError, match="y is a single string"):
        classwise_calibration_error("N", [[0.5, 0.5]])
    with pytest.raises(TypeError, match=r"labels is a single string; write \['N'\]"):
        classwise_calibration_error(["N"], [[0.5, 0.5]], classes=["N", "V"], labels="N")


def test_labels_without_an_order_need_classes():
    proba = np.array([[0.5, 0.5], [0.1, 0.9]])
    with pytest.raises(TypeError, match="no common order; give classes"):
        classwise_calibration_error(["a", 1], proba)
