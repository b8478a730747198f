"""Tables that are stored by their touched cells come back bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcw._util.limits import MOST_CELLS_FOR_ONE
from skcw.data.packing import COLUMNS, COUNTS, filled, thinned, without_repeats

KIND = {8: "u1", 248: "u1", 256: "u2"}


def tables(seed, width=8, share=0.1, dtype="f4", more_rows=20):
    """Return two tables with a share of touched cells, the last one among them."""
    rng = np.random.default_rng(seed)
    size = (width + 1 + more_rows) * width
    touched = rng.random(size) < share
    touched[-1], touched[width * width] = True, False
    mean = np.where(touched, rng.normal(size=size), 0.0).astype(dtype)
    variance = np.where(touched, rng.random(size), 0.25).astype(dtype)
    return {"mean": mean, "variance": variance}


def stored(seed=0, **options):
    """Return tables as a file has them, and the recipe."""
    found, recipe = thinned(tables(seed, **options), ["mean", "variance"], 8)
    assert recipe is not None
    return found, recipe


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(sorted(KIND)),
    st.sampled_from(["f4", "f8"]),
    st.floats(0.0, 0.4),
)
def test_tables_come_back_bit_for_bit(seed, width, dtype, share):
    given = tables(seed, width, share, dtype)
    # Zeros with a sign are zeros that something has touched.
    given["mean"][3] = -0.0
    found, recipe = thinned(given, ["mean", "variance"], width)
    if recipe is not None:
        assert {found[name].dtype.str[1:] for name in (COUNTS, COLUMNS)} == {
            KIND[width]
        }
        assert 2 * sum(a.nbytes for a in found.values()) <= sum(
            a.nbytes for a in given.values()
        )
    again = filled(found, recipe, {})
    assert list(again) == list(given)
    for name, array in given.items():
        assert again[name].dtype == array.dtype
        assert again[name].tobytes() == array.tobytes()


@pytest.mark.parametrize(("share", "by_cells"), [(0.3, True), (0.9, False)])
def test_tables_are_stored_whole_where_cells_would_save_little(share, by_cells):
    found, recipe = thinned(tables(0, share=share), ["mean", "variance"], 8)
    assert (recipe is not None) == by_cells
    assert (COUNTS in found) == by_cells


def test_tables_with_hardly_a_cell_are_stored_whole():
    width = 248
    few = {"mean": np.zeros((width + 1) * width, np.float32)}
    assert thinned(few, ["mean"], width)[1] is None
    enough = few["mean"].copy()
    enough[: len(enough) // MOST_CELLS_FOR_ONE + 1] = 1.0
    assert thinned({"mean": enough}, ["mean"], width)[1] is not None


def test_rows_that_are_too_wide_are_stored_whole():
    arrays = {"mean": np.zeros(3, np.float32)}
    assert thinned(arrays, ["mean"], 2**16) == (arrays, None)


def test_an_array_with_the_bits_of_another_is_stored_once():
    zeros, minus = np.zeros(3), np.array([0.0, -0.0, 0.0])
    given = {"a": zeros, "b": zeros.copy(), "c": minus, "d": zeros.astype("f4")}
    found, same = without_repeats(given, list(given))
    assert list(found) == ["a", "c", "d"]
    assert same == {"b": "a"}
    again = filled(found, None, same)
    assert again["b"] is again["a"]


def shifted(array, by):
    array = array.copy()
    array[-1] += by
    return array


HOSTILE = {
    "a column outside of the row": lambda f, r: f.update({COLUMNS: f[COLUMNS] + 8}),
    "a column twice": lambda f, r: f.update({COLUMNS: f[COLUMNS] * 0}),
    "columns in reverse": lambda f, r: f.update({COLUMNS: f[COLUMNS][::-1]}),
    "one cell more": lambda f, r: f.update({COUNTS: shifted(f[COUNTS], 1)}),
    "one cell fewer": lambda f, r: f.update({COLUMNS: f[COLUMNS][:-1]}),
    "another type": lambda f, r: f.update({COLUMNS: f[COLUMNS].astype("u2")}),
    "signed counts": lambda f, r: f.update({COUNTS: f[COUNTS].astype("i4")}),
    "no counts": lambda f, r: f.pop(COUNTS),
    "no columns": lambda f, r: f.pop(COLUMNS),
    "no rows": lambda f, r: f.update({COUNTS: f[COUNTS][:0], COLUMNS: f[COLUMNS][:0]}),
    "empty rows without end": lambda f, r: f.update(
        {COUNTS: np.append(f[COUNTS], np.zeros(10**6, "u1"))}
    ),
    "a short table": lambda f, r: f.update({"mean": f["mean"][:-1]}),
    "a table of integers": lambda f, r: f.update({"mean": f["mean"].astype("i4")}),
    "a table that is missing": lambda f, r: f.pop("mean"),
    "a table that is not there": lambda f, r: r.update({"tables": ["other"]}),
    "a table twice": lambda f, r: r.update({"tables": ["mean", "mean"]}),
    "no list of tables": lambda f, r: r.update({"tables": "mean"}),
    "narrow rows": lambda f, r: r.update({"width": 7}),
    "wide rows": lambda f, r: r.update({"width": 100}),
    "a width of zero": lambda f, r: r.update({"width": 0}),
    "half a width": lambda f, r: r.update({"width": 7.5}),
    "a huge width": lambda f, r: r.update({"width": 2**40}),
}


@pytest.mark.parametrize("spoil", HOSTILE.values(), ids=list(HOSTILE))
def test_cells_that_do_not_fit_are_refused(spoil):
    found, recipe = stored()
    spoil(found, recipe)
    with pytest.raises(ValueError, match=r"cell|array|width|tables|string"):
        filled(found, recipe, {})


def test_a_blank_cell_that_is_missing_is_refused():
    found, recipe = stored()
    at = int(found[COUNTS][:8].sum())
    counts = found[COUNTS].copy()
    counts[8] -= 1
    found |= {name: np.delete(found[name], at) for name in (COLUMNS, "mean")}
    found |= {COUNTS: counts, "variance": np.delete(found["variance"], at)}
    with pytest.raises(ValueError, match="blank cell is missing"):
        filled(found, recipe, {})


@pytest.mark.parametrize(
    "same", [{"mean": "variance"}, {"b": "other"}, {"b": "b"}, [], None, "mean"]
)
def test_arrays_that_are_the_same_as_nothing_are_refused(same):
    with pytest.raises(ValueError, match="same"):
        filled(tables(0), None, same)
