"""The loaders on the real corpora; they run where SKCW_DATA names the folder."""

import gzip
import hashlib

import numpy as np
import pytest

from skcw.datasets import (
    fetch_ark_twitter,
    fetch_conll2000,
    fetch_conll2002,
    fetch_ud_ewt,
)
from skcw.datasets.sequence_corpora import ARK_TWITTER, CONLL2000, CONLL2002
from tests.benchmarks.modules import benchmark_module

texts = benchmark_module("common.documents")

pytestmark = pytest.mark.real_data


def spanish(**options):
    return fetch_conll2002("es", **options)


def dutch(**options):
    return fetch_conll2002("nl", **options)


@pytest.mark.parametrize(
    ("load", "sizes", "n_labels"),
    [
        (fetch_conll2000, {"train": (8936, 211727), "test": (2012, 47377)}, 23),
        (
            spanish,
            {"train": (8323, 264715), "dev": (1915, 52923), "test": (1517, 51533)},
            9,
        ),
        (
            dutch,
            {"train": (15806, 202644), "dev": (2895, 37687), "test": (5195, 68875)},
            9,
        ),
        (
            fetch_ark_twitter,
            {"train": (1000, 14619), "dev": (327, 4823), "test": (500, 7152)},
            25,
        ),
        (
            fetch_ud_ewt,
            {"train": (12544, 204577), "dev": (2001, 25147), "test": (2077, 25094)},
            49,
        ),
    ],
)
def test_sentences_and_tokens_are_as_many_as_published(
    data_home, load, sizes, n_labels
):
    corpus = load(data_home=data_home, subset="all")
    assert len({label for labels in corpus.labels for label in labels}) == n_labels
    for split, (n_sentences, n_tokens) in sizes.items():
        chosen = corpus.split == split
        assert chosen.sum() == n_sentences
        assert corpus.tokens[chosen].n_tokens == n_tokens
        assert sum(map(len, corpus.labels[chosen])) == n_tokens


def test_daily_tweets_are_a_part_of_their_own(data_home):
    tokens, _ = fetch_ark_twitter(
        data_home=data_home, subset="daily547", return_X_y=True
    )
    assert len(tokens) == 547


def test_quirks_of_the_corpora_are_kept(data_home):
    known = {
        label for row in fetch_conll2000(data_home=data_home).labels for label in row
    }
    test = fetch_conll2000(data_home=data_home, subset="test")
    assert "I-LST" in {label for row in test.labels for label in row} - known
    for subset in ("train", "dev", "test"):
        labels = spanish(data_home=data_home, subset=subset).labels
        assert sum(row[0].startswith("I-") for row in labels) == 1


@pytest.mark.parametrize(
    "source", [CONLL2000, CONLL2002["es"], ARK_TWITTER], ids=lambda s: s.folder
)
def test_published_checksums_are_those_of_the_corpora(data_home, source):
    separator = b"\t" if source is ARK_TWITTER else b" "
    for split, part in source.splits.items():
        path = data_home / source.folder / f"{split}.txt.gz"
        raw = gzip.decompress(path.read_bytes()).replace(b"\t", separator) + b"\n"
        assert hashlib.sha256(raw).hexdigest() == part["sha256"]


@pytest.mark.parametrize(
    ("load", "uniform", "original", "encoding"),
    [
        (fetch_conll2000, "conll2000/test.txt.gz", "test.txt", "utf-8"),
        (spanish, "conll2002-es/test.txt.gz", "esp.testb", "latin-1"),
        (dutch, "conll2002-nl/test.txt.gz", "ned.testb", "latin-1"),
    ],
)
def test_the_original_files_give_the_same_sentences(
    data_home, tmp_path, load, uniform, original, encoding
):
    text = gzip.decompress((data_home / uniform).read_bytes()).decode("utf-8")
    if original.startswith("ned"):
        text = f"-DOCSTART- -DOCSTART- O\n{text}"
    raw = text.replace("\t", " ").encode(encoding)
    (tmp_path / original).write_bytes(raw)
    X, y = load(data_home=data_home, subset="test", return_X_y=True)
    X_original, y_original = load(data_home=tmp_path, subset="test", return_X_y=True)
    assert list(X_original) == list(X)
    assert y_original.tolist() == y.tolist()


def test_newsgroups_are_as_many_as_published(data_home):
    messages = texts.load_20newsgroups(data_home)
    assert len(messages.data) == 11314 + 7532
    assert set(messages.target) == set(range(20))


def test_other_texts_are_as_many_as_published(data_home):
    reviews = texts.load_amazon_reviews(data_home, target="domain")
    assert np.bincount(reviews.target).tolist() == [2000] * 4
    assert np.bincount(texts.load_sms_spam(data_home).target).tolist() == [
        4827,
        747,
    ]
    # The eight largest topics of the collection that exclude each other.
    news = texts.load_reuters21578(data_home)
    assert len(news.data) == 6184 + 2431 and set(news.target) == set(range(8))
    for part, n_messages in (("a", 3132), ("b", 3163)):
        mail = texts.load_enron_bow(part, data_home)
        assert mail.data.shape[0] == n_messages and set(mail.data.data) == {1.0}
        assert len(mail.target_names) == 10
