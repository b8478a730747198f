"""Column files are read as plain Python would read them, in pieces of any size."""

import gzip
import io
import os
import pickle
import re
import threading
from functools import partial
from itertools import chain, count, islice, repeat

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skcw.data import text_lines as _text_lines
from skcw.exceptions import ColumnFileError
from skcw.io import columns as _column_files
from skcw.io import iter_columns, read_columns
from tests.reference import columns as twin

iter_with_text = partial(iter_columns, with_text=True)
# Characters that a careless reader takes for blanks or line ends are among them.
ODD = "a#é語😀\u00a0\u2028\u0085\x0b\x0c\x1c\x00\ufeff\r-_"
words = st.one_of(
    st.text(ODD, min_size=1, max_size=3),
    st.sampled_from(["#", "-DOCSTART-", "-DOCSTART-x", "the"]),
)
harmless = ["", " ", "\t ", "# text = x", "-DOCSTART- -X- O", "-DOCSTART-"]
doubtful = ["#", "a\t\t", "\ta", "a b c d", "a\tb\tc\td"]


@st.composite
def files(draw):
    """Draw the text of a file; about half of them can be read."""
    separator = draw(st.sampled_from(["\t", "\t", " ", " \t"]))
    width = draw(st.integers(1, 3))
    tokens = st.lists(words, min_size=width, max_size=width).map(separator.join)
    others = harmless if separator == "\t" else harmless[:3]
    others = others + doubtful * draw(st.sampled_from([False, False, True]))
    lines = st.lists(st.one_of(tokens, tokens, st.sampled_from(others)), max_size=12)
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    mark, last = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["", end]))
    return mark + end.join(draw(lines)) + last


class Pieces:
    """A file that gives its bytes in pieces of certain sizes, as a pipe may do."""

    def __init__(self, data, sizes):
        self.file = io.BytesIO(data)
        self.sizes = chain(sizes, repeat(1000))

    def read(self, size):
        return self.file.read(min(size, next(self.sizes)) if size else 0)


def outcome(read):
    """Return what is read, or the line that the reader complains about."""
    try:
        return read()
    except twin.MalformedLineError as error:
        return error.args[0]
    except ColumnFileError as error:
        return int(re.search(r"^the input, line (\d+): ", str(error))[1])


def listed(*blocks):
    """Return the sentences and line numbers of blocks, as the twin does."""
    lines = [line for block in blocks for line in block.lines.tolist()]
    return [sentence for block in blocks for sentence in block], lines


piece_sizes = st.lists(st.integers(1, 7), max_size=30)


@given(files(), st.booleans(), piece_sizes)
@example("\ufeff#\n", False, [1, 1])
@example("#\n#x\ty\n", False, [])
@example("# x\n# y\na\tb\n", False, [4])
def test_a_file_is_read_like_plain_python_reads_it(text, packed, sizes):
    data = gzip.compress(text.encode()) if packed else text.encode()
    found = outcome(lambda: listed(read_columns(Pieces(data, sizes))))
    assert found == outcome(lambda: twin.read(text))


@given(files(), st.integers(1, 6), piece_sizes)
def test_blocks_together_are_the_whole_file(text, block_tokens, sizes):
    source = Pieces(text.encode(), sizes)
    blocks = iter_columns(source, block_tokens=block_tokens)
    assert outcome(lambda: listed(*blocks)) == outcome(lambda: twin.read(text))


@given(files(), st.integers(1, 6))
def test_a_block_ends_with_the_sentence_that_fills_it(text, block_tokens):
    blocks = outcome(
        lambda: list(iter_columns(io.StringIO(text), block_tokens=block_tokens))
    )
    if isinstance(blocks, int):
        return
    assert all(block.n_tokens >= block_tokens for block in blocks[:-1])
    assert all(block.n_tokens - block.lengths[-1] < block_tokens for block in blocks)


