"""Constraints that follow the labels: what is found, kept, extended and given up."""

import warnings

import numpy as np
import pytest

from skcw import (
    AROWSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.data import convert_labels
from skcw.data.schemes import transition_constraints
from skcw.tagging.base import BaseSequenceTagger
from skcw.utils.laws import make_tagged

TAGGERS = [
    CWSequenceTagger(random_state=0, max_iter=2),
    AROWSequenceTagger(random_state=0, max_iter=2),
    PASequenceTagger(random_state=0, max_iter=2),
    PerceptronSequenceTagger(random_state=0, max_iter=2),
    HMMSequenceTagger(word_prefix="word="),
]
every_tagger = pytest.mark.parametrize("tagger", TAGGERS, ids=repr)


def corpus(n_sequences=40, seed=0):
    X, y = make_tagged(CWSequenceTagger(), seed=seed, n_sequences=n_sequences)
    return [[[f"word={token[0]}"] for token in x] for x in X], y


def fitted(tagger, y, X=None):
    X = corpus(len(y))[0] if X is None else X
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return type(tagger)(**tagger.get_params()).fit(X, y)


@every_tagger
@pytest.mark.parametrize(
    ("scheme", "found"),
    [("IOB1", None), ("IOB2", "BIO"), ("IOBES", "IOBES"), ("BILOU", "BILOU")],
)
def test_constraints_follow_the_scheme_of_the_labels(tagger, scheme, found):
    X, y = corpus()
    tagger = fitted(tagger, list(convert_labels(y, scheme)), X)
    assert tagger.constraints_ == found
    expected = transition_constraints(found, tagger.classes_.tolist())
    if found is None:
        assert tagger.forbidden_ is None
    else:
        np.testing.assert_array_equal(tagger.forbidden_, expected)


@pytest.mark.parametrize(
    "name_of",
    [
        lambda label: "O",
        lambda label: label.partition("-")[2] or "none",
        lambda label: label.replace("B-", "N-"),
        lambda label: {"O": "S", "B": "N", "I": "E"}[label[0]],
        # IOBES and BILOU in one corpus.
        lambda label: label.replace("B-PER", "L-PER").replace("B-LOC", "E-LOC"),
    ],
    ids=["one label", "types alone", "unknown prefix", "parts of speech", "mixed"],
)
def test_other_labels_are_not_constrained(name_of):
    y = [[name_of(label) for label in row] for row in corpus()[1]]
    tagger = fitted(TAGGERS[0], y)
    assert tagger.constraints_ is None
    assert tagger.forbidden_ is None


@pytest.mark.parametrize(("n", "found"), [(999, None), (1000, "BIO"), (1999, "BIO")])
def test_one_slip_in_a_thousand_sequences_is_forgiven(n, found):
    y = [["I-x", "O"], *[["B-x", "I-x"]] * (n - 1)]
    X = [[["a"], ["b"]]] * n
    tagger = fitted(CWSequenceTagger(max_iter=1), y, X)
    assert tagger.constraints_ == found
    assert tagger.scheme_faults_["BIO"] == 1
    assert tagger.scheme_faults_["sequences"] == n


def test_none_switches_them_off_and_a_name_still_warns():
    X, y = [[["a"], ["b"]]] * 5, [["B-x", "I-x"], *[["O", "I-x"]] * 4]
    free = fitted(CWSequenceTagger(constraints=None), y, X)
    assert free.constraints_ is None
    with pytest.warns(UserWarning, match="4 training sequences break"):
        bound = CWSequenceTagger(constraints="IOB2").fit(X, y)
    assert bound.constraints_ == "BIO"
    given = CWSequenceTagger(constraints=lambda before, after: True).fit(X, y)
    assert given.constraints_ == "given"


@every_tagger
def test_partial_fit_in_pieces_finds_what_fit_finds(tagger):
    X, y = corpus()
    whole = fitted(tagger, y, X)
    pieces = type(tagger)(**tagger.get_params())
    for piece in range(0, len(X), 7):
        pieces.partial_fit(X[piece : piece + 7], y[piece : piece + 7])
    assert pieces.constraints_ == whole.constraints_ == "BIO"
    assert pieces.scheme_faults_ == whole.scheme_faults_
    np.testing.assert_array_equal(pieces.forbidden_, whole.forbidden_)


@every_tagger
def test_new_spans_extend_constraints_and_a_strange_label_ends_them(tagger):
    X, y = corpus()
    tagger = fitted(tagger, y, X)
    tagger.partial_fit([[["word=u"], ["word=v"]]], [["B-new", "I-new"]])
    labels = tagger.classes_.tolist()
    assert tagger.constraints_ == "BIO"
    assert tagger.forbidden_.shape == (len(labels) + 2, len(labels))
    assert tagger.forbidden_[labels.index("O"), labels.index("I-new")] == -np.inf
    tagger.partial_fit([[["word=u"]]], [["strange"]])
    assert tagger.constraints_ is None
    assert tagger.forbidden_ is None
    tagger.predict(X)


def test_words_outside_may_come_first_and_the_scheme_later():
    X, y = corpus()
    tagger = CWSequenceTagger(random_state=0)
    tagger.partial_fit([[["word=u"]]] * 3, [["O"]] * 3)
    assert tagger.constraints_ is None
    tagger.partial_fit(X, list(convert_labels(y, "BILOU")))
    assert tagger.constraints_ == "BILOU"


@every_tagger
def test_what_was_found_is_saved(tagger, tmp_path):
    X, y = corpus()
    tagger = fitted(tagger, y, X)
    tagger.save(tmp_path / "model")
    loaded = BaseSequenceTagger.load(tmp_path / "model")
    assert loaded.constraints == "auto"
    assert loaded.constraints_ == "BIO"
    assert loaded.scheme_faults_ == tagger.scheme_faults_
    loaded.partial_fit(X[:3], y[:3])
    assert loaded.scheme_faults_["sequences"] == len(X) + 3
