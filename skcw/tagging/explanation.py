"""Explanations of labels: how much each feature contributed."""

from typing import NamedTuple

import numpy as np

from skcw._util.text_table import Table, shown_token
from skcw.data.columns import TokenColumns
from skcw.data.edges import EDGE_MARK

# How many features a line of a table of explanations names.
NAMED = 3


class Contribution(NamedTuple):
    """What one feature adds to the decision for a label and against its rival.

    Parameters
    ----------
    feature : str
        Its name; "after A" and "before A" are the transitions, "first" and "last" the
        ends of the sequence where these have weights. A feature that looks at the label
        before is "after A & w=Madrid" at its own token, and "before A & w=Madrid" at
        the token before.
    value : float
        What it adds to the margin.
    std : float
        The standard deviation of that.

    Examples
    --------
    >>> from skcw.tagging.explanation import Contribution
    >>> Contribution("w=Madrid", 1.5, 0.2).feature
    'w=Madrid'
    """

    feature: str
    value: float
    std: float


class TokenExplanation(NamedTuple):
    """The decision at one token: the label, its best rival, and the contributions.

    Parameters
    ----------
    label : str
        The predicted label.
    rival : str or None
        The best label to replace it; None when there is no other.
    margin : float
        The score lost by replacing it, which is the sum of the contributions.
        Negative where only constraints keep an illegal rival out.
    std : float
        The standard deviation of the margin; 0 for learners without variance.
    contributions : tuple of Contribution
        What each feature adds to the margin, largest first.

    Examples
    --------
    >>> from skcw.tagging.explanation import TokenExplanation
    >>> TokenExplanation("PER", "LOC", 1.5, 0.2, ()).rival
    'LOC'
    """

    label: str
    rival: str | None
    margin: float
    std: float
    contributions: tuple