@given(files(), st.integers(1, 6), piece_sizes)
def test_texts_of_blocks_together_are_the_text_of_the_file(text, block_tokens, sizes):
    source = Pieces(text.encode(), sizes)
    blocks = outcome(lambda: list(iter_with_text(source, block_tokens=block_tokens)))
    if isinstance(blocks, int):
        return
    joined = b"".join(raw for raw, _ in blocks)
    assert joined == text.removeprefix("\ufeff").encode()
    before = 1
    for raw, sentences in blocks:
        lines = raw.decode().split("\n")
        tokens = chain.from_iterable(sentences)
        for number, token in zip(sentences.lines.tolist(), tokens, strict=True):
            assert all(value in lines[number - before] for value in token)
        before += raw.count(b"\n")


@given(files())
def test_text_and_binary_files_are_read_alike(text):
    binary, opened = io.BytesIO(text.encode()), io.StringIO(text, newline="\n")
    found = outcome(lambda: listed(read_columns(opened)))
    assert found == outcome(lambda: listed(read_columns(binary)))


@given(
    st.lists(st.tuples(words, words, words), min_size=1, max_size=5),
    st.sampled_from([[0], [-1], [2, 0], [-2, -1], [1, 2, 0]]),
)
def test_columns_are_kept_in_the_order_given(tokens, columns):
    tokens = [tuple(word.replace("\r", "R") for word in token) for token in tokens]
    text = "\ufeff" + "\n".join(map("\t".join, tokens))
    found = read(text, columns=columns, skip_docstart=False)
    assert found == [[tuple(token[c] for c in columns) for token in tokens]]


def test_what_is_not_kept_may_be_empty():
    assert read("a\t\tx\n\tb\ty\n", columns=[2]) == [[("x",), ("y",)]]


CONLL = "Ann NNP B-PER\nsleeps VBZ O\n\nBo NNP B-PER\n"
SENTENCES = [
    [("Ann", "NNP", "B-PER"), ("sleeps", "VBZ", "O")],
    [("Bo", "NNP", "B-PER")],
]


def read(text, **options):
    return list(read_columns(io.BytesIO(text.encode()), **options))


@pytest.mark.parametrize("name", ["corpus.conll", "corpus.conll.gz", "corpus"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "path"])
def test_a_gzip_file_is_known_by_its_content(tmp_path, name, packed, kind):
    path = tmp_path / name
    path.write_bytes(gzip.compress(CONLL.encode()) if packed else CONLL.encode())
    assert list(read_columns(kind(path))) == SENTENCES
    with open(path, "rb") as file:
        assert list(read_columns(file)) == SENTENCES


def test_a_gzip_file_may_have_several_members_and_be_filled_with_zeros():
    half = len(CONLL) // 2
    members = [gzip.compress(part.encode()) for part in (CONLL[:half], CONLL[half:])]
    for sizes in ([], repeat(1)):
        source = Pieces(b"".join(members) + b"\0" * 99, sizes)
        assert list(read_columns(source)) == SENTENCES


def test_a_large_gzip_file_is_unpacked_in_pieces():
    text = b"word\n\n" * 100_000
    assert len(read_columns(io.BytesIO(gzip.compress(text)))) == 100_000


@pytest.mark.parametrize("damage", [lambda b: b[:-3], lambda b: b[:9], lambda b: b[:2]])
def test_a_gzip_file_without_its_end_is_refused(damage):
    packed = damage(gzip.compress(CONLL.encode()))
    with pytest.raises(ColumnFileError, match="the input is a gzip file whose end is"):
        read_columns(io.BytesIO(packed))


def test_a_damaged_gzip_file_is_refused():
    packed = bytearray(gzip.compress(CONLL.encode()))
    packed[-6] ^= 1
    with pytest.raises(ColumnFileError, match=r"damaged gzip file: .*check"):
        read_columns(io.BytesIO(bytes(packed)))
    with pytest.raises(ColumnFileError, match="damaged gzip file"):
        read_columns(io.BytesIO(gzip.compress(CONLL.encode()) + b"rest"))


