"""Which files a real corpus consists of, where they may be had, and on what terms.

The checksums of CoNLL-2000, Spanish CoNLL-2002 and the tweets were compared with the
corpora themselves, and a test does so again. Those of Dutch CoNLL-2002, the English Web
Treebank, 20 Newsgroups, Reuters-21578 and the text messages are taken as published.
"""

from dataclasses import dataclass, field

TEROPA = "https://github.com/teropa/nlp/raw/master/resources/corpora"
ARK = (
    "https://raw.githubusercontent.com/brendano/ark-tweet-nlp/master/data/"
    "twpos-data-v0.3"
)
EWT = "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/r2.7"


@dataclass(frozen=True)
class RemoteFile:
    """A file with a stable public address.

    Attributes
    ----------
    url : str
    sha256 : str
        In hexadecimal digits.
    name : str
        What it is called once it is here.
    """

    url: str
    sha256: str
    name: str


@dataclass(frozen=True)
class Source:
    """The files of one corpus.

    Attributes
    ----------
    title : str
    folder : str
        The folder below the data home that holds the corpus.
    terms : str
        Who may use it for what.
    origin : str
        Where a person finds it.
    prepared : dict
        For every split the name of its file in one uniform layout.
    original : dict
        For every split the names under which it was published; they are looked for
        in `folder`, in `folders` and in the data home itself.
    remote : dict
        For every split the file to download, if there is one.
    folders : tuple of str
        Other folders that may hold the original files.
    """

    title: str
    folder: str
    terms: str
    origin: str
    prepared: dict
    original: dict
    remote: dict = field(default_factory=dict)
    folders: tuple = ()

    def candidates(self, split):
        """Return the relative paths that may hold a split, the best one first."""
        folders = (self.folder, *self.folders)
        places = [f"{self.folder}/{name}" for name in self.prepared.get(split, ())]
        for name in self.original[split]:
            places += [f"{folder}/{name}" for folder in folders] + [name]
        return list(dict.fromkeys(places))


def _column_files(*names):
    return tuple(name + suffix for name in names for suffix in ("", ".gz"))


def _prepared(*splits):
    return {split: (f"{split}.txt.gz", f"{split}.txt") for split in splits}


JSON_LINES = ("data.jsonl.gz", "data.jsonl")

CONLL2000 = Source(
    title="CoNLL-2000",
    folder="conll2000",
    terms="for research; the texts are from the Wall Street Journal",
    origin="https://www.clips.uantwerpen.be/conll2000/chunking/",
    prepared=_prepared("train", "test"),
    original={"train": _column_files("train.txt"), "test": _column_files("test.txt")},
    remote={
        "train": RemoteFile(
            f"{TEROPA}/conll2000/train.txt",
            "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
            "train.txt",
        ),
        "test": RemoteFile(
            f"{TEROPA}/conll2000/test.txt",
            "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
            "test.txt",
        ),
    },
)

_CONLL2002_SUMS = {
    "esp.train": "a20d95cab7d88a19a86f8c1ad6329325c99fbd9529ed978cbd7e31d4b01b4008",
    "esp.testa": "85c17793b77881c53d19017d9d0f1e6fb98b7ddcab54a5f24b05ed1793103c87",
    "esp.testb": "1f8f7a392c6d4979a5592a5794eed43d7869b46da6851bbcde99714149f1d016",
    "ned.train": "0a419dcb356b62c8cff38515675550b3d5dbea9f45a1c4956328dbd5cc7fcdbc",
    "ned.testa": "51259d4bfe52462f211d3d0b67173a7ecbfa296e199f6c6bd0895f4c78155057",
    "ned.testb": "2aa748edb82e6f9c4d82e57a4bed69ded18cfa4803122c75070335d513517488",
}


def _conll2002(lang, prefix, language):
    names = {
        split: f"{prefix}.{ending}"
        for split, ending in (("train", "train"), ("dev", "testa"), ("test", "testb"))
    }
    return Source(
        title=f"CoNLL-2002 ({language})",
        folder=f"conll2002-{lang}",
        folders=("conll2002", "conll2002/data"),
        terms="for research only; the texts are from EFE (es) and De Morgen (nl)",
        origin="https://www.clips.uantwerpen.be/conll2002/ner/",
        prepared=_prepared(*names),
        original={split: _column_files(name) for split, name in names.items()},
        remote={
            split: RemoteFile(f"{TEROPA}/conll2002/{name}", _CONLL2002_SUMS[name], name)
            for split, name in names.items()
        },
    )


