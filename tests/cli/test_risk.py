"""skcw train --calibrate, tag --accept, evaluate and check: risk control."""

import json

import pytest

from skcw.cli import main
from skcw.datasets import make_tagged_corpus
from tests.cli.conftest import text_of


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """A folder with corpora and a model calibrated for risks of 5 and 10 %."""
    folder = tmp_path_factory.mktemp("calibrated")
    for name, n, seed in (("train", 400, 1), ("held", 500, 2), ("test", 300, 3)):
        text = text_of(make_tagged_corpus(n, random_state=seed))
        (folder / f"{name}.conll").write_text(text, encoding="utf-8")
    paths = [str(folder / name) for name in ("train.conll", "m.skcw", "held.conll")]
    command = ["train", paths[0], "-o", paths[1], "--calibrate", paths[2], "-q"]
    risks = ["--accept-risk", "0.05", "--accept-risk", "0.1"]
    assert main([*command, *risks, f"--json={folder / 'm.json'}"]) == 0
    return folder


def marks_of(tagged):
    return [line.split() for line in tagged.splitlines() if line]


def test_training_reports_the_thresholds(calibrated):
    found = json.loads((calibrated / "m.json").read_text())
    assert [text.split(";")[1] for text in found["thresholds"]] == [
        " at most 5 % of them are wrong, with 95 % certainty",
        " at most 10 % of them are wrong, with 95 % certainty",
    ]
    assert "calibrating" in found["seconds_of"]


def test_a_column_says_accept_or_review_and_a_line_sums_up(run, calibrated):
    command = ["tag", calibrated / "m.skcw", calibrated / "test.conll"]
    code, out, err = run(*command, "--accept")
    rows = marks_of(out)
    assert code == 0 and {row[-1] for row in rows} == {"accept", "review"}
    accepted = [row for row in rows if row[-1] == "accept"]
    share = 100 * len(accepted) / len(rows)
    wrong = sum(row[2] != row[3] for row in accepted) / len(accepted)
    assert wrong <= 0.05
    assert err == (
        f"accepted {share:.1f} % of the words; at most 5 % of them are wrong, with 95 "
        f"% certainty, if this text is like {calibrated / 'held.conll'}\n"
    )
    lax = marks_of(run(*command, "--accept-risk", 0.1)[1])
    assert sum(row[-1] == "accept" for row in lax) > len(accepted)


def test_confidence_and_marks_stand_in_their_order(run, calibrated):
    command = ["tag", calibrated / "m.skcw", calibrated / "test.conll"]
    rows = marks_of(run(*command, "-a", "-c", "-n", 2)[1])
    sure = [float(row[4]) for row in rows]
    threshold = min(c for c, row in zip(sure, rows, strict=True) if row[5] == "accept")
    assert all(
        (c >= threshold) == (r[5] == "accept") for c, r in zip(sure, rows, strict=True)
    )
    assert len({row[4] for row in rows}) > len(rows) / 2


def test_evaluate_reports_calibration_share_and_true_risk(run, calibrated):
    command = ["evaluate", calibrated / "m.skcw", calibrated / "test.conll"]
    code, out, _ = run(*command)
    lines = out.splitlines()
    assert code == 0 and lines[-3].startswith("confidence: mean ")
    assert lines[-2].startswith("accepted ") and "(bound: at most 5 %" in lines[-2]
    found = json.loads(run(*command, "--json")[1])["confidence"]
    strict, lax = found["accepted"]
    assert strict["accepted_share"] < lax["accepted_share"] <= 1
    assert strict["true_risk"] <= 0.05 and 0 < found["expected_calibration_error"] < 0.1


@pytest.mark.parametrize(("unit", "risk"), [("entity", 0.2), ("sentence", 0.2)])
def test_entities_and_sentences_are_marked(run, calibrated, tmp_path, unit, risk):
    train = ["train", calibrated / "train.conll", "-o", tmp_path / "m", "-q"]
    wanted = ["--accept-unit", unit, "--accept-risk", risk]
    assert run(*train, "--calibrate", calibrated / "held.conll", *wanted)[0] == 0
    code, out, err = run("tag", tmp_path / "m", calibrated / "test.conll", "-a")
    marks = {row[-1] for row in marks_of(out)}
    assert code == 0 and marks == {"accept", "review"} | (
        {"_"} if unit == "entity" else set()
    )
    assert "entities" in err if unit == "entity" else "sentences" in err


