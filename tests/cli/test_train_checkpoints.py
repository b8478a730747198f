"""skcw train --checkpoint: a command that was killed goes on where it was."""

import signal

import pytest

from skcw._model import checkpoint as module
from tests.killing import really_killed

KILLED = """
from skcw.cli import main

sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
@pytest.mark.parametrize("more", [[], ["--dev"]])
def test_a_killed_command_resumes_with_the_same_model(run, files, tmp_path, more):
    more = [*more, str(files / "test.conll")] if more else []
    command = ["train", str(files / "train.conll"), "--passes", "5", "-q", *more]
    assert run(*command, "-o", tmp_path / "whole")[0] == 0
    saved = ["-o", str(tmp_path / "m"), "--checkpoint", str(tmp_path / "c")]
    really_killed(KILLED, 3, *command, *saved)
    assert not (tmp_path / "m").exists()
    code, _, err = run(*command, *saved)
    assert code == 1 and "of an earlier training" in err and "--resume" in err
    code, _, err = run(*command, *saved, "--resume")
    assert (code, err) == (0, "")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    # What is done needs no checkpoint any more.
    assert not (tmp_path / "c").exists()


def test_other_parameters_are_told(run, files, tmp_path):
    saved = ["-o", tmp_path / "m", "-q", "--checkpoint", tmp_path / "c", "--resume"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.Checkpoint, "clear", lambda self: None)
        assert run("train", files / "train.conll", *saved, "--passes", 2)[0] == 0
    code, _, err = run("train", files / "test.conll", *saved, "--passes", 3)
    assert code == 1
    assert "max_iter was 2 and is 3" in err
    assert "the number of sequences was 80 and is 30" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--resume"], "need --checkpoint DIR"),
        (["--checkpoint-every", "2"], "need --checkpoint DIR"),
        (["--checkpoint", "c", "--model", "crf"], "--checkpoint is for the others"),
        (["--checkpoint", "c", "--checkpoint-every", "0"], "must be at least 1"),
        (["--checkpoint", "c", "--checkpoint-every", "xm"], "not a number of minutes"),
        (["--checkpoint", "c", "--checkpoint-every", "0m"], "is not between 0 and"),
    ],
)
def test_wrong_usage(run, files, tmp_path, options, words, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("train", files / "train.conll", "-o", "m", *options)
    assert code == 2
    assert words in err
    assert not list(tmp_path.iterdir())


def test_minutes_are_taken(run, files, tmp_path):
    saved = ["--checkpoint", tmp_path / "c", "--checkpoint-every", "0.001m"]
    args = ["-o", tmp_path / "m", "-q", "--passes", 2, *saved]
    assert run("train", files / "train.conll", *args)[0] == 0
    assert (tmp_path / "m").exists() and not (tmp_path / "c").exists()
