"""``skcw.merge``: laws, names, files, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MultiClassAROW,
    MultiClassCW,
    MultiClassPA,
    MultiClassPerceptron,
    PASequenceTagger,
    PerceptronSequenceTagger,
    load,
    make_tagging_pipeline,
    merge,
)
from skcw._model.mixing import GaussianMerge
from skcw.data import SequenceEncoder
from skcw.datasets import make_tagged_corpus
from skcw.features.basic import basic_features
from skcw.utils.laws import weights

TAGGERS = [
    CWSequenceTagger, AROWSequenceTagger, PASequenceTagger, PerceptronSequenceTagger
]  # fmt: skip
CLASSIFIERS = [MultiClassCW, MultiClassAROW, MultiClassPA, MultiClassPerceptron]
RULES = ["gain", "mean"]
DOUBLE, SINGLE = 1e-12, 1e-5

CORPUS = make_tagged_corpus(200, random_state=0)
X, Y = [basic_features(sentence) for sentence in CORPUS.tokens], CORPUS.labels
ROWS = np.random.default_rng(0).normal(size=(120, 6))
CLASSES = np.array(["a", "b", "c"])[np.argmax(ROWS[:, :3], axis=1)]


@pytest.fixture(scope="module")
def halves():
    return [
        CWSequenceTagger(random_state=0).fit(X[k:150:2], Y[k:150:2]) for k in range(2)
    ]


gaussians = (
    st.integers(0, 2**32 - 1)
    .map(np.random.default_rng)
    .map(
        lambda rng: (rng.normal(size=5) * (rng.random(5) < 0.7), rng.uniform(0.1, 1, 5))
    )
)


@pytest.mark.parametrize("rule", RULES)
@given(st.lists(gaussians, min_size=1, max_size=4), st.floats(0.1, 10))
def test_a_merge_lies_between_its_models(rule, models, share):
    merged = GaussianMerge(rule, prior=1.0)
    for mean, variance in models:
        merged.add(mean, variance, share)
    mean, variance = merged.result()
    means = np.array([own[0] for own in models])
    variances = np.array([own[1] for own in models])
    assert (mean <= means.max(axis=0) + DOUBLE).all()
    assert (mean >= means.min(axis=0) - DOUBLE).all()
    assert (variance <= variances.max(axis=0) + DOUBLE).all()
    assert (variance >= variances.min(axis=0) - DOUBLE).all()


@pytest.mark.parametrize("rule", RULES)
@given(gaussians, st.integers(1, 5))
def test_equal_gaussians_merge_to_the_same_bits(rule, gaussian, n):
    merged = GaussianMerge(rule, prior=1.0)
    for _ in range(n):
        merged.add(*gaussian, 1.0 / n)
    assert_array_equal(merged.result(), gaussian)


@given(gaussians, gaussians, st.floats(0.1, 10))
def test_a_share_of_two_counts_like_two_models(one, other, share):
    first, second = GaussianMerge("gain", 1.0), GaussianMerge("gain", 1.0)
    first.add(*one, 2 * share)
    first.add(*other, share)
    for gaussian in (one, one, other):
        second.add(*gaussian, share)
    assert_allclose(first.result(), second.result(), rtol=1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("learner", TAGGERS)
def test_a_tagger_merged_with_itself_is_that_tagger(learner, rule):
    tagger = learner(random_state=0, max_iter=3).fit(X[:60], Y[:60])
    merged = merge([tagger, tagger, tagger], rule=rule)
    for name, array in weights(merged).items():
        assert_array_equal(array, weights(tagger)[name])
    assert merged.predict(X).tolist() == tagger.predict(X).tolist()
    for found, expected in zip(
        merged.predict_confidence(X[:5]), tagger.predict_confidence(X[:5]), strict=True
    ):
        assert_allclose(found, expected, rtol=SINGLE)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("learner", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_merged_with_itself_is_that_classifier(learner, rule, n_classes):
    some = np.isin(CLASSES, ["a", "b", "c"][:n_classes])
    classifier = learner(random_state=0).fit(ROWS[some], CLASSES[some])
    merged = merge([classifier, classifier], rule=rule)
    assert_array_equal(merged.coef_, classifier.coef_)
    assert_array_equal(merged.predict(ROWS), classifier.predict(ROWS))
    if hasattr(classifier, "predict_proba"):
        assert_array_equal(merged.predict_proba(ROWS), classifier.predict_proba(ROWS))


@pytest.mark.parametrize("rule", RULES)
def test_the_merge_of_halves_is_better_than_a_half(halves, rule):
    merged = merge(halves, rule=rule)
    scores = [model.score(X[150:], Y[150:]) for model in (merged, *halves)]
    assert scores[0] >= np.mean(scores[1:])


def test_what_one_model_alone_knows_stays_as_it_is():
    here = CWSequenceTagger(random_state=0).fit([["Ann", "left"]], [["PER", "O"]])
    there = CWSequenceTagger(random_state=0).fit([["Oslo", "left"]], [["LOC", "O"]])
    merged = merge([here, there])
    assert merged.classes_.tolist() == ["PER", "O", "LOC"]
    assert merged.feature_names_.tolist() == ["Ann", "left", "Oslo"]
    found = dict(merged.state_features_)
    for model, names in ((here, ["Ann"]), (there, ["Oslo"])):
        for (name, label), weight in model.state_features_.items():
            if name in names:
                assert found[name, label] == weight
    halved = dict(merge([here, there], rule="mean").state_features_)
    assert halved["Ann", "PER"] == pytest.approx(found["Ann", "PER"] / 2)


def test_the_numbers_of_features_and_labels_do_not_matter(halves):
    turned = CWSequenceTagger(random_state=0, constraints="BIO")
    turned.fit(X[:50][::-1], Y[:50][::-1])
    straight = CWSequenceTagger(random_state=0, constraints="BIO").fit(X[:50], Y[:50])
    one, other = merge([turned, straight]), merge([straight, turned])
    found = dict(other.state_features_)
    assert found.keys() == dict(one.state_features_).keys()
    for key, weight in one.state_features_.items():
        assert found[key] == pytest.approx(weight, rel=SINGLE, abs=1e-7)
    assert one.predict(X[50:]).tolist() == other.predict(X[50:]).tolist()


def test_features_of_transitions_merge_by_name():
    def rows(words):
        return [[[word, f"label[-1]&{word}"] for word in words]]

    here = PASequenceTagger(random_state=0).fit(rows("abc"), [["X", "Y", "Z"]])
    there = PASequenceTagger(random_state=0).fit(rows("dab"), [["Z", "Y", "X"]])
    merged = merge([there, here])
    found, known = dict(merged.edge_features_), dict(here.edge_features_)
    assert {key for key in found if key[0] == "c"} == {k for k in known if k[0] == "c"}
    assert all(found[key] == known[key] for key in known if key[0] == "c")
    assert len(found) > len(known)


def test_saved_and_loaded_models_merge_too_and_so_does_their_merge(halves, tmp_path):
    for number, model in enumerate(halves):
        model.save(tmp_path / f"{number}")
    found = merge([load(tmp_path / "0"), load(tmp_path / "1", mapped=True)])
    expected = merge(halves)
    found.save(tmp_path / "both")
    for model in (found, load(tmp_path / "both")):
        assert_array_equal(model.coef_, expected.coef_)
        assert_array_equal(model.coef_variance_, expected.coef_variance_)
    assert found.confidence_source_ == "merged"
    found.partial_fit(X[150:], Y[150:])
    assert found.score(X[150:], Y[150:]) > 0.95


def test_weights_say_how_much_a_model_counts(halves):
    one, other = halves
    mostly = merge([one, other], weights=[1e9, 1], rule="mean")
    names = one.feature_names_.tolist()
    place = dict(zip(mostly.feature_names_.tolist(), mostly.coef_, strict=True))
    columns = [mostly.classes_.tolist().index(label) for label in one.classes_]
    found = np.array([place[name][columns] for name in names])
    assert_allclose(found, one.coef_, rtol=SINGLE, atol=1e-7)


def test_classifiers_merge_classes_and_columns_by_name(tmp_path):
    frame = pd.DataFrame(ROWS, columns=list("uvwxyz"))
    some, others = np.isin(CLASSES, ["a", "b"]), np.isin(CLASSES, ["b", "c"])
    here = MultiClassCW(random_state=0).fit(frame[some], CLASSES[some])
    there = MultiClassCW(random_state=0)
    there.fit(frame.loc[others, list("zyxwvu")], CLASSES[others])
    merged = merge([here, there])
    assert merged.classes_.tolist() == ["a", "b", "c"]
    assert merged.feature_names_in_.tolist() == list("uvwxyz")
    assert merged.score(frame, CLASSES) > 0.75
    merged.save(tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").predict(frame), merged.predict(frame))
    numbers = [MultiClassPA().fit(ROWS, CLASSES), MultiClassPA().fit(ROWS, CLASSES)]
    assert merge(numbers).n_features_in_ == 6


def short(learner=CWSequenceTagger, **options):
    return learner(**options).fit([["Ann", "left"]], [["B-PER", "O"]])


def numeric(n_columns):
    return CWSequenceTagger().fit([np.eye(2, n_columns)], [["B-PER", "O"]])


def legal(before, after):
    return True


REFUSED = {
    "no models": ([], "no models to merge"),
    "mixed kinds": ([short(), short(AROWSequenceTagger)], "but these are AROW"),
    "not a model": ([3, 4], "int cannot be merged"),
    "another tagger": ([short(HMMSequenceTagger)] * 2, "HMMSequenceTagger cannot be"),
    "a pipeline": (
        [make_tagging_pipeline(["word"]).fit([["Ann"]], [["PER"]])] * 2,
        "merge the last step",
    ),
    "not fitted": ([CWSequenceTagger()] * 2, "not fitted"),
    "hashed": ([short(), numeric(3)], "model 1 has hashed or numeric features"),
    "columns": ([numeric(2), numeric(3)], r"\[2, 3\] features without names"),
    "constraints": (
        [short(constraints="BIO"), short(constraints=None)],
        "different constraints: BIO, None",
    ),
    "given constraints": (
        [
            short(constraints=legal),
            CWSequenceTagger(constraints=legal).fit([["Ann"]], [["B-PER"]]),
        ],
        "model 1 obeys other constraints",
    ),
    "unknown": (
        [short(learn_unknown_token=False), short()],
        "learn_unknown_token=True",
    ),
    "rows": (
        [MultiClassPA().fit(ROWS, CLASSES), MultiClassPA().fit(ROWS[:, 1:], CLASSES)],
        r"\[6, 5\] columns without names",
    ),
    "intercepts": (
        [MultiClassPA(fit_intercept=f).fit(ROWS, CLASSES) for f in (True, False)],
        "model 0 has an intercept and model 1 has none",
    ),
    "names of rows": (
        [
            MultiClassPA().fit(ROWS, CLASSES),
            MultiClassPA().fit(pd.DataFrame(ROWS, columns=list("uvwxyz")), CLASSES),
        ],
        "the columns of model 1 have names",
    ),
    "labels": (
        [
            MultiClassPA().fit(ROWS, CLASSES),
            MultiClassPA().fit(ROWS, CLASSES == "a"),
        ],
        "strings and those of model 1 numbers",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_merged_is_refused(case):
    models, message = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=message):
        merge(models)


def test_bad_weights_and_rules_are_refused():
    models = [short(), short()]
    for wrong, message in (
        ([1.0], "there are 2 models"),
        ([1.0, 0.0], "positive"),
        ([1.0, np.nan], "positive"),
    ):
        with pytest.raises(ValueError, match=message):
            merge(models, weights=wrong)
    with pytest.raises(ValueError, match="one of gain, mean"):
        merge(models, rule="product")


def test_models_of_one_encoder_merge_row_by_row():
    batch = SequenceEncoder().fit_transform(X[:60])
    parts = [CWSequenceTagger(random_state=0) for _ in "ab"]
    for k, part in enumerate(parts):
        part.fit(batch[k::2], Y[k:60:2])
    merged = merge(parts)
    assert len(merged.feature_names_) == batch.n_features
    assert merged.train_overlap(batch) == 1.0
    assert len(parts[0].belief_.unseen) > len(merged.belief_.unseen) == 0


@pytest.mark.parametrize("learner", TAGGERS)
def test_loaded_models_that_learned_nothing_of_confidence_merge(learner, tmp_path):
    for k in range(2):
        tagger = learner(random_state=0, calibrate_confidence=False)
        tagger.fit(X[k:40:2], Y[k:40:2]).save(tmp_path / f"{k}")
    merged = merge([load(tmp_path / f"{k}") for k in range(2)])
    assert (merged.confidence_, merged.confidence_source_) == ({}, "off")
    merged.predict_confidence(X[:2])


@pytest.mark.parametrize("prior", [0.1, 0.7, 3.3])
def test_rounding_of_the_prior_is_no_gain(prior):
    merge = GaussianMerge("gain", prior)
    merge.add(np.float32([0.0]), np.float32([prior]), 0.5)
    merge.add(np.float32([2.0]), np.float32([prior / 4]), 0.5)
    mean, variance = merge.result()
    assert_allclose(mean, [2.0], rtol=SINGLE)
    assert_allclose(variance, [prior / 4], rtol=SINGLE)


def test_one_model_is_no_list():
    with pytest.raises(TypeError, match="give a list"):
        merge(short())
