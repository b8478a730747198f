"""Taggers with templates whose transitions look at words."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import skcw
from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    InferenceModel,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    make_tagging_pipeline,
)
from skcw.features import WindowFeatures, read_template
from skcw.features.joined_features import join_features
from tests.kernels.problems import FLOAT32

PLAIN = ["U00:%x[0,0]", "B"]
WORDS = ["U00:%x[0,0]", "B", "B01:%x[0,0]"]
# Marginals and pairs are summed in other orders.
SAME = 1e-9
LINEAR = [
    CWSequenceTagger,
    AROWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
]
each_learner = pytest.mark.parametrize("Tagger", LINEAR)


def switches(n, seed):
    """Return sentences whose label changes at "x" and stays at "o".

    The word tells the step, not the label: no weight of a word and no weight of a pair
    of labels can tell which label comes next.
    """
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        label = rng.choice(["A", "B"])
        words, labels = [label.lower()], [str(label)]
        for word in rng.choice(["x", "o"], size=rng.integers(2, 8)).tolist():
            if word == "x":
                label = {"A": "B", "B": "A"}[label]
            words.append(word)
            labels.append(str(label))
        X.append(words)
        y.append(labels)
    return X, y


X, Y = switches(150, 0)
X_NEW, Y_NEW = switches(60, 1)


def pipeline(lines, Tagger=CWSequenceTagger, **params):
    params = {"random_state": 0, **params}
    return make_tagging_pipeline(WindowFeatures(lines), Tagger(**params))


@pytest.fixture(scope="module")
def fitted():
    return pipeline(WORDS).fit(X, Y)


@each_learner
def test_steps_that_only_a_word_tells_are_learned(Tagger):
    assert pipeline(PLAIN, Tagger).fit(X, Y).score(X_NEW, Y_NEW) < 0.75
    assert pipeline(WORDS, Tagger).fit(X, Y).score(X_NEW, Y_NEW) == 1.0


@each_learner
def test_lines_without_a_macro_are_the_transitions_of_all(Tagger):
    one, other = (
        pipeline(lines, Tagger).fit(X, Y)
        for lines in (["U00:%x[0,0]"], ["U00:%x[0,0]", "B", "b17"])
    )
    assert_array_equal(one.tagger.coef_, other.tagger.coef_)
    assert_array_equal(one.tagger.transition_coef_, other.tagger.transition_coef_)
    assert not other.tagger.edge_features_
    for mine, theirs in zip(
        one.predict_confidence(X_NEW), other.predict_confidence(X_NEW), strict=True
    ):
        assert_array_equal(mine, theirs)


def test_all_that_can_be_asked_is_answered(fitted):
    answers = fitted.predict_all(X_NEW)
    assert answers.labels().tolist() == Y_NEW
    for method in fitted.confidence_methods_:
        for row, words in zip(answers.confidence(method), X_NEW, strict=True):
            assert len(row) == len(words)
            assert np.isfinite(row).all()
    table = answers.marginals()[0]
    assert_allclose([sum(row.values()) for row in table], 1.0)
    best, second = answers.nbest(2)[0]
    assert best[0] == Y_NEW[0]
    assert best[1] > second[1]
    assert len(fitted.predict_entities(X_NEW, "exact")) == len(X_NEW)
    assert len(fitted.tagger.sample(fitted.encode(X_NEW[:2]), 3)[0]) == 3


def test_pairs_of_labels_add_up_to_each_of_them(fitted):
    single = fitted.predict_marginals(X_NEW)[0]
    pairs = fitted.predict_marginals(X_NEW, length=2)[0]
    for t, row in enumerate(pairs):
        for label in single[t]:
            before = sum(p for (left, _), p in row.items() if left == label)
            after = sum(p for (_, right), p in row.items() if right == label)
            assert_allclose(before, single[t][label], atol=SAME)
            assert_allclose(after, single[t + 1][label], atol=SAME)


def test_weights_are_known_by_pair_of_labels(fitted):
    tagger = fitted.tagger
    found = tagger.edge_features_
    assert {name for name, _, _ in found} == {"B01:x", "B01:o"}
    assert found["B01:x", "A", "B"] > 0 > found["B01:x", "A", "A"]
    assert found["B01:o", "B", "B"] > 0 > found["B01:o", "B", "A"]
    # They are no features of tokens.
    assert {name for name, _ in tagger.state_features_} <= {
        f"U00:{word}" for word in "abxo"
    }
    assert "label[-1]&B01:x" in tagger.attributes_
    assert tagger.num_attributes_ == len(tagger.attributes_)


def test_explanations_add_up_to_the_margin(fitted):
    words = X_NEW[0]
    answers = fitted.predict_all([words])
    rows = zip(
        answers.confidence("delta-max")[0], answers.confidence("delta")[0], strict=True
    )
    explained = fitted.explain(words)
    names = {part.feature for token in explained for part in token.contributions}
    assert {f"after {Y_NEW[0][0]} & B01:{words[1]}"} <= names
    assert any(name.endswith(f"& B01:{words[2]}") for name in names)
    for token, (gap, alone) in zip(explained, rows, strict=True):
        assert_allclose(token.margin, gap, rtol=FLOAT32)
        total = sum(part.value for part in token.contributions)
        assert_allclose(total, gap, rtol=FLOAT32)
        # Neighbors change with the label here, for alone it would cost more.
        assert alone > gap and token.std > 0


def test_the_file_of_a_model_holds_them(fitted, tmp_path):
    path = tmp_path / "switch.skcw"
    fitted.save(path)
    for opened in (skcw.load(path), InferenceModel.open(path)):
        answers, mine = opened.predict_all(X_NEW), fitted.predict_all(X_NEW)
        assert answers.labels().tolist() == Y_NEW
        for method in ("marginal", "delta-std", "noisy-marginal"):
            for one, other in zip(
                answers.confidence(method), mine.confidence(method), strict=True
            ):
                assert_array_equal(one, other)


def test_learning_goes_on_with_new_words_and_labels():
    features = WindowFeatures(WORDS).fit(X)
    tagger = CWSequenceTagger(random_state=0).fit(features.transform(X), Y)
    before = tagger.edge_features_
    # "z" leads from any label to C, and C stays.
    more_X = [["a", "z", "o"], ["b", "z", "o", "o"]] * 20
    more_Y = [["A", "C", "C"], ["B", "C", "C", "C"]] * 20
    features.partial_fit(more_X)
    for _ in range(5):
        tagger.partial_fit(features.transform([*X, *more_X]), [*Y, *more_Y])
    assert tagger.predict(features.transform(more_X)).tolist() == more_Y
    assert tagger.score(features.transform(X_NEW), Y_NEW) == 1.0
    assert {name for name, _, _ in before} == {"B01:x", "B01:o"}
    assert ("B01:z", "A", "C") in tagger.edge_features_


def test_a_batch_with_later_features_is_read():
    features = WindowFeatures(WORDS).fit(X)
    tagger = CWSequenceTagger(random_state=0).fit(features.transform(X), Y)
    marginals = tagger.predict_marginals(features.transform(X_NEW[:5]))
    features.partial_fit([["q", "q"]])
    later = features.transform(X_NEW[:5])
    assert later.n_features > len(tagger.belief_.row_of)
    assert tagger.predict_marginals(later).tolist() == marginals.tolist()
    drawn = tagger.predict_confidence(later, "kd-fixed")
    assert len(drawn) == 5


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_several_models_are_averaged(n_jobs):
    tagger = pipeline(WORDS, n_models=3, n_jobs=n_jobs).fit(X, Y)
    assert tagger.score(X_NEW, Y_NEW) == 1.0


def test_early_stopping_and_warm_starts():
    tagger = pipeline(WORDS, early_stopping=True, max_iter=30).fit(X, Y)
    assert tagger.score(X_NEW, Y_NEW) == 1.0
    tagger.tagger.set_params(warm_start=True, early_stopping=False)
    assert tagger.fit(X, Y).score(X_NEW, Y_NEW) == 1.0


def test_constraints_hold():
    y = [["B-" + label for label in labels] for labels in Y]
    legal = (["B-A", "B-B"], [[1, 0], [1, 1]])
    with pytest.warns(skcw.exceptions.ConstraintWarning):
        tagger = pipeline(WORDS, constraints=legal).fit(X, y)
    for labels in tagger.predict(X_NEW):
        assert ("B-A", "B-B") not in set(pairwise(labels))


def test_the_first_word_of_a_sentence_takes_no_step():
    # Only the first words have this feature; it can change nothing.
    def rows(mark):
        return [
            [[word, *([mark] if t == 0 else [f"label[-1]&{word}"])]
             for t, word in enumerate(words)]
            for words in X
        ]  # fmt: skip

    tagger = CWSequenceTagger(random_state=0).fit(rows("label[-1]&first"), Y)
    assert {name for name, _, _ in tagger.edge_features_} == {"x", "o"}
    assert_array_equal(tagger.score(rows("label[-1]&x"), Y), 1.0)
    with_it = tagger.predict_all(rows("label[-1]&x")).marginals().tolist()
    assert with_it == tagger.predict_all(rows("unknown")).marginals().tolist()


def test_features_of_ones_own_may_look_at_the_label_before():
    def of_step(words, i):
        return [words[i], f"label[-1]&{words[i]}"]

    rows = [[of_step(words, i) for i in range(len(words))] for words in X]
    new = [[of_step(words, i) for i in range(len(words))] for words in X_NEW]
    tagger = CWSequenceTagger(random_state=0).fit(rows, Y)
    assert tagger.score(new, Y_NEW) == 1.0
    half = [[dict.fromkeys(token, 0.5) for token in row] for row in rows]
    tagger = CWSequenceTagger(random_state=0).fit(half, Y)
    assert tagger.score([[dict.fromkeys(t, 0.5) for t in r] for r in new], Y_NEW) == 1.0


def test_they_may_be_joined_with_other_features():
    joined = join_features(WindowFeatures(WORDS), lambda words, i: [str(len(words))])
    tagger = make_tagging_pipeline(joined, CWSequenceTagger(random_state=0)).fit(X, Y)
    assert tagger.score(X_NEW, Y_NEW) == 1.0


def test_words_never_seen_are_harmless(fitted):
    (labels,) = fitted.predict([["a", "never", "x", "seen"]])
    assert len(labels) == 4
    assert fitted.predict([[]]).tolist() == [[]]


def test_columns_that_are_missing_are_named():
    lines = ["U00:%x[0,0]", "B01:%x[0,1]"]
    tokens = [[(word, "t" + word) for word in words] for words in X]
    tagger = pipeline(lines).fit(tokens, Y)
    assert tagger.score([[(w, "t" + w) for w in row] for row in X_NEW], Y_NEW) == 1.0
    with pytest.raises(TypeError, match="column 1"):
        tagger.predict([[("a",), ("x",)]])


@pytest.mark.parametrize(
    "Tagger", [CRFSequenceTagger, HMMSequenceTagger, MaxEntSequenceTagger]
)
def test_learners_without_such_weights_refuse_them(Tagger):
    message = (
        rf"'label\[-1\]&B01:[abxo]' \(\d in all\) look at the label before, and "
        rf"{Tagger.__name__}"
    )
    with pytest.raises(ValueError, match=message):
        make_tagging_pipeline(WindowFeatures(WORDS), Tagger()).fit(X, Y)


def test_hashed_features_have_no_names_to_tell_them_by():
    with pytest.raises(ValueError, match=r"'B01:' of a template .* n_features"):
        WindowFeatures(WORDS, n_features=64).fit(X)


def test_template_files_of_wapiti_and_crfpp_are_learned(tmp_path):
    for text in ("# both\nU:%x[0,0]\nB\nB1:%x[0,0]\n", "*:%X[ 0, 0 ]\n"):
        path = tmp_path / "template"
        path.write_text(text)
        assert pipeline(read_template(path)).fit(X, Y).score(X_NEW, Y_NEW) == 1.0
