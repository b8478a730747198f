"""Malformed column files, and malformed options for them.

``python -m tests.fuzz.column_files --cases 100000 --seed 1`` is the long run.
"""

import functools
import io
import sys
import tempfile
from pathlib import Path

import numpy as np

from skcw.io import iter_columns, read_columns, write_columns
from tests.fuzz.inputs import sentences
from tests.fuzz.isolation import DOCUMENTED, long_run
from tests.fuzz.mutators import mutated, mutated_call, pick

PLAIN = b"Ann NNP B-PER\nmet VBD O\nBob NNP B-PER\n\n-DOCSTART- -X- O\n\nhe PRP O\n"
CONLLU = (
    b"# text = Ann left\n1\tAnn\tAnn\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n"
    b"2\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\t_\n\n"
)
PIECES = (b"\0", b"\xff\xfe", b"\r", b"\r\n", b"\n\n", b"\t", b" ", b"\xc3", b"\xa0")
PIECES += (b"\xe2\x80\xa8", b"\xc2\x85", b"1-2\t", b"1.1\t", b"#", b"\x1c", b"\x0c")
PIECES += (b"x" * 5000, b"-DOCSTART-", b"B-PER", b"\xed\xa0", b"\xef\xbb\xbf")
OPTIONS = ("separator", "comment", "encoding", "skip_docstart", "conllu", "columns")
OPTIONS += ("names",)
ACCEPTED = {
    "separator": ("\t", " ", None, ","),
    "comment": ("auto", "#", None),
    "encoding": ("utf-8", "latin-1", "utf-16", "ascii", "cp1252"),
    "conllu": (True, False),
    "columns": ([0, 2], [0], ["word"], [-1]),
    "names": (["word", "pos", "label"], ["a"]),
}


# A file that is not there is the system's to report.
EXPECTED = (*DOCUMENTED, OSError)


def damaged(text, rng):
    """Return bytes with pieces put in, cut out or turned over."""
    for _ in range(rng.integers(0, 5)):
        at = rng.integers(len(text) + 1)
        kind = rng.integers(3)
        if kind == 0:
            text = text[:at] + pick(rng, PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.integers(9) :]
        else:
            text = text[:at] + bytes(rng.integers(0, 256, 2).tolist()) + text[at + 2 :]
    return text[: rng.integers(len(text) + 1)] if rng.random() < 0.1 else text


def odd_options(rng):
    """Return options, some of which make no sense."""
    given = {n: pick(rng, ACCEPTED[n]) for n in ACCEPTED if rng.random() < 0.25}
    if rng.random() < 0.5:
        given = mutated_call(rng, [], given, OPTIONS)[1]
    return given


def reading_case(seed):
    """Read a damaged file with some options, in one of three ways."""
    rng = np.random.default_rng(seed)
    text = damaged(pick(rng, (PLAIN * 2, CONLLU * 2)), rng)
    given = odd_options(rng)
    with_text = functools.partial(iter_columns, with_text=True)
    read = pick(rng, (read_columns, iter_columns, with_text))
    with tempfile.NamedTemporaryFile() as file:
        file.write(text)
        file.flush()
        found = read(file.name, **given)
        if read is not read_columns:
            found = list(found)
        return (
            [list(part) for part in found] if isinstance(found, list) else list(found)
        )


def open_case(seed):
    """Read an open file, of bytes or of text."""
    rng = np.random.default_rng(seed)
    text = damaged(PLAIN, rng)
    file = io.BytesIO(text)
    if rng.random() < 0.5:
        file = io.StringIO(text.decode("utf-8", "surrogateescape"))
    source = mutated([file], rng) if rng.random() < 0.2 else [file]
    source = source[0] if isinstance(source, list) and source else source
    return list(read_columns(source, **odd_options(rng)))


def writing_case(seed):
    """Write changed sentences and labels; what is written is read again."""
    rng = np.random.default_rng(seed)
    X = [[(word, "X") for word in row] for row in sentences()[0] if row]
    y = [row for row in sentences()[1] if row]
    args, given = mutated_call(rng, [X, y], {}, ["separator", "encoding"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "columns")
        write_columns(path, *args, **given)
        return list(read_columns(path, **given))


def groups():
    """Return all cases by name."""
    return {"files": reading_case, "open files": open_case, "writing": writing_case}


if __name__ == "__main__":
    sys.exit(long_run(__doc__, groups, 100_000, documented=EXPECTED))
