"""The tokenizer: what it keeps together, what it cuts, and where sentences end."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw.data import TokenColumns
from skcw.io import Tokenizer
from skcw.io.tokenizer import FIRST_MARK


def words(text, **settings):
    return [[t.word for t in s] for s in Tokenizer(**settings).split(text)]


def only(text, **settings):
    (sentence,) = words(text, **settings)
    return " ".join(sentence)


def test_the_first_mark_is_the_first():
    marks = (chr(c) for c in range(sys.maxunicode + 1))
    assert next(c for c in marks if unicodedata.category(c)[0] == "M") == FIRST_MARK


@given(st.text(max_size=80))
def test_tokens_are_all_that_is_not_blank_in_order(text):
    tokens = [token for s in Tokenizer().split(text) for token in s]
    ends = [0, *(token.end for token in tokens), len(text)]
    starts = [*(token.start for token in tokens), len(text)]
    for token in tokens:
        assert text[token.start : token.end] == token.word
        assert token.word and not token.word.isspace()
    for end, start in zip(ends, starts, strict=False):
        assert end <= start and not text[end:start].strip()


@given(
    st.lists(
        st.sampled_from(
            [
                "Mr.",
                "don't",
                "U.S.",
                "end.",
                '"Go',
                "...",
                "3.5",
                "\n\n",
                "l'eau",
                "“x”",
            ]
        ),
        max_size=12,
    )
)
def test_tokens_of_difficult_texts_stay_in_order(pieces):
    text = " ".join(pieces)
    tokens = [token for s in Tokenizer().split(text) for token in s]
    assert [t.start for t in tokens] == sorted({t.start for t in tokens})
    assert "".join(t.word for t in tokens) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("He can't, won't.", "He ca n't , wo n't ."),
        ("It’s Ann's dogs' bone", "It ’s Ann 's dogs ' bone"),
        ("O'Brien's rock'n'roll", "O'Brien 's rock'n'roll"),
        ("(well-known) T-shirt", "( well-known ) T-shirt"),
        ("AT&T and P&G", "AT&T and P&G"),
        ("costs $5.50, 10.000,5 or 3,5%", "costs $ 5.50 , 10.000,5 or 3,5 %"),
        ("at 12:30 on 1/2/99", "at 12:30 on 1/2/99"),
        (
            "see http://a.b/c_(d)?x=1, www.e.net.",
            "see http://a.b/c_(d)?x=1 , www.e.net .",
        ),
        ("<https://x.org>", "< https://x.org >"),
        ("mail me@x-y.org!", "mail me@x-y.org !"),
        ("@joe likes #skcw", "@joe likes #skcw"),
        ("wait... what--no", "wait ... what -- no"),
        ("¿Qué? «No»", "¿ Qué ? « No »"),
        ("the U.S. and EE.UU. met", "the U.S. and EE.UU. met"),
    ],
)
def test_words_are_cut_as_readers_expect(text, cut):
    assert " ".join(" ".join(s) for s in words(text)) == cut


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("cafe\u0301s", ["cafe\u0301s"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("我爱你", ["我", "爱", "你"]),
        ("Это Анна", ["Это", "Анна"]),
        ("👩\u200d👩\u200d👧👍🏽", ["👩\u200d👩\u200d👧", "👍🏽"]),
        ("🇪🇸🇳🇱", ["🇪🇸", "🇳🇱"]),
        ("שלום עולם", ["שלום", "עולם"]),
    ],
)
def test_every_script_has_its_words(text, cut):
    assert words(text) == [cut]


@pytest.mark.parametrize(
    ("text", "n_sentences"),
    [
        ("Dr. Ann met Mr. J. Smith. They left.", 2),
        ('"Really?" she asked. (Yes.) It is.', 3),
        ("He said: “Go.” She went.", 2),
        ("We met at 10 a.m. Then we left.", 2),
        ("Go! Now? Yes.", 3),
        ("one line\nstill one", 1),
        ("a title\n\na text", 2),
        ("a title\r\n\r\na text", 2),
        ("version 2.5 is out", 1),
        ("this is etc. and so on", 1),
        ("你好。再见。", 2),
        ("", 0),
        (" \n ", 0),
    ],
)
def test_sentences_end_where_readers_expect(text, n_sentences):
    assert len(words(text)) == n_sentences


def test_settings_change_what_is_cut():
    assert only("don't", contractions=()) == "don't"
    assert only("l'eau", contractions=["l'"]) == "l' eau"
    assert only("qu’il", contractions=["qu'"]) == "qu’ il"
    assert only("well-known", split_hyphens=True) == "well - known"
    assert only("10%", percent=True) == "10%"
    assert only("the U.S.", acronyms=False, initials=False) == "the U . S ."
    assert words("J. Smith", initials=False) == [["J", "."], ["Smith"]]
    assert only("zie blz. 3", abbreviations=["blz."]) == "zie blz. 3"
    assert only("als 't kan", clitics=["'t"]) == "als 't kan"
    assert only("a “b”", forms={"“": '"', "”": '"'}) == 'a " b "'


def test_quotation_marks_open_and_close_as_in_the_treebank():
    found = only('He said "go" ("now").', forms={'"': "``''"})
    assert found == "He said `` go '' ( `` now '' ) ."


def test_a_form_does_not_change_where_a_word_stands():
    text = "a “b”"
    tokens = Tokenizer(forms={"“": "``"}).split(text)[0]
    assert (tokens[1].word, text[tokens[1].start : tokens[1].end]) == ("``", "“")


@pytest.mark.parametrize(
    ("corpus", "text", "cut"),
    [
        # English as in the Penn Treebank, and as in a corpus that cuts nothing.
        (["do", "n't", "n't", "'s", "'s"], "I don't", "I do n't"),
        (["don't", "can't"], "I don't", "I don't"),
        # In Dutch, 's is a word and an ending.
        (["foto's", "auto's", "kilo's", "'s", "'s"], "'s foto's", "'s foto's"),
        (["l'", "l'", "eau"], "l'eau", "l' eau"),
        (["Mr", ".", "Smith"], "Mr. Smith", "Mr . Smith"),
        (["Sdad.", "Sdad.", "a."], "la Sdad. Ana", "la Sdad. Ana"),
        (["-", "-", "a"], "well-known", "well - known"),
        (["10%", "x"], "10%", "10%"),
        (["-LRB-", "a"], "(a)", "-LRB- a )"),
    ],
)
def test_a_corpus_shows_how_it_is_cut(corpus, text, cut):
    found = Tokenizer.from_corpus([corpus]).split(text)
    assert " ".join(t.word for s in found for t in s) == cut


def test_all_forms_of_tokens_show_the_same():
    plain = [["do", "n't", "n't"], ["``", "''"]]
    tuples = [[(word, "X") for word in s] for s in plain]
    dicts = [[{"word": word} for word in s] for s in plain]
    columns = TokenColumns.from_sequences(tuples, names=["word", "pos"])
    first, *others = map(Tokenizer.from_corpus, (plain, tuples, dicts, columns))
    assert others == [first] * 3 and first != Tokenizer()


def test_features_that_are_no_words_show_nothing():
    assert Tokenizer.from_corpus([[["w=a", "x"]], [{"w": 1}]]) == Tokenizer()


def test_settings_make_an_equal_tokenizer():
    tokenizer = Tokenizer.from_corpus([["do", "n't", "n't", "Sdad.", "Sdad."]])
    assert Tokenizer(**tokenizer.settings()) == tokenizer
    assert tokenizer.settings() != Tokenizer().settings()


def test_bad_settings_and_texts_are_refused():
    with pytest.raises(TypeError, match="abbreviations must be a list of texts"):
        Tokenizer(abbreviations="Mr.")
    with pytest.raises(TypeError, match="contractions must be a list of texts"):
        Tokenizer(contractions=[""])
    with pytest.raises(TypeError, match="text must be a string, got bytes"):
        Tokenizer().split(b"Ann")
