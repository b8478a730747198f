"""Models in files: what comes back, what is refused, what is left alone."""

import json
import os
import stat
import threading

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import skcw
from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
    load,
)
from skcw._util.limits import LARGEST_LEARNED
from skcw.data.vocabulary import Vocabulary
from skcw.exceptions import ModelFileError
from skcw.io.loading import without_seconds
from skcw.io.model_files import (
    FORMAT,
    HEADER,
    OLDEST_READ,
    read_model,
    write_model,
)
from skcw.utils.laws import make_tagged, outputs, weights
from tests.model_files import rewrite, write

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
ALL_LEGAL = [[True] * 5] * 5

TAGGERS = [
    CWSequenceTagger(random_state=0),
    CWSequenceTagger(random_state=0, dtype="float64", averaging=False, n_models=2),
    CWSequenceTagger(random_state=0, constraints="BIO", class_weight={"O": 0.5}),
    CWSequenceTagger(random_state=0, constraints=(LABELS, ALL_LEGAL)),
    AROWSequenceTagger(random_state=0),
    PASequenceTagger(random_state=0),
    PerceptronSequenceTagger(random_state=0),
    HMMSequenceTagger(),
    HMMSequenceTagger("vocabulary", constraints="BIO"),
    MaxEntSequenceTagger(random_state=0),
    CRFSequenceTagger(),
]


@pytest.fixture
def data():
    return make_tagged(CWSequenceTagger())


@pytest.fixture
def tagger(data):
    return CWSequenceTagger(random_state=0).fit(*data)


@pytest.fixture
def path(tagger, tmp_path):
    # Arrays as they are in memory, for tests that change them.
    tagger.save(tmp_path / "model", mapped=True)
    return tmp_path / "model"


def changed(path, target, arrays=None, drop=(), **header):
    """Copy a model with other arrays or another header."""

    def change(found, kept):
        found.update(header)
        kept.update(arrays or {})
        for name in drop:
            del kept[name]

    return rewrite(path, target, change)


# -- there and back ------------------------------------------------------------------


@pytest.mark.parametrize("example", TAGGERS, ids=repr)
@pytest.mark.parametrize("form", ["lists", "columns"])
def test_a_loaded_tagger_has_the_same_bits(example, form, data, tmp_path):
    X, y = data
    if form == "columns":
        rng = np.random.RandomState(0)
        X = [rng.rand(len(labels), 4) for labels in y]
    example.fit(X, y).save(tmp_path / "model")
    for loaded in (load(tmp_path / "model"), type(example).load(tmp_path / "model")):
        assert type(loaded) is type(example)
        assert outputs(loaded, X) == outputs(example, X)
        theirs = weights(loaded)
        for name, array in weights(example).items():
            np.testing.assert_array_equal(theirs[name], array)
        assert loaded.history_ == without_seconds(example.history_)
        assert loaded.n_iter_ == example.n_iter_
        assert loaded.classes_.tolist() == example.classes_.tolist()
        if form == "columns":
            assert loaded.n_features_in_ == 4
        params = example.get_params()
        for name, value in loaded.get_params().items():
            same = list(value) if name == "constraints" and value else value
            was = params[name]
            assert same == (list(was) if name == "constraints" and was else was)


def test_a_path_may_be_a_string(tagger, tmp_path, data):
    tagger.save(str(tmp_path / "model"))
    assert load(str(tmp_path / "model")).predict(data.X).shape == (len(data.X),)


def test_odd_names_survive(tmp_path):
    words, labels = ["é", "\ud800", "", "a\0b", "名"], ["é", "", "O", "B-名", "\ud800"]
    tagger = CWSequenceTagger(random_state=0).fit([words] * 4, [labels] * 4)
    tagger.save(tmp_path / "modèle 名")
    loaded = load(tmp_path / "modèle 名")
    assert loaded.predict([words])[0] == labels
    assert loaded.feature_names_.tolist() == words