class Explanations(list):
    """What ``explain`` returns: a list of :class:`TokenExplanation` shown as a table.

    Parameters
    ----------
    explanations : iterable of TokenExplanation
        One per token.
    tokens : iterable, default=()
        The tokens as they were given, for the table.

    Examples
    --------
    >>> from skcw.tagging.explanation import Contribution, Explanations
    >>> from skcw.tagging.explanation import TokenExplanation
    >>> parts = (Contribution("w=Madrid", 1.5, 0.2),)
    >>> Explanations([TokenExplanation("LOC", "ORG", 1.5, 0.2, parts)], ["Madrid"])
      at  word    label    rival      margin    std  decided by
    ----  ------  -------  -------  --------  -----  --------------
       0  Madrid  LOC      ORG         1.500  0.200  w=Madrid +1.50
    """

    def __init__(self, explanations=(), tokens=()):
        super().__init__(explanations)
        self.tokens = [shown_token(token) for token in tokens]

    def table(self):
        """Return the explanations as a table.

        Returns
        -------
        table : Table
            A line per token, with the features that decide most.
        """
        words = self.tokens + [""] * (len(self) - len(self.tokens))
        rows = [
            (
                at,
                word,
                one.label,
                one.rival,
                one.margin,
                one.std,
                ", ".join(
                    f"{part.feature} {part.value:+.2f}"
                    for part in one.contributions[:NAMED]
                ),
            )
            for at, (word, one) in enumerate(zip(words, self, strict=False))
        ]
        headers = ["at", "word", "label", "rival", "margin", "std", "decided by"]
        return Table(headers, rows, [None, None, None, None, ".3f", ".3f", None])

    def __repr__(self):
        return repr(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()


def given_tokens(sequence):
    """Return the tokens of a sequence where these can be shown, or none."""
    if isinstance(sequence, TokenColumns):
        return sequence[0]
    return sequence if isinstance(sequence, (list, tuple)) else ()


def explain_sequence(classes, names, scored, forbidden=None, border_rows=None):
    """Explain every token of the one sequence of a batch.

    Parameters
    ----------
    classes : list of str
        The labels.
    names : sequence of str
        The feature names.
    scored : ScoredBatch
        One sequence under the model.
    forbidden : ndarray or None, default=None
        What :func:`skcw.data.transition_constraints` returns; rivals that are legal
        beside the neighbors go first.
    border_rows : pair of int or None, default=None
        The rows of the weights for the first and for the last token, if there are any.

    Returns
    -------
    explanations : list of TokenExplanation
        One per token, contributions from the largest to the smallest in size.
    """
    labels = scored.viterbi()[0].tolist()
    return [
        _explain_token(
            scored.decoder.belief,
            classes,
            labels[t],
            _legal_rivals(labels, t, len(classes), forbidden),
            _weighed(classes, names, scored, labels, t, border_rows),
        )
        for t in range(scored.n_tokens)
    ]


def _legal_rivals(labels, t, n_labels, forbidden):
    """Return the labels that could stand at token t; if none could, all others."""
    rivals = [j for j in range(n_labels) if j != labels[t]]
    if forbidden is None:
        return rivals
    # The last two rows are for the first and the last token of a sequence.
    before = labels[t - 1] if t else -2
    after = labels[t + 1] if t + 1 < len(labels) else None

    def legal(j):
        ahead = forbidden[-1, j] if after is None else forbidden[j, after]
        return forbidden[before, j] == 0 and ahead == 0

    return [j for j in rivals if legal(j)] or rivals


def _entries(batch, t):
    """Return the features of a token and their values."""
    here = slice(int(batch.indptr[t]), int(batch.indptr[t + 1]))
    features = batch.indices[here].tolist()
    if batch.values is None:
        return [(feature, 1.0) for feature in features]
    return list(zip(features, batch.values[here].tolist(), strict=True))


def _steps(names, scored, t):
    """Return the features of the step into a token: names, numbers and values."""
    if scored.edges is None:
        return []
    decoder, found = scored.decoder, []
    for feature, x in _entries(scored.edges, t):
        edge = (feature - decoder.first_edge) // decoder.n_labels
        name = names[int(decoder.edges[edge])].removeprefix(EDGE_MARK)
        found.append((name, feature, x))
    return found


def _weighed(classes, names, scored, labels, t, border_rows):
    """Return a function: label at token t -> list of (name, cell, value).

    A cell is the (row, column) of a weight in the belief.
    """
    row_of, entries = scored.decoder.belief.row_of, _entries(scored.batch, t)
    before = labels[t - 1] if t else None
    after = labels[t + 1] if t + 1 < len(labels) else None
    into = _steps(names, scored, t)
    out = [] if after is None else _steps(names, scored, t + 1)

    def cells(label):
        for feature, x in entries:
            # The one feature beyond those with a name.
            name = names[feature] if feature < len(names) else "nothing known"
            yield name, (int(row_of[feature]), label), x
        if before is not None:
            yield f"after {classes[before]}", (before, label), 1.0
        if after is not None:
            yield f"before {classes[after]}", (label, after), 1.0
        for name, step, x in into:
            cell = int(row_of[step + before]), label
            yield f"after {classes[before]} & {name}", cell, x
        for name, step, x in out:
            cell = int(row_of[step + label]), after
            yield f"before {classes[after]} & {name}", cell, x
        if border_rows is not None and before is None:
            yield "first", (border_rows[0], label), 1.0
        if border_rows is not None and after is None:
            yield "last", (border_rows[1], label), 1.0

    return cells


def _explain_token(belief, classes, label, rivals, cells):
    if not rivals:
        return TokenExplanation(classes[label], None, np.inf, 0.0, ())
    weight = _reader(belief.weights, belief.width)
    variance = _reader(belief.variance, belief.width)

    def score(of):
        return sum(x * weight(cell) for _, cell, x in cells(of))

    rival = max(rivals, key=score)
    parts, share = [], {}
    for (name, mine, x), (_, theirs, _) in zip(cells(label), cells(rival), strict=True):
        spread = variance(mine) + variance(theirs)
        value = x * (weight(mine) - weight(theirs))
        parts.append(Contribution(name, value, abs(x) * spread**0.5))
        # One weight may count twice, or for both labels.
        share[mine] = share.get(mine, 0.0) + x
        share[theirs] = share.get(theirs, 0.0) - x
    parts.sort(key=lambda part: -abs(part.value))
    return TokenExplanation(
        classes[label],
        classes[rival],
        sum(part.value for part in parts),
        sum(x * x * variance(cell) for cell, x in share.items()) ** 0.5,
        tuple(parts),
    )


def _reader(flat, width):
    """Return a function: cell -> number in double precision, 0 where there is none."""
    if flat is None:
        return lambda cell: 0.0
    return lambda cell: float(flat[cell[0] * width + cell[1]])