def test_a_line_with_too_few_columns_is_named(tmp_path):
    path = tmp_path / "corpus.conll"
    path.write_text("a b c\n\nd e f\r\ng h\n")
    with pytest.raises(ColumnFileError) as caught:
        read_columns(path)
    assert str(caught.value) == (
        f"{path}, line 4: 2 columns where 3 are expected as in line 1, separated by "
        "blanks; the line is 'g h'"
    )


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a\tb\nc\n", {}, "line 2: 1 column where 2 are expected .* by TABs"),
        ("\n#x\na\tb\nc\n", {}, "line 4: 1 column .* as in line 3, .*'c'$"),
        ("# some words\na b\n", {}, r'line 1: 3 columns .* as in line 2.*comment="#"'),
        ("a\tb\n\tb\n", {}, r"line 2: nothing in column 0 .*'\\tb'.*columns="),
        ("a\tb\t\n", {}, "line 1: nothing in column 2 "),
        ("a b\n", {"columns": [2]}, "line 1: 2 columns, but column 2 is asked for"),
        ("\n\na\n", {"columns": [-2]}, "line 3: 1 column, but column -2 is asked"),
        ("x\ty\n", {"conllu": True}, r"line 1: a CoNLL-U line begins .*'x\\ty'"),
        ("1\ty\n1x\ty\n", {"conllu": True}, "line 2: a CoNLL-U line begins"),
        ("a,b\nc;d\n", {"separator": ","}, "line 2: 1 column .*separated by ','"),
    ],
)
def test_a_malformed_line_is_named(text, options, message):
    with pytest.raises(ColumnFileError, match=f"^the input, {message}"):
        read(text, **options)


def test_the_first_line_with_a_token_is_counted_however_the_file_is_cut():
    for sizes in ([], repeat(1)):
        with pytest.raises(ColumnFileError, match=r"line 5: 1 column .* line 3,"):
            read_columns(Pieces(b"# x\n\na\tb\n\nc\n", sizes))


def test_a_long_line_is_quoted_in_part():
    with pytest.raises(ColumnFileError, match=r"'b{57}\.\.\.'$"):
        read(f"a a\n{'b' * 1000}\n")


