"""A model that only answers: it says what the estimator in the same file says."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import skcw
from skcw import (
    AROWSequenceTagger,
    CalibratedTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    InferenceModel,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    make_tagging_pipeline,
)
from skcw.confidence.inference_model import can_serve
from skcw.data import SequenceEncoder, TokenColumns
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import ForeignBatchError, ModelFileError
from skcw.io.model_files import read_model
from tests.model_files import rewrite

CORPUS = make_tagged_corpus(120, random_state=0)
X, Y = CORPUS.tokens[:90], CORPUS.labels[:90]
NEW = [*CORPUS.tokens[90:], [("unheard-of", "XYZ")]]

TAGGERS = {
    "cw": CWSequenceTagger(random_state=0),
    "cw-constrained": CWSequenceTagger(random_state=3, constraints="BIO"),
    "arow": AROWSequenceTagger(random_state=0, dtype="float64"),
    "pa": PASequenceTagger(random_state=0),
    "perceptron": PerceptronSequenceTagger(random_state=0),
    "crf": CRFSequenceTagger(),
    "hmm": HMMSequenceTagger(word_prefix="word[0]="),
}


def saved(estimator, folder):
    """Return the model in a file that an estimator writes, and the estimator in it."""
    path = folder / "m.skcw"
    estimator.save(path)
    return InferenceModel.open(path), skcw.load(path)


@pytest.fixture(scope="module", params=TAGGERS)
def pair(request, tmp_path_factory):
    """A model and the pipeline in the same file."""
    pipeline = make_tagging_pipeline("ner", TAGGERS[request.param]).fit(X, Y)
    return saved(pipeline, tmp_path_factory.mktemp("model"))


def same_rows(one, other):
    """Raise unless two object arrays hold the same arrays or lists."""
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert_array_equal(a, b)


def test_all_answers_are_those_of_the_pipeline(pair):
    model, pipeline = pair
    mine, theirs = model.predict_all(NEW), pipeline.predict_all(NEW)
    same_rows(mine.labels(), theirs.labels())
    assert mine.entities().tolist() == theirs.entities().tolist()
    assert mine.nbest(3).tolist() == theirs.nbest(3).tolist()
    assert mine.marginals().tolist() == theirs.marginals().tolist()
    assert_array_equal(mine.sequence_confidence(), theirs.sequence_confidence())
    assert_array_equal(mine.offsets, theirs.offsets)


def test_every_method_of_confidence_is_served_alike(pair):
    model, pipeline = pair
    mine, theirs = model.predict_all(NEW), pipeline.predict_all(NEW)
    assert list(mine.confidence_methods) == list(theirs.confidence_methods)
    for method in [None, *mine.confidence_methods]:
        same_rows(mine.confidence(method), theirs.confidence(method))


def test_columns_are_read_as_lists_are(pair):
    model, _ = pair
    columns = TokenColumns.from_sequences(NEW)
    same_rows(model.predict_all(columns).labels(), model.predict_all(NEW).labels())


def test_hashed_features_are_served(tmp_path):
    pipeline = make_tagging_pipeline("ner", n_features=4096).fit(X, Y)
    model, _ = saved(pipeline, tmp_path)
    same_rows(model.predict_all(NEW).confidence(), pipeline.predict_confidence(NEW))


def test_a_pipeline_that_went_on_learning_is_served(tmp_path):
    pipeline = make_tagging_pipeline("ner").fit(X, Y)
    pipeline.partial_fit(CORPUS.tokens[90:], CORPUS.labels[90:])
    model, _ = saved(pipeline, tmp_path)
    same_rows(model.predict_all(NEW).confidence(), pipeline.predict_confidence(NEW))


@pytest.mark.parametrize("name", ["cw", "crf"])
def test_a_tagger_without_features_takes_what_it_took(name, tmp_path):
    words = [[word for word, _ in tokens] for tokens in X]
    model, tagger = saved(TAGGERS[name].fit(words, Y), tmp_path)
    new = [[word for word, _ in tokens] for tokens in NEW]
    same_rows(model.predict_all(new).labels(), tagger.predict(new))
    same_rows(model.predict_all(tagger.encode(new)).labels(), tagger.predict(new))
    stranger = SequenceEncoder().fit_transform([["other", "words"]])
    with pytest.raises(ForeignBatchError):
        model.predict_all(stranger)


def test_numeric_columns_are_taken_as_they_were(tmp_path):
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(5, 3)) for _ in range(40)]
    labels = [["pos" if row[0] > 0 else "neg" for row in x] for x in sequences]
    tagger = CWSequenceTagger(random_state=0).fit(sequences, labels)
    model, _ = saved(tagger, tmp_path)
    same_rows(model.predict_all(sequences).labels(), tagger.predict(sequences))
    with pytest.raises(ValueError, match="2 columns where 3 are expected"):
        model.predict_all([sequences[0][:, :2]])


@pytest.mark.parametrize(
    "estimator",
    [
        MaxEntSequenceTagger(),
        CalibratedTagger(CWSequenceTagger(random_state=0), cv=2),
        HMMSequenceTagger(),
    ],
    ids=["maxent", "calibrated", "hmm"],
)
def test_what_only_an_estimator_can_ask_says_so(estimator, tmp_path):
    path = tmp_path / "m.skcw"
    words = [[word for word, _ in tokens] for tokens in X[:30]]
    estimator.fit(words, Y[:30]).save(path)
    name = type(estimator).__name__
    # Features would not help the others.
    without = " without features" if name.startswith("HMM") else ""
    told = f"m.skcw: it holds a {name}{without}, which .* open it with skcw.load"
    with pytest.raises(ModelFileError, match=told):
        InferenceModel.open(path)


@pytest.mark.parametrize("missing", ["belief.mean", "vocabulary.blob", "forbidden"])
def test_a_file_that_lacks_an_array_is_damaged(missing, tmp_path):
    path = tmp_path / "m.skcw"
    tagger = CWSequenceTagger(random_state=0, constraints="BIO")
    make_tagging_pipeline(["word"], tagger).fit(X, Y).save(path)
    assert can_serve(read_model(path)[0], words=True)
    rewrite(path, path, lambda header, arrays: arrays.pop(missing))
    with pytest.raises(ModelFileError, match="is damaged"):
        InferenceModel.open(path)


@pytest.mark.parametrize("damage", ["reads_words", "default"])
def test_a_damaged_header_is_told_when_a_tagger_is_opened(damage, tmp_path):
    path = tmp_path / "tagger"
    CWSequenceTagger(random_state=0).fit([["a", "b"]], [["A", "B"]]).save(path)

    def harm(header, arrays):
        serving = header["state"]["serving"]
        if damage == "default":
            serving["confidence"]["default"] = "no method"
        else:
            del serving[damage]

    rewrite(path, path, harm)
    with pytest.raises(ModelFileError, match="is damaged"):
        InferenceModel.open(path)


def test_a_process_opens_a_model_once_until_it_is_written_again(tmp_path):
    path = tmp_path / "m.skcw"
    tagger = CWSequenceTagger(max_iter=1, random_state=0)
    make_tagging_pipeline("ner", tagger).fit(X, Y).save(path)
    model = InferenceModel.open_once(path)
    assert InferenceModel.open_once(str(path)) is model
    make_tagging_pipeline("ner", tagger).fit(X[:40], Y[:40]).save(path)
    again = InferenceModel.open_once(path)
    assert again is not model
    same_rows(
        again.predict_all(NEW).labels(),
        InferenceModel.open(path).predict_all(NEW).labels(),
    )
    path.unlink()
    with pytest.raises(FileNotFoundError):
        InferenceModel.open_once(path)
