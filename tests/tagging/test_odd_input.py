"""What users do by mistake or by temperament: refused by name, or done right."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    HMMSequenceTagger,
    MaxEntSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw._util.ragged import object_rows
from skcw.data import SequenceEncoder

X = [[["w=a", "c"], ["w=b"]], [["w=a"], ["w=c", "d"], ["w=b"]]]
Y = [["A", "O"], ["A", "B", "O"]]

ONLINE = [
    CWSequenceTagger,
    AROWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
]
ALL = [*ONLINE, CRFSequenceTagger, HMMSequenceTagger, MaxEntSequenceTagger]
every_tagger = pytest.mark.parametrize("Tagger", ALL)


def seeded(Tagger):
    """Return a tagger whose random choices, if it makes any, are those of seed 0."""
    tagger = Tagger()
    random = "random_state" in tagger.get_params()
    return tagger.set_params(random_state=0) if random else tagger


def cw(**params):
    return CWSequenceTagger(random_state=0, **params)


# -- parameters ----------------------------------------------------------------------

BAD_STOPPING = [
    {key: value}
    for key, values in {
        "validation_fraction": [0, 1, -0.5, np.nan],
        "n_iter_no_change": [0, -1, 1.5],
        "tol": [-1e-9, np.nan, None],
        "patience": [3],
    }.items()
    for value in values
]
BAD_PARAMETERS = [
    (CWSequenceTagger, "phi", [0, -1, np.nan, np.inf, 1e300, "1", None]),
    (AROWSequenceTagger, "r", [0, -1, np.nan, np.inf, 1e-300, "1", None]),
    (PASequenceTagger, "C", [0, -1, np.nan, np.inf, "1", None]),
    (PASequenceTagger, "n_rivals", [0, -1, 1.5, None]),
    (CWSequenceTagger, "diagonal", ["full", None, 1]),
    (CWSequenceTagger, "C", [0, -1, np.nan, None]),
    (CWSequenceTagger, "split_errors", ["yes", None, 2]),
    *[
        (Tagger, name, values)
        for Tagger in ONLINE
        for name, values in {
            "max_iter": [0, -1, 1.5, "1", None],
            "averaging": ["yes", None, 2],
            "margin_cost": ["yes", None, -1, np.nan, np.inf],
            "calibrate_confidence": ["yes", None, 2],
            "shuffle": ["yes", None],
            "class_weight": ["heavy", 3, {"A": -1}, {"A": 0}, {"A": np.nan}],
            "min_count": [0, -1, 1.5],
            "n_models": [0, -1, 1.5],
            "early_stopping": ["yes", None, *BAD_STOPPING],
            "warm_start": ["yes", None],
            "n_jobs": [1.5, "all"],
            "random_state": [-1, "seed", 1.5, np.random.default_rng(0)],
            "dtype": ["float16", np.float32, None],
            "verbose": [-1, "yes"],
        }.items()
    ],
]


@pytest.mark.parametrize(
    ("Tagger", "name", "values"),
    BAD_PARAMETERS,
    ids=[f"{Tagger.__name__}-{name}" for Tagger, name, _ in BAD_PARAMETERS],
)
def test_parameters_out_of_range_are_named(Tagger, name, values):
    for value in values:
        tagger = Tagger(**{name: value})
        for door in (tagger.fit, tagger.partial_fit):
            with pytest.raises(ValueError, match=name):
                door(X, Y)
        assert not hasattr(tagger, "classes_")


# -- X and y -------------------------------------------------------------------------


@every_tagger
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:1], "X has 2 sequences but y has 1"),
        ([*Y, []], "X has 2 sequences but y has 3"),
        ([Y[0], Y[1][:2]], "sequence 1 has 3 tokens but 2 labels"),
        ([[], Y[1]], "sequence 0 has 2 tokens but 0 labels"),
        ([Y[0], ["A", 2, "O"]], "sequence 1, token 1 is 2"),
        ([Y[0], ["A", None, "O"]], "sequence 1, token 1 is None"),
        ([Y[0], ["A", np.nan, "O"]], "sequence 1, token 1 is nan"),
        ([Y[0], ["A", b"B", "O"]], "sequence 1, token 1 is b'B'"),
        ([Y[0], "ABO"], "labels of sequence 1 are 'ABO'"),
        ([Y[0], 3], "labels of sequence 1 are 3"),
        (["A", "B"], "labels of sequence 0 are 'A'"),
        (np.array([0, 1]), "labels of sequence 0 are"),
        (None, "y is"),
        (3, "y is"),
        ("AB", "y is"),
    ],
    ids=str,
)
def test_bad_labels_are_named(Tagger, y, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Tagger().fit(X, y)


@every_tagger
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("ab", "X is a str"),
        (None, "X is a NoneType"),
        (3, "X is a int"),
        ({"a": 1}, "X is a dict"),
        (np.ones((2, 2)), "X is one 2-D array"),
        (sparse.eye(2, format="csr"), "X is one 2-D array"),
        (["ab", "c"], "sequence 0 is 'ab'"),
        ([{"a": 1}, {"b": 1}], "sequence 0 is {'a': 1}"),
        ([3, 4], "sequence 0 is 3"),
        ([X[0], None], "sequence 1 is None"),
        ([[["a"], 3], [["a"]] * 3], "sequence 0, token 1 is 3"),
        ([[["a"], ["b", 3]], [["a"]] * 3], "sequence 0, token 1 has the feature 3"),
        ([[["a"], {"b": np.nan}], [["a"]] * 3], "sequence 0, token 1.*nan"),
        ([np.ones((2, 2)), np.ones((3, 3))], "sequence 1 has 3 columns where 2"),
        ([np.ones((2, 2)), np.full((3, 2), np.inf)], "sequence 1, token 0, column 0"),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, str) else x,
)
def test_bad_sequences_are_named(Tagger, X, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Tagger().fit(X, Y)


@every_tagger
def test_labels_may_be_a_table(Tagger):
    y = np.array([["A", "O"], ["B", "O"]])
    tagger = Tagger().fit([X[0], X[0][::-1]], y)
    assert tagger.classes_.tolist() == ["A", "O", "B"]
    tagger.fit([X[0], X[0]], y.astype(object))
    assert tagger.score([X[0], X[0]], y) >= 0.5


@every_tagger
def test_labels_of_numpy_become_plain_strings(Tagger):
    y = [[np.str_(label) for label in labels] for labels in Y]
    tagger = Tagger().fit(X, y)
    assert {type(label) for labels in tagger.predict(X) for label in labels} == {str}


ODD_LABELS = ["", " ", "é\n", "B-", "-", "I-B-x", "名前", "a b", "0", "None", "O"]


@every_tagger
def test_labels_may_have_any_name(Tagger):
    names = [f"w{i}" for i in range(len(ODD_LABELS))]
    tagger = Tagger().fit([names] * 5, [ODD_LABELS] * 5)
    assert tagger.classes_.tolist() == ODD_LABELS
    assert tagger.predict([names])[0] == ODD_LABELS
    tagger.predict_entities([names])


def test_surrogates_and_nulls_inside_are_kept():
    labels = ["\ud800", "a\0b", "\0a"]
    tagger = cw().fit([["x\ud800", "\0", "a\0"]] * 5, [labels] * 5)
    assert tagger.predict([["x\ud800", "\0", "a\0"]])[0] == labels
    assert tagger.feature_names_.tolist() == ["x\ud800", "\0", "a\0"]


@every_tagger
def test_one_label_is_enough(Tagger):
    tagger = Tagger().fit(X, [["O", "O"], ["O", "O", "O"]])
    assert tagger.predict(X).tolist() == [["O", "O"], ["O", "O", "O"]]
    assert tagger.predict_nbest(X, 3)[0][0][0] == ["O", "O"]
    assert len(tagger.predict_nbest(X, 3)[0]) == 1
    assert tagger.predict_marginals(X)[0] == [{"O": 1.0}, {"O": 1.0}]
    assert all((row > 0).all() for row in tagger.predict_confidence(X))
    assert tagger.predict_entities(X).tolist() == [[], []]


@every_tagger
def test_tokens_may_have_no_features_at_all(Tagger):
    tagger = Tagger()
    if "random_state" in tagger.get_params():
        tagger.set_params(random_state=0)
    tagger.fit([[[], ["a"]], [[]]], [["A", "B"], ["A"]])
    assert tagger.predict([[[], ["a"], []]])[0][0] == "A"
    bare = Tagger().fit([[[], []], [{}]], [["A", "B"], ["A"]])
    assert len(bare.predict([[[], ["z"]]])[0]) == 2


@every_tagger
@pytest.mark.parametrize(
    "form",
    [
        lambda x: np.array(x),
        lambda x: tuple(x),
        lambda x: set(x),
        lambda x: dict.fromkeys(x, True),
        lambda x: dict.fromkeys(x, 1.0),
        lambda x: iter(x),
    ],
    ids=["array", "tuple", "set", "bools", "ones", "iterator"],
)
def test_tokens_in_other_clothes_are_the_same_tokens(Tagger, form):
    words = [[sorted(token) for token in sequence] for sequence in X]
    plain = seeded(Tagger).fit(words, Y)
    other = seeded(Tagger).fit([[form(t) for t in s] for s in words], Y)
    for a, b in zip(
        plain.predict_confidence(words), other.predict_confidence(words), strict=True
    ):
        np.testing.assert_array_equal(a, b)


class Series:
    """As much of a pandas.Series as a tagger may rely on: labels for an index."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, key):
        raise KeyError(key)


