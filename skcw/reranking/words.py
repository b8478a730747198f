"""Words for global features: shapes, a lexicon of case, words of tokens."""

import warnings
from collections import Counter
from itertools import chain
from numbers import Number

from skcw.data import SequenceBatch, TokenColumns
from skcw.data.encoder import is_numeric_sequence
from skcw.exceptions import WordlessWarning

NULL = "NULL"

# Prefixes of the names of features with the word itself, in the order of preference:
# as `WindowFeatures` calls it, and as people do who write features or dicts.
KNOWN_PREFIXES = tuple(
    name + sign
    for name in ("word[0]", "w[0]", "word", "w", "token", "form", "text")
    for sign in ("=", ":")
)


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
    for word, n in Counter(chain.from_iterable(rows)).items():
        if word and word[0].islower():
            lead[word.lower()] += n
        elif word and word[0].isupper():
            lead[word.lower()] -= n
    return frozenset(word for word, n in lead.items() if n > 0)


def first_columns(rows, first=0):
    """Return the words of tokens: strings, or tuples that begin with one.

    Parameters
    ----------
    rows : iterable of sequences
        The tokens of sentences.
    first : int, default=0
        The number of the first sentence, for messages.

    Returns
    -------
    words : list of list of str
        The words.
    """
    found = []
    for s, row in enumerate(rows, first):
        words = [_first(token) for token in row]
        if None in words:
            t = words.index(None)
            raise TypeError(
                f"sentence {s}, token {t} is {row[t]!r}, which is neither a word nor "
                "a tuple that begins with one; give the words as `words`"
            )
        found.append(words)
    return found


def _first(token):
    """Return the word of a token, or None if it is not known how to find it."""
    if isinstance(token, str):
        return token
    word = token[0] if isinstance(token, (tuple, list)) and token else None
    return str(word) if isinstance(word, (str, Number)) else None


def token_rows(X):
    """Return the tokens of sequences in any form that a tagger takes.

    Sequences of numbers are returned as they are: one row of numbers per token.
    """
    if isinstance(X, SequenceBatch):
        return X.to_lists()
    if isinstance(X, TokenColumns):
        return list(X)
    return [row if is_numeric_sequence(row) else list(row) for row in X]


def words_of_features(rows, prefix):
    """Return the words of tokens that are given by their features.

    Parameters
    ----------
    rows : list of sequences
        The result of `token_rows`.
    prefix : str or None
        What the name of the feature with the word begins with; None stands for tokens
        of a single feature, which is the word.

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


def find_word_prefix(rows, given=None):
    """Return by which features the words of tokens are found.

    Parameters
    ----------
    rows : list of sequences
        The result of `token_rows`.
    given : str, default=None
        The prefix given by the user, if any.

    Returns
    -------
    prefix : str or None
        What they begin with; None if words are the only features, or if there are no
        words: of sequences of numbers, and where no feature has a name that is known
        for it, of which the user is warned.
    """
    tokens = chain.from_iterable(row for row in rows if not is_numeric_sequence(row))
    names = [_names(token) for token in tokens]
    if given is not None:
        return _given_prefix(names, given)
    if all(len(of_token) < 2 for of_token in names):
        return None
    for prefix in KNOWN_PREFIXES:
        if all(any(n.startswith(prefix) for n in of_token) for of_token in names):
            return prefix
    example = next(of_token for of_token in names if len(of_token) > 1)
    warnings.warn(
        "no feature is known to hold the word of a token, so that global features see "
        "no words; set word_prefix to the beginning of the name of that feature. A "
        f"token has the features {_shortened(example)}",
        WordlessWarning,
        stacklevel=4,
    )
    return None


def _given_prefix(names, prefix):
    if names and not any(n.startswith(prefix) for n in chain.from_iterable(names)):
        raise ValueError(
            f"no feature begins with word_prefix={prefix!r}; a token has the features "
            f"{_shortened(names[0])}"
        )
    return prefix


def _shortened(names):
    return ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
