"""What looks right and means something else is refused, or at least told."""

import io
import os
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import skcw
from skcw import (
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    MultiClassCW,
    TaggingPipeline,
    make_tagging_pipeline,
)
from skcw.data import TokenColumns, convert_labels, extract_spans
from skcw.datasets import make_tagged_corpus
from skcw.exceptions import (
    ColumnFileError,
    FileFormatWarning,
    OutsideLabelWarning,
)
from skcw.features import WindowFeatures
from skcw.io import read_columns

X = [["Ann", "left"], ["Bob", "left"], ["Ann", "met", "Bob"]]
Y = [["B-PER", "O"], ["B-PER", "O"], ["B-PER", "O", "B-PER"]]
CONLLU = (
    "1\tAnn\t_\tPROPN\t_\t_\t2\tnsubj\t_\t_\n2\tleft\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
)
FRAME = {"sentence_id": [1, 1], "word": ["Ann", "left"], "label": ["B-PER", "O"]}


def taggers():
    return [
        CWSequenceTagger(random_state=0),
        make_tagging_pipeline(["word"], CWSequenceTagger(random_state=0)),
    ]


@pytest.fixture(params=range(2), ids=["tagger", "pipeline"])
def tagger(request):
    return taggers()[request.param]


def tables():
    frame = pd.DataFrame(FRAME)
    return {
        "pandas": frame,
        "polars": pl.DataFrame(FRAME),
        "lazy": pl.LazyFrame(FRAME),
        "groups": frame.groupby("sentence_id"),
        "groups of words": frame.groupby("sentence_id")["word"],
    }


@pytest.mark.parametrize("name", tables())
def test_a_table_is_no_list_of_sentences(tagger, name):
    table = tables()[name]
    tagger.fit(X, Y)
    message = r"TokenColumns.from_frame\(df, sentence=...\)"
    for question in (
        lambda: tagger.predict(table),
        lambda: tagger.predict([table]),
        lambda: tagger.fit(table, Y),
        lambda: tagger.fit([table], Y[:1]),
        lambda: tagger.fit(X, table),
        lambda: tagger.fit(X[:1], [table]),
        lambda: TokenColumns.from_sequences(table),
    ):
        with pytest.raises(TypeError, match=message):
            question()
    assert tagger.predict(X).tolist() == Y


def test_columns_of_lists_and_of_words_are_sentences(tagger):
    tagger.fit(X, Y)
    frame = pd.DataFrame({"words": X})
    assert tagger.predict(frame["words"]).tolist() == Y
    assert tagger.predict(pl.Series(X)).tolist() == Y
    assert tagger.predict([pd.Series(words) for words in X]).tolist() == Y


@pytest.mark.parametrize(
    "kind", [set, frozenset, lambda row: dict.fromkeys(row).keys()]
)
def test_a_set_is_no_sentence(tagger, kind):
    tagger.fit(X, Y)
    for rows in ([kind(X[0])], [X[0], kind(X[1])]):
        with pytest.raises(TypeError, match="whose tokens have no order; give a list"):
            tagger.predict(rows)
        with pytest.raises(TypeError, match="no order"):
            tagger.fit(rows, Y[: len(rows)])
        with pytest.raises(TypeError, match="no order"):
            TokenColumns.from_sequences(rows)
    with pytest.raises(TypeError, match="not a list of"):
        tagger.predict({tuple(row) for row in X})
    with pytest.raises(TypeError, match="not a list of"):
        tagger.fit(X[:1], [frozenset(Y[0])])


def test_conllu_read_as_columns_is_told():
    with pytest.warns(FileFormatWarning, match=r"looks like CoNLL-U.*conllu=True"):
        columns = read_columns(io.StringIO(CONLLU))
    with pytest.raises(ValueError, match="column 9 holds nothing but _, which is no"):
        columns.split_label()
    assert len(read_columns(io.StringIO(CONLLU), conllu=False)) == 1
    named = read_columns(io.StringIO(CONLLU), conllu=True)
    with pytest.raises(ValueError, match="the columns are id, form, lemma, upos"):
        named.split_label()
    assert named.split_label("upos")[1].tolist() == [["PROPN", "VERB"]]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("taken_for", ["utf-8", "latin-1"])
def test_two_bytes_per_character_are_told_by_their_name(encoding, taken_for):
    data = "Zoë NNP B-PER\nleft VBD O\n".encode(encoding)
    with pytest.raises(ColumnFileError, match=f'pass it: encoding="{encoding}"'):
        read_columns(io.BytesIO(data), encoding=taken_for)
    found = read_columns(io.BytesIO(data), encoding=encoding)
    assert found.column(0).tolist() == [["Zoë", "left"]]


