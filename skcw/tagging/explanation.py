"""Explanations of labels: how much each feature contributed."""

from functools import partial
from numbers import Integral
from typing import NamedTuple

import numpy as np

from skcw._util.text_table import Table, shown_token
from skcw.data.columns import TokenColumns
from skcw.data.edges import EDGE_MARK
from skcw.data.schemes import parse_label

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
        the token before. Where the rival needs other labels at its neighbors, too,
        "before A / B" has both, and "w=Madrid at +1" is a feature of the next token.
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
        The best other label; None when there is no other legal one.
    margin : float
        How far the best legal labeling with the rival at this token is behind the
        predicted one, which is the sum of the contributions. Never negative, except
        by the rounding of scores.
    std : float
        The standard deviation of the margin; 0 for learners without variance. Weights
        that were never updated have the largest one, so it exceeds most margins: it
        ranks decisions by how rare their features are, and gives no probability.
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
    first : int, default=0
        The place of the first one in its sequence.

    Examples
    --------
    >>> from skcw.tagging.explanation import Contribution, Explanations
    >>> from skcw.tagging.explanation import TokenExplanation
    >>> parts = (Contribution("w=Madrid", 1.5, 0.2),)
    >>> Explanations([TokenExplanation("LOC", "ORG", 1.5, 0.2, parts)], ["Madrid"])
      at  word    label    rival      margin  decided by
    ----  ------  -------  -------  --------  --------------
       0  Madrid  LOC      ORG         1.500  w=Madrid +1.50
    """

    def __init__(self, explanations=(), tokens=(), first=0):
        super().__init__(explanations)
        self.tokens = [shown_token(token) for token in tokens]
        self.first = first

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
                ", ".join(
                    f"{part.feature} {part.value:+.2f}"
                    for part in one.contributions[:NAMED]
                ),
            )
            for at, (word, one) in enumerate(
                zip(words, self, strict=False), start=self.first
            )
        ]
        headers = ["at", "word", "label", "rival", "margin", "decided by"]
        return Table(headers, rows, [None, None, None, None, ".3f", None])

    def __repr__(self):
        return repr(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()


def given_tokens(sequence):
    """Return the tokens of a sequence where these can be shown, or none."""
    if isinstance(sequence, TokenColumns):
        return sequence[0]
    return sequence if isinstance(sequence, (list, tuple)) else ()


def with_tokens(explained, sequence, token):
    """Return explanations with the tokens that they are of, for their table."""
    tokens = given_tokens(sequence)
    if token is None:
        return Explanations(explained, tokens)
    return Explanations(explained, tokens[token : token + 1], token)


def explain_sequence(
    classes, names, scored, *, token=None, against=None, border_rows=None
):
    """Explain every token of the one sequence of a batch, or one of them.

    Parameters
    ----------
    classes : list of str
        The labels.
    names : sequence of str
        The feature names.
    scored : ScoredBatch
        One sequence under the model.
    token : int, default=None
        The token to explain; None explains all.
    against : str, default=None
        The rival of that token: a label, or a type whose best label is meant.
    border_rows : pair of int or None, default=None
        The rows of the weights for the first and for the last token, if there are any.

    Returns
    -------
    explanations : list of TokenExplanation
        One per token, contributions from the largest to the smallest in size.
    """
    if token is None and against is not None:
        raise ValueError("against is the rival of one token: give token, too")
    tokens = range(scored.n_tokens)
    is_place = isinstance(token, Integral) and not isinstance(token, bool)
    if token is not None and not (is_place and token in tokens):
        raise ValueError(
            f"token is {token!r}; the sequence has {len(tokens)} tokens, the first is 0"
        )
    paths = LegalPaths(scored)
    compare = partial(_differences, classes, names, scored, border_rows)
    return [
        _explain_token(
            scored.decoder.belief,
            classes,
            paths.labels,
            _rival_path(classes, paths, t, against),
            t,
            compare,
        )
        for t in (tokens if token is None else [token])
    ]


class LegalPaths:
    """The best legal labelings with any label at any token of one sequence.

    Parameters
    ----------
    scored : ScoredBatch
        One sequence under the model.
    """

    def __init__(self, scored):
        n, width = scored.n_labels, scored.decoder.belief.width
        self.labels = scored.viterbi()[0].tolist()
        scores = self.tokens = scored.scores[:, :n].astype(np.float64)
        squares = scored.transitions.reshape(-1, width, width)[:, :n, :n]
        self.steps = np.broadcast_to(squares, (len(scores), n, n))
        # The best score of the tokens up to this one, and of those after it.
        self.before, self.after = scores.copy(), np.zeros_like(scores)
        for t in range(1, len(scores)):
            self.before[t] += (self.before[t - 1][:, None] + self.steps[t]).max(axis=0)
        for t in range(len(scores) - 2, -1, -1):
            ahead = self.after[t + 1] + scores[t + 1]
            self.after[t] = (self.steps[t + 1] + ahead).max(axis=1)

    def scores(self, t):
        """Return the score of the best labeling with each label at a token."""
        return self.before[t] + self.after[t]

    def through(self, t, label):
        """Return the best labeling with a label at a token."""
        path = [*self.labels]
        path[t] = label
        # Where it meets the predicted labeling, it need not leave it again.
        for s in range(t - 1, -1, -1):
            path[s] = self._best(self.before[s] + self.steps[s + 1][:, path[s + 1]], s)
            if path[s] == self.labels[s]:
                break
        for s in range(t + 1, len(path)):
            ahead = self.steps[s][path[s - 1]] + self.tokens[s] + self.after[s]
            path[s] = self._best(ahead, s)
            if path[s] == self.labels[s]:
                break
        return path

    def _best(self, scores, s):
        """Return the best label at a token, of equal ones the predicted one."""
        best = int(scores.argmax())
        return self.labels[s] if scores[self.labels[s]] >= scores[best] else best


def _rival_path(classes, paths, t, against):
    """Return the best legal labeling with another label at token t; None if none."""
    scores, mine = paths.scores(t), paths.labels[t]
    rivals = [j for j in range(len(classes)) if j != mine]
    if against is not None:
        rivals = [j for j, label in enumerate(classes) if label == against]
        rivals = rivals or [
            j for j, label in enumerate(classes) if parse_label(label)[1] == against
        ]
        if not rivals:
            raise ValueError(
                f"against is {against!r}, which is neither a label nor a type of "
                f"labels; labels are {', '.join(classes)}"
            )
        if mine in rivals:
            raise ValueError(f"token {t} is labeled {classes[mine]!r} already")
    rivals = [j for j in rivals if np.isfinite(scores[j])]
    if against is not None and not rivals:
        raise ValueError(f"the constraints do not allow {against!r} at token {t}")
    return paths.through(t, max(rivals, key=scores.__getitem__)) if rivals else None


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


def _differences(classes, names, scored, border_rows, mine, theirs, at):
    """Yield (name, cell, cell of the other, value) where two labelings differ.

    A cell is the (row, column) of a weight in the belief; names are as seen from the
    token `at`.
    """
    row_of, last = scored.decoder.belief.row_of, len(mine) - 1
    for t in range(len(mine)):
        place = f" at {t - at:+d}" if t != at else ""
        if mine[t] != theirs[t]:
            for feature, x in _entries(scored.batch, t):
                # The one feature beyond those with a name.
                name = names[feature] if feature < len(names) else "nothing known"
                row = int(row_of[feature])
                yield name + place, (row, mine[t]), (row, theirs[t]), x
            for name, end, row in zip(
                ("first", "last"), (0, last), border_rows or (), strict=False
            ):
                if t == end:
                    yield name + place, (row, mine[t]), (row, theirs[t]), 1.0
        if not t:
            continue
        one, other = (mine[t - 1], mine[t]), (theirs[t - 1], theirs[t])
        if one != other:
            step = _step_name(classes, one, other, t - at)
            yield step, one, other, 1.0
            for name, row, x in _steps(names, scored, t):
                cells = [(int(row_of[row + a]), b) for a, b in (one, other)]
                yield f"{step} & {name}", *cells, x


def _step_name(classes, one, other, distance):
    """Return the name of the transitions of two labelings, as a token sees them."""
    if distance in (0, 1):
        labels = dict.fromkeys(classes[pair[distance]] for pair in (one, other))
        return f"{('after', 'before')[distance]} {' / '.join(labels)}"
    steps = (" > ".join(classes[j] for j in pair) for pair in (one, other))
    return f"{' / '.join(steps)} at {distance:+d}"


def _explain_token(belief, classes, labels, rival, at, compare):
    label = classes[labels[at]]
    if rival is None:
        return TokenExplanation(label, None, np.inf, 0.0, ())
    weight = _reader(belief.weights, belief.width)
    variance = _reader(belief.variance, belief.width)
    parts, share = [], {}
    for name, mine, theirs, x in compare(labels, rival, at):
        spread = variance(mine) + variance(theirs)
        value = x * (weight(mine) - weight(theirs))
        parts.append(Contribution(name, value, abs(x) * spread**0.5))
        # One weight may count twice, or for both labels.
        share[mine] = share.get(mine, 0.0) + x
        share[theirs] = share.get(theirs, 0.0) - x
    parts.sort(key=lambda part: -abs(part.value))
    return TokenExplanation(
        label,
        classes[rival[at]],
        sum(part.value for part in parts),
        sum(x * x * variance(cell) for cell, x in share.items()) ** 0.5,
        tuple(parts),
    )


def _reader(flat, width):
    """Return a function: cell -> number in double precision, 0 where there is none."""
    if flat is None:
        return lambda cell: 0.0
    return lambda cell: float(flat[cell[0] * width + cell[1]])