@every_tagger
def test_series_are_iterated_and_not_indexed(Tagger):
    tagger = seeded(Tagger).fit(Series(X), Series(Y))
    assert tagger.predict(Series(X)).tolist() == tagger.predict(X).tolist()
    assert tagger.predict_entities(Series(X)).shape == (2,)


@every_tagger
def test_object_arrays_of_arrays_are_read(Tagger):
    rows = object_rows(object_rows(sequence) for sequence in X)
    labels = object_rows(np.array(row, dtype=object) for row in Y)
    tagger = seeded(Tagger).fit(rows, labels)
    assert tagger.predict(rows).tolist() == tagger.predict(X).tolist()


def test_a_cube_is_a_list_of_tables():
    cube = np.stack([np.eye(3, 5)] * 4)
    tagger = cw().fit(cube, [["A", "B", "A"]] * 4)
    assert tagger.n_features_in_ == 5
    assert tagger.predict(cube).tolist() == [["A", "B", "A"]] * 4


@every_tagger
def test_one_sequence_of_a_batch_is_one_sequence(Tagger):
    tagger = seeded(Tagger).fit(X, Y)
    batch = SequenceEncoder().fit_transform(X)
    assert tagger.predict_single(batch[1]) == tagger.predict_single(X[1])
    with pytest.raises(ValueError, match="not one sequence"):
        tagger.predict_single(batch)
    if hasattr(tagger, "explain"):
        assert tagger.explain(batch[1]) == tagger.explain(X[1])


