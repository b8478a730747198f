"""Corpora of classified texts, read from a folder that already holds them.

The benchmarks compare classifiers on them. They are read in one uniform layout
(``data.jsonl`` below a folder of their own, plain or gzipped) or as they were
published, archives included; nothing is fetched. scikit-learn users who only want
20 Newsgroups have ``sklearn.datasets.fetch_20newsgroups``.
"""

import gzip
import html
import json
import re
import tarfile
import zipfile

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from skcw.datasets.fetching import Source, locate, splits_of

JSON_LINES = ("data.jsonl.gz", "data.jsonl")
GROUPS = (
    "alt.atheism",
    "comp.graphics",
    "comp.os.ms-windows.misc",
    "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware",
    "comp.windows.x",
    "misc.forsale",
    "rec.autos",
    "rec.motorcycles",
    "rec.sport.baseball",
    "rec.sport.hockey",
    "sci.crypt",
    "sci.electronics",
    "sci.med",
    "sci.space",
    "soc.religion.christian",
    "talk.politics.guns",
    "talk.politics.mideast",
    "talk.politics.misc",
    "talk.religion.misc",
)
TOPICS = ("acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade")
DOMAINS = ("books", "dvd", "electronics", "kitchen")
SENTIMENTS = ("negative", "positive")
# What the original folders of the reviews are called.
FOLDERS = {"kitchen_&_housewares": "kitchen"}
_REVIEW = re.compile(r"<review>(.*?)</review>", re.DOTALL)
_STORY = re.compile(r"<REUTERS(.*?)>(.*?)</REUTERS>", re.DOTALL)

NEWSGROUPS = Source(
    title="20 Newsgroups, by date",
    folder="20newsgroups-bydate",
    folders=("20news-bydate",),
    terms="public messages of 1993, collected for research by Ken Lang",
    origin="http://qwone.com/~jason/20Newsgroups/",
    prepared={"train": JSON_LINES, "test": JSON_LINES},
    original={
        split: (f"20news-bydate-{split}", "20news-bydate.tar.gz")
        for split in ("train", "test")
    },
)

AMAZON = Source(
    title="Amazon reviews of four domains (Blitzer)",
    folder="amazon-blitzer-4domain",
    terms="for research",
    origin=(
        "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/, "
        "domain_sentiment_data.tar.gz (the processed_acl files hold no texts)"
    ),
    prepared={"all": JSON_LINES},
    original={"all": ("sorted_data_acl", "domain_sentiment_data.tar.gz")},
)

ENRON = {
    part: Source(
        title=f"Enron {part.upper()}",
        folder="enron-bow",
        terms="public mail of real people; the words are left out on purpose",
        origin=(
            "the mail of one user of the Enron corpus "
            "(https://www.cs.cmu.edu/~enron/), its ten largest folders turned into "
            f"svmlight lines of word numbers and saved as enron-{part}.svm"
        ),
        prepared={"all": (f"enron-{part}.svm.gz", f"enron-{part}.svm")},
        original={"all": (f"enron-{part}.svm.gz", f"enron-{part}.svm")},
    )
    for part in ("a", "b")
}

REUTERS = Source(
    title="Reuters-21578",
    folder="reuters21578",
    terms="for research only, (c) Reuters Ltd.",
    origin="https://kdd.ics.uci.edu/databases/reuters21578/",
    prepared={"all": JSON_LINES},
    original={"all": ("reut2-000.sgm", "reuters21578.tar.gz")},
)

SMS = Source(
    title="SMS Spam Collection",
    folder="sms-spam",
    terms="CC BY 4.0, with the names of the authors (Almeida and Hidalgo)",
    origin="https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
    prepared={"all": JSON_LINES},
    original={
        "all": (
            "SMSSpamCollection",
            "SMSSpamCollection.txt",
            "sms+spam+collection.zip",
            "smsspamcollection.zip",
        )
    },
)


