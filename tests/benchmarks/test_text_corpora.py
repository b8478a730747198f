import gzip
import json
from functools import partial

import numpy as np
import pytest

from tests.benchmarks.modules import benchmark_module

corpora = benchmark_module("common.documents")


def write_json(home, folder, rows):
    raw = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    (home / folder).mkdir(parents=True, exist_ok=True)
    (home / folder / "data.jsonl.gz").write_bytes(gzip.compress(raw))


def names_of(bunch):
    return [bunch.target_names[number] for number in bunch.target]


def test_texts_are_read_whatever_characters_they_hold(tmp_path):
    rows = [{"label": "ham", "text": "Ok\u2028£"}, {"label": "spam", "text": "a\tb\n"}]
    for folder, load in (
        ("sms-spam", corpora.load_sms_spam),
        ("20newsgroups-bydate", corpora.load_20newsgroups),
    ):
        write_json(tmp_path, folder, rows)
        found = load(tmp_path)
        assert found.data == ["Ok\u2028£", "a\tb\n"]
        assert found.target.tolist() == [0, 1] and names_of(found) == ["ham", "spam"]


def test_reviews_are_told_by_sentiment_or_domain(tmp_path):
    rows = [
        {"label": "positive", "domain": "books", "text": "Good"},
        {"label": "negative", "domain": "dvd", "text": "Bad"},
    ]
    write_json(tmp_path, "amazon-blitzer-4domain", rows)
    reviews = corpora.load_amazon_reviews(tmp_path)
    assert names_of(reviews) == ["positive", "negative"]
    assert reviews.domain.tolist() == ["books", "dvd"]
    by_domain = corpora.load_amazon_reviews(tmp_path, target="domain")
    assert names_of(by_domain) == ["books", "dvd"]


def test_reuters_is_read_by_single_topic(tmp_path):
    topics = [["earn"], ["earn", "oilseed"], ["earn", "acq"], [], ["cocoa"], ["acq"]]
    rows = [
        {"label": label, "split": "train", "title": f"T{n}", "text": "x"}
        for n, label in enumerate(topics)
    ]
    rows[0] |= {"title": "", "text": ""}  # one text of the collection is empty
    rows[-1]["split"] = "test"
    rows.append({**rows[1], "split": "unused"})
    write_json(tmp_path, "reuters21578", rows)
    news = corpora.load_reuters21578(tmp_path)
    assert news.data == ["", "T1\nx", "T5\nx"]
    assert names_of(news) == ["earn", "earn", "acq"]
    both = corpora.load_reuters21578(tmp_path, topics=["acq", "oilseed"])
    assert names_of(both) == ["oilseed", "acq", "acq"]


def test_mail_is_read_as_rows_of_word_numbers(tmp_path):
    (tmp_path / "enron-bow").mkdir()
    raw = gzip.compress(b"3 1:1 4:1\n1 2:1\n")
    (tmp_path / "enron-bow" / "enron-b.svm.gz").write_bytes(raw)
    mail = corpora.load_enron_bow("b", tmp_path)
    assert np.array_equal(mail.data.toarray(), [[1, 0, 0, 1], [0, 1, 0, 0]])
    assert mail.target.tolist() == [1, 0]
    assert mail.target_names == ["1", "3"]


@pytest.mark.parametrize(
    "load",
    [
        corpora.load_20newsgroups,
        corpora.load_amazon_reviews,
        corpora.load_reuters21578,
        corpora.load_sms_spam,
        partial(corpora.load_enron_bow, "a"),
    ],
)
def test_what_is_missing_is_named_with_source_and_terms(tmp_path, load):
    with pytest.raises(FileNotFoundError, match="Source and terms of use") as caught:
        load(tmp_path)
    assert "http" in str(caught.value)
