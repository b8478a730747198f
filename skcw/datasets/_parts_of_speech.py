"""Corpora with parts of speech."""

from skcw.datasets._sequences import load_sentences
from skcw.datasets._sources import ARK_TWITTER, UD_EWT

ABOUT_ARK = """
Tweets with 25 coarse parts of speech: "Oct27" of 2010-10-27 with 1,000, 327 and 500
tweets (14,619, 4,823 and 7,152 tokens), and "Daily547" with one tweet a day of 2011 and
half of 2012.

Gimpel et al.: Part-of-speech tagging for Twitter: Annotation, features, and
experiments.
Owoputi and O'Connor: Part-of-speech tagging for Twitter: Word clusters and other
advances.
"""
ABOUT_EWT = """
Web pages, newsgroups, mail, reviews and answers with universal (UPOS) and Penn treebank
(XPOS) parts of speech. Recent releases have 12,544, 2,001 and 2,077 sentences; release
2.7, which download=True fetches, has 12,543, 2,002 and 2,077.

Silveira et al.: A gold standard dependency corpus for English.
"""


def load_ark_twitter(
    *,
    data_home=None,
    subset="train",
    download=False,
    verbose=False,
    return_X_y=False,
):
    r"""Load tweets with parts of speech.

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
        Fetch what is not there from GitHub, and check it. The licence is CC BY 3.0.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        As :func:`load_conll2000` returns it; the only column is the word.

    tokens, labels : tuple, if ``return_X_y``
        The sentences and their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_ark_twitter
    >>> _ = Path("oct27.train").write_text("I\tO\nwon't\tV\nwin\tV\n")
    >>> corpus = load_ark_twitter(data_home=".")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('I',), ("won't",), ('win',)], ['O', 'V', 'V'])
    """
    return load_sentences(
        ARK_TWITTER,
        subset,
        ("word", "pos"),
        ABOUT_ARK,
        return_X_y=return_X_y,
        data_home=data_home,
        download=download,
        verbose=verbose,
    )


def load_ud_ewt(
    *,
    data_home=None,
    subset="train",
    label="xpos",
    download=False,
    verbose=False,
    return_X_y=False,
):
    r"""Load the English Web Treebank as words with parts of speech.

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
        Fetch what is not there from GitHub (release 2.7), and check it. The licence is
        CC BY-SA 4.0.
    verbose : bool, default=False
        Show a progress bar while fetching.
    return_X_y : bool, default=False
        Return ``(tokens, labels)`` instead of a Bunch.

    Returns
    -------
    corpus : :class:`~sklearn.utils.Bunch`
        As :func:`load_conll2000` returns it; the only column is the word.

    tokens, labels : tuple, if ``return_X_y``
        The sentences and their labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from skcw.datasets import load_ud_ewt
    >>> Path("ud-english-ewt").mkdir(exist_ok=True)
    >>> text = "What\tPRON\tWP\nif\tSCONJ\tIN\n"
    >>> _ = Path("ud-english-ewt", "dev.txt").write_text(text)
    >>> corpus = load_ud_ewt(data_home=".", subset="dev")
    >>> corpus.tokens[0], corpus.labels[0]
    ([('What',), ('if',)], ['WP', 'IN'])
    """
    if label not in ("xpos", "upos"):
        raise ValueError(f'label must be "xpos" or "upos", got {label!r}.')
    return load_sentences(
        UD_EWT,
        subset,
        ("word", "upos", "xpos"),
        ABOUT_EWT,
        inputs=("word",),
        label=label,
        return_X_y=return_X_y,
        data_home=data_home,
        download=download,
        verbose=verbose,
    )
