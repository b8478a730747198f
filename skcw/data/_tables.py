"""Tables with one row per token: names of columns, and where sentences begin.

Data frames, CSV files and JSON lines have columns with names, in any order. The
features want the word first and look for the names ``word`` and ``pos``.
"""

from collections.abc import Mapping

import numpy as np

from skcw.data._ragged import offsets_of
from skcw.data._token_columns import TokenColumns
from skcw.data._vocabulary import Vocabulary

# What we call a column -> what others call it, in any letter case.
OTHER_NAMES = {
    "word": ("word", "token", "form", "words", "tokens"),
    "pos": ("pos", "pos_tags", "pos_tag", "upos", "xpos"),
}
SENTENCE_NAMES = ("sentence_id", "sent_id", "sentence", "sentence #", "sentence_no")


def find_name(names, wanted):
    """Return the first name that is one of those wanted, in any letter case, or None.

    Parameters
    ----------
    names : sequence of str
        The names of the columns.
    wanted : sequence of str
        Names in lower case, the best first.

    Returns
    -------
    name : str or None
        The name as the table has it.

    Examples
    --------
    >>> from skcw.data._tables import SENTENCE_NAMES, find_name
    >>> find_name(["Word", "Sentence #"], SENTENCE_NAMES)
    'Sentence #'
    """
    lower = {name.strip().lower(): name for name in reversed(names)}
    return next((lower[name] for name in wanted if name in lower), None)


def choose_columns(names, columns=None):
    """Return which columns of a table to keep, and what to call them.

    Parameters
    ----------
    names : sequence of str
        The columns of the table, without that of the sentences.
    columns : dict, sequence of str or None, default=None
        {what to call it: its name in the table}; or names, in the order wanted; or
        all, the word first.

    Returns
    -------
    chosen : dict of str to str
        What to call each column -> its name in the table.

    Examples
    --------
    >>> from skcw.data._tables import choose_columns
    >>> choose_columns(["POS", "Word", "Tag"])
    {'word': 'Word', 'pos': 'POS', 'Tag': 'Tag'}
    """
    if isinstance(columns, Mapping):
        chosen = dict(columns)
    else:
        if isinstance(columns, str):
            raise TypeError(f"columns is {columns!r}; give a list of names or a dict")
        kept = list(names if columns is None else columns)
        _check_known(kept, names)
        known = {new: find_name(kept, others) for new, others in OTHER_NAMES.items()}
        if columns is None and known["word"] is not None:
            kept.remove(known["word"])
            kept.insert(0, known["word"])
        new_names = {old: new for new, old in known.items() if new not in kept}
        chosen = {new_names.get(name, name): name for name in kept}
    _check_known(chosen.values(), names)
    if not chosen:
        raise ValueError("there is no column of words besides that of the sentences")
    return chosen


def _check_known(wanted, names):
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}; {listed_names(names)}")


def default_names(n_columns):
    """Return what columns are called if nobody has named them."""
    return [*("word", "pos")[:n_columns], *(f"x{c}" for c in range(2, n_columns))]


def listed_names(names):
    """Return the names of columns as the end of a message."""
    return f"the columns are {', '.join(map(repr, names))}"


def sentence_starts(ids, row_name):
    """Return where sentences begin: where the identifier of a row changes.

    Parameters
    ----------
    ids : sequence
        An identifier for each row; None means that of the row before.
    row_name : callable
        Takes the number of a row and returns how to name it.

    Returns
    -------
    starts : list of int
        The first row of each sentence.
    keys : list
        The identifier of each sentence.

    Examples
    --------
    >>> from skcw.data._tables import sentence_starts
    >>> sentence_starts(["a", "a", "b", None], "row {}".format)
    ([0, 2], ['a', 'b'])
    """
    starts, keys, where = [], [], {}
    for row, key in enumerate(ids):
        if key is None:
            if not row:
                raise ValueError(f"{row_name(0)} has no sentence")
            continue
        if keys and key == keys[-1]:
            continue
        if key in where:
            raise ValueError(
                f"{row_name(row)} is of sentence {key!r} again, which began in "
                f"{row_name(where[key])} and ended before another one; put the rows of "
                "each sentence together (a stable sort by the sentence does it)"
            )
        where[key] = row
        starts.append(row)
        keys.append(key)
    return starts, keys


def columns_of_lists(lengths, texts, lines=None):
    """Return named columns from flat lists of strings.

    Parameters
    ----------
    lengths : sequence of int
        The number of tokens of each sentence.
    texts : dict of str to list of str
        The values of all tokens by the name of their column.
    lines : sequence of int, default=None
        The line that each token comes from.

    Returns
    -------
    columns : TokenColumns
        The sentences.

    Examples
    --------
    >>> from skcw.data._tables import columns_of_lists
    >>> columns_of_lists([2, 1], {"word": ["the", "cat", "Sit"]})[0]
    [('the',), ('cat',)]
    """
    offsets = offsets_of(lengths)
    codes = np.empty((len(texts), offsets[-1]), dtype=np.int32)
    values = []
    for row, column in zip(codes, texts.values(), strict=True):
        seen = {}
        row[:] = [seen.setdefault(text, len(seen)) for text in column]
        values.append(Vocabulary.from_names(seen))
    return TokenColumns(offsets, codes, values, list(texts), lines)