def test_numbers_of_numpy_as_parameters_are_saved(data, tmp_path):
    tagger = CWSequenceTagger(phi=np.float32(0.5), max_iter=np.int64(3))
    tagger.set_params(class_weight={"O": np.float64(2)}).fit(*data)
    tagger.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.phi, loaded.max_iter) == (0.5, 3)
    assert loaded.class_weight == {"O": 2.0}


def test_a_random_state_object_is_not_saved(data, tmp_path):
    tagger = CWSequenceTagger(random_state=np.random.RandomState(0)).fit(*data)
    tagger.save(tmp_path / "model")
    assert load(tmp_path / "model").random_state is None


def test_a_function_cannot_be_saved_and_leaves_no_file(data, tmp_path):
    tagger = CWSequenceTagger(constraints=lambda a, b: True).fit(*data)
    with pytest.raises(ValueError, match="constraints is a function"):
        tagger.save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_every_loader_takes_its_own_kind_only(path):
    with pytest.raises(ModelFileError, match="CWSequenceTagger, not a AROW"):
        AROWSequenceTagger.load(path)
    assert type(skcw.load(path)) is CWSequenceTagger


# -- read, or mapped -----------------------------------------------------------------


def mapped_base(array):
    while getattr(array, "base", None) is not None and type(array) is not np.memmap:
        array = array.base
    return array


@pytest.mark.parametrize("mapped", [False, True])
def test_arrays_are_mapped_into_memory_if_asked_for(tagger, tmp_path, mapped):
    path = tmp_path / "model"
    tagger.save(path, mapped=True)
    belief = load(path, mapped=mapped).belief_
    vocabulary = load(path, mapped=mapped).vocabulary_
    for array in (
        belief.mean,
        belief.variance,
        belief.average,
        belief.row_of,
        vocabulary.blob,
        vocabulary.ends,
        vocabulary.slots,
    ):
        assert isinstance(mapped_base(array), np.memmap) == mapped


def test_a_large_model_is_not_copied_when_it_opens(tmp_path, monkeypatch):
    n_features, width = 200_000, 8
    tagger = CWSequenceTagger(random_state=0).fit([["a", "b"]], [["A", "B"]])
    belief = tagger.belief_
    rows = width + 1 + n_features
    tagger.belief_ = type(belief)(
        2,
        np.arange(width + 1, rows, dtype=np.int32),
        *(np.full(rows * width, size, np.float32) for size in (1, 2, 3)),
        1.0,
    )
    names = skcw.data.vocabulary.Vocabulary.from_names(map(str, range(n_features)))
    tagger.vocabulary_ = names
    tagger.save(tmp_path / "model", mapped=True)
    assert os.path.getsize(tmp_path / "model") > 20_000_000
    loaded = load(tmp_path / "model", mapped=True)
    large = [array for array in loaded.belief_.arrays().values() if len(array) > 1]
    assert len(large) == 4
    for array in large:
        assert isinstance(mapped_base(array), np.memmap)
    assert loaded.predict([["7", "x"]]).shape == (1,)


@pytest.mark.parametrize("mapped", [False, True])
def test_learning_on_leaves_the_file_as_it_was(path, data, mapped):
    before = path.read_bytes()
    loaded = load(path, mapped=mapped)
    expected = CWSequenceTagger(random_state=0).fit(*data)
    more = make_tagged(loaded, seed=9)
    loaded.partial_fit(*more)
    expected.partial_fit(*more)
    np.testing.assert_array_equal(loaded.coef_, expected.coef_)
    assert path.read_bytes() == before
    # A model that is mapped may be changed like any other: pages are copied then.
    again = load(path, mapped=mapped)
    again.belief_.mean[:] = 7.0
    assert (again.belief_.mean == 7.0).all()
    assert path.read_bytes() == before


def test_a_model_may_replace_the_file_it_came_from(path, data):
    loaded = load(path)
    said = outputs(loaded, data.X)
    loaded.partial_fit(*data).save(path)
    again = load(path)
    assert outputs(again, data.X) == outputs(loaded, data.X) != said
    # What was loaded from the old file still stands on it.
    old = load(path)
    PerceptronSequenceTagger().fit(*data).save(path)
    assert outputs(old, data.X) == outputs(loaded, data.X)


