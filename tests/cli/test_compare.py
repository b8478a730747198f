"""skcw compare: learners side by side."""

import json
import re

import numpy as np
import pytest

from skcw import CWSequenceTagger
from skcw.cli.compare import share_found
from skcw.cli.evaluate import margins_of_error, sentence_counts
from skcw.cli.learners import make_tagger
from skcw.features import WindowFeatures
from skcw.io import read_columns
from skcw.metrics import (
    root_calibration_mse,
    span_f1_score,
    token_accuracy_score,
    token_correct,
)


def test_the_built_in_corpus_is_compared_by_all_learners(run):
    code, out, err = run("compare", "--sentences", 60)
    assert (code, err) == (0, "")
    titles = [line.split("  ")[0] for line in out.split("\n")]
    assert titles[2:] == [
        "learner", "------------", "CW", "mean of 8 CW", "AROW", "PA", "perceptron",
        "CRF", "",
        "±: with other test sentences, 95 times in 100 the figure moves by less",
        "found: of the wrong words, those among the 10 % that the learner doubts most",
        "off: how far confidences are from the share of right words; lower is better",
        "",
    ]  # fmt: skip
    # Of sentences that cost nothing most are there to test.
    assert re.match(r"15 sentences \(\d+ words\) to train, 45 \(", out)
    header = re.split("  +", out.split("\n")[2])
    assert header == [
        "learner", "span F1 %", "±", "wrong words %", "±", "found %", "off %",
        "fit s", "tag s",
    ]  # fmt: skip


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
    correct = np.concatenate(list(token_correct(y_test, labels)))
    sure = tagger.predict_confidence(features.transform(X_test))
    expected = root_calibration_mse(correct, np.concatenate(list(sure)))
    assert row["calibration_error"] == pytest.approx(expected, rel=1e-12)
    margins = margins_of_error(sentence_counts(y_test, labels), 3)
    assert (row["span_f1_margin"], row["token_error_margin"]) == margins


def test_eight_models_are_one_row(run):
    args = ["--sentences", 60, "--learners", "cw8", "--json"]
    (row,) = json.loads(run("compare", *args)[1])["learners"]
    assert row["learner"] == "cw8"
    assert make_tagger("cw8", 0).n_models == 8


def test_counts_of_sentences_add_up_to_the_figures():
    y = [["B-x", "I-x", "O"], [], ["O", "B-y"], ["O"]]
    found = [["B-x", "I-x", "O"], [], ["B-y", "B-y"], ["B-x"]]
    counts = sentence_counts(y, found)
    assert counts.tolist() == [
        [1, 1, 1, 0, 3],
        [0] * 5,
        [1, 2, 1, 1, 2],
        [0, 1, 0, 1, 1],
    ]
    hits, guesses, spans, wrong, words = counts.sum(axis=0)
    assert 2 * hits / (guesses + spans) == span_f1_score(y, found)
    accuracy = token_accuracy_score(y, found)
    assert wrong / words == pytest.approx(1 - accuracy, rel=1e-12)


def test_uncertainty_is_that_of_a_mean_and_shrinks_with_its_root():
    rng = np.random.RandomState(0)
    margins = []
    for n in (400, 6400):
        counts = np.zeros((n, 5))
        counts[:, 3] = rng.rand(n) < 0.1
        counts[:, 4] = 1
        margins.append(margins_of_error(counts, 0)[1])
        normal = 1.96 * np.sqrt(counts[:, 3].mean() * 0.9 / n)
        # 500 draws tell the limits to some per cent.
        assert margins[-1] == pytest.approx(normal, rel=0.15)
    assert margins[0] / margins[1] == pytest.approx(4.0, rel=0.2)
    sure = np.tile([1.0, 1.0, 1.0, 0.0, 4.0], (50, 1))
    assert margins_of_error(sure, 0) == (0.0, 0.0)


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
    assert line.split()[:4] == ["CW", "100.00", "0.00", "0.00"]
    assert line.split()[5] == "-"


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
