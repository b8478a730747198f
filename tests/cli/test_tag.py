"""skcw tag: labels beside the words, line by line."""

import gzip
import io
import sys
from itertools import chain

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skcw
from skcw.cli import main
from skcw.cli.messages import one_line
from skcw.io import read_columns
from skcw.io.corpora import as_text

WORDS = st.text("aZé中0-#.", min_size=1, max_size=4)
LINES = st.one_of(
    st.tuples(WORDS, st.sampled_from(["NN", "NNP", "VBD"])).map("\t".join),
    st.sampled_from(["", "  ", "# a comment", "-DOCSTART-\t-X-"]),
)

# Confidences are written with four.
FOUR_DECIMALS = 0.5e-4 + 1e-9


def predicted(files, name="test.conll"):
    X, _ = read_columns(files / name).split_label()
    return skcw.load(files / "m.skcw").predict(X), X


def test_each_line_gets_its_label(run, files):
    code, out, err = run("tag", files / "m.skcw", files / "test.conll")
    assert (code, err) == (0, "")
    before = (files / "test.conll").read_text().split("\n")
    labels = chain.from_iterable(predicted(files)[0])
    expected = [f"{line} {next(labels)}" if line else line for line in before]
    assert out.split("\n") == expected


def test_a_calibrated_pipeline_tags_with_its_probabilities(run, files, tmp_path):
    X, y = read_columns(files / "train.conll").split_label()
    model = skcw.CalibratedTagger(skcw.load(files / "m.skcw"), method="sigmoid", cv=2)
    model.fit(X, y).save(tmp_path / "model")
    code, out, err = run("tag", tmp_path / "model", files / "test.conll", "-c")
    assert (code, err) == (0, "")
    rows = read_columns(io.BytesIO(out.encode()))
    X = predicted(files)[1]
    assert rows.column(3).tolist() == model.predict(X).tolist()
    written = [float(number) for row in rows.column(4) for number in row]
    probability = list(chain.from_iterable(model.predict_confidence(X)))
    assert written == pytest.approx(probability, abs=FOUR_DECIMALS)


def test_confidence_and_further_labelings_take_columns(run, files):
    _, out, _ = run("tag", files / "m.skcw", files / "test.conll", "-c", "-n", 3)
    pipeline, X = skcw.load(files / "m.skcw"), predicted(files)[1]
    rows = read_columns(io.BytesIO(out.encode()))
    assert rows.n_columns == 3 + 4
    ranked = pipeline.predict_nbest(X, 3)
    for rank, column in ((0, 3), (1, 5), (2, 6)):
        expected = [
            labelings[rank][0] if rank < len(labelings) else ["_"] * length
            for labelings, length in zip(ranked, X.lengths, strict=True)
        ]
        assert rows.column(column).tolist() == expected
    confidence = pipeline.predict_confidence(X)
    written = rows.column(4)
    assert all(
        [f"{c:.8f}" for c in row] == texts
        for row, texts in zip(confidence, written, strict=True)
    )


def test_missing_labelings_are_filled_up(run, stdin, tmp_path):
    stdin("Ann A\nleft B\n\n")
    run("train", "-", "-o", tmp_path / "m", "-q", "--features", "word")
    stdin("Ann\n")
    assert run("tag", tmp_path / "m", "-n", 4)[1] == "Ann\tA\tB\t_\t_\n"


@pytest.mark.parametrize(
    ("text", "tagged"),
    [
        ("a b\r\nc d\r\n\r\n", "a b O\r\nc d O\r\n\r\n"),
        ("a b  \nc   d\n \n", "a b O\nc   d O\n \n"),
        ("a\tb\n# c\nd\te", "a\tb\tO\n# c\nd\te\tO"),
        ("-DOCSTART- -X-\n\na b\n", "-DOCSTART- -X-\n\na b O\n"),
        ("\ufeffa b\n", "a b O\n"),
        ("\n\n\n", "\n\n\n"),
        ("", ""),
        ("# b\n# d\n", "# b O\n# d O\n"),
        ("a b\r\r\n", "a b O\r\r\n"),
    ],
)
def test_everything_else_in_a_file_stays(run, stdin, tmp_path, text, tagged):
    stdin("x y O\n")
    run("train", "-", "-o", tmp_path / "m", "-q", "--features", "word")
    stdin(text)
    assert run("tag", tmp_path / "m") == (0, tagged, "")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_file_comes_back_once_the_added_column_is_cut_off(
    files, tmp_path, lines, end, last
):
    text = end.join(["Ann\tNNP", *lines]) + end * last
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(text.encode())
    assert main(["tag", str(files / "m.skcw"), str(source), "-o", str(target)]) == 0
    restored = []
    for line in target.read_bytes().decode().split("\n"):
        cut, tab, label = line.rpartition("\t")
        is_word = tab and "\t" in cut
        restored.append(cut + "\r" * label.endswith("\r") if is_word else line)
    assert "\n".join(restored) == text


