"""skcw inspect: weights and explanations."""

import json

import numpy as np
import pytest

import skcw
from skcw.calibration import CalibratedTagger
from skcw.datasets import make_tagged_corpus
from skcw.io import read_columns


@pytest.fixture(scope="module")
def other_models(files, tmp_path_factory):
    """Models without variance."""
    from skcw.cli import main

    folder = tmp_path_factory.mktemp("models")
    for name in ("pa", "crf"):
        command = ["train", str(files / "train.conll"), "-o", str(folder / name), "-q"]
        assert main([*command, "--model", name, "--passes", "5"]) == 0
    return folder


def test_the_overview_names_every_label(run, files):
    code, out, err = run("inspect", files / "m.skcw")
    assert (code, err) == (0, "")
    pipeline = skcw.load(files / "m.skcw")
    for label in pipeline.classes_:
        assert f"\n{label} " in out
    assert "CWSequenceTagger" in out and "word, pos" in out
    found = json.loads(run("inspect", files / "m.skcw", "--json")[1])
    assert found["n_features"] == len(pipeline[0].vocabulary_)
    assert found["n_weights"] == np.count_nonzero(pipeline.tagger.coef_)
    assert list(found["labels"]) == pipeline.classes_.tolist()


def test_weights_of_a_label_come_with_their_deviation(run, files):
    args = ["--label", "B-PER", "--top", 4, "--json"]
    found = json.loads(run("inspect", files / "m.skcw", *args)[1])["weights"]
    tagger = skcw.load(files / "m.skcw").tagger
    j = tagger.classes_.tolist().index("B-PER")
    best = np.sort(tagger.coef_[:, j])[::-1]
    assert [row["weight"] for row in found["for"]] == best[:4].tolist()
    assert [row["weight"] for row in found["against"]] == best[::-1][:4].tolist()
    for row in (*found["for"], *found["against"]):
        f = tagger.vocabulary_.find(row["name"])
        assert row["weight"] == tagger.coef_[f, j]
        variance = float(tagger.coef_variance_[f, j])
        assert row["std"] == pytest.approx(variance**0.5, rel=1e-12)
    labels = tagger.classes_.tolist()
    for row in found["transitions"]:
        a, b = (labels.index(label) for label in row["name"].split(" -> "))
        assert row["weight"] == tagger.transition_coef_[a, b] and j in (a, b)


def test_the_table_of_a_label_has_three_parts(run, files):
    _, out, _ = run("inspect", files / "m.skcw", "--label", "O", "--top", 2)
    titles = [part.split("  ")[0] for part in out.split("\n\n")]
    assert titles == ["speaks for O", "speaks against O", "transition"]
    assert [len(part.strip().split("\n")) for part in out.split("\n\n")] == [4, 4, 4]


@pytest.mark.parametrize("name", ["pa", "crf"])
def test_learners_without_variance_show_none(run, other_models, name):
    args = ["--label", "B-PER", "--json"]
    found = json.loads(run("inspect", other_models / name, *args)[1])["weights"]
    assert found["for"] and all(row["std"] is None for row in found["for"])
    if name == "crf":
        tagger = skcw.load(other_models / name).tagger
        row = found["for"][0]
        assert row["weight"] == tagger.state_features_[row["name"], "B-PER"]
        assert row["weight"] == max(
            w for (_, label), w in tagger.state_features_.items() if label == "B-PER"
        )


def test_an_explanation_is_the_one_of_the_tagger(run, files):
    args = [files / "test.conll", "--sentence", 4, "--json"]
    found = json.loads(run("inspect", files / "m.skcw", *args)[1])["explanation"]
    X, _ = read_columns(files / "test.conll").split_label()
    expected = skcw.load(files / "m.skcw").explain(X[4])
    assert [word["word"] for word in found] == [token[0] for token in X[4]]
    for word, explained in zip(found, expected, strict=True):
        assert (word["label"], word["rival"]) == (explained.label, explained.rival)
        assert word["margin"] == explained.margin and word["std"] == explained.std
        assert [tuple(p.values()) for p in word["contributions"]] == [
            tuple(part) for part in explained.contributions
        ]


