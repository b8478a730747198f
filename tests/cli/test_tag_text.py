"""``skcw tag --text``: plain text on the command line."""

import gzip
import json

import pytest

from skcw import InferenceModel, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus

TEXT = "Dear Añn,\r\n\r\nBob didn't come. See www.x.net!\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "names.skcw"
    corpus = make_tagged_corpus(80, random_state=0)
    words = [[word for word, _ in s] for s in corpus.tokens]
    # Something that the tokenizer must learn.
    X, y = [*words, ["do", "n't", "n't"]], [*corpus.labels, ["O"] * 3]
    make_tagging_pipeline("ner").fit(X, y).save(path)
    return path


@pytest.fixture
def letter(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_bytes(TEXT.encode())
    return path


def test_each_word_has_its_place_and_label(run, model, letter):
    code, out, _ = run("tag", model, "--text", letter, "--confidence")
    sentences = out.strip("\n").split("\n\n")
    assert code == 0
    assert len(sentences) == 3
    expected = InferenceModel.open(model).predict_text(TEXT)
    rows = [line.split("\t") for line in out.splitlines() if line]
    flat = [row for s in expected.tokens() for row in s]
    assert len(rows) == len(flat)
    for (word, start, end, label, sure), (token, expected_label, c) in zip(
        rows, flat, strict=True
    ):
        assert (word, int(start), int(end)) == token
        assert TEXT[int(start) : int(end)] == word
        assert (label, sure) == (expected_label, f"{c:.8f}")


def test_json_has_text_words_and_entities(run, model, letter):
    found = json.loads(run("tag", model, "--text", letter, "--json")[1])
    assert found == InferenceModel.open(model).predict_text(TEXT).to_dict()
    assert "n't" in [token["text"] for token in found["tokens"]]


def test_a_trained_model_has_the_tokenizer_of_its_corpus(run, tmp_path, letter):
    corpus = tmp_path / "train.conll"
    corpus.write_text("did O\nn't O\n\nAnn B-PER\ndid O\nn't O\n\n" * 4)
    run("train", corpus, "-o", tmp_path / "model")
    assert "\nn't\t" in run("tag", tmp_path / "model", "--text", letter)[1]


def test_compressed_text_and_other_encodings_are_read(run, model, tmp_path, letter):
    expected = run("tag", model, "--text", letter)[1]
    packed = tmp_path / "letter.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert run("tag", model, "--text", packed)[1] == expected
    latin = tmp_path / "latin.txt"
    latin.write_bytes(TEXT.encode("latin-1"))
    as_json = ["--encoding", "latin-1", "--json"]
    found = json.loads(run("tag", model, "--text", latin, *as_json)[1])
    assert found["text"] == TEXT


def test_a_wrong_encoding_is_told(run, model, tmp_path):
    latin = tmp_path / "latin.txt"
    latin.write_bytes(TEXT.encode("latin-1"))
    code, _, err = run("tag", model, "--text", latin)
    assert code == 1 and "is not utf-8" in err and "--encoding" in err


@pytest.mark.parametrize(
    "option",
    [["--columns", "word"], ["--conllu"], ["--nbest", "2"], ["--accept"]],
    ids=lambda option: option[0],
)
def test_options_of_column_files_are_refused(run, model, letter, option):
    code, _, err = run("tag", model, "--text", letter, *option)
    assert code == 2 and f"{option[0]} is for column files" in err


def test_a_text_that_is_read_as_columns_is_told_of_the_option(run, files, tmp_path):
    path = tmp_path / "letter.txt"
    for text, code in (("Ann went to Bonn and\nBob left.\n", 1), ("a b c d e f\n", 0)):
        path.write_text(text)
        got, _, err = run("tag", files / "m.skcw", path)
        assert got == code and "; --text reads plain text\n" in err
