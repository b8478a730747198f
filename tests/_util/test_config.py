"""``set_config``: plain lists instead of object arrays, everywhere and only there."""

import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import skcw
from skcw.calibration import CalibratedTagger, SelectiveTagger
from skcw.datasets import make_tagged_corpus
from skcw.metrics import span_f1_score, token_f1_score

WORDS, LABELS = make_tagged_corpus(60, random_state=0, return_X_y=True)
FEW = [*WORDS[:3], []]
CW = skcw.CWSequenceTagger(max_iter=2, random_state=0)
MODELS = {
    "CW": CW,
    "HMM": skcw.HMMSequenceTagger(),
    "MaxEnt": skcw.MaxEntSequenceTagger(random_state=0),
    "CRF": skcw.CRFSequenceTagger(max_iter=5),
    "pipeline": skcw.make_tagging_pipeline(["word"], clone(CW)),
    "calibrated": CalibratedTagger(clone(CW), cv=2, method="beta"),
    "reranked": skcw.RerankedTagger(clone(CW), n_best=3, cv=2, templates=()),
}
ROWS = {
    "predict": {},
    "predict_nbest": {"n": 2},
    "predict_marginals": {},
    "predict_confidence": {},
    "predict_entities": {},
}


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(m).fit(WORDS, LABELS) for name, m in MODELS.items()}


@pytest.fixture(autouse=True)
def as_before():
    yield
    skcw.set_config(sequences="array")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", ROWS)
def test_every_answer_is_a_list_of_lists_with_the_same_values(fitted, name, method):
    ask = getattr(fitted[name], method, None)
    if ask is None:
        assert name == "reranked" and method == "predict_marginals"
        return
    arrays = ask(FEW, **ROWS[method])
    with skcw.config_context(sequences="list"):
        lists = ask(FEW, **ROWS[method])
    assert type(lists) is list and all(type(row) is list for row in lists)
    assert isinstance(arrays, np.ndarray) and arrays.dtype == object
    assert lists == [getattr(row, "tolist", lambda row=row: row)() for row in arrays]


def test_judged_drawn_and_voted_labels_are_lists_too(fitted):
    tagger = fitted["CW"]
    skcw.set_config(sequences="list")
    y = tagger.predict(FEW)
    assert type(tagger.label_confidence(FEW, y)[0]) is list
    assert type(tagger.sample_labelings(FEW, 2)) is list
    assert type(tagger.predict_voted(FEW)) is list


def test_the_sets_of_a_selective_tagger_are_lists_too():
    tagger = SelectiveTagger(clone(CW), risk=0.5, set_risk=0.5, random_state=0)
    tagger.fit(WORDS, LABELS)
    skcw.set_config(sequences="list")
    assert type(tagger.predict_sets(FEW)) is list


@pytest.mark.parametrize("name", ["CW", "calibrated", "reranked"])
def test_learning_and_scoring_do_not_depend_on_the_setting(fitted, name):
    skcw.set_config(sequences="list")
    again = clone(MODELS[name]).fit(WORDS, LABELS)
    assert again.predict(WORDS) == fitted[name].predict_all(WORDS).labels().tolist()
    y = again.predict(WORDS)
    skcw.set_config(sequences="array")
    assert span_f1_score(LABELS, y) == span_f1_score(LABELS, again.predict(WORDS))


def test_scikit_learn_scores_lists_as_it_scores_arrays():
    arrays = cross_val_score(CW, WORDS, LABELS, cv=2)
    with skcw.config_context(sequences="list"):
        assert cross_val_score(CW, WORDS, LABELS, cv=2).tolist() == arrays.tolist()


def test_the_setting_holds_in_all_threads_and_a_context_in_its_own_alone(fitted):
    seen = []

    def look():
        seen.append(type(fitted["CW"].predict(FEW)))

    def in_a_thread():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    skcw.set_config(sequences="list")
    in_a_thread()
    with skcw.config_context(sequences="array"):
        in_a_thread()
        look()
    assert seen == [list, list, np.ndarray]


OTHERS = {"shard_folder": None}


def test_contexts_nest_and_end_by_errors_too():
    with skcw.config_context(sequences="list"):
        with pytest.raises(ZeroDivisionError), skcw.config_context(sequences="array"):
            assert skcw.get_config() == {"sequences": "array", **OTHERS}
            raise ZeroDivisionError
        with skcw.config_context():
            assert skcw.get_config() == {"sequences": "list", **OTHERS}
    assert skcw.get_config() == {"sequences": "array", **OTHERS}


def test_a_setting_that_is_not_one_changes_nothing():
    for change in (skcw.set_config, lambda **c: skcw.config_context(**c).__enter__()):
        with pytest.raises(ValueError, match="must be one of array, list"):
            change(sequences="tuple")
        with pytest.raises(TypeError, match="enable"):
            change(enable=True)
    skcw.get_config()["sequences"] = "list"
    assert skcw.get_config() == {"sequences": "array", **OTHERS}


def test_the_folder_of_shards_is_one_that_exists(tmp_path):
    with skcw.config_context(shard_folder=tmp_path):
        assert skcw.get_config()["shard_folder"] == str(tmp_path)
        with skcw.config_context(shard_folder=""):
            assert skcw.get_config()["shard_folder"] is None
        with pytest.raises(ValueError, match="nowhere', which is no folder"):
            skcw.set_config(shard_folder=tmp_path / "nowhere")
    assert skcw.get_config()["shard_folder"] is None


def test_lists_and_arrays_of_labels_score_the_same(fitted):
    arrays = fitted["CW"].predict(WORDS)
    assert token_f1_score(LABELS, arrays) == token_f1_score(LABELS, arrays.tolist())
