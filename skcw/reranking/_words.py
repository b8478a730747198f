"""What the global features see of a word: its shape, its case, and a lexicon."""

from collections import Counter
from itertools import groupby

NULL = "NULL"


def letter_type(letter):
    """Return "A" for a capital letter, "a" for a small one, "0" for a digit."""
    if letter.isupper():
        return "A"
    if letter.islower():
        return "a"
    return "0" if letter.isdigit() else letter


def shape_of(word):
    """Return the types of a word's letters, without repetitions.

    Parameters
    ----------
    word : str
        The word.

    Returns
    -------
    shape : str
        "Aa" for "Animal", "A.A." for "G.M.".
    """
    return "".join(kind for kind, _ in groupby(map(letter_type, word)))


def lower_case_lexicon(rows):
    """Return the words that are written with a small letter more often than not.

    Parameters
    ----------
    rows : iterable of sequences of str
        The words of sentences; a word that is not a string is left out.

    Returns
    -------
    lexicon : frozenset of str
        The words, in small letters.
    """
    lead = Counter()
    for row in rows:
        for word in row:
            if word and word[0].islower():
                lead[word.lower()] += 1
            elif word and word[0].isupper():
                lead[word.lower()] -= 1
    return frozenset(word for word, n in lead.items() if n > 0)


def first_columns(rows):
    """Return the words of tokens: strings, or tuples that begin with one."""
    return [[_first(token) for token in row] for row in rows]


def _first(token):
    return token if isinstance(token, str) else str(token[0])
