"""The hidden Markov model: its weights, its words, new words, and what it refuses."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.model_selection import GridSearchCV

import skcw
from skcw import HMMSequenceTagger, make_tagging_pipeline
from skcw.confidence.settings import scale_unit
from skcw.data import SequenceEncoder
from skcw.data.labels import encode_labels
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ConstraintWarning, ForeignBatchError
from skcw.metrics import token_accuracy_score
from skcw.tagging.spelling import spelling_keys
from tests.reference import hmm as twin

CLOSE = 1e-9
NEW_WORDS = ["Xerxes", "zzz", "the", "THE", "1,024th", "A", "b-b", "?"]


def corpus(n_sequences=40, seed=0):
    tokens, y = make_tagged_corpus(n_sequences, random_state=seed, return_X_y=True)
    return [[word for word, _ in sentence] for sentence in tokens], y


@pytest.fixture(scope="module")
def words():
    return corpus()


@pytest.fixture(scope="module")
def fitted(words):
    return HMMSequenceTagger().fit(*words)


CLASSES = {
    "prior": lambda word: (),
    "vocabulary": lambda word: ("",),
    "spelling": cache(lambda word: spelling_keys(word, 3)),
}


@pytest.mark.parametrize("unseen", CLASSES)
def test_weights_are_those_of_the_twin(unseen):
    X, y = corpus(n_sequences=20)
    tagger = HMMSequenceTagger(
        unseen,
        word_smoothing=0.7,
        class_smoothing=2.0,
        transition_smoothing=3.0,
        max_suffix=3,
        constraints=None,
    ).fit(X, y)
    labels = tagger.classes_.tolist()
    codes = [[labels.index(label) for label in row] for row in y]
    links, first, last = twin.transitions(codes, len(labels), 3.0)
    assert_allclose(tagger.transition_coef_, links, rtol=CLOSE)
    assert_allclose(tagger.border_coef_, [first, last], rtol=CLOSE, atol=CLOSE)
    count, p = twin.seen(X, codes, len(labels)), twin.prior(codes, len(labels))
    known = tagger.feature_names_.tolist()
    rows = []
    for word in [*known, *NEW_WORDS]:
        share = twin.by_class(word, CLASSES[unseen], count, p, 2.0)
        if unseen == "spelling":
            share = twin.by_letters(word, count, share)
        rows.append(twin.emission(word, count, p, 0.7, share))
    assert_allclose(tagger.coef_, rows[: len(known)], rtol=CLOSE, atol=CLOSE)
    # A sequence of one new word: what its row adds to the ends of a sequence.
    for word, row in zip(NEW_WORDS, rows[len(known) :], strict=True):
        (token,) = tagger.predict_marginals([[word]])[0]
        expected = softmax(first + last + row)
        assert_allclose(list(token.values()), expected, rtol=CLOSE)


def test_labels_without_tokens_stay_possible(words):
    tagger = HMMSequenceTagger().partial_fit(*words, classes=["never", "O"])
    assert tagger.classes_[0] == "never"
    assert np.isfinite(tagger.coef_).all()
    assert np.isfinite(tagger.transition_coef_).all()
    for row in tagger.predict_marginals([NEW_WORDS]):
        assert all(0 < token["never"] < 0.5 for token in row)


def test_learning_nothing_but_labels_is_possible():
    tagger = HMMSequenceTagger(word_prefix="")
    tagger.partial_fit([], [], classes=["A", "B"])
    assert_allclose(tagger.predict_confidence([["x", "y"]])[0], 0.5, rtol=CLOSE)
    tagger.partial_fit([["x"]], [["B"]])
    assert tagger.predict([["x"]])[0] == ["B"]


def test_log_probabilities_of_all_labelings_sum_to_one(fitted):
    tagger = HMMSequenceTagger().fit([["a", "b", "c"]] * 2, [["A", "B", "A"]] * 2)
    (row,) = tagger.predict_nbest([["a", "x", "b"]], 100)
    assert len(row) == 8
    assert_allclose(sum(np.exp(score) for _, score in row), 1.0, rtol=CLOSE)
    assert all(
        score <= 0 for row in fitted.predict_nbest([["Ann"]], 3) for _, score in row
    )


def test_confidence_is_the_marginal_of_the_predicted_label(fitted, words):
    X = corpus(seed=1)[0]
    pairs = zip(
        fitted.predict(X),
        fitted.predict_marginals(X),
        fitted.predict_confidence(X),
        strict=True,
    )
    for labels, marginals, confidence in pairs:
        expected = [m[label] for m, label in zip(marginals, labels, strict=True)]
        assert_allclose(confidence, expected, rtol=CLOSE)


@pytest.mark.parametrize("method", ["delta", "delta-max", "kbv", "wkbv", "kd-fixed"])
def test_methods_that_need_no_variance_are_served(fitted, method):
    X = corpus(seed=1)[0]
    for row, x in zip(fitted.predict_confidence(X, method), X, strict=True):
        assert row.shape == (len(x),)
        assert (row >= 0).all()


def test_methods_that_need_variances_are_refused_by_name(fitted):
    with pytest.raises(ValueError, match="needs a variance"):
        fitted.predict_confidence([["a"]], "kd-pc")


def test_draws_without_spread_give_the_predicted_labels(fitted):
    X = corpus(seed=1)[0]
    confidence = fitted.predict_confidence(
        X, "kd-fixed", variance_scale=1e-12, n_draws=3
    )
    assert (np.concatenate(confidence) == 1.0).all()


def test_explanations_add_up_to_delta(words):
    # Constraints may leave a word no rival, where delta is infinite.
    fitted = HMMSequenceTagger(constraints=None).fit(*words)
    for x in corpus(n_sequences=8, seed=1)[0] + [["Zorro"]]:
        margins = [token.margin for token in fitted.explain(x)]
        (delta,) = fitted.predict_confidence([x], "delta-max")
        assert_allclose(margins, delta, rtol=1e-6, atol=CLOSE)
        features = {part.feature for part in fitted.explain(x)[0].contributions}
        assert "first" in features


# -- which words are read ------------------------------------------------------------


def in_features(X):
    return [[["bias", f"w={word}", "low=" + word.lower()] for word in x] for x in X]


@pytest.mark.parametrize(
    ("dress", "prefix"),
    [
        (in_features, "w="),
        (lambda X: [[{"word": word, "n": 1.5} for word in x] for x in X], "word:"),
        (lambda X: [[(word,) for word in x] for x in X], None),
        (lambda X: SequenceEncoder().fit_transform(in_features(X)), "w="),
    ],
    ids=["lists", "dicts", "tuples", "batch"],
)
def test_the_word_is_found_among_other_features(fitted, words, dress, prefix):
    X, y = words
    other = HMMSequenceTagger(word_prefix=prefix).fit(dress(X), y)
    assert_array_equal(other.transition_coef_, fitted.transition_coef_)
    for mine, theirs in zip(
        other.predict_confidence(dress(X)), fitted.predict_confidence(X), strict=True
    ):
        assert_array_equal(mine, theirs)


def test_new_words_are_read_by_the_prefix_too(fitted, words):
    X, y = words
    other = HMMSequenceTagger(word_prefix="w=").fit(in_features(X), y)
    (mine,) = other.predict_confidence(in_features([NEW_WORDS]))
    (theirs,) = fitted.predict_confidence([NEW_WORDS])
    assert_array_equal(mine, theirs)


def test_a_prefix_that_no_feature_has_is_named(words):
    with pytest.raises(ValueError, match="word_prefix='x='"):
        HMMSequenceTagger(word_prefix="x=").fit(*words)


def test_columns_of_numbers_have_no_prefix():
    with pytest.raises(ValueError, match="numeric columns have no names"):
        HMMSequenceTagger(word_prefix="w=").fit([np.eye(2)], [["A", "B"]])


def test_several_features_are_emitted_independently():
    # "a" and "x" both speak for A: twice the evidence of one of them.
    X, y = [[["a", "x"]], [["b", "y"]]] * 3, [["A"], ["B"]] * 3
    tagger = HMMSequenceTagger("prior").fit(X, y)
    odds = [
        np.log(row[0]["A"] / row[0]["B"])
        for row in tagger.predict_marginals([[["a"]], [["a", "x"]]])
    ]
    assert_allclose(odds[1], 2 * odds[0], rtol=CLOSE)
    weighed = tagger.predict_marginals([[{"a": 2.0}]])[0][0]
    assert_allclose(np.log(weighed["A"] / weighed["B"]), 2 * odds[0], rtol=CLOSE)


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_negative_counts_are_named(form):
    good, bad = form([[1.0, 0.0], [0.0, 2.0]]), form([[1.0, 0.0], [0.0, -2.0]])
    tagger = HMMSequenceTagger().fit([good], [["A", "B"]])
    before = tagger.coef_
    for call in (
        lambda: tagger.fit([good, bad], [["A", "B"]] * 2),
        lambda: tagger.partial_fit([good, bad], [["A", "B"]] * 2),
        lambda: tagger.predict([good, bad]),
    ):
        with pytest.raises(ValueError, match=r"sequence 1, token 1 .*-2\.0"):
            call()
    assert_array_equal(tagger.coef_, before)


# -- words that were never seen ------------------------------------------------------


def test_new_words_with_known_ones_beside_them_are_left_out(words):
    X, y = words
    tagger = HMMSequenceTagger().fit(in_features(X), y)
    more = [[[*token, "w=Never"] for token in x] for x in in_features(X)]
    for name in ("predict_confidence", "predict_marginals"):
        call = getattr(tagger, name)
        for mine, theirs in zip(call(more), call(in_features(X)), strict=True):
            assert np.array_equal(mine, theirs)


def test_new_words_are_the_same_in_every_form(fitted, words):
    X = [NEW_WORDS, ["Never", "ran"], ["ran", "Never"]]
    expected = fitted.predict_confidence(X)
    known = SequenceEncoder().fit_transform([*words[0], *X])[len(words[0]) :]
    for form in (known, fitted.encode(X), [[[word] for word in x] for x in X]):
        for mine, theirs in zip(fitted.predict_confidence(form), expected, strict=True):
            assert_array_equal(mine, theirs)
    assert fitted.encode(fitted.encode(X)).to_lists() == fitted.encode(X).to_lists()


def test_words_that_an_encoder_left_out_tell_nothing(fitted, words):
    encoder = SequenceEncoder().fit(words[0])
    lost = encoder.transform([["Never"]])
    assert_array_equal(
        fitted.predict_confidence(lost)[0], fitted.predict_confidence([[[]]])[0]
    )


def test_a_batch_with_other_new_words_is_refused_after_learning(words):
    tagger = HMMSequenceTagger().fit(*words)
    batch = tagger.encode([["Never", "ever"]])
    tagger.partial_fit([["Other"]], [["O"]])
    with pytest.raises(ForeignBatchError):
        tagger.predict(batch)


@pytest.mark.parametrize(
    "word",
    [
        "",
        " ",
        "\x1f",
        "\0",
        "\ud800",
        "İ",
        "ß",
        "👍🏽",
        "名前",
        "x" * 10_000,
        "٣",
        "é\n",
    ],
    ids=lambda word: ascii(word[:9]),
)
def test_any_string_is_a_word(word):
    X, y = [[word, "b"], ["Ann", word]], [["A", "B"], ["C", "A"]]
    tagger = HMMSequenceTagger().fit(X, y)
    assert tagger.predict(X).tolist() == y
    assert_allclose(tagger.coef_, HMMSequenceTagger().fit(X, y).coef_)
    blind = HMMSequenceTagger().fit([["b"]], [["B"]])
    assert blind.predict([[word]])[0] == ["B"]


def test_suffixes_may_be_switched_off(words):
    tagger = HMMSequenceTagger(max_suffix=0).fit(*words)
    sure = tagger.predict_confidence([["zzzing"], ["zzzed"]])
    assert sure[0] == sure[1]


# -- learning ------------------------------------------------------------------------


def test_partial_fit_counts_what_fit_counts(words):
    X, y = words
    tagger = HMMSequenceTagger()
    for x, labels in zip(X, y, strict=True):
        tagger.partial_fit([x], [labels])
    whole = HMMSequenceTagger().fit(X, y)
    assert_array_equal(tagger.coef_, whole.coef_)
    assert_array_equal(tagger.border_coef_, whole.border_coef_)
    assert_array_equal(tagger.feature_count_.toarray(), whole.feature_count_.toarray())


def test_counts_are_shown(words):
    X, y = words
    tagger = HMMSequenceTagger().fit(X, y)
    codes, _, _ = encode_labels(y)
    assert_array_equal(tagger.class_count_, np.bincount(codes))
    assert tagger.border_count_.sum() == 2 * len(X)
    assert tagger.transition_count_.sum() == len(codes) - len(X)
    assert tagger.feature_count_.sum() == len(codes)
    assert tagger.history_[0]["tokens"] == len(codes)


def test_weights_of_one_half_count_half(words):
    X, y = words
    half = HMMSequenceTagger("prior", word_smoothing=1, transition_smoothing=2)
    half.fit(X, y, sample_weight=np.full(len(X), 0.5))
    whole = HMMSequenceTagger("prior", word_smoothing=2, transition_smoothing=4)
    whole.fit(X, y)
    assert_allclose(half.coef_, whole.coef_, rtol=CLOSE, atol=CLOSE)
    assert_allclose(half.transition_coef_, whole.transition_coef_, rtol=CLOSE)


def test_constraints_are_obeyed_and_breaches_reported(words):
    X, y = words
    tagger = HMMSequenceTagger(constraints="BIO").fit(X, y)
    for labels in tagger.predict(corpus(seed=2)[0]):
        for before, after in zip(["O", *labels], labels, strict=False):
            assert after[0] != "I" or before[1:] == after[1:]
    with pytest.warns(ConstraintWarning, match="sequence 1") as caught:
        HMMSequenceTagger(constraints="BIO").fit([["a"], ["b"]], [["O"], ["I-x"]])
    assert caught[0].filename == __file__


BAD_PARAMETERS = {
    "unseen": ["suffix", None, 1],
    "word_prefix": [1, b"w="],
    "word_smoothing": [0, -1, np.nan, np.inf, "1", None],
    "class_smoothing": [0, -1, np.nan, 1e-300],
    "transition_smoothing": [0, -1, np.nan, 1e300],
    "max_suffix": [-1, 1.5, None],
    "constraints": ["IO", 3],
    "n_jobs": [0, 1.5, "all"],
}


@pytest.mark.parametrize(("name", "values"), BAD_PARAMETERS.items())
def test_parameters_out_of_range_are_named(words, name, values):
    for value in values:
        tagger = HMMSequenceTagger(**{name: value})
        for door in (tagger.fit, tagger.partial_fit):
            with pytest.raises(ValueError, match=name):
                door(*words)
        assert not hasattr(tagger, "classes_")


def test_extreme_smoothing_leaves_weights_finite(words):
    for value in (1e-10, 1e10):
        names = ("word_smoothing", "class_smoothing", "transition_smoothing")
        tagger = HMMSequenceTagger(**dict.fromkeys(names, value)).fit(*words)
        assert np.isfinite(tagger.coef_).all()
        assert np.isfinite(np.concatenate(tagger.predict_confidence([NEW_WORDS]))).all()


# -- with others ---------------------------------------------------------------------


def test_a_saved_model_does_not_depend_on_parameters_set_since(words, tmp_path):
    tagger = HMMSequenceTagger(word_smoothing=2.0).fit(*words)
    tagger.fit_confidence(*corpus(seed=1), metric="log_loss")
    (expected,) = tagger.predict_confidence([NEW_WORDS])
    tagger.set_params(word_smoothing=0.1, unseen="prior").save(tmp_path / "model")
    loaded = skcw.load(tmp_path / "model")
    assert_array_equal(loaded.predict_confidence([NEW_WORDS])[0], expected)
    assert loaded.word_smoothing == 0.1


def test_grid_search_chooses_the_smoothing(words):
    grid = {"unseen": ["prior", "spelling"], "word_smoothing": [0.5, 50.0]}
    search = GridSearchCV(HMMSequenceTagger(), grid, cv=3).fit(*words)
    assert search.best_params_["unseen"] == "spelling"
    batch = SequenceEncoder().fit_transform(words[0])
    again = GridSearchCV(HMMSequenceTagger(), grid, cv=3).fit(batch, words[1])
    # A batch knows the names of the words that the other folds hold.
    assert_array_equal(
        search.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"]
    )


def test_words_of_a_pipeline_are_read_by_their_prefix(words):
    X, y = words
    tagger = HMMSequenceTagger(word_prefix="word[0]=")
    pipeline = make_tagging_pipeline(["word[-1..1]", "suffix(1..2)"], tagger).fit(X, y)
    plain = HMMSequenceTagger().fit(X, y)
    assert pipeline.predict(X).tolist() == plain.predict(X).tolist()


def test_confidence_is_fitted_by_folds(words):
    X, y = words
    tagger = HMMSequenceTagger().fit(X, y)
    tagger.fit_confidence(X, y, metric="log_loss", cv=3)
    assert 0.3 < tagger.confidence_["marginal"]["values"]["temperature"] < 3.0


def test_draws_agree_about_as_often_as_words_are_right():
    X, y = corpus(600)
    tagger = HMMSequenceTagger().fit(X[:300], y[:300])
    accuracy = tagger.score(X[300:], y[300:])
    sure = np.concatenate(list(tagger.predict_confidence(X[300:], "kd-fixed")))
    assert sure.mean() == pytest.approx(accuracy, abs=0.05)
    voted = token_accuracy_score(y[300:], tagger.predict_voted(X[300:]))
    assert voted == pytest.approx(accuracy, abs=0.01)
    # So many rare words that the mean square of the weights would be another scale.
    assert scale_unit(tagger.belief_, unit_variance=True) == 0.225
