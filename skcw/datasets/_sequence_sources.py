"""Files, addresses and terms of use of the corpora of tagged sentences.

The checksums of CoNLL-2000, Spanish CoNLL-2002 and the tweets were compared with the
corpora themselves, and a test does so again. Those of Dutch CoNLL-2002 and the English
Web Treebank are taken as published.
"""

from skcw.datasets._fetching import RemoteFile, Source

TEROPA = "https://github.com/teropa/nlp/raw/master/resources/corpora"
ARK = (
    "https://raw.githubusercontent.com/brendano/ark-tweet-nlp/master/data/"
    "twpos-data-v0.3"
)
EWT = "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/r2.7"


def _column_files(*names):
    return tuple(name + suffix for name in names for suffix in ("", ".gz"))


def _prepared(*splits):
    return {split: (f"{split}.txt.gz", f"{split}.txt") for split in splits}


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
