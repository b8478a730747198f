"""Corpora of tagged sentences: chunks, names and parts of speech."""

import gzip
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from skcw.data import TokenColumns
from skcw.datasets.fetching import description, locate, read_source, splits_of
from skcw.exceptions import ColumnFileError
from skcw.io import read_columns

GZIP_MAGIC = b"\x1f\x8b"

CONLL2000 = read_source("conll2000", "word", "pos", "chunk")
CONLL2002 = {
    lang: read_source(f"conll2002-{lang}", "word", "pos", "ner")
    for lang in ("es", "nl")
}
CONLL2003 = read_source("conll2003", "word", "pos", "chunk", "ner")
ARK_TWITTER = read_source("ark-twitter-pos", "word", "pos")
UD_EWT = read_source("ud-english-ewt", "word", "upos", "xpos")


def fetch_conll2000(
    *,
    data_home: str | PathLike[str] | None = None,
    subset: str = "train",
    download: bool = False,
    verbose: bool = False,
    return_X_y: bool = False,
) -> Any:
    r"""Load the chunking corpus of CoNLL-2000, fetching it if asked to.

    The files are ``train.txt`` and ``test.txt``, plain or gzipped, in the folder
    ``conll2000`` below the data home or in the data home itself.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    subset : {"train", "test", "all"}, default="train"
        The part to load.
    download : bool, default=False
        Download missing files from a copy on GitHub, and check it. That has to be asked
        for because it accepts the terms of use: the corpus is for research.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        With the attributes

        tokens : TokenColumns
            The sentences; the columns are word and pos.
        labels : ndarray of object, shape (n_sequences,)
            A list of labels for every sentence.
        columns : tuple of str
            The names of the columns of `tokens`.
        label : str
            The name of the label column.
        split : ndarray of str, shape (n_sequences,)
            The part that every sentence belongs to.
        filenames : list of str
            The files that were read.
        DESCR : str
            A description of the corpus.

    tokens, labels : tuple, if ``return_X_y``
        The first two of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import fetch_conll2000
    >>> Path("conll2000").mkdir(exist_ok=True)
    >>> text = "He PRP B-NP\nreckons VBZ B-VP\n. . O\n"
    >>> _ = Path("conll2000", "train.txt").write_text(text)
    >>> corpus = fetch_conll2000(data_home=".")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('He', 'PRP'), ('reckons', 'VBZ'), ('.', '.')], ['B-NP', 'B-VP', 'O'])
    """
    places = data_home, download, verbose
    return load_sentences(CONLL2000, subset, places, return_X_y)


def fetch_conll2002(
    lang: str,
    *,
    data_home: str | PathLike[str] | None = None,
    subset: str = "train",
    download: bool = False,
    verbose: bool = False,
    return_X_y: bool = False,
) -> Any:
    r"""Load a corpus of named entities of CoNLL-2002, fetching it if asked to.

    The files are ``conll2002-es/train.txt``, ``dev.txt`` and ``test.txt`` (or
    ``conll2002-nl``) below the data home; or the original ``esp.train``, ``esp.testa``
    and ``esp.testb`` (or ``ned``), there, in ``conll2002`` or in the data home itself.
    They may be gzipped, and in UTF-8 or Latin-1.

    Parameters
    ----------
    lang : {"es", "nl"}
        Spanish or Dutch.
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    subset : {"train", "dev", "test", "all"}, default="train"
        The part to load.
    download : bool, default=False
        Download missing files from a copy on GitHub, and check it. That has to be asked
        for because it accepts the terms of use: the corpus is for research only.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        As :func:`fetch_conll2000` returns it; the columns are word and pos.

    tokens, labels : tuple, if ``return_X_y``
        The sentences and their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import fetch_conll2002
    >>> text = "La DA B-LOC\nCoruña NC I-LOC\n, Fc O\n"
    >>> _ = Path("esp.testb").write_text(text, encoding="latin-1")
    >>> corpus = fetch_conll2002("es", data_home=".", subset="test")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('La', 'DA'), ('Coruña', 'NC'), (',', 'Fc')], ['B-LOC', 'I-LOC', 'O'])
    """
    if lang not in CONLL2002:
        raise ValueError(f'lang must be "es" or "nl", got {lang!r}')
    places = data_home, download, verbose
    return load_sentences(CONLL2002[lang], subset, places, return_X_y)


def load_conll2003(
    *,
    data_home: str | PathLike[str] | None = None,
    subset: str = "train",
    return_X_y: bool = False,
) -> Any:
    r"""Load the English named entities of CoNLL-2003, which you must already have.

    The files are the original ``eng.train``, ``eng.testa`` and ``eng.testb``, or
    ``train.txt``, ``valid.txt`` (or ``dev.txt``) and ``test.txt``, plain or gzipped, in
    the folder ``conll2003`` below the data home or in the data home itself. Labels stay
    as they are: those of the original files are in IOB1.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    subset : {"train", "dev", "test", "all"}, default="train"
        The part to load.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        As :func:`fetch_conll2000` returns it; the columns are word, pos and chunk.

    tokens, labels : tuple, if ``return_X_y``
        The sentences and their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_conll2003
    >>> text = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n"
    >>> _ = Path("eng.train").write_text(text)
    >>> corpus = load_conll2003(data_home=".")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('EU', 'NNP', 'I-NP'), ('rejects', 'VBZ', 'I-VP')], ['I-ORG', 'O'])
    """
    return load_sentences(CONLL2003, subset, (data_home,), return_X_y)


