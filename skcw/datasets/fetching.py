"""Find the files of real corpora, and download them; ``corpora.toml`` lists them."""

import hashlib
import os
import tomllib
from dataclasses import dataclass
from http.client import HTTPException
from importlib.resources import files
from os import PathLike
from pathlib import Path
from shutil import copyfileobj
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from skcw._util.files import replacing

VARIABLE = "SKCW_DATA"
DEFAULT = "~/skcw_data"
TIMEOUT = 60.0


def get_data_home(data_home: str | PathLike[str] | None = None) -> Any:
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
class Source:
    """The files of one corpus, as ``corpora.toml`` lists them.

    Attributes
    ----------
    folder : str
        The folder below the data home that holds the corpus.
    columns : tuple of str
        The columns of its files, the labels last.
    title : str
        The name of the corpus in messages and descriptions.
    terms : str
        The terms of use.
    origin : str
        The page where a person finds it.
    splits : dict
        For each split the ``files`` under whose names it was published, the first of
        which may have a ``url`` with a ``sha256``. They are looked for in `folder`, in
        `folders` and in the data home itself.
    folders : tuple of str
        Other folders that may hold the original files.
    about : str
        A description with references.
    """

    folder: str
    columns: tuple
    title: str
    terms: str
    origin: str
    splits: dict
    folders: tuple = ()
    about: str = ""

    def candidates(self, split):
        """Return the relative paths that may hold a split, the best one first."""
        prepared = f"{self.folder}/{split}.txt"
        places = [f"{prepared}.gz", prepared]
        for file in self.splits[split]["files"]:
            for name in (file, f"{file}.gz"):
                folders = (self.folder, *self.folders)
                places += [f"{folder}/{name}" for folder in folders] + [name]
        return list(dict.fromkeys(places))


def splits_of(source, subset):
    """Return the splits that a subset consists of."""
    known = list(source.splits)
    usual = [split for split in known if split in ("train", "dev", "test")]
    if subset == "all":
        return usual
    if subset not in known:
        raise ValueError(f"subset must be one of {[*known, 'all']}, got {subset!r}")
    return [subset]


def description(source):
    """Return the description of a corpus, the ``DESCR`` of its Bunch."""
    return (
        f"{source.title}\n{'=' * len(source.title)}\n\n{source.about}\n\n"
        f"From: {source.origin}\nTerms of use: {source.terms}.\n"
    )


def locate(source, split, data_home=None, download=False, verbose=False):
    """Return the path that holds a split of a corpus.

    Parameters
    ----------
    source : Source
        The corpus.
    split : str
        A key of its `splits`.
    data_home : str, path-like or None, default=None
        As in :func:`~skcw.datasets.get_data_home`.
    download : bool, default=False
        Download missing files.
    verbose : bool, default=False
        Show a progress bar while fetching.

    Returns
    -------
    path : pathlib.Path
        A file, or a folder where the corpus comes in one.
    """
    home = get_data_home(data_home)
    places, part = source.candidates(split), source.splits[split]
    for place in places:
        if (home / place).exists():
            return home / place
    if not download or "url" not in part:
        raise FileNotFoundError(_missing(source, split, home, places))
    path = home / source.folder / part["files"][0]
    download_file(part["url"], path, part["sha256"], verbose=verbose)
    return path


def _missing(source, split, home, places):
    """Return a message with the missing file, the folders searched, and the source."""
    part = "" if split == "all" else f", {split} part,"
    offer = "It has to be fetched by hand"
    if "url" in source.splits[split]:
        offer = f"download=True fetches it from {source.splits[split]['url']}"
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
        with open(draft, "wb+") as file:
            _fetch(url, file, path.name, verbose, timeout)
            file.seek(0)
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != sha256:
            raise OSError(
                f"{url} has the SHA-256 checksum {found}, but {sha256} is expected. "
                f"What was fetched is deleted; get {path.name} elsewhere and put it "
                f"into {path.parent}"
            )


def _fetch(url, file, name, verbose, timeout):
    """Download `url` into `file`; raise if it ends early."""
    request = Request(url, headers={"User-Agent": "skcw"})
    bar = {"desc": name, "disable": not verbose}
    try:
        with urlopen(request, timeout=timeout) as answer:
            length = answer.headers.get("Content-Length")
            total = int(length) if length else None
            with tqdm.wrapattr(answer, "read", total=total, **bar) as watched:
                copyfileobj(watched, file)
    except (HTTPException, OSError) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise OSError(f"{url} cannot be fetched: {error}") from error
    if total is not None and file.tell() < total:
        raise OSError(
            f"{url} ended after {file.tell()} of {total} bytes. What was fetched is "
            "deleted; try again"
        )


def read_source(folder, *columns):
    """Return the `Source` of a corpus by the name of its folder."""
    return Source(folder, columns, **read_table("corpora.toml")[folder])


def read_table(name):
    """Return the values of a TOML file beside this module."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text)
