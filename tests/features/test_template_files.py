"""Template files of other tools."""

import re
import string

import numpy as np
import pytest

from skcw.features import WindowFeatures, read_template
from skcw.features.lines import _python_pattern, is_template_line
from tests.reference.window import window_strings

# Written in the manner of the templates that come with CRF++, for word and POS.
CHUNKING_TEMPLATE = """\
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]

U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]

# Bigram
B
"""
SPEC = [
    "word[-2..2]",
    "bigram(word)[-1..0]",
    "pos[-2..2]",
    "bigram(pos)[-2..1]",
    "trigram(pos)[-2..0]",
]
SENTENCES = [
    [("He", "PRP"), ("reckons", "VBZ"), ("the", "DT"), ("deficit", "NN")],
    [("Größer", "JJ"), ("!", ".")],
]


@pytest.fixture
def template(tmp_path):
    path = tmp_path / "template"
    path.write_text(CHUNKING_TEMPLATE, encoding="utf-8")
    return path


def test_a_template_file_and_a_spec_give_the_same_features(template):
    lines = read_template(template)
    assert len(lines) == 20 and lines[-1] == "B"
    by_template = WindowFeatures(lines).fit_transform(SENTENCES)
    by_spec = WindowFeatures(SPEC).fit_transform(SENTENCES)
    np.testing.assert_array_equal(by_template.indptr, by_spec.indptr)
    np.testing.assert_array_equal(by_template.indices, by_spec.indices)


def test_features_are_called_as_crfpp_expands_them(template):
    window = WindowFeatures(read_template(template))
    first, second = window.fit_transform(SENTENCES).to_lists()[0][:2]
    assert first[:3] == ["U00:_B-2", "U01:_B-1", "U02:He"]
    assert second[5:7] == ["U05:He/reckons", "U06:reckons/the"]
    assert second[18] == "U22:VBZ/DT/NN"


def test_lines_of_both_kinds_stand_in_one_list():
    window = WindowFeatures(["U:%x[0,0]", "suffix(2)", "B"])
    assert window.fit_transform(SENTENCES).to_lists()[0][0] == [
        "U:He",
        "suffix(2)[0]=He",
    ]


def test_equal_names_are_one_feature_as_in_crfpp():
    window = WindowFeatures(["U:%x[-1,0]", "U:%x[0,0]"]).fit([["a", "b"]])
    assert window.get_feature_names_out().tolist() == ["U:_B-1", "U:a", "U:b"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("U:%X[0,0]", "U:he"),
        ('U:%t[0,0,"^\\u"]', "U:true"),
        ('U:%t[0,0,"\\d"]', "U:false"),
        ('U:%m[1,0,"^\\a\\a?"]', "U:re"),
        ('U:%m[0,0,"\\L*$"]', "U:"),
        ('U:%M[0,0,"^\\u"]', "U:h"),
        ('U:%M[0,0,"^\\l"]', "U:"),
        ("U:wrd-1  X=%x[ 0,0]", "U:wrd-1  X=He"),
        ("U:%X[ 0, 0 ]/%x[ +1,0]", "U:he/reckons"),
        ('U:%t[ 0,0, "^\\u" ]', "U:true"),
        ('U:%t[-1,0,"^\\u"]/%t[0,0,"^\\u"]', "U:_B-1/true"),
        ("U42", "U42"),
        ("u1:x", "u1:x"),
    ],
)
def test_the_macros_of_wapiti_are_read(line, expected):
    window = WindowFeatures([line])
    assert window.fit_transform(SENTENCES).to_lists()[0][0] == [expected]
    strings = [window_strings(window.templates_, s) for s in SENTENCES]
    assert window.transform(SENTENCES).to_lists() == strings


def test_a_line_without_macros_is_a_feature_of_every_token():
    found = WindowFeatures(["U42"]).fit_transform(SENTENCES).to_lists()
    assert found == [[["U42"]] * 4, [["U42"]] * 2]


# The classes of C in its own locale, by which Wapiti reads characters.
CLASSES_OF_C = {
    "a": string.ascii_letters,
    "d": string.digits,
    "l": string.ascii_lowercase,
    "p": string.punctuation,
    "s": string.whitespace,
    "u": string.ascii_uppercase,
    "w": string.ascii_letters + string.digits,
}


@pytest.mark.parametrize("name", CLASSES_OF_C)
def test_the_classes_of_wapiti_are_those_of_c(name):
    members = re.compile(_python_pattern(f"\\{name}"))
    others = re.compile(_python_pattern(f"\\{name.upper()}"))
    for character in map(chr, range(128)):
        is_member = character in CLASSES_OF_C[name]
        assert bool(members.fullmatch(character)) == is_member, repr(character)
        assert bool(others.fullmatch(character)) != is_member, repr(character)


