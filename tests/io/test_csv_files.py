"""CSV files become sentences, and rows can be written again."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw.exceptions import ColumnFileError
from skcw.io.csv_format import CsvFile, csv_text
from skcw.io.formats import open_corpus


def blocks(text, size=100, **options):
    corpus = open_corpus(io.BytesIO(text.encode()), {"format": "csv", **options})
    return list(corpus.unlabeled(size))


# Half characters cannot be encoded, and a lone \r is a line break to the module csv.
cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1
)
corpora = st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=5)


@settings(max_examples=80, deadline=None)
@given(corpora, st.sampled_from(",;\t"), st.integers(1, 6))
def test_any_words_come_back_whatever_the_blocks(corpus, separator, size):
    rows = [["sentence_id", "word"]]
    rows += [[str(s), word] for s, words in enumerate(corpus) for word in words]
    found = blocks(csv_text(rows, separator), size)
    assert [row for part, _ in found for row in part] == rows[1:]
    assert [x for _, X in found for x in X.column("word")] == corpus
    assert all(X.n_tokens >= size for _, X in found[:-1])


def test_lines_are_counted_through_quoted_line_breaks():
    ((_, X),) = blocks('sentence_id,word\n1,"a\nb"\n1,c\n')
    assert X.lines.tolist() == [3, 4]


def test_an_index_without_a_name_is_no_column():
    ((rows, X),) = blocks(",sentence_id,word\n0,1,a\n")
    assert X.names == ("word",)
    assert rows == [["0", "1", "a"]]


def test_a_sentence_may_be_named_once_and_is_never_cut():
    found = blocks("Sentence #,Word\nS1,a\n,b\nS2,c\n", 1)
    assert [list(X) for _, X in found] == [[[("a",), ("b",)]], [[("c",)]]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column tells sentences apart"),
        ("word,tag\na,O\n", r"no column tells sentences apart.*the columns are 'word'"),
        ("sentence_id,word,word\n", "line 1: two columns are called 'word'"),
        ("sentence_id\n1\n", "line 1: there is no column of words"),
        ("sentence_id,word\n1\n", "line 2: 1 cells where the header has 2"),
        ("sentence_id,word\n1,\n", "line 2: nothing in column 'word'"),
        ("sentence_id,word\n,a\n", "line 2 has no sentence"),
        ("sentence_id,word\n1,a\n2,b\n1,c\n", "line 4 is of sentence '1' again"),
        ('sentence_id,word\n1,"' + "a" * (csv.field_size_limit() + 1), "line 2: field"),
    ],
)
def test_a_file_that_is_no_list_of_words_is_told(text, message):
    with pytest.raises(ColumnFileError, match=message):
        blocks(text)


def test_a_sentence_column_that_is_not_there_is_told():
    with pytest.raises(ColumnFileError, match="no column is called 'id'"):
        blocks("sentence_id,word\n1,a\n", sentence_column="id")


def test_a_header_is_known_by_its_column_of_sentences():
    headers = [
        "Sentence #;Word;Tag",
        '"sent_id"\tform',
        "sentence NN O",
        "word,tag",
        "",
    ]
    found = [CsvFile.detect(header, header, fits=False) for header in headers]
    assert found == [True, True, False, False, False]
