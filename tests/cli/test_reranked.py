"""The commands on models whose labelings are reranked."""

import io
import json
from itertools import chain

import pytest

import skcw
from skcw import CWSequenceTagger, RerankedTagger, TaggingPipeline
from skcw.calibration import CalibratedTagger
from skcw.features import WindowFeatures
from skcw.io import read_columns
from skcw.reranking import AROWReranker

# Confidences are written with eight decimals.
EIGHT_DECIMALS = 0.5e-8 + 1e-12


def base():
    return CWSequenceTagger(max_iter=3, random_state=0)


def reranker():
    return AROWReranker(r=1.0, score_scale=0.2, random_state=0)


def around_a_pipeline():
    return RerankedTagger(
        skcw.make_tagging_pipeline("ner", base()), reranker(), cv=2, held_out_folds=0
    )


def at_the_end_of_a_pipeline():
    tagger = RerankedTagger(base(), reranker(), cv=2, held_out_folds=0)
    return TaggingPipeline([("features", WindowFeatures("ner")), ("tagger", tagger)])


def calibrated():
    return CalibratedTagger(around_a_pipeline(), cv=2, method="beta")


@pytest.fixture(
    scope="module", params=[around_a_pipeline, at_the_end_of_a_pipeline, calibrated]
)
def model(request, files, tmp_path_factory):
    X, y = read_columns(files / "train.conll").split_label()
    path = tmp_path_factory.mktemp("reranked") / "model.skcw"
    request.param().fit(X, y).save(path)
    return path


def test_files_are_tagged_with_the_labels_chosen(run, files, model):
    code, out, err = run("tag", model, files / "test.conll", "-c", "-n", 2)
    assert (code, err) == (0, "")
    rows = read_columns(io.BytesIO(out.encode()))
    X, _ = read_columns(files / "test.conll").split_label()
    tagger = skcw.load(model)
    assert rows.column(3).tolist() == tagger.predict(X).tolist()
    written = [float(number) for row in rows.column(4) for number in row]
    sure = list(chain.from_iterable(tagger.predict_confidence(X)))
    assert written == pytest.approx(sure, abs=EIGHT_DECIMALS)


def test_the_model_is_evaluated(run, files, model):
    code, out, err = run("evaluate", model, files / "test.conll", "--json")
    assert (code, err) == (0, "")
    X, y = read_columns(files / "test.conll").split_label()
    labels = skcw.load(model).predict(X)
    found = json.loads(out)["f1"]
    assert found == pytest.approx(skcw.metrics.span_f1_score(y, labels), rel=1e-12)


def test_the_overview_tells_about_both_learners(run, model):
    code, out, err = run("inspect", model)
    assert (code, err) == (0, "")
    assert "CWSequenceTagger" in out and "AROWReranker, of the 20 best" in out
    assert "strongest global features" in out
    found = json.loads(run("inspect", model, "--json")[1])["reranker"]
    assert found["learner"] == "AROWReranker" and found["n_features"] > 100
    weights = [abs(row["weight"]) for row in found["features"]]
    assert weights == sorted(weights, reverse=True)


def test_the_overview_tells_why_labels_are_left_as_they_are(run, files, tmp_path):
    X, y = read_columns(files / "train.conll").split_label()
    tagger = RerankedTagger(skcw.make_tagging_pipeline("ner", base()), cv=2).fit(X, y)
    tagger.save(tmp_path / "model")
    out = run("inspect", tmp_path / "model")[1]
    assert "ScoreReranker" in out and "too little to rerank" in out
    found = json.loads(run("inspect", tmp_path / "model", "--json")[1])["reranker"]
    assert not found["reranks"]
    assert [row["score"] for row in found["trials"]] == [
        t.score for t in tagger.trials_
    ]


def test_changes_are_explained_by_global_features(run, files, model):
    changed = same = None
    for s in range(30):
        args = ("inspect", model, files / "test.conll", "--sentence", s)
        code, out, err = run(*args, "--json")
        assert (code, err) == (0, "")
        found = json.loads(out)
        choice = found["choice"]
        before = [word["label"] for word in found["explanation"]]
        assert choice["base_labels"] == before
        if choice["labels"] == before:
            same = run(*args)[1]
        else:
            changed = run(*args)[1]
        if same and changed:
            break
    assert "leaves the labels as they are" in same
    assert "reranked" in changed and "advantage" in changed
    assert "score of the tagger" in changed


def test_a_model_without_features_is_told_so(run, files, tmp_path):
    X = [[["w=a"], ["w=B"]]] * 4
    tagger = CWSequenceTagger().fit(X, [["O", "B-X"]] * 4)
    tagger.save(tmp_path / "model")
    code, _, err = run("tag", tmp_path / "model", files / "test.conll")
    assert code == 1
    assert "CWSequenceTagger without features" in err and "of a pipeline" in err
