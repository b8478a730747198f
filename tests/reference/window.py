"""Window features as strings: what the compiled extractor must give."""

import re
from itertools import product

# Views that have a value beyond the ends of a sentence: a mark.
MARKED = ("text", "lower", "shape", "short_shape", "test", "match", "lower_match")


def window_strings(templates, sentence, lexicons=None):
    """Return a list of feature names for every token of a sentence of tuples."""
    return [
        [name for t in templates for name in _names(t, sentence, i, lexicons or {})]
        for i in range(len(sentence))
    ]


def _names(template, sentence, i, lexicons):
    choices = [_values(v, sentence, i + o, lexicons) for v, o in template.atoms]
    for values in product(*choices):
        pieces = [template.literals[0]]
        for value, literal in zip(values, template.literals[1:], strict=True):
            pieces += [value, literal]
        yield "".join(pieces)


def _values(view, sentence, at, lexicons):
    """Return the values of a view at a position: none, one or several."""
    n = len(sentence)
    if view.kind == "bias":
        return [""]
    if view.kind in ("first", "last"):
        return [""] if at == (0 if view.kind == "first" else n - 1) and n else []
    if 0 <= at < n:
        return list(_views(view, sentence[at][view.column], lexicons))
    if view.kind in MARKED:
        return [f"_B{at}" if at < 0 else f"_B+{at - n + 1}"]
    return []


def _views(view, text, lexicons):
    n = view.size
    flags = {
        "has_digit": any(c.isdigit() for c in text),
        "all_digits": text.isdigit(),
        "has_hyphen": "-" in text,
        "first_capital": text[:1].isupper(),
        "has_capital": any(c.isupper() for c in text),
        "all_capitals": any(c.isupper() for c in text)
        and all(c.isupper() or not c.isalpha() for c in text),
        "in": text in lexicons.get(view.detail, ()),
        "matches": view.kind == "matches" and re.search(view.detail, text),
    }
    if view.kind in flags:
        return [""] if flags[view.kind] else []
    if view.kind == "prefix":
        return [text[:n]] if len(text) >= n else []
    if view.kind == "suffix":
        return [text[-n:]] if len(text) >= n else []
    if view.kind == "ngrams":
        return dict.fromkeys(text[i : i + n] for i in range(len(text) - n + 1))
    if view.kind == "test":
        return ["true" if re.search(view.detail, text) else "false"]
    if view.kind == "match":
        found = re.search(view.detail, text)
        return [found.group() if found else ""]
    if view.kind == "lower_match":
        found = re.search(view.detail, text)
        return [found.group().lower() if found else ""]
    whole = {"text": text, "inside": text, "lower": text.lower()}
    shape = "".join(map(_kind, text))
    whole["shape"] = shape
    whole["short_shape"] = re.sub(r"(.)\1+", r"\1", shape, flags=re.DOTALL)
    return [whole[view.kind]]


def _kind(c):
    return "0" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c
