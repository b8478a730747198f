"""Classifiers in files: what comes back is what was saved."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

import skcw
from skcw.exceptions import ModelFileError
from skcw.linear_model import MultiClassCW, MultiClassPA
from tests.linear_model.classifiers import data, every_classifier, every_update
from tests.model_files import rewrite

LABELS = {
    "integers": lambda y: y,
    "strings": lambda y: np.array(["a", "bb", "ccc"])[y],
    "objects": lambda y: np.array(["a", "bb", "ccc"], dtype=object)[y],
    "truth values": lambda y: y > 0,
    "floats": lambda y: y / 1.0,
}


def there_and_back(classifier, tmp_path):
    classifier.save(tmp_path / "model")
    return skcw.load(tmp_path / "model")


def assert_same(one, other, X):
    assert type(one) is type(other)
    assert str(one.get_params()) == str(other.get_params())
    assert vars(one).keys() == vars(other).keys()
    assert one.classes_.dtype == other.classes_.dtype
    assert_array_equal(one.classes_, other.classes_)
    assert_array_equal(one.predict(X), other.predict(X))
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    if hasattr(one, "predict_proba"):
        assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@every_update
def test_a_saved_classifier_answers_and_learns_as_the_first_one(classifier, tmp_path):
    X, y = data()
    classifier = clone(classifier).set_params(random_state=0).fit(X, y)
    again = there_and_back(classifier, tmp_path)
    assert_same(classifier, again, X)
    for one in (classifier, again):
        one.partial_fit(X[:20], y[:20])
    assert_same(classifier, again, X)
    assert_same(classifier, there_and_back(again, tmp_path), X)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@every_classifier
def test_labels_keep_their_type(Classifier, labels, tmp_path):
    X, y = data()
    y = labels(y)
    weight = {label: 1.0 + i for i, label in enumerate(np.unique(y).tolist())}
    classifier = Classifier(random_state=0, class_weight=weight).fit(X, y)
    again = there_and_back(classifier, tmp_path)
    assert_same(classifier, again, X)
    assert again.class_weight == weight


@every_classifier
def test_names_of_columns_are_kept(Classifier, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = data()
    frame = pandas.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    again = there_and_back(Classifier(random_state=0).fit(frame, y), tmp_path)
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"c0": "other"}))


def test_a_generator_is_not_saved(tmp_path):
    X, y = data()
    given = np.random.RandomState(0)
    again = there_and_back(MultiClassCW(random_state=given).fit(X, y), tmp_path)
    assert again.random_state is None


def test_what_needs_pickle_is_refused_and_leaves_no_file(tmp_path):
    X, y = data()
    folds = MultiClassCW(scale_cv=KFold(3), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="scale_cv=None"):
        folds.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        MultiClassCW().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_class_of_a_user_comes_back_once_it_is_imported(tmp_path):
    X, y = data()

    class Own(MultiClassCW):
        pass

    own = Own(random_state=0).fit(X, y)
    assert_same(own, there_and_back(own, tmp_path), X)
    with pytest.raises(ModelFileError, match="not a MultiClassPA"):
        MultiClassPA.load(tmp_path / "model")


@pytest.fixture
def path(tmp_path):
    X, y = data()
    MultiClassCW(random_state=0).fit(X, y).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header["state"].pop("classes"),
        lambda header, arrays: header["state"].update(n_features_in_=3),
        lambda header, arrays: header["state"]["classes"].update(labels=[1, 1, 2]),
        lambda header, arrays: header["state"]["classes"].update(dtype="<M8[s]"),
        lambda header, arrays: header["params"].update(unknown=1),
        lambda header, arrays: arrays.pop("belief.mean"),
        lambda header, arrays: arrays.update(
            {"belief.variance": arrays["belief.variance"][:-1].copy()}
        ),
        lambda header, arrays: header.update({"class": "to_onnx"}),
        lambda header, arrays: header.update({"class": "MultiClassNone"}),
    ],
)
def test_a_damaged_file_is_named(path, change):
    rewrite(path, path, change)
    with pytest.raises(ModelFileError, match=str(path)):
        skcw.load(path)
