"""skcw evaluate: the table of conlleval."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skcw.cli.evaluate import SpanTally
from skcw.metrics import token_accuracy_score, token_classification_report
from skcw.metrics.label_scores import span_precision_recall_fscore_support

TAGGED = """\
Ann NNP B-PER B-PER
Smith NNP I-PER I-PER
met VBD O O
Bob NNP B-PER B-LOC

in IN O O
New NNP B-LOC B-LOC
York NNP I-LOC O
"""
# By hand: 3 true phrases; Ann Smith is found; Bob has the wrong type, New is too short.
TABLE = """\
processed 7 tokens with 3 phrases; found: 3 phrases; correct: 1.
accuracy:  71.43%; precision:  33.33%; recall:  33.33%; FB1:  33.33
              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  2
              PER: precision: 100.00%; recall:  50.00%; FB1:  66.67  1
"""

LABELS = st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "S-LOC", "E-PER"])
PAIRS = st.lists(st.lists(st.tuples(LABELS, LABELS), max_size=6), max_size=4)


def test_the_table_is_the_one_done_by_hand(run, stdin):
    stdin(TAGGED)
    assert run("evaluate") == (0, TABLE, "")


def test_a_file_and_standard_input_are_the_same(run, tmp_path):
    (tmp_path / "tagged").write_text(TAGGED)
    assert run("evaluate", tmp_path / "tagged") == (0, TABLE, "")


@settings(max_examples=25)
@given(PAIRS)
def test_the_figures_are_those_of_the_metrics(sentences):
    gold = [[a for a, _ in row] for row in sentences]
    guess = [[b for _, b in row] for row in sentences]
    tally = SpanTally()
    for rows in zip(gold, guess, strict=True):
        tally.add(*([row] for row in rows))
    found = tally.figures()
    scores = span_precision_recall_fscore_support(gold, guess, average="micro")
    names = ("precision", "recall", "f1", "true")
    assert [found[name] for name in names] == pytest.approx(scores, abs=1e-12)
    assert found["accuracy"] == token_accuracy_score(gold, guess)
    each = zip(*span_precision_recall_fscore_support(gold, guess), strict=True)
    assert [tuple(kind[n] for n in names) for kind in found["types"].values()] == [
        pytest.approx(tuple(row), abs=1e-12) for row in each
    ]


@settings(max_examples=25)
@given(PAIRS)
def test_raw_figures_are_those_of_words(sentences):
    gold = [[a for a, _ in row] for row in sentences]
    guess = [[b for _, b in row] for row in sentences]
    tally = SpanTally(raw=True)
    tally.add(gold, guess)
    report = token_classification_report(gold, guess, output_dict=True)
    for kind, scores in tally.figures()["types"].items():
        assert scores["f1"] == pytest.approx(report[kind]["f1-score"], abs=1e-12)
        assert scores["true"] == report[kind]["support"]


def test_a_model_is_judged_on_a_gold_file(run, files, tmp_path):
    _, tagged, _ = run("tag", files / "m.skcw", files / "test.conll")
    (tmp_path / "tagged").write_text(tagged)
    _, expected, _ = run("evaluate", tmp_path / "tagged")
    code, out, err = run("evaluate", files / "m.skcw", files / "test.conll")
    assert (code, err) == (0, "") and out.startswith(expected)
    (further,) = out.removeprefix(expected).splitlines()
    assert further.startswith("confidence: mean ") and "calibration error" in further


def test_columns_can_be_chosen(run, tmp_path):
    lines = [line.split() for line in TAGGED.split("\n")]
    turned = "\n".join(",".join([*x[3:], "x", *x[2:3]]) if x else "" for x in lines)
    (tmp_path / "turned").write_text(turned)
    args = ["--label-column", 2, "--predicted-column", 0, "--separator", ","]
    assert run("evaluate", tmp_path / "turned", *args) == (0, TABLE, "")


def test_json_holds_every_figure_of_the_table(run, stdin, tmp_path):
    stdin(TAGGED)
    code, out, _ = run("evaluate", "--json")
    found = json.loads(out)
    assert code == 0 and found["tokens"] == 7 and found["correct"] == 1
    assert found["types"]["PER"]["recall"] == 0.5
    stdin(TAGGED)
    assert run("evaluate", f"--json={tmp_path / 'out.json'}")[1] == TABLE
    assert json.loads((tmp_path / "out.json").read_text()) == found


def test_a_bare_json_does_not_take_the_corpus_for_its_file(run, tmp_path):
    (tmp_path / "tagged").write_text(TAGGED)
    code, out, _ = run("evaluate", "--json", tmp_path / "tagged")
    assert code == 0 and json.loads(out)["tokens"] == 7
    assert (tmp_path / "tagged").read_text() == TAGGED


def test_raw_takes_each_word_for_a_phrase(run, stdin):
    stdin("a NN NN\nb NN VB\nc O O\n")
    _, out, _ = run("evaluate", "--raw")
    assert "with 2 phrases; found: 2 phrases; correct: 1." in out
    assert "               VB: precision:   0.00%" in out


def test_schemes_meet_in_one(run, stdin):
    stdin("a B-PER B-PER\nb I-PER E-PER\n")
    assert "accuracy:  50.00%" in run("evaluate")[1]
    stdin("a B-PER B-PER\nb I-PER E-PER\n")
    assert "accuracy: 100.00%" in run("evaluate", "--scheme", "IOB2")[1]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["a", "b", "c"], 2, "a model and a file, or a file alone"),
        (["m", "f", "--predicted-column", "1"], 2, "cannot be used with a model"),
        (["nowhere"], 1, "skcw evaluate: nowhere: No such file"),
    ],
)
def test_mistakes_are_told(run, args, code, message):
    found, _, err = run("evaluate", *args)
    assert found == code and message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no words to evaluate"), ("a\nb\n", "column -2 is asked for")],
)
def test_a_file_without_the_columns_is_told(run, stdin, text, message):
    stdin(text)
    code, _, err = run("evaluate")
    assert code == 1 and message in err


def test_confidences_are_not_taken_for_labels(run, stdin, files):
    tagged = run("tag", files / "m.skcw", files / "test.conll", "--confidence")[1]
    stdin(tagged)
    code, out, err = run("evaluate")
    assert (code, out) == (1, "") and "column -1 holds numbers such as '" in err
    assert "they are -3 and -2, with both -4 and -3" in err and err.count("\n") == 1
    stdin(tagged)
    code, out, _ = run("evaluate", "--label-column", -3, "--predicted-column", -2)
    of_model = run("evaluate", files / "m.skcw", files / "test.conll")
    assert code == 0 and of_model[1].startswith(out)


def test_parts_of_speech_are_not_taken_for_true_labels(run, files):
    code, out, err = run("evaluate", files / "test.conll")
    assert (code, out) == (1, "")
    assert f"column -2 of {files / 'test.conll'} (such as '" in err
    assert "have no label in common; --label-column and --predicted-column" in err
    args = [files / "m.skcw", files / "test.conll", "--label-column", 0]
    code, _, err = run("evaluate", *args)
    assert code == 1 and "the labels of the model (such as '" in err


def test_numbers_may_be_labels_and_few_words_may_all_be_wrong(run, stdin):
    stdin("a 1 2\nb 2 3\n")
    assert run("evaluate", "--raw")[0] == 0
    stdin("a 1 2\n\n" * 19)
    assert run("evaluate", "--raw")[0] == 0
    stdin("a 1 2\n\n" * 20)
    assert run("evaluate", "--raw")[0] == 1


def test_a_model_that_needs_more_columns_tells_which(run, files, stdin):
    stdin("Ann B-PER\n")
    code, _, err = run("evaluate", files / "m.skcw", "-")
    assert code == 1
    assert "<stdin>, line 1: 1 column besides the labels; the model needs 2: " in err


def test_a_model_alone_is_not_taken_for_a_corpus(run, files):
    code, _, err = run("evaluate", files / "m.skcw")
    assert code == 2 and "m.skcw is a model; name a file" in err


def test_a_label_column_that_is_not_there_is_told(run, files):
    args = [files / "m.skcw", files / "test.conll", "--label-column", 9]
    code, _, err = run("evaluate", *args)
    assert code == 1 and "--label-column 9 is not one of them" in err
