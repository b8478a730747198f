"""Models saved in half precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import load_file
from sklearn.base import clone

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    InferenceModel,
    MultiClassAROW,
    MultiClassCW,
    MultiClassPA,
    MultiClassPerceptron,
    load,
)
from skcw.data.saved import half_precision, halved_array, whole_arrays
from skcw.exceptions import ModelFileError
from skcw.io.model_files import HALVES
from skcw.utils.laws import make_tagged
from tests.io.test_persistence import TAGGERS
from tests.model_files import rewrite

# Half precision has eleven binary digits: rounding moves a number by so much.
HALF = 2.0**-11


@pytest.fixture(scope="module")
def data():
    return make_tagged(CWSequenceTagger(), seed=0, n_sequences=60, noise=0.1)


@pytest.fixture(scope="module")
def tagger(data):
    return CWSequenceTagger(random_state=0).fit(*data)


@given(
    arrays(
        np.float32,
        st.integers(0, 20),
        elements=st.floats(-(2.0**80), 2.0**80, width=32),
    )
)
def test_numbers_are_rounded_and_none_becomes_zero(array):
    half, origin = halved_array(array)
    whole = whole_arrays({"a": half}, {"a": origin})["a"]
    assert whole.dtype == np.float32
    # Below this numbers have no eleven digits left.
    least = 2.0 ** (origin[0] - 24)
    assert np.all(np.abs(whole - array) <= np.maximum(HALF * np.abs(array), least))
    fine = np.abs(array) >= np.finfo(np.float32).tiny * 2.0**30
    assert np.array_equal(np.sign(whole[fine]), np.sign(array[fine]))


@pytest.mark.parametrize("Tagger", [CWSequenceTagger, AROWSequenceTagger])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_tagger_comes_back_rounded(Tagger, dtype, data, tmp_path):
    tagger = Tagger(random_state=0, dtype=dtype).fit(*data)
    tagger.save(tmp_path / "whole")
    tagger.save(tmp_path / "half", dtype="float16")
    loaded = load(tmp_path / "half")
    for name in ("mean", "variance", "average"):
        was, now = getattr(tagger.belief_, name), getattr(loaded.belief_, name)
        assert now.dtype == was.dtype
        atol = 1e-9 * np.abs(was).max()
        np.testing.assert_allclose(now, was, rtol=HALF, atol=atol)
    assert (loaded.belief_.variance > 0).all()
    assert loaded.score(*data) == pytest.approx(tagger.score(*data), abs=0.01)
    for one in (tagger, loaded):
        one.partial_fit(*data)
    assert loaded.score(*data) == pytest.approx(tagger.score(*data), abs=0.02)


def test_the_runtime_opens_it_too(tagger, data, tmp_path):
    tagger.save(tmp_path / "half", dtype="float16")
    expected = load(tmp_path / "half").predict(data.X)
    labels = InferenceModel.open(tmp_path / "half").predict_all(data.X).labels()
    assert list(labels) == list(expected)


def test_the_tables_take_half_the_room(tagger, tmp_path):
    tagger.save(tmp_path / "whole", mapped=True)
    tagger.save(tmp_path / "half", dtype="float16", mapped=True)
    whole, half = load_file(tmp_path / "whole"), load_file(tmp_path / "half")
    tables = {"belief.mean", "belief.variance"}
    assert {name for name in half if half[name].dtype == np.float16} == tables
    for name in tables:
        assert 2 * half[name].nbytes == whole[name].nbytes


def test_another_precision_is_refused_and_leaves_no_file(tagger, tmp_path):
    with pytest.raises(ValueError, match="dtype is 'float8'"):
        tagger.save(tmp_path / "model", dtype="float8")
    assert not list(tmp_path.iterdir())


def test_a_model_without_tables_is_refused():
    with pytest.raises(ValueError, match="no tables of weights"):
        half_precision({"counts": np.ones(3)}, "float16")


@pytest.mark.parametrize("example", TAGGERS, ids=repr)
def test_every_tagger_predicts_what_it_did(example, data, tmp_path):
    example.fit(*data).save(tmp_path / "half", dtype="float16")
    loaded = type(example).load(tmp_path / "half")
    assert loaded.score(*data) == pytest.approx(example.score(*data), abs=0.01)


RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(150, 8))
CLASSES = np.argmax(ROWS[:, :4] + 0.3 * RNG.normal(size=(150, 4)), axis=1)
CLASSIFIERS = {
    "CW": MultiClassCW(random_state=0),
    "CW in double": MultiClassCW(dtype="float64", random_state=0),
    "CW of large variance": MultiClassCW(initial_variance=1e10, random_state=0),
    "CW of small variance": MultiClassCW(initial_variance=1e-10, random_state=0),
    "AROW": MultiClassAROW(random_state=0),
    "PA": MultiClassPA(random_state=0),
    "perceptron": MultiClassPerceptron(random_state=0),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_classifier_comes_back_rounded(name, n_classes, tmp_path):
    y = CLASSES % n_classes
    # More rows afterwards: then it also has an average that goes on.
    classifier = clone(CLASSIFIERS[name]).fit(ROWS, y).partial_fit(ROWS[:50], y[:50])
    classifier.save(tmp_path / "half", dtype="float16")
    loaded = load(tmp_path / "half")
    for table, was in classifier.belief_.tables().items():
        now = loaded.belief_.tables()[table]
        if was is None:
            assert now is None
            continue
        assert now.dtype == was.dtype
        # Below this numbers have no eleven digits left.
        atol = 2.0**-38 * np.abs(was).max()
        np.testing.assert_allclose(now, was, rtol=HALF, atol=atol)
    scores = classifier.decision_function(ROWS)
    # Eight features and an intercept, each weight off by half a thousandth.
    atol = 10 * HALF * np.abs(scores).max()
    np.testing.assert_allclose(loaded.decision_function(ROWS), scores, atol=atol)
    assert loaded.classes_.tolist() == list(range(n_classes))
    loaded.partial_fit(ROWS, y)


@pytest.mark.parametrize("name", ["CW", "AROW"])
def test_how_sure_a_classifier_is_stays_what_it_was(name, tmp_path):
    classifier = clone(CLASSIFIERS[name]).fit(ROWS, CLASSES)
    classifier.save(tmp_path / "half", dtype="float16")
    loaded = load(tmp_path / "half")
    # Scale, noise and caution are no tables: they are exact.
    for learned in ("variance_scale_", "noise_", "shrinkage_"):
        assert getattr(loaded, learned) == getattr(classifier, learned)
    proba = loaded.predict_proba(ROWS)
    np.testing.assert_allclose(proba, classifier.predict_proba(ROWS), atol=5e-3)


@pytest.mark.parametrize(("name", "share"), [("CW", 2), ("CW in double", 4)])
def test_the_tables_of_a_classifier_take_less_room(name, share, tmp_path):
    classifier = clone(CLASSIFIERS[name]).fit(ROWS, CLASSES)
    classifier.save(tmp_path / "whole")
    classifier.save(tmp_path / "half", dtype="float16")
    whole, half = load_file(tmp_path / "whole"), load_file(tmp_path / "half")
    assert whole.keys() == half.keys() == {"belief.mean", "belief.variance"}
    for table in whole:
        assert share * half[table].nbytes == whole[table].nbytes


def test_a_classifier_refuses_another_precision_and_leaves_no_file(tmp_path):
    classifier = clone(CLASSIFIERS["PA"]).fit(ROWS, CLASSES)
    with pytest.raises(ValueError, match="dtype is 'float32'"):
        classifier.save(tmp_path / "model", dtype="float32")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("exponents", "table"),
    [
        (lambda halves: {}, None),
        (lambda halves: None, None),
        (lambda halves: [1, 2, 3], None),
        (lambda halves: {**halves, "belief.row_of": [1, "f4"]}, None),
        (lambda halves: {**halves, "belief.mean": [0.5, "f4"]}, None),
        (lambda halves: {**halves, "belief.mean": [True, "f4"]}, None),
        (lambda halves: {**halves, "belief.mean": [10**9, "f4"]}, None),
        (lambda halves: {**halves, "belief.mean": [1000, "f4"]}, None),
        (lambda halves: {**halves, "belief.variance": [-1000, "f4"]}, None),
        (lambda halves: {**halves, "belief.mean": [1, "i4"]}, None),
        (lambda halves: {**halves, "belief.mean": [1, ["f4"]]}, None),
        (lambda halves: {**halves, "belief.mean": [1]}, None),
        (lambda halves: {**halves, "belief.mean": 1}, None),
        (None, lambda mean: mean * np.float16(np.nan)),
        (None, lambda mean: mean + np.float16(np.inf)),
        (None, lambda mean: mean[:-1]),
        (None, lambda mean: mean.astype(np.float32)),
    ],
)
def test_files_that_say_something_else_are_damaged(exponents, table, tagger, tmp_path):
    path = tmp_path / "half"
    tagger.save(path, dtype="float16", mapped=True)

    def change(header, found):
        if exponents is not None:
            header[HALVES] = exponents(header[HALVES])
        if table is not None:
            found["belief.mean"] = table(found["belief.mean"])

    rewrite(path, path, change)
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)
    with pytest.raises(ModelFileError, match="damaged"):
        InferenceModel.open(path)
