"""Malformed feature lines, templates of CRF++, and columns to extract features from.

``python -m tests.fuzz.feature_lines --cases 100000 --seed 1`` is the long run.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from skcw.features import WindowFeatures, read_template
from tests.fuzz.inputs import sentences
from tests.fuzz.isolation import long_run
from tests.fuzz.mutators import mutated, mutated_call, pick

LINES = (
    "word[-1..1]",
    "word[0] & word[1]",
    "lower[-1,1]",
    "prefix(1..4)",
    "prefix(word, 3)",
    "suffix(3)[0]",
    "shape[-1] & shape[0]",
    "short_shape",
    "ngrams(2..3)",
    'matches("^[A-Z]")',
    "in(names)[0]",
    "bigram(word)[-1..0]",
    "has_digit & first_capital",
    "bias",
    "first",
    "U01:%x[-1,0]/%x[0,0]",
)
# Pieces of lines: what a slip of the hand puts somewhere.
PIECES = (*"[](),.&|\"' \\-+*?0123456789^$", "..", "word", "lower", "99999999999", "é")
PIECES += ("\0", "\ud800", "#", "%x[0,0]", "U00:", "[-99..99]", "(a+)+$", "{1,9999}")
TEMPLATE = "# Unigram\nU00:%x[-1,0]\nU01:%x[0,0]/%x[1,0]\nU02:%x[0,1]\n\nB\n"


def scrambled(text, rng):
    """Return a text with pieces put in, taken out or exchanged."""
    for _ in range(rng.integers(1, 4)):
        at = rng.integers(len(text) + 1)
        width = rng.integers(4)
        text = text[:at] + pick(rng, PIECES) + text[at + width :]
    return text


def line_case(seed):
    """Extract features by changed lines."""
    rng = np.random.default_rng(seed)
    lines = [pick(rng, LINES) for _ in range(rng.integers(1, 4))]
    lines[0] = scrambled(lines[0], rng)
    features = WindowFeatures(lines, lexicons={"names": ["Ann", "Bob"]})
    batch = features.fit_transform(sentences()[0])
    return [batch.indices, features.transform([["Eve", ""]]).indices]


def set_case(seed):
    """Extract features from changed sentences, with changed parameters."""
    rng = np.random.default_rng(seed)
    names = ("features", "columns", "lexicons", "min_count", "n_features")
    params = mutated_call(rng, [], {}, names)[1] if rng.random() < 0.5 else {}
    features = WindowFeatures(**{"features": "ner", **params})
    X = [[(word, "X") for word in row] for row in sentences()[0]]
    X = pick(rng, (X, sentences()[0]))
    batch = features.fit_transform(mutated(X, rng) if rng.random() < 0.7 else X)
    return [batch.indices, features.transform(mutated(X, rng)).indices]


def template_case(seed):
    """Read a changed template of CRF++, and extract features by it."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "template")
        text = scrambled(TEMPLATE, rng)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        lines = read_template(path)
    X = [[(word, "X") for word in row] for row in sentences()[0]]
    return WindowFeatures(lines).fit_transform(X).indices


def groups():
    """Return all cases by name."""
    return {"lines": line_case, "sets": set_case, "templates": template_case}


if __name__ == "__main__":
    sys.exit(long_run(__doc__, groups, 100_000))
