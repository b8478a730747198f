"""The loop of scikit-activeml, with the package itself."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from skcw import CWSequenceTagger, MultiClassCW
from skcw.active import ActiveLearner, SkactivemlStrategy
from skcw.active.utilities import min_margin
from tests.active.problems import fitted_classifier, rows, sentences

X, Y = rows(120)
SEED = np.array([np.flatnonzero(label == Y)[0] for label in ("a", "b")])
N_ROUNDS = 25


def classifier():
    return MultiClassCW(random_state=0, variance_scale=1.0)


def our_loop():
    """Return the rows in the order in which our own learner asks about them."""
    options = {"utility": "normalized-margin", "update": "refit"}
    learner = ActiveLearner(classifier(), X, **options)
    learner.seed(SEED, Y[SEED])
    for _ in range(N_ROUNDS):
        asked = learner.query(1)
        learner.teach(asked, Y[asked])
    return learner.labeled


def activeml_loop(clf, pool, fit_clf=True):
    y = np.full(len(Y), None, dtype=object)
    y[SEED] = Y[SEED]
    strategy = SkactivemlStrategy("normalized-margin", missing_label=None)
    asked = list(SEED)
    for _ in range(N_ROUNDS):
        (position,) = strategy.query(pool, y, clf=clf, fit_clf=fit_clf)
        y[position] = Y[position]
        asked.append(position)
    return asked


def test_a_bare_classifier_is_asked_in_the_manner_of_activeml():
    # Its rows are in another order than ours, and the order of rows does not matter.
    assert activeml_loop(classifier(), X) == our_loop().tolist()


def test_activeml_asks_what_our_loop_asks():
    from skactiveml.classifier import SklearnClassifier

    clf = SklearnClassifier(classifier(), classes=["a", "b"], missing_label=None)
    assert activeml_loop(clf, X.toarray()) == our_loop().tolist()


def test_the_answer_has_the_form_that_activeml_documents():
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    dense, codes = X.toarray(), np.searchsorted(["a", "b"], Y).astype(float)
    y = np.where(np.arange(len(Y)) < 20, codes, np.nan)
    clf = SklearnClassifier(classifier(), classes=[0, 1])
    theirs = UncertaintySampling("least_confident", random_state=0)
    options = {"clf": clf, "batch_size": 3, "return_utilities": True}
    expected, their_utilities = theirs.query(dense, y, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, utilities = SkactivemlStrategy("least-confident").query(
            dense, y, **options
        )
    assert found.shape == expected.shape
    assert utilities.shape == their_utilities.shape
    np.testing.assert_array_equal(np.isnan(utilities), np.isnan(their_utilities))
    np.testing.assert_allclose(utilities[0], their_utilities[0], rtol=1e-9)
    assert set(found) == set(expected)


def test_candidates_are_positions_or_rows():
    y = np.full(len(Y), np.nan)
    codes = np.searchsorted(["a", "b"], Y)
    y[:20] = codes[:20]
    clf = classifier().fit(X[:20], codes[:20])
    options = {"clf": clf, "fit_clf": False, "batch_size": 2, "return_utilities": True}
    strategy = SkactivemlStrategy("margin")
    some = np.arange(40, 60)
    positions, utilities = strategy.query(X, y, candidates=some, **options)
    assert set(positions) <= set(some)
    assert np.isnan(utilities[0, :40]).all() and not np.isnan(utilities[0, some]).any()
    dense = X.toarray()[some]
    for pool, candidates in ((X.toarray(), dense), (X, X[some])):
        among, utilities = strategy.query(pool, y, candidates=candidates, **options)
        assert utilities.shape == (2, len(some))
        np.testing.assert_array_equal(some[among], positions)
    with pytest.raises(TypeError, match="positions are whole numbers, got bool"):
        strategy.query(X, y, candidates=y != y, **options)


def test_without_any_label_the_choice_is_random_and_repeatable():
    y = np.full(len(Y), np.nan)
    asked = [
        SkactivemlStrategy("margin", random_state=seed).query(
            X, y, classifier(), batch_size=5
        )
        for seed in (0, 0, 1)
    ]
    assert asked[0].tolist() == asked[1].tolist() != asked[2].tolist()


def test_activeml_may_ask_about_sequences():
    X, Y = sentences()
    y = [*Y[:15], *[None] * (len(Y) - 15)]
    strategy = SkactivemlStrategy("min-margin", missing_label=None)
    (asked,) = strategy.query(X, y, CWSequenceTagger(random_state=0))
    tagger = CWSequenceTagger(random_state=0).fit(X[:15], Y[:15])
    utility = min_margin(tagger, X[15:])
    assert utility[asked - 15] == utility.max()


def test_a_random_choice_goes_on_from_query_to_query():
    # With equal numbers in each query the next row in order would be asked each time.
    strategy = SkactivemlStrategy("random", random_state=0)
    y, asked = np.full(len(Y), np.nan), []
    for _ in range(10):
        (position,) = strategy.query(X, y, classifier())
        y[position] = 0.0
        asked.append(int(position))
    assert np.ptp(asked) > len(Y) / 2
    again = SkactivemlStrategy("random", random_state=0)
    assert again.query(X, np.full(len(Y), np.nan), classifier()).tolist() == asked[:1]


def test_candidates_may_be_sequences():
    X, Y = sentences()
    y = [*Y[:15], *[None] * (len(Y) - 15)]
    options = {"clf": CWSequenceTagger(random_state=0), "batch_size": 3}
    strategy = SkactivemlStrategy("min-margin", missing_label=None)
    expected = strategy.query(X, y, candidates=np.arange(20, 40), **options) - 20
    as_objects = np.array([*X[20:40], None], dtype=object)[:-1]
    for candidates in (X[20:40], as_objects):
        found = strategy.query(X, y, candidates=candidates, **options)
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("missing", [np.nan, None, -1, "unknown"])
def test_what_stands_for_a_missing_label_is_found(missing):
    known = Y[:20] if isinstance(missing, str) else np.searchsorted(["a", "b"], Y[:20])
    y = np.array([*known.tolist(), *[missing] * 100])
    strategy = SkactivemlStrategy("margin", missing_label=missing)
    _, utilities = strategy.query(X, y, classifier(), return_utilities=True)
    assert np.flatnonzero(np.isnan(utilities[0])).tolist() == list(range(20))


def test_a_classifier_of_activeml_is_asked_itself():
    from skactiveml.classifier import ParzenWindowClassifier

    codes = np.searchsorted(["a", "b"], Y).astype(float)
    y = np.where(np.arange(len(Y)) < 20, codes, np.nan)
    clf = ParzenWindowClassifier(classes=[0, 1])
    (found,) = SkactivemlStrategy("entropy").query(X.toarray(), y, clf)
    proba = clf.fit(X.toarray(), y).predict_proba(X.toarray()[20:])
    assert proba[found - 20].max() == proba.max(axis=1).min()


@pytest.mark.parametrize(
    ("y", "candidates", "message"),
    [
        (np.full(7, np.nan), None, "X has 120 items but y has 7"),
        (np.full(120, np.nan), [], "candidates is empty"),
        (np.full(120, np.nan), [3, 3], "item 3 occurs more than once"),
        (np.full(120, np.nan), [120], "no item 120 in a pool of 120"),
        (np.full(120, np.nan), [-1], "no item -1"),
    ],
)
def test_what_cannot_be_asked_about_is_refused(y, candidates, message):
    with pytest.raises(ValueError, match=message):
        SkactivemlStrategy("margin").query(X, y, classifier(), candidates=candidates)


def test_a_batch_may_be_kept_diverse():
    y, model = np.full(len(Y), np.nan), fitted_classifier()
    plain, spread = (
        SkactivemlStrategy("normalized-margin", max_overlap=overlap).query(
            X, y, model, fit_clf=False, batch_size=10
        )
        for overlap in (None, 0.1)
    )
    assert plain[0] == spread[0]
    assert set(plain) != set(spread)


def test_nothing_left_and_too_much_asked_are_errors():
    codes = np.searchsorted(["a", "b"], Y)
    with pytest.raises(ValueError, match="all labels are known"):
        SkactivemlStrategy("margin").query(X, codes, classifier())
    y = np.where(np.arange(len(Y)) < 118, codes, np.nan)
    with pytest.raises(ValueError, match="5 items are asked for, but only 2"):
        SkactivemlStrategy("margin").query(X, y, classifier(), batch_size=5)


DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "active-learning.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```$",
    DOCUMENT.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


def run_blocks(*numbers):
    """Run blocks of the document in one namespace; they hold their own assertions."""
    found = {}
    for number in numbers:
        exec(compile(BLOCKS[number], DOCUMENT.name, "exec"), found)
    return found


def test_the_study_of_the_document_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run_blocks(0, 1, 2, 3)
    assert found["learner"].n_words > 300
    assert found["study"].names == ["random", "normalized-log-prob"]
    assert len(found["criteria"][2].values_) == 1


def test_the_document_asks_the_same_in_skcw_and_activeml():
    assert len(BLOCKS) == 7
    found = run_blocks(4, 5, 6)
    assert len(found["ours"]) == 22 and found["activeml"] == found["ours"]
