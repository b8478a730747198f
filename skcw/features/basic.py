"""The usual features of a word, as strings, in plain Python.

To read and to change; :class:`~skcw.features.WindowFeatures` is the fast way.
"""

from functools import cache
from itertools import groupby

MAX_AFFIX = 4


@cache
def character_kind(character):
    """Return 0 for a digit, A for a capital, a for another letter, else itself."""
    if character.isdigit():
        return "0"
    if character.isupper():
        return "A"
    return "a" if character.isalpha() else character


def printable_kind(character):
    """Return the kind of a character, and "?" for one that cannot be printed."""
    return character_kind(character) if character.isprintable() else "?"


def cased_kind(character):
    """Return the kind of a character, where only small letters count as "a"."""
    if character.isupper():
        return "A"
    if character.islower():
        return "a"
    return "0" if character.isdigit() else character


def word_shape(word):
    """Return a word with letters and digits replaced by their kind.

    The feature ``shape`` of :class:`WindowFeatures` is the same in compiled code.

    Parameters
    ----------
    word : str
        The word.

    Returns
    -------
    shape : str
        Its shape.

    Examples
    --------
    >>> from skcw.features.basic import word_shape
    >>> word_shape("McLeod-73")
    'AaAaaa-00'
    """
    return "".join(map(character_kind, word))


def collapsed_shape(word, kind=character_kind):
    """Return the shape of a word with each run of one kind written once.

    The feature ``short_shape`` of :class:`WindowFeatures` is the same in compiled code.

    Parameters
    ----------
    word : str
        The word.
    kind : {character_kind, cased_kind, printable_kind}, default=character_kind
        Gives the letter that stands for a character.

    Returns
    -------
    shape : str
        Its shape.

    Examples
    --------
    >>> from skcw.features.basic import collapsed_shape
    >>> collapsed_shape("McLeod-73")
    'AaAa-0'
    """
    return "".join(letter for letter, _ in groupby(map(kind, word)))


def basic_features(sequence):
    """Return the features of every token of one sequence, as lists of strings.

    Word, lower-cased word and collapsed shape at the positions -2 to 2, bigrams of
    neighboring words and shapes, prefixes and suffixes of one to four characters,
    the ends of the sequence, and further columns (such as the part of speech) at the
    positions -2 to 2 with their bigrams.

    Parameters
    ----------
    sequence : list of str, or list of tuple of str
        The words; or tuples whose first item is the word and whose other items are
        further columns.

    Returns
    -------
    features : list of list of str
        One list for every token, ready for every tagger of skcw.

    Examples
    --------
    >>> from skcw.features.basic import basic_features
    >>> first, second = basic_features([("Rose", "NNP"), ("fell", "VBD")])
    >>> first[:5]
    ['bias', 'prefix=R', 'suffix=e', 'prefix=Ro', 'suffix=se']
    >>> [feature for feature in second if feature.startswith("word")]
    ['word[-1]=Rose', 'word[0]=fell', 'word[-1,0]=Rose|fell']
    """
    rows = [(row,) if isinstance(row, str) else tuple(row) for row in sequence]
    if not rows:
        return []
    if not rows[0]:
        raise ValueError("token 0 has no columns; the first one of a token is its word")
    for position, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"token {position} has {len(row)} columns, token 0 has {len(rows[0])}"
            )
    columns = list(zip(*rows, strict=True))
    shapes = [collapsed_shape(word) for word in columns[0]]
    lower = [word.lower() for word in columns[0]]
    named = [("word", columns[0]), ("lower", lower), ("shape", shapes)]
    named += [(f"column{i}", column) for i, column in enumerate(columns[1:], 1)]
    features = [["bias", *_affixes(word)] for word in columns[0]]
    features[0].append("first")
    features[-1].append("last")
    for name, column in named:
        _add_window(features, name, column)
        if name != "lower":
            _add_bigrams(features, name, column)
    return features


def _affixes(word):
    for length in range(1, min(MAX_AFFIX, len(word)) + 1):
        yield f"prefix={word[:length]}"
        yield f"suffix={word[-length:]}"


def _add_window(features, name, column):
    """Add the column at the positions -2 to 2 that lie inside the sequence."""
    n = len(column)
    for position, row in enumerate(features):
        for offset in range(max(-2, -position), min(2, n - 1 - position) + 1):
            row.append(f"{name}[{offset}]={column[position + offset]}")


def _add_bigrams(features, name, column):
    """Add the column together with its left and its right neighbor."""
    for position in range(1, len(column)):
        left, right = column[position - 1], column[position]
        features[position].append(f"{name}[-1,0]={left}|{right}")
        features[position - 1].append(f"{name}[0,1]={left}|{right}")
