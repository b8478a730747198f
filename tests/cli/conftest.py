"""Files and a model that the tests of the command share."""

import io
import sys

import pytest

from skcw.cli import main
from skcw.datasets import make_tagged_corpus


def text_of(corpus):
    """Return a corpus as the text of a column file."""
    return "".join(
        "".join(
            f"{word} {tag} {label}\n"
            for (word, tag), label in zip(words, labels, strict=True)
        )
        + "\n"
        for words, labels in zip(corpus.tokens, corpus.labels, strict=True)
    )


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder with train.conll, test.conll and a model of the first, m.skcw."""
    folder = tmp_path_factory.mktemp("files")
    for name, n, seed in (("train", 80, 1), ("test", 30, 2)):
        text = text_of(make_tagged_corpus(n, random_state=seed))
        (folder / f"{name}.conll").write_text(text, encoding="utf-8")
    corpus, model = str(folder / "train.conll"), str(folder / "m.skcw")
    command = ["train", corpus, "-o", model, "-q", "--passes", "4"]
    assert main([*command, f"--json={folder / 'm.json'}"]) == 0
    return folder


@pytest.fixture
def run(capfd):
    """Run a command line; return exit code, standard output and standard error."""

    def run(*argv):
        capfd.readouterr()
        try:
            code = main([str(word) for word in argv])
        except SystemExit as leave:
            code = leave.code
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def stdin(monkeypatch):
    """Put bytes on standard input."""

    def put(data):
        data = data.encode() if isinstance(data, str) else data
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put
