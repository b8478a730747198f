"""The command as a whole: help, exit codes, pipes and signals."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from argparse import Namespace
from pathlib import Path

import pytest

import skcw
from skcw.cli import main
from skcw.cli.main import make_parsers, parse
from skcw.cli.messages import report

PROJECT = Path(__file__).resolve().parents[2]
COMMANDS = ["train", "tag", "evaluate", "compare", "inspect"]
MODULE = [sys.executable, "-m", "skcw"]


def test_the_entry_point_is_this_function():
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert declared["project"]["scripts"] == {"skcw": "skcw.cli:main"}


def test_the_version_is_told(run):
    assert run("--version") == (0, f"skcw {skcw.__version__}\n", "")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_teaches_by_examples(run, command):
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    assert "\nexamples:\n  skcw " in out
    assert max(map(len, out.split("\n"))) <= 88


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_the_help_are_command_lines(command):
    text = make_parsers([command])[1][command].epilog
    examples = re.findall(r"skcw (\w+[^|\n]*)", text)
    assert len(examples) >= 3
    for example in examples:
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', example)]
        assert parse(words).command == words[0]


@pytest.mark.parametrize("argv", [[], ["sing"], ["tag"], ["compare", "--sent", "9"]])
def test_wrong_usage_shows_the_usage(run, argv):
    code, out, err = run(*argv)
    assert (code, out) == (2, "") and err.startswith("usage: skcw")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_whatever_letters_the_terminal_lacks(monkeypatch, encoding):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    result = {"word": "José 山 \ud800"}
    report(Namespace(json="-"), result, "")
    sys.stdout.flush()
    assert json.loads(raw.getvalue().decode(encoding)) == result


def test_the_command_alone_shows_the_help(run):
    code, out, err = run()
    assert (code, out) == (2, "") and err == run("--help")[1]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ("tag m -o out FILE", {"model": "m", "input": "FILE", "output": "out"}),
        ("tag -c m FILE", {"model": "m", "input": "FILE", "confidence": True}),
        ("tag m -c FILE", {"model": "m", "input": "FILE", "confidence": True}),
        ("tag m -c -", {"model": "m", "input": "-", "confidence": True}),
        ("tag m -c", {"model": "m", "input": "-", "confidence": True}),
        ("tag m --label-column -2 FILE", {"label_column": -2, "input": "FILE"}),
        ("inspect m --top 3 FILE", {"model": "m", "file": "FILE", "top": 3}),
        ("inspect --top 3 m", {"model": "m", "file": None, "top": 3}),
        ("evaluate m --raw FILE", {"inputs": ["m", "FILE"], "raw": True}),
        ("evaluate m --json FILE", {"inputs": ["m", "FILE"], "json": "-"}),
        ("evaluate --raw", {"inputs": [], "raw": True}),
        ("compare t1 --learners cw t2", {"train": "t1", "test": "t2"}),
        ("compare --learners cw", {"train": None, "test": None}),
        ("train --passes 3 FILE -o m", {"corpus": "FILE", "output": "m", "passes": 3}),
    ],
)
def test_options_may_stand_among_the_files(argv, expected):
    options = vars(parse(argv.split()))
    assert {name: options[name] for name in expected} == expected


@pytest.mark.parametrize("argv", ["tag m -c FILE more", "train -o m", "tag -c"])
def test_too_many_and_too_few_files_are_told(run, argv):
    command = argv.split()[0]
    code, out, err = run(*argv.split())
    assert (code, out) == (2, "") and err.startswith(f"usage: skcw {command} ")


def test_letters_that_a_terminal_lacks_become_escapes(monkeypatch):
    from skcw.cli.messages import show

    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    show("Jos\xe9")
    sys.stdout.flush()
    assert raw.getvalue() == b"Jos\\xe9\n"


def test_a_result_replaces_the_old_one_with_its_rights(tmp_path):
    from skcw.cli.messages import written

    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o640)
    with written(str(path)) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_to_a_result_stays_a_link(tmp_path):
    from skcw.cli.messages import written

    (tmp_path / "link").symlink_to(tmp_path / "out")
    with written(str(tmp_path / "link")) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "out").read_text() == "new"


def test_a_device_is_written_to_directly():
    from skcw.cli.messages import written

    with written(os.devnull) as file:
        file.write(b"gone")
    assert not Path(os.devnull).is_file()


def test_unbuffered_output_takes_all_and_stays_open(files, tmp_path, monkeypatch):
    raw = io.FileIO(tmp_path / "out", "w")
    stream = io.TextIOWrapper(raw, write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["tag", str(files / "m.skcw"), str(files / "test.conll")]) == 0
    stream.write("more")
    stream.close()
    assert (tmp_path / "out").read_text().endswith("\n\nmore")


@pytest.mark.parametrize(
    "line",
    [
        "compare --help",
        "train none -o new",
        "check none",
        "inspect none",
        "check c --lexicon a=none",
    ],
)
def test_help_and_missing_files_do_without_scikit_learn(line, tmp_path):
    (tmp_path / "c").write_text("Ann B-PER\n")
    probe = f"""if True:
        import sys
        from skcw.cli import main
        try:
            print(main({line.split()}))
        finally:
            print(sorted(sys.modules))
    """
    found = subprocess.run(
        [sys.executable, "-P", "-c", probe],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert f"'skcw.cli.{line.split()[0]}'" in found.stdout
    assert "'sklearn'" not in found.stdout and "'numpy'" not in found.stdout
    assert "--help" in line or found.stderr.endswith(
        "none: No such file or directory\n"
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_early_is_no_error(files, tmp_path, unbuffered):
    long = tmp_path / "long"
    long.write_text((files / "test.conll").read_text() * 40)
    tag = subprocess.Popen(
        [*MODULE, "tag", files / "m.skcw", long],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )
    assert tag.stdout.readline().count(b" ") == 3
    tag.stdout.close()
    assert tag.stderr.read() == b""
    tag.stderr.close()
    assert tag.wait() == 128 + signal.SIGPIPE


def heed_interrupts():
    # A shell lets its background jobs ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_a_training_in_one_line_and_leaves_no_file(files, tmp_path):
    train = subprocess.Popen(
        [*MODULE, "train", files / "train.conll", "-o", tmp_path / "m.skcw"]
        + ["--passes", "1000000"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    assert train.stderr.readline().startswith("pass 1/")
    train.send_signal(signal.SIGINT)
    lines = train.stderr.read().splitlines()
    train.stderr.close()
    assert train.wait() == 128 + signal.SIGINT
    assert lines[-1] == "skcw train: interrupted"
    assert all(line.startswith("pass ") for line in lines[:-1])
    assert not os.listdir(tmp_path)
