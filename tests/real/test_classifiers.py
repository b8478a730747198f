"""Classifiers of rows on the real corpora, where SKCW_DATA names the folder."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron
from tests.benchmarks.modules import benchmark_module

texts = benchmark_module("common.documents")

pytestmark = pytest.mark.real_data


def tenth(X, y):
    """Return nine tenths of the rows to learn from and the rest, class by class."""
    split = train_test_split(X, y, test_size=0.1, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = split
    return X_train, y_train, X_test, y_test


@pytest.fixture(scope="module")
def newsgroups(data_home):
    messages = texts.load_20newsgroups(data_home)
    words = CountVectorizer(binary=True).fit_transform(messages.data)
    return tenth(words, messages.target)


def test_five_passes_over_newsgroups_are_right_in_92_of_100(newsgroups):
    X, y, X_test, y_test = newsgroups
    fitted = MultiClassCW(random_state=0).fit(X, y)
    assert fitted.n_iter_ == 5
    assert fitted.score(X_test, y_test) > 0.92
    proba = fitted.predict_proba(X_test)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(proba.argmax(axis=1), fitted.predict(X_test))
    # What it is sure of is right more often.
    right = fitted.predict(X_test) == y_test
    order = np.argsort(-proba.max(axis=1))
    assert right[order[: len(order) // 2]].mean() > 0.97


def test_cw_is_above_its_companions_on_newsgroups(newsgroups):
    X, y, X_test, y_test = newsgroups
    best = MultiClassCW(random_state=0).fit(X, y).score(X_test, y_test)
    for companion in (
        MultiClassPA(random_state=0),
        MultiClassPerceptron(random_state=0),
    ):
        assert 0.85 < companion.fit(X, y).score(X_test, y_test) < best


@pytest.mark.parametrize(("part", "least"), [("a", 0.78), ("b", 0.70)])
def test_mail_is_sorted_into_its_folder(data_home, part, least):
    mail = texts.load_enron_bow(part, data_home)
    X, y, X_test, y_test = tenth(mail.data, mail.target)
    for classifier in (MultiClassCW(random_state=0), MultiClassAROW(random_state=0)):
        assert classifier.fit(X, y).score(X_test, y_test) > least


def test_reviews_are_told_apart_by_what_they_are_about(data_home):
    reviews = texts.load_amazon_reviews(data_home, target="domain")
    words = CountVectorizer(binary=True).fit_transform(reviews.data)
    X, y, X_test, y_test = tenth(words, reviews.target)
    fitted = MultiClassCW(random_state=0).fit(X, y)
    assert fitted.score(X_test, y_test) > 0.9
    truth = np.arange(len(y_test)), y_test

    def loss(classifier):
        return -np.log(classifier.predict_proba(X_test)[truth]).mean()

    by_folds = MultiClassCW(random_state=0, variance_scale="log_loss").fit(X, y)
    plain = MultiClassCW(random_state=0, variance_scale=1.0).fit(X, y)
    assert loss(fitted) < loss(plain)
    assert loss(by_folds) < loss(plain)