@pytest.mark.parametrize("character", r".?*+$^[\]()|")
def test_an_escaped_character_of_a_pattern_is_itself(character):
    pattern = re.compile(_python_pattern(f"x\\{character}y"))
    matched = [each for each in map(chr, range(128)) if pattern.fullmatch(f"x{each}y")]
    assert matched == [character]


def test_lines_about_transitions_make_features_that_look_at_the_label_before():
    lines = ["B01:%x[0,0]", "b02:%x[-1,0]", "U:%x[0,0]", "*03:%X[0,0]", "B", "B04"]
    window = WindowFeatures(lines).fit([["A"]])
    assert window.get_feature_names_out().tolist() == [
        "label[-1]&B01:A",
        "label[-1]&b02:_B-1",
        "U:A",
        "*03:a",
        "label[-1]&*03:a",
    ]
    strings = [window_strings(window.templates_, s) for s in SENTENCES]
    assert WindowFeatures(lines).fit_transform(SENTENCES).to_lists() == strings


def test_blanks_inside_the_brackets_are_read_as_wapiti_reads_them():
    spaced = WindowFeatures(["U:%x[ -1, 0 ]/%X[ 0,0]", 'U:%m[ 0, 0, "^." ]'])
    plain = WindowFeatures(["U:%x[-1,0]/%X[0,0]", 'U:%m[0,0,"^."]'])
    names = spaced.fit(SENTENCES).get_feature_names_out()
    assert names.tolist() == plain.fit(SENTENCES).get_feature_names_out().tolist()


def test_templates_of_crfsuite_scripts_are_read_as_there():
    window = WindowFeatures(
        [(("w", 0),), (("w", -1), ("w", 0)), [["tag", 1]]], columns=["w", "tag"]
    )
    first, second = window.fit_transform([SENTENCES[0][:2]]).to_lists()[0]
    assert first == ["w[0]=He", "tag[1]=VBZ"]
    assert second == ["w[0]=reckons", "w[-1]|w[0]=He|reckons"]


@pytest.mark.parametrize("line", ["U00:%x[0,0]", "B", "U", "*:%x[0,0]", "b01"])
def test_lines_of_template_files_are_recognized(line):
    assert is_template_line(line)


@pytest.mark.parametrize("line", ["word", "bias", "Bank & Ufer", "bigram(word)"])
def test_lines_of_our_own_are_not_taken_for_those_of_template_files(line):
    assert not is_template_line(line)


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ("X00:%x[0,0]", "begins with neither U, B nor"),
        ("U00:%y[0,0]", "a % of the line"),
        ("U00:%x[0]", "a % of the line"),
        ("U00:%x[@0,0]", "a % of the line"),
        ("U00:%x[200,0]", "beyond 100"),
        ("U00:%t[0,0]", "need a regular expression"),
        ('U00:%x[0,0,"a"]', "need a regular expression"),
        ('U00:%t[0,0,"*"]', "'*' in"),
    ],
)
def test_a_bad_line_is_reported_with_file_and_line(tmp_path, line, trouble):
    path = tmp_path / "template"
    path.write_text(f"# comment\n\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        read_template(path)
    assert str(caught.value).startswith(f"{path}, line 3: ")
    assert trouble in str(caught.value)


@pytest.mark.parametrize("bad", [(), (("w",),), (("w", "x"),), (("w", 1000),), 7, None])
def test_what_is_neither_line_nor_template_is_refused(bad):
    with pytest.raises(ValueError, match="neither a line of text nor a template"):
        WindowFeatures(["word", bad]).fit(SENTENCES)


def test_a_template_that_looks_at_a_missing_column_is_refused():
    with pytest.raises(ValueError, match="looks at column 2, but the tokens have 2"):
        WindowFeatures(["U:%x[0,2]"]).fit(SENTENCES)


def test_a_byte_order_mark_before_a_template_file_is_no_part_of_it(tmp_path):
    file = tmp_path / "template"
    file.write_text("# words\nU00:%x[0,0]\n", encoding="utf-8-sig")
    assert read_template(file) == ["U00:%x[0,0]"]


def test_a_template_file_that_is_no_text_is_named(tmp_path):
    file = tmp_path / "template"
    file.write_bytes(b"U00:%x[0,0]\xff\n")
    with pytest.raises(ValueError, match="template is not UTF-8"):
        read_template(file)


def test_a_column_that_is_called_like_a_template_is_a_column():
    window = WindowFeatures(["w", "b", "U"], columns=["w", "b"])
    [[names]] = window.fit_transform([[("x", "y")]]).to_lists()
    assert names == ["w[0]=x", "b[0]=y", "U"]
