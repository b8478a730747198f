"""The pipeline of features and a tagger: one estimator, one file."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict

import skcw
from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    TaggingPipeline,
    make_tagging_pipeline,
)
from skcw.data import SequenceEncoder, TokenColumns
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import get_scorer
from skcw.exceptions import ModelFileError
from skcw.features import WindowFeatures
from skcw.io.model_files import read_model
from tests.model_files import rewrite

TAGGERS = [
    CWSequenceTagger(max_iter=3, random_state=0),
    AROWSequenceTagger(max_iter=3, random_state=0),
    PASequenceTagger(max_iter=3, random_state=0),
    PerceptronSequenceTagger(max_iter=3, random_state=0),
    HMMSequenceTagger(word_prefix="word[0]="),
    MaxEntSequenceTagger(tol=0.1, random_state=0),
    CRFSequenceTagger(max_iter=5),
]

X, Y = make_tagged_corpus(120, random_state=0, return_X_y=True)
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[:80], Y[:80], X[80:], Y[80:]


def name_of(tagger):
    return type(tagger).__name__


def fitted(features="ner", tagger=TAGGERS[0]):
    return make_tagging_pipeline(features, clone(tagger)).fit(X_TRAIN, Y_TRAIN)


@pytest.fixture(scope="module")
def pipeline():
    return fitted()


def same_bits(a, b):
    return all(np.array_equal(*rows) for rows in zip(a, b, strict=True))


@pytest.mark.parametrize("tagger", TAGGERS, ids=name_of)
def test_every_answer_is_the_one_of_the_tagger_on_the_features(tagger):
    pipeline = fitted(tagger=tagger)
    features, alone = WindowFeatures("ner"), clone(tagger)
    alone.fit(features.fit_transform(X_TRAIN), Y_TRAIN)
    batch = features.transform(X_TEST)
    assert same_bits(pipeline.predict(X_TEST), alone.predict(batch))
    assert same_bits(
        pipeline.predict_confidence(X_TEST), alone.predict_confidence(batch)
    )
    assert pipeline.predict_nbest(X_TEST[:3], 2).tolist() == (
        alone.predict_nbest(batch[:3], 2).tolist()
    )
    assert pipeline.predict_entities(X_TEST).tolist() == (
        alone.predict_entities(batch).tolist()
    )
    assert pipeline.predict_marginals(X_TEST[:3]).tolist() == (
        alone.predict_marginals(batch[:3]).tolist()
    )
    assert pipeline.score(X_TEST, Y_TEST) == alone.score(batch, Y_TEST)
    assert pipeline.classes_.tolist() == alone.classes_.tolist()


@pytest.fixture
def n_encodings(monkeypatch):
    """Return a function that tells how often features were extracted."""
    calls = []
    transform = WindowFeatures.transform

    def counted(self, X):
        calls.append(len(X))
        return transform(self, X)

    monkeypatch.setattr(WindowFeatures, "transform", counted)
    return lambda: len(calls)


@pytest.mark.parametrize("tagger", TAGGERS[:-2], ids=name_of)
def test_confidence_and_its_options_are_passed_on(tagger, n_encodings):
    pipeline = fitted(tagger=tagger)
    alone, batch = pipeline.tagger, pipeline.encode(X_TEST)
    before = n_encodings()
    options = {"variance_scale": 2.0, "n_draws": 9, "random_state": 3}
    assert same_bits(
        pipeline.predict_confidence(X_TEST, "kd-fixed", **options),
        alone.predict_confidence(batch, "kd-fixed", **options),
    )
    assert np.array_equal(
        pipeline.predict_sequence_confidence(X_TEST, "kd-fixed", **options),
        alone.predict_sequence_confidence(batch, "kd-fixed", **options),
    )
    assert pipeline.predict_entities(X_TEST, "exact", "kbv", n_best=7).tolist() == (
        alone.predict_entities(batch, "exact", "kbv", n_best=7).tolist()
    )
    assert pipeline.predict_voted(X_TEST, unit_variance=True, **options).tolist() == (
        alone.predict_voted(batch, unit_variance=True, **options).tolist()
    )
    assert n_encodings() == before + 4


@pytest.mark.parametrize("cv", [None, 2])
def test_parameters_of_confidence_are_fitted_through_it(tmp_path, n_encodings, cv):
    pipeline, alone = fitted(["word"]), fitted(["word"])
    batch = alone.encode(X_TEST)
    before = n_encodings()
    options = {"metric": "root_calibration_mse", "cv": cv, "n_values": 4, "n_draws": 8}
    assert pipeline.fit_confidence(X_TEST, Y_TEST, "kd-pc", **options) is pipeline
    assert n_encodings() == before + 1
    alone.tagger.fit_confidence(batch, Y_TEST, "kd-pc", **options)
    assert pipeline.tagger.confidence_ == alone.tagger.confidence_
    pipeline.save(tmp_path / "model.skcw")
    again = skcw.load(tmp_path / "model.skcw")
    assert again.tagger.confidence_ == pipeline.tagger.confidence_
    assert same_bits(
        again.predict_confidence(X_TEST, "kd-pc"),
        alone.tagger.predict_confidence(batch, "kd-pc"),
    )


def test_nothing_of_confidence_is_offered_before_fit():
    pipeline = make_tagging_pipeline()
    with pytest.raises(NotFittedError):
        pipeline.fit_confidence(X_TEST, Y_TEST)
    with pytest.raises(NotFittedError):
        pipeline.predict_sequence_confidence(X_TEST)


def test_columns_and_lists_of_tuples_are_the_same_to_it(pipeline):
    columns = TokenColumns.from_sequences(X_TEST, names=["word", "pos"])
    assert same_bits(pipeline.predict(columns), pipeline.predict(X_TEST))


def test_one_sequence_may_be_a_list_or_columns_of_one(pipeline):
    columns = TokenColumns.from_sequences(X_TEST)
    labels = pipeline.predict(X_TEST)[0]
    assert pipeline.predict_single(X_TEST[0]) == labels
    assert pipeline.predict_single(columns[:1]) == labels
    assert [e.label for e in pipeline.explain(X_TEST[0])] == labels
    assert pipeline.explain(columns[:1]) == pipeline.explain(X_TEST[0])


def test_one_sequence_may_be_plain_words():
    pipeline = make_tagging_pipeline(["word"]).fit([["Ann", "left"]], [["A", "O"]])
    assert pipeline.predict_single(["left"]) == ["O"]


def test_dev_sequences_pass_through_the_features():
    tagger = CWSequenceTagger(max_iter=4, random_state=0)
    pipeline = make_tagging_pipeline("ner", clone(tagger))
    pipeline.fit(X_TRAIN, Y_TRAIN, X_dev=X_TEST, y_dev=Y_TEST)
    features = WindowFeatures("ner")
    batch = features.fit_transform(X_TRAIN)
    tagger.fit(batch, Y_TRAIN, X_dev=features.transform(X_TEST), y_dev=Y_TEST)
    scores = [record["dev_score"] for record in pipeline.tagger.history_]
    assert scores == [record["dev_score"] for record in tagger.history_]
    assert np.array_equal(pipeline.tagger.coef_, tagger.coef_)


def test_dev_sequences_without_labels_are_refused(pipeline):
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        clone(pipeline).fit(X_TRAIN, Y_TRAIN, X_dev=X_TEST)


@pytest.mark.parametrize("with_dev", [False, True])
def test_weights_of_sequences_reach_the_tagger(with_dev):
    weight = np.arange(len(X_TRAIN)) % 3
    dev = {"X_dev": X_TEST, "y_dev": Y_TEST} if with_dev else {}
    a = make_tagging_pipeline("ner", clone(TAGGERS[0]))
    b = clone(a).fit(X_TRAIN, Y_TRAIN, **dev)
    a.fit(X_TRAIN, Y_TRAIN, sample_weight=weight, **dev)
    assert not np.array_equal(a.tagger.coef_, b.tagger.coef_)


def test_weights_of_sequences_are_routed_where_routing_is_on():
    weight = np.arange(len(X_TRAIN)) % 3
    a = make_tagging_pipeline("ner", clone(TAGGERS[0]))
    b = clone(a).fit(X_TRAIN, Y_TRAIN, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        a.tagger.set_fit_request(sample_weight=True)
        a.fit(X_TRAIN, Y_TRAIN, sample_weight=weight)
    assert np.array_equal(a.tagger.coef_, b.tagger.coef_)


@pytest.mark.parametrize("dev", [{}, {"X_dev": X_TEST, "y_dev": Y_TEST}])
def test_fitted_features_come_from_the_memory_the_second_time(tmp_path, dev):
    steps = [("features", WindowFeatures("ner")), ("tagger", clone(TAGGERS[0]))]
    first = TaggingPipeline(steps, memory=str(tmp_path)).fit(X_TRAIN, Y_TRAIN, **dev)
    second = clone(first).fit(X_TRAIN, Y_TRAIN, **dev)
    assert any(tmp_path.rglob("output.pkl"))
    assert same_bits(first.predict(X_TEST), second.predict(X_TEST))


def test_partial_fit_learns_new_features_and_new_labels():
    pipeline = make_tagging_pipeline(["word", "suffix(2)"])
    pipeline.partial_fit([["Ann", "left"]], [["PER", "O"]])
    known = len(pipeline["features"].vocabulary_)
    for _ in range(3):
        pipeline.partial_fit([["Rome", "fell"]], [["LOC", "O"]])
    assert len(pipeline["features"].vocabulary_) > known
    assert pipeline.predict_single(["Rome"]) == ["LOC"]
    assert pipeline.predict_single(["Ann"]) == ["PER"]


def test_partial_fit_knows_classes_in_advance():
    pipeline = make_tagging_pipeline(["word"])
    pipeline.partial_fit([["Ann"]], [["PER"]], classes=["O", "PER", "LOC"])
    assert pipeline.classes_.tolist() == ["O", "PER", "LOC"]


def test_what_a_tagger_cannot_do_its_pipeline_does_not_offer():
    pipeline = make_tagging_pipeline("ner", CRFSequenceTagger())
    assert not hasattr(pipeline, "partial_fit")
    assert not hasattr(make_tagging_pipeline("ner", MaxEntSequenceTagger()), "explain")
    for name in ("partial_fit", "explain", "fit_confidence", "train_overlap"):
        assert hasattr(make_tagging_pipeline(), name)


def test_parameters_of_both_steps_can_be_searched():
    grid = {"features__features": ["pos", ["word"]], "tagger__phi": [0.5, 1.0]}
    search = GridSearchCV(
        make_tagging_pipeline("pos", TAGGERS[0]),
        grid,
        scoring=get_scorer("span_f1"),
        cv=2,
    ).fit(X, Y)
    assert search.best_params_["features__features"] == "pos"
    columns = TokenColumns.from_sequences(X)
    labels = cross_val_predict(search.best_estimator_, columns, Y, cv=2)
    assert [len(row) for row in labels] == [len(row) for row in Y]


def test_a_clone_forgets(pipeline):
    with pytest.raises(NotFittedError):
        clone(pipeline).encode(X_TEST)
    with pytest.raises(NotFittedError):
        clone(pipeline).save("never-written")


def test_it_pickles(pipeline):
    again = pickle.loads(pickle.dumps(pipeline))
    assert same_bits(again.predict(X_TEST), pipeline.predict(X_TEST))


@pytest.mark.parametrize("tagger", TAGGERS, ids=name_of)
def test_a_saved_pipeline_gives_the_same_bits(tmp_path, tagger):
    pipeline, path = fitted(tagger=tagger), tmp_path / "model.skcw"
    pipeline.save(path)
    again = skcw.load(path)
    assert type(again) is TaggingPipeline and type(again.tagger) is type(tagger)
    assert same_bits(again.predict(X_TEST), pipeline.predict(X_TEST))
    assert same_bits(
        again.predict_confidence(X_TEST), pipeline.predict_confidence(X_TEST)
    )
    assert again["features"].get_params() == pipeline["features"].get_params()
    assert again.tagger.get_params() == pipeline.tagger.get_params()


def test_names_of_features_are_stored_once(tmp_path, pipeline):
    pipeline.save(tmp_path / "pipeline.skcw")
    pipeline.tagger.save(tmp_path / "tagger.skcw")
    _, whole = read_model(tmp_path / "pipeline.skcw")
    _, alone = read_model(tmp_path / "tagger.skcw")
    assert set(whole) == set(alone)
    again = skcw.load(tmp_path / "pipeline.skcw")
    assert again["features"].vocabulary_ is again.tagger.vocabulary_


@pytest.mark.parametrize(
    "features",
    [
        WindowFeatures(["word", "in(names)"], lexicons={"names": {"Ann", "Bob"}}),
        WindowFeatures(["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,1]", "B"]),
        WindowFeatures([(("word", -1), ("word", 0)), "bias"]),
        WindowFeatures("ner", columns=["form", "pos"], min_count=2),
        WindowFeatures("ner", n_features=500),
    ],
    ids=["lexicons", "template", "crfsuite", "columns", "hashed"],
)
@pytest.mark.parametrize("tagger", [TAGGERS[0], TAGGERS[-1]], ids=name_of)
def test_features_of_every_kind_survive_saving(tmp_path, features, tagger):
    pipeline = fitted(clone(features), tagger)
    pipeline.save(tmp_path / "model.skcw")
    again = skcw.load(tmp_path / "model.skcw")
    assert again["features"].columns_ == pipeline["features"].columns_
    assert same_bits(again.predict(X_TEST), pipeline.predict(X_TEST))


def test_a_loaded_pipeline_learns_on(tmp_path):
    pipeline = fitted(["word", "suffix(2)"])
    pipeline.save(tmp_path / "model.skcw")
    again = skcw.load(tmp_path / "model.skcw")
    for each in (pipeline, again):
        each.partial_fit([["Xyzzy"]], [["B-NEW"]])
    assert same_bits(again.predict(X_TEST), pipeline.predict(X_TEST))
    assert "B-NEW" in again.classes_


def test_features_learned_since_do_not_keep_it_from_being_saved(tmp_path):
    pipeline = fitted(["word"])
    pipeline["features"].partial_fit([["Xyzzy"]])
    pipeline.save(tmp_path / "model.skcw")
    again = skcw.load(tmp_path / "model.skcw")
    assert same_bits(again.predict(X_TEST), pipeline.predict(X_TEST))


def test_steps_keep_their_names(tmp_path):
    steps = [("window", WindowFeatures(["word"])), ("cw", clone(TAGGERS[0]))]
    TaggingPipeline(steps).fit(X_TRAIN, Y_TRAIN).save(tmp_path / "model.skcw")
    again = TaggingPipeline.load(tmp_path / "model.skcw")
    assert list(again.named_steps) == ["window", "cw"]


def test_load_opens_a_bare_tagger_too(tmp_path):
    tagger = CWSequenceTagger().fit([[["a"], ["b"]]], [["A", "B"]])
    tagger.save(tmp_path / "tagger.skcw")
    assert type(skcw.load(tmp_path / "tagger.skcw")) is CWSequenceTagger
    with pytest.raises(ModelFileError, match=r"not a TaggingPipeline.*skcw\.load"):
        TaggingPipeline.load(tmp_path / "tagger.skcw")


def test_a_tagger_is_not_taken_out_of_its_pipeline_silently(tmp_path, pipeline):
    pipeline.save(tmp_path / "model.skcw")
    with pytest.raises(
        ModelFileError, match=r"a TaggingPipeline, not a CW.*skcw\.load"
    ):
        CWSequenceTagger.load(tmp_path / "model.skcw")


def test_other_transformers_are_not_saved(tmp_path):
    steps = [("encoder", SequenceEncoder()), ("tagger", clone(TAGGERS[0]))]
    pipeline = TaggingPipeline(steps).fit([["Ann", "left"]], [["PER", "O"]])
    assert pipeline.predict_single(["Ann"]) == ["PER"]
    with pytest.raises(ValueError, match="only WindowFeatures"):
        pipeline.save(tmp_path / "model.skcw")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "others", [WindowFeatures(["pos"]), WindowFeatures(["word"], n_features=9)]
)
def test_features_that_the_tagger_does_not_know_are_not_saved(tmp_path, others):
    pipeline = fitted(["word"])
    pipeline.steps[0] = ("features", clone(others).fit(X_TRAIN))
    with pytest.raises(ValueError, match="fit the pipeline"):
        pipeline.save(tmp_path / "model.skcw")


@pytest.mark.parametrize(
    "harm",
    [
        lambda state: state.pop("steps"),
        lambda state: state["features"].pop("columns"),
        lambda state: state["features"]["params"].update(features="no such set"),
        lambda state: state["features"]["params"].update(unknown=1),
        lambda state: state.update(steps=["one"]),
    ],
)
def test_a_damaged_header_is_told_from_a_sound_one(tmp_path, pipeline, harm):
    path = tmp_path / "model.skcw"
    pipeline.save(path)
    rewrite(path, path, lambda header, arrays: harm(header["state"]))
    with pytest.raises(ModelFileError, match="damaged"):
        skcw.load(path)


def test_a_ready_transformer_is_taken_as_it_is():
    features = WindowFeatures(["word"])
    assert make_tagging_pipeline(features).steps[0][1] is features


def test_options_of_the_features_are_passed_on():
    pipeline = make_tagging_pipeline(["in(towns)"], lexicons={"towns": ["Rome"]})
    assert pipeline.named_steps["features"].lexicons == {"towns": ["Rome"]}
    with pytest.raises(TypeError, match="set min_count on the transformer"):
        make_tagging_pipeline(WindowFeatures(), min_count=2)