def test_other_bytes_are_still_told_latin_1():
    with pytest.raises(ColumnFileError, match='pass it: encoding="latin-1"'):
        read_columns(io.BytesIO("Zoë NNP\n".encode("latin-1")))


UNREADABLE = {
    "a folder": (lambda path: path.mkdir(), IsADirectoryError),
    "a link to itself": (lambda path: path.symlink_to(path), OSError),
    "nothing": (lambda path: None, FileNotFoundError),
}


@pytest.mark.parametrize("make, error", UNREADABLE.values(), ids=UNREADABLE)
def test_a_model_that_cannot_be_opened_says_why(tmp_path, make, error):
    path = tmp_path / "m.skcw"
    make(path)
    with pytest.raises(error) as found:
        path.read_bytes()
    for opening in (skcw.load, skcw.InferenceModel.open):
        with pytest.raises(error) as mine:
            opening(path)
        assert mine.value.errno == found.value.errno


def test_a_model_without_permission_is_not_called_missing(tmp_path):
    make_tagging_pipeline(["word"], CWSequenceTagger(random_state=0)).fit(X, Y).save(
        tmp_path / "m.skcw"
    )
    # Root may read everything: its rights are given up first.
    code = (
        "import os, skcw\n"
        "skcw.InferenceModel\n"
        "os.getuid() or os.setuid(65534)\n"
        "try:\n"
        "    skcw.InferenceModel.open('m.skcw')\n"
        "except OSError as error:\n"
        "    print(type(error).__name__)\n"
    )
    (tmp_path / "m.skcw").chmod(0)
    program = [sys.executable, "-P", "-c", code]
    found = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout == "PermissionError\n", found.stderr


FILES = """
import sys
import joblib, numpy as np
import skcw
from skcw.datasets import make_tagged_corpus

X, y = make_tagged_corpus(40, random_state=0, return_X_y=True)
for name, tagger in {
    "cw": skcw.CWSequenceTagger(random_state=0, max_iter=3, n_models=2, n_jobs=2),
    "crf": skcw.CRFSequenceTagger(max_iter=5),
    "hmm": skcw.HMMSequenceTagger(word_prefix="word[0]="),
    "maxent": skcw.MaxEntSequenceTagger(random_state=0, max_iter=200),
}.items():
    model = skcw.make_tagging_pipeline("ner", tagger).fit(X, y)
    model.save(f"{sys.argv[1]}.{name}.skcw")
    joblib.dump(model, f"{sys.argv[1]}.{name}.joblib")
rows = np.random.RandomState(0).randn(60, 4)
classifier = skcw.MultiClassCW(random_state=0).fit(rows, rows[:, 0] > 0)
joblib.dump(classifier, f"{sys.argv[1]}.rows.joblib")
"""


def test_the_same_training_gives_the_same_bytes_in_another_process(tmp_path):
    for name, seed in (("a", "1"), ("b", "2")):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        program = [sys.executable, "-P", "-W", "ignore", "-c", FILES, name]
        subprocess.run(program, cwd=tmp_path, env=env, check=True)
    first = sorted(tmp_path.glob("a.*"))
    assert len(first) == 9
    for path in first:
        other = path.with_name("b" + path.name[1:])
        assert path.read_bytes() == other.read_bytes(), path.name


def test_the_number_of_workers_changes_one_parameter_of_a_file_and_no_weight(tmp_path):
    from skcw.io.model_files import read_model

    corpus = make_tagged_corpus(40, random_state=0)
    found = []
    for n_jobs in (1, 2):
        tagger = CWSequenceTagger(random_state=0, n_models=2, n_jobs=n_jobs)
        path = tmp_path / f"{n_jobs}.skcw"
        make_tagging_pipeline("ner", tagger).fit(corpus.tokens, corpus.labels).save(
            path
        )
        found.append(read_model(path))
    (one, arrays), (two, others) = found
    for n_jobs, header in ((1, one), (2, two)):
        assert header["state"]["tagger"]["params"].pop("n_jobs") == n_jobs
    assert one == two
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name])


