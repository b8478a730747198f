"""Calibrated taggers that leave the process: pickle, joblib, skops and files."""

import io
import pickle
import subprocess
import sys

import joblib
import pytest
import skops.io
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold

import skcw
from skcw import CRFSequenceTagger, CWSequenceTagger, make_tagging_pipeline
from skcw.calibration import CalibratedTagger
from skcw.exceptions import ModelFileError
from skcw.io.model_files import read_model
from skcw.tagging import BaseSequenceTagger
from tests.integration.corpora import features, news
from tests.model_files import rewrite

X, Y = features(n_sequences=60)
WORDS, _ = news(n_sequences=60)
ASKED, _ = features(seed=1, n_sequences=20)
CW = CWSequenceTagger(max_iter=3, random_state=0)


def fitted_cw():
    return CWSequenceTagger(max_iter=3, random_state=0).fit(X[:30], Y[:30])


def kinds():
    """Return a fitted model of every kind, with sequences to ask it about."""
    crf = CalibratedTagger(CRFSequenceTagger(max_iter=5), cv=2, method="sigmoid")
    by_label = CalibratedTagger(CW, cv=2, per_label=True, min_words=10, method="beta")
    options = {"confidence_method": "kd-fixed", "variance_scale": 2.0, "n_draws": 8}
    drawn = CalibratedTagger(CW, cv=2, method="temperature", ensemble=False, **options)
    frozen = CalibratedTagger(FrozenEstimator(fitted_cw()), confidence_method="delta")
    inside = CalibratedTagger(make_tagging_pipeline(["word"], CW), cv=2)
    outside = make_tagging_pipeline(["word"], CalibratedTagger(CW, cv=2))
    words, _ = news(seed=1, n_sequences=20)
    return {
        "folds": (CalibratedTagger(CW, cv=2).fit(X, Y), ASKED),
        "by label": (by_label.fit(X, Y), ASKED),
        "draws": (drawn.fit(X, Y), ASKED),
        "crf": (crf.fit(X, Y), ASKED),
        "prefit": (
            CalibratedTagger(fitted_cw(), cv="prefit").fit(X[30:], Y[30:]), ASKED
        ),
        "frozen": (frozen.fit(X[30:], Y[30:]), ASKED),
        "identity": (CalibratedTagger(CW, cv=2, method="identity").fit(X, Y), ASKED),
        "pipeline inside": (inside.fit(WORDS, Y), words),
        "pipeline outside": (outside.fit(WORDS, Y), words),
    }  # fmt: skip


KINDS = kinds()


def through_skops(model, tmp_path):
    data = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("skcw.") for name in trusted), trusted
    return skops.io.loads(data, trusted=trusted)


def through_joblib(model, tmp_path):
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


def through_pickle(model, tmp_path):
    return pickle.loads(pickle.dumps(model))


def through_a_file(model, tmp_path):
    model.save(tmp_path / "model")
    return skcw.load(tmp_path / "model")


def answers(model, asked):
    return [
        model.predict(asked).tolist(),
        [row.tolist() for row in model.predict_confidence(asked)],
        model.predict_marginals(asked).tolist(),
        model.predict_entities(asked).tolist(),
    ]


@pytest.mark.parametrize(
    "travel", [through_pickle, through_joblib, through_skops, through_a_file]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_calibrated_tagger_that_traveled_says_the_same(kind, travel, tmp_path):
    model, asked = KINDS[kind]
    arrived = travel(model, tmp_path)
    assert type(arrived) is type(model)
    assert repr(arrived) == repr(model)
    assert answers(arrived, asked) == answers(model, asked)


@pytest.mark.parametrize("kind", ["folds", "prefit", "frozen"])
def test_a_loaded_one_can_be_fitted_again(kind, tmp_path):
    model, asked = KINDS[kind]
    arrived = through_a_file(model, tmp_path)
    arrived.fit(X[30:], Y[30:])
    if kind != "folds":
        assert answers(arrived, asked) == answers(model, asked)


def test_names_are_written_once_where_pipeline_and_tagger_share_them(tmp_path):
    alone = make_tagging_pipeline(["word"], CW).fit(WORDS, Y)
    alone.save(tmp_path / "alone")
    KINDS["pipeline outside"][0].save(tmp_path / "calibrated")
    _, arrays = read_model(tmp_path / "alone")
    _, calibrated = read_model(tmp_path / "calibrated")
    assert set(arrays) == set(calibrated)


def test_folds_that_are_no_number_are_saved_as_none(tmp_path):
    model = CalibratedTagger(CW, cv=KFold(2)).fit(X, Y)
    assert through_a_file(model, tmp_path).cv is None


def test_a_fresh_process_opens_it_with_skcw_load(tmp_path):
    paths = [str(tmp_path / name) for name in ("tagger", "pipeline")]
    KINDS["folds"][0].save(paths[0])
    KINDS["pipeline inside"][0].save(paths[1])
    code = "import sys, skcw; [print(skcw.load(x).score) for x in sys.argv[1:]]"
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("CalibratedTagger(") == 2


def test_a_file_of_another_tagger_is_no_calibrated_one(tmp_path):
    fitted_cw().save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="not a CalibratedTagger"):
        CalibratedTagger.load(tmp_path / "model")
    KINDS["folds"][0].save(tmp_path / "model")
    assert isinstance(BaseSequenceTagger.load(tmp_path / "model"), CalibratedTagger)


def damage_kind(state):
    state["maps"][0]["common"]["kind"] = "spline"


def damage_corner(state):
    state["maps"][0]["common"]["probability_"].pop()


def damage_state(state):
    del state["maps"][0]["common"]["confidence_"]


def damage_tagger(state):
    state["tagger"]["class"] = "Unheard"


@pytest.mark.parametrize(
    "damage", [damage_kind, damage_corner, damage_state, damage_tagger]
)
def test_a_damaged_file_is_refused(damage, tmp_path):
    KINDS["folds"][0].save(tmp_path / "model")
    odd = rewrite(
        tmp_path / "model",
        tmp_path / "odd",
        lambda header, arrays: damage(header["state"]),
    )
    with pytest.raises(ModelFileError, match="damaged"):
        skcw.load(odd)
