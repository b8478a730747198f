"""Label schemes: spans from labels, and which labels may follow each other."""

import warnings
from collections.abc import Iterable
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from skcw._util.ragged import object_rows
from skcw.data.labels import check_labels
from skcw.data.saved import FLOATS, saved_array, saved_kind, saved_number, shortened

# The prefixes each scheme may use, and other names of schemes.
SCHEMES = {"IOB1": "BIO", "IOB2": "BIO", "IOBES": "BIOES", "BILOU": "BILOU"}
ALIASES = {"BIO": "IOB2", "BIOES": "IOBES"}
SCHEMES_OR_AUTO = ("auto", *SCHEMES)

# The effect of a prefix on a span. BILOU writes IOBES with other letters: Last for End,
# Unit for Single.
ROLES = {"B": "B", "I": "I", "O": "O", "E": "E", "S": "S", "L": "E", "U": "S"}

# A lone L or U is more likely a label of its own than a BILOU prefix.
BARE_PREFIXES = "OBIES"
NO_TYPE = "_"


def parse_label(label, bare=BARE_PREFIXES):
    """Return the prefix of a label and its type.

    Parameters
    ----------
    label : str
        A label, such as ``"B-PER"``, ``"O"`` or ``"I"``.
    bare : str, default="OBIES"
        The prefixes that may stand without a type.

    Returns
    -------
    prefix : str or None
        One of the keys of ``ROLES``; None if the label has no prefix.
    kind : str
        What follows the hyphen, or the whole label if it has no prefix.

    Examples
    --------
    >>> from skcw.data.schemes import parse_label
    >>> parse_label("B-PER"), parse_label("I"), parse_label("NN")
    (('B', 'PER'), ('I', ''), (None, 'NN'))
    """
    if not isinstance(label, str):
        raise TypeError(f"a label is {label!r}; labels must be strings")
    if label[1:2] == "-" and label[0] in ROLES:
        return label[0], label[2:]
    if len(label) == 1 and (label == "O" or label in bare):
        return str(label), ""
    return None, str(label)


@lru_cache(maxsize=4096)
def split_label(label):
    """Return the role (one of B, I, E, S, O) and the type of a label.

    A label without a prefix is inside a span of its own type. Cached, because a corpus
    repeats few labels many times.
    """
    prefix, kind = parse_label(label)
    return ROLES[prefix or "I"], kind or NO_TYPE


def scheme_name(name, parameter, schemes=tuple(SCHEMES), aliases=ALIASES):
    """Return the first name of a scheme that may have several, or refuse it."""
    scheme = aliases.get(name, name) if isinstance(name, str) else None
    if scheme not in schemes:
        known = ", ".join(map(repr, [*schemes, *aliases]))
        raise ValueError(f"{parameter} is {name!r}; it must be one of {known}")
    return scheme


def resolve_scheme(scheme, labels):
    """Return the first name of a scheme, detected from ``labels`` for "auto"."""
    name = scheme_name(scheme, "scheme", SCHEMES_OR_AUTO)
    return detect_scheme(labels) if name == "auto" else name


class Span(NamedTuple):
    """A labeled stretch of words; ``end`` is exclusive, as in a Python slice.

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
    >>> from skcw.data.schemes import Span
    >>> words = ["in", "New", "York"]
    >>> span = Span("LOC", 1, 3)
    >>> words[span.start : span.end]
    ['New', 'York']
    """

    label: str
    start: int
    end: int


