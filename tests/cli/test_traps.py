"""What went wrong in silence on the command line, and what it says now."""

import json
import os
import re

import pytest

from skcw.cli.main import COMMANDS, make_parsers
from skcw.datasets import make_tagged_corpus
from tests.cli.conftest import text_of


def conllu(corpus):
    return "".join(
        "".join(
            f"{i}\t{word}\t_\t{tag}\t_\t_\t0\troot\t_\t_\n"
            for i, (word, tag) in enumerate(sentence, 1)
        )
        + "\n"
        for sentence in corpus.tokens
    )


@pytest.fixture
def corpus():
    return make_tagged_corpus(40, random_state=1)


def test_conllu_is_learned_from_without_being_told(run, tmp_path, corpus):
    path, model = tmp_path / "ud.txt", tmp_path / "m.skcw"
    path.write_text(conllu(corpus))
    code, out, err = run("train", path, "-o", model, "--features", "pos", "--json")
    assert code == 0
    assert f"skcw train: {path} is read as CoNLL-U (--format says otherwise)\n" in err
    assert json.loads(out)["labels"] == len({t for s in corpus.tokens for _, t in s})


def test_a_column_without_labels_is_not_learned(run, tmp_path, corpus):
    path, model = tmp_path / "ud.txt", tmp_path / "m.skcw"
    path.write_text(conllu(corpus))
    code, _, err = run("train", path, "-o", model, "--format", "columns")
    assert code == 1
    assert err == (
        "skcw train: column 9 holds nothing but _, which is not a label; "
        "--label-column tells where they are\n"
    )
    code, _, err = run("train", path, "-o", model, "--conllu", "--label-column", 4)
    assert code == 1
    assert err == (
        f"skcw train: column 4 of {path} holds no labels, only _; --label-column "
        "tells where they are\n"
    )
    assert not model.exists()


def test_one_label_alone_is_told(run, tmp_path):
    path = tmp_path / "words"
    path.write_text("Ann O\nleft O\n\nBob O\n")
    code, _, err = run("train", path, "-o", tmp_path / "m.skcw", "-q")
    assert code == 0
    assert "warning: column -1 of" in err
    assert "holds one label only, 'O', so there is nothing to learn" in err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_told_by_its_name(run, tmp_path, corpus, encoding):
    path, model = tmp_path / "words", tmp_path / "m.skcw"
    path.write_bytes(text_of(corpus).encode(encoding))
    code, _, err = run("train", path, "-o", model)
    assert code == 1
    assert err == (
        f"skcw train: {path} is in {encoding.upper()}, not in utf-8; pass it: "
        f"--encoding {encoding}\n"
    )
    assert run("train", path, "-o", model, "--encoding", encoding, "-q")[0] == 0


def test_a_folder_is_not_called_a_missing_model(run, tmp_path):
    for command in ("tag", "evaluate", "inspect"):
        more = [tmp_path / "x"] if command == "evaluate" else []
        code, _, err = run(command, tmp_path, *more)
        assert (code, err) == (1, f"skcw {command}: {tmp_path}: Is a directory\n")


def test_two_model_files_of_the_same_training_are_equal(run, tmp_path, corpus):
    path = tmp_path / "words"
    path.write_text(text_of(corpus))
    found = []
    for name in ("a", "b"):
        assert run("train", path, "-o", tmp_path / name, "-q", "--passes", 3)[0] == 0
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1]


def test_every_command_has_json():
    _, parsers = make_parsers()
    assert set(parsers) == set(COMMANDS)
    for parser in parsers.values():
        assert "--json" in parser.format_help()


@pytest.mark.filterwarnings("default::skcw.exceptions.OutsideLabelWarning")
def test_an_outside_label_of_another_name_can_be_named(run, tmp_path, corpus):
    path, model = tmp_path / "words", tmp_path / "m.skcw"
    path.write_text(re.sub(r" O$", " NONE", text_of(corpus), flags=re.MULTILINE))
    code, _, err = run("train", path, "-o", model, "-q", "--passes", 2)
    assert code == 0
    assert err == (
        "skcw train: warning: the label 'NONE' seems to mean that a word is in no "
        'span, but only "O" does: it is learned as a span of its own. Rename it first: '
        "--outside 'NONE'\n"
    )
    args = ["train", path, "-o", model, "-q", "--passes", 2, "--outside", "NONE"]
    code, _, err = run(*args)
    assert (code, err) == (0, "")
    code, out, err = run("evaluate", model, path)
    assert (code, err) == (0, "")
    assert "NONE" not in out


def test_an_outside_label_in_a_tagged_file_is_told(run, stdin):
    text = "Ann B-PER B-PER\nleft NONE NONE\n"
    stdin(text)
    code, out, err = run("evaluate")
    assert (code, "NONE" in out) == (0, True)
    assert err == (
        "skcw evaluate: warning: the label 'NONE' seems to mark words outside of all "
        'spans, but only "O" does: it is counted as a span. Use --outside NONE to read '
        "it as O\n"
    )
    stdin(text)
    assert run("evaluate", "--raw")[2] == ""
    stdin(text)
    code, out, err = run("evaluate", "--outside", "NONE")
    assert (code, err, "NONE" in out) == (0, "", False)


