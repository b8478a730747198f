"""Arrays and values of fitted state, checked where they are read from a file."""

from numbers import Integral, Real

import numpy as np

from skcw._util.limits import LARGEST_SAVED

FLOATS = ("f4", "f8")
# How the names of tables of weights begin in the file of a model.
SAVED_AS = "belief."
# Rows of tables are padded to a multiple of this, so that they fill registers.
BLOCK = 8
# Half precision has room for numbers below two to the power of this, and no more; and
# a double for those that have one of these exponents.
HALF_DIGITS, EXPONENTS = 15, (-1100, 1100)


def padded(n_labels):
    """Return the number of columns that tables of weights for so many labels have."""
    return max(BLOCK, -(-n_labels // BLOCK) * BLOCK)


def largest_size(array):
    """Return the largest size of the numbers of an array, infinite if one is NaN.

    Parameters
    ----------
    array : ndarray of float32 or float64
        The numbers.

    Returns
    -------
    largest : float
        0 of no numbers.

    Examples
    --------
    >>> import numpy as np
    >>> largest_size(np.array([1.0, -3.0])), largest_size(np.array([1.0, np.nan]))
    (3.0, inf)
    """
    found = abs(np.maximum(array.max(initial=0), -array.min(initial=0)))
    return float(found) if np.isfinite(found) else np.inf


def halved_array(array):
    """Return floats in half precision, and how to bring them back.

    The largest fills the range; a number that is not zero does not become zero.

    Parameters
    ----------
    array : ndarray of float32 or float64
        Finite numbers.

    Returns
    -------
    half : ndarray of float16
        The numbers, divided by a power of two.
    origin : list of int and str
        The exponent of that power, and the type the numbers had.

    Examples
    --------
    >>> import numpy as np
    >>> halved_array(np.array([0.5, -0.25, 1e-20]))
    (array([ 1.638e+04, -8.192e+03,  5.960e-08], dtype=float16), [-15, 'f8'])
    """
    exponent = int(np.frexp(largest_size(array))[1]) - HALF_DIGITS
    scaled = np.ldexp(array, -exponent)
    half = scaled.astype("<f2")
    lost = (half == 0) & (array != 0)
    half[lost] = np.copysign(np.finfo(np.float16).smallest_subnormal, array[lost])
    return half, [exponent, array.dtype.str[1:]]


def half_precision(arrays, dtype):
    """Return the names of the arrays of a model that are to be in half precision.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of the model.
    dtype : {"float16"}
        The precision.

    Returns
    -------
    names : list of str
        The tables of weights. Settings of confidence and the like are few, and stay
        exact.

    Examples
    --------
    >>> import numpy as np
    >>> half_precision({"belief.mean": np.ones(2), "scale": np.ones(1)}, "float16")
    ['belief.mean']
    """
    if dtype != "float16":
        raise ValueError(
            f"dtype is {dtype!r}; a model is saved as it is (None) or as 'float16'"
        )
    names = table_names(arrays)
    if not names:
        raise ValueError("the model has no tables of weights to save as float16")
    return names


def table_names(arrays):
    """Return the names of those arrays of a model that are tables of weights."""
    return [n for n, a in arrays.items() if SAVED_AS in n and a.dtype.kind == "f"]


def whole_arrays(arrays, origins):
    """Return the arrays of a model with those in half precision as they were.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays as they are in the file.
    origins : dict of str to list
        How to bring each array of float16 back, as `halved_array` returns it.

    Returns
    -------
    arrays : dict of str to ndarray
        The arrays. Numbers that have no room in their precision are infinite.

    Examples
    --------
    >>> import numpy as np
    >>> whole_arrays({"a": np.array([0.5], dtype=np.float16)}, {"a": [2, "f4"]})
    {'a': array([2.], dtype=float32)}
    """
    halves = {name for name, array in arrays.items() if array.dtype.str[1:] == "f2"}
    if not isinstance(origins, dict) or set(origins) != halves:
        raise ValueError("the arrays in half precision are not those it names")
    whole = dict(arrays)
    for name in halves:
        exponent, kind = origins[name]
        exponent = saved_number(exponent, name, *EXPONENTS, whole=True)
        if kind not in FLOATS:
            raise ValueError(f"the array {name} was of the type {shortened(kind)}")
        with np.errstate(over="ignore"):
            whole[name] = np.ldexp(arrays[name].astype(kind), exponent)
    return whole


def saved_array(arrays, name, kinds, shape, *, largest=LARGEST_SAVED):
    """Return an array of a model; raise unless it has the right type and shape.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of the model.
    name : str
        The name of the array.
    kinds : tuple of str
        The types it may have, as "f4" or "i8".
    shape : tuple of int or None
        Its shape; None stands for any size.
    largest : float, default=1e30
        The largest size that a float may have.

    Returns
    -------
    array : ndarray
        The array.

    Examples
    --------
    >>> import numpy as np
    >>> saved_array({"a": np.zeros(2, dtype=np.int32)}, "a", ("i4",), (None,))
    array([0, 0], dtype=int32)
    """
    if name not in arrays:
        raise ValueError(f"the array {name} is missing")
    array = arrays[name]
    kind = array.dtype.str[1:]
    if kind not in kinds:
        raise ValueError(f"the array {name} has the type {array.dtype}")
    fits = len(shape) == array.ndim and all(
        size in (None, found) for size, found in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"the array {name} has the shape {array.shape}")
    if kind in FLOATS and not largest_size(array) <= largest:
        raise ValueError(f"the array {name} holds NaN, or numbers beyond {largest:g}")
    return array


def saved_number(value, name, least=-LARGEST_SAVED, most=LARGEST_SAVED, whole=False):
    """Return a number of a model; raise unless it is one, and within bounds.

    Parameters
    ----------
    value : object
        The value in the file.
    name : str
        Its name, for messages.
    least, most : float
        The bounds.
    whole : bool, default=False
        Whether it must be an integer.

    Returns
    -------
    value : int or float
        The number.

    Examples
    --------
    >>> saved_number(0.5, "share", 0, 1)
    0.5
    """
    kind = Integral if whole else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        raise ValueError(f"{name} is {shortened(value)}, not a number")
    if not least <= value <= most:
        raise ValueError(f"{name} is {value}, not from {least:g} to {most:g}")
    return value


def saved_flag(value, name):
    """Return a truth value of a model; raise unless it is one.

    Parameters
    ----------
    value : object
        The value in the file.
    name : str
        Its name, for messages.

    Returns
    -------
    value : bool
        The value.

    Examples
    --------
    >>> saved_flag(True, "frozen")
    True
    """
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {shortened(value)}, neither true nor false")
    return value


def saved_texts(value, name):
    """Return a list of different strings of a model; raise unless it is one.

    Parameters
    ----------
    value : object
        The value in the file.
    name : str
        Their name, for messages.

    Returns
    -------
    value : list of str
        The strings.

    Examples
    --------
    >>> saved_texts(["O", "B-PER"], "classes")
    ['O', 'B-PER']
    """
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} is {shortened(value)}, not a list of strings")
    if len(set(value)) != len(value):
        raise ValueError(f"{name} has a string twice: {shortened(value)}")
    return value


def saved_kind(value, name, kind):
    """Return a value of a model; raise unless it is of a kind.

    Parameters
    ----------
    value : object
        The value in the file.
    name : str
        Its name, for messages.
    kind : type
        For example dict.

    Returns
    -------
    value : object
        The value.

    Examples
    --------
    >>> saved_kind({"a": 1}, "state", dict)
    {'a': 1}
    """
    if not isinstance(value, kind):
        raise ValueError(f"{name} is {shortened(value)}, not a {kind.__name__}")
    return value


def shortened(value):
    """Return a value as a message shows it, however long or deep it is."""
    if isinstance(value, (list, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) < 60 else text[:60] + "..."
