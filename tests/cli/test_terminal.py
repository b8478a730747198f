"""What is in files is shown on a terminal and never obeyed by it."""

import io
import os

import pytest

from skcw import make_tagging_pipeline
from skcw.cli import main
from skcw.cli.messages import describe, show, visible, written

ORDERS = ["\x1b[2J", "\x07", "\x9b31m", "\r", "\x7f", "\u202e", "\x00"]


class Terminal(io.TextIOWrapper):
    """Standard output as a terminal."""

    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf-8")

    def isatty(self):
        return True

    def shown(self):
        self.flush()
        return self.buffer.getvalue().decode()


@pytest.mark.parametrize("order", ORDERS, ids=ascii)
def test_control_characters_become_escapes(order):
    shown = visible(f"a{order}b\tc\n")
    assert order not in shown
    assert shown == f"a{ascii(order)[1:-1]}b\tc\n"


def test_letters_of_all_languages_stay():
    text = "Zürich 山 ѣ\tשלום\n"
    assert visible(text) == text


def test_tables_and_tagged_files_are_escaped_on_a_terminal_only(monkeypatch, capsys):
    show("B-\x1b[2J")
    assert "\x1b" in capsys.readouterr().out
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    show("B-\x1b[2J")
    with written("-") as file:
        file.write("山\tB-\x1b[31m\n".encode())
    assert terminal.shown() == "B-\\x1b[2J\n山\tB-\\x1b[31m\n"


def test_names_of_files_in_errors_are_escaped(tmp_path, capsys):
    assert main(["evaluate", str(tmp_path / "no\x1b[2Jfile")]) == 1
    told = capsys.readouterr().err
    assert "\x1b" not in told and "no\\x1b[2Jfile" in told


@pytest.mark.parametrize("label", ["B-\nO", "a\tb", "\r"])
def test_a_label_that_would_leave_its_column_is_refused(label, tmp_path, capsys):
    pipeline = make_tagging_pipeline(["word"]).fit([["a", "b"]], [[label, "O"]])
    pipeline.save(tmp_path / "model")
    (tmp_path / "new").write_text("a\nb\n")
    command = ["tag", str(tmp_path / "model"), str(tmp_path / "new")]
    assert main([*command, "-o", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "which a column file cannot hold" in told and repr(label) in told
    assert sorted(os.listdir(tmp_path)) == ["model", "new"]


def test_a_full_disk_is_told_with_the_name_of_the_file():
    error = OSError(28, "No space left on device", "out.conll")
    assert describe(error) == "out.conll: No space left on device"
