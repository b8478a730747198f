"""Parse the yes/no questions that the parameter ``query`` accepts."""

from typing import NamedTuple

# What a question is about: the predicted label, any given labels, pairs of labels of
# neighbours, predicted spans.
RIGHT, LABEL, PAIR, SPAN = "right", "label", "pair", "span"
ANY_TYPE = "*"

_FORMS = (
    "None, a label, a list or set of labels, 'not LABEL', {'not': labels}, 'pair:LABEL "
    "LABEL', {'pair': pairs of labels}, 'span:TYPE' or {'span': types}"
)


class Question(NamedTuple):
    """A yes/no question about every word, pair of neighbours or predicted span.

    Parameters
    ----------
    kind : {"right", "label", "pair", "span"}
        Whether it is about the predicted label, about given labels, about labels of two
        neighbours, or about spans.
    labels : tuple, default=()
        The labels, the pairs of labels, or the types of spans; empty for spans of any
        type.
    negated : bool, default=False
        Whether it asks for none of the labels.

    Examples
    --------
    >>> from skcw.inspection import Question
    >>> str(Question("label", ("NN", "NNS")))
    'NN or NNS'
    """

    kind: str
    labels: tuple = ()
    negated: bool = False

    def __str__(self):
        """Return the question in a few words, for the axes of a picture."""
        if self.kind == PAIR:
            return " or ".join(f"{left} {right}" for left, right in self.labels)
        names = " or ".join(map(str, self.labels)) or "any type"
        if self.kind == SPAN:
            return f"span of {names}"
        if self.kind == RIGHT:
            return "predicted label"
        several = self.negated and len(self.labels) > 1
        return f"{'not ' * self.negated}{f'({names})' if several else names}"


def parse_query(query):
    """Return the question that a query stands for.

    Parameters
    ----------
    query : label, collection of labels, str, dict or None
        As in :func:`query_pairs`.

    Returns
    -------
    question : Question
        Its kind and its labels; ``str`` writes it in a few words.

    Examples
    --------
    >>> from skcw.inspection import parse_query
    >>> parse_query("not O")
    Question(kind='label', labels=('O',), negated=True)
    >>> str(parse_query("span:PER"))
    'span of PER'
    """
    if query is None:
        return Question(RIGHT)
    if isinstance(query, dict):
        return _parse_dict(query)
    if isinstance(query, str):
        if query.startswith("not "):
            return Question(LABEL, _names(query[4:].strip(), query), negated=True)
        if query.startswith("span:"):
            return _spans(query[5:].strip(), query)
        if query.startswith("pair:"):
            return Question(PAIR, _pairs(query[5:].split(), query))
    return Question(LABEL, _names(query, query))


def _parse_dict(query):
    if set(query) == {"not"}:
        return Question(LABEL, _names(query["not"], query), negated=True)
    if set(query) == {"span"}:
        return _spans(query["span"], query)
    if set(query) == {"pair"}:
        return Question(PAIR, _pairs(query["pair"], query))
    raise ValueError(f"query is {query!r}; it must be {_FORMS}")


def _spans(types, query):
    names = _names(types, query)
    return Question(SPAN, () if ANY_TYPE in names else names)


def _pairs(pairs, query):
    """Return one pair of labels or several as a tuple without repeats."""
    # A set of two labels does not say which comes first.
    has_order = not isinstance(pairs, (str, set, frozenset))
    is_one = isinstance(pairs, str) or not hasattr(pairs, "__iter__")
    pairs = [pairs] if is_one else list(pairs)
    if has_order and len(pairs) == 2 and all(isinstance(each, str) for each in pairs):
        pairs = [pairs]
    pairs = [
        list(p) if hasattr(p, "__iter__") and not isinstance(p, str) else [p]
        for p in pairs
    ]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"query is {query!r}; a pair has two labels, as in 'pair:DT NN' or "
            "{'pair': [('DT', 'NN'), ('JJ', 'NN')]}"
        )
    plain = [tuple(_plain(label, query) for label in pair) for pair in pairs]
    return tuple(dict.fromkeys(plain))


def _names(labels, query):
    """Return one label or several as a tuple without repeats."""
    if isinstance(labels, (set, frozenset)):
        labels = sorted(labels, key=str)
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        labels = (labels,)
    names = tuple(dict.fromkeys(_plain(label, query) for label in labels))
    if not names or "" in names:
        raise ValueError(f"query is {query!r} and names no label; it must be {_FORMS}")
    return names


def _plain(label, query):
    """Return a label of NumPy as the Python value it holds."""
    label = label.item() if hasattr(label, "item") else label
    if label is None or (hasattr(label, "__len__") and not isinstance(label, str)):
        raise TypeError(f"query is {query!r}; it must be {_FORMS}")
    return label
