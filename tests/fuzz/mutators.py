"""Turn arguments that a function accepts into ones that it may have to refuse."""

import numpy as np
from scipy import sparse

# Numbers at the ends of their types, and the smallest and largest that still count.
NUMBERS = (
    *(0, 1, -1, 2, 3, 255, -(2**31), 2**31 - 1, 2**32 + 1, 2**63 - 1, -(2**63), 10**30),
    10**400,
    *(0.0, -0.0, 0.5, 1.0, -1.0, 1.5, np.nan, np.inf, -np.inf, 1e-320, 1e-300, 1e-40),
    *(1e-20, 1e-10, 1e10, 1e19, 1e30, 1e38, 1e155, 1e300, 1.7e308, -1e308),
)
TEXTS = ("", "O", "B-PER", "I-PER", "x" * 300, "\0", "\ud800", "é", "\n", "=", "auto")
OTHERS = (None, True, False, (), [], {}, set(), b"x", object(), type, len, 1j, range(3))
OTHERS += (slice(2), np.array(3), np.array([]), np.datetime64("nat"), np.float16(1.0))
DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint64", "bool")
DTYPES += ("object", "U3", "complex64", ">f8", "M8[s]")


# What is asked for many times over takes its time or memory, which is no fault.
COSTLY = ("max_iter", "n_models", "n_draws", "n_best", "n_resamples", "n_rounds", "n")
COSTLY += ("beam", "n_repeats", "n_values", "trainer_params", "n_bins", "n_features")
MOST = 100


def pick(rng, options):
    """Return one of the options, whatever they are."""
    return options[rng.integers(len(options))]


def odd_value(rng):
    """Return a number, a text or something else that nobody expects."""
    return pick(rng, pick(rng, (NUMBERS, NUMBERS, TEXTS, OTHERS)))


def mutated(value, rng):
    """Return a value changed somewhere, or something else in its place.

    Half of the changes are mild: a number for a number, a text for a text, so that they
    get past the first check.
    """
    return _mildly(value, rng) if rng.random() < 0.5 else _wildly(value, rng)


def _mildly(value, rng):
    if isinstance(value, str):
        return pick(rng, TEXTS)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return pick(rng, NUMBERS)
    if sparse.issparse(value) and not getattr(value, "is_broken", False):
        value = value.copy()
        value.data = _other_numbers(value.data, rng)
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        return _other_numbers(value, rng)
    if isinstance(value, dict) and value:
        key = pick(rng, list(value))
        return {**value, key: _mildly(value[key], rng)}
    if isinstance(value, (list, tuple)) and value:
        rows = list(value)
        at = rng.integers(len(rows))
        rows[at] = _mildly(rows[at], rng)
        return type(value)(rows)
    return _wildly(value, rng)


def _wildly(value, rng, depth=4):
    if rng.random() < 0.12 or depth == 0:
        return odd_value(rng)
    if sparse.issparse(value):
        return broken_matrix(value, rng)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return other_array(value, rng)
    if isinstance(value, dict) and value:
        return _other_dict(value, rng, depth)
    if isinstance(value, (list, tuple, np.ndarray)) and len(value):
        return _other_list(value, rng, depth)
    if isinstance(value, str):
        return _other_text(value, rng)
    return odd_value(rng)


def _other_dict(value, rng, depth):
    key = pick(rng, list(value))
    kind = rng.integers(3)
    if kind == 0:
        return {k: v for k, v in value.items() if k != key}
    if kind == 1:
        return {**value, key: _wildly(value[key], rng, depth - 1)}
    return {**value, pick(rng, TEXTS): odd_value(rng)}


def _other_list(value, rng, depth):
    rows = list(value)
    at = rng.integers(len(rows))
    kind = rng.integers(6)
    if kind == 0:
        del rows[at]
    elif kind == 1:
        rows.insert(at, rows[rng.integers(len(rows))])
    elif kind == 2:
        rows = rows[:at]
    elif kind == 3:
        return iter(rows) if rng.random() < 0.5 else tuple(rows)
    else:
        rows[at] = _wildly(rows[at], rng, depth - 1)
    return rows


