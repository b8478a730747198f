"""Constraints, honored by training and by everything that is predicted."""

import warnings

import numpy as np
import pytest

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.exceptions import ConstraintWarning, NoLegalLabelingError
from skcw.utils.laws import make_tagged

ONLINE = [
    CWSequenceTagger,
    AROWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
]
BIO = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def legal_bio(before, after):
    """State the rule of BIO once more, in other words than the package."""
    if after is None or after[0] != "I":
        return True
    return before in (f"B{after[1:]}", f"I{after[1:]}")


def legal_iobes(before, after):
    inside = before is not None and before[0] in "BI"
    if inside:
        return after is not None and after[0] in "IE" and after[1:] == before[1:]
    return after is None or after[0] in "OBS"


MATRIX = [[legal_bio(a, b) for b in BIO] for a in BIO]
CONSTRAINTS = {
    "BIO": ("BIO", legal_bio),
    "IOBES": ("IOBES", legal_iobes),
    "function": (legal_bio, legal_bio),
    "matrix": ((BIO, MATRIX), lambda a, b: a is None or legal_bio(a, b)),
    "matrix in another order": (
        (BIO[::-1], np.array(MATRIX)[::-1, ::-1]),
        lambda a, b: a is None or legal_bio(a, b),
    ),
}


def is_legal(labels, legal):
    return all(map(legal, [None, *labels], [*labels, None]))


@pytest.fixture(params=CONSTRAINTS)
def case(request):
    return CONSTRAINTS[request.param]


@pytest.mark.parametrize("Tagger", ONLINE)
def test_every_labeling_is_legal(Tagger, case):
    constraints, legal = case
    tagger = Tagger(constraints=constraints, random_state=0, max_iter=2)
    # So noisy that without constraints many labelings would be illegal.
    train = make_tagged(tagger, n_sequences=40, noise=0.8)
    X = make_tagged(tagger, seed=1, n_sequences=30, noise=0.8).X
    tagger.fit(*train)
    assert all(is_legal(labels, legal) for labels in tagger.predict(X))
    for row in tagger.predict_nbest(X, 20):
        assert all(is_legal(labels, legal) for labels, _ in row)
        assert all(np.isfinite(score) for _, score in row)
    free = Tagger(constraints=None, random_state=0, max_iter=2).fit(*train)
    found = [labels for row in free.predict_nbest(X, 20) for labels, _ in row]
    assert not all(is_legal(labels, legal) for labels in found)


@pytest.mark.parametrize("Tagger", ONLINE)
def test_marginals_and_confidence_know_of_constraints(Tagger, case):
    constraints, legal = case
    tagger = Tagger(constraints=constraints, random_state=0, max_iter=2)
    train = make_tagged(tagger, n_sequences=40, noise=0.8)
    tagger.fit(*train)
    for row in tagger.predict_marginals(train.X):
        first = {label for label, p in row[0].items() if p > 0}
        assert all(legal(None, label) for label in first)
        np.testing.assert_allclose([sum(t.values()) for t in row], 1.0, rtol=1e-9)
    for row in tagger.predict_confidence(train.X):
        assert not np.isnan(row).any()
        assert (row >= 0).all()


def test_constraints_hold_for_labels_learned_later():
    tagger = CWSequenceTagger(constraints="BIO", random_state=0)
    tagger.partial_fit([[["a"], ["b"]]], [["B-x", "O"]])
    tagger.partial_fit([[["a"], ["c"]]], [["B-x", "I-x"]])
    for row in tagger.predict_nbest([[["c"], ["c"]]], 9):
        assert len(row) == 5  # of nine labelings four have an I-x after O or nothing
        assert all(is_legal(labels, legal_bio) for labels, _ in row)


def test_labels_that_break_the_constraints_are_learned_from_with_a_warning():
    X, y = [[["a"], ["b"]], [["c"]], [["b"]]], [["B-x", "I-x"], ["O"], ["I-x"]]
    with pytest.warns(ConstraintWarning, match="1 training sequences .* sequence 2"):
        tagger = CWSequenceTagger(constraints="BIO").fit(X, y)
    assert tagger.predict([[["b"]]])[0] != ["I-x"]


def test_the_warning_points_at_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CWSequenceTagger(constraints="BIO").fit([[["b"]], [["c"]]], [["I-x"], ["O"]])
        CWSequenceTagger(constraints="BIO").partial_fit([[["b"]]], [["I-x"]])
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_legal_labels_give_no_warning():
    tagger = CWSequenceTagger(constraints="BIO")
    tagger.fit(*make_tagged(tagger))


def only_pairs(before, after):
    """Allow A B and nothing else."""
    return (before, after) in ((None, "A"), ("A", "B"), ("B", None))


def test_a_sequence_without_a_legal_labeling_is_named():
    tagger = CWSequenceTagger(constraints=only_pairs).fit([["a", "b"]], [["A", "B"]])
    assert tagger.predict([["b", "a"], []]).tolist() == [["A", "B"], []]
    X = [["a", "b"], [], ["a", "b", "c"]]
    for call in (
        tagger.predict,
        tagger.predict_confidence,
        tagger.predict_marginals,
        tagger.predict_entities,
        lambda X: tagger.predict_nbest(X, 2),
        lambda X: tagger.explain(X[2]),
    ):
        with pytest.raises(NoLegalLabelingError, match=r"sequence \d.*3 tokens"):
            call(X)


def test_the_only_legal_labeling_is_beyond_doubt():
    tagger = CWSequenceTagger(constraints=only_pairs).fit([["a", "b"]], [["A", "B"]])
    X = [["x", "y"]]
    assert tagger.predict_confidence(X)[0].tolist() == [1.0, 1.0]
    for method in ("delta", "delta-max"):
        assert tagger.predict_confidence(X, method)[0].tolist() == [np.inf, np.inf]
    assert [len(row) for row in tagger.predict_nbest([["x", "y"]], 5)] == [1]
    assert tagger.explain(["a", "b"])[0].rival is None


def test_training_survives_sequences_without_a_legal_labeling():
    X, y = [["a", "b"], ["a"]] * 5, [["A", "B"], ["A"]] * 5
    tagger = CWSequenceTagger(constraints=only_pairs, random_state=0)
    with pytest.warns(ConstraintWarning, match="5 training sequences"):
        tagger.fit(X, y)
    assert tagger.predict([["a", "b"]])[0] == ["A", "B"]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ("XYZ", "constraints"),
        (3, "constraints"),
        ((), "pair"),
        ((BIO,), "pair"),
        ((BIO, MATRIX, 3), "pair"),
        ((BIO, [[1, 0], [0, 1]]), "shape"),
        ((BIO[:2], [[1, 0], [0, 1]]), "do not name"),
    ],
    ids=str,
)
def test_bad_constraints_are_refused(constraints, message):
    data = make_tagged(CWSequenceTagger())
    with pytest.raises(ValueError, match=message):
        CWSequenceTagger(constraints=constraints).fit(*data)


def test_a_label_that_the_matrix_lacks_leaves_the_tagger_as_it_was():
    tagger = CWSequenceTagger(constraints=(BIO, MATRIX), random_state=0)
    data = make_tagged(tagger)
    tagger.fit(*data)
    before = tagger.coef_
    with pytest.raises(ValueError, match="NEW"):
        tagger.partial_fit([[["a"]]], [["NEW"]])
    np.testing.assert_array_equal(tagger.coef_, before)
    assert "NEW" not in tagger.classes_
