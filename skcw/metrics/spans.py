"""From labels of single words to the spans they mark."""

from functools import lru_cache
from typing import NamedTuple

from skcw.metrics._checks import check_labels

# The prefixes each scheme may use.
SCHEMES = {"IOB1": "BIO", "IOB2": "BIO", "IOBES": "BIOES", "BILOU": "BILOU"}
_ALIASES = {"BIO": "IOB2", "BIOES": "IOBES"}

# BILOU writes IOBES with other letters: Last for End, Unit for Single.
_ROLES = {"B": "B", "I": "I", "O": "O", "E": "E", "S": "S", "L": "E", "U": "S"}

NO_TYPE = "_"


class Span(NamedTuple):
    """A labelled stretch of words; ``end`` is exclusive, as in a Python slice.

    Parameters
    ----------
    label : str
        Its label, without prefix.
    start : int
        The position of its first word.
    end : int
        One past the position of its last word.

    Examples
    --------
    >>> from skcw.metrics import Span
    >>> words = ["in", "New", "York"]
    >>> span = Span("LOC", 1, 3)
    >>> words[span.start : span.end]
    ['New', 'York']
    """

    label: str
    start: int
    end: int


def extract_spans(labels, scheme="auto", strict=False):
    """Return the spans that one sequence of labels marks.

    By default labels are read as the conlleval program and seqeval read them,
    which forgives every fault of the scheme: a span begins at ``B-`` or ``S-``,
    after ``O``, after ``E-`` or ``S-``, and wherever the type changes; it ends
    before the next span, before ``O``, and after ``E-`` or ``S-``. IOB1, IOB2,
    IOBES and BILOU labels are all read by this one rule.

    Parameters
    ----------
    labels : sequence of str
        The labels of one sequence: ``"O"``, or a prefix, a hyphen and a type
        (the type may hold hyphens), or a bare ``"B"``, ``"I"``, ``"E"``, ``"S"``
        whose span gets the label ``"_"``.
    scheme : {"auto", "IOB1", "IOB2", "IOBES", "BILOU"}, default="auto"
        What ``strict`` holds the labels to; without ``strict`` it changes nothing.
        ``"BIO"`` and ``"BIOES"`` are other names of IOB2 and IOBES. ``"auto"``
        is the answer of :func:`detect_scheme` to these labels, so name the
        scheme when short sequences are read one at a time.
    strict : bool, default=False
        Drop spans that break the scheme, instead of reading them as well as
        possible. A label that the scheme cannot hold at all raises an error.

    Returns
    -------
    spans : list of Span
        In order of their start; spans never overlap.

    Notes
    -----
    Strict reading keeps, for IOB2, ``B-x`` with the ``I-x`` that follow it; for
    IOBES and BILOU, ``S-x`` alone and ``B-x``, any number of ``I-x``, ``E-x``; for
    IOB1, runs of ``I-x``, which ``B-x`` cuts where it directly follows a label
    of the same type. Any other ``B-x`` is no IOB1 and is skipped like ``O``.

    Where the words above leave a choice, it is the one of seqeval 1.2, but for
    four points. Strict IOB1 of seqeval drops a correct one-word span ``B-x`` if
    an incorrect ``B-y`` follows; here only the latter is dropped. Labels without
    a prefix, as in ``["Street", "Street", "City"]``, make one span of each run
    of equal labels, where seqeval takes the first letter for a prefix (and
    warns). ``L-`` and ``U-`` are read as ``E-`` and ``S-`` without ``strict``
    too. Hyphens that a type begins or ends with stay, with ``strict`` too.

    The conlleval program itself knows no ``S-`` and does not separate ``E-x``
    from a ``B-x`` right after it; here, as in seqeval, two spans are read.

    See Also
    --------
    span_f1_score : Precision and recall over spans.

    Examples
    --------
    >>> from skcw.metrics import extract_spans
    >>> extract_spans(["B-PER", "I-PER", "O", "I-LOC"])
    [Span(label='PER', start=0, end=2), Span(label='LOC', start=3, end=4)]

    The last span has no ``B-``, so strict reading drops it:

    >>> extract_spans(["B-PER", "I-PER", "O", "I-LOC"], scheme="IOB2", strict=True)
    [Span(label='PER', start=0, end=2)]
    """
    labels = check_labels(labels, "labels")
    if not strict:
        check_scheme(scheme)
        return _read_leniently(labels)
    scheme = resolve_scheme(scheme, labels)
    _refuse_foreign_prefixes(labels, scheme)
    return _STRICT_READERS[scheme](labels)