def test_seconds_stay_with_the_tagger_and_out_of_its_files(tmp_path):
    tagger = CWSequenceTagger(random_state=0).fit(X, Y)
    assert all("seconds" in record for record in tagger.history_)
    copied = pickle.loads(pickle.dumps(tagger))
    assert [r["epoch"] for r in copied.history_] == [
        r["epoch"] for r in tagger.history_
    ]
    assert not any("seconds" in record for record in copied.history_)
    rows = np.eye(4)
    classifier = MultiClassCW(random_state=0).fit(rows, [0, 0, 1, 1])
    assert all("seconds" in record for record in classifier.history_)
    joblib.dump(classifier, tmp_path / "c.joblib")
    assert "seconds" not in joblib.load(tmp_path / "c.joblib").history_[0]


def test_a_pipeline_takes_parameters_of_its_steps():
    weight = [1.0, 3.0, 0.0]
    plain, named, searched = (taggers()[1] for _ in range(3))
    plain.fit(X, Y, weight)
    named.fit(X, Y, tagger__sample_weight=weight)
    np.testing.assert_array_equal(named.tagger.coef_, plain.tagger.coef_)
    unweighted = taggers()[1].fit(X, Y)
    assert not np.array_equal(unweighted.tagger.coef_, plain.tagger.coef_)
    search = GridSearchCV(searched, {"tagger__phi": [1.0]}, cv=2)
    search.fit(X, Y, tagger__sample_weight=np.array([1.0, 3.0, 0.5]))
    dev = {"X_dev": X, "y_dev": Y}
    one = taggers()[1].fit(X, Y, weight, **dev)
    two = taggers()[1].fit(
        X, Y, tagger__sample_weight=weight, tagger__X_dev=X, tagger__y_dev=Y
    )
    np.testing.assert_array_equal(one.tagger.coef_, two.tagger.coef_)


def test_parameters_that_no_step_has_are_refused():
    pipeline = taggers()[1]
    with pytest.raises(
        ValueError, match="either sample_weight or tagger__sample_weight"
    ):
        pipeline.fit(X, Y, [1, 1, 1], tagger__sample_weight=[1, 1, 1])
    with pytest.raises(ValueError, match="does not accept the weight parameter"):
        pipeline.fit(X, Y, weight=[1, 1, 1])
    with pytest.raises(TypeError, match="weight"):
        pipeline.fit(X, Y, X_dev=X, y_dev=Y, tagger__weight=[1, 1, 1])
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        pipeline.fit(X, Y, tagger__X_dev=X)


LEARNERS = [
    CWSequenceTagger(random_state=0),
    HMMSequenceTagger(word_prefix="word[0]="),
    CRFSequenceTagger(max_iter=5),
    MaxEntSequenceTagger(random_state=0, max_iter=200),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda tagger: type(tagger).__name__)
def test_a_tagging_pipeline_has_what_a_plain_one_lacks(learner):
    pipeline = make_pipeline(WindowFeatures(["word"]), learner).fit(X, Y)
    assert not hasattr(pipeline, "predict_confidence")
    full = TaggingPipeline(pipeline.steps)
    assert full.predict(X).tolist() == pipeline.predict(X).tolist()
    assert [len(row) for row in full.predict_confidence(X)] == [2, 2, 3]


@pytest.mark.parametrize(
    "learner",
    [HMMSequenceTagger(), *(t for t in LEARNERS if not hasattr(t, "word_prefix"))],
    ids=lambda tagger: type(tagger).__name__,
)
@pytest.mark.parametrize("outside", ["NONE", "_", "0", "other"])
def test_an_outside_label_of_another_name_is_told(learner, outside):
    y = [[outside if label == "O" else label for label in row] for row in Y]
    message = rf"convert_labels\(y, 'IOB2', outside='{outside}'\)"
    with pytest.warns(OutsideLabelWarning, match=message):
        learner.fit(X, y)
    assert convert_labels(y, "IOB2", outside=outside).tolist() == Y


@pytest.mark.parametrize(
    "y",
    [
        [["NN", "VB"]],
        [["B-PER", "O"]],
        [["B-PER", "B-LOC"]],
        [["B", "I"]],
        [["X", "B-Y"], ["Z"]],
    ],
)
def test_labels_without_an_odd_outside_are_told_nothing(y, recwarn):
    rows = [["a"] * len(row) for row in y]
    CWSequenceTagger(random_state=0).fit(rows, y)
    assert not [w for w in recwarn if issubclass(w.category, OutsideLabelWarning)]


def test_labels_are_converted_only_if_the_outside_is_known():
    with pytest.raises(ValueError, match=r"said by outside=\.\.\."):
        convert_labels([["B-PER", "NONE"]], "IOBES")
    found = convert_labels([["B-PER", "NONE"]], "IOBES", outside="NONE")
    assert extract_spans(found[0]) == [("PER", 0, 1)]
