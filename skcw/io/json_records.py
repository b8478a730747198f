"""One sentence as a JSON record: tokens with labels, or text with spans.

The records of Hugging Face datasets, Prodigy, spaCy and doccano are all understood.
"""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from skcw._util.checks import brief
from skcw._util.marked_text import joined_words
from skcw.data.columns import OTHER_NAMES, find_name
from skcw.data.schemes import Span, extract_spans

WORD_KEYS = ("tokens", "words")
# The keys of labels, one for each token, and of spans; the best first.
LABEL_KEYS = ("tags", "ner_tags", "labels", "label", "ner")
SPAN_KEYS = ("spans", "ents", "entities", "label", "labels")
# The name of the label column where labels are made from spans.
LABEL = "label"
START_KEYS, END_KEYS = ("start", "start_offset"), ("end", "end_offset")
TEXT_FORMS = ("prodigy", "doccano", "spacy")
FORMS = ("tokens", "ids", *TEXT_FORMS)
# What may be done about a span that begins or ends within a token.
MISALIGNED = ("widen", "drop", "raise")
# Words with their apostrophes and hyphens, numbers, and single other characters.
TOKEN = re.compile(r"\w+(?:[.,'’\-]\w+)*|[^\w\s]")


class RecordError(ValueError):
    """A record that is not a sentence; the reader adds where it stands."""


class Sentence(NamedTuple):
    """A sentence of a file, with all that another format may want.

    Parameters
    ----------
    columns : dict of str to list of str
        A value for each token by the name of its column; the token comes first.
    labels : list of str, default=None
        A label for each token, if the file has labels.
    text : str, default=None
        The text, if the file has one.
    places : list of (int, int), default=None
        The position of each token in the text.
    label : str, default="label"
        The name of the column of the labels.
    widened, left_out : tuple of (int, int, str), default=()
        The spans that did not begin and end with a token.
    lines : sequence of int, default=None
        The line of each token, where the file is read for it.

    Examples
    --------
    >>> from skcw.io.json_records import read_record
    >>> read_record({"text": "Ann left.", "label": [[0, 3, "PER"]]}).labels
    ['B-PER', 'O', 'O']
    """

    columns: dict
    labels: list | None = None
    text: str | None = None
    places: list | None = None
    label: str = LABEL
    widened: tuple = ()
    left_out: tuple = ()
    lines: object = None

    @property
    def tokens(self):
        """The tokens."""
        return next(iter(self.columns.values()))

    def all_columns(self):
        """Return the columns with the labels, if there are any, as the last one."""
        if self.labels is None:
            return self.columns
        return {**self.columns, self.label: self.labels}


def simple_tokens(text):
    """Return where the tokens of a text begin and end.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    places : list of (int, int)
        Words with inner apostrophes, hyphens, points and commas; other characters but
        blanks stand alone.

    Examples
    --------
    >>> from skcw.io.json_records import simple_tokens
    >>> simple_tokens("Ann's 2.5 km.")
    [(0, 5), (6, 9), (10, 12), (12, 13)]
    """
    return [match.span() for match in TOKEN.finditer(text)]


def looks_like_record(value):
    """Return whether a JSON value is a sentence in one of the known forms."""
    if isinstance(value, Mapping):
        return isinstance(value.get("text"), str) or any(
            isinstance(value.get(key), list) for key in WORD_KEYS
        )
    return _is_spacy_pair(value)


def _is_spacy_pair(value):
    pair = isinstance(value, list) and len(value) == 2
    return pair and isinstance(value[0], str) and isinstance(value[1], Mapping)


