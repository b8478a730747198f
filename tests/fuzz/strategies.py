"""Strategies of hypothesis for what strangers may send; failures shrink to the core."""

import string

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.fuzz.command_lines import COMMANDS, FILES, SENSIBLE, VALUES
from tests.fuzz.mutators import NUMBERS

# Short texts of any kind, and those that mean something somewhere.
words = st.text(max_size=6) | st.sampled_from(["", "O", "B-PER", "\ud800", "\0", "\n"])
numbers = st.integers() | st.floats() | st.sampled_from(NUMBERS)
plain = st.none() | st.booleans() | numbers | words
json_values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def altered(draw, value, others=json_values):
    """Draw a copy of nested lists and dicts with something else at one place."""
    is_dict, is_list = isinstance(value, dict), isinstance(value, list)
    if not value or not (is_dict or is_list) or draw(st.integers(0, 4)) == 0:
        return draw(others)
    if is_dict:
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: draw(altered(value[key], others))}
    at = draw(st.integers(0, len(value) - 1))
    return [*value[:at], draw(altered(value[at], others)), *value[at + 1 :]]


# -- feature lines: the grammar of the language, with anything at its leaves ----------

_names = st.sampled_from(
    ["word", "lower", "prefix", "suffix", "shape", "ngrams", "matches", "bigram"]
    + ["has_digit", "bias", "first", "in", "length", "col1", "nonsense", ""]
)
_small = st.integers(-3, 12).map(str) | st.sampled_from(["99999999999", "-0", "1e3"])
_ranges = st.builds("{}..{}".format, _small, _small)
_quoted = st.text("ab(|)+*?[]{}^$.,1\\", max_size=8).map('"{}"'.format)
_arguments = st.lists(_small | _ranges | _quoted | _names, max_size=3)
_calls = st.builds("{}({})".format, _names, _arguments.map(", ".join))
_places = st.lists(_small | _ranges, max_size=3).map(",".join).map("[{}]".format)
_terms = st.builds("{}{}".format, _names | _calls, st.just("") | _places)
feature_lines = st.lists(_terms, min_size=1, max_size=3).map(" & ".join) | words

# -- files of columns ------------------------------------------------------------------

_cells = st.text(string.ascii_letters + "-#é\u2028\x85\x1c_", max_size=4)
_rows = st.builds(lambda cells, gap: gap.join(cells), st.lists(_cells, max_size=4),
                  st.sampled_from(["\t", " ", "  ", ","]))  # fmt: skip
column_texts = st.lists(_rows | st.just(""), max_size=8).map("\n".join) | st.text()

# -- sentences and rows ----------------------------------------------------------------

tokens = words | st.lists(words, max_size=3) | st.dictionaries(words, plain, max_size=3)
sentences = st.lists(st.lists(tokens, max_size=3) | json_values, max_size=4)
labels = st.lists(st.lists(words | plain, max_size=3), max_size=4)
rows = arrays(
    np.float64,
    st.tuples(st.just(6), st.integers(1, 3)),
    elements=st.floats(-1, 1) | st.floats() | st.sampled_from([1e12, 1e-300, 1e308]),
)
weights = st.none() | st.lists(
    st.floats(0, 3) | st.floats() | st.sampled_from(NUMBERS), min_size=6, max_size=6
)

# -- command lines ---------------------------------------------------------------------

_options = st.sampled_from(["--confidence", "-o", "--encoding", "--labels", "--quiet"])
_more = st.lists(_options | st.sampled_from([*VALUES, *FILES]), max_size=3)
_begins = st.sampled_from(SENSIBLE) | st.sampled_from(COMMANDS).map(lambda c: [c])
command_lines = st.builds(lambda begin, more: [*begin, *more], _begins, _more)
