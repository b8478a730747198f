"""Confidence as taggers offer it: answers, fitted parameters, refusals."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    make_tagging_pipeline,
)
from skcw.confidence.fitting import N_BEST_VALUES
from skcw.confidence.methods import METHODS
from skcw.confidence.tallies import SPAN_EVENTS
from skcw.data.schemes import extract_spans
from skcw.datasets import make_tagged_corpus
from skcw.features import WindowFeatures
from skcw.io.model_files import read_model, write_model
from skcw.metrics import token_correct
from skcw.utils.laws import make_tagged

TAGGERS = {
    "CW": CWSequenceTagger(max_iter=3, random_state=0),
    "AROW": AROWSequenceTagger(max_iter=3, random_state=0),
    "PA": PASequenceTagger(max_iter=3, random_state=0),
    "perceptron": PerceptronSequenceTagger(max_iter=3, random_state=0),
}
JOINT_METHODS = [name for name, method in METHODS.items() if method.spans]
GAUSSIAN = ("CW", "AROW")
# A calibrated model is off by more standard errors in one of a thousand test sets.
# Temperatures in the unit of another learner are off by dozens of them.
MOST_ERRORS = 3.29
TRAIN = make_tagged(TAGGERS["CW"], n_sequences=30, noise=0.3)
X, Y = make_tagged(TAGGERS["CW"], seed=1, n_sequences=30, noise=0.5)
FITTED = {name: clone(tagger).fit(*TRAIN) for name, tagger in TAGGERS.items()}

SERVED = [
    (name, method)
    for name in TAGGERS
    for method, about in METHODS.items()
    if name in GAUSSIAN or not about.needs_variance
]
each_served = pytest.mark.parametrize(("name", "method"), SERVED)
each_tagger = pytest.mark.parametrize("name", TAGGERS)


def flat(rows):
    return np.concatenate(list(rows))


def few_of(method, **options):
    """Return those of some options that a method takes."""
    return {k: v for k, v in options.items() if k in METHODS[method].options}


def confidence_of(name, **options):
    return flat(FITTED[name].predict_confidence(X, **options))


# -- answers -------------------------------------------------------------------------


@each_served
def test_every_method_gives_every_word_a_number(name, method):
    few = few_of(method, n_draws=10, n_best=5)
    rows = FITTED[name].predict_confidence([[], *X, []], method, **few)
    assert [len(row) for row in rows] == [0, *map(len, X), 0]
    found = flat(rows)
    assert found.dtype == np.float64
    assert not np.isnan(found).any() and (found >= 0).all()
    assert (found <= 1).all() or not METHODS[method].probability


@each_tagger
def test_a_user_need_not_choose(name):
    found = confidence_of(name)
    assert_array_equal(found, confidence_of(name, method="marginal"))
    wrong = flat(FITTED[name].predict(X)) != flat(Y)
    assert found[wrong].mean() < found[~wrong].mean()


@each_tagger
def test_confidence_is_the_accuracy_up_to_chance_whatever_the_learner(name):
    corpus = make_tagged_corpus(800, random_state=0)
    tagger = make_tagging_pipeline("ner", clone(TAGGERS[name]).set_params(max_iter=8))
    tagger.fit(corpus.tokens[:600], corpus.labels[:600])
    X_new, gold = corpus.tokens[600:], corpus.labels[600:]
    right = token_correct(gold, tagger.predict(X_new))
    sure = tagger.predict_confidence(X_new)
    # Errors of a sentence come together, so sentences are what is drawn.
    surplus = np.array([s.sum() - r.sum() for s, r in zip(sure, right, strict=True)])
    error = surplus.std(ddof=1) / np.sqrt(len(surplus))
    assert abs(surplus.mean()) < MOST_ERRORS * error


@each_tagger
def test_no_sequences_are_answered_with_nothing(name):
    tagger = FITTED[name]
    for method in METHODS if name in GAUSSIAN else ("kd-fixed", "kbv", "marginal"):
        assert tagger.predict_confidence([], method).shape == (0,)
    for method in ("kd-fixed", "kbv", "marginal"):
        assert tagger.predict_sequence_confidence([], method).shape == (0,)
        for definition in SPAN_EVENTS:
            assert tagger.predict_entities([], definition, method).shape == (0,)
            assert tagger.predict_entities([[]], definition, method)[0] == []
    assert tagger.predict_voted([]).shape == (0,)
    assert tagger.predict_voted([[]])[0] == []


@pytest.mark.parametrize("method", METHODS)
def test_with_one_label_all_is_sure(method):
    tagger = CWSequenceTagger().fit([["a", "b"]], [["B-x", "B-x"]])
    (found,) = tagger.predict_confidence([["a", "new"]], method)
    assert_allclose(found, 1.0 if METHODS[method].probability else np.inf, rtol=1e-12)


@pytest.mark.parametrize("method", JOINT_METHODS)
def test_with_one_label_whole_sequences_are_sure(method):
    tagger = CWSequenceTagger().fit([["a", "b"]], [["B-x", "B-x"]])
    assert tagger.predict_sequence_confidence([["a", "new"]], method) == [1.0]
    for definition in SPAN_EVENTS:
        (row,) = tagger.predict_entities([["a", "new"]], definition, method)
        assert_allclose([entity.confidence for entity in row], [1.0, 1.0], rtol=1e-12)


@each_served
def test_given_options_are_used(name, method):
    given = {
        "variance_scale": (0.001, 3.0),
        "temperature": (0.05, 5.0),
        "n_best": (1, 40),
    }
    for option in METHODS[method].tunes:
        low, high = (
            confidence_of(name, method=method, **{option: value}).mean()
            for value in given[option]
        )
        assert low > high


@pytest.mark.parametrize("method", ["kd-pc", "kd-fixed", "kd-independent"])
def test_the_seed_is_the_taggers_own_unless_another_is_given(method):
    found = confidence_of("CW", method=method)
    assert_array_equal(confidence_of("CW", method=method, random_state=0), found)
    assert (confidence_of("CW", method=method, random_state=1) != found).any()
    other = clone(TAGGERS["CW"]).fit(*TRAIN).set_params(random_state=1)
    again = flat(other.predict_confidence(X, method))
    assert_array_equal(again, confidence_of("CW", method=method, random_state=1))
    for unseeded in (None, np.random.RandomState(3)):
        other.set_params(random_state=unseeded)
        assert_array_equal(flat(other.predict_confidence(X, method)), found)
    largest = confidence_of("CW", method=method, random_state=2**64 - 1)
    assert (largest != found).any()


@each_served
def test_batches_and_threads_change_no_bit(name, method):
    few = few_of(method, n_draws=9)
    whole = FITTED[name].predict_confidence(X, method, **few)
    batch = FITTED[name].encode(X)
    parts = [batch[:11], batch[11:]]
    rows = [FITTED[name].predict_confidence(part, method, **few) for part in parts]
    assert_array_equal(flat(flat(rows)), flat(whole))
    threaded = pickle.loads(pickle.dumps(FITTED[name])).set_params(n_jobs=2)
    found = threaded.predict_confidence(X, method, **few)
    assert_array_equal(flat(found), flat(whole))


# -- entities and sequences ----------------------------------------------------------


@each_tagger
@pytest.mark.parametrize("definition", SPAN_EVENTS)
def test_entities_are_those_of_the_labels_by_every_definition(name, definition):
    tagger = FITTED[name]
    labels = tagger.predict(X)
    for method in ("marginal", "kbv", "kd-fixed"):
        rows = tagger.predict_entities(X, definition, method)
        for row, predicted in zip(rows, labels, strict=True):
            assert [entity[:3] for entity in row] == extract_spans(predicted)
            assert all(type(e.confidence) is float for e in row)
            assert all(0 <= e.confidence <= 1 for e in row)


@each_served
def test_by_default_an_entity_is_as_sure_as_its_least_sure_word(name, method):
    tagger = FITTED[name]
    few = few_of(method, n_draws=20)
    words = tagger.predict_confidence(X, method, **few)
    entities = tagger.predict_entities(X, method=method, **few)
    for row, sure in zip(entities, words, strict=True):
        for entity in row:
            assert entity.confidence == sure[entity.start : entity.end].min()


@pytest.mark.parametrize("method", JOINT_METHODS)
def test_more_must_be_right_for_more_words(method):
    tagger = FITTED["CW"]
    by_definition = {
        definition: tagger.predict_entities(X, definition, method)
        for definition in SPAN_EVENTS
    }
    whole = tagger.predict_sequence_confidence(X, method)
    for s, least in enumerate(by_definition["least-word"]):
        for i, entity in enumerate(least):
            every, border, exact = (
                by_definition[d][s][i].confidence
                for d in ("all-words", "boundary", "exact")
            )
            assert whole[s] <= every + 1e-6 <= entity.confidence + 2e-6
            assert whole[s] <= exact + 1e-6 <= border + 2e-6


@each_tagger
def test_sequences_of_one_word_are_as_sure_as_the_word(name):
    ones = [sequence[:1] for sequence in X]
    for method in ("marginal", "kbv", "kd-fixed"):
        words = flat(FITTED[name].predict_confidence(ones, method))
        whole = FITTED[name].predict_sequence_confidence(ones, method)
        assert_allclose(whole, words, rtol=1e-9)


@pytest.mark.parametrize("scale", [None, 1e-9])
@each_tagger
def test_votes_without_spread_are_the_best_labeling(name, scale):
    tagger = FITTED[name]
    voted = tagger.predict_voted(X, variance_scale=scale)
    same = np.mean(flat(voted) == flat(tagger.predict(X)))
    assert same == 1 if scale else same > 0.7
    assert set(flat(voted)) <= set(tagger.classes_)
    assert all(type(row) is list for row in voted)


def test_votes_are_drawn_with_or_without_variances():
    tagger = FITTED["CW"]
    both = [
        tagger.predict_voted(X, fixed, variance_scale=9.0).tolist() for fixed in (0, 1)
    ]
    assert both[0] != both[1]
    assert tagger.predict_voted(X, variance_scale=9.0).tolist() == both[0]
    with pytest.raises(ValueError, match="needs a variance"):
        FITTED["PA"].predict_voted(X, unit_variance=False)


def test_all_answers_read_iterators_once():
    tagger = FITTED["CW"]
    for call in (
        tagger.predict_confidence,
        tagger.predict_entities,
        tagger.predict_sequence_confidence,
        tagger.predict_voted,
    ):
        assert str(call(iter(X))) == str(call(X))


# -- refusals ------------------------------------------------------------------------


@each_tagger
def test_unknown_methods_are_answered_with_those_served(name):
    tagger = FITTED[name]
    for call in (tagger.predict_confidence, tagger.predict_entities):
        with pytest.raises(ValueError, match=r"'magic'; it must be one of delta, "):
            call(X, method="magic")
    with pytest.raises(ValueError, match=r"'delta'; for whole sequences"):
        tagger.predict_sequence_confidence(X, "delta")
    with pytest.raises(ValueError, match=r"'wkbv'; for whole spans .* of marginal, "):
        tagger.predict_entities(X, "exact", "wkbv")
    with pytest.raises(
        ValueError, match=r"entity_confidence is 'all'; .* one of least-word"
    ):
        tagger.predict_entities(X, "all")


@pytest.mark.parametrize("name", ["PA", "perceptron"])
@pytest.mark.parametrize(
    "method", [method for method, about in METHODS.items() if about.needs_variance]
)
def test_methods_that_need_variances_are_refused_without(name, method):
    served = r"one of delta, delta-max, marginal, noisy-marginal, .*, kd-fixed$"
    with pytest.raises(ValueError, match=served):
        FITTED[name].predict_confidence(X, method)
    with pytest.raises(ValueError, match=served):
        FITTED[name].fit_confidence(X, Y, method)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variance_scale": 0}, r"scale must be a positive number .*, got 0"),
        ({"variance_scale": np.nan}, r"scale must be a positive number .*, got nan"),
        ({"variance_scale": np.inf}, r"scale must be a positive number .*, got inf"),
        ({"variance_scale": "1"}, r"scale must be a positive number .*, got '1'"),
        ({"temperature": -1}, r"temperature must be a positive number .*, got -1"),
        ({"n_best": 0}, "n_best must be a positive integer, got 0"),
        ({"n_best": 2.5}, "n_best must be a positive integer, got 2.5"),
        ({"n_best": "many"}, "n_best must be a positive integer, got 'many'"),
        ({"n_draws": 0}, "n_draws must be a positive integer, got 0"),
        ({"n_draws": np.inf}, "n_draws must be a positive integer, got inf"),
        ({"random_state": -1}, r"random_state of draws must be an integer from 0 to"),
        (
            {"random_state": 2**64},
            r"random_state of draws must be an integer from 0 to",
        ),
        ({"random_state": 1.5}, r"random_state of draws must be an integer from 0 to"),
        (
            {"random_state": np.random.RandomState(0)},
            r"random_state of draws must be an integer from 0 to",
        ),
    ],
)
def test_impossible_options_are_refused(options, message):
    tagger, (option,) = FITTED["CW"], options
    method = {"temperature": "marginal", "n_best": "kbv"}.get(option, "kd-pc")
    for call in (
        tagger.predict_confidence,
        tagger.predict_entities,
        tagger.predict_sequence_confidence,
    ):
        with pytest.raises(ValueError, match=message):
            call(X, method=method, **options)
    if method == "kd-pc":
        with pytest.raises(ValueError, match=message):
            tagger.predict_voted(X, **options)


def test_unknown_options_are_refused():
    tagger = FITTED["CW"]
    for call in (
        tagger.predict_entities,
        tagger.predict_sequence_confidence,
        tagger.predict_voted,
    ):
        with pytest.raises(TypeError, match=r"no option 'heat'; its options are "):
            call(X, heat=1)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("kbv", {"n_draws": 3}, "'n_draws'; its options are n_best"),
        ("delta-max", {"temperature": 2.0}, "'temperature'; its options are none"),
        ("marginal", {"random_state": 0}, "'random_state'; its options are temperat"),
        ("kd-pc", {"n_best": 9}, "ions are variance_scale, n_draws, random_state"),
        ("noisy-marginal", {"n_draws": 9}, "ions are temperature, variance_scale"),
    ],
)
def test_options_that_a_method_does_not_use_are_refused(method, options, message):
    with pytest.raises(TypeError, match=f"method {method!r} has no option .*{message}"):
        FITTED["CW"].predict_confidence(X, method, **options)


def test_options_at_the_limits_of_numbers_give_numbers():
    limits = {"variance_scale": (1e-30, 1e30), "temperature": (1e-30, 1e30)}
    for name, method in SERVED:
        for option in METHODS[method].tunes:
            for value in limits.get(option, ()):
                given = {option: value, **few_of(method, n_draws=3)}
                found = confidence_of(name, method=method, **given)
                assert not np.isnan(found).any()
                assert (found >= 0).all()
    free = CWSequenceTagger(max_iter=3, constraints=None, random_state=0).fit(*TRAIN)
    shares = flat(free.predict_confidence([x[:3] for x in X], "kbv", n_best=10**30))
    assert_allclose(shares, 1 / len(free.classes_))


@pytest.mark.parametrize("temperature", [1e-30, 1e30])
@pytest.mark.parametrize("definition", ["all-words", "boundary", "exact"])
def test_spans_at_the_limits_of_numbers_have_probabilities(definition, temperature):
    tagger = FITTED["CW"]
    rows = tagger.predict_entities(X, definition, temperature=temperature)
    found = np.array([entity.confidence for row in rows for entity in row])
    assert ((found >= 0) & (found <= 1)).all()
    whole = tagger.predict_sequence_confidence(X, temperature=temperature)
    assert ((whole >= 0) & (whole <= 1)).all()


@each_tagger
def test_nothing_is_answered_before_fit(name):
    tagger = clone(FITTED[name])
    for call in (
        lambda: tagger.predict_confidence(X),
        lambda: tagger.predict_sequence_confidence(X),
        lambda: tagger.predict_entities(X, "exact"),
        lambda: tagger.predict_voted(X),
        lambda: tagger.fit_confidence(X, Y),
    ):
        with pytest.raises(NotFittedError):
            call()


def test_a_crf_has_marginals_by_default():
    tagger = CRFSequenceTagger(max_iter=5).fit(*TRAIN)
    assert_array_equal(
        flat(tagger.predict_confidence(X)),
        flat(tagger.predict_confidence(X, method="marginal")),
    )
    with pytest.raises(ValueError, match="needs a variance"):
        tagger.predict_confidence(X, method="kd-pc")
    assert tagger.temperature_ == 1.0
    assert tagger.predict_entities(X).shape == (len(X),)


# -- fitted parameters ---------------------------------------------------------------


def freshly_fitted(name="CW", **params):
    return clone(TAGGERS[name]).set_params(**params).fit(*TRAIN)


@each_served
def test_the_chosen_value_is_the_best_of_the_curve(name, method):
    tagger = freshly_fitted(name)
    before = tagger.coef_.copy()
    options = {"n_values": 4, "n_draws": 8}
    assert tagger.fit_confidence(X, Y, method, **options) is tagger
    assert_array_equal(tagger.coef_, before)
    fit = tagger.confidence_[method]
    probability = METHODS[method].probability
    assert fit["metric"] == ("log_loss" if probability else "error_average_precision")
    assert tuple(fit["values"]) == tuple(fit["curves"]) == METHODS[method].tunes
    for parameter, value in fit["values"].items():
        curve = fit["curves"][parameter]
        scores = np.array(curve["scores"])
        assert len(scores) == (len(N_BEST_VALUES) if parameter == "n_best" else 4)
        assert scores[curve["grid"].index(value)] == scores.max()
        # Losses change their sign here, so they are at most zero; the others are not
        # negative.
        assert ((scores <= 0) if probability else (scores >= 0)).all()
    chosen = flat(tagger.predict_confidence(X, method))
    given = confidence_of(name, method=method, **fit["values"])
    assert_array_equal(chosen, given)


@pytest.mark.parametrize(
    "metric", ["error_average_precision", "root_calibration_mse", "log_loss"]
)
def test_the_metric_decides(metric):
    tagger = freshly_fitted().fit_confidence(X, Y, "marginal", metric=metric)
    fit = tagger.confidence_["marginal"]
    assert fit["metric"] == metric
    scores = fit["curves"]["temperature"]["scores"]
    assert len(scores) == 20
    assert (max(scores) <= 0) == (metric != "error_average_precision")


def test_each_method_keeps_its_own_values():
    tagger = freshly_fitted().fit_confidence(X, Y, "marginal", n_values=3)
    tagger.fit_confidence(X, Y, "kd-pc", n_values=3, n_draws=8)
    assert set(tagger.confidence_) == {"marginal", "kd-pc"}
    tagger.fit_confidence(X, Y, "marginal", metric="root_calibration_mse", n_values=3)
    assert tagger.confidence_["marginal"]["metric"] == "root_calibration_mse"
    assert tagger.confidence_["kd-pc"]["metric"] == "log_loss"


@pytest.mark.parametrize("cv", [2, KFold(3, shuffle=True, random_state=0)])
@pytest.mark.parametrize("params", [{}, {"min_count": 2}, {"n_models": 2}])
def test_folds_of_the_training_data_can_choose(cv, params):
    tagger = freshly_fitted(**params)
    tagger.fit_confidence(*TRAIN, "marginal", cv=cv, n_values=3)
    tagger.fit_confidence(*TRAIN, "kd-fixed", cv=cv, n_values=3, n_draws=8)
    assert set(tagger.confidence_) == {"marginal", "kd-fixed"}
    assert tagger.min_count == params.get("min_count", 1)
    assert len(tagger.predict_confidence(X)) == len(X)


def test_a_label_that_some_folds_lack_is_a_mistake_there():
    X_rare = [*TRAIN.X, [["rare"]]]
    Y_rare = [*TRAIN.y, ["B-RARE"]]
    tagger = clone(TAGGERS["CW"]).fit(X_rare, Y_rare)
    tagger.fit_confidence(X_rare, Y_rare, "marginal", cv=3, n_values=3)
    assert tagger.confidence_["marginal"]["values"]["temperature"] > 0


def test_labels_never_seen_count_as_wrong():
    unseen = [["?"] * len(labels) for labels in Y]
    some = [*unseen[:10], *Y[10:]]
    options = {"metric": "error_average_precision", "n_values": 3}
    tagger = freshly_fitted().fit_confidence(X, some, "marginal", **options)
    assert tagger.classes_.tolist() == FITTED["CW"].classes_.tolist()
    tagger.fit_confidence(X, unseen, "marginal", **options)
    scores = tagger.confidence_["marginal"]["curves"]["temperature"]["scores"]
    assert_allclose(scores, 1.0, rtol=1e-9)  # all words are wrong, in any order


def test_what_tells_nothing_is_refused():
    tagger = freshly_fitted(max_iter=20)
    right = tagger.predict(X)
    with pytest.raises(
        ValueError, match=r"no predicted label is wrong.*not trained on"
    ):
        tagger.fit_confidence(X, right, metric="error_average_precision")
    assert not tagger.confidence_
    tagger.fit_confidence(X, right, metric="log_loss")
    for empty in ([], [[]]):
        with pytest.raises(ValueError, match="X has no token"):
            tagger.fit_confidence(empty, empty)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is a NoneType"),
        ("labels", "y is a str"),
        (Y[:-1], "X has 30 sequences but y has 29"),
        ([[*Y[0], "O"], *Y[1:]], "sequence 0 has 6 tokens but 7 labels"),
        ([*Y[:3], None, *Y[4:]], "labels of sequence 3 are None"),
        ([[None] * len(Y[0]), *Y[1:]], "sequence 0, token 0 is None"),
    ],
)
def test_labels_that_do_not_fit_are_named(y, message):
    tagger = freshly_fitted()
    before = tagger.confidence_
    for cv in (None, 2):
        with pytest.raises((TypeError, ValueError), match=message):
            tagger.fit_confidence(X, y, cv=cv)
    assert tagger.confidence_ == before


def test_impossible_fits_are_refused():
    tagger = freshly_fitted()
    with pytest.raises(ValueError, match=r"metric is 'f1'; it must be one of error_av"):
        tagger.fit_confidence(X, Y, metric="f1")
    for metric in ("root_calibration_mse", "log_loss"):
        with pytest.raises(ValueError, match="'delta' gives no probabilities"):
            tagger.fit_confidence(X, Y, "delta", metric=metric)
    for n_values in (0, 2.5, None):
        with pytest.raises(ValueError, match="n_values must be a positive integer"):
            tagger.fit_confidence(X, Y, n_values=n_values)
    with pytest.raises(ValueError, match="n_draws must be a positive integer"):
        tagger.fit_confidence(X, Y, "kd-pc", n_draws=0)


def test_iterators_and_batches_are_learned_from():
    by_list = freshly_fitted().fit_confidence(X, Y, n_values=4)
    by_iterator = freshly_fitted().fit_confidence(iter(X), iter(Y), n_values=4)
    by_batch = freshly_fitted()
    by_batch.fit_confidence(by_batch.encode(X), np.array(Y, object), n_values=4)
    assert by_list.confidence_ == by_iterator.confidence_ == by_batch.confidence_


@pytest.fixture
def tuned():
    tagger = freshly_fitted().fit_confidence(X, Y, "kd-pc", n_values=5, n_draws=8)
    return tagger.fit_confidence(X, Y, "marginal", n_values=5)


def test_what_was_chosen_travels(tuned, tmp_path):
    tuned.save(tmp_path / "model")
    for other in (
        type(tuned).load(tmp_path / "model"),
        pickle.loads(pickle.dumps(tuned)),
    ):
        assert other.confidence_ == tuned.confidence_
        for method in ("kd-pc", "marginal"):
            assert_array_equal(
                flat(other.predict_confidence(X, method)),
                flat(tuned.predict_confidence(X, method)),
            )


def test_what_was_chosen_is_forgotten_with_the_weights(tuned):
    assert not hasattr(clone(tuned), "confidence_")
    chosen = tuned.confidence_
    tuned.partial_fit(*TRAIN)
    assert tuned.confidence_ == chosen
    tuned.set_params(warm_start=True).fit(*TRAIN)
    assert tuned.confidence_ == chosen
    tuned.set_params(warm_start=False).fit(*TRAIN)
    assert not tuned.confidence_


def test_a_failed_fit_keeps_what_was_chosen(tuned):
    chosen = tuned.confidence_
    with pytest.raises(ValueError, match="no token"):
        tuned.fit([], [])
    assert tuned.confidence_ == chosen


def test_models_from_before_there_were_fits_can_be_read(tmp_path):
    tagger = freshly_fitted()
    tagger.save(tmp_path / "model", mapped=True)
    header, arrays = read_model(tmp_path / "model")
    del header["state"]["confidence"]
    header.pop("format", None)
    write_model(tmp_path / "older", header, {k: np.array(v) for k, v in arrays.items()})
    older = CWSequenceTagger.load(tmp_path / "older")
    assert not hasattr(older, "confidence_")
    assert_array_equal(flat(older.predict_confidence(X)), confidence_of("CW"))


def test_a_search_finds_parameters_by_confidence():
    def mean_confidence(tagger, X, y):
        return flat(tagger.predict_confidence(X, "kd-pc", n_draws=8)).mean()

    search = GridSearchCV(
        TAGGERS["CW"], {"phi": [0.5, 1.0]}, scoring=mean_confidence, cv=2
    )
    search.fit(X, Y)
    best = search.best_estimator_.fit_confidence(*TRAIN, "marginal", n_values=3)
    assert "marginal" in best.confidence_


def test_given_labels_are_judged_as_the_predicted_ones_where_they_agree():
    corpus = make_tagged_corpus(120, random_state=0)
    window = WindowFeatures("ner")
    X = window.fit_transform(corpus.tokens)
    tagger = CWSequenceTagger(random_state=0).fit(X[:80], corpus.labels[:80])
    predicted = tagger.predict(X[80:])
    for method in ("marginal", "kbv", "wkbv", "kd-pc", "kd-fixed", "draw-marginal"):
        few = few_of(method, n_draws=8)
        given = tagger.predict_label_confidence(X[80:], predicted, method, **few)
        own = tagger.predict_confidence(X[80:], method, **few)
        np.testing.assert_array_equal(np.concatenate(given), np.concatenate(own))
    marginals = tagger.predict_marginals(X[80:])
    gold = tagger.predict_label_confidence(X[80:], corpus.labels[80:], "marginal")
    expected = [
        m[label]
        for row, labels in zip(marginals, corpus.labels[80:], strict=True)
        for m, label in zip(row, labels, strict=True)
    ]
    np.testing.assert_allclose(np.concatenate(gold), expected, rtol=1e-9)


def test_a_given_label_that_is_unknown_has_no_confidence():
    tagger = CWSequenceTagger(random_state=0).fit([["a", "b"]], [["x", "y"]])
    [row] = tagger.predict_label_confidence([["a", "b"]], [["x", "new"]])
    assert row[0] > 0 and row[1] == 0
    with pytest.raises(ValueError, match="to judge given labels it must be one of mar"):
        tagger.predict_label_confidence([["a"]], [["x"]], "delta-max")
    with pytest.raises(ValueError, match="1 labels"):
        tagger.predict_label_confidence([["a", "b"]], [["x"]])
