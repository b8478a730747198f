"""The shape of a word: which kinds of characters it is written with."""

from functools import cache
from itertools import groupby


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
    >>> from skcw.features.shapes import word_shape
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