def read_record(
    record,
    *,
    label=None,
    names=None,
    tokenize=None,
    with_labels=True,
    misaligned="widen",
):
    """Return the sentence of a record.

    Parameters
    ----------
    record : dict or list
        The JSON value of a line.
    label : str, default=None
        The key of the labels or of the spans; by default the first known one.
    names : dict of int to str, default=None
        The names of labels that are numbers.
    tokenize : callable, default=None
        Gives where the tokens of a text begin and end, for records without tokens.
    with_labels : bool, default=True
        Whether labels and spans are read; if not, they are left out, right or wrong.
    misaligned : {"widen", "drop", "raise"}, default="widen"
        What to do about spans that begin or end within a token. They cannot be widened
        where the record has tokens of its own.

    Returns
    -------
    sentence : Sentence
        Its tokens, labels and text.
    """
    if _is_spacy_pair(record):
        record = {"text": record[0], **record[1]}
    if not isinstance(record, Mapping) or not looks_like_record(record):
        several = isinstance(record, list) and record and looks_like_record(record[0])
        hint = "; write each of several records on a line of its own" if several else ""
        raise RecordError(
            'a sentence is an object with "tokens" (a list of words) or "text"; this '
            f"is {brief(repr(record))}{hint}"
        )
    words = next(
        (record[k] for k in WORD_KEYS if isinstance(record.get(k), list)), None
    )
    if words is not None and all(isinstance(word, str) for word in words):
        return _sentence_of_tokens(record, words, label, names, with_labels)
    if not with_labels:
        record, label = {"text": record.get("text")}, None
    tokenize = tokenize or simple_tokens
    return _sentence_of_text(record, words, label, tokenize, misaligned)


def _sentence_of_tokens(record, words, label, names, with_labels):
    """Return a sentence whose record has a list of words."""
    lists = {
        key: value
        for key, value in record.items()
        if key not in WORD_KEYS and _is_list_of_labels(value)
    }
    columns = {"word": words}
    if with_labels or label is None:
        label = _label_key(record, lists, label)
    if not with_labels:
        lists.pop(label, None)
        label = None
    pos = find_name([key for key in lists if key != label], OTHER_NAMES["pos"])
    for key, values in lists.items():
        # An empty sentence does not tell which lists are columns.
        if len(values) != len(words):
            if key == label:
                raise RecordError(f"{len(words)} tokens, but {len(values)} {key!r}")
            continue
        texts = _named(values, names, key) if key == label else list(map(str, values))
        columns["pos" if key == pos else key] = texts
    if label is None:
        return Sentence(columns)
    return Sentence(columns, columns.pop(label), label=label)


def _is_list_of_labels(value):
    return isinstance(value, list) and all(type(item) in (str, int) for item in value)


def _label_key(record, lists, label):
    if label is None:
        return next((key for key in LABEL_KEYS if key in lists), None)
    if label not in lists:
        raise RecordError(
            f"there is no list of labels {label!r}; the keys are "
            f"{', '.join(map(repr, record))}"
        )
    return label


def _named(values, names, key):
    """Return labels as strings; numbers get their names."""
    if all(isinstance(value, str) for value in values):
        return values
    if names is None:
        raise RecordError(
            f"{key!r} holds numbers such as {values[0]!r}, and the labels "
            "they stand for are unknown; pass names=[...], an id2label or a ClassLabel"
        )
    unknown = [value for value in values if value not in names]
    if unknown:
        raise RecordError(
            f"{key!r} holds {unknown[0]!r}, which has no name; the names are {names}"
        )
    return [names[value] for value in values]


def _sentence_of_text(record, tokens, label, tokenize, misaligned):
    """Return a sentence whose record has a text, and perhaps tokens and spans."""
    text = record.get("text")
    if not isinstance(text, str):
        raise RecordError('its tokens are not strings, and it has no "text"')
    given = tokens is not None
    places = [_place_of(token, text) for token in tokens] if given else tokenize(text)
    places = [(a, b) for a, b in places if not text[a:b].isspace() and a < b]
    columns = {"word": [text[a:b] for a, b in places]}
    if given:
        columns |= _columns_of_tokens(tokens, text)
    spans = _spans_of(record, label)
    if spans is None:
        return Sentence(columns, None, text, places)
    odd = tuple(span for span in spans if not _is_aligned(span, places, text))
    dropped = odd if misaligned == "drop" else ()
    labels = labels_of_spans(
        [span for span in spans if span not in dropped],
        places,
        text,
        exact=given or misaligned == "raise",
    )
    widened = () if dropped else odd
    return Sentence(columns, labels, text, places, widened=widened, left_out=dropped)


def _is_aligned(span, places, text):
    """Return whether a span begins and ends with a token."""
    start, end, _ = span
    inside = tokens_inside(start, end, places)
    if not (inside and 0 <= start < end <= len(text)):
        # It is an error, whatever is done about others.
        return True
    return _trimmed(text, start, end) == (places[inside[0]][0], places[inside[-1]][1])


