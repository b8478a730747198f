"""Global features: functions of users, lexicon, thresholds, odd input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw.data.schemes import extract_spans
from skcw.exceptions import WordlessWarning
from skcw.reranking import GlobalFeatures
from skcw.reranking.global_features import (
    PAPER_TEMPLATES,
    SentenceView,
    entity_strings,
    type_strings,
)
from skcw.reranking.words import (
    find_word_prefix,
    first_columns,
    lower_case_lexicon,
    words_of_features,
)
from tests.reference.ranking import quotation_strings

X = [["She", "met", "Ann", "Lee"], ["Ann", "left"]]
NBEST = [
    [(["O", "O", "B-P", "I-P"], -0.2), (["O", "O", "B-P", "O"], -2.0)],
    [(["B-P", "O"], -0.1), (["O", "O"], -3.0)],
]


def names_of(features, lists):
    """Return the names of the features of every candidate."""
    return [
        [features.feature_names(lists, i, j) for j in range(n)]
        for i, n in enumerate(lists.lengths.tolist())
    ]


def test_features_of_a_candidate_are_those_of_its_entities():
    features = GlobalFeatures(PAPER_TEMPLATES, min_count=1)
    lists = features.fit_transform(X, NBEST)
    found = names_of(features, lists)
    view = SentenceView(X[0], features.lexicon_)
    wanted = {f"P {name}" for name in entity_strings(view, 2, 4)}
    assert set(found[0][0]) == wanted
    assert found[1][1] == []


def test_transform_leaves_unknown_features_out():
    features = GlobalFeatures(min_count=1).fit(X, NBEST)
    new = features.transform([["Bob", "met", "Ann", "Lee"]], NBEST[:1])
    assert new.n_features == len(features.vocabulary_)
    found = names_of(features, new)[0][0]
    assert "P WE=Ann Lee" in found
    assert not any("Bob" in name for name in found)


def test_sentences_may_come_as_a_stream():
    features = GlobalFeatures(min_count=1).fit(iter(X), iter(NBEST))
    whole, stream = (
        features.transform(X, NBEST),
        features.transform(iter(X), iter(NBEST)),
    )
    np.testing.assert_array_equal(whole.indices, stream.indices)
    with pytest.raises(ValueError, match="one ends before sentence 1"):
        features.transform(iter(X), iter(NBEST[:1]))


def test_rare_features_are_left_out_by_the_number_of_their_sentences():
    features = GlobalFeatures(min_count=2)
    lists = features.fit_transform(X, NBEST)
    # Both candidates of the first sentence have it, and the second sentence too.
    assert "P PF=Aa" in features.vocabulary_.names()
    # Two candidates of one sentence are not two sentences.
    assert "P BO00=met Ann" not in features.vocabulary_.names()
    assert lists.n_features == len(features.vocabulary_)


def test_a_labeling_that_comes_twice_is_kept_once():
    nbest = [[*NBEST[0], (["O", "O", "B-P", "I-P"], -5.0)], NBEST[1]]
    lists = GlobalFeatures(min_count=1).fit_transform(X, nbest)
    assert lists.lengths.tolist() == [2, 2]
    assert lists.scores.tolist() == [-0.2, -2.0, -0.1, -3.0]


def test_the_lexicon_is_learned_or_given():
    rows = [["The", "the", "the", "Ann"], ["ann", "Ann", "IBM"]]
    assert lower_case_lexicon(rows) == {"the"}
    assert GlobalFeatures().fit(X, NBEST).lexicon_ == {"met", "left"}
    assert GlobalFeatures(lexicon=["ann"]).fit(X, NBEST).lexicon_ == {"ann"}


def length_of_names(tokens, labels):
    return [f"{s.label} length={s.end - s.start}" for s in extract_spans(labels)]


def test_a_function_of_the_user_adds_features():
    features = GlobalFeatures((), functions=[length_of_names], min_count=1)
    lists = features.fit_transform(X, NBEST)
    assert names_of(features, lists) == [
        [["P length=2"], ["P length=1"]],
        [["P length=1"], []],
    ]


def test_a_function_sees_the_tokens_as_they_are():
    tokens = [[("She", "PRP"), ("met", "VBD"), ("Ann", "NNP"), ("Lee", "NNP")]]

    def tags(tokens, labels):
        return [f"pos={tag}" for _, tag in tokens[:1]]

    features = GlobalFeatures((), functions=[tags], min_count=1)
    lists = features.fit_transform(tokens, NBEST[:1])
    assert names_of(features, lists)[0][0] == ["pos=PRP"]


def test_a_function_may_return_nothing():
    nothing = [lambda tokens, labels: None, lambda tokens, labels: ()]
    lists = GlobalFeatures((), functions=nothing).fit_transform(X, NBEST)
    assert lists.n_features == 0


def test_a_function_may_return_one_string():
    features = GlobalFeatures((), functions=[lambda t, y: "one"], min_count=1)
    features.fit(X, NBEST)
    assert features.vocabulary_.names() == ["one"]


def test_a_function_that_raises_is_named_with_the_sentence():
    def fails_on_short(tokens, labels):
        return [tokens[3]]

    features = GlobalFeatures(functions=[fails_on_short])
    with pytest.raises(ValueError, match="fails_on_short failed on sentence 1"):
        features.fit_transform(X, NBEST)
    assert not hasattr(features, "vocabulary_")


def test_a_function_that_returns_no_strings_is_named_with_the_sentence():
    def numbers(tokens, labels):
        return [3]

    with pytest.raises(TypeError, match="numbers returned 3 for sentence 0"):
        GlobalFeatures(functions=[numbers]).fit_transform(X, NBEST)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"templates": ["words"]}, ValueError, "no templates 'words'"),
        ({"functions": ["f"]}, TypeError, "cannot be called"),
        ({"min_count": 0}, ValueError, "min_count"),
        ({"lexicon": "abc"}, TypeError, "lexicon is 'abc'; give a list or set"),
        ({"lexicon": ["a", 3]}, TypeError, "lexicon holds 3"),
        ({"lexicon": iter(["a"])}, TypeError, "give a list or set"),
    ],
)
def test_bad_parameters_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        GlobalFeatures(**arguments).fit(X, NBEST)


@pytest.mark.parametrize(
    ("nbest", "message"),
    [
        (NBEST[:1], "2 .*1"),
        ([NBEST[0], []], "sentence 1 has no candidate"),
        ([NBEST[0], [(["O"], 0.0)]], "sentence 1 has 2 tokens"),
        ([NBEST[0], [(["O", "O"], np.nan)]], "list 1, candidate 0"),
    ],
)
def test_lists_that_do_not_fit_are_named(nbest, message):
    with pytest.raises(ValueError, match=message):
        GlobalFeatures().fit_transform(X, nbest)


@pytest.mark.parametrize("token", [None, {"word": "Ann"}, 3.5, (), [None]], ids=str)
def test_tokens_without_a_word_are_named(token):
    rows = [X[0], [X[1][0], token]]
    with pytest.raises(TypeError, match=r"sentence 1, token 1 is .* neither a word"):
        GlobalFeatures().fit_transform(rows, NBEST)
    fitted = GlobalFeatures(min_count=1).fit(X, NBEST)
    with pytest.raises(TypeError, match=r"sentence 1, token 1 is .* neither a word"):
        fitted.transform(rows, NBEST)


@pytest.mark.parametrize("candidate", ["OO", ["O", "O"], (["O", "O"],), ("OO", 0.0)])
def test_candidates_are_pairs_of_labels_and_score(candidate):
    with pytest.raises(TypeError, match=r"sentence 1 holds .* not pairs \(labels"):
        GlobalFeatures().fit_transform(X, [NBEST[0], [candidate]])


def test_templates_of_types_see_words_and_neighbors():
    assert type_strings(["the", "New", "York", "Times", "said"], 1, 4) == [
        *["FW=New", "N=3", "IW=New", "IW=York", "IW=Times"],
        *["FP2=ne", "FS2=ew", "FP3=new", "FS3=new", "FP4=new", "FS4=new"],
        *["LP2=ti", "LS2=es", "LP3=tim", "LS3=mes", "LP4=time", "LS4=imes"],
        *["B1=the", "B=the", "A1=said", "A=said"],
    ]
    nbest = [[(["B-P", "O", "B-L", "B-P"], 0.0)]]
    features = GlobalFeatures(["types"], min_count=1).fit([["a"] * 4], nbest)
    names = features.vocabulary_.names()
    assert {n for n in names if n.startswith("TT=")} == {"TT=P L", "TT=L P"}
    features = GlobalFeatures(["types"], min_count=1).fit(X, NBEST)
    names = features.vocabulary_.names()
    assert "P FW=Ann" in names and not any("WE=" in name for name in names)


WORD = st.text(alphabet='aZ1"“”.é', max_size=3)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(
        st.tuples(WORD, st.sampled_from(["O", "B-P", "I-P", "B-L", "I-L"])),
        max_size=8,
    )
)
def test_templates_read_any_words_and_labels(pairs):
    words, labels = [w for w, _ in pairs], [y for _, y in pairs]
    view, spans = SentenceView(words, {"a"}), extract_spans(labels)
    for span in spans:
        n = span.end - span.start
        found = entity_strings(view, span.start, span.end)
        assert len(found) == 5 + 8 + 32 + 4 * n
        assert all(isinstance(name, str) for name in found)
    n_quotations = sum(word in ('"', "“", "”") for word in words) // 2
    found = quotation_strings(view, labels, spans)
    assert len([f for f in found if f.startswith("QF=")]) == n_quotations


def test_words_are_read_from_features():
    rows = [["Ann", ["w=Bob", "x"], {"w=C": 1.0}, {"w": "D"}, ["x", "y"], []]]
    assert words_of_features(rows, None) == [["Ann", "", "w=C", "w:D", "", ""]]
    assert words_of_features(rows, "w=") == [["", "Bob", "C", "", "", ""]]
    assert words_of_features([np.zeros((2, 3))], "w=") == [["", ""]]
    assert first_columns([["Ann", ("Bob", "NNP")]]) == [["Ann", "Bob"]]


@pytest.mark.parametrize(
    ("tokens", "prefix"),
    [
        (["Ann", "left"], None),
        ([["bias", "w=Ann", "w-1=^"], ["w=left", "w-1=Ann"]], "w="),
        ([["word[0]=Ann", "w=Ann"], ["w=left", "word[0]=left"]], "word[0]="),
        ([{"bias": 1.0, "word": "Ann"}, {"word": "left", "caps": 0.0}], "word:"),
        (np.zeros((2, 3)), None),
        ([], None),
    ],
    ids=str,
)
def test_the_feature_with_the_word_is_found_by_its_name(tokens, prefix):
    assert find_word_prefix([tokens]) == prefix


def test_features_without_a_word_are_a_warning_and_a_wrong_prefix_an_error():
    rows = [[{"word.lower()": "ann", "bias": 1.0}, {"word.lower()": "left"}]]
    with pytest.warns(WordlessWarning, match=r"set word_prefix .*'word.lower\(\):ann'"):
        assert find_word_prefix(rows) is None
    assert find_word_prefix(rows, "word.lower():") == "word.lower():"
    with pytest.raises(ValueError, match="no feature begins with word_prefix='w='"):
        find_word_prefix(rows, "w=")
