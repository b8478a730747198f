"""Command lines that nobody should write, on files that nobody should have.

``python -m tests.fuzz.command_lines`` runs twenty thousand of them.
"""

import functools
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

from skcw.cli import main
from skcw.cli.main import make_parsers
from skcw.datasets import make_tagged_corpus
from skcw.io import write_columns
from tests.fuzz.isolation import long_run
from tests.fuzz.model_files import write_mutated
from tests.fuzz.saved_models import saved_model

COMMANDS = ["train", "tag", "evaluate", "compare", "inspect", "check"]
MODELS = ["pipeline", "pipeline hashed", "pipeline HMM", "selective pipeline", "CW"]
# An option in the usage of a command, with the name of its value if it has one.
OPTION = re.compile(r"\[(--?[a-z][a-z-]*)(?: ([^\]|]+))?")
VALUES = [
    "", "-", "--", "0", "1", "-1", "2", "1e3", "nan", "inf", "9" * 400, "out", "folder",
    "missing/out", "word", "word[-2..2]", 'matches("(a+)+$")', 'matches("a{999999}")',
    "bigram(" * 50, "cw", "crf", "hmm", "BIO", "IOBES", "utf-8", "utf-16", "latin-1",
    "rot13", "\t", " ", "ab", "#", "phi=1", "phi=nan", "max_iter=1", "x=y=z", "=",
    "a:b", "word,pos,ner", "0,1", "B-PER", "\x1b[2J", "\udc80", "\0", "ner", "pos",
    "train.conll", "broken.conll", "model", "/dev/null", "/dev/full", "a=train.conll",
]  # fmt: skip
FILES = ["model", "train.conll", "new.conll", "broken.conll", "empty", "folder"]
SENSIBLE = [
    ["train", "train.conll", "-o", "out", "--passes", "1"],
    ["train", "broken.conll", "-o", "out", "--passes", "1"],
    ["tag", "model", "new.conll"],
    ["tag", "model", "broken.conll", "--confidence"],
    ["evaluate", "model", "train.conll"],
    ["inspect", "model"],
    ["check", "train.conll", "--folds", "2"],
]
# What is at the command line's own discretion: it prints usage and leaves.
USAGE, DATA, FINE = 2, 1, 0
BROKEN_PIPE, INTERRUPTED = 141, 130
# Many folds, threads or passes would be as asked for, and slow.
COSTLY = {"--passes", "--folds", "--nbest", "--models", "--top", "--sentences"}


class WrongExitError(Exception):
    """A command ended in a way that its help does not tell of."""


@functools.cache
def _options(command):
    """Return the options of a command, and whether each takes a value."""
    usage = make_parsers()[1][command].format_usage() if command in COMMANDS else ""
    found = [(name, bool(value)) for name, value in OPTION.findall(usage)]
    return [*found, ("--no-such", False)]


def _arguments(rng):
    """Return a random command line."""
    words = [COMMANDS[rng.integers(len(COMMANDS))]]
    if rng.random() < 0.02:
        words = [VALUES[rng.integers(len(VALUES))]]
    if rng.random() < 0.7:
        words = list(SENSIBLE[rng.integers(len(SENSIBLE))])
    else:
        for _ in range(rng.integers(0, 4)):
            words.append(FILES[rng.integers(len(FILES))])
    for _ in range(rng.integers(0, 4)):
        options = _options(words[0])
        option, has_value = options[rng.integers(len(options))]
        value = VALUES[rng.integers(len(VALUES))]
        if option in COSTLY and value.isdigit():
            value = "2"
        # Now and then a value is missing, or there is one where none belongs.
        if has_value == (rng.random() < 0.05):
            words.append(option)
        else:
            words += [option, value] if rng.random() < 0.8 else [f"{option}={value}"]
    if words[0] == "compare" and not any(w.endswith(".conll") for w in words):
        # The built-in corpus takes all learners half a minute.
        words.append("broken.conll")
    return words


@functools.cache
def _corpus():
    corpus = make_tagged_corpus(8, random_state=2)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "train.conll")
        write_columns(path, corpus.tokens, corpus.labels)
        return path.read_bytes()


def _fill(folder, rng, seed):
    """Write the files that command lines name, some of them damaged."""
    text = _corpus()
    (folder / "train.conll").write_bytes(text)
    (folder / "new.conll").write_bytes(text[: rng.integers(len(text))])
    damaged = bytearray(text)
    for at in rng.integers(len(damaged), size=20):
        damaged[at] = int(rng.integers(256))
    (folder / "broken.conll").write_bytes(bytes(damaged))
    (folder / "empty").touch()
    (folder / "folder").mkdir(exist_ok=True)
    whole = saved_model(MODELS[rng.integers(len(MODELS))])
    if rng.random() < 0.5:
        (folder / "model").write_bytes(whole)
    else:
        write_mutated(whole, seed, folder / "model")


def run_command(words, seed):
    """Return the exit code of a command line, and which drafts it left behind.

    Parameters
    ----------
    words : list of str
        The command line; files are in the current folder.
    seed : int
        Chooses how the files are damaged.

    Returns
    -------
    code : int or None
        What the process would end with.
    drafts : list of str
        Should be empty.
    """
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        _fill(folder, np.random.default_rng(seed), seed)
        os.chdir(folder)
        try:
            code = main(words)
        except SystemExit as left:
            code = left.code
        finally:
            os.chdir(before)
        return code, [path.name for path in folder.iterdir() if ".draft" in path.name]


def case(seed):
    """Run a command line; only what its help tells may come of it."""
    words = _arguments(np.random.default_rng([seed, 1]))
    code, drafts = run_command(words, seed)
    if code not in (FINE, DATA, USAGE, INTERRUPTED, BROKEN_PIPE, None) or drafts:
        raise WrongExitError(f"{code} {drafts} by {words}")


# An error of Python instead of a line is what must not happen.
OPTIONS = {"documented": ()}

if __name__ == "__main__":
    sys.exit(long_run(__doc__, lambda: {"command lines": case}, 20_000, **OPTIONS))
