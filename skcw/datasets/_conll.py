"""The corpora of the shared tasks of CoNLL."""

from skcw.datasets._sequences import load_sentences
from skcw.datasets._sources import CONLL2000, CONLL2002, CONLL2003

ABOUT_2000 = """
Text chunking: sections 15-18 of the Wall Street Journal for training (8,936
sentences, 211,727 tokens) and section 20 for testing (2,012 sentences, 47,377 tokens).
The parts of speech are a tagger's output. Labels are IOB2; I-LST occurs in the test
part alone.

Tjong Kim Sang and Buchholz: Introduction to the CoNLL-2000 shared task: Chunking.
"""
ABOUT_2002 = """
Named entities of the types PER, LOC, ORG and MISC in newspaper text, labels in IOB2.
Spanish: 8,323, 1,915 and 1,517 sentences; Dutch: 15,806, 2,895 and 5,195. Each Spanish
part has one sentence that begins with an I- label.

Tjong Kim Sang: Introduction to the CoNLL-2002 shared task.
"""
ABOUT_2003 = """
Named entities of the types PER, LOC, ORG and MISC in Reuters news. The labels are those
of the files: IOB1 in the original ones (eng.train, eng.testa, eng.testb).

Tjong Kim Sang and De Meulder: Introduction to the CoNLL-2003 shared task.
"""


def load_conll2000(
    *,
    data_home=None,
    subset="train",
    download=False,
    verbose=False,
    return_X_y=False,
):
    r"""Load the chunking corpus of CoNLL-2000.

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
        Fetch what is not there from a copy on GitHub, and check it. The corpus is for
        research.
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
    >>> from skcw.datasets import load_conll2000
    >>> Path("conll2000").mkdir(exist_ok=True)
    >>> text = "He PRP B-NP\nreckons VBZ B-VP\n. . O\n"
    >>> _ = Path("conll2000", "train.txt").write_text(text)
    >>> corpus = load_conll2000(data_home=".")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('He', 'PRP'), ('reckons', 'VBZ'), ('.', '.')], ['B-NP', 'B-VP', 'O'])
    """
    return load_sentences(
        CONLL2000,
        subset,
        ("word", "pos", "chunk"),
        ABOUT_2000,
        return_X_y=return_X_y,
        data_home=data_home,
        download=download,
        verbose=verbose,
    )


def load_conll2002(
    lang,
    *,
    data_home=None,
    subset="train",
    download=False,
    verbose=False,
    return_X_y=False,
):
    r"""Load a corpus of named entities of CoNLL-2002.

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
        Fetch what is not there from a copy on GitHub, and check it. The corpus is for
        research only.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        As :func:`load_conll2000` returns it; the columns are word and pos.

    tokens, labels : tuple, if ``return_X_y``
        The sentences and their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_conll2002
    >>> text = "La DA B-LOC\nCoruña NC I-LOC\n, Fc O\n"
    >>> _ = Path("esp.testb").write_text(text, encoding="latin-1")
    >>> corpus = load_conll2002("es", data_home=".", subset="test")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('La', 'DA'), ('Coruña', 'NC'), (',', 'Fc')], ['B-LOC', 'I-LOC', 'O'])
    """
    if lang not in CONLL2002:
        raise ValueError(f'lang must be "es" or "nl", got {lang!r}.')
    return load_sentences(
        CONLL2002[lang],
        subset,
        ("word", "pos", "ner"),
        ABOUT_2002,
        return_X_y=return_X_y,
        data_home=data_home,
        download=download,
        verbose=verbose,
    )


def load_conll2003(path=None, *, subset="train", return_X_y=False):
    r"""Load the English named entities of CoNLL-2003, which you must already have.

    The files are the original ``eng.train``, ``eng.testa`` and ``eng.testb``, or
    ``train.txt``, ``valid.txt`` (or ``dev.txt``) and ``test.txt``, plain or gzipped. Of
    their labels nothing is changed: those of the original ones are in IOB1.

    Parameters
    ----------
    path : str, path-like or None, default=None
        The folder that holds the files, or a folder ``conll2003`` with them; None means
        the folder that the environment variable ``SKCW_DATA`` names, else
        ``~/skcw_data``.
    subset : {"train", "dev", "test", "all"}, default="train"
        The part to load.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        As :func:`load_conll2000` returns it; the columns are word, pos and chunk.

    tokens, labels : tuple, if ``return_X_y``
        The sentences and their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_conll2003
    >>> text = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n"
    >>> _ = Path("eng.train").write_text(text)
    >>> corpus = load_conll2003(".")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('EU', 'NNP', 'I-NP'), ('rejects', 'VBZ', 'I-VP')], ['I-ORG', 'O'])
    """
    names = ("word", "pos", "chunk", "ner")
    return load_sentences(
        CONLL2003, subset, names, ABOUT_2003, return_X_y=return_X_y, data_home=path
    )