def detect_scheme(labels):
    """Return the scheme that a set of labels seems to follow.

    Parameters
    ----------
    labels : iterable of str
        All labels of a corpus, such as ``classes_`` of a tagger.

    Returns
    -------
    scheme : {"IOB2", "IOBES", "BILOU"}
        BILOU if a prefix is ``L`` or ``U``; else IOBES if one is ``E`` or ``S``;
        else IOB2. Prefixes cannot tell IOB1 from IOB2: it must be named.

    Examples
    --------
    >>> from skcw.metrics import detect_scheme
    >>> detect_scheme(["O", "B-PER", "I-PER"])
    'IOB2'
    >>> detect_scheme(["O", "B-PER", "E-PER", "S-LOC"])
    'IOBES'
    """
    prefixes = {_prefix(label) for label in set(labels)}
    if prefixes & {"L", "U"}:
        return "BILOU"
    return "IOBES" if prefixes & {"E", "S"} else "IOB2"


def check_scheme(scheme):
    """Return the scheme's own name for a name or alias; refuse unknown ones."""
    name = _ALIASES.get(scheme, scheme)
    if name != "auto" and name not in SCHEMES:
        known = ", ".join(repr(known) for known in ("auto", *SCHEMES, *_ALIASES))
        raise ValueError(f"scheme is {scheme!r}; it must be one of {known}")
    return name


def resolve_scheme(scheme, labels):
    """Return a scheme's own name, detected from ``labels`` where it is "auto"."""
    name = check_scheme(scheme)
    return detect_scheme(labels) if name == "auto" else name


@lru_cache(maxsize=4096)
def split_label(label):
    """Return the role (one of B, I, E, S, O) and the type of a label.

    Cached, because a corpus repeats few labels many times.
    """
    prefix = _prefix(label)
    if prefix is None:
        return "I", str(label) or NO_TYPE
    return _ROLES[prefix], label[2:] or NO_TYPE


def _prefix(label):
    if label in ("O", "B", "I", "E", "S"):
        return str(label)
    # A lone L or U is more likely a label of its own than a BILOU prefix.
    return label[0] if label[1:2] == "-" and label[0] in _ROLES else None


def _refuse_foreign_prefixes(labels, scheme):
    allowed = SCHEMES[scheme]
    foreign = {label for label in set(labels) if (_prefix(label) or "?") not in allowed}
    for position, label in enumerate(labels):
        if label in foreign:
            raise ValueError(
                f"label {label!r} at token {position} is not of scheme {scheme}, "
                f"whose prefixes are {', '.join(allowed)}"
            )


def _read_leniently(labels):
    spans = []
    start, kind = -1, None
    for position, label in enumerate(labels):
        role, kind_here = split_label(label)
        if role == "O":
            if start >= 0:
                spans.append(Span(kind, start, position))
                start = -1
            continue
        if start < 0 or kind_here != kind or role == "B" or role == "S":
            if start >= 0:
                spans.append(Span(kind, start, position))
            start, kind = position, kind_here
        if role == "E" or role == "S":
            spans.append(Span(kind, start, position + 1))
            start = -1
    if start >= 0:
        spans.append(Span(kind, start, len(labels)))
    return spans


def _read_iob2(labels):
    spans = []
    start, kind = -1, None
    for position, label in enumerate(labels):
        role, kind_here = split_label(label)
        if role == "I" and start >= 0 and kind_here == kind:
            continue
        if start >= 0:
            spans.append(Span(kind, start, position))
        start, kind = (position, kind_here) if role == "B" else (-1, None)
    if start >= 0:
        spans.append(Span(kind, start, len(labels)))
    return spans


def _read_iob1(labels):
    spans = []
    start = -1
    kind = None  # of the label before this one, None after O
    for position, label in enumerate(labels):
        role, kind_here = split_label(label)
        if role == "I" and start >= 0 and kind_here == kind:
            continue
        if start >= 0:
            spans.append(Span(kind, start, position))
        # B may only cut what would otherwise be one run of its type.
        opens = role == "I" or (role == "B" and kind_here == kind)
        start = position if opens else -1
        kind = None if role == "O" else kind_here
    if start >= 0:
        spans.append(Span(kind, start, len(labels)))
    return spans


def _read_iobes(labels):
    spans = []
    start, kind = -1, None
    for position, label in enumerate(labels):
        role, kind_here = split_label(label)
        continues = start >= 0 and kind_here == kind
        if role == "I" and continues:
            continue
        if role == "E" and continues:
            spans.append(Span(kind, start, position + 1))
        elif role == "S":
            spans.append(Span(kind_here, position, position + 1))
        # A span begun and not ended by E is forgotten here.
        start, kind = (position, kind_here) if role == "B" else (-1, None)
    return spans


_STRICT_READERS = {
    "IOB1": _read_iob1,
    "IOB2": _read_iob2,
    "IOBES": _read_iobes,
    "BILOU": _read_iobes,
}
