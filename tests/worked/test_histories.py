"""Two words labeled one after the other by hand, as in a maximum-entropy tagger.

As factors: the first word gives A 1 and B 3, the second 1 and 1; after A the label A
has 2 and B 1, after B they have 1 and 4; after nothing and A, B has 2 more. So the
first label is A with 1/4, and B with 3/4. After A both are worth 2: 1/2 each; after B
they have 1/5 and 4/5. The labelings AA, AB, BA, BB have 1/8, 1/8, 3/20 and 3/5.
"""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from tests.kernels.test_beam import marginals, search

BY_HAND = 1e-12
NONE = -1
SCORES = np.log([[1.0, 3.0], [1.0, 1.0]])
PREVIOUS = np.log([[2.0, 1.0], [1.0, 4.0], [1.0, 1.0]])
# The rows are for A, B and the border two words before.
PAIR_ROW = np.array([[NONE] * 3, [NONE] * 3, [0, NONE, NONE]], dtype=np.int32)
PAIRS = np.log([[1.0, 2.0]])
MODEL = SCORES, PREVIOUS, PAIR_ROW, PAIRS


def test_the_labelings_rank_bb_ba_aa_ab():
    ((labels, total),) = search(*MODEL, 9)
    assert_array_equal(labels, [[1, 1], [1, 0], [0, 0], [0, 1]])
    assert_allclose(np.exp(total), [3 / 5, 3 / 20, 1 / 8, 1 / 8], rtol=BY_HAND)


def test_marginals_add_up_over_histories():
    expected = [[1 / 4, 3 / 4], [1 / 8 + 3 / 20, 1 / 8 + 3 / 5]]
    assert_allclose(marginals(*MODEL, 9), expected, rtol=BY_HAND)


def test_one_history_tells_of_the_best_beginning_only():
    # Only B goes on from the first word.
    expected = [[1 / 4, 3 / 4], [1 / 5, 4 / 5]]
    assert_allclose(marginals(*MODEL, 1), expected, rtol=BY_HAND)


def test_a_beam_of_one_is_led_up_the_garden_path():
    # A .4, B .6; after A .9 and .1, after B .5 and .5: AA with .36 beats BA with .3.
    scores = np.log([[0.4, 0.6], [1.0, 1.0]])
    previous = np.log([[0.9, 0.1], [0.5, 0.5], [1.0, 1.0]])
    rows = np.full((3, 3), NONE, dtype=np.int32)
    model = scores, previous, rows, np.zeros((0, 2))
    ((greedy, low),) = search(*model, 1)
    ((labels, high),) = search(*model, 2)
    assert_array_equal(greedy[0], [1, 0])
    assert_array_equal(labels[0], [0, 0])
    assert_allclose(np.exp([low[0], high[0]]), [0.3, 0.36], rtol=BY_HAND)
