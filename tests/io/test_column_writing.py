"""What is written as a column file is read back."""

import gzip
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw.data import TokenColumns
from skcw.io import read_columns, write_columns

ROWS = [[("Ann", "N"), ("sleeps", "V")], [("Bo", "N")]]
LABELS = [["PER", "O"], ["PER"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("columns")


def sentences(forbidden):
    """Draw sentences that a file with this separator can hold."""
    letters = st.characters(exclude_categories=["Cs"], exclude_characters=forbidden)
    odd = st.text(
        "#a-_ \ufeff\u00a0\u2028\u0085\x0c".translate(
            dict.fromkeys(map(ord, forbidden))
        )
    )
    words = (st.text(letters, max_size=3) | odd | st.just("-DOCSTART-")).filter(
        lambda word: word.strip(" \t")
    )
    return st.integers(1, 3).flatmap(
        lambda n: st.lists(st.lists(st.tuples(*[words] * n), min_size=1))
    )


@given(
    st.sampled_from(["\t", " ", ","]).flatmap(
        lambda sep: st.tuples(st.just(sep), sentences(f"\r\n{sep}\t"))
    ),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
    st.sampled_from(["corpus.conll", "corpus.conll.gz"]),
)
def test_what_is_written_is_read_back(folder, problem, encoding, name):
    separator, rows = problem
    form = {"separator": separator, "encoding": encoding}
    write_columns(folder / name, rows, **form)
    found = read_columns(folder / name, skip_docstart=False, **form)
    assert list(found) == rows


@given(sentences("\r\n\t").filter(lambda rows: rows and len(rows[0][0]) > 1))
def test_a_file_of_two_columns_is_read_back_without_any_option(folder, rows):
    rows = [[("a" + word.lstrip("-"), *rest) for word, *rest in row] for row in rows]
    write_columns(folder / "corpus", rows)
    assert list(read_columns(folder / "corpus")) == rows
    write_columns(folder / "copy", read_columns(folder / "corpus"))
    assert (folder / "copy").read_bytes() == (folder / "corpus").read_bytes()


def test_a_file_looks_like_this(tmp_path):
    path = tmp_path / "corpus.conll"
    write_columns(path, ROWS, LABELS)
    assert path.read_bytes() == b"Ann\tN\tPER\nsleeps\tV\tO\n\nBo\tN\tPER\n\n"
    write_columns(str(path), [["Ann"]], [[("PER", "0.9")]], separator=" ")
    assert path.read_bytes() == b"Ann PER 0.9\n\n"
    write_columns(path, [["niño"]], encoding="latin-1")
    assert path.read_bytes() == b"ni\xf1o\n\n"
    write_columns(path, [])
    assert path.read_bytes() == b""


@pytest.mark.parametrize("encoding", ["utf-8", "UTF_8_sig", "utf-16", "utf-16-le"])
def test_a_word_like_a_byte_order_mark_is_kept(tmp_path, encoding):
    rows = [[("\ufeff",), ("\ufeffa",)], [("\ufeff",)]]
    write_columns(tmp_path / "corpus", rows, encoding=encoding)
    assert list(read_columns(tmp_path / "corpus", encoding=encoding)) == rows


def test_labels_stand_to_the_right_in_any_form(tmp_path):
    path = tmp_path / "corpus.conll"
    X, y = TokenColumns.from_sequences(ROWS).split_label()
    write_columns(path, X, y)
    assert list(read_columns(path)) == ROWS
    write_columns(path, X[::-1], TokenColumns.from_sequences(LABELS[::-1]))
    assert list(read_columns(path)) == [
        [("Bo", "PER")],
        [("Ann", "PER"), ("sleeps", "O")],
    ]


def test_a_compressed_file_is_the_same_each_time(tmp_path):
    paths = [tmp_path / "one.gz", tmp_path / "two.gz"]
    for path in paths:
        write_columns(path, ROWS)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert gzip.decompress(paths[0].read_bytes()).startswith(b"Ann\tN\n")


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([["a"], ["b", ""]], {}, "sentence 1, token 1 has '' in column 0, .* empty"),
        ([[("a", " \t")]], {"separator": ","}, "token 0 .* column 1, .* empty"),
        ([["a\tb"]], {}, r"sentence 0, token 0 .* holds the separator '\\t'"),
        ([["a", "New York"]], {"separator": " "}, "token 1 .* separator ' '"),
        ([["a\tb"]], {"separator": " "}, "separator ' '"),
        ([["a,b"]], {"separator": ","}, "separator ','"),
        ([["a\nb"]], {}, "line break"),
        ([["a\r"]], {}, "line break"),
        ([["語"]], {"encoding": "latin-1"}, "token 0 has '語' .* cannot be encoded"),
        ([["a"], ["b", "\ud800"]], {}, "sentence 1, token 1 .* cannot be encoded"),
        ([["a"], [], ["b"]], {}, "sentence 1 has no tokens"),
        ([["a"]], {"labels": []}, "X has 1 sequences but labels has 0"),
        ([["a"]], {"labels": [["X", "Y"]]}, "sequence 0 has 1 tokens but 2 labels"),
        ([["a"]], {"labels": [[""]]}, "column 1"),
        ([["a"]], {"separator": "\n"}, "separator"),
        ([["a"]], {"separator": None}, "separator"),
    ],
)
def test_what_cannot_be_read_back_is_refused_with_its_place(
    tmp_path, X, options, message
):
    path = tmp_path / "corpus.conll"
    path.write_text("before")
    with pytest.raises(ValueError, match=message):
        write_columns(path, X, **options)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["corpus.conll"]


def test_values_that_no_token_has_do_no_harm(tmp_path):
    columns = TokenColumns.from_sequences([["a b"], ["c"]])
    write_columns(tmp_path / "corpus", columns[1:], separator=" ")
    assert list(read_columns(tmp_path / "corpus")) == [[("c",)]]


def test_a_write_that_is_cut_short_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "corpus.conll"
    path.write_text("before")

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_columns(path, ROWS)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["corpus.conll"]


def test_an_older_file_keeps_its_rights_and_a_link_its_target(tmp_path):
    path, link = tmp_path / "corpus.conll", tmp_path / "link.conll"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    write_columns(link, ROWS)
    assert link.is_symlink()
    assert list(read_columns(path)) == ROWS
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    # Opened for both, so that neither end waits for the other.
    with open(os.open(path, os.O_RDWR), "rb", buffering=0) as pipe:
        write_columns(path, ROWS)
        assert pipe.read(1000) == b"Ann\tN\nsleeps\tV\n\nBo\tN\n\n"
    assert path.is_fifo()
