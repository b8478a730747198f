"""Reranking by hand: the examples of Collins (2002), and a round of boosting."""

import numpy as np

from skcw.data.schemes import extract_spans
from skcw.features.basic import cased_kind, collapsed_shape
from skcw.reranking import BoostingReranker, VotedPerceptronReranker
from skcw.reranking.global_features import (
    SentenceView,
    entity_strings,
)
from tests.reference.ranking import quotation_strings

# Section 3.1; S, C and N of the paper are B, I and O.
TEXT = (
    "Whether you ' re an aging flower child or a clueless Gen Xer , “ The Day They "
    "Shot John Lennon , ” playing at the Dougherty Arts Center , entertains the "
    "imagination ."
)
WORDS = TEXT.split(" ")
ENTITIES = [(11, 13), (15, 21), (26, 29)]
LEXICON = {"the", "animal", "a", "at", "day", "center"}


def labels(spans):
    found = ["O"] * len(WORDS)
    for start, stop in spans:
        found[start:stop] = ["B-E", *["I-E"] * (stop - start - 1)]
    return found


def test_shapes_are_those_of_section_2_2():
    assert collapsed_shape("Animal", cased_kind) == "Aa"
    assert collapsed_shape("G.M.", cased_kind) == "A.A."
    assert collapsed_shape("1998-B", cased_kind) == "0-A"


def test_whole_entities_are_those_of_section_3_1():
    view = SentenceView(WORDS, LEXICON)
    whole = [entity_strings(view, *entity)[0] for entity in ENTITIES]
    assert whole == [
        "WE=Gen Xer",
        "WE=The Day They Shot John Lennon",
        "WE=Dougherty Arts Center",
    ]


def test_the_templates_of_figure_1_are_complete():
    view = SentenceView(WORDS, LEXICON)
    found = entity_strings(view, 26, 29)
    values = dict(feature.split("=", 1) for feature in found)
    assert values["FF"] == "Aa Aa Aa"
    assert values["GF"] == "Aa0 Aa0 Aa1"
    assert (values["LW"], values["LWLC"]) == ("Center", "0")
    assert values["BO00"] == "the Dougherty"
    assert values["BO10"] == "a1 Dougherty"
    assert values["BE01"] == "Center ,0"
    assert values["TO000"] == "at the Dougherty"
    assert values["TO2101"] == "a1 Dougherty Aa0"
    assert values["TE010"] == "Arts Aa1 ,"
    assert values["TE2111"] == "Aa0 Aa0 Aa1"
    prefixes = [f for f in found if f.startswith(("PF=", "SF2="))]
    assert prefixes == [
        "PF=Aa",
        "PF=Aa Aa",
        "PF=Aa Aa Aa",
        "SF2=Aa1",
        "SF2=Aa1 Aa0",
        "SF2=Aa1 Aa0 Aa0",
    ]
    # 5 of the whole, 2 x 4 bigrams, 2 x 16 trigrams, 4 x 3 beginnings and ends.
    assert len(found) == 5 + 8 + 32 + 12


def test_null_stands_outside_of_the_sentence():
    view = SentenceView(["Ann"], set())
    found = entity_strings(view, 0, 1)
    assert "TO000=NULL NULL Ann" in found
    assert "BE11=Aa0 NULL" in found


def test_quotations_are_those_of_section_3_2():
    view = SentenceView(WORDS, LEXICON)
    y = labels(ENTITIES)
    found = quotation_strings(view, y, extract_spans(y))
    # The comma before the closing mark does not belong to the name.
    assert "QF=E 6 0 Aa1 Aa0" in found
    assert "QF2=E 1 Aa1 Aa0" in found
    (short,) = [f for f in found if f.startswith("Q=")]
    assert short.startswith("Q=“0 O Aa1 B-E Aa1 I-E")
    assert short.endswith(",0 O ”0 O")
    other = labels([(15, 17)])
    assert "QF2=0 1 Aa1 Aa0" in quotation_strings(view, other, extract_spans(other))


def test_a_long_quotation_has_no_strings_of_shapes():
    words = ['"', *["word"] * 12, '"']
    view, y = SentenceView(words, set()), ["O"] * 14
    found = quotation_strings(view, y, [])
    assert [f.split("=")[0] for f in found] == ["QF", "QF2"]


def test_one_round_of_boosting():
    """Figure 2 with three pairs, of which feature 0 is good in two and bad in one.

    Scores are equal, so that w0 does not matter: all margins are 0 and Z = 3. W+ = 2,
    W- = 1; without smoothing the step is log(2) / 2 and the loss 2 sqrt(2).
    """
    X = [[([0], 0.0), ([], 0.0)], [([0], 0.0), ([], 0.0)], [([0], 0.0), ([], 0.0)]]
    y = [[0, 1], [0, 1], [1, 0]]
    reranker = BoostingReranker(1, smoothing=1e-12, validation_fraction=None).fit(X, y)
    np.testing.assert_allclose(reranker.coef_, [np.log(2) / 2], rtol=1e-9)
    np.testing.assert_allclose(reranker.losses_, [2 * np.sqrt(2)], rtol=1e-9)


def test_smoothing_shortens_the_step():
    """W+ = 2, W- = 0, Z = 2, e = 0.1: the step is log((2 + .2) / .2) / 2."""
    X, y = [[([0], 0.0), ([], 0.0)]] * 2, [[0, 1]] * 2
    reranker = BoostingReranker(1, smoothing=0.1, validation_fraction=None).fit(X, y)
    np.testing.assert_allclose(reranker.coef_, [np.log(2.2 / 0.2) / 2], rtol=1e-12)


def test_votes_of_three_lists():
    """Figures 3 and 4: the second list is the first mistake, the third is right.

    The weights are 0 after the first list, then Phi(good) - Phi(bad) twice. So a new
    list with these candidates has one vote for the first (a tie) and two for the other.
    """
    X = [[([0], 0.0), ([1], 0.0)]] * 3
    y = [[0, 1], [1, 0], [1, 0]]
    reranker = VotedPerceptronReranker().fit(X, y)
    np.testing.assert_array_equal(reranker.votes_, [0, 1, 3])
    np.testing.assert_allclose(reranker.decision_function(X[:1])[0], [1 / 3, 2 / 3])
    np.testing.assert_allclose(reranker.coef_, [-2 / 3, 2 / 3])
