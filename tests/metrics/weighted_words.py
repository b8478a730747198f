"""Words with confidences, outcomes and weights, as the tests of scores draw them."""

import numpy as np
from hypothesis import strategies as st

# Few levels make ties, and all of them are fractions that floats hold exactly.
LEVELS = st.integers(0, 8).map(lambda eighths: eighths / 8)
CONFIDENCES = st.one_of(LEVELS, st.floats(0, 1))
WEIGHTS = st.integers(0, 3)


def words_of(confidence, weight=WEIGHTS, max_size=40):
    """Return a strategy of lists of (confidence, right, weight), not all weightless."""
    word = st.tuples(confidence, st.booleans(), weight)
    words = st.lists(word, min_size=1, max_size=max_size)
    return words.filter(lambda drawn: any(w for _, _, w in drawn))


WORDS = words_of(CONFIDENCES)
TIED_WORDS = words_of(LEVELS)


def columns(words):
    """Return outcomes, confidences and weights as arrays."""
    confidence, correct, weight = zip(*words, strict=True)
    return np.array(correct), np.array(confidence), np.array(weight, dtype=float)


def repeated(words):
    """Return outcomes and confidences with each word as often as it weighs."""
    correct, confidence, weight = columns(words)
    times = weight.astype(int)
    return np.repeat(correct, times), np.repeat(confidence, times)