@pytest.mark.parametrize("name", ["read", "iter"])
def test_a_byte_that_is_no_utf8_is_named_with_its_line(tmp_path, name):
    path = tmp_path / "corpus.conll"
    path.write_bytes("el\nniño\n\naño\n".encode().replace(b"a\xc3\xb1", b"a\xf1"))
    with pytest.raises(ColumnFileError) as caught:
        read_columns(path) if name == "read" else list(iter_columns(path))
    message = str(caught.value)
    assert message.startswith(f"{path}, line 4: the byte 0xf1 is not utf-8")
    assert message.endswith('encoding="latin-1"')


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "not a text but a picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "not a text but a picture"),
        (b"PK\x03\x04", "not a text but an archive"),
        (pickle.dumps([1, 2]), "not a text but a pickle"),
        (b"\x93NUMPY\x01\0", "not a text but an array of NumPy"),
        (b"some words\n\xe9\x01\0\x10\0\xff", "this is a binary file, not a text"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_file_that_is_no_text_is_called_what_it_is(data, kind, encoding):
    if "binary" in kind and encoding == "latin-1":
        return  # any byte is a character there
    for packed in (data, gzip.compress(data)):
        with pytest.raises(ColumnFileError, match=kind):
            read_columns(io.BytesIO(packed), encoding=encoding)


def test_the_first_fault_of_a_file_is_the_one_that_is_told():
    data = b"a b\n\nc d\n\ne\n\xff\n"
    with pytest.raises(ColumnFileError, match="line 5: 1 column"):
        read_columns(io.BytesIO(data))
    blocks = iter_columns(io.BytesIO(data.replace(b"e\n", b"")), block_tokens=1)
    assert [list(next(blocks)) for _ in "ac"] == [[[("a", "b")]], [[("c", "d")]]]
    with pytest.raises(ColumnFileError, match="line 5: the byte 0xff"):
        next(blocks)


@pytest.mark.parametrize("data", [b"\xc3", b"a\n\xe8\xaa", b"\xed\xa0\x80\n", b"\xff"])
def test_incomplete_and_impossible_characters_are_refused(data):
    with pytest.raises(ColumnFileError, match=r"line \d: the byte 0x.. is not utf-8"):
        read_columns(io.BytesIO(data))


ENCODINGS = ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig", "UTF8"]


@given(st.sampled_from(ENCODINGS), piece_sizes)
def test_files_in_other_encodings_are_read(encoding, sizes):
    text = "niño N\naño N\r\n\nÿ N"
    data = text.encode(encoding)
    expected = [[("niño", "N"), ("año", "N")], [("ÿ", "N")]]
    assert list(read_columns(Pieces(data, sizes), encoding=encoding)) == expected
    blocks = iter_with_text(Pieces(data, sizes), encoding=encoding, block_tokens=1)
    assert b"".join(raw for raw, _ in blocks) == text.encode()


@pytest.mark.parametrize(
    ("encoding", "data", "line"),
    [
        ("ascii", b"a\nb\n\xe9\n", 3),
        ("cp1252", b"a\n\x81\n", 2),
        ("utf-16-le", "a\nb\nc".encode("utf-16-le") + b"\0", 3),
    ],
)
def test_a_byte_that_is_not_of_the_encoding_is_named(encoding, data, line):
    for sizes in ([], repeat(1)):
        with pytest.raises(ColumnFileError, match=f"line {line}: .* is not {encoding}"):
            read_columns(Pieces(data, sizes), encoding=encoding)


def test_a_lone_surrogate_of_a_text_file_is_named():
    with pytest.raises(ColumnFileError, match=r"line 2: .*'\\udc80'.*encoding"):
        read_columns(io.StringIO("a\n\udc80\n"))


def test_comments_are_told_from_words():
    assert read("# id\na\tN\n#\tN\n# x\n\n# y\nb\tN\n") == [
        [("a", "N"), ("#", "N")],
        [("b", "N")],
    ]
    assert read("# #\na N\n") == [[("#", "#"), ("a", "N")]]
    assert read("#\n") == read("#\n", separator="\t") == [[("#",)]]
    assert read("a,N\n#,N\n", separator=",") == [[("a", "N"), ("#", "N")]]
    assert read("#\ta\nb\tc\n", comment="#") == [[("b", "c")]]
    assert read("// x y\nb c\n/ d\n", comment="//") == [[("b", "c"), ("/", "d")]]
    assert read("a\tN\n#\tN\n", comment=None) == [[("a", "N"), ("#", "N")]]
    with pytest.raises(ColumnFileError, match="line 2: 1 column"):
        read("a\tN\n# x\n", comment=None)


def test_document_lines_end_a_sentence():
    text = "-DOCSTART- -X- O O\n\na N\n-DOCSTART-\nb N\n-DOCSTART-1 N\n"
    assert read(text) == [[("a", "N")], [("b", "N"), ("-DOCSTART-1", "N")]]
    assert read("-DOCSTART-,O\na,N\n", separator=",") == [[("a", "N")]]
    kept = read("-DOCSTART- O\n\na N\n", skip_docstart=False)
    assert kept == [[("-DOCSTART-", "O")], [("a", "N")]]


@pytest.mark.parametrize(
    ("text", "separator", "token"),
    [
        ("New York\tLOC\n", None, ("New York", "LOC")),
        ("New York\tLOC\n", " ", ("New", "York", "LOC")),
        ("  a   b \n", None, ("a", "b")),
        ("  a   b \n", "\t", ("  a   b ",)),
        ("a|b c\n", "|", ("a", "b c")),
        ("a\u00a0b\u3000c\n", None, ("a\u00a0b\u3000c",)),
    ],
)
def test_columns_are_separated_as_told(text, separator, token):
    assert read(text, separator=separator) == [[token]]


CONLLU = (
    "# sent_id = 1\n# text = don't go\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tdo\tdo\tAUX\tVBP\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
    "2.1\tgo\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
    "#\n1\t#\t#\tSYM\tNFP\t_\t0\troot\t_\t_\n"
)


def test_a_conllu_file_gives_its_words():
    file = io.StringIO(CONLLU)
    columns = read_columns(file, conllu=True, columns=["form", 4])
    assert columns.names == ("form", "xpos")
    assert columns.column("form").tolist() == [["do", "n't", "go"], ["#"]]
    assert columns.lines.tolist() == [4, 5, 7, 10]
    assert read_columns(io.StringIO(CONLLU), conllu=True).names[-1] == "misc"
    named = {"columns": [1], "names": ["word"], "conllu": True}
    assert read_columns(io.StringIO(CONLLU), **named).names == ("word",)


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "\ufeff", "-DOCSTART- O\n\n"])
def test_a_file_without_tokens_has_no_sentences(text):
    def source():
        return io.BytesIO(text.encode())

    for options, n_columns in (
        ({}, 0),
        ({"columns": [0, -1]}, 2),
        ({"names": ["word"]}, 1),
        ({"conllu": True}, 10),
        ({"conllu": True, "columns": [1, -1]}, 2),
    ):
        empty = read_columns(source(), **options)
        assert (len(empty), empty.n_tokens, empty.n_columns) == (0, 0, n_columns)
        assert list(iter_columns(source(), **options)) == []
    assert b"".join(raw for raw, _ in iter_with_text(source())) == (
        text.removeprefix("\ufeff").encode()
    )


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"separator": ""}, ValueError),
        ({"separator": "\n"}, ValueError),
        ({"separator": "ab"}, ValueError),
        ({"separator": "é"}, ValueError),
        ({"separator": " ", "conllu": True}, ValueError),
        ({"comment": ""}, ValueError),
        ({"comment": 3}, ValueError),
        ({"columns": []}, ValueError),
        ({"columns": ["word"]}, ValueError),
        ({"columns": 0}, TypeError),
        ({"columns": "word"}, TypeError),
        ({"columns": [0], "names": ["a", "b"]}, ValueError),
        ({"columns": [0, 1], "names": ["a", "a"]}, ValueError),
        ({"encoding": "no such"}, ValueError),
    ],
    ids=str,
)
@pytest.mark.parametrize("reader", [read_columns, iter_columns, iter_with_text])
def test_wrong_options_are_refused_before_anything_is_read(reader, options, error):
    with pytest.raises(error):
        reader(io.BytesIO(b"a\tb\n"), **options)


