"""explain: why a classifier gives a row its label."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skcw import MultiClassAROW, MultiClassCW, MultiClassPerceptron

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * (RNG.random((60, 5)) < 0.8)
Y = {
    2: np.where(X[:, 0] > X[:, 1], "up", "down"),
    3: np.array(["one", "two", "three"])[X[:, :3].argmax(axis=1)],
}
KINDS = [
    MultiClassCW(random_state=0),
    MultiClassAROW(random_state=0, fit_intercept=False),
    MultiClassPerceptron(random_state=0),
]


@pytest.mark.parametrize("n_classes", Y)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_contributions_sum_to_the_margin(kind, n_classes):
    y = Y[n_classes]
    classifier = kind.fit(X, y)
    table = X @ classifier.coef_.T + classifier.intercept_
    scores = np.hstack([-table, table]) / 2 if n_classes == 2 else table
    for i, label in enumerate(classifier.predict(X[:20])):
        row = X[[i]]
        mine = list(classifier.classes_).index(label)
        second, best = np.sort(scores[i])[-2:]
        why = classifier.explain(row)
        assert why.label == label and why.rival != label
        assert why.margin == pytest.approx(best - second, rel=1e-5, abs=1e-6)
        for rival, other in enumerate(classifier.classes_):
            if rival == mine:
                continue
            why = classifier.explain(sparse.csr_matrix(row), against=other)
            assert why.margin == pytest.approx(best - scores[i, rival], abs=1e-5)
            total = sum(value for _, value in why.contributions)
            assert total == pytest.approx(why.margin, rel=1e-12)
            named = {name for name, _ in why.contributions} - {"intercept"}
            assert named == {f"x{c}" for c in np.flatnonzero(row[0])}
            sizes = [abs(value) for _, value in why.contributions]
            assert sizes == sorted(sizes, reverse=True)


def test_features_have_the_names_that_are_known():
    frame = pd.DataFrame(X, columns=list("abcde"))
    classifier = MultiClassCW(random_state=0).fit(frame, Y[3])
    why = classifier.explain(frame.iloc[[0]])
    assert {name for name, _ in why.contributions} <= {*"abcde", "intercept"}
    given = classifier.explain(frame.iloc[[0]], feature_names=list("vwxyz"))
    assert given.margin == why.margin and given.contributions != why.contributions
    assert repr(why).splitlines()[0].startswith(f"{why.label} rather than {why.rival}")
    assert "<table>" in why._repr_html_()


def test_what_cannot_be_explained_is_said():
    classifier = MultiClassCW(random_state=0).fit(X, Y[3])
    label = classifier.predict(X[:1])[0]
    for given, match in (
        ({"row": X[:2]}, "one row, got 2"),
        ({"row": X[:1], "against": "four"}, "none of one, three, two"),
        ({"row": X[:1], "against": label}, "already"),
        ({"row": X[:1], "feature_names": ["a"]}, "1 names for 5 columns"),
    ):
        with pytest.raises(ValueError, match=match):
            classifier.explain(**given)
