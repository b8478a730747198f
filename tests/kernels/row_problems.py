"""Random rows and tables in the form that the kernels of flat rows take."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcw._kernels.row_passes import (
    arow_row_pass,
    cw_row_pass,
    pa_row_pass,
    perceptron_row_pass,
)
from tests.reference import rows as twin
from tests.reference import steps

# One column for two classes; padding of one column, of none, of three; many blocks.
LABEL_COUNTS = (2, 3, 4, 5, 9, 37)
# The exact update stops when no constraint fails by more than a millionth; the
# weights are then as near to the solution, give or take a digit.
HILDRETH = 1e-5


class Rows(NamedTuple):
    """Rows as the kernels read them."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    bias: int
    gold: np.ndarray
    weight: np.ndarray | None = None
    class_factor: np.ndarray | None = None

    def as_type(self, dtype):
        return self._replace(values=self.values.astype(dtype))


def compressed(X, gold, *, intercept=True, **more):
    """Return dense rows as the kernels read them."""
    X = sparse.csr_array(X)
    return Rows(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data.astype(np.float64),
        X.shape[1] if intercept else -1,
        np.asarray(gold, dtype=np.int32),
        **more,
    )


def random_rows(rng, n_rows=12, n_features=6, n_labels=3):
    """Return dense rows with many zeros, and labels."""
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    return X, rng.integers(n_labels, size=n_rows)


class Tables(NamedTuple):
    """What a pass changes: a row per feature and one for the intercept."""

    mean: np.ndarray
    variance: np.ndarray
    drift: np.ndarray
    rounds: float
    n_labels: int

    @property
    def n_columns(self):
        return 1 if self.n_labels == 2 else self.n_labels

    def vector(self, name):
        """Return a table as the twins have it: label by label, without padding."""
        return getattr(self, name)[:, : self.n_columns].T.astype(float).ravel()

    def average(self):
        return self.vector("mean") - self.vector("drift") / self.rounds


def width_of(n_labels):
    return 1 if n_labels == 2 else -(-n_labels // 4) * 4


def start(n_features, n_labels, variance=1.0, dtype=np.float64):
    """Return the tables before any row."""
    shape = n_features + 1, width_of(n_labels)
    zero = np.zeros(shape, dtype)
    return Tables(zero, np.full(shape, variance, dtype), zero.copy(), 0.0, n_labels)


def random_tables(rng, n_features, n_labels, dtype=np.float64):
    """Return a model that has learned something."""
    tables = start(n_features, n_labels, dtype=dtype)
    inside = np.s_[:, : tables.n_columns]
    tables.mean[inside] = 0.5 * rng.normal(size=tables.mean[inside].shape)
    tables.variance[inside] = rng.uniform(0.1, 1.5, size=tables.mean[inside].shape)
    return tables


class Learner(NamedTuple):
    """A kernel with its parameters, and the twin that does the same.

    ``rtol`` is how near they must be with several rivals.
    """

    name: str
    teach: object
    strength: float
    parameters: tuple
    rtol: float = 1e-9

    @property
    def keeps_variance(self):
        return self.name in ("cw", "arow")

    def run(self, tables, rows, k, order=None, side_by_side=False):
        """Train a copy of the tables; return it and the number of wrong rows."""
        order = np.arange(len(rows.gold)) if order is None else np.asarray(order)
        axis = 1 if side_by_side else 0
        mean, variance, drift = np.moveaxis(np.stack(tables[:3], axis), axis, 0)
        given = rows.as_type(mean.dtype), order.astype(np.int64), tables.n_labels
        since = drift, tables.rounds, *given
        if self.name == "cw":
            done = cw_row_pass(mean, variance, *since, k, *self.parameters)
        elif self.name == "arow":
            done = arow_row_pass(mean, variance, *since, k, *self.parameters)
        elif self.name == "pa":
            done = pa_row_pass(mean, None, *since, k, *self.parameters)
        else:
            done = perceptron_row_pass(mean, None, *since)
        return Tables(mean, variance, drift, done[0], tables.n_labels), done[1]

    def run_twin(
        self, tables, X, gold, k, weight=None, intercept=True, class_factor=None
    ):
        """Return mean, variance and average of the twin."""
        # Without an intercept its weight stands beside a feature that is never there.
        X = np.column_stack([X, np.full(len(X), float(intercept))])
        weight = np.ones(len(X)) if weight is None else weight
        return twin.learn(
            tables.vector("mean"),
            tables.vector("variance"),
            list(zip(X, gold, weight, strict=True)),
            self.teach,
            self.strength,
            tables.n_labels,
            k,
            class_factor,
        )


def cw(update="sequential", step="variance", diagonal="precision", phi=0.8):
    """Return confidence-weighted learning and its twin."""
    solve = {"variance": steps.variance_step, "stdev": steps.cw_step}[step]
    if update == "exact" or diagonal == "optimal":
        teach = {"variance": twin.exact_variance, "stdev": twin.exact_stdev}[step]
    else:
        teach = MANNERS[update](solve, diagonal)
    rtol = HILDRETH if update == "exact" else 1e-9
    return Learner("cw", teach, phi, (phi, update, step, diagonal), rtol)


def soft_cw(update, step, diagonal, phi=0.8, budget=0.6, prior=0.4):
    """Return CW with a step that is cut, and its twin."""
    solve = {"variance": steps.soft_variance_step, "stdev": steps.soft_cw_step}[step]
    rival = twin.soft_rival(solve, diagonal, budget, prior)
    teach = SOFT_MANNERS[update](rival)
    return Learner("cw", teach, phi, (phi, update, step, diagonal, budget, prior))


def arow(update="sequential", diagonal="precision", r=0.7):
    """Return AROW and its twin."""

    def solve(m, v, strength):
        return steps.arow_step(m, v, 1.0, strength)

    teach = twin.exact_arow
    if update != "exact":
        teach = MANNERS[update](solve, diagonal)
    return Learner("arow", teach, r, (r, update, diagonal))


MANNERS = {
    "sequential": twin.sequential,
    "parallel": twin.parallel,
    "joint": twin.joint,
}
SOFT_MANNERS = {
    "sequential": twin.in_turn,
    "parallel": twin.at_once,
    "joint": twin.jointly,
}
APPROXIMATE = (
    {
        f"CW {update} {step} {diagonal}": cw(update, step, diagonal)
        for update in MANNERS
        for step in ("variance", "stdev")
        for diagonal in ("covariance", "precision")
    }
    | {
        f"soft CW {update} {step}": soft_cw(update, step, "precision")
        for update in MANNERS
        for step in ("variance", "stdev")
    }
    | {
        f"AROW {update} {diagonal}": arow(update, diagonal)
        for update in ("sequential", "parallel")
        for diagonal in ("covariance", "precision")
    }
)
EXACT_UPDATES = {
    "CW exact variance": cw("exact", "variance"),
    "CW exact stdev": cw("exact", "stdev"),
    "AROW exact": arow("exact"),
}
GAUSSIAN = APPROXIMATE | EXACT_UPDATES
PLAIN = {
    "PA": Learner("pa", twin.pa, 0.3, (0.3,)),
    "perceptron": Learner("perceptron", twin.perceptron, 1.0, ()),
}
LEARNERS = GAUSSIAN | PLAIN