def tokens_inside(start, end, places):
    """Return the numbers of the tokens that share a character with a span."""
    return [t for t, (a, b) in enumerate(places) if a < end and b > start]


class Misaligned:
    """Counts the spans of a file that do not begin and end with a token.

    Examples
    --------
    >>> from skcw.io.json_records import Misaligned, read_record
    >>> found = Misaligned()
    >>> sentence = read_record({"text": "Ann left", "spans": [[0, 2, "PER"]]})
    >>> found.add("line 1", sentence)
    >>> found.count, found.first
    (1, "line 1: 'An' (PER) touches ['Ann']")
    """

    def __init__(self):
        self.count, self.first, self.what = 0, None, None

    def add(self, place, sentence):
        """Count those of a sentence, which stands at a place."""
        spans = sentence.widened or sentence.left_out
        if spans and self.first is None:
            text, (start, end, kind) = sentence.text, spans[0]
            inside = tokens_inside(start, end, sentence.places)
            tokens = [text[a:b] for a, b in (sentence.places[t] for t in inside)]
            self.first = f"{place}: {text[start:end]!r} ({kind}) touches {tokens}"
            done = "widened to" if sentence.widened else "left out, as they are not"
            self.what = f"{done} whole tokens"
        self.count += len(spans)

    def tell(self, tell):
        """Tell of them, if there are any."""
        if self.count:
            tell(
                f"spans {self.what}: {self.count}; first: {self.first} (misaligned= "
                "says otherwise)"
            )


def _place_of(token, text):
    start = end = None
    if isinstance(token, Mapping):
        start, end = token.get("start"), token.get("end")
    if _are_ints(start, end) and 0 <= start <= end <= len(text):
        return start, end
    raise RecordError(
        f"the token {brief(repr(token))} has no start and end within the text, which "
        f"has {len(text)} characters"
    )


def _columns_of_tokens(tokens, text):
    """Return the part of speech, if spaCy has written one beside each token."""
    kept = [t for t in tokens if not text[t["start"] : t["end"]].isspace()]
    kept = [t for t in kept if t["start"] < t["end"]]
    key = find_name(list(kept[0]) if kept else [], OTHER_NAMES["pos"])
    if key is None or not all(isinstance(t.get(key), str) for t in kept):
        return {}
    return {"pos": [token[key] for token in kept]}


def _spans_of(record, label):
    """Return spans as (start, end, label); None if the record has no key for them."""
    found = span_key(record, label)
    if found is None:
        if label in (None, LABEL):
            return None
        raise RecordError(
            f"there is no list of spans {label!r}; the keys are "
            f"{', '.join(map(repr, record))}"
        )
    return sorted(map(_span, record[found]))


def span_key(record, label):
    """Return the key of the spans of a record, or None."""
    keys = SPAN_KEYS if label in (None, LABEL) else (label,)
    return next((key for key in keys if isinstance(record.get(key), list)), None)


def _span(value):
    if isinstance(value, Mapping):
        start, end = (
            next((value[key] for key in keys if key in value), None)
            for keys in (START_KEYS, END_KEYS)
        )
        value = [start, end, value.get("label")]
    if (
        isinstance(value, list)
        and len(value) >= 3
        and _are_ints(*value[:2])
        and isinstance(value[2], str)
    ):
        return tuple(value[:3])
    raise RecordError(f"the span {brief(repr(value))} is not [start, end, label]")


