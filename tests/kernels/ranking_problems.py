"""Random lists of candidates for the kernels that rank them."""

import numpy as np
from hypothesis import strategies as st

from skcw.reranking import CandidateLists

# Sums of such numbers are exact, so that ties are ties in any order of adding.
EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8)


@st.composite
def ranking_problems(draw, most_lists=6, most_candidates=4, n_features=5):
    """Return lists, their 0/1 matrix, and errors of the candidates."""
    sizes = draw(
        st.lists(st.integers(1, most_candidates), min_size=1, max_size=most_lists)
    )
    n = sum(sizes)
    bits = st.lists(st.integers(0, 1), min_size=n_features, max_size=n_features)
    dense = np.array(draw(st.lists(bits, min_size=n, max_size=n)))
    scores = np.array(draw(st.lists(EIGHTHS, min_size=n, max_size=n)))
    errors = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), float)
    return make_lists(sizes, dense, scores), dense, errors


def make_lists(sizes, dense, scores):
    """Return candidate lists from a 0/1 matrix."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    indptr = np.concatenate([[0], np.cumsum(dense.sum(axis=1))])
    return CandidateLists(offsets, scores, indptr, np.nonzero(dense)[1], dense.shape[1])


def random_lists(seed, n_lists=30, n_candidates=5, n_features=12):
    """Return lists with real scores, their 0/1 matrix and errors."""
    rng = np.random.RandomState(seed)
    n = n_lists * n_candidates
    dense = (rng.rand(n, n_features) < 0.4).astype(int)
    scores = -rng.exponential(2.0, size=n)
    errors = rng.randint(0, 4, size=n).astype(float)
    return make_lists([n_candidates] * n_lists, dense, scores), dense, errors
