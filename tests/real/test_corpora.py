"""Real corpora: they run where SKCW_DATA names the folder, and fail if a file lacks."""

import gzip

import numpy as np
import pytest

from skcw import AROWSequenceTagger, CWSequenceTagger, load
from skcw.data.labels import encode_labels
from skcw.data.schemes import scheme_faults, scheme_of
from skcw.exceptions import ConstraintWarning
from skcw.features.basic import basic_features
from skcw.metrics import span_f1_score

pytestmark = pytest.mark.real_data


def read_columns(path):
    sentences, current = [], []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                current.append(tuple(line.rstrip("\n").split("\t")))
            elif current:
                sentences.append(current)
                current = []
    return sentences + [current] if current else sentences


def features_and_labels(path):
    sentences = read_columns(path)
    X = [basic_features([token[:-1] for token in s]) for s in sentences]
    return X, [[token[-1] for token in s] for s in sentences]


@pytest.fixture(scope="module")
def chunks(data_home):
    folder = data_home / "conll2000"
    X, y = features_and_labels(folder / "train.txt.gz")
    return X[:3000], y[:3000], *features_and_labels(folder / "test.txt.gz")


def test_chunks_of_conll2000_are_found_well_after_a_few_passes(chunks, tmp_path):
    X, y, X_test, y_test = chunks
    tagger = CWSequenceTagger(max_iter=4, random_state=0).fit(X, y)
    labels = tagger.predict(X_test)
    # A third of the training set; the whole of it and ten passes give .937.
    assert span_f1_score(y_test, labels) > 0.90
    tagger.save(tmp_path / "chunks.skcw")
    again = load(tmp_path / "chunks.skcw").predict(X_test)
    assert all(a == b for a, b in zip(labels, again, strict=True))


def test_a_label_that_only_the_test_set_has_is_harmless(chunks):
    X, y, X_test, y_test = chunks
    known = {label for labels in y for label in labels}
    assert "I-LST" in {label for labels in y_test for label in labels} - known
    tagger = AROWSequenceTagger(max_iter=1, random_state=0).fit(X, y)
    assert tagger.score(X_test, y_test) > 0.9


def test_least_sure_words_of_conll2000_are_wrong_more_often(chunks):
    X, y, X_test, y_test = chunks
    tagger = CWSequenceTagger(max_iter=4, random_state=0).fit(X, y)
    wrong = np.concatenate(tagger.predict(X_test)) != np.concatenate(y_test)
    order = np.argsort(np.concatenate(tagger.predict_confidence(X_test)))
    tenth = len(order) // 10
    assert wrong[order[:tenth]].mean() > 5 * wrong.mean()


def test_spanish_labels_that_break_the_constraints_are_named(data_home):
    X, y = features_and_labels(data_home / "conll2002-es" / "dev.txt.gz")
    tagger = CWSequenceTagger(max_iter=2, constraints="BIO", random_state=0)
    with pytest.warns(ConstraintWarning, match="1 training sequences"):
        tagger.fit(X, y)
    for labels in tagger.predict(X):
        for before, after in zip(["O", *labels], labels, strict=False):
            assert after[:2] != "I-" or before[1:] == after[1:]


def test_tweets_are_tagged_with_parts_of_speech(data_home):
    folder = data_home / "ark-twitter-pos"
    X, y = features_and_labels(folder / "train.txt.gz")
    X_test, y_test = features_and_labels(folder / "test.txt.gz")
    tagger = CWSequenceTagger(max_iter=4, random_state=0).fit(X, y)
    assert tagger.score(X_test, y_test) > 0.80


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("conll2000", "BIO"),
        ("conll2002-es", "BIO"),
        ("conll2002-nl", "BIO"),
        ("ark-twitter-pos", None),
        ("ud-english-ewt", None),
    ],
)
@pytest.mark.parametrize("part", ["train", "test"])
def test_the_scheme_of_a_corpus_is_found_in_spite_of_a_slip(
    data_home, name, part, found
):
    sentences = read_columns(data_home / name / f"{part}.txt.gz")
    y = [[token[-1] for token in s] for s in sentences]
    codes, lengths, labels = encode_labels(y)
    offsets = np.append(0, np.cumsum(lengths))
    faults = scheme_faults(labels, codes, offsets)
    assert scheme_of(labels, faults) == found
    # Each Spanish file has one sentence that starts with an I- tag.
    assert faults["BIO"] == (name == "conll2002-es")