# -- writing -------------------------------------------------------------------------


def test_a_failure_leaves_the_old_file(path, tagger, monkeypatch, data):
    before = path.read_bytes()

    def fail(draft):
        raise OSError("disk full")

    monkeypatch.setattr("skcw.io.model_files.seal", fail)
    with pytest.raises(OSError, match="disk full"):
        tagger.partial_fit(*data).save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["model"]


def test_a_new_model_is_readable_as_other_new_files_are(path, tagger):
    (path.parent / "other").touch()
    usual = stat.S_IMODE((path.parent / "other").stat().st_mode)
    assert stat.S_IMODE(path.stat().st_mode) == usual
    path.chmod(0o640)
    tagger.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_folder_that_is_not_there_is_not_made(tagger, tmp_path):
    with pytest.raises(FileNotFoundError):
        tagger.save(tmp_path / "nowhere" / "model")


def test_two_may_save_at_once(tagger, tmp_path, data):
    target = tmp_path / "model"
    threads = [threading.Thread(target=tagger.save, args=(target,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs(load(target), data.X) == outputs(tagger, data.X)
    assert os.listdir(tmp_path) == ["model"]


def test_an_unfitted_tagger_cannot_be_saved(tmp_path):
    for tagger in (CWSequenceTagger(), CRFSequenceTagger()):
        with pytest.raises(ValueError, match="not fitted"):
            tagger.save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


# -- files that are no models --------------------------------------------------------


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


@pytest.mark.parametrize("share", [0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ModelFileError, match="not a complete skcw model"):
        load(path)


@pytest.mark.parametrize("cut", range(1, 10))
def test_a_file_that_lacks_a_few_bytes_is_refused(path, cut):
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(ModelFileError, match="truncated"):
        load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"\0" * 1000,
        b"\xff" * 1000,
        b"hello, I am text\n" * 50,
        b'{"json": true}',
        np.random.RandomState(0).bytes(5000),
        b"\x80\x04\x95" + b"pickle" * 20,
    ],
    ids=["empty", "zero", "zeros", "ones", "text", "json", "random", "pickle"],
)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    # A model might have been cut off so early.
    told = "not a complete skcw model" if len(content) < 7 else "is not a skcw model$"
    with pytest.raises(ModelFileError, match=told):
        load(tmp_path / "file")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises((ModelFileError, IsADirectoryError)):
        load(tmp_path)


def test_safetensors_of_others_are_refused(tmp_path):
    save_file({"weight": np.zeros(3)}, tmp_path / "other")
    with pytest.raises(ModelFileError, match="but not a skcw model"):
        load(tmp_path / "other")


def test_a_newer_format_is_refused(path, tmp_path):
    newer = changed(path, tmp_path / "newer", format=FORMAT + 1, version="99.0")
    with pytest.raises(ModelFileError, match=r"written by skcw 99\.0.*Update skcw"):
        load(newer)


def test_an_older_format_is_refused(path, tmp_path):
    older = changed(path, tmp_path / "older", format=OLDEST_READ - 1)
    with pytest.raises(
        ModelFileError, match=rf"has format {OLDEST_READ - 1},.*Train the model again"
    ):
        load(older)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "3", "no json", '{"format": "new"}', '{"format":2}'],
)
def test_damaged_headers_are_refused(tmp_path, text):
    save_file({"a": np.zeros(3)}, tmp_path / "model", metadata={HEADER: text})
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    "header",
    [
        {"class": "UnheardOfTagger"},
        {"class": None},
        {"params": {"no_such_parameter": 1}},
        {"params": None},
        {"state": {}},
        {"state": {"classes": ["A"]}},
    ],
    ids=str,
)
def test_headers_that_do_not_fit_are_refused(path, tmp_path, header):
    with pytest.raises(ModelFileError):
        load(changed(path, tmp_path / "odd", **header))


