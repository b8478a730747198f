"""``skcw tag``: label a file or standard input of any size."""

import codecs
import os
import sys
from contextlib import contextmanager
from itertools import chain, repeat

from skcw.cli._files import written
from skcw.cli._messages import progress_bar
from skcw.cli._options import (
    LEARNT_COLUMNS,
    add_json,
    add_label_column,
    add_quiet,
    add_reading,
    add_scheme,
    command_parser,
    positive,
    share,
)
from skcw.cli._text import add_text

TEXT = """\
Label each word of a column file and write the file again, with the labels as one more
column. Comments, empty lines and all other columns stay as they are. Memory does not
grow with the file, so a pipe may run for days.

The file needs the columns that the model has learnt from, in the same order; columns
after them, such as true labels, are ignored. If a column of true labels comes before
others, leave it out: `--label-column 1`.

examples:
  skcw tag names.skcw new.conll -o tagged.conll
  skcw tag names.skcw new.conll --confidence --nbest 3
  zcat news.gz | skcw tag names.skcw | grep B-PER
  skcw tag names.skcw test.conll | skcw evaluate
  skcw tag names.skcw new.conll --accept | grep -w review
  skcw tag names.skcw --text letter.txt --json
"""

# Stands where there is no such labeling, and in lines of CoNLL-U that are not words.
NO_VALUE = "_"
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
# What may follow the last column of a line.
ENDS = "\r \t"


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(
        commands, "tag", run, "label a file, or standard input", TEXT
    )
    parser.add_argument("model", metavar="MODEL", help="what `skcw train` has written")
    parser.add_argument(
        "input",
        nargs="?",
        default="-",
        metavar="FILE",
        help="the file to label, also compressed by gzip (default: standard input)",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="where to write, compressed if it ends in .gz (default: standard output)",
    )
    parser.add_argument(
        "-c",
        "--confidence",
        action="store_true",
        help="after the label, add a column with the confidence of the model in it",
    )
    parser.add_argument(
        "-n",
        "--nbest",
        type=positive,
        default=1,
        metavar="N",
        help="add one column for each of the 2nd to Nth best labelings of a sentence, "
        "after label, confidence and accept or review",
    )
    _add_accepting(parser)
    add_text(parser)
    add_json(parser)
    parser.add_argument(
        "--sentence-buffered",
        action="store_true",
        help="write each sentence as soon as it is complete, the default on a terminal",
    )
    add_label_column(
        parser,
        "leave out this column, which holds true labels; the first is 0, the last -1",
    )
    add_scheme(parser, "convert the labels to this scheme")
    add_quiet(parser)
    add_reading(parser, LEARNT_COLUMNS)


def _add_accepting(parser):
    parser.add_argument(
        "-a",
        "--accept",
        action="store_true",
        help="add a column that says accept or review, and sum up on standard error "
        "what is promised: for models trained with --calibrate",
    )
    parser.add_argument(
        "--accept-risk",
        type=share,
        metavar="RISK",
        help="the same by the promise for this risk (default: the first one made)",
    )


def run(options):
    """Tag."""
    _import_numpy()
    if options.text:
        from skcw.cli._text import tag_text

        tag_text(options)
        return
    from skcw.cli._blocks import BLOCK_TOKENS, raw_blocks
    from skcw.cli._corpus import open_model

    features, ask, selection = open_model(options.model)
    acceptance = _acceptance(selection, options)
    prompt = options.sentence_buffered or (options.input == "-" and sys.stdin.isatty())
    blocks = raw_blocks(options.input, options, 1 if prompt else BLOCK_TOKENS)
    echo = Echo(options)
    with written(options.output) as file, _progress(options) as count:
        for text, X in _checked(blocks, features, options):
            answers = ask(X) if X.n_tokens else None
            columns = _added_columns(answers, options, acceptance) if answers else []
            numbers = X.lines.tolist() if columns else []
            file.write(echo.block(text, numbers, columns))
            # A block is large, or someone waits for it.
            file.flush()
            count(X.n_tokens)
    if acceptance is not None:
        acceptance.report(options.command)


def _acceptance(selection, options):
    """Return what marks words, or None if nobody asked for it."""
    if not options.accept and options.accept_risk is None:
        return None
    from skcw.cli._promises import Acceptance

    return Acceptance(selection, options.accept_risk)


def _import_numpy():
    """Import NumPy without threads for linear algebra, which tagging has no use for.

    OpenBLAS starts one per core as soon as it is loaded, and each spins for a while.
    """
    if BLAS_THREADS in os.environ:
        return
    os.environ[BLAS_THREADS] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        # It was read; what this process starts is not bound by it.
        del os.environ[BLAS_THREADS]


@contextmanager
def _progress(options):
    """Give a function that counts words on standard error, if someone looks at it."""
    # A bar among the labels on the same screen would be no help.
    among = options.output == "-" and sys.stdout.isatty()
    if options.quiet or among or not sys.stderr.isatty():
        # What shows nothing need not be imported.
        yield lambda n_words: None
        return
    with progress_bar(unit=" words", unit_scale=True) as bar:
        yield bar.update


