"""What the global features see of a word: its shape, its case, and a lexicon."""

from collections import Counter
from itertools import groupby

from skcw.data import SequenceBatch, TokenColumns
from skcw.data._encoder import is_numeric_sequence

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


def token_rows(X):
    """Return the tokens of sequences in any form that a tagger takes.

    Sequences of numbers are returned as they are: one row of numbers per token.
    """
    if isinstance(X, SequenceBatch):
        return X.to_lists()
    if isinstance(X, TokenColumns):
        return list(X)
    return [row if is_numeric_sequence(row) else list(row) for row in X]


def words_of_features(rows, prefix=None):
    """Return the words of tokens that are given by their features.

    Parameters
    ----------
    rows : list of sequences
        What `token_rows` returns.
    prefix : str, default=None
        What the name of the feature with the word begins with. Without it only tokens
        of a single feature have a word, which is its name.

    Returns
    -------
    words : list of list of str
        The words; an empty string for a token without one.
    """
    return [
        [""] * row.shape[0]
        if is_numeric_sequence(row)
        else [_word(_names(token), prefix) for token in row]
        for row in rows
    ]


def _names(token):
    """Return the names of a token's features, as taggers read them."""
    if isinstance(token, str):
        return [token]
    if not isinstance(token, dict):
        return list(token)
    return [
        f"{name}:{value}" if isinstance(value, str) else name
        for name, value in token.items()
    ]


def _word(names, prefix):
    if prefix:
        # Features have no order of their own.
        found = min((name for name in names if name.startswith(prefix)), default="")
        return str(found[len(prefix) :])
    return str(names[0]) if len(names) == 1 else ""