def extract_spans(
    labels: Iterable[Any], scheme: str = "auto", strict: bool = False
) -> list[Any]:
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
        The scheme that ``strict`` demands; ignored without ``strict``.
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
    of the same type. Any other ``B-x`` is not IOB1 and is skipped like ``O``.

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
    skcw.metrics.span_f1_score : Precision and recall over spans.
    convert_labels : The same spans, written in another scheme.

    Examples
    --------
    >>> from skcw.data import extract_spans
    >>> extract_spans(["B-PER", "I-PER", "O", "I-LOC"])
    [Span(label='PER', start=0, end=2), Span(label='LOC', start=3, end=4)]

    The last span has no ``B-``, so strict reading drops it:

    >>> extract_spans(["B-PER", "I-PER", "O", "I-LOC"], scheme="IOB2", strict=True)
    [Span(label='PER', start=0, end=2)]
    """
    labels = check_labels(labels, "labels")
    if not strict:
        scheme_name(scheme, "scheme", SCHEMES_OR_AUTO)
        return _read_leniently(map(split_label, labels))
    scheme = resolve_scheme(scheme, labels)
    refuse_foreign_prefixes([labels], scheme)
    place_of = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    codes = np.array([place_of[label] for label in labels], dtype=np.int64)
    ends, _ = span_ends(place_of, codes, [0, len(codes)], scheme)
    return [
        Span(split_label(labels[start])[1], start, int(ends[start]))
        for start in np.flatnonzero(ends).tolist()
    ]


def span_ends(labels, codes, offsets, strict=None):
    """Return where the span ends that begins at each token, and the kinds of tokens.

    It reads codes of labels as `extract_spans` reads labels.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    codes : ndarray of int
        The numbers of the labels of all sequences, joined.
    offsets : ndarray of int, shape (n_sequences + 1,)
        Where each sequence begins.
    strict : {"IOB1", "IOB2", "IOBES", "BILOU"}, default=None
        The scheme that spans must follow, to which all labels belong.

    Returns
    -------
    ends : ndarray of int64
        The token behind the span; 0 where none begins.
    kinds : ndarray of int64
        A number for the label of the span.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw.data.schemes import span_ends
    >>> codes, offsets = np.array([1, 2, 0, 2]), np.array([0, 2, 4])
    >>> span_ends(["O", "B-x", "I-x"], codes, offsets)[0]
    array([2, 0, 0, 4])
    """
    parts = list(map(split_label, labels))
    number_of = {}
    kinds = [number_of.setdefault(kind, len(number_of)) for _, kind in parts]
    kinds = np.array(kinds, dtype=np.int64)[codes]
    inside, opens, closes = (
        np.array([role in among for role, _ in parts], dtype=bool)[codes]
        for among in ("BIES", "BS", "ES")
    )
    goes_on = np.zeros(len(codes) + 1, dtype=bool)
    goes_on[1:-1] = inside[:-1] & (kinds[1:] == kinds[:-1])
    goes_on[offsets] = False
    if strict == "IOB1":
        # B may only cut what would otherwise be one run of its type.
        inside = inside & (goes_on[:-1] | ~opens)
        goes_on[1:-1] &= inside[:-1]
    begins = inside & (opens | ~goes_on[:-1])
    begins[1:] |= inside[1:] & closes[:-1]
    last = inside.copy()
    last[:-1] &= ~inside[1:] | begins[1:]
    starts, stops = np.flatnonzero(begins), np.flatnonzero(last)
    if strict not in (None, "IOB1"):
        # Spans already end before B and S, and after E and S.
        kept = opens[starts] if strict == "IOB2" else opens[starts] & closes[stops]
        starts, stops = starts[kept], stops[kept]
    ends = np.zeros(len(codes), dtype=np.int64)
    ends[starts] = stops + 1
    return ends, kinds


def detect_scheme(labels: Iterable[Any]) -> Any:
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
    >>> from skcw.data import detect_scheme
    >>> detect_scheme(["O", "B-PER", "I-PER"])
    'IOB2'
    >>> detect_scheme(["O", "B-PER", "E-PER", "S-LOC"])
    'IOBES'
    """
    prefixes = {parse_label(label)[0] for label in set(check_labels(labels, "labels"))}
    if prefixes & {"L", "U"}:
        return "BILOU"
    return "IOBES" if prefixes & {"E", "S"} else "IOB2"


def refuse_foreign_prefixes(rows, scheme, name=None):
    """Raise at the first label that a scheme cannot hold."""
    allowed = SCHEMES[scheme]
    seen = set().union(*rows)
    foreign = {label for label in seen if (parse_label(label)[0] or "?") not in allowed}
    for i, labels in enumerate(rows if foreign else ()):
        for position, label in enumerate(labels):
            if label in foreign:
                where = "" if name is None else f"{name}[{i}]: "
                raise ValueError(
                    f"{where}label {label!r} at token {position} is not of scheme "
                    f"{scheme}, whose prefixes are {', '.join(allowed)}"
                )


