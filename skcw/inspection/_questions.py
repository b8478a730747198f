"""Parse the yes/no questions that the parameter ``query`` accepts."""

from typing import NamedTuple

# What a question is about: the predicted label, any given labels, predicted spans.
RIGHT, LABEL, SPAN = "right", "label", "span"
ANY_TYPE = "*"

_FORMS = (
    "None, a label, a list or set of labels, 'not LABEL', {'not': labels}, 'span:TYPE' "
    "or {'span': types}"
)


class Question(NamedTuple):
    """A yes/no question about every word, or about every predicted span.

    Parameters
    ----------
    kind : {"right", "label", "span"}
        Whether it is about the predicted label, about given labels, or about spans.
    labels : tuple, default=()
        The labels, or the types of spans; empty for spans of any type.
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
    return Question(LABEL, _names(query, query))


def _parse_dict(query):
    if set(query) == {"not"}:
        return Question(LABEL, _names(query["not"], query), negated=True)
    if set(query) == {"span"}:
        return _spans(query["span"], query)
    raise ValueError(f"query is {query!r}; it must be {_FORMS}")


def _spans(types, query):
    names = _names(types, query)
    return Question(SPAN, () if ANY_TYPE in names else names)


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