def test_other_text_is_warned_of(run, calibrated, tmp_path):
    text = (calibrated / "test.conll").read_text()
    lines = [
        " ".join([*line.split()[:1], "XX", "O"]) if line else ""
        for line in text.split("\n")
    ]
    turned = "\n".join(
        line[::-1].replace("O XX ", "") if line else "" for line in lines
    )
    odd = "\n".join(f"{w[:3].upper()}q XX O" if w else "" for w in turned.split("\n"))
    (tmp_path / "odd.conll").write_text(odd + "\n")
    err = run("tag", calibrated / "m.skcw", tmp_path / "odd.conll", "--accept")[2]
    assert "these sentences do not look like those of calibration" in err


def test_calibration_needs_sentences_that_are_new(run, calibrated, tmp_path):
    train = ["train", calibrated / "train.conll", "-o", tmp_path / "m", "-q"]
    code, _, err = run(*train, "--accept-risk", 0.1)
    assert code == 2 and "--calibrate" in err
    code, _, err = run(*train, "--calibrate", calibrated / "train.conll")
    assert code == 2 and "the model has learned from it" in err
    held = calibrated / "held.conll"
    code, _, err = run(*train, "--calibrate", held, "--dev", held)
    assert code == 2 and "the pass to keep is chosen by it" in err
    (tmp_path / "copy.conll").write_text((calibrated / "train.conll").read_text())
    code, _, err = run(*train, "--calibrate", tmp_path / "copy.conll")
    assert code == 1 and "has learned from 100 % of the words" in err
    for risk in ("0", "1", "x"):
        code, _, err = run(*train, "--calibrate", "x", "--accept-risk", risk)
        assert code == 2 and "--accept-risk" in err
    assert not (tmp_path / "m").exists()
    assert run(*train, "--allow-training-data")[0] == 2
    for path in (calibrated / "train.conll", tmp_path / "copy.conll"):
        assert run(*train, "--calibrate", path, "--allow-training-data")[0] == 0


@pytest.mark.filterwarnings("default::skcw.exceptions.NoThresholdWarning")
def test_a_risk_that_no_threshold_keeps_leaves_all_for_review(
    run, calibrated, tmp_path
):
    text = "\n\n".join((calibrated / "held.conll").read_text().split("\n\n")[:20])
    (tmp_path / "few.conll").write_text(text + "\n")
    train = ["train", calibrated / "train.conll", "-o", tmp_path / "m", "-q"]
    given = ["--calibrate", tmp_path / "few.conll", "--accept-risk", 0.001]
    code, _, err = run(*train, *given)
    assert code == 0 and "20 sentences cannot guarantee a risk of 0.1 %; about" in err
    _, out, err = run("tag", tmp_path / "m", calibrated / "test.conll", "-a")
    assert {row[-1] for row in marks_of(out)} == {
        "review"
    } and "accepted no words" in err
    _, out, _ = run("evaluate", tmp_path / "m", calibrated / "test.conll")
    told = f"accepted no words: {tmp_path / 'few.conll'} cannot guarantee a risk of"
    assert out.endswith(f"{told} 0.1 %\n")


def test_a_model_without_threshold_cannot_accept(run, files):
    code, out, err = run("tag", files / "m.skcw", files / "test.conll", "--accept")
    assert (code, out) == (1, "") and "the model has no threshold" in err
    assert err.count("\n") == 1


def test_a_risk_without_a_threshold_is_refused(run, calibrated):
    command = ["tag", calibrated / "m.skcw", calibrated / "test.conll"]
    code, _, err = run(*command, "--accept-risk", 0.02)
    assert code == 2 and "only for 0.05, 0.1" in err
