"""What a line of features means, and what is said about one that means nothing."""

import pytest

from skcw.features import WindowFeatures
from skcw.features.language import ColumnNames, parse_line

SENTENCE = [("The", "DT"), ("McLeod-73", "NNP"), ("sat", "VBD")]


def features(line, token=1, sentence=SENTENCE, **parameters):
    batch = WindowFeatures([line], **parameters).fit_transform([sentence])
    return batch.to_lists()[0][token]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("word", ["word[0]=McLeod-73"]),
        ("pos[-1..1]", ["pos[-1]=DT", "pos[0]=NNP", "pos[1]=VBD"]),
        ("pos[-1,1]", ["pos[-1]=DT", "pos[1]=VBD"]),
        ("word[-3..-2]", ["word[-3]=_B-2", "word[-2]=_B-1"]),
        ("word[2]", ["word[2]=_B+1"]),
        ("lower", ["lower[0]=mcleod-73"]),
        ("lower(pos)", ["lower(pos)[0]=nnp"]),
        ("shape", ["shape[0]=AaAaaa-00"]),
        ("short_shape[0]", ["short_shape[0]=AaAa-0"]),
        ("prefix(1..3)", ["prefix(1)[0]=M", "prefix(2)[0]=Mc", "prefix(3)[0]=McL"]),
        ("suffix(pos, 2)[1]", ["suffix(pos,2)[1]=BD"]),
        ("suffix(4)[1]", []),
        ("ngrams(8)", ["ngrams(8)[0]=McLeod-7", "ngrams(8)[0]=cLeod-73"]),
        ("has_digit", ["has_digit[0]"]),
        ("all_digits", []),
        ("has_hyphen & has_capital", ["has_hyphen[0]&has_capital[0]"]),
        ("all_capitals(pos)", ["all_capitals(pos)[0]"]),
        ("first[-1] & word", ["first[-1]&word[0]=McLeod-73"]),
        ("word & last[1] & pos", ["word[0]&last[1]&pos[0]=McLeod-73&NNP"]),
        ("first", []),
        ("bias", ["bias"]),
        ("word[-1] & word[0]", ["word[-1]&word[0]=The&McLeod-73"]),
        (
            "pos[-1..0] & first_capital[0..1]",
            ["pos[-1]&first_capital[0]=DT", "pos[0]&first_capital[0]=NNP"],
        ),
        (
            "bigram(pos)[-1..0]",
            ["pos[-1]&pos[0]=DT&NNP", "pos[0]&pos[1]=NNP&VBD"],
        ),
        ("trigram(pos)[-1]", ["pos[-1]&pos[0]&pos[1]=DT&NNP&VBD"]),
        (
            "bigram(prefix(1..2))",
            [
                "prefix(1)[0]&prefix(1)[1]=M&s",
                "prefix(2)[0]&prefix(2)[1]=Mc&sa",
            ],
        ),
        ('matches("^M.*[0-9]$")', ['matches("^M.*[0-9]$")[0]']),
        ('matches(pos, "^V")', []),
    ],
)
def test_a_line_stands_for_these_features(line, expected):
    assert features(line) == expected


def test_the_left_side_of_a_name_is_itself_a_line():
    line = "lower(pos)[-1] & prefix(2)[1] & first_capital[0]"
    [name] = features(line)
    assert features(name.split("=")[0]) == [name]


def test_a_lexicon_is_asked_by_name():
    lexicons = {"clans": ["McLeod-73"], "tags": ["DT"]}
    assert features("in(clans)", lexicons=lexicons) == ["in(clans)[0]"]
    assert features("in(pos, tags)[-1]", lexicons=lexicons) == ["in(pos,tags)[-1]"]
    assert features("in(tags)", lexicons=lexicons) == []


def test_columns_can_be_named():
    names = ["token", "tag"]
    assert features("tag & lower(token)", columns=names) == [
        "tag[0]&lower(token)[0]=NNP&mcleod-73"
    ]
    assert features("word", columns=names) == ["word[0]=McLeod-73"]


def test_further_columns_are_called_x2_and_so_on():
    sentence = [("a", "b", "c", "d")]
    assert features("x2 & x3", 0, sentence) == ["x2[0]&x3[0]=c&d"]


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ("", "column or a function is missing"),
        ("word[", "small number is expected"),
        ("word[1..", "small number is expected"),
        ("word[2..1]", "runs backwards"),
        ("word[101]", "beyond 100"),
        ("word[1]]", "comes unexpectedly"),
        ("word &", "column or a function is missing"),
        ("word pos", "comes unexpectedly"),
        ("lemma", "neither a column (word, pos) nor a function"),
        ("lower(lemma)", "no column 'lemma'"),
        ("prefix", "needs a size"),
        ("prefix(0)", "not positive"),
        ("prefix(word)", "small number is expected"),
        ("bigram(trigram(word))", "cannot hold another"),
        ("bigram word", "'(' is missing"),
        ("in(cities)", "no lexicon 'cities' (lexicons: none is given)"),
        ("matches(x)", "no column 'x'"),
        ("matches(word)", "needs a regular expression"),
        ('matches("(")', "not a regular expression"),
        ("wörd§", "is not understood"),
        ("word[99999999999]", "small number is expected"),
        ("prefix(1..1000000)", "small number is expected"),
        ("word[-100..100] & pos[-100..100]", "more than 10000 combinations"),
    ],
)
def test_a_line_that_means_nothing_is_quoted_with_its_trouble(line, trouble):
    with pytest.raises(ValueError) as caught:
        parse_line(line, ColumnNames(["word", "pos"]))
    assert trouble in str(caught.value)
    assert repr(line) in str(caught.value)
