"""skcw compare: learners side by side."""

import json

import numpy as np
import pytest

from skcw import CWSequenceTagger
from skcw.cli.compare import share_found
from skcw.data import read_columns
from skcw.features import WindowFeatures
from skcw.metrics import span_f1_score, token_accuracy_score


def test_the_built_in_corpus_is_compared_by_all_learners(run):
    code, out, err = run("compare", "--sentences", 60)
    assert (code, err) == (0, "")
    titles = [line.split("  ")[0] for line in out.split("\n")]
    assert titles[2:] == [
        "learner", "----------", "CW", "AROW", "PA", "perceptron", "CRF", "",
        "found: of the wrong words, those among the 10 % that the learner doubts most",
        "",
    ]  # fmt: skip
    assert out.startswith("45 sentences (")
    header = out.split("\n")[2]
    assert all(f" {title} %" in header for title in ("span F1", "wrong words", "found"))


def test_older_learners_are_compared_when_asked_for(run):
    args = ["--sentences", 60, "--learners", "hmm,maxent", "--json"]
    code, out, _ = run("compare", *args)
    rows = {row["learner"]: row for row in json.loads(out)["learners"]}
    assert code == 0
    assert list(rows) == ["hmm", "maxent"]
    assert rows["maxent"]["token_error"] < rows["hmm"]["token_error"] < 0.5


def test_figures_are_those_of_the_learner_on_its_own(run, files):
    args = [files / "train.conll", files / "test.conll", "--learners", "cw,perceptron"]
    code, out, _ = run("compare", *args, "--features", "pos", "--seed", 3, "--json")
    found = json.loads(out)
    X, y = read_columns(files / "train.conll").split_label()
    X_test, y_test = read_columns(files / "test.conll").split_label()
    features = WindowFeatures("pos")
    tagger = CWSequenceTagger(random_state=3).fit(features.fit_transform(X), y)
    labels = tagger.predict(features.transform(X_test))
    row = found["learners"][0]
    assert code == 0 and row["learner"] == "cw"
    assert row["span_f1"] == span_f1_score(y_test, labels)
    assert row["token_error"] == 1 - token_accuracy_score(y_test, labels)
    assert found["train"] == {"sentences": len(X), "words": X.n_tokens}
    assert found["test"] == {"sentences": len(X_test), "words": X_test.n_tokens}
    assert found["features"] == len(features.vocabulary_)
    assert row["fit_seconds"] > 0 and row["tag_seconds"] > 0


def test_a_quarter_of_one_file_is_held_out(run, files):
    args = [files / "train.conll", "--learners", "perceptron", "--json"]
    found = json.loads(run("compare", *args)[1])
    assert found["train"]["sentences"] == 60 and found["test"]["sentences"] == 20


def test_the_crf_reads_the_same_features(run, files):
    args = ["--learners", "crf", "--features", "word; pos", "--json"]
    found = json.loads(run("compare", files / "train.conll", *args)[1])
    assert found["learners"][0]["span_f1"] > 0.3


def test_wrong_words_among_the_doubtful_are_counted():
    gold = [["A"] * 10, ["A"] * 10]
    guess = [["B", "B", "B", *"A" * 7], ["B", *"A" * 9]]
    sure = [np.arange(10.0), np.arange(10.0) + 0.5]
    # Of 20 words two are read: at 0.0 and 0.5, both wrong, of four wrong ones.
    assert share_found(gold, guess, sure) == 0.5


def test_ties_at_the_border_count_as_on_average():
    gold, sure = [["A"] * 10], [np.zeros(10)]
    for guess in ([["B", *"A" * 9]], [[*"A" * 9, "B"]]):
        assert share_found(gold, guess, sure) == pytest.approx(0.1, abs=1e-12)


def test_without_a_wrong_word_there_is_none_to_find(run, stdin):
    assert share_found([["A"]], [["A"]], [np.ones(1)]) is None
    stdin("Ann B-PER\nleft O\n\n" * 20)
    args = ["--learners", "cw", "--features", "word"]
    line = run("compare", "-", *args)[1].split("\n")[4]
    assert line.split()[:4] == ["CW", "100.00", "0.00", "-"]


def test_a_test_file_with_too_few_columns_is_told(run, files, tmp_path):
    (tmp_path / "test").write_text("Ann B-PER\n")
    args = [files / "train.conll", tmp_path / "test", "--learners", "cw"]
    code, _, err = run("compare", *args)
    assert code == 1 and "test, line 1: 1 column besides the labels; " in err


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--learners", "cw,svm"], 2, "not 'svm'"),
        (["--sentences", "5"], 1, "5 sentences are too few"),
        (["nowhere"], 1, "skcw compare: nowhere: No such file"),
    ],
)
def test_mistakes_are_told(run, args, code, message):
    found, _, err = run("compare", *args)
    assert found == code and message in err
