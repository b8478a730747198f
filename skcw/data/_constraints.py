"""Label constraints: which labels may follow each other, begin or end a sequence."""

import numpy as np

from skcw.data._saved import (
    FLOATS,
    saved_array,
    saved_kind,
    saved_number,
    shortened,
)
from skcw.data._schemes import ALIASES, ROLES, SCHEMES, parse_label

# The schemes whose steps can be told legal or not by two labels, under the names that
# ``constraints_`` of a tagger has for them, and their prefixes.
_PREFIXES = {
    "BIO": SCHEMES["IOB2"],
    "IOBES": SCHEMES["IOBES"],
    "BILOU": SCHEMES["BILOU"],
}
_OTHER_NAMES = {"IOB2": "BIO", "BIOES": ALIASES["BIOES"]}
# Every name that ``constraints`` takes, but "auto".
SCHEME_NAMES = (*_PREFIXES, *_OTHER_NAMES)

# A real corpus has a slip here and there: one sentence in 8,323 of the Spanish names
# starts with I-. Labels that are in another scheme break this one in every second
# sentence, so that any bound between the two tells them apart.
FEW_FAULTS = 0.001


def forbidden_matrix(constraints, labels, dtype=np.float64):
    """Return 0 where a step is legal and minus infinity where it is not.

    Parameters
    ----------
    constraints : None, "BIO", "IOBES", "BILOU", callable or (names, matrix)
        ``"BIO"`` (or ``"IOB2"``): I-x follows B-x or I-x only. ``"IOBES"`` (or
        ``"BIOES"``): spans are S-x, or B-x, any I-x, E-x. ``"BILOU"``: the same with
        U-x for S-x and L-x for E-x. A function ``legal(before, after)`` gets two
        labels, or None for the border of a sequence. A pair of label names and a
        square matrix of truth values: ``matrix[i][j]`` says whether ``names[j]`` may
        follow ``names[i]``.
    labels : sequence of str
        The labels, in the order of the rows.
    dtype : dtype, default=float64
        The type of the result.

    Returns
    -------
    forbidden : ndarray of shape (n_labels + 2, n_labels) or None
        One row per previous label; then one for the first token of a sequence and one
        for the last. None when there are no constraints.

    Examples
    --------
    >>> from skcw.data._constraints import forbidden_matrix
    >>> forbidden_matrix("BIO", ["O", "B-x", "I-x"])
    array([[  0.,   0., -inf],
           [  0.,   0.,   0.],
           [  0.,   0.,   0.],
           [  0.,   0., -inf],
           [  0.,   0.,   0.]])
    """
    if constraints is None:
        return None
    if isinstance(constraints, str):
        legal = _legal_by_scheme(scheme_name(constraints), labels)
    else:
        follows = _legal_function(constraints, labels)
        rows = [[follows(before, after) for after in labels] for before in labels]
        rows.append([follows(None, label) for label in labels])
        rows.append([follows(label, None) for label in labels])
        legal = np.array(rows, dtype=bool)
    return np.where(legal, 0.0, -np.inf).astype(dtype)


def saved_forbidden(arrays, n_labels):
    """Return the matrix among the arrays of a model; raise unless it is one.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays.
    n_labels : int
        The number of labels.

    Returns
    -------
    forbidden : ndarray of shape (n_labels + 2, n_labels)
        What :func:`forbidden_matrix` returned.
    """
    shape = n_labels + 2, n_labels
    forbidden = saved_array(arrays, "forbidden", FLOATS, shape, largest=np.inf)
    if not ((forbidden == 0) | (forbidden == -np.inf)).all():
        raise ValueError("a step from label to label is neither legal nor forbidden")
    return forbidden


def saved_constraints(value, name):
    """Return what a file says of a model's constraints; raise unless it can be."""
    if value not in (None, "given", *SCHEME_NAMES):
        raise ValueError(f"{name} is {shortened(value)}")
    return value


def saved_faults(value, name):
    """Return how often training labels broke each scheme, from a file."""
    for count in saved_kind(value, name, dict).values():
        saved_number(count, name, 0)
    return value


def scheme_name(name):
    """Return the one name of a scheme that may have several.

    Parameters
    ----------
    name : str
        One of ``SCHEME_NAMES``.

    Returns
    -------
    scheme : {"BIO", "IOBES", "BILOU"}
        The scheme.

    Examples
    --------
    >>> from skcw.data._constraints import scheme_name
    >>> scheme_name("IOB2")
    'BIO'
    """
    scheme = _OTHER_NAMES.get(name, name)
    if scheme not in _PREFIXES:
        known = ", ".join(map(repr, SCHEME_NAMES))
        raise ValueError(f"constraints is {name!r}; it must be one of {known}")
    return scheme


def _parts(labels, prefixes):
    """Return what each label does to a span ("O" for nothing), and its type."""
    parts = []
    for label in labels:
        prefix, kind = parse_label(label, bare=prefixes)
        known = prefix is not None and prefix in prefixes and prefix != "O"
        parts.append((ROLES[prefix], kind) if known else ("O", ""))
    return np.array(parts, dtype=object).reshape(-1, 2).T


