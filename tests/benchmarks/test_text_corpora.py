import gzip
import io
import json
import tarfile
import zipfile
from functools import partial

import numpy as np
import pytest

from tests.benchmarks.modules import benchmark_module

corpora = benchmark_module("common.documents")
load_20newsgroups = corpora.load_20newsgroups
load_amazon_reviews = corpora.load_amazon_reviews
load_enron_bow = corpora.load_enron_bow
load_reuters21578 = corpora.load_reuters21578
load_sms_spam = corpora.load_sms_spam

NEWS = [
    {"id": "10", "label": "sci.med", "split": "train", "text": "Fever\u2028é\n"},
    {"id": "9", "label": "sci.space", "split": "train", "text": "Orbit\n"},
    {"id": "11", "label": "sci.space", "split": "test", "text": "Moon\n"},
]
REVIEW = """\
<review>
<unique_id>
1:x
</unique_id>
<rating>
{rating}
</rating>
<title>
{title}
</title>
<review_text>
{text}
</review_text>
</review>
"""
STORY = """\
<REUTERS TOPICS="{yes}" LEWISSPLIT="{split}" CGISPLIT="X" OLDID="5" NEWID="{id}">
<DATE>26-FEB-1987</DATE>
<TOPICS>{topics}</TOPICS>
<PLACES><D>usa</D></PLACES>
<TEXT{kind}>&#2;
{text}</TEXT>
</REUTERS>
"""
BODY = (
    "<TITLE>NET &lt;ABC></TITLE>\n<DATELINE>PARIS, Feb 26 -\n</DATELINE>"
    "<BODY>Net rose\n5 pct.\n Reuter\n&#3;</BODY>"
)


def write_json(path, rows, packed=False):
    raw = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(raw) if packed else raw)


def write_files(home, files, archive=None):
    """Write {path: bytes} below a folder, or into an archive there."""
    if archive is None:
        for name, raw in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(raw)
        return
    with tarfile.open(home / archive, "w:gz") as tar:
        for name, raw in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            tar.addfile(member, io.BytesIO(raw))


def names_of(bunch):
    return [bunch.target_names[number] for number in bunch.target]


# ---- 20 Newsgroups


@pytest.mark.parametrize("packed", [False, True])
def test_newsgroups_are_read_from_json_lines(tmp_path, packed):
    name = "data.jsonl.gz" if packed else "data.jsonl"
    write_json(tmp_path / "20newsgroups-bydate" / name, NEWS, packed)
    train = load_20newsgroups(tmp_path, subset="train")
    assert train.data == [NEWS[0]["text"], NEWS[1]["text"]]
    assert names_of(train) == ["sci.med", "sci.space"]
    assert train.ids == ["10", "9"] and len(train.target_names) == 20
    assert load_20newsgroups(tmp_path, subset="test").data == ["Moon\n"]
    both = load_20newsgroups(tmp_path, subset="all")
    assert both.split.tolist() == ["train", "train", "test"]


@pytest.mark.parametrize("archive", [None, "20news-bydate.tar.gz"])
def test_newsgroups_are_read_as_published(tmp_path, archive):
    files = {
        f"20news-bydate-{row['split']}/{row['label']}/{row['id']}": row["text"]
        .replace("\u2028", "")
        .encode("latin-1")
        for row in NEWS
    }
    write_files(tmp_path, files, archive)
    both = load_20newsgroups(tmp_path, subset="all")
    assert both.data == ["Feveré\n", "Orbit\n", "Moon\n"]
    assert names_of(both) == ["sci.med", "sci.space", "sci.space"]
    assert both.split.tolist() == ["train", "train", "test"]


# ---- Amazon


def test_amazon_reviews_are_read_from_json_lines(tmp_path):
    rows = [
        {"label": "positive", "domain": "books", "rating": 5.0, "text": "Good"},
        {"label": "negative", "domain": "dvd", "rating": 1.0, "text": "Bad"},
    ]
    write_json(tmp_path / "amazon-blitzer-4domain" / "data.jsonl", rows)
    reviews = load_amazon_reviews(tmp_path)
    assert reviews.data == ["Good", "Bad"]
    assert names_of(reviews) == ["positive", "negative"]
    assert reviews.rating.tolist() == [5.0, 1.0]
    by_domain = load_amazon_reviews(tmp_path, target="domain")
    assert names_of(by_domain) == ["books", "dvd"]


@pytest.mark.parametrize("archive", [None, "domain_sentiment_data.tar.gz"])
def test_amazon_reviews_are_read_as_published(tmp_path, archive):
    files = {
        "sorted_data_acl/kitchen_&_housewares/positive.review": REVIEW.format(
            rating="5.0", title="Fine", text="Two\nlines & é"
        )
        * 2,
        "sorted_data_acl/books/negative.review": REVIEW.format(
            rating="1.0", title="", text="Bad"
        ),
        "sorted_data_acl/books/unlabeled.review": "<review></review>",
    }
    files = {name: text.encode("latin-1") for name, text in files.items()}
    write_files(tmp_path, files, archive)
    reviews = load_amazon_reviews(tmp_path)
    assert reviews.data == ["Bad", "Two\nlines & é", "Two\nlines & é"]
    assert reviews.domain.tolist() == ["books", "kitchen", "kitchen"]
    assert names_of(reviews) == ["negative", "positive", "positive"]
    assert reviews.titles == ["", "Fine", "Fine"]


def test_odd_choices_of_reviews_are_refused(tmp_path):
    with pytest.raises(ValueError, match="target"):
        load_amazon_reviews(tmp_path, target="stars")