def test_blocks_do_not_show(run, files, monkeypatch):
    whole = run("tag", files / "m.skcw", files / "test.conll", "-c")[1]
    monkeypatch.setattr("skcw.io.corpora.BLOCK_TOKENS", 7)
    assert run("tag", files / "m.skcw", files / "test.conll", "-c")[1] == whole
    args = [files / "m.skcw", files / "test.conll", "-c", "--sentence-buffered"]
    assert run("tag", *args)[1] == whole


def test_a_sentence_is_answered_before_the_next_is_asked_for(files, monkeypatch):
    written = io.BytesIO()
    seen = []

    class Typist(io.RawIOBase):
        sentences = [b"Ann NNP\n\n", b"left VBD\n\n"]

        def readable(self):
            return True

        def readinto(self, buffer):
            seen.append(written.getvalue().count(b"\n"))
            piece = self.sentences.pop(0) if self.sentences else b""
            buffer[: len(piece)] = piece
            return len(piece)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Typist())))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))
    assert main(["tag", str(files / "m.skcw"), "--sentence-buffered"]) == 0
    assert seen[:3] == [0, 2, 4]


def test_columns_after_those_learned_are_not_looked_at(run, files, tmp_path):
    with_gold = run("tag", files / "m.skcw", files / "test.conll")[1].split("\n")
    bare = tmp_path / "bare"
    lines = (files / "test.conll").read_text().split("\n")
    bare.write_text("\n".join(line.rpartition(" ")[0] for line in lines))
    without = run("tag", files / "m.skcw", bare)[1].split("\n")
    assert [x.split(" ")[3:] for x in with_gold] == [x.split(" ")[2:] for x in without]


def test_a_label_column_in_the_way_is_left_out(run, files, tmp_path):
    other = tmp_path / "other"
    rows = [line.split() for line in (files / "test.conll").read_text().split("\n")]
    other.write_text("\n".join(" ".join([*r[2:], *r[:2]]) for r in rows))
    expected = run("tag", files / "m.skcw", files / "test.conll")[1].split()[3::4]
    for args in (["--label-column", 0], ["--columns", "word=1,pos=2"]):
        assert run("tag", files / "m.skcw", other, *args)[1].split()[3::4] == expected


def test_output_goes_to_a_file_in_the_encoding_of_the_input(run, files, tmp_path):
    source = tmp_path / "in"
    for encoding in ("latin-1", "utf-16"):
        source.write_bytes("José NNP\nfällt VBD\n".encode(encoding))
        args = ["-o", tmp_path / "out", "--encoding", encoding]
        assert run("tag", files / "m.skcw", source, *args) == (0, "", "")
        text = (tmp_path / "out").read_bytes().decode(encoding)
        assert [line.rpartition(" ")[0] for line in text.split("\n")] == [
            "José NNP", "fällt VBD", "",
        ]  # fmt: skip


def test_output_is_compressed_if_its_name_says_so(run, files, tmp_path):
    packed = tmp_path / "in.gz"
    packed.write_bytes(gzip.compress((files / "test.conll").read_bytes()))
    run("tag", files / "m.skcw", packed, "-o", tmp_path / "out.gz")
    expected = run("tag", files / "m.skcw", files / "test.conll")[1]
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).decode() == expected


def test_lines_of_a_treebank_that_are_no_words_are_filled_up(run, stdin, tmp_path):
    rest = "\t_" * 8
    stdin(f"1\tEs\t_\tPRON{'	_' * 6}\n2\tgeht\t_\tVERB{'	_' * 6}\n\n")
    run("train", "-", "-o", tmp_path / "m", "-q", "--conllu", "--features", "word")
    stdin(f"# text\n1-2\tEsgeht{rest}\n1\tEs{rest}\n2\tgeht{rest}\n2.1\tx{rest}\n\n")
    assert run("tag", tmp_path / "m", "--conllu")[1] == (
        f"# text\n1-2\tEsgeht{rest}\t_\n1\tEs{rest}\tPRON\n2\tgeht{rest}\tVERB\n"
        f"2.1\tx{rest}\t_\n\n"
    )


def test_comments_may_begin_with_anything(run, files, stdin):
    stdin("%% a comment of five words\nAnn NNP\n")
    lines = run("tag", files / "m.skcw", "--comment", "%%")[1].split("\n")
    assert lines[0] == "%% a comment of five words"
    assert lines[1].split(" ")[:2] == ["Ann", "NNP"]


def test_labels_are_written_in_the_scheme_asked_for(run, stdin, tmp_path):
    stdin("Ann B-PER\nSmith I-PER\n\n")
    free = ["--set", "constraints=None"]
    run("train", "-", "-o", tmp_path / "m", "-q", "--features", "word", *free)
    stdin("Ann\nSmith\n")
    rows = run("tag", tmp_path / "m", "--scheme", "IOBES", "-n", 4)[1].split()
    assert rows[1::5] == ["B-PER", "E-PER"]
    # I-PER alone is no label of IOBES, in no labeling.
    assert set(rows) <= {"Ann", "Smith", "B-PER", "E-PER", "S-PER"}