def _read_leniently(parts):
    spans = []
    parts, start, kind = list(parts), -1, None
    for position, (role, kind_here) in enumerate(parts):
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
        spans.append(Span(kind, start, len(parts)))
    return spans


def with_outside(y, outside):
    """Return labels in which a label other than "O" is called "O".

    Parameters
    ----------
    y : list of sequences of str
        The labels of each sentence.
    outside : str
        Their label for tokens outside of all spans.

    Returns
    -------
    y : ndarray of object, shape (n_sequences,)
        A list of labels for each sentence.

    Examples
    --------
    >>> from skcw.data.schemes import with_outside
    >>> with_outside([["B-PER", "NONE"]], "NONE")[0]
    ['B-PER', 'O']
    """
    return object_rows(
        ["O" if label == outside else label for label in labels] for labels in y
    )


def odd_outside(labels):
    """Return the label that seems to stand for "O", or None.

    Parameters
    ----------
    labels : iterable of str
        All labels of a corpus.

    Returns
    -------
    outside : str or None
        The only label without a prefix among others such as "B-PER", if none is "O".

    Examples
    --------
    >>> from skcw.data.schemes import odd_outside
    >>> odd_outside(["B-PER", "I-PER", "NONE"]), odd_outside(["B-PER", "O"])
    ('NONE', None)
    """
    parts = {label: parse_label(label) for label in labels}
    bare = [label for label, (prefix, _) in parts.items() if prefix is None]
    typed = [label for label, (prefix, kind) in parts.items() if prefix and kind]
    return bare[0] if len(bare) == 1 and len(typed) == len(parts) - 1 > 0 else None


# Labels without a prefix are slips if there are so few of them for one with a prefix.
FEW_STRAYS = 0.02


def stray_labels(counts):
    """Return the few labels without a prefix among many that have one.

    Parameters
    ----------
    counts : dict of str to int
        How often each label of a corpus occurs.

    Returns
    -------
    strays : dict of str to int
        Those that are probably slips, and how often each occurs.

    Examples
    --------
    >>> from skcw.data.schemes import stray_labels
    >>> stray_labels({"O": 900, "B-ORG": 99, "BORG": 1})
    {'BORG': 1}
    >>> stray_labels({"O": 999, "ORG": 1})
    {}
    """
    bare = "".join(ROLES)
    strays = {k: n for k, n in counts.items() if parse_label(k, bare)[0] is None}
    n_strays = sum(strays.values())
    n_prefixed = sum(counts.values()) - n_strays - counts.get("O", 0)
    return strays if 0 < n_strays <= FEW_STRAYS * n_prefixed else {}


def with_counts(counts, most=5):
    """Return labels and how often they occur as a text that names not too many.

    Examples
    --------
    >>> from skcw.data.schemes import with_counts
    >>> with_counts({"BORG": 1, "NN": 20})
    "'NN' (20), 'BORG' (1)"
    """
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{label!r} ({n})" for label, n in ordered[:most])
    more = len(ordered) - most
    return named if more <= 0 else f"{named} and {more} more"