@pytest.mark.parametrize(
    "name",
    [
        "token_norm_",
        "token_breadth_",
        "confidence_source_",
        "constraints_",
        "scheme_faults_",
    ],
)
def test_a_file_that_lacks_a_fitted_attribute_is_refused(path, tmp_path, name):
    state = read_model(path)[0]["state"]
    del state[name]
    with pytest.raises(ModelFileError, match=f"odd is damaged.*{name}"):
        load(changed(path, tmp_path / "odd", state=state))


# Learners without variance or average exist, a missing blob means columns, and older
# files do not tell what was learned from.
OPTIONAL = ("belief.variance", "belief.average", "vocabulary.blob", "training_hashes")


def test_missing_arrays_are_refused(path, tmp_path):
    for name in set(load_file(path)).difference(OPTIONAL):
        with pytest.raises(ModelFileError, match="damaged"):
            load(changed(path, tmp_path / "odd", drop=[name]))


def test_a_file_that_does_not_tell_what_was_learned_from_is_read(path, data):
    silent = load(path)
    assert np.isnan(silent.train_overlap(data.X))
    assert np.isnan(silent.partial_fit(*data).train_overlap(data.X))
    assert silent.fit(*data).train_overlap(data.X) == 1.0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda arrays: {"belief.mean": arrays["belief.mean"][:-8]},
        lambda arrays: {"belief.mean": arrays["belief.mean"][:16]},
        lambda arrays: {"belief.variance": arrays["belief.variance"][:-1]},
        lambda arrays: {"belief.row_of": arrays["belief.row_of"] + 10**6},
        lambda arrays: {"belief.row_of": arrays["belief.row_of"] - 10**6},
        lambda arrays: {"belief.row_of": arrays["belief.row_of"][:-1]},
        lambda arrays: {"vocabulary.ends": arrays["vocabulary.ends"][:-1]},
        lambda arrays: {"vocabulary.ends": arrays["vocabulary.ends"] + 1},
        lambda arrays: {"vocabulary.blob": arrays["vocabulary.blob"][:-1]},
        lambda arrays: {"vocabulary.slots": arrays["vocabulary.slots"][:-1]},
        lambda arrays: {"vocabulary.slots": arrays["vocabulary.slots"][:2]},
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(path, tmp_path, spoil):
    odd = changed(path, tmp_path / "odd", arrays=spoil(load_file(path)))
    with pytest.raises(ModelFileError, match="damaged"):
        load(odd)


def test_spoilt_names_lead_nowhere(path, tmp_path, data):
    arrays, tagger = load_file(path), load(path)
    slots = arrays["vocabulary.slots"].copy()
    slots[slots > 0] |= np.uint64(0x7FFFFFFF)
    ends = arrays["vocabulary.ends"].copy()
    ends[1:-1] = 10**15
    for spoilt in ({"vocabulary.slots": slots}, {"vocabulary.ends": ends}):
        with pytest.raises(ModelFileError, match="feature names"):
            load(changed(path, tmp_path / "odd", arrays=spoilt))
        # A pickle is not checked, and even then nothing is read that is not there.
        tagger.vocabulary_ = Vocabulary.from_arrays(arrays | spoilt)
        assert tagger.predict(data.X).shape == (len(data.X),)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e31])
@pytest.mark.parametrize("name", ["belief.mean", "belief.average", "belief.variance"])
def test_numbers_that_are_not_finite_are_refused(tagger, data, tmp_path, name, bad):
    path = tmp_path / "model"
    # Only now is the average another one than the mean.
    tagger.partial_fit(*data).save(path, mapped=True)
    array = load_file(path)[name].copy()
    array[-1] = bad
    odd = changed(path, tmp_path / "odd", arrays={name: array})
    for opened in (load, skcw.InferenceModel.open):
        with pytest.raises(ModelFileError, match=f"odd is damaged.*{name} holds NaN"):
            opened(odd)


