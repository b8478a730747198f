"""skcw train --memory: learn from a file of any size, or from a pipe."""

import gzip
import json

import pytest

import skcw
from skcw._model import spilling as _spilling

SAME = [
    "--set",
    "shuffle=False",
    "--set",
    "calibrate_confidence=False",
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


@pytest.mark.parametrize("memory", [[], ["--memory", "50M"]])
def test_shards_are_learned_by_any_number_of_workers(run, files, tmp_path, memory):
    corpus, args = files / "train.conll", ["--passes", 3, "-q", "--json", *memory]
    found = {}
    for name, options in {
        "one piece": [],
        "alone": ["--shards", 3],
        "two workers": ["--shards", 3, "--jobs", 2],
    }.items():
        command = ["train", corpus, "-o", tmp_path / name, *args, *options]
        code, out, err = run(*command)
        assert (code, err) == (0, "")
        assert ("bytes_sent" in json.loads(out)["history"][0]) == bool(options)
        found[name] = weights(tmp_path / name)
    assert found["alone"] == found["two workers"] != found["one piece"]
    tagger = skcw.load(tmp_path / "two workers").tagger
    assert tagger.n_jobs is None


def test_in_the_order_of_the_file_shards_are_those_of_training_in_memory(
    run, files, tmp_path
):
    for name, memory in {"a": [], "b": ["--memory", "50M"]}.items():
        command = ["train", files / "train.conll", "-o", tmp_path / name, *SAME]
        assert run(*command, "--shards", 4, *memory)[0] == 0
    assert weights(tmp_path / "a") == weights(tmp_path / "b")


def test_too_many_shards_are_told_and_no_model_is_written(run, files, tmp_path):
    args = ["-o", tmp_path / "m", "--memory", "50M", "--shards", 1000, "-q"]
    code, _, err = run("train", files / "train.conll", *args)
    assert code == 1 and "n_shards is 1000, but there are only 64 sequences" in err
    assert not (tmp_path / "m").exists()


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
        (["--shards", 0], "must be at least 1"),
        (["--shards", 2, "--model", "crf"], "--shards does not go with --model crf"),
    ],
)
def test_wrong_usage(run, files, tmp_path, options, words):
    code, _, err = run("train", files / "train.conll", "-o", tmp_path / "m", *options)
    assert code == 2 and words in err