def _legal_by_scheme(scheme, labels):
    """Return which steps a scheme allows; a border is like a label outside."""
    does, kind = _parts(labels, _PREFIXES[scheme])
    before = np.append(np.isin(does, ["B", "I"]), False)[:, None]
    goes_on = np.append(np.isin(does, ["I", "E"]), False)
    same = np.equal.outer(np.append(kind, None), np.append(kind, None))
    if scheme == "BIO":
        legal = ~goes_on | (before & same)
    else:
        legal = np.where(before, goes_on & same, ~goes_on)
    return np.vstack([legal[:, :-1], legal[:-1, -1]])


def _legal_function(constraints, labels):
    if callable(constraints):
        return constraints
    if len(constraints) != 2:
        raise ValueError(
            f"constraints must be a pair of label names and a matrix, got {constraints}"
        )
    names, matrix = constraints
    matrix = np.asarray(matrix, dtype=bool)
    if matrix.shape != (len(names), len(names)):
        raise ValueError(
            f"constraints name {len(names)} labels but the matrix has the shape "
            f"{matrix.shape}"
        )
    missing = [label for label in labels if label not in names]
    if missing:
        raise ValueError(f"constraints do not name the labels {missing}")
    place = {name: i for i, name in enumerate(names)}

    def legal(before, after):
        if before is None or after is None:
            return True
        return matrix[place[before], place[after]]

    return legal


def first_violation(forbidden, codes, offsets):
    """Return (number of sequences that break the constraints, the first of them)."""
    if forbidden is None or not len(codes):
        return 0, -1
    bad = np.zeros(len(codes), dtype=bool)
    bad[1:] = forbidden[codes[:-1], codes[1:]] < 0
    starts, stops = offsets[:-1], offsets[1:]
    full = stops > starts
    bad[starts[full]] = forbidden[-2, codes[starts[full]]] < 0
    bad[stops[full] - 1] |= forbidden[-1, codes[stops[full] - 1]] < 0
    so_far = np.append(0, np.cumsum(bad))
    broken = np.flatnonzero(so_far[stops] > so_far[starts])
    return len(broken), int(broken[0]) if len(broken) else -1


def scheme_faults(labels, codes, offsets):
    """Count the sequences that break each scheme.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    codes : ndarray of int
        The numbers of the labels of all sequences, joined.
    offsets : ndarray of int, shape (n_sequences + 1,)
        Where each sequence begins.

    Returns
    -------
    faults : dict
        "sequences" is the number of them; each scheme has the number that break it.
        Counts of several parts of a corpus may be added.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data._constraints import scheme_faults
    >>> codes, offsets = np.array([1, 2, 0, 2]), np.array([0, 2, 4])
    >>> scheme_faults(["O", "B-x", "I-x"], codes, offsets)
    {'sequences': 2, 'BIO': 1, 'IOBES': 2, 'BILOU': 2}
    """
    faults = {"sequences": len(offsets) - 1}
    spans = are_spans(labels)
    for scheme in _PREFIXES:
        # Other labels are in no scheme, and there may be thousands of them.
        forbidden = forbidden_matrix(scheme, labels) if spans else None
        faults[scheme] = first_violation(forbidden, codes, offsets)[0]
    return faults


def are_spans(labels):
    """Tell whether labels mark spans: all are "O" or begin with a prefix.

    Parameters
    ----------
    labels : iterable of str
        The labels.

    Returns
    -------
    spans : bool
        Whether each is "O", a prefix with a type such as "B-x", or a bare prefix, and
        at least one is not "O".

    Examples
    --------
    >>> from skcw.data._constraints import are_spans
    >>> are_spans(["O", "B-x", "I-x"]), are_spans(["NN", "B-x"]), are_spans(["O"])
    (True, False, False)
    """
    return _letters(labels) not in (None, set())


def _letters(labels):
    """Return the prefixes of labels but "O"; None if a label has no prefix."""
    letters = set()
    for label in labels:
        prefix, _ = parse_label(label, bare="".join(ROLES))
        if prefix is None:
            return None
        letters.add(prefix)
    return letters - {"O"}


def scheme_of(labels, faults):
    """Return the scheme that labels follow, if they follow one.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    faults : dict
        What ``scheme_faults`` has counted.

    Returns
    -------
    scheme : {"BIO", "IOBES", "BILOU"} or None
        The scheme with all of the prefixes that at most one sequence in a thousand
        breaks. None if there is none: labels without prefixes, spans that begin with
        I (IOB1), mixed prefixes.

    Examples
    --------
    >>> from skcw.data._constraints import scheme_of
    >>> faults = {"sequences": 8323, "BIO": 1, "IOBES": 3000, "BILOU": 3000}
    >>> scheme_of(["O", "B-x", "I-x"], faults)
    'BIO'
    """
    letters = _letters(labels)
    if not letters:
        return None
    for scheme, prefixes in _PREFIXES.items():
        few = faults[scheme] <= FEW_FAULTS * faults["sequences"]
        if letters <= set(prefixes) and few:
            return scheme
    return None