def load_20newsgroups(data_home, *, subset="all"):
    """Return the messages of 20 newsgroups as they are, headers and all.

    The Bunch has data, target, target_names, split ("train" or "test") and ids.
    """
    # Find all parts before reading the first one.
    paths = {
        split: locate(NEWSGROUPS, split, data_home=data_home)
        for split in splits_of(NEWSGROUPS, subset)
    }
    rows = [row for split, path in paths.items() for row in _messages(path, split)]
    return text_bunch(
        rows,
        [row["label"] for row in rows],
        GROUPS,
        split=np.array([row["split"] for row in rows], dtype=str),
        ids=[row["id"] for row in rows],
    )


def _messages(path, split):
    """Return the messages of a split, in whatever form they lie at `path`."""
    if is_json_lines(path):
        return [row for row in read_json_lines(path) if row["split"] == split]
    files = _message_files(path) if path.is_dir() else _message_members(path, split)
    return [
        {"id": name, "label": group, "split": split, "text": raw.decode("latin-1")}
        for group, name, raw in sorted(files)
    ]


def _message_files(path):
    for file in path.glob("*/*"):
        yield file.parent.name, file.name, file.read_bytes()


def _message_members(path, split):
    with tarfile.open(path) as archive:
        for member in archive:
            folder, _, rest = member.name.removeprefix("./").partition("/")
            group, _, name = rest.partition("/")
            if member.isfile() and folder == f"20news-bydate-{split}":
                yield group, name, archive.extractfile(member).read()


def load_amazon_reviews(data_home, *, target="sentiment"):
    """Return Amazon reviews of four domains, to be told by "sentiment" or "domain".

    The ``processed_acl`` version is not read: it holds counts instead of texts. The
    Bunch has data, target, target_names, domain, rating and titles.
    """
    if target not in ("sentiment", "domain"):
        raise ValueError(f'target must be "sentiment" or "domain", got {target!r}')
    path = locate(AMAZON, "all", data_home=data_home)
    rows = list(read_json_lines(path) if is_json_lines(path) else _reviews(path))
    key, names = ("domain", DOMAINS) if target == "domain" else ("label", SENTIMENTS)
    return text_bunch(
        rows,
        [row[key] for row in rows],
        names,
        domain=np.array([row["domain"] for row in rows], dtype=str),
        rating=np.array([row["rating"] for row in rows], dtype=np.float64),
        titles=[row.get("title", "") for row in rows],
    )


def _reviews(path):
    """Yield the reviews of the published folder or archive."""
    files = _review_files(path) if path.is_dir() else _review_members(path)
    for folder, label, raw in sorted(files):
        for block in _REVIEW.findall(raw.decode("latin-1")):
            yield {
                "label": label,
                "domain": FOLDERS.get(folder, folder),
                "rating": float(_review_field(block, "rating") or "nan"),
                "title": _review_field(block, "title"),
                "text": _review_field(block, "review_text"),
            }


def _review_files(path):
    for label in SENTIMENTS:
        for file in path.glob(f"*/{label}.review"):
            yield file.parent.name, label, file.read_bytes()


def _review_members(path):
    with tarfile.open(path) as archive:
        for member in archive:
            *_, folder, name = ("", *member.name.split("/"))
            label = name.removesuffix(".review")
            if member.isfile() and label in SENTIMENTS:
                yield folder, label, archive.extractfile(member).read()


def _review_field(block, tag):
    found = re.search(rf"<{tag}>\s*(.*?)\s*</{tag}>", block, re.DOTALL)
    return found[1] if found else ""


def load_enron_bow(part, data_home):
    """Return the mail of one Enron user ("a" or "b") as a CSR matrix of words.

    The file has svmlight lines: words numbered from one, the folder's number first.
    """
    if part not in ENRON:
        raise ValueError(f'part must be "a" or "b", got {part!r}')
    path = locate(ENRON[part], "all", data_home=data_home)
    data, folders = load_svmlight_file(str(path), zero_based=False)
    names, target = np.unique(folders.astype(np.int64), return_inverse=True)
    return Bunch(data=data, target=target, target_names=[str(name) for name in names])