def test_what_is_added_to_a_margin_sums_up_to_it(run, files):
    args = [files / "test.conll", "--at", 0, "--top", 3]
    lines = run("inspect", files / "m.skcw", *args)[1].rstrip().split("\n")
    assert len(lines) == 2 + 3 + 1 + 1
    added = [float(line.split()[-1]) for line in lines[2:]]
    # Four decimals are printed.
    assert sum(added[:-1]) == pytest.approx(added[-1], abs=5e-4)


def test_words_can_be_typed(run, files):
    tokens = ["--tokens", "Ann/NNP left/VBD 1/2/CD"]
    _, out, _ = run("inspect", files / "m.skcw", *tokens, "--json")
    found = json.loads(out)["explanation"]
    assert [word["word"] for word in found] == ["Ann", "left", "1/2"]
    table = run("inspect", files / "m.skcw", *tokens)[1].split("\n")
    assert table[0].split()[:6] == ["at", "word", "label", "rival", "margin", "decided"]
    assert table[2].split()[:2] == ["0", "Ann"]


def test_a_model_of_words_alone_takes_them_as_they_are(run, stdin, tmp_path):
    stdin("a/b A\nc B\n")
    run("train", "-", "-o", tmp_path / "m", "-q", "--features", "word")
    out = run("inspect", tmp_path / "m", "--tokens", "a/b c", "--json")[1]
    found = json.loads(out)["explanation"]
    assert [(w["word"], w["label"]) for w in found] == [("a/b", "A"), ("c", "B")]


def test_weights_and_words_can_be_asked_for_at_once(run, files):
    args = ["--label", "O", "--tokens", "Ann/NNP", "--json"]
    assert set(json.loads(run("inspect", files / "m.skcw", *args)[1])) == {
        "weights",
        "explanation",
    }


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--label", "X"], 1, "the model has no label 'X'; it has "),
        (["--tokens", "Ann"], 1, "write each word as word/pos, not as 'Ann'"),
        (["--tokens", " "], 1, "--tokens holds no words"),
        (["--tokens", "Ann/NNP", "--at", "1"], 1, "there is no word 1"),
        (["test.conll", "--sentence", "99"], 1, "there is no sentence 99"),
        (["test.conll", "--tokens", "Ann/NNP"], 2, "either FILE or --tokens"),
        (["--at", "1"], 2, "--at needs FILE or --tokens"),
        (["--sentence", "3"], 2, "--sentence needs FILE"),
        (["--sentence", "0", "--tokens", "Ann/NNP"], 2, "--sentence needs FILE"),
        (["nowhere"], 1, "skcw inspect: nowhere: No such file"),
    ],
)
def test_mistakes_are_told(run, files, monkeypatch, args, code, message):
    monkeypatch.chdir(files)
    found, _, err = run("inspect", "m.skcw", *args)
    assert found == code and message in err


def test_the_pass_kept_by_a_dev_file_is_remembered(run, files, tmp_path):
    model = tmp_path / "m"
    args = ["--dev", files / "test.conll", "--passes", 4, "-q", "--json"]
    trained = json.loads(run("train", files / "train.conll", "-o", model, *args)[1])
    found = json.loads(run("inspect", model, "--json")[1])
    assert found["pass_kept"] == trained["pass_kept"] is not None
    assert f"\npass kept       {found['pass_kept']} of " in run("inspect", model)[1]
    assert "pass kept" not in run("inspect", files / "m.skcw")[1]


def test_a_file_with_too_few_columns_is_told(run, files, tmp_path):
    (tmp_path / "words").write_text("Ann\n")
    code, _, err = run("inspect", files / "m.skcw", tmp_path / "words")
    assert code == 1 and "words, line 1: 1 column; the model needs 2: word, pos" in err


def test_a_crf_explains_its_labels_too(run, other_models):
    code, out, _ = run("inspect", other_models / "crf", "--tokens", "Ann/NNP")
    assert code == 0 and "Ann" in out


def calibrated_pipeline():
    return CalibratedTagger(
        skcw.make_tagging_pipeline("ner", skcw.CWSequenceTagger(random_state=0)),
        cv=2, method="beta",
    )  # fmt: skip


