"""Fitted taggers that leave the process: pickle, joblib, skops, threads, callbacks."""

import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.data import SequenceEncoder
from skcw.io.loading import without_seconds
from tests.integration.corpora import features

TAGGERS = [
    CWSequenceTagger(random_state=0, constraints="BIO"),
    AROWSequenceTagger(random_state=0, n_models=2),
    PASequenceTagger(random_state=0),
    PerceptronSequenceTagger(random_state=0, averaging=False),
    HMMSequenceTagger(),
    MaxEntSequenceTagger(random_state=0),
    CRFSequenceTagger(max_iter=20),
]


@pytest.fixture(params=TAGGERS, ids=lambda tagger: type(tagger).__name__)
def fitted(request):
    return clone(request.param).fit(*features(n_sequences=30))


def through_skops(tagger):
    data = skops.io.dumps(tagger)
    trusted = skops.io.get_untrusted_types(data=data)
    # A few classes of skcw itself, and sparse matrices, must be trusted by name.
    assert trusted
    known = ("skcw.", "scipy.sparse._csr.csr_matrix")
    assert all(name.startswith(known) for name in trusted), trusted
    return skops.io.loads(data, trusted=trusted)


def through_joblib(tagger):
    buffer = io.BytesIO()
    joblib.dump(tagger, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


def through_pickle(tagger):
    return pickle.loads(pickle.dumps(tagger))


@pytest.mark.parametrize("travel", [through_pickle, through_joblib, through_skops])
def test_a_tagger_that_traveled_says_the_same(fitted, travel):
    X, _ = features(seed=1, n_sequences=20)
    arrived = travel(fitted)
    assert type(arrived) is type(fitted)
    assert repr(arrived) == repr(fitted)
    assert arrived.predict(X).tolist() == fitted.predict(X).tolist()
    for mine, theirs in zip(
        fitted.predict_confidence(X), arrived.predict_confidence(X), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    assert arrived.history_ == without_seconds(fitted.history_)


@pytest.mark.parametrize("travel", [through_pickle, through_joblib, through_skops])
def test_a_tagger_goes_on_learning_where_it_arrived(travel):
    X, y = features(n_sequences=30)
    more = features(seed=1, n_sequences=20)
    fitted = CWSequenceTagger(random_state=0).fit(X, y)
    arrived = travel(fitted).partial_fit(*more)
    fitted.partial_fit(*more)
    np.testing.assert_array_equal(arrived.coef_, fitted.coef_)
    np.testing.assert_array_equal(arrived.coef_variance_, fitted.coef_variance_)


def test_an_unfitted_tagger_travels_as_well():
    for travel in (through_pickle, through_joblib):
        assert repr(travel(TAGGERS[0])) == repr(TAGGERS[0])


def test_many_threads_may_ask_one_tagger(fitted):
    X, _ = features(seed=1, n_sequences=20)
    expected = fitted.predict(X).tolist()
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda _: fitted.predict(X).tolist(), range(12))
    assert all(answer == expected for answer in answers)


def test_many_threads_may_learn_at_once():
    X, y = features(n_sequences=30)
    alone = CWSequenceTagger(random_state=0).fit(X, y).coef_
    with ThreadPoolExecutor(4) as pool:
        fits = pool.map(
            lambda _: CWSequenceTagger(random_state=0).fit(X, y).coef_, range(8)
        )
    for coef in fits:
        np.testing.assert_array_equal(coef, alone)


def test_a_tagger_whose_arrays_are_mapped_read_only_works(tmp_path):
    X, y = features(n_sequences=30)
    fitted = CWSequenceTagger(random_state=0).fit(X, y)
    joblib.dump(fitted, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert mapped.predict(X).tolist() == fitted.predict(X).tolist()
    assert mapped.predict_nbest(X, 3).tolist() == fitted.predict_nbest(X, 3).tolist()
    mapped.partial_fit(X, y)
    fitted.partial_fit(X, y)
    np.testing.assert_array_equal(mapped.coef_, fitted.coef_)


def test_batches_that_joblib_maps_for_its_workers_are_read():
    X, y = features(n_sequences=30)
    valued = [[dict.fromkeys(token, 0.5) for token in x] for x in X]
    batch = SequenceEncoder().fit_transform(valued)
    tagger = CWSequenceTagger(random_state=0)
    here = cross_val_score(tagger, batch, y, cv=3)
    with joblib.parallel_config(backend="loky", max_nbytes=100, n_jobs=2):
        there = cross_val_score(tagger, batch, y, cv=3)
    np.testing.assert_array_equal(here, there)
