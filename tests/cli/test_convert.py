"""``skcw convert``: nothing is lost between formats that can hold it."""

import json
from itertools import chain

import pytest

from skcw.datasets import make_tagged_corpus
from skcw.io import read_columns
from tests.cli.conftest import text_of

TARGETS = ("conllu", "csv", "jsonl", "ids", "prodigy", "doccano", "spacy")


@pytest.fixture
def corpus(tmp_path):
    corpus = make_tagged_corpus(15, random_state=3)
    path = tmp_path / "corpus.conll"
    path.write_text(text_of(corpus).replace(" ", "\t"))
    return path


@pytest.fixture
def names(tmp_path, corpus):
    path = tmp_path / "names.txt"
    labels = {label for _, _, label in chain.from_iterable(read_columns(corpus))}
    path.write_text("\n".join(sorted(labels)))
    return ["--label-names", path]


@pytest.mark.parametrize("target", ["csv", "jsonl", "ids"])
def test_there_and_back_gives_the_same_file(run, tmp_path, corpus, names, target):
    middle, last = tmp_path / "middle", tmp_path / "last.conll"
    code, out, err = run("convert", corpus, middle, "--to", target, *names)
    assert (code, out) == (0, "")
    assert err.startswith("skcw convert: 15 sentences, ")
    assert run("convert", middle, last, *names, "-q")[0] == 0
    assert last.read_text() == corpus.read_text()


def test_conllu_has_the_label_and_the_part_of_speech(run, tmp_path, corpus):
    middle, last = tmp_path / "middle.conllu", tmp_path / "last.conll"
    assert run("convert", corpus, middle, "-q")[0] == 0
    columns = ["--columns", "word=form,pos=xpos"]
    assert run("convert", middle, last, *columns, "-q") == (0, "", "")
    assert last.read_text() == corpus.read_text()


@pytest.mark.parametrize("target", ["prodigy", "doccano", "spacy"])
def test_spans_are_the_same_in_a_text(run, tmp_path, corpus, target):
    words, middle = tmp_path / "words.conll", tmp_path / "middle.jsonl"
    assert run("convert", corpus, words, "--columns", "word", "-q")[0] == 0
    assert run("convert", words, middle, "--to", target, "-q")[0] == 0
    spans = [json.loads(line) for line in middle.read_text().splitlines()]
    assert len(spans) == 15
    last = tmp_path / "last.jsonl"
    assert run("convert", middle, last, "--to", target, "-q")[0] == 0
    assert [json.loads(line) for line in last.read_text().splitlines()] == spans
    if target == "prodigy":
        assert run("convert", middle, tmp_path / "last.conll", "-q")[0] == 0
        assert (tmp_path / "last.conll").read_text() == words.read_text()


def test_the_text_of_a_record_stays(run, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "Ann  left.", "label": [[0, 3, "P"]]}\n'
    )
    assert run("convert", tmp_path / "a.jsonl", "-", "--to", "doccano", "-q") == (
        0,
        '{"text": "Ann  left.", "label": [[0, 3, "P"]]}\n',
        "",
    )


def test_labels_can_be_converted_chosen_or_left_out(run, stdin, tmp_path):
    record = {"tokens": ["Ann", "left"], "tags": ["B-P", "O"], "predicted": ["O", "O"]}
    text = json.dumps(record)

    def converted(*options):
        stdin(text)
        code, out, err = run("convert", "-", "-", "--to", "columns", "-q", *options)
        assert code == 0, err
        return out

    assert converted() == "Ann\tB-P\nleft\tO\n\n"
    assert converted("--scheme", "IOBES") == "Ann\tS-P\nleft\tO\n\n"
    # True labels are then a column like others.
    assert converted("--label-column", "predicted") == "Ann\tB-P\tO\nleft\tO\tO\n\n"
    only = ["--columns", "word", "--label-column", "predicted"]
    assert converted(*only) == "Ann\tO\nleft\tO\n\n"
    assert converted("--label-column", "none") == "Ann\nleft\n\n"


def test_one_column_holds_no_labels(run, tmp_path):
    (tmp_path / "words.txt").write_text("Ann\nleft\n")
    out = run("convert", tmp_path / "words.txt", "-", "--json", "-q")[1]
    assert json.loads(out) == {"tokens": ["Ann", "left"]}


@pytest.mark.parametrize("name", ["out.csv.gz", "out.jsonl.gz", "out.conll.gz"])
def test_the_same_corpus_gives_the_same_bytes(run, tmp_path, corpus, name):
    found = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        assert run("convert", corpus, tmp_path / folder / name, "-q")[0] == 0
        found.append((tmp_path / folder / name).read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["out"], 2, "does not tell its format; --to is one of columns, conllu"),
        (["out.jsonl", "--to", "ids"], 2, "--to ids needs"),
        (["out.csv", "--json", "--to", "csv"], 2, "--json is --to jsonl"),
        (["out.jsonl", "--to", "ids", "--label-names", "O,X"], 1, "has no number"),
    ],
)
def test_what_cannot_be_done_is_told(run, corpus, tmp_path, options, code, message):
    output, *options = options
    found = run("convert", corpus, tmp_path / output, *options)
    assert found[0] == code
    assert message in found[2]
    assert not (tmp_path / output).exists()


def test_a_word_that_a_column_cannot_hold_is_told(run, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["a\\tb"], "tags": ["O"]}\n')
    code, _, err = run("convert", tmp_path / "a.jsonl", tmp_path / "b.conll")
    assert code == 1
    assert "'a\\tb' cannot stand in a column: it holds the separator" in err


FAULTY = "Ann B-P\nLee I-P\nsaw O\nBob I-P\n\nBob I-P\nsaw O\nUN B-O\n\n"


@pytest.mark.parametrize("options", [("--to", "doccano"), ("--scheme", "IOBES")])
def test_repaired_labels_are_told_once_with_their_line(run, tmp_path, options):
    (tmp_path / "a.conll").write_text(FAULTY)
    command = ["convert", tmp_path / "a.conll", tmp_path / "out.jsonl"]
    err = run(*command, *options)[2]
    assert err.count("labels repaired: 2, sentences: 2; first") == 1
    assert "a.conll, line 4: sentence 0, token 3, I-P after O, read as B-P" in err
    # Labels that are written as they are need no repair.
    assert "labels repaired" not in run(*command)[2]
    (tmp_path / "a.conll").write_text("Ann NN\nruns VB\n\n")
    assert "labels repaired" not in run(*command, "--to", "doccano")[2]


def test_spans_that_cut_a_word_are_told_in_one_line(run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "Ann Lee.", "label": [[0, 5, "P"]]}\n')
    command = ["convert", path, "-", "--to", "columns", "--format", "jsonl"]
    code, out, err = run(*command)
    assert (code, out) == (0, "Ann\tB-P\nLee\tI-P\n.\tO\n\n")
    assert len(err.splitlines()) == 2
    assert f"first: {path}, line 1: 'Ann L' (P) touches ['Ann', 'Lee']" in err
    assert "(--misaligned says otherwise)" in err
    assert run(*command, "-q", "--misaligned", "drop")[1].count("O") == 3
    code, _, err = run(*command, "--misaligned", "raise")
    assert code == 1
    assert "line 1: the span 0 to 5 (P), 'Ann L', cuts a token" in err
