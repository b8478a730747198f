"""Files, addresses and terms of use of the corpora of tagged sentences.

The checksums of CoNLL-2000, Spanish CoNLL-2002 and the tweets were compared with the
corpora themselves, and a test does so again. Those of Dutch CoNLL-2002 and the English
Web Treebank are taken as published.
"""

import hashlib
import os
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from skcw._util.files import replacing

VARIABLE = "SKCW_DATA"
DEFAULT = "~/skcw_data"
BLOCK = 1 << 16
TIMEOUT = 60.0


def get_data_home(data_home=None):
    """Return the folder in which the loaders look for real corpora.

    The folder need not exist; a download creates it.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder; None means the one that the environment variable ``SKCW_DATA``
        names, and ``~/skcw_data`` where it names none.

    Returns
    -------
    folder : pathlib.Path
        The folder, with ``~`` expanded.

    Examples
    --------
    >>> from skcw.datasets import get_data_home
    >>> get_data_home("corpora").name
    'corpora'
    """
    if data_home is None:
        data_home = os.environ.get(VARIABLE) or DEFAULT
    return Path(data_home).expanduser()


@dataclass(frozen=True)
class RemoteFile:
    """A file with a stable public address.

    Attributes
    ----------
    url : str
        The address.
    sha256 : str
        The checksum in hexadecimal digits.
    name : str
        The name that it gets on disk.
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
        The name of the corpus in messages and descriptions.
    folder : str
        The folder below the data home that holds the corpus.
    terms : str
        Who may use it for what.
    origin : str
        The page where a person finds it.
    prepared : dict
        The names of each split in one uniform layout.
    original : dict
        The names under which each split was published; they are looked for in
        `folder`, in `folders` and in the data home itself.
    remote : dict
        The file to download for each split, where there is one.
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


def splits_of(source, subset):
    """Return the splits that a subset consists of."""
    known = list(source.original)
    usual = [split for split in known if split in ("train", "dev", "test")]
    if subset == "all":
        return usual
    if subset not in known:
        raise ValueError(f"subset must be one of {[*known, 'all']}, got {subset!r}")
    return [subset]


def description(source, about):
    """Return the description of a corpus, the ``DESCR`` of its Bunch."""
    return (
        f"{source.title}\n{'=' * len(source.title)}\n\n{about.strip()}\n\n"
        f"From: {source.origin}\nTerms of use: {source.terms}.\n"
    )


def locate(source, split, *, data_home=None, download=False, verbose=False):
    """Return the path that holds a split of a corpus.

    Parameters
    ----------
    source : Source
        The corpus.
    split : str
        A key of its `original`.
    data_home : str, path-like or None, default=None
        As in :func:`~skcw.datasets.get_data_home`.
    download : bool, default=False
        Fetch what is not there.
    verbose : bool, default=False
        Show a progress bar while fetching.

    Returns
    -------
    path : pathlib.Path
        A file, or a folder where the corpus comes in one.
    """
    home = get_data_home(data_home)
    places = source.candidates(split)
    for place in places:
        if (home / place).exists():
            return home / place
    remote = source.remote.get(split)
    if not download or remote is None:
        raise FileNotFoundError(_missing(source, split, home, places))
    path = home / source.folder / remote.name
    download_file(remote.url, path, remote.sha256, verbose=verbose)
    return path


def _missing(source, split, home, places):
    """Return a message that says what was looked for, where, and how to get it."""
    part = "" if split == "all" else f", {split} part,"
    if split in source.remote:
        offer = f"download=True fetches it from {source.remote[split].url}"
    else:
        offer = "It has to be fetched by hand"
    return (
        f"{source.title}{part} is not in {home}: none of {', '.join(places)} is there. "
        f"{offer}; it comes from {source.origin}. Terms of use: {source.terms}. "
        f"The folder is the one given, else what the environment variable {VARIABLE} "
        f"names, else {DEFAULT}"
    )


def download_file(url, path, sha256, *, verbose=False, timeout=TIMEOUT):
    """Fetch a file to `path`; it appears there whole and checked, or not at all.

    Parameters
    ----------
    url : str
        The address of the file.
    path : pathlib.Path
        Where to put it; the folder is made.
    sha256 : str
        The checksum that it must have.
    verbose : bool, default=False
        Show a progress bar.
    timeout : float, default=60.0
        Seconds to wait for an answer.

    Raises
    ------
    OSError
        If it cannot be fetched, ends early or has another checksum.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        with open(draft, "wb") as file:
            found = _fetch(url, file, path.name, verbose, timeout)
        if found != sha256:
            raise OSError(
                f"{url} has the SHA-256 checksum {found}, but {sha256} is expected. "
                f"What was fetched is deleted; get {path.name} elsewhere and put it "
                f"into {path.parent}"
            )


def _fetch(url, file, name, verbose, timeout):
    """Copy what lies at `url` into `file`; return its checksum."""
    request = Request(url, headers={"User-Agent": "skcw"})
    try:
        with urlopen(request, timeout=timeout) as answer:
            return _copy(answer, file, url, name, verbose)
    except HTTPError as error:
        error.close()
        raise OSError(f"{url} cannot be fetched: {error}") from None
    except (HTTPException, OSError) as error:
        if isinstance(error, _EndedEarly):
            raise
        raise OSError(f"{url} cannot be fetched: {error}") from error


class _EndedEarly(OSError):
    """The connection was closed before the file was complete."""


def _copy(answer, file, url, name, verbose):
    length = answer.headers.get("Content-Length")
    total = int(length) if length else None
    digest, n_bytes = hashlib.sha256(), 0
    bar = tqdm(desc=name, total=total, unit="B", unit_scale=True, disable=not verbose)
    with bar:
        while block := answer.read(BLOCK):
            file.write(block)
            digest.update(block)
            n_bytes += len(block)
            bar.update(len(block))
    if total is not None and n_bytes < total:
        raise _EndedEarly(
            f"{url} ended after {n_bytes} of {total} bytes. What was fetched is "
            "deleted; try again"
        )
    return digest.hexdigest()


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
