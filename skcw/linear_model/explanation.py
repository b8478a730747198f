"""Why a classifier gives a row its label: what each feature adds to the margin."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from skcw._util.text_table import Table

# How many features are shown.
SHOWN = 15


class RowExplanation(NamedTuple):
    """The decision about one row: its label, a rival, and what each feature adds.

    Parameters
    ----------
    label : object
        The predicted label.
    rival : object
        The label that it is compared with: the one with the next best score, unless
        another was asked for.
    margin : float
        By how much the score of the label by the mean weights is larger, which is the
        sum of the contributions.
    contributions : tuple of (str, float)
        The features of the row and what they add to the margin, the largest first.

    Examples
    --------
    >>> from skcw.linear_model.explanation import RowExplanation
    >>> RowExplanation("spam", "ham", 0.5, (("free", 0.75), ("intercept", -0.25)))
    spam rather than ham      adds
    ----------------------  ------
    free                    +0.750
    intercept               -0.250
    margin                  +0.500
    """

    label: Any
    rival: Any
    margin: float
    contributions: tuple

    def table(self):
        """Return the explanation as a table.

        Returns
        -------
        table : Table
            The features that decide most.
        """
        rows = list(self.contributions[:SHOWN])
        if rest := self.contributions[SHOWN:]:
            rows.append((f"{len(rest)} more", sum(value for _, value in rest)))
        headers = [f"{self.label} rather than {self.rival}", "adds"]
        return Table(headers, [*rows, ("margin", self.margin)], [None, "+.3f"])

    def __repr__(self):
        return repr(self.table())

    def _repr_html_(self):
        return self.table()._repr_html_()


def explain_row(model, X, against, names):
    """Explain the label of the only row of X.

    Parameters
    ----------
    model : estimator
        The fitted classifier.
    X : {array-like, sparse matrix} of shape (1, n_features)
        The row.
    against : object
        The label to compare with; None is the one with the next best score.
    names : array-like of str or None
        The names of the columns.

    Returns
    -------
    explanation : RowExplanation
        The contributions.
    """
    scores, classes = model.decision_function(X), model.classes_
    if len(scores) != 1:
        raise ValueError(f"explain takes one row, got {len(scores)}")
    weights, constants = model.coef_, model.intercept_
    if scores.ndim == 1:
        # Two classes have half of their difference each.
        halves = np.array([-0.5, 0.5])
        scores = scores[:, None] * halves
        weights, constants = halves[:, None] * weights, halves * constants
    mine = int(scores[0].argmax())
    rival = _rival(classes, scores[0], mine, against)
    row = sparse.csr_array(X)
    lead = weights[mine, row.indices] - weights[rival, row.indices]
    added = (row.data * lead.astype(np.float64)).tolist()
    found = [_name(names, column) for column in row.indices.tolist()]
    parts = [*zip(found, added, strict=True)]
    if model.fit_intercept:
        parts.append(("intercept", float(constants[mine] - constants[rival])))
    parts.sort(key=lambda part: -abs(part[1]))
    margin = sum(value for _, value in parts)
    return RowExplanation(classes[mine], classes[rival], margin, tuple(parts))


def _name(names, column):
    return f"x{column}" if names is None else str(names[column])


def _rival(classes, scores, mine, against):
    """Return the code of the label to compare with."""
    if against is None:
        if len(classes) < 2:
            raise ValueError(f"there is no label besides {classes[mine]!r}")
        others = np.arange(len(classes)) != mine
        return int(np.flatnonzero(others)[scores[others].argmax()])
    found = np.flatnonzero(classes == against)
    if not len(found):
        known = ", ".join(map(str, classes))
        raise ValueError(f"against is {against!r}, which is none of {known}")
    if found[0] == mine:
        raise ValueError(f"the row is labeled {against!r} already")
    return int(found[0])