def test_weights_whose_sums_could_not_be_used_are_refused(path, tmp_path):
    for name, size, opens in (
        ("belief.mean", 1.1 * LARGEST_LEARNED, False),
        ("belief.mean", 0.9 * LARGEST_LEARNED, True),
        ("belief.variance", 1.1 * LARGEST_LEARNED, True),
    ):
        array = load_file(path)[name].copy()
        array[-1] = size
        odd = changed(path, tmp_path / "odd", arrays={name: array})
        if opens:
            load(odd)
            continue
        with pytest.raises(ModelFileError, match="beyond 1e\\+24"):
            load(odd)


def test_negative_variances_are_refused(path, tmp_path):
    array = -load_file(path)["belief.variance"]
    with pytest.raises(ModelFileError, match="variance is negative"):
        load(changed(path, tmp_path / "odd", arrays={"belief.variance": array}))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("belief.mean", lambda a: a.astype(np.float64)),
        ("belief.mean", lambda a: a.astype(np.int32)),
        ("belief.mean", lambda a: a[None]),
        ("belief.row_of", lambda a: a.astype(np.int64)),
        ("belief.row_of", lambda a: a[:, None]),
        ("belief.unseen", lambda a: a.astype(np.float32)),
        ("vocabulary.slots", lambda a: a.astype(np.int64)),
        ("vocabulary.ends", lambda a: a.astype(np.int32)),
        ("training_hashes", lambda a: a.astype(np.float64)),
        ("forbidden", lambda a: a[:-1]),
        ("forbidden", lambda a: np.where(a == 0, 1.0, a)),
    ],
)
def test_types_and_dimensions_are_checked_when_a_file_is_opened(
    data, tmp_path, name, change
):
    path = tmp_path / "model"
    tagger = CWSequenceTagger(random_state=0, max_iter=1, constraints="BIO")
    tagger.fit(*data).save(path, mapped=True, train_hashes=True)
    array = np.ascontiguousarray(change(load_file(path)[name]))
    with pytest.raises(ModelFileError, match="odd is damaged"):
        load(changed(path, tmp_path / "odd", arrays={name: array}))


def test_a_full_hash_table_is_refused_and_no_search_in_one_is_endless(path, tmp_path):
    arrays = load_file(path)
    slots = np.where(arrays["vocabulary.slots"] == 0, 1, arrays["vocabulary.slots"])
    arrays["vocabulary.slots"] = slots.astype(np.uint64)
    with pytest.raises(ModelFileError, match="table of feature names"):
        load(changed(path, tmp_path / "odd", arrays=arrays))
    full = Vocabulary.from_arrays(arrays)
    assert full.find("never seen") == -1
    with pytest.raises(ValueError, match="no empty slot"):
        full.table(grow=True)


def test_a_table_that_is_slow_to_search_is_refused():
    names = Vocabulary.from_names(map(str, range(12_000)))
    slots = np.sort(names.slots)[::-1].copy()
    with pytest.raises(ValueError, match="cannot be searched"):
        Vocabulary(names.blob, names.ends, slots).check(12_000)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"phi": "x"}, "phi"),
        ({"phi": -1}, "phi"),
        ({"max_iter": 0.5}, "max_iter"),
        ({"dtype": "float16"}, "dtype"),
        ({"n_jobs": "many"}, "n_jobs"),
    ],
)
def test_parameters_are_checked_when_a_file_is_opened(path, tmp_path, params, told):
    all_params = {**read_model(path)[0]["params"], **params}
    with pytest.raises(ModelFileError, match=f"odd is damaged.*{told}"):
        load(changed(path, tmp_path / "odd", params=all_params))


@pytest.mark.parametrize(
    "value",
    [10**9, 10_001, 0, -1, 1.5, "many", None, [], 1e300],
)
def test_a_file_cannot_ask_for_any_number_of_labelings(path, tmp_path, value):
    state = read_model(path)[0]["state"]
    state["confidence"] = {"kbv": {"metric": "log_loss", "values": {"n_best": value}}}
    with pytest.raises(ModelFileError, match="n_best"):
        load(changed(path, tmp_path / "odd", state=state))