def fetch_ark_twitter(
    *,
    data_home: str | PathLike[str] | None = None,
    subset: str = "train",
    download: bool = False,
    verbose: bool = False,
    return_X_y: bool = False,
) -> Any:
    r"""Load tweets with parts of speech, fetching them if asked to.

    The files are ``ark-twitter-pos/train.txt``, ``dev.txt``, ``test.txt`` and
    ``daily547.txt`` below the data home; or the original ``oct27.train``,
    ``oct27.dev``, ``oct27.test`` and ``daily547.conll``, there, in ``twpos-data-v0.3``
    or in the data home itself. They may be gzipped.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    subset : {"train", "dev", "test", "daily547", "all"}, default="train"
        The part to load; "all" is train, dev and test, without "daily547".
    download : bool, default=False
        Download missing files from GitHub, and check it. The license is CC BY 3.0.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        As :func:`fetch_conll2000` returns it; the only column is the word.

    tokens, labels : tuple, if ``return_X_y``
        The sentences and their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import fetch_ark_twitter
    >>> _ = Path("oct27.train").write_text("I\tO\nwon't\tV\nwin\tV\n")
    >>> corpus = fetch_ark_twitter(data_home=".")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('I',), ("won't",), ('win',)], ['O', 'V', 'V'])
    """
    places = data_home, download, verbose
    return load_sentences(ARK_TWITTER, subset, places, return_X_y)


def fetch_ud_ewt(
    *,
    data_home: str | PathLike[str] | None = None,
    subset: str = "train",
    label: str = "xpos",
    download: bool = False,
    verbose: bool = False,
    return_X_y: bool = False,
) -> Any:
    r"""Load the parts of speech of the English Web Treebank, fetching it if asked to.

    The files are ``ud-english-ewt/train.txt``, ``dev.txt`` and ``test.txt`` (word, UPOS
    and XPOS) below the data home; or the original ``en_ewt-ud-train.conllu``,
    ``en_ewt-ud-dev.conllu`` and ``en_ewt-ud-test.conllu``, there, in ``UD_English-EWT``
    or in the data home itself. They may be gzipped.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder with the corpora; None means the one that the environment variable
        ``SKCW_DATA`` names, else ``~/skcw_data``.
    subset : {"train", "dev", "test", "all"}, default="train"
        The part to load.
    label : {"xpos", "upos"}, default="xpos"
        The tags to learn. The other ones are left out, for they give the answer away.
    download : bool, default=False
        Download missing files from GitHub (release 2.7), and check it. The license is
        CC BY-SA 4.0.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        As :func:`fetch_conll2000` returns it; the only column is the word.

    tokens, labels : tuple, if ``return_X_y``
        The sentences and their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import fetch_ud_ewt
    >>> Path("ud-english-ewt").mkdir(exist_ok=True)
    >>> text = "What\tPRON\tWP\nif\tSCONJ\tIN\n"
    >>> _ = Path("ud-english-ewt", "dev.txt").write_text(text)
    >>> corpus = fetch_ud_ewt(data_home=".", subset="dev")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('What',), ('if',)], ['WP', 'IN'])
    """
    if label not in ("xpos", "upos"):
        raise ValueError(f'label must be "xpos" or "upos", got {label!r}')
    places = data_home, download, verbose
    return load_sentences(UD_EWT, subset, places, return_X_y, ("word",), label)


def load_sentences(source, subset, places, return_X_y, inputs=None, label=None):
    """Load the splits of a corpus, one after the other.

    Parameters
    ----------
    source : Source
        The corpus.
    subset : str
        One of its splits, or "all".
    places : tuple
        `data_home`, `download` and `verbose` of :func:`locate`.
    return_X_y : bool
        Return the tokens and labels alone.
    inputs : sequence of str or None
        The columns of the tokens; None means all except the label.
    label : str or None
        The column of the labels; None means the last one.

    Returns
    -------
    corpus : Bunch, or a tuple if ``return_X_y``
    """
    splits, names = splits_of(source, subset), source.columns
    label = names[-1] if label is None else label
    if inputs is None:
        inputs = [name for name in names if name != label]
    # Find all files before reading the first one.
    paths = [locate(source, split, *places) for split in splits]
    parts = [_read(path, names) for path in paths]
    joined = parts[0] if len(parts) == 1 else chain.from_iterable(parts)
    sentences = TokenColumns.from_sequences(joined, names)
    tokens, labels = sentences.select(inputs), sentences.column(label)
    if return_X_y:
        return tokens, labels
    return Bunch(
        tokens=tokens,
        labels=labels,
        columns=tuple(inputs),
        label=label,
        split=np.repeat(splits, [len(part) for part in parts]),
        filenames=[str(path) for path in paths],
        DESCR=description(source),
    )


def _read(path, names):
    """Read a column file in the layout that its name implies."""
    if ".conllu" in path.suffixes:
        columns = ("form", "upos", "xpos")
        return read_columns(path, conllu=True, columns=columns, names=names)
    sentences = read_columns(path, encoding=_encoding(path))
    if sentences.n_columns != len(names):
        raise ColumnFileError(
            f"{path} has {sentences.n_columns} columns where {len(names)} are "
            f"expected: {', '.join(names)}"
        )
    return TokenColumns.from_sequences(sentences, names)


def _encoding(path):
    """Tell UTF-8 from Latin-1, in which some corpora were published."""
    with open(path, "rb") as file:
        packed = file.read(2) == GZIP_MAGIC
    with (gzip.open if packed else open)(path, "rb") as file:
        try:
            file.read().decode("utf-8")
        except UnicodeDecodeError:
            return "latin-1"
    return "utf-8"