CONLL2002 = {
    "es": _conll2002("es", "esp", "Spanish"),
    "nl": _conll2002("nl", "ned", "Dutch"),
}

CONLL2003 = Source(
    title="CoNLL-2003 (English)",
    folder="conll2003",
    terms="the texts are Reuters news: for research, with the agreement of NIST",
    origin="https://www.clips.uantwerpen.be/conll2003/ner/ and NIST",
    prepared=_prepared("train", "dev", "test"),
    original={
        "train": _column_files("eng.train", "train.txt"),
        "dev": _column_files("eng.testa", "valid.txt", "dev.txt"),
        "test": _column_files("eng.testb", "test.txt"),
    },
)

_ARK_FILES = {
    "train": (
        "oct27.splits/oct27.train",
        "7a5b5114e703cf83965f8c39c9c7384e61dbe5bd1ab8a5d6fe7ad6d204fa0b4c",
    ),
    "dev": (
        "oct27.splits/oct27.dev",
        "22d714d4e34c736f0ce481e07b522b065036ded929e0f7d51f418e60e1d43c50",
    ),
    "test": (
        "oct27.splits/oct27.test",
        "061ca85465b76137dcf774088d3429caf17e2c064f3a0c6d470f03b1f813ac62",
    ),
    "daily547": (
        "daily547.conll",
        "581862c4a7a05b62cb5c4d44119f11fc1fe55489862c9470120628cca8e4b080",
    ),
}

ARK_TWITTER = Source(
    title="Tweets with parts of speech (ARK, release 0.3)",
    folder="ark-twitter-pos",
    folders=("oct27.splits", "twpos-data-v0.3", "twpos-data-v0.3/oct27.splits"),
    terms="CC BY 3.0, with the names of the authors",
    origin="https://github.com/brendano/ark-tweet-nlp, data/twpos-data-v0.3",
    prepared=_prepared(*_ARK_FILES),
    original={
        split: _column_files(path.rpartition("/")[2])
        for split, (path, _) in _ARK_FILES.items()
    },
    remote={
        split: RemoteFile(f"{ARK}/{path}", checksum, path.rpartition("/")[2])
        for split, (path, checksum) in _ARK_FILES.items()
    },
)

_EWT_SUMS = {
    "train": "4e45f7b6f6d4e8d33e0ba7090fc37f2385a91711edb20d456d3fb5f45ac0fc28",
    "dev": "57703dcd3b04c32dda6cb7c2a9d836daf65c2b9141a670163693d230b46559c8",
    "test": "25ef2d6fe772b8f05be374e093693f14284ccdd870fc27a9295f7e5a0fc3253a",
}

UD_EWT = Source(
    title="English Web Treebank (Universal Dependencies)",
    folder="ud-english-ewt",
    folders=("UD_English-EWT",),
    terms="CC BY-SA 4.0",
    origin="https://github.com/UniversalDependencies/UD_English-EWT",
    prepared=_prepared(*_EWT_SUMS),
    original={split: _column_files(f"en_ewt-ud-{split}.conllu") for split in _EWT_SUMS},
    remote={
        split: RemoteFile(
            f"{EWT}/en_ewt-ud-{split}.conllu", checksum, f"en_ewt-ud-{split}.conllu"
        )
        for split, checksum in _EWT_SUMS.items()
    },
)

_NEWSGROUPS_ARCHIVE = RemoteFile(
    "https://ndownloader.figshare.com/files/5975967",
    "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
    "20news-bydate.tar.gz",
)

NEWSGROUPS = Source(
    title="20 Newsgroups, by date",
    folder="20newsgroups-bydate",
    folders=("20news-bydate",),
    terms="public messages of 1993, collected for research by Ken Lang",
    origin="http://qwone.com/~jason/20Newsgroups/",
    prepared={"train": JSON_LINES, "test": JSON_LINES},
    original={
        split: (f"20news-bydate-{split}", _NEWSGROUPS_ARCHIVE.name)
        for split in ("train", "test")
    },
    remote={"train": _NEWSGROUPS_ARCHIVE, "test": _NEWSGROUPS_ARCHIVE},
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
    remote={
        "all": RemoteFile(
            "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
            "3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
            "reuters21578.tar.gz",
        )
    },
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
    remote={
        "all": RemoteFile(
            "https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip",
            "1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3",
            "sms+spam+collection.zip",
        )
    },
)
