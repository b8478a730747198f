"""Labels of spans in one scheme, written in another."""

from skcw.data.ragged import object_rows

# The prefixes each scheme may use.
SCHEMES = {"IOB1": "BIO", "IOB2": "BIO", "IOBES": "BIOES", "BILOU": "BILOU"}
ALIASES = {"BIO": "IOB2", "BIOES": "IOBES"}

# BILOU writes IOBES with other letters: Last for End, Unit for Single.
_ROLES = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S"}


def convert_labels(y, target, source="auto"):
    """Write the labels of spans in another scheme: IOB1, IOB2, IOBES or BILOU.

    Only prefixes change, and converting back gives the labels one had, provided that
    they follow their scheme.

    Parameters
    ----------
    y : list of sequences of str
        The labels of each sentence: ``"O"``, or a prefix, a hyphen and a type, or a
        bare prefix.
    target : {"IOB1", "IOB2", "IOBES", "BILOU"}
        The scheme to write. ``"BIO"`` and ``"BIOES"`` are other names of IOB2 and
        IOBES.
    source : {"auto", "IOB1", "IOB2", "IOBES", "BILOU"}, default="auto"
        The scheme to read. Naming it means that each fault of the scheme is an error.
        By default all are read by the one rule of the conlleval program, which
        forgives faults: a span begins at ``B-`` or ``S-``, after ``O``, after ``E-``
        or ``S-``, and wherever the type changes.

    Returns
    -------
    converted : ndarray of object, shape (n_sequences,)
        A list of labels for each sentence.

    See Also
    --------
    skcw.metrics.extract_spans : The spans themselves, by the same rule.

    Notes
    -----
    In IOB1 a span begins with ``I-``, and with ``B-`` only where it directly follows
    another one of its type; in IOB2 every span begins with ``B-``. IOBES marks also
    the end, ``E-``, and spans of a single word, ``S-``; BILOU calls them ``L-`` and
    ``U-``.

    Examples
    --------
    >>> from skcw.data import convert_labels
    >>> convert_labels([["B-PER", "I-PER", "O", "B-LOC"]], "IOBES").tolist()
    [['B-PER', 'E-PER', 'O', 'S-LOC']]
    >>> convert_labels([["B-PER", "B-PER", "I-PER", "O"]], "IOB1").tolist()
    [['I-PER', 'B-PER', 'I-PER', 'O']]
    """
    target = _scheme(target, "target")
    source = None if source == "auto" else _scheme(source, "source")
    rows = []
    for s, labels in enumerate(y):
        if isinstance(labels, (str, bytes)):
            raise TypeError(f"y[{s}] is {labels!r}; it must be a sequence of labels")
        labels = list(labels)
        spans = _read(labels, s, source)
        if source is not None:
            _refuse_faults(labels, _written(labels, spans, source), s, source)
        rows.append(_written(labels, spans, target))
    return object_rows(rows)


def _scheme(name, parameter):
    scheme = ALIASES.get(name, name)
    if scheme not in SCHEMES:
        known = ", ".join(repr(known) for known in (*SCHEMES, *ALIASES))
        raise ValueError(f"{parameter} is {name!r}; it must be one of {known}")
    return scheme


def _read(labels, s, source):
    """Return the spans as (first position, one past the last)."""
    bare = "BIES" if source is None else SCHEMES[source]
    spans = []
    start, kind = -1, None
    for position, label in enumerate(labels):
        role = _role(label, bare)
        if role is None:
            raise ValueError(
                f"sentence {s}, token {position} has the label {label!r}, which is "
                "neither 'O' nor a prefix with a type, such as 'B-PER'"
            )
        goes_on = start >= 0 and role in ("I", "E") and label[2:] == kind
        if start >= 0 and not goes_on:
            spans.append((start, position))
            start = -1
        if role != "O" and not goes_on:
            start, kind = position, label[2:]
        if role in ("E", "S"):
            spans.append((start, position + 1))
            start = -1
    return [*spans, (start, len(labels))] if start >= 0 else spans


def _role(label, bare):
    """Return B, I, E, S or O; None if a label has no prefix."""
    if not isinstance(label, str):
        return None
    if label == "O" or label.startswith("O-"):
        return "O"
    if label[1:2] == "-" or (len(label) == 1 and label in bare):
        return _ROLES.get(label[0])
    return None


def _written(labels, spans, scheme):
    """Return the labels with the prefixes of a scheme."""
    written = list(labels)
    previous_end, previous_kind = -1, None
    for start, end in spans:
        kind = labels[start][2:]
        touches = start == previous_end and kind == previous_kind
        for i, prefix in enumerate(_prefixes(end - start, touches, scheme), start):
            written[i] = prefix + labels[i][1:]
        previous_end, previous_kind = end, kind
    return written


def _prefixes(length, touches, scheme):
    """Return the prefixes of one span; `touches` says it follows one of its type."""
    if scheme == "IOB2" or (scheme == "IOB1" and touches):
        return "B" + "I" * (length - 1)
    if scheme == "IOB1":
        return "I" * length
    single, last = ("S", "E") if scheme == "IOBES" else ("U", "L")
    return single if length == 1 else "B" + "I" * (length - 2) + last


def _refuse_faults(labels, expected, s, source):
    for position, (label, right) in enumerate(zip(labels, expected, strict=True)):
        if label != right:
            raise ValueError(
                f"sentence {s}, token {position} has the label {label!r} where "
                f'{source} would have {right!r}; source="auto" forgives such faults'
            )