def convert_labels(
    y: Any, target: str, source: str = "auto", outside: str = "O"
) -> np.ndarray:
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
        or ``S-``, and wherever the type changes. A warning counts the labels that
        are faults in the scheme that has the fewest of them.
    outside : str, default="O"
        The label of `y` for tokens outside of all spans, such as ``"NONE"`` or
        ``"_"``. The result calls it ``"O"``, as the whole package does.

    Returns
    -------
    converted : ndarray of object, shape (n_sequences,)
        A list of labels for each sentence.

    See Also
    --------
    extract_spans : The spans themselves, by the same rule.

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
    >>> convert_labels([["B-PER", "NONE"]], "IOB2", outside="NONE").tolist()
    [['B-PER', 'O']]
    """
    repairs = Repairs()
    rows = object_rows(converted(y, target, source, outside, repairs))
    repairs.tell(partial(warnings.warn, stacklevel=3))
    return rows


def converted(y, target, source="auto", outside="O", repairs=None, place=None):
    """Yield what `convert_labels` returns; `repairs` at a `place` are counted."""
    target = scheme_name(target, "target")
    source = None if source == "auto" else scheme_name(source, "source")
    for s, labels in enumerate(y):
        if isinstance(labels, (str, bytes)):
            raise TypeError(f"y[{s}] is {labels!r}; it must be a sequence of labels")
        labels = ["O" if label == outside else label for label in labels]
        spans = _read_leniently(_prefixed_parts(labels, s, source))
        if source is not None:
            _refuse_faults(labels, _written(labels, spans, source), s, source)
        elif repairs is not None:
            repairs.add(labels, spans, s, place)
        yield _written(labels, spans, target)


class Repairs:
    """Counts the labels that lenient reading repairs.

    These are the faults of the scheme that has the fewest of them: a correct corpus has
    none, in whichever scheme it is.

    Examples
    --------
    >>> from skcw.data.schemes import Repairs
    >>> repairs = Repairs()
    >>> repairs.add_read(["B-A", "I-A", "O", "I-A"], 0)
    >>> repairs.tell(print)
    labels repaired: 1, sentences: 1; first: sentence 0, token 3,
    I-A after O, read as B-A
    """

    def __init__(self):
        # Of schemes with equally many faults the first counts: IOB1 is rare.
        self._faults = {name: [0, 0, None] for name in (*list(SCHEMES)[1:], "IOB1")}

    def add(self, labels, spans, sentence, place=None):
        """Count those of a sentence; ``place(sentence, token)`` names where one is."""
        place = place or "sentence {}, token {}".format
        for scheme, faults in self._faults.items() if spans else ():
            right = _written(labels, spans, scheme)
            if right != labels:
                wrong = [t for t, label in enumerate(labels) if label != right[t]]
                t = wrong[0]
                before = f"after {labels[t - 1]}" if t else "at the beginning"
                faults[0] += len(wrong)
                faults[1] += 1
                faults[2] = faults[2] or (
                    f"{place(sentence, t)}, {labels[t]} {before}, read as {right[t]}"
                )

    def add_read(self, labels, sentence, place=None):
        """Count those of a sentence whose labels are read as spans, if they are."""
        labels = list(labels)
        if are_spans(set(labels)):
            self.add(labels, extract_spans(labels), sentence, place)

    def tell(self, tell):
        """Tell of them, if there are any."""
        n_labels, n_sentences, first = min(self._faults.values(), key=itemgetter(0))
        if n_labels:
            tell(
                f"labels repaired: {n_labels}, sentences: {n_sentences}; first: {first}"
            )


class LabelError(ValueError):
    """A label that a scheme cannot have.

    Parameters
    ----------
    sentence, token : int
        Where it stands.
    fault : str
        What is wrong with it.

    Examples
    --------
    >>> from skcw.data.schemes import LabelError
    >>> str(LabelError(3, 0, "has the label 'NN'"))
    "sentence 3, token 0 has the label 'NN'"
    """

    def __init__(self, sentence, token, fault):
        super().__init__(f"sentence {sentence}, token {token} {fault}")
        self.sentence = sentence
        self.token = token
        self.fault = fault

    def __reduce__(self):
        # Workers send errors to the process that asked.
        return type(self), (self.sentence, self.token, self.fault)


def _prefixed_parts(labels, s, source):
    """Return role and type of each label, all of which must have a prefix."""
    bare = "BIES" if source is None else SCHEMES[source]
    parts = []
    for position, label in enumerate(labels):
        prefix, kind = parse_label(label, bare) if isinstance(label, str) else (None, 0)
        if prefix is None:
            raise LabelError(
                s,
                position,
                f"has the label {label!r}, which is neither 'O' nor a prefix with a "
                "type, such as 'B-PER' (what labels call the outside is said by "
                "outside=...)",
            )
        parts.append((ROLES[prefix], kind))
    return parts


def _written(labels, spans, scheme):
    """Return the labels with the prefixes of a scheme."""
    written = list(labels)
    previous_end, previous_kind = -1, None
    for kind, start, end in spans:
        touches = start == previous_end and kind == previous_kind
        for i, prefix in enumerate(_prefixes(end - start, scheme, touches), start):
            written[i] = prefix + labels[i][1:]
        previous_end, previous_kind = end, kind
    return written


def _prefixes(length, scheme, touches=False):
    """Return the prefixes of a span; `touches` says it follows one of its type."""
    if scheme == "IOB2" or (scheme == "IOB1" and touches):
        return "B" + "I" * (length - 1)
    if scheme == "IOB1":
        return "I" * length
    single, last = ("S", "E") if scheme == "IOBES" else ("U", "L")
    return single if length == 1 else "B" + "I" * (length - 2) + last


def _refuse_faults(labels, expected, s, source):
    for position, (label, right) in enumerate(zip(labels, expected, strict=True)):
        if label != right:
            raise LabelError(
                s,
                position,
                f"has the label {label!r} where {source} would have {right!r}; "
                'source="auto" forgives such faults',
            )


# The schemes in which two labels show whether a step is legal, under the names that
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


def transition_constraints(
    constraints: Any, labels: Iterable[Any], dtype: Any = np.float64
) -> np.ndarray | None:
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
    >>> from skcw.data.schemes import transition_constraints
    >>> transition_constraints("BIO", ["O", "B-x", "I-x"])
    array([[  0.,   0., -inf],
           [  0.,   0.,   0.],
           [  0.,   0.,   0.],
           [  0.,   0., -inf],
           [  0.,   0.,   0.]])
    """
    if constraints is None:
        return None
    if isinstance(constraints, str):
        legal = _legal_by_scheme(constraints_name(constraints), labels)
    elif callable(constraints):
        rows = [[constraints(before, after) for after in labels] for before in labels]
        rows.append([constraints(None, label) for label in labels])
        rows.append([constraints(label, None) for label in labels])
        legal = np.array(rows, dtype=bool)
    else:
        legal = _legal_by_matrix(constraints, labels)
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
        The result of :func:`transition_constraints`.
    """
    shape = n_labels + 2, n_labels
    forbidden = saved_array(arrays, "forbidden", FLOATS, shape, largest=np.inf)
    if not ((forbidden == 0) | (forbidden == -np.inf)).all():
        raise ValueError("a step from label to label is neither legal nor forbidden")
    return forbidden


def saved_constraints(value, name):
    """Return the constraints of a model in a file; raise if they are impossible."""
    if value not in (None, "given", *SCHEME_NAMES):
        raise ValueError(f"{name} is {shortened(value)}")
    return value


def saved_faults(value, name):
    """Return how often training labels broke each scheme, from a file."""
    for count in saved_kind(value, name, dict).values():
        saved_number(count, name, 0)
    return value


def constraints_name(name):
    """Return the name of a scheme in ``constraints_``, where IOB2 is called BIO."""
    return scheme_name(name, "constraints", _PREFIXES, _OTHER_NAMES)


def _parts(labels, prefixes):
    """Return the role of each label in a span ("O" for none), and its type."""
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


def _legal_by_matrix(constraints, labels):
    """Return which steps a matrix allows; all borders are legal."""
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
    places = [list(names).index(label) for label in labels]
    return np.vstack([matrix[np.ix_(places, places)], np.ones((2, len(places)), bool)])


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
    >>> from skcw.data.schemes import scheme_faults
    >>> codes, offsets = np.array([1, 2, 0, 2]), np.array([0, 2, 4])
    >>> scheme_faults(["O", "B-x", "I-x"], codes, offsets)
    {'sequences': 2, 'BIO': 1, 'IOBES': 2, 'BILOU': 2}
    """
    faults = {"sequences": len(offsets) - 1}
    spans = are_spans(labels)
    for scheme in _PREFIXES:
        # Other labels are in no scheme, and there may be thousands of them.
        forbidden = transition_constraints(scheme, labels) if spans else None
        faults[scheme] = first_violation(forbidden, codes, offsets)[0]
    return faults


def are_spans(labels):
    """Return whether labels mark spans: all are "O" or begin with a prefix.

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
    >>> from skcw.data.schemes import are_spans
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
        The result of ``scheme_faults``.

    Returns
    -------
    scheme : {"BIO", "IOBES", "BILOU"} or None
        The scheme with all of the prefixes that at most one sequence in a thousand
        breaks. None if there is none: labels without prefixes, spans that begin with
        I (IOB1), mixed prefixes.

    Examples
    --------
    >>> from skcw.data.schemes import scheme_of
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