# -- numbers -------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1e30, -1e30, 3e38])
def test_values_too_large_for_single_precision_are_named(value):
    bad = [X[0], [["a"], {"w": value}, ["b"]]]
    with pytest.raises(ValueError, match=r"sequence 1, token 1 .*float32"):
        cw().fit(bad, Y)
    tagger = cw().fit(X, Y).partial_fit([[{"w": 2.0}]], [["A"]])
    for call in (tagger.predict, tagger.predict_confidence, tagger.predict_marginals):
        with pytest.raises(ValueError, match=r"sequence 1, token 1 .*float32"):
            call(bad)
    assert cw(dtype="float64").fit(bad, Y).predict(bad).shape == (2,)


@pytest.mark.parametrize("Tagger", ONLINE)
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e3, 1e12])
def test_values_of_any_ordinary_size_are_learned_from(Tagger, scale):
    rng = np.random.RandomState(0)
    centers = {"A": [1, 0, 0], "B": [0, 1, 0], "O": [0, 0, 1]}
    y = [rng.choice(list(centers), 5).tolist() for _ in range(60)]
    rows = [
        scale * (np.array([centers[label] for label in labels]) + 0.1 * rng.rand(5, 3))
        for labels in y
    ]
    tagger = Tagger(random_state=0, dtype="float64").fit(rows, y)
    # Beside values that small, transitions (each counts as one) decide everything.
    assert tagger.score(rows, y) > 0.9 or scale < 1
    for row in tagger.predict_confidence(rows):
        assert np.isfinite(row).all()


@pytest.mark.parametrize("Tagger", [CWSequenceTagger, AROWSequenceTagger])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("diagonal", ["covariance", "precision", "optimal"])
def test_extreme_parameters_leave_variances_positive(Tagger, dtype, diagonal):
    contradiction = [[["a"]], [["a"]]] * 10, [["A"], ["B"]] * 10
    name = "phi" if Tagger is CWSequenceTagger else "r"
    extremes = (1e-10, 1e-3, 1e3, 1e10) if name == "phi" else (1e-20, 1e-3, 1e3, 1e20)
    for value in extremes:
        tagger = Tagger(
            value, diagonal=diagonal, dtype=dtype, n_models=2, max_iter=30
        ).fit(*contradiction)
        assert np.isfinite(tagger.coef_).all()
        assert (tagger.coef_variance_ > 0).all()
        assert (tagger.coef_variance_ <= 1.0001).all()
        assert np.isfinite(tagger.predict_confidence([["a"]])[0]).all()


# -- sizes ---------------------------------------------------------------------------


def long_sequence(length, seed=0):
    rng = np.random.RandomState(seed)
    labels = rng.choice(["A", "B", "C", "O"], length)
    noise = rng.randint(30, size=length)
    return [[f"is{x}", f"n{n}"] for x, n in zip(labels, noise, strict=True)], [*labels]


