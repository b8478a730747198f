"""A hidden Markov model of three words, counted by hand.

"a b" is labeled A B, and "a" is A: P(A) = 2/3, P(B) = 1/3. With all smoothing one:
P(A | A) = (0 + 2/3)/2 = 1/3 and P(B | A) = 2/3; nothing follows B, so 2/3 and 1/3.
P(A | first) = (2 + 2/3)/3 = 8/9, P(A | last) = (1 + 2/3)/3 = 5/9.
P(A | a) = (2 + 2/3)/3 = 8/9, P(A | b) = (0 + 2/3)/2 = 1/3.

Over their priors: a is 4/3 for A and 1/3 for B; b 1/2 and 2; the end 5/6 and 4/3.
"a b" as A A: 8/9 * 4/3 * 1/3 * 1/2 * 5/6 = 80/486. In the same way A B 1024/486,
B A 5/486 and B B 16/486; 1125 in all.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skcw import HMMSequenceTagger

BY_HAND = 1e-12
X, Y = [["a", "b"], ["a"]], [["A", "B"], ["A"]]
ONES = dict.fromkeys(["word_smoothing", "class_smoothing", "transition_smoothing"], 1.0)


@pytest.fixture
def tagger():
    return HMMSequenceTagger("prior", **ONES).fit(X, Y)


def test_weights_are_logarithms_of_smoothed_shares(tagger):
    links = [[1 / 3, 2 / 3], [2 / 3, 1 / 3]]
    assert_allclose(np.exp(tagger.transition_coef_), links, rtol=BY_HAND)
    ends = [[8 / 9, 1 / 9], [5 / 6, 4 / 3]]
    assert_allclose(np.exp(tagger.border_coef_), ends, rtol=BY_HAND)
    assert_allclose(np.exp(tagger.coef_), [[4 / 3, 1 / 3], [1 / 2, 2]], rtol=BY_HAND)


def test_labelings_have_their_share_of_1125(tagger):
    (row,) = tagger.predict_nbest([["a", "b"]], 9)
    assert ["".join(labels) for labels, _ in row] == ["AB", "AA", "BB", "BA"]
    shares = np.array([1024, 80, 16, 5]) / 1125
    assert_allclose(np.exp([score for _, score in row]), shares, rtol=BY_HAND)


def test_marginals_add_labelings_up(tagger):
    (row,) = tagger.predict_marginals([["a", "b"]])
    assert_allclose([row[0]["A"], row[1]["B"]], [1104 / 1125, 1040 / 1125])
    (sure,) = tagger.predict_confidence([["a", "b"]])
    assert_allclose(sure, [1104 / 1125, 1040 / 1125], rtol=BY_HAND)


def test_a_new_word_is_labeled_by_its_place(tagger):
    # The only word is first and last: A 8/9 * 5/6 = 20/27, B 1/9 * 4/3 = 4/27.
    (sure,) = tagger.predict_confidence([["?"]])
    assert_allclose(sure, [20 / 24], rtol=BY_HAND)


def test_a_new_word_is_like_the_distinct_words():
    # a votes A and b votes B: (1 + 2/3)/3 = 5/9 and 4/9, over the priors 5/6 and 4/3.
    # A 20/27 * 5/6 = 50/81, B 4/27 * 4/3 = 16/81.
    tagger = HMMSequenceTagger("vocabulary", **ONES).fit(X, Y)
    (sure,) = tagger.predict_confidence([["?"]])
    assert_allclose(sure, [50 / 66], rtol=BY_HAND)


def test_a_new_word_is_like_those_of_its_shape():
    # Ann and Bob vote N, runs votes V; of all words (2 + 2/3)/4 = 2/3 are N, of those
    # with a capital (2 + 2/3)/3 = 8/9, of the shape Aa (2 + 8/9)/3 = 26/27; none ends
    # in m. One word: N and V alike first and last, so that P = 26/27.
    words, labels = [["Ann"], ["Bob"], ["runs"]], [["N"], ["N"], ["V"]]
    tagger = HMMSequenceTagger(**ONES).fit(words, labels)
    (sure,) = tagger.predict_confidence([["Jim"]])
    assert_allclose(sure, [26 / 27], rtol=BY_HAND)


def test_other_spellings_of_the_same_letters_tell_more():
    # RUNS has a shape that none has, so (8/9, 1/9) from its capital; runs adds one V.
    words, labels = [["Ann"], ["Bob"], ["runs"]], [["N"], ["N"], ["V"]]
    tagger = HMMSequenceTagger(**ONES).fit(words, labels)
    assert tagger.predict([["RUNS"]])[0] == ["V"]
    (sure,) = tagger.predict_confidence([["RUNS"]])
    assert_allclose(sure, [(1 + 1 / 9) / 2], rtol=BY_HAND)