def test_an_outside_label_that_no_scheme_has_is_told(run, tmp_path):
    path = tmp_path / "words"
    path.write_text("Ann B-PER\nleft NONE\n")
    code, _, err = run("convert", path, "-", "--to", "jsonl", "--scheme", "IOBES")
    assert code == 1
    assert "see --outside" in err


def test_standard_input_is_guessed_and_read_whole(run, tmp_path, corpus, stdin):
    stdin(conllu(corpus))
    code, _, err = run("train", "-", "-o", tmp_path / "m.skcw", "-q", "--passes", 2)
    assert (code, err) == (0, "")
    assert os.path.getsize(tmp_path / "m.skcw")


def test_labels_that_a_scheme_cannot_have_are_named_by_file_and_line(run, tmp_path):
    (tmp_path / "c").write_text("Ann B-PER O\n\n\nBob O O\nmet NN O\n")
    (tmp_path / "t.csv").write_text("sentence_id,word,label\n1,Ann,O\n2,Bob,NN\n")
    labels = {"c": ["--label-column", 1], "t.csv": []}
    for name, line, place in (
        ("c", 5, "sentence 1, token 1"),
        ("t.csv", 3, "sentence 1, token 0"),
    ):
        path, scheme = tmp_path / name, [*labels[name], "--scheme", "IOBES"]
        told = f"{place} has the label 'NN', which is neither"
        _, _, err = run("train", path, "-o", tmp_path / "m", *scheme)
        assert f"skcw train: {path}, line {line}: {told}" in err
        _, _, err = run("convert", path, tmp_path / "new.jsonl", *scheme)
        assert f"skcw convert: {path}, line {line}: {told}" in err
    _, _, err = run("evaluate", tmp_path / "c", *labels["c"], "--scheme", "IOBES")
    assert f"skcw evaluate: {tmp_path / 'c'}, sentence 1, token 1 has" in err


def test_results_that_cannot_be_written_are_refused_before_the_work(
    run, files, tmp_path, monkeypatch
):
    (tmp_path / "folder").mkdir()
    train, model = files / "train.conll", files / "m.skcw"
    for command in (
        ["compare", train, train, "--json=FILE"],
        ["train", train, "-o", tmp_path / "m", "--json=FILE"],
        ["check", train, "--json=FILE"],
        ["inspect", model, "--label", "O", "--plot", "FILE"],
        ["tag", model, train, "-o", "FILE"],
    ):
        for name, fault in (
            ("no/a.png", "there is no such folder"),
            ("folder", "is a folder, not a file"),
        ):
            path = str(tmp_path / name)
            given = [str(word).replace("FILE", path) for word in command]
            code, out, err = run(*given)
            assert (code, out) == (1, "") and err.endswith(f"{fault}\n")
            assert err.count("\n") == 1

    def refuse(dir):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    code, _, err = run("train", train, "-o", tmp_path / "m")
    assert code == 1 and "the folder cannot be written to" in err


def test_a_model_is_no_corpus(run, files, tmp_path):
    for command in (
        ["train", files / "m.skcw", "-o", tmp_path / "m"],
        ["tag", files / "m.skcw", files / "m.skcw"],
        ["tag", files / "m.skcw", files / "m.skcw", "--text"],
    ):
        code, _, err = run(*command)
        assert code == 1 and err.endswith("m.skcw is not a text but a model of skcw\n")


@pytest.mark.filterwarnings("default::skcw.exceptions.OutsideLabelWarning")
def test_misspelled_labels_are_told(run, tmp_path):
    right = text_of(make_tagged_corpus(100, random_state=1))
    wrong = right.replace(" B-PER\n", " B-PRE\n", 1).replace(" B-ORG\n", " BORG\n", 1)
    (tmp_path / "right").write_text(right)
    (tmp_path / "wrong").write_text(wrong)
    model, passes = tmp_path / "m.skcw", ["--passes", 2]
    code, _, err = run("train", tmp_path / "wrong", "-o", model, *passes)
    assert code == 0
    assert (
        "skcw train: warning: a few labels follow no scheme, while all others do: "
        "'BORG' (1); typing errors? They are learned as they are\n" in err
    )
    assert "skcw train: labels that occur once: B-PRE; a typing error?\n" in err
    # One slip does not break the spans into words.
    code, out, _ = run("check", tmp_path / "wrong", *passes)
    assert code == 0 and "\nBORG" in out and "I-ORG " in out and "I-ORG -> " not in out
    unknown = "labels of {} that the model does not know: 'B-PRE' (1), 'BORG' (1)\n"
    unknown = unknown.format(tmp_path / "wrong")
    for option in ("--dev", "--calibrate"):
        args = ["train", tmp_path / "right", "-o", model, option, tmp_path / "wrong"]
        if option == "--calibrate":
            args += ["--allow-training-data", "--accept-risk", 0.5]
        code, _, err = run(*args, *passes)
        assert code == 0 and f"skcw train: {unknown}" in err
        assert "occur once" not in err
    code, _, err = run("evaluate", model, tmp_path / "wrong")
    assert (code, err) == (0, f"skcw evaluate: {unknown}")
