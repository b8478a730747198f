"""A model remembers how the file that it has learned from was read."""

import pytest

import skcw
from skcw.datasets import make_tagged_corpus
from skcw.io.model_files import read_model

CORPORA = {
    name: make_tagged_corpus(n, random_state=seed)
    for name, n, seed in (("train", 60, 1), ("test", 25, 2))
}


def lines(corpus, layout, separator=" "):
    """Return a corpus in columns; `layout` takes word, tag and label."""
    return "".join(
        "".join(
            separator.join(layout(*token, label)) + "\n"
            for token, label in zip(x, y, strict=True)
        )
        + "\n"
        for x, y in zip(corpus.tokens, corpus.labels, strict=True)
    )


LAYOUTS = {
    "plain": (lambda word, tag, label: (word, tag, label), []),
    "label first": (lambda word, tag, label: (label, word, tag), ["--label-column", 0]),
    "label in the middle": (
        lambda word, tag, label: (word, label, tag),
        ["--label-column", 1],
    ),
    "columns chosen": (
        lambda word, tag, label: ("7", word, "_", label, tag, "x"),
        ["--columns", "word=1,pos=4", "--label-column", 3],
    ),
}


@pytest.fixture(params=LAYOUTS)
def trained(request, run, tmp_path):
    """Return a folder with a model and a test file of the same layout, and that."""
    layout, options = LAYOUTS[request.param]
    for name, corpus in CORPORA.items():
        (tmp_path / name).write_text(lines(corpus, layout))
    args = [tmp_path / "train", "-o", tmp_path / "m.skcw", "-q", "--passes", 3]
    assert run("train", *args, *options)[0] == 0
    return tmp_path, layout, options


@pytest.fixture
def plain(run, tmp_path):
    """Return what the same model says of the test file in the plain layout."""
    folder = tmp_path / "plain"
    folder.mkdir()
    for name, corpus in CORPORA.items():
        (folder / name).write_text(lines(corpus, LAYOUTS["plain"][0]))
    args = [folder / "train", "-o", folder / "m.skcw", "-q", "--passes", 3]
    assert run("train", *args)[0] == 0
    return folder


def labels(text):
    return [line.split()[-1] for line in text.splitlines() if line]


def test_evaluating_needs_no_option_of_training(run, trained, plain):
    folder, _, options = trained
    code, out, err = run("evaluate", folder / "m.skcw", folder / "test")
    assert (code, err) == (0, "")
    assert out == run("evaluate", folder / "m.skcw", folder / "test", *options)[1]
    assert out == run("evaluate", plain / "m.skcw", plain / "test")[1]


def test_tagging_finds_the_columns_with_and_without_labels(run, trained, plain):
    folder, layout, _ = trained
    expected = labels(run("tag", plain / "m.skcw", plain / "test")[1])
    code, out, err = run("tag", folder / "m.skcw", folder / "test")
    assert code == 0, err
    assert labels(out) == expected
    mark = "LABEL"
    cells = layout("word", "tag", mark)
    bare = lines(CORPORA["test"], lambda word, tag, label: without(layout, word, tag))
    (folder / "new").write_text(bare)
    code, out, err = run("tag", folder / "m.skcw", folder / "new")
    assert code == 0, err
    assert labels(out) == expected
    assert mark in cells


def without(layout, word, tag):
    return [cell for cell in layout(word, tag, None) if cell is not None]


def test_what_is_assumed_is_told_unless_it_is_the_order_of_the_file(run, trained):
    folder, _, options = trained
    test = folder / "test"
    _, _, err = run("tag", folder / "m.skcw", test)
    expected = {
        (): "",
        (
            "--label-column",
            0,
        ): f"skcw tag: column 0 of {test}, the labels in training, is "
        "left out (--label-column or --columns says otherwise)\n",
        (
            "--label-column",
            1,
        ): f"skcw tag: column 1 of {test}, the labels in training, is "
        "left out (--label-column or --columns says otherwise)\n",
        (
            "--columns",
            "word=1,pos=4",
            "--label-column",
            3,
        ): f"skcw tag: {test} is read as in training: --columns word=1,pos=4\n",
    }
    assert err == expected[tuple(options)]


def test_inspecting_remembers_too(run, trained, plain):
    folder, _, _ = trained
    found = run("inspect", folder / "m.skcw", folder / "test", "--at", 1, "--json")
    assert found[0] == 0
    other = run("inspect", plain / "m.skcw", plain / "test", "--at", 1, "--json")
    assert found[1] == other[1]


def test_a_file_that_fits_neither_way_is_told(run, trained):
    folder, _, options = trained
    (folder / "odd").write_text("a b c\n")
    code, _, err = run("tag", folder / "m.skcw", folder / "odd")
    if "--columns" in options:
        assert code == 1
        assert "has 3 columns and the training file had 6; --columns tells" in err
    else:
        assert code == 0


def test_options_win_over_memory(run, trained):
    folder, _, options = trained
    other = lines(CORPORA["test"], LAYOUTS["plain"][0])
    (folder / "plain").write_text(other)
    given = ["--columns", "word=0,pos=1", "--label-column", 2]
    code, out, err = run("evaluate", folder / "m.skcw", folder / "plain", *given)
    assert (code, err) == (0, "")
    assert out == run("evaluate", folder / "m.skcw", folder / "test", *options)[1]


def test_separator_scheme_and_outside_are_remembered(run, tmp_path):
    def layout(word, tag, label):
        return word, "NONE" if label == "O" else label

    for name, corpus in CORPORA.items():
        (tmp_path / name).write_text(lines(corpus, layout, "|"))
    options = ["--separator", "|", "--outside", "NONE", "--scheme", "IOBES"]
    args = [tmp_path / "train", "-o", tmp_path / "m.skcw", "-q", "--passes", 3]
    code, _, err = run("train", *args, *options)
    assert (code, err) == (0, "")
    code, out, err = run("evaluate", tmp_path / "m.skcw", tmp_path / "test")
    assert (code, err) == (0, "")
    given = run("evaluate", tmp_path / "m.skcw", tmp_path / "test", *options)[1]
    assert out == given
    tagged = run("tag", tmp_path / "m.skcw", tmp_path / "test")[1]
    found = {line.rpartition("|")[2] for line in tagged.splitlines() if line}
    assert "O" in found
    assert "NONE" not in found
    assert any(label.startswith("S-") for label in found)


def test_another_encoding_is_remembered_where_utf_8_fails(run, tmp_path):
    text = "Älg O\nAnn B-PER\n\nBör O\nAnn B-PER\n\n" * 5
    (tmp_path / "train").write_text(text, encoding="latin-1")
    (tmp_path / "utf8").write_text(text, encoding="utf-8")
    args = [
        tmp_path / "train",
        "-o",
        tmp_path / "m.skcw",
        "-q",
        "--encoding",
        "latin-1",
    ]
    assert run("train", *args)[0] == 0
    found = [
        run("evaluate", tmp_path / "m.skcw", tmp_path / name)
        for name in ("train", "utf8")
    ]
    assert found[0] == found[1]
    assert found[0][0] == 0


def test_a_model_that_learns_on_in_python_still_remembers(run, trained):
    folder, _, _ = trained
    before = run("evaluate", folder / "m.skcw", folder / "test")
    model = skcw.load(folder / "m.skcw")
    assert model.reading_ == read_model(folder / "m.skcw")[0]["reading"]
    model.save(folder / "again.skcw")
    assert run("evaluate", folder / "again.skcw", folder / "test") == before