def labels_of_spans(spans, places, text, exact):
    """Return the IOB2 labels of tokens, given spans of characters.

    Parameters
    ----------
    spans : list of (int, int, str)
        Sorted by their start; ``end`` is exclusive.
    places : list of (int, int)
        Where each token stands.
    text : str
        The text, for messages.
    exact : bool
        Whether a span must begin and end with a token. If not, a token belongs to a
        span that it shares a character with.

    Returns
    -------
    labels : list of str
        One for each token.

    Examples
    --------
    >>> from skcw.io.json_records import labels_of_spans
    >>> labels_of_spans([(0, 9, "PER")], [(0, 3), (4, 9), (9, 10)], "Ann Smith.", True)
    ['B-PER', 'I-PER', 'O']
    """
    labels = ["O"] * len(places)
    for start, end, kind in spans:
        what = f"the span {start} to {end} ({kind})"
        if not 0 <= start < end <= len(text):
            raise RecordError(
                f"{what} is not within the text, which has {len(text)} characters"
            )
        inside = tokens_inside(start, end, places)
        if not inside:
            raise RecordError(f"{what} holds no token: {text[start:end]!r}")
        borders = places[inside[0]][0], places[inside[-1]][1]
        if exact and (_trimmed(text, start, end) != borders):
            tokens = text[borders[0] : borders[1]]
            raise RecordError(
                f"{what}, {text[start:end]!r}, cuts a token of {tokens!r} in two"
            )
        taken = [t for t in inside if labels[t] != "O"]
        if taken:
            a, b = places[taken[0]]
            raise RecordError(
                f"{what} overlaps another one in {text[a:b]!r}; a word has one label "
                "only"
            )
        for t in inside:
            labels[t] = f"{'B' if t == inside[0] else 'I'}-{kind}"
    return labels