def test_hashed_features_are_as_many_as_the_weights(data, tmp_path):
    pipeline = skcw.make_tagging_pipeline(["word"], n_features=64)
    pipeline.fit([[str(word) for word in row] for row in data.X], data.y)
    pipeline.save(tmp_path / "model")
    header, arrays = read_model(tmp_path / "model")
    for n_features in (63, 65, 2**31, 10**12, -1, "64", 64.0):
        header["state"]["features"]["params"]["n_features"] = n_features
        write_model(tmp_path / "odd", header, arrays)
        with pytest.raises(ModelFileError, match="odd is damaged"):
            skcw.InferenceModel.open(tmp_path / "odd")


@pytest.mark.parametrize(
    "value",
    ["[" * 100_000, "[" * 900 + "]" * 900, "9" * 400, "9" * 5000, "1e999", "NaN"],
    ids=["nested", "closed", "400 digits", "5000 digits", "infinite", "NaN"],
)
def test_numbers_and_nesting_beyond_all_bounds_are_refused(path, tmp_path, value):
    text = json.dumps(read_model(path)[0])
    text = text.replace('"n_iter": ', f'"n_iter": {value}, "was": ', 1)
    write(tmp_path / "odd", text, load_file(path))
    with pytest.raises(ModelFileError, match="odd"):
        load(tmp_path / "odd")


def test_a_wrong_checksum_is_told(path):
    whole = bytearray(path.read_bytes())
    whole[-5] ^= 1
    path.write_bytes(bytes(whole))
    for mapped in (False, True):
        with pytest.raises(ModelFileError, match=r"model is damaged.*checksum"):
            load(path, mapped=mapped)


def test_a_file_is_on_the_disk_before_it_has_its_name(tagger, tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace", "link"):
        real = getattr(os, name)

        def noted(*args, real=real, name=name, **options):
            calls.append(name)
            return real(*args, **options)

        monkeypatch.setattr(os, name, noted)
    tagger.save(tmp_path / "model")
    assert calls[0] == "fsync" and calls[-1] == "fsync"
    assert calls[-2] == "replace"


def test_a_link_is_followed(tagger, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "model")
    tagger.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert os.listdir(tmp_path / "folder") == ["model"]
    assert load(tmp_path / "link").n_iter_ == tagger.n_iter_


def test_a_pipe_is_no_model(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is not a file"):
        load(tmp_path / "pipe")


# -- the format itself ---------------------------------------------------------------


def test_a_file_is_plain_safetensors_without_pickle(path):
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()[HEADER])
    assert header["format"] == FORMAT
    assert header["class"] == "CWSequenceTagger"
    assert header["version"] == skcw.__version__
    assert all(array.dtype != object for array in load_file(path).values())


def test_arrays_and_header_come_back(tmp_path):
    arrays = {
        "f4": np.arange(5, dtype=np.float32),
        "f8": np.arange(6.0).reshape(2, 3),
        "i4": np.arange(3, dtype=np.int32),
        "i8": np.arange(3),
        "u1": np.arange(7, dtype=np.uint8),
        "u8": np.arange(2, dtype=np.uint64),
        "none": np.empty(0, dtype=np.float64),
        "strided": np.arange(10.0)[::3],
    }
    header = {"a": [1, "é", None], "b": np.float32(0.5), "c": np.arange(3)}
    write_model(tmp_path / "model", header, arrays)
    found, mapped = read_model(tmp_path / "model")
    written = {"format": FORMAT, "version": skcw.__version__}
    assert found == {**written, "a": [1, "é", None], "b": 0.5, "c": [0, 1, 2]}
    assert set(mapped) == set(arrays)
    for name, array in arrays.items():
        assert mapped[name].dtype == array.dtype
        np.testing.assert_array_equal(mapped[name], array)


def test_what_json_cannot_say_is_refused(tmp_path):
    with pytest.raises(TypeError, match="cannot be saved"):
        write_model(tmp_path / "model", {"a": object()}, {})
    assert os.listdir(tmp_path) == []