def test_a_bad_line_is_named_and_leaves_no_file(run, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = "Ann NNP\n" * 16
    (tmp_path / "corpus.conll").write_text(good + "left\n")
    (tmp_path / "out").write_text("old")
    args = ["corpus.conll", "-o", "out"]
    code, out, err = run("tag", files / "m.skcw", *args)
    assert (code, out) == (1, "")
    assert err.startswith("skcw tag: corpus.conll, line 17: 1 column where 2 are")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["corpus.conll", "out"]
    assert (tmp_path / "out").read_text() == "old"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ann\n", "<stdin>, line 1: 1 column; the model needs 2: word, pos"),
        (b"Jos\xe9 NNP\n", "pass it: --encoding latin-1"),
        ("a b\n# c d\n", 'pass --comment "#"'),
    ],
)
def test_columns_that_do_not_fit_are_told(run, files, stdin, text, message):
    stdin(text)
    code, _, err = run("tag", files / "m.skcw")
    assert code == 1 and message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Madrid\nRome\n", "is not a skcw model; `skcw train` writes one"),
        (b"", "is not a skcw model; `skcw train` writes one"),
        (b"\x09" + b"\0" * 7 + b"{}", "is not a complete skcw model"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_model_is_told(run, tmp_path, content, message):
    path = tmp_path / "m.skcw"
    if content is not None:
        path.write_bytes(content)
    code, _, err = run("tag", path)
    assert code == 1 and err.startswith("skcw tag: ") and str(path) in err
    assert message in err and err.count("\n") == 1


def test_a_sentence_in_one_line_is_noticed(run, files, stdin):
    stdin("Ann left Madrid today .\n")
    code, out, err = run("tag", files / "m.skcw")
    assert code == 0 and out.startswith("Ann left Madrid today . ")
    many, unknown = err.splitlines()
    assert many.startswith(
        "skcw tag: warning: <stdin>, line 1: 5 columns where the model has learned "
        "from 2 (word, pos)"
    )
    assert "knows almost no value of column 1" in unknown


@pytest.mark.parametrize(("n_columns", "warned"), [(2, 0), (4, 0), (5, 1)])
def test_columns_of_other_taggers_are_no_reason_to_warn(
    run, files, stdin, n_columns, warned
):
    stdin(" ".join(["Ann", "NNP", *"OOO"][:n_columns]) + "\n")
    code, _, err = run("tag", files / "m.skcw")
    assert code == 0 and err.count("warning") == warned


def test_a_column_of_labels_in_the_place_of_another_is_noticed(run, files, tmp_path):
    other = tmp_path / "other"
    rows = [line.split() for line in (files / "test.conll").read_text().split("\n")]
    other.write_text("\n".join(" ".join([*r[:1], *r[2:]]) for r in rows))
    code, out, err = run("tag", files / "m.skcw", other)
    assert code == 0 and out and err.count("\n") == 1
    assert (
        f"warning: {other}, line 1: the model knows almost no value of column 1, "
        in err
    )
    assert "takes for pos (such as '" in err and "--columns" in err


def test_a_tagger_without_features_cannot_tag_a_file(run, tmp_path):
    tagger = skcw.CWSequenceTagger().fit([["a", "b"]], [["A", "B"]])
    tagger.save(tmp_path / "m")
    code, _, err = run("tag", tmp_path / "m")
    assert code == 1 and "cannot read columns of words" in err


@pytest.mark.parametrize(
    ("advice", "told"),
    [
        (
            "it follows a rule; fit on more, or call fit_confidence with others",
            "it follows a rule; train it on more sentences",
        ),
        ("scale them or use dtype='float64'", "scale them or use --set dtype=float64"),
    ],
)
def test_advice_is_for_a_command_line(advice, told):
    assert one_line(advice) == told


def test_ctrl_c_leaves_the_old_file(run, files, tmp_path, monkeypatch):
    class Interrupted(io.BytesIO):
        def read1(self, size=-1):
            if self.tell():
                raise KeyboardInterrupt
            return super().read1(size)

    data = (files / "test.conll").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Interrupted(data)))
    (tmp_path / "out").write_text("old")
    code, out, err = run("tag", files / "m.skcw", "-o", tmp_path / "out")
    assert (code, out, err) == (130, "", "skcw tag: interrupted\n")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "old"


def test_probabilities_are_written_as_python_writes_them():
    numbers = np.array([0.0, 1.0, 0.5, 0.99999999, 0.123456784, 0.00000001, 0.9999])
    found = as_text({"confidence": numbers})["confidence"]
    assert found == [f"{number:.8f}" for number in numbers.tolist()]