def _other_text(value, rng):
    at = rng.integers(len(value) + 1)
    return value[:at] + pick(rng, TEXTS) + value[at + rng.integers(2) :]


def other_array(value, rng):
    """Return an array with other numbers, another shape, type or layout."""
    kind = rng.integers(8)
    value = value.ravel() if value.ndim == 0 else value
    if kind < 2 and value.size:
        return _other_numbers(value, rng)
    if kind == 2 and value.size:
        changed = value.astype(object)
        changed[tuple(rng.integers(changed.shape))] = odd_value(rng)
        return changed
    if kind == 3 and value.dtype.kind in "biufcO":
        return value * pick(rng, [n for n in NUMBERS if isinstance(n, float)])
    if kind == 4:
        return _cast(value, pick(rng, DTYPES))
    if kind == 5:
        return pick(rng, (value.T, value[None], value.ravel(), value[..., None]))
    if kind == 6:
        return pick(rng, (value[:0], value[1:], value[:1], value[::-1], value[::2]))
    frozen = value.copy()
    frozen.flags.writeable = False
    return frozen


def _other_numbers(value, rng):
    """Return an array of float64 with one to three other numbers."""
    changed = value.astype(np.float64)
    for _ in range(rng.integers(1, 4)):
        changed[tuple(rng.integers(changed.shape))] = float(
            min(pick(rng, NUMBERS), 1e308)
        )
    return changed


def _cast(value, dtype):
    try:
        return value.astype(dtype)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return value


def broken_matrix(matrix, rng):
    """Return a CSR, CSC, COO or BSR matrix whose own arrays do not fit together."""
    if getattr(matrix, "is_broken", False):
        # SciPy would not survive a conversion.
        return matrix
    matrix = matrix.asformat(pick(rng, ("csr", "csr", "csc", "coo", "bsr", "lil")))
    matrix = matrix.copy()
    if matrix.format == "lil":
        return matrix
    names = ["data", "row", "col"] if matrix.format == "coo" else ["indices", "indptr"]
    name = pick(rng, names)
    array = getattr(matrix, name)
    kind = rng.integers(4)
    if kind < 3 and len(array):
        ends = (
            -1,
            -5,
            matrix.shape[1],
            matrix.shape[1] + 1,
            2**31 - 1,
            -(2**31),
            10**6,
        )
        new = array.copy()
        new[rng.integers(len(new))] = pick(rng, ends)
    else:
        new = pick(rng, (array[:-1], array[::-1].copy(), array.astype(np.int64)))
    try:
        setattr(matrix, name, new)
    except (TypeError, ValueError):
        return matrix
    matrix.is_broken = True
    return matrix


def mutated_call(rng, args, kwargs, odd_names=()):
    """Return positional and named arguments, one to three of which are changed."""
    args, kwargs = list(args), dict(kwargs)
    for _ in range(pick(rng, (1, 1, 1, 2, 3))):
        names = [*range(len(args)), *kwargs, *odd_names]
        name = pick(rng, names)
        if isinstance(name, int):
            args[name] = mutated(args[name], rng)
        else:
            kwargs[name] = mutated(kwargs.get(name), rng)
            if name in COSTLY and _is_large(kwargs[name]):
                kwargs[name] = -1
    return args, kwargs


def _is_large(value):
    return isinstance(value, (int, float)) and value > MOST


# What compiled code or NumPy says when nobody has looked at an argument before them.
UNCLEAR = ("Buffer dtype mismatch", "Buffer has wrong number", "buffer source array")
UNCLEAR += ("could not be broadcast together", "object arrays are not supported")
UNCLEAR += ("ufunc '",)


def clearly(case):
    """Return a case in which an error that says nothing to a user is a finding."""

    def checked(seed):
        try:
            return case(seed)
        except (TypeError, ValueError) as error:
            if any(text in str(error) for text in UNCLEAR):
                raise AssertionError("an error from the inside") from error
            raise

    return checked