@pytest.mark.parametrize("options", [{"names": ["a"]}, {"columns": [0, -2]}], ids=str)
def test_options_that_do_not_fit_the_file_are_refused(options):
    with pytest.raises(ValueError, match=r"names|columns"):
        read("a b\n", **options)


@pytest.mark.parametrize("source", [[["a"]], b"corpus.conll", None, 3])
def test_what_is_neither_a_path_nor_a_file_is_refused(source):
    with pytest.raises(TypeError, match="a path or an open file"):
        read_columns(source)


@pytest.mark.parametrize("size", [0, -1, 2.5, None])
def test_a_block_has_at_least_one_token(size):
    with pytest.raises(ValueError, match="block_tokens"):
        iter_columns(io.BytesIO(b"a\n"), block_tokens=size)


def test_a_file_of_ones_own_is_closed_and_that_of_others_left_open(tmp_path):
    path = tmp_path / "corpus.conll"
    path.write_text(CONLL)
    with open(path, "rb") as file:
        next(iter_columns(file, block_tokens=1))
        assert not file.closed
    # An open file that is dropped gives a warning, which is an error here.
    blocks = iter_columns(path, block_tokens=1)
    next(blocks)
    del blocks
    with pytest.raises(FileNotFoundError):
        read_columns(tmp_path / "missing")