def load_reuters21578(data_home, *, subset="all", topics=TOPICS):
    """Return the texts of the split "ModApte" that have exactly one of some topics.

    Other topics that a text has do not matter. The Bunch has data (each text below
    its title), target, target_names, split, ids and all_topics.
    """
    if subset not in ("train", "test", "all"):
        raise ValueError(
            f"subset must be one of ['train', 'test', 'all'], got {subset!r}"
        )
    wanted = ("train", "test") if subset == "all" else (subset,)
    path = locate(REUTERS, "all", data_home=data_home)
    rows = read_json_lines(path) if is_json_lines(path) else _stories(path)
    rows = [
        row
        for row in rows
        if row["split"] in wanted and len(set(row["label"]) & set(topics)) == 1
    ]
    for row in rows:
        row["text"] = f"{row['title']}\n{row['text']}".strip()
    return text_bunch(
        rows,
        [next(topic for topic in row["label"] if topic in topics) for row in rows],
        list(dict.fromkeys(topics)),
        split=np.array([row["split"] for row in rows], dtype=str),
        ids=[int(row["id"]) for row in rows],
        all_topics=[list(row["label"]) for row in rows],
    )


def _stories(path):
    """Yield the stories of the published files or of their archive."""
    for raw in (
        _story_members(path) if path.suffix == ".gz" else _story_files(path.parent)
    ):
        for attributes, body in _STORY.findall(raw.decode("latin-1")):
            yield _story(dict(re.findall(r'(\w+)="(.*?)"', attributes)), body)


def _story_files(folder):
    return [path.read_bytes() for path in sorted(folder.glob("reut2-*.sgm"))]


def _story_members(path):
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if member.isfile() and member.name.endswith(".sgm"):
                yield archive.extractfile(member).read()


def _story(attributes, body):
    topics = re.search(r"<TOPICS>(.*?)</TOPICS>", body, re.DOTALL)
    split = attributes["LEWISSPLIT"].lower() if attributes["TOPICS"] == "YES" else ""
    return {
        "id": attributes["NEWID"],
        "split": split if split in ("train", "test") else "unused",
        "label": re.findall(r"<D>(.*?)</D>", topics[1]) if topics else [],
        "title": _story_field(body, "TITLE"),
        "text": _text(body),
    }


def _text(body):
    """Return the body of a story; short ones have no tag of their own for it."""
    if "<BODY>" in body:
        return _story_field(body, "BODY")
    text = re.sub(r"<(TITLE|DATELINE|AUTHOR)>.*?</\1>", "", body, flags=re.DOTALL)
    found = re.search(r"<TEXT[^>]*>(.*?)</TEXT>", text, re.DOTALL)
    return _plain(found[1]) if found else ""


def _story_field(body, tag):
    found = re.search(rf"<{tag}>(.*?)</{tag}>", body, re.DOTALL)
    return _plain(found[1]) if found else ""


def _plain(text):
    # The stories end in a control character, written as an entity.
    return html.unescape(text.replace("&#3;", "").replace("&#2;", "")).strip()


def load_sms_spam(data_home):
    """Return text messages, 0 for ham and 1 for spam."""
    path = locate(SMS, "all", data_home=data_home)
    rows = list(read_json_lines(path) if is_json_lines(path) else _texts(path))
    return text_bunch(rows, [row["label"] for row in rows], ("ham", "spam"))


def _texts(path):
    """Yield the messages of the published file or of its archive."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            raw = archive.read("SMSSpamCollection")
    else:
        raw = path.read_bytes()
    for number, line in enumerate(raw.decode("utf-8").split("\n"), start=1):
        label, tab, text = line.rstrip("\r").partition("\t")
        if tab:
            yield {"label": label, "text": text}
        elif line.strip():
            raise ValueError(f"{path}, line {number}: no TAB after the label")


def is_json_lines(path):
    """Tell whether a file is in the uniform layout: one JSON object per line."""
    return ".jsonl" in path.suffixes


def read_json_lines(path):
    """Yield the objects of a file, plain or gzipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    # Texts may hold characters that str.splitlines takes for the end of a line.
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def text_bunch(rows, labels, target_names, **more):
    """Return the texts of some rows, and their labels as indices into the names."""
    numbers = {name: number for number, name in enumerate(target_names)}
    unknown = sorted(set(labels) - set(numbers))
    if unknown:
        raise ValueError(f"the data have the labels {unknown}, which are not known")
    data = [row["text"] for row in rows]
    target = np.array([numbers[label] for label in labels], dtype=np.int64)
    return Bunch(data=data, target=target, target_names=list(target_names), **more)