# ---- Reuters


def test_reuters_is_read_from_json_lines_by_single_topic(tmp_path):
    topics = [["earn"], ["earn", "oilseed"], ["earn", "acq"], [], ["cocoa"], ["acq"]]
    rows = [
        {"id": n, "label": label, "split": "train", "title": "T", "text": "x"}
        for n, label in enumerate(topics)
    ]
    rows[0] |= {"title": "", "text": ""}  # one text of the collection is empty
    rows[-1]["split"] = "test"
    rows.append({**rows[1], "id": 6, "split": "unused"})
    write_json(tmp_path / "reuters21578" / "data.jsonl", rows)
    news = load_reuters21578(tmp_path, subset="train")
    assert news.ids == [0, 1] and news.data == ["", "T\nx"]
    assert names_of(news) == ["earn", "earn"]
    assert news.all_topics == [["earn"], ["earn", "oilseed"]]
    both = load_reuters21578(tmp_path, subset="all", topics=["acq", "oilseed"])
    assert both.ids == [1, 2, 5] and names_of(both) == ["oilseed", "acq", "acq"]
    assert both.split.tolist() == ["train", "train", "test"]


@pytest.mark.parametrize("archive", [None, "reuters21578.tar.gz"])
def test_reuters_is_read_as_published(tmp_path, archive):
    earn = "<D>earn</D>"
    story = {"yes": "YES", "split": "TRAIN", "topics": earn, "kind": "", "text": BODY}
    first = [
        STORY.format(**story, id=1),
        STORY.format(**{**story, "yes": "NO"}, id=2),
        STORY.format(**{**story, "split": "NOT-USED"}, id=3),
    ]
    brief = {"kind": ' TYPE="BRIEF"', "text": "<TITLE>SHORT</TITLE>", "split": "TEST"}
    plain = {"kind": ' TYPE="UNPROC"', "text": "A &amp; B\n&#3;"}
    second = [
        STORY.format(**{**story, **brief}, id=4),
        STORY.format(**{**story, **plain}, id=5),
    ]
    files = {"reut2-001.sgm": second, "reut2-000.sgm": first, "README.txt": ["<REUT"]}
    files = {name: "".join(text).encode("latin-1") for name, text in files.items()}
    write_files(tmp_path, files, archive)
    news = load_reuters21578(tmp_path, subset="all")
    assert news.ids == [1, 4, 5]
    assert news.data == ["NET <ABC>\nNet rose\n5 pct.\n Reuter", "SHORT", "A & B"]
    assert news.split.tolist() == ["train", "test", "train"]


def test_odd_choices_of_news_are_refused(tmp_path):
    with pytest.raises(ValueError, match="subset"):
        load_reuters21578(tmp_path, subset="unused")


# ---- text messages and mail


def test_text_messages_are_read_in_every_form(tmp_path):
    rows = [{"label": "ham", "text": "Ok\u2028£"}, {"label": "spam", "text": "a\tb"}]
    lines = "".join(f"{row['label']}\t{row['text']}\r\n" for row in rows).encode()
    write_json(tmp_path / "a" / "sms-spam" / "data.jsonl", rows)
    write_files(tmp_path / "b", {"SMSSpamCollection": lines})
    (tmp_path / "c").mkdir()
    with zipfile.ZipFile(tmp_path / "c" / "sms+spam+collection.zip", "w") as archive:
        archive.writestr("SMSSpamCollection", lines)
        archive.writestr("readme", "about")
    for home in "abc":
        messages = load_sms_spam(tmp_path / home)
        assert messages.data == ["Ok\u2028£", "a\tb"]
        assert messages.target.tolist() == [0, 1]


def test_a_line_without_a_label_is_told_by_its_number(tmp_path):
    (tmp_path / "SMSSpamCollection").write_text("ham\tHi\nspam\n")
    with pytest.raises(ValueError, match="SMSSpamCollection, line 2"):
        load_sms_spam(tmp_path)


def test_an_unknown_label_is_named(tmp_path):
    (tmp_path / "SMSSpamCollection").write_text("eggs\tHi\n")
    with pytest.raises(ValueError, match="eggs"):
        load_sms_spam(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_mail_is_read_as_rows_of_word_numbers(tmp_path, packed):
    raw = b"3 1:1 4:1\n1 2:1\n"
    name = "enron-bow/enron-b.svm" + (".gz" if packed else "")
    write_files(tmp_path, {name: gzip.compress(raw) if packed else raw})
    mail = load_enron_bow("b", tmp_path)
    expected = [[1, 0, 0, 1], [0, 1, 0, 0]]
    assert np.array_equal(mail.data.toarray(), expected)
    assert mail.target.tolist() == [1, 0]
    assert mail.target_names == ["1", "3"]
    with pytest.raises(ValueError, match="part"):
        load_enron_bow("c", tmp_path)


@pytest.mark.parametrize(
    ("load", "place"),
    [
        (load_20newsgroups, "20news-bydate-train"),
        (load_amazon_reviews, "sorted_data_acl"),
        (load_reuters21578, "reut2-000.sgm"),
        (load_sms_spam, "SMSSpamCollection"),
        (partial(load_enron_bow, "a"), "enron-a.svm"),
    ],
)
def test_what_is_missing_is_named_with_source_and_terms(tmp_path, load, place):
    with pytest.raises(FileNotFoundError, match=place) as caught:
        load(tmp_path)
    assert "Terms of use" in str(caught.value) and "http" in str(caught.value)
