"""The usual features of a word, as strings, in plain Python.

To read and to change; :class:`~skcw.features.WindowFeatures` is the fast way.
"""

from functools import cache
from itertools import groupby

MAX_AFFIX = 4


def word_shape(word, short=False):
    """Return a word with letters and digits replaced by their kind.

    Capitals become ``A``, other letters ``a``, digits ``0``; other characters stay.
    The features ``shape`` and ``short_shape`` of :class:`WindowFeatures` are the same
    in compiled code.

    Parameters
    ----------
    word : str
        The word.
    short : bool, default=False
        Write a run of the same characters as one.

    Returns
    -------
    shape : str
        Its shape.

    Examples
    --------
    >>> from skcw.features.basic import word_shape
    >>> word_shape("McLeod-73"), word_shape("McLeod-73", short=True)
    ('AaAaaa-00', 'AaAa-0')
    """
    kinds = map(_kind_of, word)
    return "".join((kind for kind, _ in groupby(kinds)) if short else kinds)


@cache
def _kind_of(character):
    if character.isdigit():
        return "0"
    if character.isupper():
        return "A"
    return "a" if character.isalpha() else character


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
    >>> from skcw.features import basic_features
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
    shapes = [word_shape(word, short=True) for word in columns[0]]
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