def test_a_block_is_given_as_soon_as_the_pipe_has_it():
    reading, writing = os.pipe()
    with open(reading, "rb") as source, open(writing, "wb", buffering=0) as sink:
        # More than one sentence is never there, and who reads on waits until this:
        giving_up = threading.Timer(20, sink.close)
        giving_up.start()
        blocks = iter_columns(source, block_tokens=1)
        for text in ("a\nb\n\n", "c\n\n"):
            sink.write(text.encode())
            assert list(next(blocks)) == [[(w,) for w in text.split()]]
        giving_up.cancel()
        sink.write(b"d")
        sink.close()
        assert [list(block) for block in blocks] == [[[("d",)]]]


class Endless:
    """A file without end whose words never come again; it counts what is read."""

    def __init__(self, lines):
        self.lines = lines
        self.n_read = 0

    def read(self, size):
        if not size:
            return b""
        piece = "".join(islice(self.lines, 1000)).encode()
        self.n_read += len(piece)
        return piece


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
@pytest.mark.parametrize("reader", [iter_columns, iter_with_text])
def test_memory_does_not_grow_with_the_file(reader):
    blocks = reader(
        Endless(f"a-new-word-{i}\tX\n\n" for i in count()), block_tokens=5000
    )
    for _ in islice(blocks, 10):
        pass
    before = resident_bytes()
    for _ in islice(blocks, 50):
        pass
    # 250 000 words with their hash tables would take more than 10 MB.
    assert resident_bytes() - before < 3_000_000


def test_no_more_is_read_than_a_block_needs():
    source = Endless(f"{i:08d}\n\n" for i in count())
    next(iter_columns(source, block_tokens=3500))
    assert source.n_read == 4 * 10_000


@pytest.mark.parametrize("line", ["\n", "# a comment\n"])
def test_endless_comments_do_not_fill_the_memory(line):
    # Long, though not endless: a reader that holds them all must come to an end.
    lines = chain(["a\tb\n\n"], repeat(line, 1_000_000))
    blocks = iter_with_text(Endless(lines), block_tokens=1)
    sizes = [(len(raw), len(sentences)) for raw, sentences in islice(blocks, 4)]
    assert [n for _, n in sizes] == [1, 0, 0, 0]
    assert max(size for size, _ in sizes) < 200_000


def test_what_is_no_column_file_is_refused_early(monkeypatch):
    monkeypatch.setattr(_text_lines, "LONGEST_LINE", 100_000)
    monkeypatch.setattr(_column_files, "LONGEST_HEAD", 100_000)
    with pytest.raises(ColumnFileError, match="line 2: longer than 100000 bytes"):
        read_columns(Endless(chain(["a\n"], repeat("xyz"))))
    with pytest.raises(ColumnFileError, match="no token in its first"):
        read_columns(Endless(repeat("\n" * 100)))


def test_a_file_without_blank_lines_is_one_sentence():
    [block] = iter_columns(io.BytesIO(b"word\n" * 50_000), block_tokens=10)
    assert block.lengths.tolist() == [50_000]


def test_line_numbers_are_those_of_the_file():
    columns = read_columns(io.BytesIO(b"# x\n\na\tb\n# y\nc\td\n\n\ne\tf"))
    assert columns.lines.tolist() == [3, 5, 8]
    blocks = list(iter_columns(io.BytesIO(b"a\n\n\nb\n\nc\n"), block_tokens=1))
    assert [block.lines.tolist() for block in blocks] == [[1], [4], [6]]


@pytest.mark.parametrize("columns", [[1.5], [True], [None], 0, 1.5, "01", [[0]]])
def test_columns_that_are_no_numbers_are_named(tmp_path, columns):
    path = tmp_path / "corpus"
    path.write_text("a b c\n")
    with pytest.raises((TypeError, ValueError), match=r"columns (holds|is)"):
        read_columns(path, columns=columns)
