"""What those who come from sklearn-crfsuite find again, and what they do not."""

import pytest
import sklearn_crfsuite
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import skcw
from skcw.data import SequenceEncoder
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ModelFileError
from skcw.features.basic import basic_features
from skcw.tagging import CRFSequenceTagger

PARAMS = {"c1": 0.05, "c2": 0.05}


@pytest.fixture(scope="module")
def corpus():
    train, test = (make_tagged_corpus(40, random_state=seed) for seed in (0, 1))
    return (
        [basic_features(tokens) for tokens in train.tokens],
        train.labels,
        [basic_features(tokens) for tokens in test.tokens],
        test.labels,
    )


@pytest.fixture(scope="module")
def fitted(corpus):
    return CRFSequenceTagger(max_iter=20, **PARAMS).fit(*corpus[:2])


@pytest.fixture(scope="module")
def original(corpus):
    return sklearn_crfsuite.CRF(max_iterations=20, **PARAMS).fit(*corpus[:2])


def test_crfsuites_own_tagger_has_the_same_weights(corpus, fitted):
    _, _, X, _ = corpus
    tagger = fitted.tagger_
    assert tagger.labels() == fitted.classes_.tolist()
    for x, labels in zip(X[:20], fitted.predict(X[:20]), strict=True):
        assert tagger.tag(x) == labels
    # The model lives as long as its tagger, which reads it in place.
    del x
    assert tagger.info().header["num_labels"] == str(len(fitted.classes_))


def test_attributes_are_those_of_sklearn_crfsuite(fitted, original):
    assert set(fitted.attributes_) == set(original.attributes_)
    assert fitted.num_attributes_ == original.num_attributes_
    assert fitted.size_ > 1000


def test_marginals_of_one_sequence_are_its_row(corpus, fitted, original):
    x = corpus[2][0]
    (row,) = fitted.predict_marginals([x])
    assert fitted.predict_marginals_single(x) == row
    for mine, theirs in zip(row, original.predict_marginals_single(x), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-9)


def test_values_in_bytes_are_those_in_strings():
    token, label = {"sun": "не светит"}, "rainy"
    as_bytes = {b"sun": token["sun"].encode()}
    assert SequenceEncoder().fit([[as_bytes]]).vocabulary_.names() == ["sun:не светит"]
    tagger = CRFSequenceTagger().fit([[token, {"sun": "x"}]], [[label, "sunny"]])
    assert tagger.predict_single([as_bytes]) == [label]


def test_what_has_no_place_here_is_refused_by_name():
    for name in ("model_filename", "min_freq"):
        with pytest.raises(TypeError, match=name):
            CRFSequenceTagger(**{name: None})


def test_max_iterations_is_max_iter_by_crfsuites_name(corpus):
    X, y = corpus[0][:10], corpus[1][:10]
    tagger = clone(CRFSequenceTagger(max_iterations=3)).fit(X, y)
    assert tagger.get_params()["max_iterations"] == tagger.n_iter_ == 3
    grid = GridSearchCV(CRFSequenceTagger(), {"max_iterations": [1, 2]}, cv=2)
    assert grid.fit(X, y).best_estimator_.n_iter_ in (1, 2)
    with pytest.raises(ValueError, match="give only one"):
        CRFSequenceTagger(max_iter=3, max_iterations=3).fit(X, y)


def test_plain_lists_compare_as_those_of_sklearn_crfsuite(corpus, fitted, original):
    X = corpus[2]
    assert fitted.predict(X).tolist() == [list(row) for row in original.predict(X)]


def test_a_file_of_crfsuite_is_opened_by_the_call_that_load_names(fitted, tmp_path):
    fitted.to_crfsuite(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"CRFSequenceTagger\.from_crfsuite"):
        skcw.load(tmp_path / "model")
    again = CRFSequenceTagger.from_crfsuite(tmp_path / "model")
    assert again.state_features_ == fitted.state_features_


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_attributes_are_absent_before_fit_as_everywhere_in_scikit_learn(fitted, before):
    tagger = CRFSequenceTagger() if before else fitted
    names = ("tagger_", "size_", "classes_", "num_attributes_", "attributes_")
    for name in (*names, "state_features_", "transition_features_"):
        assert hasattr(tagger, name) is not before
