"""Which labels may follow each other, begin and end a sequence."""

import numpy as np


def forbidden_matrix(constraints, labels, dtype=np.float64):
    """Return 0 where a step is legal and minus infinity where it is not.

    Parameters
    ----------
    constraints : None, "BIO", "IOBES", callable or (names, matrix)
        ``"BIO"``: I-x follows B-x or I-x only. ``"IOBES"``: spans are S-x, or B-x,
        any I-x, E-x. A function ``legal(before, after)`` gets two labels, or None
        for the border of a sequence. A pair of label names and a square matrix of
        truth values: ``matrix[i][j]`` says whether ``names[j]`` may follow
        ``names[i]``.
    labels : sequence of str
        The labels, in the order of the rows.
    dtype : dtype, default=float64
        The type of the result.

    Returns
    -------
    forbidden : ndarray of shape (n_labels + 2, n_labels) or None
        A row per label before; then one for the first token of a sequence and one
        for the last. None when there are no constraints.

    Examples
    --------
    >>> from skcw.constraints import forbidden_matrix
    >>> forbidden_matrix("BIO", ["O", "B-x", "I-x"])
    array([[  0.,   0., -inf],
           [  0.,   0.,   0.],
           [  0.,   0.,   0.],
           [  0.,   0., -inf],
           [  0.,   0.,   0.]])
    """
    if constraints is None:
        return None
    legal = _legal_function(constraints, labels)
    rows = [[legal(before, after) for after in labels] for before in labels]
    rows.append([legal(None, label) for label in labels])
    rows.append([legal(label, None) for label in labels])
    return np.where(np.array(rows, dtype=bool), 0.0, -np.inf).astype(dtype)


def _legal_function(constraints, labels):
    if callable(constraints):
        return constraints
    if isinstance(constraints, str):
        return {"BIO": _legal_bio, "IOBES": _legal_iobes}[constraints]
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


def _parts(label):
    """Split B-x into ("B", "x"); a border or a label without prefix is outside."""
    if label is None:
        return "O", ""
    prefix, dash, kind = label.partition("-")
    if prefix in ("B", "I", "E", "S") and (dash or label == prefix):
        return prefix, kind
    return "O", ""


def _legal_bio(before, after):
    prefix, kind = _parts(after)
    if prefix != "I":
        return True
    prefix_before, kind_before = _parts(before)
    return prefix_before in "BI" and kind_before == kind


def _legal_iobes(before, after):
    prefix, kind = _parts(after)
    prefix_before, kind_before = _parts(before)
    if prefix_before in "BI":
        return prefix in "IE" and kind == kind_before
    return prefix in "OBS"


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
    broken = np.unique(np.searchsorted(offsets, np.flatnonzero(bad), side="right") - 1)
    return len(broken), int(broken[0]) if len(broken) else -1
