"""Column files in blocks of sentences, so that memory does not grow with the file."""

from skcw.cli._corpus import (
    chosen_columns,
    label_column,
    reading_options,
    split_labels,
)
from skcw.cli._files import input_of

# Large enough that the work in compiled code dominates, small enough to answer soon.
BLOCK_TOKENS = 20_000


def raw_blocks(name, options, block_tokens=BLOCK_TOKENS):
    """Yield the text of each block, and its columns that are for the features.

    Parameters
    ----------
    name : str
        The file, or "-".
    options : argparse.Namespace
        How it is laid out; ``label_column`` is left out.
    block_tokens : int
        How many words make a block.

    Yields
    ------
    text : bytes
        Whole lines in UTF-8.
    X : TokenColumns
        The sentences in these lines.
    """
    from skcw.data import iter_blocks

    layout = {**reading_options(options), **chosen_columns(options)}
    for text, columns in iter_blocks(
        input_of(name), block_tokens=block_tokens, **layout
    ):
        label = options.label_column
        if label is not None and "columns" not in layout and columns.n_tokens:
            columns, _ = split_labels(columns, label, name)
        yield text, columns


def labelled_blocks(name, options):
    """Yield sentences and their labels, block by block.

    Parameters
    ----------
    name : str
        The file, or "-".
    options : argparse.Namespace
        How it is laid out.

    Yields
    ------
    X : TokenColumns
        The columns for the features.
    y : ndarray of object
        A list of labels for each sentence.
    """
    from skcw.data import iter_columns

    label = label_column(options)
    chosen = chosen_columns(options, label)
    layout = {**reading_options(options), **chosen}
    for columns in iter_columns(input_of(name), block_tokens=BLOCK_TOKENS, **layout):
        yield split_labels(columns, -1 if chosen else label, name)