def _trimmed(text, start, end):
    """Return a span without the blanks at its ends."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def spans_of_labels(labels, places, confidence=None):
    """Return spans of characters in the manner of Prodigy.

    Parameters
    ----------
    labels : list of str
        One for each token.
    places : list of (int, int)
        Where each token stands.
    confidence : sequence of float, default=None
        The confidence in each label; that of a span is the lowest of its tokens.

    Returns
    -------
    spans : list of dict
        With start, end and label, the first and the last token, and confidence.

    Examples
    --------
    >>> from skcw.io.json_records import spans_of_labels
    >>> spans_of_labels(["B-PER", "O"], [(0, 3), (4, 8)])
    [{'start': 0, 'end': 3, 'label': 'PER', 'token_start': 0, 'token_end': 0}]
    """
    found = []
    for kind, first, end in map(Span._make, extract_spans(labels)):
        span = {"start": places[first][0], "end": places[end - 1][1], "label": kind}
        span |= {"token_start": first, "token_end": end - 1}
        if confidence is not None:
            span["confidence"] = min(confidence[first:end])
        found.append(span)
    return found


def relabeled_spans(values, sentence, labels, key):
    """Return the spans of a record by other labels; those that stay are not touched.

    Parameters
    ----------
    values : list
        The spans as they stand in the record.
    sentence : Sentence
        What they were read as.
    labels : list of str
        The new labels.
    key : str
        Their key, which tells how spans are written where there are none yet.

    Returns
    -------
    values : list
        The new spans.

    Examples
    --------
    >>> from skcw.io.json_records import read_record, relabeled_spans
    >>> record = {"text": "Ann met Bob", "label": [[0, 3, "PER"]]}
    >>> labels = ["B-PER", "O", "B-PER"]
    >>> relabeled_spans(record["label"], read_record(record), labels, "label")
    [[0, 3, 'PER'], [8, 11, 'PER']]
    """
    old, new = extract_spans(sentence.labels), extract_spans(labels)
    values_read = [v for v in values if _span(v) not in sentence.left_out]
    kept = dict(zip(old, sorted(values_read, key=_span), strict=True))
    like = values[0] if values else {} if key in SPAN_KEYS[:2] else []
    written = spans_of_labels(labels, sentence.places)
    return [
        kept[span] if span in kept else _written_as(like, made)
        for span, made in zip(new, written, strict=True)
    ]


def _written_as(like, span):
    """Return a span in the form of another one."""
    ends = span["start"], span["end"]
    if not isinstance(like, Mapping):
        return [*ends, span["label"]]
    keys = START_KEYS[1] in like
    found = {START_KEYS[keys]: ends[0], END_KEYS[keys]: ends[1], "label": span["label"]}
    return span if "token_start" in like else found


def make_record(columns, labels=None, form="tokens", text=None, places=None, ids=None):
    """Return a sentence as a record.

    Parameters
    ----------
    columns : dict of str to list of str
        A value for each token by the name of its column; the first is the word.
    labels : list of str, default=None
        A label for each token.
    form : {"tokens", "ids", "prodigy", "doccano", "spacy"}, default="tokens"
        Tokens with labels, or with their numbers; or a text with spans.
    text : str, default=None
        The text; by default the words with blanks between them.
    places : list of (int, int), default=None
        Where each token stands in the text.
    ids : dict of str to int, default=None
        The number of each label, for the form ``"ids"``.

    Returns
    -------
    record : dict or list
        A value for JSON.

    Examples
    --------
    >>> from skcw.io.json_records import make_record
    >>> make_record({"word": ["Ann", "left"]}, ["B-PER", "O"], "doccano")
    {'text': 'Ann left', 'label': [[0, 3, 'PER']]}
    """
    words, *others = columns.values()
    if form in ("tokens", "ids"):
        names = list(columns)[1:]
        names = [f"{name}_tags" if name == "pos" else name for name in names]
        record = {"tokens": words, **dict(zip(names, others, strict=True))}
        if labels is not None and form == "tokens":
            record["tags"] = labels
        elif labels is not None:
            record["ner_tags"] = numbered(labels, ids)
        return record
    if text is None:
        text, (places,) = joined_words([words])
    spans = None if labels is None else spans_of_labels(labels, places)
    if form == "prodigy":
        tokens = [
            {"text": word, "start": a, "end": b, "id": t}
            for t, (word, (a, b)) in enumerate(zip(words, places, strict=True))
        ]
        record = {"text": text, "tokens": tokens}
        return record if spans is None else {**record, "spans": spans}
    plain = [[span["start"], span["end"], span["label"]] for span in spans or ()]
    if form == "spacy":
        return [text, {"entities": plain}]
    return {"text": text, "label": plain}


def numbered(labels, ids):
    """Return the numbers of labels; raise if one has none."""
    unknown = [label for label in labels if label not in ids]
    if unknown:
        raise RecordError(
            f"the label {unknown[0]!r} has no number; the names are {list(ids)}"
        )
    return [ids[label] for label in labels]


def label_names(names, key=None):
    """Return {number: name} of labels, however they were given.

    Parameters
    ----------
    names : list, dict, ClassLabel or None
        A list of names; ``id2label`` or ``label2id``; a ``ClassLabel`` of the library
        datasets, or a sequence feature of one; or the JSON of such a library:
        ``{"id2label": ...}``, ``{"names": ...}`` or the ``features`` of a dataset.
    key : str, default=None
        The key of the labels, if `names` describes several.

    Returns
    -------
    names : dict of int to str or None
        The name of each number; None for None.

    Examples
    --------
    >>> from skcw.io.json_records import label_names
    >>> label_names(["O", "B-PER"]) == label_names({"0": "O", "1": "B-PER"})
    True
    """
    if names is None:
        return None
    names = _inner_names(names, key)
    if isinstance(names, (list, tuple)) and all(isinstance(n, str) for n in names):
        return dict(enumerate(names))
    if isinstance(names, Mapping) and names:
        pairs = list(names.items())
        if all(isinstance(number, int) for _, number in pairs):
            pairs = [(number, name) for name, number in pairs]
        try:
            return {int(number): _checked_name(name) for number, name in pairs}
        except (TypeError, ValueError):
            pass
    raise ValueError(
        f"names is {brief(repr(names))}; give the names of the labels in a list, an "
        "id2label or a ClassLabel"
    )


def _checked_name(name):
    if not isinstance(name, str):
        raise TypeError
    return name


def _inner_names(names, key):
    """Return the list or dict of names inside the containers of libraries."""
    for attribute in ("feature", "names"):
        names = getattr(names, attribute, names)
    while isinstance(names, Mapping):
        inner = [key] if key in names else []
        inner += ["features", "id2label", "feature", "class_label", "names"]
        found = next((name for name in inner if name in names), None)
        if found is None or isinstance(names[found], (str, int)):
            break
        names = names[found]
    return names


def _are_ints(*values):
    return all(isinstance(v, int) and not isinstance(v, bool) for v in values)


def line_of(record):
    """Return a record as a line in UTF-8."""
    # Half characters have no UTF-8; there JSON's escapes are the same as Python's.
    text = json.dumps(record, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"