@every_tagger
def test_a_sequence_may_be_very_long(Tagger):
    x, y = long_sequence(50_000)
    few = [long_sequence(30, seed) for seed in range(1, 30)]
    tagger = seeded(Tagger).fit([x for x, _ in few], [y for _, y in few])
    (labels,) = tagger.predict([x])
    assert np.mean(np.equal(labels, y)) > 0.95
    (confidence,) = tagger.predict_confidence([x])
    assert np.isfinite(confidence).all()
    if Tagger is not CRFSequenceTagger:
        ((first, second),) = tagger.predict_nbest([x], 2)
        assert first[0] == labels != second[0]
    if Tagger in ONLINE:
        Tagger(max_iter=1).fit([x], [y])


def test_long_and_short_sequences_do_not_disturb_each_other():
    long, _ = long_sequence(20_000)
    short, labels = zip(*[long_sequence(5, seed) for seed in range(1, 40)], strict=True)
    tagger = cw().fit(short, labels)
    mixed = tagger.predict([*short[:3], long, *short[3:]])
    alone = tagger.predict(short)
    assert [*mixed[:3], *mixed[4:]] == alone.tolist()


def test_many_labels_are_told_apart():
    # More than a row of registers, and not a multiple of it.
    names = [f"L{i}" for i in range(67)]
    rng = np.random.RandomState(0)
    y = [rng.choice(names, 6).tolist() for _ in range(300)]
    x = [[[f"is{label}", "bias"] for label in labels] for labels in y]
    tagger = cw(max_iter=5).fit(x, y)
    assert tagger.score(x, y) > 0.95
    assert tagger.coef_.shape[1] == len(tagger.classes_)


def test_a_token_may_have_thousands_of_features():
    wide = [[[f"f{i}" for i in range(5000)], ["g"]], [["g"], ["h"]]]
    tagger = cw().fit(wide, [["A", "B"], ["B", "A"]])
    assert tagger.predict(wide).tolist() == [["A", "B"], ["B", "A"]]


def test_asking_for_more_labelings_than_exist_costs_nothing():
    tagger = cw().fit(X, Y)
    assert [len(row) for row in tagger.predict_nbest(X, 10**9)] == [9, 27]


@pytest.mark.parametrize("n", [0, -1, 1.5, 2.0, "2", None])
def test_a_bad_number_of_labelings_is_refused(n):
    with pytest.raises(ValueError, match="n must be a positive integer"):
        cw().fit(X, Y).predict_nbest(X, n)


def test_numbers_of_numpy_are_numbers():
    tagger = CWSequenceTagger(
        phi=np.float32(1.0),
        max_iter=np.int64(2),
        n_models=np.int32(1),
        random_state=np.int64(3),
        early_stopping={"tol": np.float64(0), "n_iter_no_change": np.int64(2)},
    ).fit(X, Y)
    assert len(tagger.predict_nbest(X, np.int64(2))[0]) == 2


@every_tagger
def test_an_unknown_method_of_confidence_is_refused(Tagger):
    with pytest.raises(ValueError, match=r"method .*'magic'"):
        Tagger().fit(X, Y).predict_confidence(X, method="magic")


# -- nothing to see ------------------------------------------------------------------


@every_tagger
def test_nothing_in_gives_nothing_out(Tagger):
    tagger = Tagger().fit(X, Y)
    for empty in ([], (), np.empty(0, dtype=object), iter([])):
        assert tagger.predict(empty).shape == (0,)
    assert tagger.predict([[], ()]).tolist() == [[], []]


@pytest.mark.parametrize("Tagger", ONLINE)
def test_partial_fit_on_nothing_changes_no_weight(Tagger):
    tagger = Tagger(random_state=0, averaging=False).fit(X, Y)
    before = tagger.coef_
    tagger.partial_fit([], []).partial_fit([[], []], [[], []])
    np.testing.assert_array_equal(tagger.coef_, before)
    early = Tagger().partial_fit([], [], classes=["A", "B"])
    assert early.predict(X).tolist() == [["A", "A"], ["A", "A", "A"]]


@pytest.mark.parametrize("Tagger", ONLINE)
def test_all_features_may_be_rare(Tagger):
    tagger = Tagger(min_count=100).fit(X, Y)
    assert tagger.coef_.shape == (0, 3)
    assert len(tagger.predict(X)[1]) == 3


# -- the process survives ------------------------------------------------------------


def test_heavy_handed_use_ends_well():
    code = f"""
from skcw import *
X, Y = {X!r}, {Y!r}
tagger = CWSequenceTagger().fit(X, Y)
tagger.partial_fit(X, Y, classes=["Z"] * 99)
CWSequenceTagger().partial_fit(X, Y, classes=["A", "A", "A", "B"]).predict(X)
tagger.predict([[["z"] * 10**5] * 3])
tagger.predict_nbest([["a"] * 9], 10**4)
PASequenceTagger(n_rivals=500).fit(X, Y)
CWSequenceTagger(n_models=40, n_jobs=3).fit(X, Y)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
