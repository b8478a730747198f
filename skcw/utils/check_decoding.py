"""Laws of decoding, checked against all labelings of short sequences."""

from itertools import product

import numpy as np

from skcw.data.schemes import transition_constraints
from skcw.utils.laws import (
    has_free_labels,
    is_linear,
    law,
    make_tagged,
    one_token_each,
    outputs,
    prepared,
    require,
    unlimited,
)


class Lattice:
    """Scores of all labelings, from the weights that a fitted tagger shows.

    The weights are ``coef_`` and ``transition_coef_`` with ``feature_names_``, or the
    mappings ``state_features_`` and ``transition_features_`` of sklearn-crfsuite. Where
    there is ``border_coef_`` too, its rows are for the first and for the last token.

    Parameters
    ----------
    tagger : estimator
        The fitted tagger.
    """

    def __init__(self, tagger):
        self.labels = list(tagger.classes_)
        params = tagger.get_params(deep=False)
        constraints = params.get("constraints")
        if isinstance(constraints, str) and constraints == "auto":
            constraints = tagger.constraints_
        self.forbidden = transition_constraints(constraints, self.labels)
        if hasattr(tagger, "coef_"):
            self.rows = dict(zip(tagger.feature_names_, tagger.coef_, strict=True))
            self.links = np.asarray(tagger.transition_coef_, dtype=np.float64)
        else:
            self._read_named(tagger)
        none = np.zeros((2, len(self.labels)))
        self.borders = np.asarray(getattr(tagger, "border_coef_", none), np.float64)
        single = np.asarray(next(iter(self.rows.values()))).dtype == np.float32
        self.tolerance = 1e-5 if single else 1e-9

    def _read_named(self, tagger):
        place = {label: j for j, label in enumerate(self.labels)}
        self.rows, self.links = {}, np.zeros((len(place), len(place)))
        for (name, label), weight in tagger.state_features_.items():
            row = self.rows.setdefault(name, np.zeros(len(place)))
            row[place[label]] = weight
        for (before, after), weight in tagger.transition_features_.items():
            self.links[place[before], place[after]] = weight

    def tokens(self, sequence):
        """Return the score of every label at every token."""
        scores = np.zeros((len(sequence), len(self.labels)))
        for t, token in enumerate(sequence):
            for name, value in token.items():
                scores[t] += value * np.asarray(self.rows.get(name, 0.0), np.float64)
        return scores

    def labelings(self, sequence):
        """Return all legal labelings as numbers, and their scores."""
        codes = np.array(
            list(product(range(len(self.labels)), repeat=len(sequence))), dtype=int
        )
        total = self.tokens(sequence)[np.arange(len(sequence)), codes].sum(axis=1)
        total += self.links[codes[:, :-1], codes[:, 1:]].sum(axis=1)
        total += self.borders[0, codes[:, 0]] + self.borders[1, codes[:, -1]]
        if self.forbidden is not None:
            total += self.forbidden[codes[:, :-1], codes[:, 1:]].sum(axis=1)
            total += self.forbidden[-2, codes[:, 0]] + self.forbidden[-1, codes[:, -1]]
        legal = np.isfinite(total)
        return codes[legal], total[legal]

    def named(self, codes):
        """Return a labeling by the names of its labels."""
        return [str(self.labels[code]) for code in codes]


def short_sequences(tagger, seed=1):
    """Return a fitted tagger and short sequences that it has not seen."""
    train = make_tagged(tagger, longest=5, valued=True)
    fitted = prepared(tagger, min_count=1).fit(*train)
    unseen = make_tagged(tagger, seed, n_sequences=6, longest=4, valued=True, noise=0.4)
    return fitted, unseen.X


@law(methods=("predict_nbest",))
def check_the_best_labeling_is_the_predicted_one(tagger):
    """Give distinct labelings, best first, the predicted one before all others."""
    tagger, X = short_sequences(tagger)
    best = tagger.predict_nbest(X, 1)
    several = tagger.predict_nbest(X, 8)
    for s, labels in enumerate(tagger.predict(X)):
        require(len(best[s]) == 1, f"predict_nbest(n=1) of {s} gives {len(best[s])}")
        require(best[s][0][0] == labels, f"the best of {s} is not the predicted one")
        require(several[s][0] == best[s][0], f"n changed the best labeling of {s}")
        found = [tuple(labels) for labels, _ in several[s]]
        require(len(set(found)) == len(found), f"a labeling of {s} comes twice")
        scores = [score for _, score in several[s]]
        require(sorted(scores, reverse=True) == scores, f"{scores} is not best first")
    for n in (0, -1, 1.5, None, "2"):
        _require_refused(tagger, X, n)


def _require_refused(tagger, X, n):
    try:
        tagger.predict_nbest(X, n)
    except (TypeError, ValueError):
        return
    raise AssertionError(f"predict_nbest accepts n={n!r}")