def pipeline_of_calibrated():
    tagger = CalibratedTagger(
        skcw.CWSequenceTagger(random_state=0), cv=2, method="beta"
    )
    return skcw.make_tagging_pipeline("ner", tagger)


@pytest.mark.parametrize("make", [calibrated_pipeline, pipeline_of_calibrated])
def test_a_calibrated_model_shows_the_weights_inside(make, run, tmp_path):
    corpus = make_tagged_corpus(40, random_state=0, return_X_y=True)
    make().fit(*corpus).save(tmp_path / "model")
    code, out, err = run("inspect", tmp_path / "model")
    assert (code, err) == (0, "") and "CWSequenceTagger, calibrated" in out
    found = json.loads(run("inspect", tmp_path / "model", "--json")[1])
    assert found["calibrated"] and found["parameters"]["phi"] == "auto"
    args = ["--label", "B-PER", "--tokens", "Ann/NNP left/VBD"]
    code, out, err = run("inspect", tmp_path / "model", *args)
    assert (code, err) == (0, "") and "speaks for B-PER" in out
    assert "left    O " in out


def test_a_model_without_transitions_shows_its_features_alone(run, tmp_path):
    corpus = make_tagged_corpus(40, random_state=0, return_X_y=True)
    maxent = skcw.MaxEntSequenceTagger(random_state=0)
    skcw.make_tagging_pipeline("ner", maxent).fit(*corpus).save(tmp_path / "model")
    code, out, err = run("inspect", tmp_path / "model")
    assert (code, err) == (0, "") and "MaxEntSequenceTagger" in out
    _, out, _ = run("inspect", tmp_path / "model", "--label", "B-PER", "--top", 2)
    titles = [part.split("  ")[0] for part in out.split("\n\n")]
    assert titles == ["speaks for B-PER", "speaks against B-PER"]
    code, _, err = run("inspect", tmp_path / "model", "--tokens", "Ann/NNP")
    assert code == 1 and "cannot explain its labels" in err


@pytest.mark.parametrize(
    ("args", "ending"),
    [
        ([], "png"),
        (["--label", "B-PER", "--top", 5], "svg"),
        (["--tokens", "Anna/NNP left/VBD", "--at", 0], "PDF"),
    ],
)
def test_what_is_told_can_be_drawn(run, files, tmp_path, args, ending):
    picture = tmp_path / f"picture.{ending}"
    code, out, err = run("inspect", files / "m.skcw", *args, "--plot", picture)
    assert (code, err) == (0, "")
    assert out == run("inspect", files / "m.skcw", *args)[1]
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "PDF": b"%PDF"}[ending]
    assert picture.read_bytes().startswith(begins)


def test_pictures_that_cannot_be_drawn_are_refused(run, files, tmp_path):
    words = ["--tokens", "Anna/NNP left/VBD"]
    for args, message in (
        (["--plot", tmp_path / "a.gif"], "png, svg, pdf"),
        (["--plot", tmp_path / "a.png", *words], "by --at"),
        (["--plot", tmp_path / "a.png", *words, "--at", 0, "--label", "O"], "not both"),
    ):
        code, out, err = run("inspect", files / "m.skcw", *args)
        assert code and not out and message in err
    assert not list(tmp_path.iterdir())


def test_joined_features_are_named_by_their_parts(run, files, tmp_path):
    from skcw import make_tagging_pipeline
    from skcw.features import WordVectors
    from skcw.io import read_columns

    X, y = read_columns(files / "train.conll").split_label()
    vectors = WordVectors(["left", "met"], [[1.0, 2.0], [3.0, 4.0]])
    pipeline = make_tagging_pipeline(["ner", vectors]).fit(X, y)
    pipeline.save(tmp_path / "joined")
    code, out, err = run("inspect", tmp_path / "joined")
    assert code == 0, err
    assert "window + vectors" in out
    code, out, _ = run("inspect", tmp_path / "joined", files / "test.conll", "--at", 0)
    assert code == 0 and out
    code, out, _ = run("tag", tmp_path / "joined", files / "test.conll", "-c")
    assert code == 0 and out