def _checked(blocks, features, options):
    """Yield blocks; the first with words tells whether the file suits the model."""
    from skcw.cli._column_checks import check_file

    besides = "" if options.label_column is None else " besides the labels"
    checked = False
    for text, X in blocks:
        if X.n_tokens and not checked:
            check_file(features, X, options.input, "tag", besides)
            checked = True
        yield text, X


def _added_columns(answers, options, acceptance=None):
    """Return the columns to add: a list of strings for each, one per word."""
    from skcw.cli._corpus import rescheme

    flat = chain.from_iterable
    columns = [list(flat(rescheme(answers.labels(), options)))]
    if options.confidence:
        columns.append(_as_text(answers.confidence()))
    if acceptance is not None:
        columns.append(acceptance.marks(answers))
    if options.nbest > 1:
        ranked = answers.nbest(options.nbest)
        for rank in range(1, options.nbest):
            columns.append(list(flat(_ranked(ranked, answers.lengths, rank, options))))
    return columns


def _as_text(rows):
    """Return the numbers of all rows in a list, with eight digits after the point.

    Most labels of a good tagger have more than 0.9999, so four would not rank them.
    """
    import numpy as np

    numbers = np.concatenate(rows)
    if ((numbers >= 0) & (numbers <= 1)).all():
        return _probabilities_as_text(numbers)
    return [format(number, ".8f") for number in numbers.tolist()]


def _probabilities_as_text(numbers):
    """Return numbers from 0 to 1 with eight digits, two at a time: twice as fast."""
    import numpy as np

    two_digits = np.array([b"%02d" % number for number in range(100)])
    rest = np.rint(1e8 * numbers).astype(np.int64)
    pairs = np.empty((len(numbers), 5), dtype="S2")
    for place in (4, 3, 2, 1):
        rest, last = np.divmod(rest, 100)
        pairs[:, place] = two_digits[last]
    pairs[:, 0] = np.where(rest > 0, b"1.", b"0.")
    text = pairs.tobytes().decode("ascii")
    return [text[start : start + 10] for start in range(0, len(text), 10)]


def _ranked(ranked, lengths, rank, options):
    """Yield the labels of each sentence in its labeling of this rank."""
    from skcw.cli._corpus import rescheme

    for labelings, length in zip(ranked, lengths.tolist(), strict=True):
        if rank < len(labelings):
            yield rescheme([labelings[rank][0]], options)[0]
        else:
            yield [NO_VALUE] * length


class Echo:
    r"""Gives back the lines of a file with columns added.

    Parameters
    ----------
    options : argparse.Namespace
        With ``separator``, ``encoding`` and ``conllu``.

    Examples
    --------
    >>> from argparse import Namespace
    >>> from skcw.cli._tag import Echo
    >>> echo = Echo(Namespace(separator=None, encoding="utf-8", conllu=False))
    >>> echo.block(b"# one\nAnn NNP\n\n", [2], [["B-PER"], ["0.9"]])
    b'# one\nAnn NNP B-PER 0.9\n\n'
    """

    def __init__(self, options):
        self.separator = options.separator
        # It writes a byte order mark once, where the encoding has one.
        self.encoder = codecs.getincrementalencoder(options.encoding)()
        self.conllu = options.conllu
        self.before = 1

    def block(self, text, numbers, columns):
        """Return a block of lines with the columns added to some of them.

        Parameters
        ----------
        text : bytes
            Whole lines in UTF-8.
        numbers : list of int
            The lines that hold words, counted from the beginning of the file.
        columns : list of list of str
            What to add to them.

        Returns
        -------
        lines : bytes
            The lines in the encoding of the file.
        """
        # The last line may lack its newline; only then is the last piece not empty.
        lines = text.decode("utf-8").split("\n")
        if columns:
            self._add(lines, numbers, columns)
        self.before += len(lines) - 1
        return self.encoder.encode("\n".join(lines))

    def _add(self, lines, numbers, columns):
        first = self.before
        if self.separator is None:
            self.separator = _separator_of(lines[numbers[0] - first])
        join = self.separator.join
        if self.conllu:
            _fill_up(lines, self.separator + join([NO_VALUE] * len(columns)))
        # Each begins with a separator.
        added = map(join, zip(repeat("", len(numbers)), *columns, strict=True))
        # Blanks at the end separate nothing; a TAB there would be a column.
        loose = " \t" if self.separator == " " else ""
        for number, further in zip(numbers, added, strict=True):
            line = lines[number - first]
            if line[-1] in ENDS:
                words = line.rstrip("\r")
                further += line[len(words) :]
                line = words.rstrip(loose)
            lines[number - first] = line + further


def _separator_of(line):
    """Return what separates the columns of a file with this line."""
    blank = " " in line.strip(" \r") and "\t" not in line
    return " " if blank else "\t"


def _fill_up(lines, filling):
    """Add empty columns to the lines of CoNLL-U that are ranges and empty nodes."""
    for at, line in enumerate(lines):
        number = line.partition("\t")[0]
        if "\t" in line and ("-" in number or "." in number):
            words = line.rstrip("\r")
            lines[at] = words + filling + line[len(words) :]
