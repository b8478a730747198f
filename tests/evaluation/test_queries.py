"""Yes/no questions asked of taggers and classifiers."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn_crfsuite
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skcw import (
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    make_tagging_pipeline,
)
from skcw.confidence.predictions import Entity
from skcw.data import SequenceEncoder, extract_spans
from skcw.evaluation import confidence_pairs
from skcw.metrics import brier_loss, token_correct
from tests.integration.corpora import features, news
from tests.object_rows import object_rows

ROUNDING = 1e-12


class ThreeWords:
    """Says what is written here, whatever it is asked: easy to check by hand."""

    classes_ = np.array(["B-PER", "I-PER", "O"])

    def predict(self, X):
        return object_rows([["B-PER", "I-PER"], ["O"], []])

    def predict_confidence(self, X):
        return object_rows([np.array([0.9, 0.6]), np.array([0.7]), np.empty(0)])

    def predict_marginals(self, X):
        words = [(0.9, 0.0, 0.1), (0.2, 0.6, 0.2), (0.2, 0.1, 0.7)]
        dicts = [dict(zip(self.classes_, word, strict=True)) for word in words]
        return object_rows([dicts[:2], dicts[2:], []])

    def predict_entities(self, X):
        return object_rows([[Entity("PER", 0, 2, 0.6)], [], []])


X_THREE = [["Ann", "Lee"], ["left"], []]
Y_THREE = [["B-PER", "O"], ["O"], []]


@cache
def tagger(kind):
    X, y = features(n_sequences=60)
    if kind == "crf":
        return CRFSequenceTagger(c2=0.1, max_iter=30).fit(X, y)
    return CWSequenceTagger(random_state=0, max_iter=4).fit(X, y)


@cache
def iris():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    return X, names, LogisticRegression(C=0.01, max_iter=1000).fit(X, names)


@pytest.mark.parametrize(
    ("query", "confidence", "correct"),
    [
        (None, [0.9, 0.6, 0.7], [True, False, True]),
        ("O", [0.1, 0.2, 0.7], [False, True, True]),
        (["O"], [0.1, 0.2, 0.7], [False, True, True]),
        ("not O", [0.9, 0.8, 0.3], [True, False, False]),
        ({"not": "O"}, [0.9, 0.8, 0.3], [True, False, False]),
        ({"B-PER", "I-PER"}, [0.9, 0.8, 0.3], [True, False, False]),
        (np.array(["B-PER", "I-PER"]), [0.9, 0.8, 0.3], [True, False, False]),
        ({"not": ["B-PER", "I-PER"]}, [0.1, 0.2, 0.7], [False, True, True]),
    ],
)
def test_a_question_about_words_is_answered_for_every_word(query, confidence, correct):
    answers = confidence_pairs(ThreeWords(), X_THREE, Y_THREE, query)
    assert_allclose(answers.confidence, confidence, rtol=0, atol=ROUNDING)
    assert answers.correct.tolist() == correct
    assert answers.groups.tolist() == [0, 0, 1]
    assert answers.confidence.dtype == np.float64
    assert answers.groups.dtype == np.intp


@pytest.mark.parametrize("query", ["span:PER", {"span": ["PER"]}, "span:*"])
@pytest.mark.parametrize(("second", "right"), [("I-PER", True), ("O", False)])
def test_a_predicted_span_is_right_only_if_the_truth_has_it_exactly(
    query, second, right
):
    y = [["B-PER", second], ["O"], []]
    answers = confidence_pairs(ThreeWords(), X_THREE, y, query)
    assert answers.confidence.tolist() == [0.6]
    assert answers.correct.tolist() == [right]
    assert answers.groups.tolist() == [0]


def test_a_type_that_was_not_predicted_has_no_answers():
    y = [["B-LOC", "O"], ["O"], []]
    answers = confidence_pairs(ThreeWords(), X_THREE, y, "span:LOC")
    assert [len(part) for part in answers] == [0, 0, 0]
    assert answers.correct.dtype == bool


@pytest.mark.parametrize("kind", ["cw", "crf"])
def test_the_question_whether_a_label_is_right_is_what_the_tagger_says(kind):
    X, y = features(seed=1, n_sequences=20)
    model = tagger(kind)
    answers = confidence_pairs(model, X, y)
    assert_array_equal(answers.confidence, np.concatenate(model.predict_confidence(X)))
    matches = token_correct(y, model.predict(X))
    assert_array_equal(answers.correct, np.concatenate(matches))
    lengths = [len(row) for row in y]
    assert_array_equal(np.bincount(answers.groups, minlength=len(y)), lengths)


@pytest.mark.parametrize("kind", ["cw", "crf"])
def test_a_question_and_its_opposite_share_one_probability(kind):
    X, y = features(seed=1, n_sequences=20)
    yes = confidence_pairs(tagger(kind), X, y, "O")
    no = confidence_pairs(tagger(kind), X, y, "not O")
    assert_allclose(yes.confidence + no.confidence, 1.0, rtol=ROUNDING)
    assert_array_equal(yes.correct, ~no.correct)


@pytest.mark.parametrize("kind", ["cw", "crf"])
def test_all_labels_together_are_certain(kind):
    X, y = features(seed=1, n_sequences=20)
    labels = set(tagger(kind).classes_.tolist()) | set().union(*y)
    answers = confidence_pairs(tagger(kind), X, y, labels)
    assert answers.correct.all()
    assert answers.confidence.max() <= 1.0
    assert_allclose(answers.confidence, 1.0, rtol=1e-6)


def test_words_that_have_the_label_asked_for_are_as_sure_as_their_prediction():
    X, y = features(seed=1, n_sequences=20)
    model = tagger("cw")
    for method in (None, "kd-pc"):
        right = confidence_pairs(model, X, y, method=method)
        asked = confidence_pairs(model, X, y, "O", method=method)
        predicted = np.concatenate(model.predict(X)) == "O"
        assert_allclose(
            asked.confidence[predicted], right.confidence[predicted], rtol=1e-9
        )


def test_options_reach_the_method():
    X, y = features(seed=1, n_sequences=20)
    answers = confidence_pairs(
        tagger("cw"),
        X,
        y,
        method="kd-pc",
        confidence_options={"n_draws": 7, "variance_scale": 0.5},
    )
    votes = answers.confidence * 7
    assert_allclose(votes, np.round(votes), rtol=0, atol=1e-9)
    exact = confidence_pairs(
        tagger("cw"), X, y, "span:*", confidence_options={"entity_confidence": "exact"}
    )
    least = confidence_pairs(tagger("cw"), X, y, "span:*")
    assert len(exact.confidence) == len(least.confidence)
    assert (exact.confidence != least.confidence).any()


def test_spans_are_those_that_span_scores_count():
    X, y = features(seed=1, n_sequences=20)
    answers = confidence_pairs(tagger("crf"), X, y, "span:*")
    pred = [extract_spans(labels) for labels in tagger("crf").predict(X)]
    true = [extract_spans(labels) for labels in y]
    hits = [len(set(a) & set(b)) for a, b in zip(pred, true, strict=True)]
    assert answers.correct.sum() == sum(hits)
    assert len(answers.correct) == sum(map(len, pred))


def test_a_search_or_a_pipeline_answers_as_the_tagger_inside():
    X, y = features(n_sequences=40)
    tagger = CWSequenceTagger(random_state=0, max_iter=2)
    pipeline = make_pipeline(SequenceEncoder(), tagger)
    search = GridSearchCV(pipeline, {"cwsequencetagger__phi": ["auto"]}, cv=2).fit(X, y)
    alone = confidence_pairs(tagger.fit(X, y), X, y, "O")
    for wrapped in (search, search.best_estimator_, make_pipeline(tagger)):
        assert_array_equal(
            confidence_pairs(wrapped, X, y, "O").confidence, alone.confidence
        )
    frozen = confidence_pairs(FrozenEstimator(tagger), X, y, "O")
    assert_array_equal(frozen.confidence, alone.confidence)


def test_a_tagging_pipeline_is_asked_about_words():
    X, y = news(n_sequences=40)
    pipeline = make_tagging_pipeline("ner").fit(X, y)
    assert confidence_pairs(pipeline, X, y, "span:PER").correct.any()
    assert len(confidence_pairs(pipeline, iter(X), iter(y)).groups) == sum(map(len, y))


def test_a_classifier_is_asked_about_rows():
    X, y, model = iris()
    proba = model.predict_proba(X)
    answers = confidence_pairs(model, X, y)
    assert_array_equal(answers.confidence, proba.max(axis=1))
    assert_array_equal(answers.correct, model.predict(X) == y)
    assert_array_equal(answers.groups, np.arange(len(y)))
    asked = confidence_pairs(model, X, y, ["setosa", "virginica"])
    assert_allclose(asked.confidence, proba[:, [0, 2]].sum(axis=1), rtol=ROUNDING)
    assert_array_equal(asked.correct, y != "versicolor")


def test_labels_of_a_classifier_may_be_numbers():
    X, names, _ = iris()
    y = np.unique(names, return_inverse=True)[1]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    proba = model.predict_proba(X)
    for query in (1, np.int64(1), [1], {1}):
        answers = confidence_pairs(model, X, y, query)
        assert_array_equal(answers.confidence, proba[:, 1])
        assert_array_equal(answers.correct, y == 1)
    assert_allclose(
        confidence_pairs(model, X, y.tolist(), {"not": 1}).confidence,
        1 - proba[:, 1],
        rtol=ROUNDING,
    )


@pytest.mark.parametrize("query", [None, "setosa"])
def test_labels_of_another_type_than_those_learned_are_refused(query):
    X, y = load_iris(return_X_y=True)
    numbers = LogisticRegression(C=0.01, max_iter=1000).fit(X, y)
    message = "y holds labels such as '0', but those that LogisticRegression .* as 0:"
    with pytest.raises(ValueError, match=message):
        confidence_pairs(numbers, X, y.astype(str))
    names = iris()[2]
    with pytest.raises(ValueError, match=r"such as 0, but .* as 'setosa': none could"):
        confidence_pairs(names, X, y, query)
    # Labels of the same type that training never saw are wrong, and no slip.
    assert not confidence_pairs(names, X[:2], ["lily", "rose"]).correct.any()


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_row_without_a_true_label_is_refused(missing):
    X, y, classifier = iris()
    truth = y.astype(object)
    truth[3] = missing
    with pytest.raises(ValueError, match=rf"y\[3\] is {missing}; a row without a true"):
        confidence_pairs(classifier, X, truth)
    with pytest.raises(ValueError, match=r"y\[0\] is nan"):
        confidence_pairs(classifier, X[:2], [np.nan, 1.0])


@pytest.mark.parametrize("y", [{"O"}, {0: ["O"]}, [{"O", "B-PER"}, ["O"], []]])
def test_labels_without_places_are_refused(y):
    with pytest.raises(TypeError, match=r"y(\[0\])? is a (set|dict), whose entries"):
        confidence_pairs(ThreeWords(), X_THREE, y)


class Rounded(ThreeWords):
    """Has left the range of probabilities by some amount."""

    def __init__(self, amount, dtype):
        self.amount, self.dtype = amount, dtype

    def predict_confidence(self, X):
        sure = np.array([1 + self.amount, -self.amount, 0.5], dtype=self.dtype)
        return object_rows([sure[:2], sure[2:], sure[:0]])

    def predict_entities(self, X):
        return object_rows([[Entity("PER", 0, 2, 1 + self.amount)], [], []])


@pytest.mark.parametrize(
    ("amount", "dtype"), [(4e-16, np.float64), (1.2e-7, np.float32)]
)
def test_rounding_takes_no_probability_out_of_range(amount, dtype):
    answers = confidence_pairs(Rounded(amount, dtype), X_THREE, Y_THREE)
    assert answers.confidence.tolist() == [1.0, 0.0, 0.5]
    spans = confidence_pairs(Rounded(amount, dtype), X_THREE, Y_THREE, "span:PER")
    assert spans.confidence.tolist() == [1.0]
    assert brier_loss(*answers[:2]) == 0.25 / 3


def test_distances_stay_what_they_are_and_are_refused_by_scores():
    distance = confidence_pairs(Rounded(1.5, np.float64), X_THREE, Y_THREE)
    assert distance.confidence.tolist() == [2.5, -1.5, 0.5]
    with pytest.raises(ValueError, match="a method that gives probabilities, such as"):
        brier_loss(*distance[:2])


def test_a_classifier_with_a_confidence_of_its_own_is_asked_for_it():
    classifier = SimpleNamespace(
        predict=lambda X: np.array(["a", "b"]),
        predict_confidence=lambda X, method="margin": {"margin": [3.0, 4.0],
                                                       "exact": [0.3, 0.4]}[method],
    )  # fmt: skip
    X, y = [[0], [1]], ["a", "a"]
    assert confidence_pairs(classifier, X, y).confidence.tolist() == [3.0, 4.0]
    answers = confidence_pairs(classifier, X, y, method="exact")
    assert answers.confidence.tolist() == [0.3, 0.4]
    assert answers.correct.tolist() == [True, False]


def test_a_label_that_training_never_saw_has_probability_zero():
    X, y, _ = iris()
    known = y != "setosa"
    model = LogisticRegression(max_iter=1000).fit(X[known], y[known])
    answers = confidence_pairs(model, X, y, "setosa")
    assert_array_equal(answers.confidence, 0.0)
    assert_array_equal(answers.correct, ~known)


@pytest.mark.parametrize("y", [[], [[], []]])
def test_nothing_asked_gives_no_answers(y):
    X = [[] for _ in y]
    for query in (None, "O", "span:PER"):
        answers = confidence_pairs(tagger("cw"), X, y, query)
        assert [len(part) for part in answers] == [0, 0, 0]


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("PER", ValueError, "'PER', which neither the estimator nor the truth has"),
        ("not P", ValueError, "label 'P', which neither .* they have 'B-PER', 'I-PER'"),
        ("span:LOC", ValueError, "entity type 'LOC', .* they have 'PER'"),
        ([], ValueError, "names no label; it must be None, a label"),
        ("not ", ValueError, "names no label"),
        ({"entity": "PER"}, ValueError, r"it must be None, a label, .*'span:TYPE'"),
        ({"span": None}, TypeError, "it must be None"),
        ([["O"]], TypeError, "it must be None"),
    ],
)
def test_a_query_that_asks_nothing_is_refused(query, error, message):
    with pytest.raises(error, match=message):
        confidence_pairs(ThreeWords(), X_THREE, Y_THREE, query)


def test_estimators_that_cannot_answer_say_what_they_lack():
    X, y, model = iris()
    with pytest.raises(TypeError, match=r"Perceptron has neither .* Calibrated"):
        confidence_pairs(Perceptron().fit(X, y), X, y)
    with pytest.raises(TypeError, match="LinearRegression has neither"):
        confidence_pairs(LinearRegression().fit(X, X[:, 0]), X, X[:, 0])
    with pytest.raises(ValueError, match="spans are marked by sequences"):
        confidence_pairs(model, X, y, "span:PER")
    with pytest.raises(ValueError, match="predict_proba, which takes no method"):
        confidence_pairs(model, X, y, method="marginal")
    with pytest.raises(TypeError, match="tagger with predict_confidence; Logistic"):
        confidence_pairs(model, X, [[label] for label in y])
    with pytest.raises(ValueError, match="by its marginals, which take no method"):
        confidence_pairs(ThreeWords(), X_THREE, Y_THREE, "O", method="kd-pc")


def test_a_model_of_sklearn_crfsuite_is_asked_by_its_marginals():
    X, y = features(seed=1, n_sequences=20)
    crf = sklearn_crfsuite.CRF(max_iterations=10).fit(X, y)
    answers = confidence_pairs(crf, X, y)
    marginals, labels = crf.predict_marginals(X), crf.predict(X)
    expected = [
        word[label]
        for words, row in zip(marginals, labels, strict=True)
        for word, label in zip(words, row, strict=True)
    ]
    assert_allclose(answers.confidence, expected, rtol=ROUNDING)
    assert answers.correct.mean() == np.mean(np.concatenate(token_correct(y, labels)))
    # It also answers what sklearn-crfsuite alone cannot: queries of spans and pairs.
    same = CRFSequenceTagger.from_crfsuite(crf.modelfile.name)
    for query in ("span:PER", {"pair": [("B-PER", "I-PER")]}):
        asked, expected = (confidence_pairs(m, X, y, query) for m in (crf, same))
        assert asked.confidence.tolist() == expected.confidence.tolist()


def test_a_type_of_entities_that_is_no_label_gets_a_hint():
    X, y = features(seed=1, n_sequences=20)
    with pytest.raises(ValueError, match="For whole entities ask 'span:PER'"):
        confidence_pairs(tagger("cw"), X, y, "PER")


@pytest.mark.parametrize("query", [None, "B-PER", "span:PER"])
def test_labels_of_other_sequences_are_refused(query):
    X, y = features(seed=1, n_sequences=20)
    with pytest.raises(ValueError, match="sequence"):
        confidence_pairs(tagger("crf"), X, y[:-1], query)


@pytest.mark.parametrize("query", [None, "B-PER"])
def test_labels_of_other_lengths_are_refused(query):
    X, y = features(seed=1, n_sequences=20)
    for kind in ("cw", "crf"):
        with pytest.raises(ValueError, match="sequence"):
            confidence_pairs(tagger(kind), X, [*y[:-1], ["O"]], query)


def test_entities_beyond_the_end_of_the_truth_are_refused():
    with pytest.raises(ValueError, match="sequence 0 is longer in X than in y"):
        confidence_pairs(ThreeWords(), X_THREE, [["B-PER"], ["O"], []], "span:PER")


def test_flat_labels_for_a_tagger_are_refused():
    with pytest.raises(ValueError, match="y holds single labels, but ThreeWords"):
        confidence_pairs(ThreeWords(), X_THREE, ["O", "O", "O"])
    X, y, model = iris()
    with pytest.raises(ValueError, match="X has 150 rows but y has 9"):
        confidence_pairs(model, X, y[:9])
    with pytest.raises(ValueError, match="X has 150 rows but y has 9"):
        confidence_pairs(model, X, y[:9], "setosa")


class Counting(ThreeWords):
    """Has ``predict_all``, and counts how often it is asked what."""

    def __init__(self):
        self.asked = []

    def predict_all(self, X):
        self.asked.append("predict_all")
        return self

    classes = ThreeWords.classes_.tolist()
    lengths = np.array([2, 1, 0])

    def labels(self):
        self.asked.append("labels")
        return self.predict(None)

    def confidence(self, method=None, **options):
        self.asked.append("confidence")
        return self.predict_confidence(None)

    def label_table(self, method=None, **options):
        self.asked.append("table")
        return np.array([[0.9, 0.0, 0.1], [0.2, 0.6, 0.2], [0.2, 0.1, 0.7]])

    def entities(self, method=None, **options):
        self.asked.append("entities")
        return self.predict_entities(None)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (None, ["predict_all", "labels", "confidence"]),
        (["O"], ["predict_all", "table"]),
        (["B-PER", "I-PER", "O"], ["predict_all", "table"]),
        ({"not": ["B-PER", "I-PER"]}, ["predict_all", "table"]),
        ("span:*", ["predict_all", "entities"]),
    ],
)
def test_a_tagger_is_asked_once_and_many_labels_cost_one_table(query, asked):
    counting = Counting()
    answers = confidence_pairs(counting, X_THREE, Y_THREE, query)
    assert counting.asked == asked
    by_methods = confidence_pairs(ThreeWords(), X_THREE, Y_THREE, query)
    for one, other in zip(answers, by_methods, strict=True):
        assert_allclose(one, other, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("query", ["pair:B-PER O", {"pair": ("B-PER", "O")}])
def test_a_pair_is_asked_of_every_two_neighbors(query):
    X, y = [["Ann", "left", "Bob"], [], ["Bob"]], [["B-PER", "O", "O"], [], ["O"]]
    model = HMMSequenceTagger().fit(X[:1] + X[2:], y[:1] + y[2:])
    found = confidence_pairs(model, X, y, query)
    assert found.correct.tolist() == [True, False]
    assert found.groups.tolist() == [0, 0]
    tables = model.predict_marginals(X, length=2)[0]
    assert_allclose(
        found.confidence, [row["B-PER", "O"] for row in tables], rtol=ROUNDING
    )


def test_all_pairs_together_are_certain_and_several_are_summed():
    X, y = features(seed=1, n_sequences=20)
    labels = tagger("crf").classes_.tolist()
    every = [(left, right) for left in labels for right in labels]
    found = confidence_pairs(tagger("crf"), X, y, {"pair": every})
    assert found.correct.all()
    assert_allclose(found.confidence, 1.0, rtol=1e-6)
    one, other = (
        confidence_pairs(tagger("crf"), X, y, {"pair": [p]}) for p in every[:2]
    )
    both = confidence_pairs(tagger("crf"), X, y, {"pair": every[:2]})
    assert_allclose(both.confidence, one.confidence + other.confidence, atol=1e-9)
    assert_array_equal(both.correct, one.correct | other.correct)


def test_pairs_need_a_tagger_of_this_package_and_sequences():
    with pytest.raises(TypeError, match="ThreeWords cannot tell how probable pairs"):
        confidence_pairs(ThreeWords(), X_THREE, Y_THREE, "pair:B-PER O")
    with pytest.raises(ValueError, match="query names the label 'Q'"):
        confidence_pairs(tagger("crf"), *features(n_sequences=4), "pair:O Q")
    X, names, model = iris()
    with pytest.raises(ValueError, match="pairs are marked by sequences"):
        confidence_pairs(model, X, names, "pair:setosa virginica")
