"""What the loaders of tagged sentences share."""

import gzip
from itertools import chain

import numpy as np
from sklearn.utils import Bunch

from skcw.data import TokenColumns, Vocabulary, read_columns
from skcw.datasets._locate import locate
from skcw.datasets._splits import description, splits_of
from skcw.exceptions import ColumnFileError

GZIP_MAGIC = b"\x1f\x8b"


def load_sentences(
    source, subset, names, about, *, inputs=None, label=None, return_X_y=False, **places
):
    """Load the splits of a corpus, one after the other.

    Parameters
    ----------
    source : Source
        The corpus.
    subset : str
        One of its splits, or "all".
    names : sequence of str
        The columns of its files.
    about : str
        What its description says.
    inputs : sequence of str or None
        The columns of the tokens; None means all except the label.
    label : str or None
        The column of the labels; None means the last one.
    return_X_y : bool
        Return the tokens and labels alone.
    **places
        `data_home`, `download` and `verbose` of :func:`locate`.

    Returns
    -------
    corpus : Bunch, or a tuple if ``return_X_y``
    """
    splits = splits_of(source, subset)
    label = names[-1] if label is None else label
    if inputs is None:
        inputs = [name for name in names if name != label]
    # Find all files before reading the first one.
    paths = [locate(source, split, **places) for split in splits]
    parts = [_read(path, names) for path in paths]
    sentences = parts[0] if len(parts) == 1 else stack(parts)
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
        DESCR=description(source, about),
    )


def _read(path, names):
    """Read a column file in the layout that its name speaks of."""
    if ".conllu" in path.suffixes:
        columns = ("form", "upos", "xpos")
        return read_columns(path, conllu=True, columns=columns, names=names)
    sentences = read_columns(path, encoding=_encoding(path))
    if sentences.n_columns != len(names):
        raise ColumnFileError(
            f"{path} has {sentences.n_columns} columns where {len(names)} are "
            f"expected: {', '.join(names)}."
        )
    return TokenColumns(
        sentences.offsets, sentences.codes, sentences.values, names, sentences.lines
    )


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


def stack(parts):
    """Return the sentences of several TokenColumns as one.

    Examples
    --------
    >>> from skcw.data import TokenColumns
    >>> from skcw.datasets._sequences import stack
    >>> parts = [TokenColumns.from_sequences([[word]]) for word in ("a", "b")]
    >>> list(stack(parts))
    [[('a',)], [('b',)]]
    """
    lengths = np.concatenate([part.lengths for part in parts])
    columns = [_stack_column(parts, c) for c in range(parts[0].n_columns)]
    return TokenColumns(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.stack([codes for codes, _ in columns]),
        [values for _, values in columns],
        parts[0].names,
    )


def _stack_column(parts, column):
    """Number the values of a column anew, so that all parts agree."""
    texts = [part.values[column].names() for part in parts]
    values = Vocabulary.from_names(chain.from_iterable(texts))
    new_codes = [np.array([values.find(t) for t in names], np.int32) for names in texts]
    codes = [
        new[part.codes[column]] for new, part in zip(new_codes, parts, strict=True)
    ]
    return np.concatenate(codes), values