@law(methods=("predict_nbest",), when=is_linear)
def check_nbest_equals_brute_force(tagger):
    """Find the n best of all labelings, and all when there are fewer."""
    tagger, X = short_sequences(tagger)
    lattice = Lattice(tagger)
    for n in (5, 10**6):
        for sequence, row in zip(X, tagger.predict_nbest(X, n), strict=True):
            _require_n_best(lattice, sequence, row, n)


def _require_n_best(lattice, sequence, row, n):
    codes, total = lattice.labelings(sequence)
    require(len(row) == min(n, len(total)), f"{len(row)} labelings for n={n}")
    score_of = {tuple(lattice.named(c)): x for c, x in zip(codes, total, strict=True)}
    mine = np.array([score for _, score in row])
    true = np.array([score_of[tuple(labels)] for labels, _ in row])
    # Scores, or log-probabilities: scores less the logarithm of their summed powers.
    shift = np.logaddexp.reduce(total) if len(total) else 0.0
    scale = lattice.tolerance * max(1.0, np.abs(total).max())
    known = any(np.allclose(mine, true - x, rtol=0, atol=scale) for x in (0.0, shift))
    require(known, f"the scores {mine} are not the labelings' own {true}")
    best = np.sort(total)[::-1][: len(row)]
    require(np.allclose(true, best, rtol=0, atol=scale), "a better labeling is missing")


@law(when=is_linear)
def check_predict_equals_brute_force(tagger):
    """Predict the best of all (legal) labelings."""
    tagger, X = short_sequences(tagger)
    lattice = Lattice(tagger)
    for sequence, labels in zip(X, tagger.predict(X), strict=True):
        codes, total = lattice.labelings(sequence)
        at = [lattice.named(c) for c in codes].index(labels)
        scale = lattice.tolerance * max(1.0, np.abs(total).max())
        require(total[at] >= total.max() - scale, f"{labels} is not the best labeling")


@law()
def check_marginals_sum_to_one(tagger):
    """Give every label a probability, at every token one in all."""
    tagger, X = short_sequences(tagger)
    for row in tagger.predict_marginals(X):
        keys = [list(token) for token in row]
        require(keys == [list(tagger.classes_)] * len(row), "a label has no marginal")
        found = _table(row)
        require((found >= 0).all(), f"a marginal is negative or no number: {found}")
        require(
            np.allclose(found.sum(axis=1), 1.0, rtol=1e-9), "they do not sum to one"
        )


@law(when=is_linear)
def check_marginals_equal_brute_force(tagger):
    """Weigh all labelings by the exponentials of their scores at the temperature."""
    tagger, X = short_sequences(tagger)
    lattice = Lattice(tagger)
    temperature = getattr(tagger, "temperature_", 1.0)
    for sequence, row in zip(X, tagger.predict_marginals(X), strict=True):
        codes, total = lattice.labelings(sequence)
        total = total / temperature
        share = np.exp(total - np.logaddexp.reduce(total))
        true = np.zeros((len(sequence), len(lattice.labels)))
        for t in range(len(sequence)):
            np.add.at(true[t], codes[:, t], share)
        near = np.allclose(_table(row), true, rtol=0, atol=lattice.tolerance)
        require(near, f"the marginals are {_table(row)} instead of {true}")


def _table(marginals):
    return np.array([list(token.values()) for token in marginals])


def _is_linear_and_free(tagger, example):
    return is_linear(tagger, example) and has_free_labels(tagger)


@law(when=_is_linear_and_free)
def check_without_transitions_tokens_are_independent(tagger):
    """Choose the best label of each token for itself where transitions weigh nothing.

    Sequences of one token have no transitions to learn from, and tagging one is the
    decision of a multi-class classifier. Where the first token has weights of its own,
    such as the logarithms of shares of labels, those of transitions are the same.
    """
    train = one_token_each(make_tagged(tagger, valued=True))
    tagger = unlimited(tagger, min_count=1).fit(*train)
    lattice = Lattice(tagger)
    first = lattice.borders[0]
    idle = np.allclose(lattice.links, first, rtol=1e-9, atol=0.0)
    require(idle, "transitions have a weight no sequence gave them")
    X = make_tagged(tagger, seed=2, valued=True, noise=0.4).X
    for sequence, labels in zip(X, tagger.predict(X), strict=True):
        alone = [row[0] for row in tagger.predict([[token] for token in sequence])]
        require(labels == alone, "the label of a token depends on its neighbors")
        scores = lattice.tokens(sequence) + first
        chosen = scores[np.arange(len(labels)), [*map(lattice.labels.index, labels)]]
        near = np.allclose(chosen, scores.max(axis=1), rtol=0, atol=1e-4)
        require(near, f"{labels} are not the labels with the highest scores")


@law(methods=("encode",))
def check_encoded_sequences_give_the_same_rows(tagger):
    """Predict the same from ``encode(X)``, whole or in slices, as from X."""
    tagger, X = short_sequences(tagger)
    batch = tagger.encode(X)
    said = outputs(tagger, X)
    require(outputs(tagger, batch) == said, "encode changed the answers")
    turned = {name: rows[::-1] for name, rows in said.items()}
    require(outputs(tagger, batch[::-1]) == turned, "a slice changed the answers")
