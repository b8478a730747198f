"""skcw train --memory: learn from a file of any size, or from a pipe."""

import gzip
import json

import pytest

import skcw
from skcw.tagging import _spilling

SAME = [
    "--set",
    "shuffle=False",
    "--set",
    "learn_confidence=False",
    "--passes",
    3,
    "-q",
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_spilling, "FEWEST_WORDS", 200)
    monkeypatch.setattr(_spilling, "MOST_WORDS", 200)


def weights(path):
    return skcw.load(path).tagger.belief_.mean.tobytes()


def test_the_model_is_that_of_training_in_memory(run, files, tmp_path, stdin):
    corpus = (files / "train.conll").read_bytes()
    (tmp_path / "train.conll.gz").write_bytes(gzip.compress(corpus))
    args = [*SAME, "--min-count", 2]
    code, out, _ = run(
        "train", files / "train.conll", "-o", tmp_path / "a", *args, "--json"
    )
    assert code == 0
    whole = json.loads(out)
    for name in (tmp_path / "train.conll.gz", "-"):
        stdin(corpus)
        code, out, err = run(
            "train", name, "-o", tmp_path / "b", *args, "--memory", "100M", "--json"
        )
        assert (code, err) == (0, "")
        assert weights(tmp_path / "b") == weights(tmp_path / "a")
        result = json.loads(out)
        for key in ("sentences", "words", "labels", "features", "passes"):
            assert result[key] == whole[key]
    tagged = [run("tag", tmp_path / name, files / "test.conll") for name in "ab"]
    assert tagged[0] == tagged[1]


def test_a_dev_file_judges(run, files, tmp_path):
    args = [*SAME, "--dev", files / "test.conll", "--memory", "50M"]
    code, out, err = run("train", files / "train.conll", "-o", tmp_path / "m", *args)
    assert (code, err) == (0, "")
    assert "span F1 on the dev file" in out and "pass kept" in out


def test_features_are_capped(run, files, tmp_path):
    args = ["--memory", "50M", "--max-features", 500, "--json"]
    code, out, _ = run(
        "train", files / "train.conll", "-o", tmp_path / "m", *SAME, *args
    )
    assert code == 0 and json.loads(out)["features"] == 500


def test_a_bad_line_is_told_and_no_model_is_written(run, files, tmp_path):
    text = (files / "train.conll").read_text() * 20
    (tmp_path / "bad").write_text(text + "only-a-word\n")
    args = ["-o", tmp_path / "m", *SAME, "--memory", "50M"]
    code, _, err = run("train", tmp_path / "bad", *args)
    assert code == 1 and "bad, line" in err
    (tmp_path / "empty").write_text("\n\n")
    code, _, err = run("train", tmp_path / "empty", *args)
    assert code == 1 and "holds no words" in err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--memory", "much"], "memory is 'much'"),
        (["--memory", "9K"], "at least 1M is needed"),
        (["--max-features", 9], "--max-features needs --memory"),
        (["--memory", "1G", "--model", "crf"], "neither with --model crf"),
        (["--memory", "1G", "--calibrate", "c"], "nor with --calibrate"),
    ],
)
def test_wrong_usage(run, files, tmp_path, options, words):
    code, _, err = run("train", files / "train.conll", "-o", tmp_path / "m", *options)
    assert code == 2 and words in err
