"""The example of CONTRIBUTING, "Add a file format", is all that a format needs."""

import re
from pathlib import Path

import pytest

from skcw.cli import main
from skcw.datasets import make_tagged_corpus
from skcw.io import write_columns
from skcw.io.formats import FORMATS, guess_format

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture
def slash():
    """Run the example, which registers the format "slash" for the time of a test."""
    section = GUIDE.read_text(encoding="utf-8").partition("## Add a file format\n")[2]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    try:
        exec(compile(code, str(GUIDE), "exec"), {"__name__": "guide"})
        yield FORMATS["slash"]
    finally:
        FORMATS.pop("slash", None)


@pytest.fixture
def corpus(tmp_path):
    """A column file with tokens and labels."""
    corpus = make_tagged_corpus(60, random_state=0)
    tokens = [[word for word, _ in sentence] for sentence in corpus.tokens]
    write_columns(tmp_path / "corpus.conll", tokens, corpus.labels)
    return tmp_path / "corpus.conll"


def run(*words):
    return main([*map(str, words), "-q"])


def test_it_is_read_and_written_by_convert(slash, corpus, tmp_path):
    middle, last = tmp_path / "corpus.slash", tmp_path / "last.conll"
    assert run("convert", corpus, middle) == 0
    assert re.fullmatch(r"(\S+/\S+ )*\S+/\S+", middle.read_text().partition("\n")[0])
    assert run("convert", middle, last) == 0
    assert last.read_text() == corpus.read_text()


def test_it_is_learned_from_tagged_and_echoed(slash, corpus, tmp_path):
    path, model = tmp_path / "corpus.slash", tmp_path / "model.skcw"
    assert run("convert", corpus, path) == 0
    assert run("train", path, "-o", model, "--passes", 2) == 0
    assert run("tag", model, path, "-o", tmp_path / "tagged.slash") == 0
    assert run("tag", model, corpus, "-o", tmp_path / "tagged.conll") == 0
    tagged = (tmp_path / "tagged.slash").read_text().split()
    columns = (tmp_path / "tagged.conll").read_text().split("\n")
    expected = [line.split("\t") for line in columns if line]
    assert tagged == [f"{row[0]}/{row[-1]}" for row in expected]


def test_its_errors_name_file_and_line(slash, tmp_path, capsys):
    path = tmp_path / "bad.slash"
    path.write_text("Ann/B-PER left/O\nBob\n")
    assert run("convert", path, tmp_path / "out.conll") == 1
    assert f"{path}, line 2: each token needs a label" in capsys.readouterr().err


def test_the_help_lists_it(slash, capsys):
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    out = capsys.readouterr().out
    assert "slash     Ann/B-PER left/O" in out
    assert "tokens with slashes" in " ".join(out.split())


def test_the_examples_format_is_gone_after_its_tests():
    assert "slash" not in FORMATS
    assert guess_format("Ann/O", "Ann/O", "x.slash") == "columns"
