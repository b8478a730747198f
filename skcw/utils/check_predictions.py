"""Laws of decoding and confidence, checked against all labelings of short sequences."""

from itertools import product

import numpy as np
from sklearn.base import clone

from skcw.confidence.tallies import SPAN_EVENTS
from skcw.data.schemes import extract_spans, transition_constraints
from skcw.utils.laws import (
    has_free_labels,
    is_linear,
    law,
    make_tagged,
    one_token_each,
    outputs,
    prepared,
    require,
    require_error,
    unlimited,
    weights,
)


class Lattice:
    """Scores of all labelings, from the weights that a fitted tagger shows.

    The weights are ``coef_`` and ``transition_coef_`` with ``feature_names_``. Where
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
        self.rows = dict(zip(tagger.feature_names_, tagger.coef_, strict=True))
        self.links = np.asarray(tagger.transition_coef_, dtype=np.float64)
        none = np.zeros((2, len(self.labels)))
        self.borders = np.asarray(getattr(tagger, "border_coef_", none), np.float64)
        single = np.asarray(next(iter(self.rows.values()))).dtype == np.float32
        self.tolerance = 1e-5 if single else 1e-9

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
        require_error("", f"predict_nbest with n={n!r}", tagger.predict_nbest, X, n)


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


# Sums in another order differ by this much, in single precision.
SUM_TOLERANCE = 1e-5


def _answers(tagger, X):
    """Yield (method, whether it gives probabilities, rows) of all methods served."""
    yield "the default method", False, tagger.predict_confidence(X)
    for name, method in tagger.confidence_methods_.items():
        yield name, method.probability, tagger.predict_confidence(X, name)


@law()
def check_every_token_has_a_confidence(tagger):
    """Give a finite, non-negative number per token, none to an empty sequence."""
    tagger, X = short_sequences(tagger)
    # Constraints may leave a token no other label at all.
    bound = getattr(tagger, "constraints_", None) is not None
    for name, probability, rows in _answers(tagger, [[], *X]):
        sizes = [len(row) for row in rows]
        require(sizes == [0, *map(len, X)], f"{name} gives {sizes} numbers")
        require(all(row.dtype == np.float64 for row in rows), f"{name} is not float64")
        flat = np.concatenate(rows)
        require((flat >= 0).all(), f"{name} is negative or no number: {rows}")
        require(bound or np.isfinite(flat).all(), f"{name} is not finite: {rows}")
        below = not probability or (flat <= 1).all()
        require(below, f"{name} is not a probability: {rows}")


@law()
def check_confidence_depends_on_the_sequence_alone(tagger):
    """Give equal confidence again, in another order, and to each sequence by itself."""
    tagger, X = short_sequences(tagger)

    def said(X):
        return {name: rows for name, _, rows in _answers(tagger, X)}

    backwards, pieces = said(X[::-1]), [said([sequence]) for sequence in X]
    for name, rows in said(X).items():
        for s, row in enumerate(rows):
            same = np.array_equal(row, backwards[name][len(X) - 1 - s])
            require(same, f"{name} of {s} depends on the order of sequences")
            same = np.array_equal(row, pieces[s][name][0])
            require(same, f"{name} of {s} depends on the sequences beside it")


def _serves_delta_max(tagger, example):
    served = "delta-max" in getattr(example, "confidence_methods_", {})
    return served and is_linear(tagger, example)


@law(when=_serves_delta_max)
def check_delta_max_is_the_distance_to_the_best_rival(tagger):
    """Measure how far the best labeling with another label at a word is behind."""
    tagger, X = short_sequences(tagger)
    lattice = Lattice(tagger)
    labels = tagger.predict(X)
    for s, row in enumerate(tagger.predict_confidence(X, method="delta-max")):
        codes, total = lattice.labelings(X[s])
        scale = lattice.tolerance * max(1.0, np.abs(total).max())
        for t, label in enumerate(labels[s]):
            other = codes[:, t] != lattice.labels.index(label)
            rival = total[other].max() if other.any() else -np.inf
            near = np.isclose(row[t], total.max() - rival, rtol=0, atol=2 * scale)
            require(near, f"delta-max of sequence {s}, token {t} is {row[t]}")


@law(methods=("explain",), when=is_linear)
def check_explanations_name_the_best_legal_rival(tagger):
    """Compare each label with the best legal labeling that has another one there."""
    tagger, X = short_sequences(tagger)
    lattice = Lattice(tagger)
    for s, sequence in enumerate(X):
        codes, total = lattice.labelings(sequence)
        scale = 2 * lattice.tolerance * max(1.0, np.abs(total).max())
        for t, why in enumerate(tagger.explain(sequence)):
            place = f"token {t} of sequence {s}"
            other = codes[:, t] != lattice.labels.index(why.label)
            best = total[other].max() if other.any() else -np.inf
            near = np.isclose(why.margin, total.max() - best, rtol=0, atol=scale)
            require(near, f"the margin at {place} is {why.margin}")
            require(why.margin >= -scale, f"the margin at {place} is negative")
            require((why.rival is None) == (not other.any()), f"no rival at {place}")
            added = sum(part.value for part in why.contributions)
            summed = why.rival is None or np.isclose(added, why.margin, atol=scale)
            require(summed, f"contributions at {place} sum to {added}")


@law()
def check_entities_agree_with_labels(tagger):
    """Give the spans of the predicted labels, with the least confidence of a token."""
    tagger, X = short_sequences(tagger)
    rows = zip(
        tagger.predict_entities(X),
        tagger.predict(X),
        tagger.predict_confidence(X),
        strict=True,
    )
    for entities, labels, confidence in rows:
        spans = [(span.label, span.start, span.end) for span in extract_spans(labels)]
        found = [(e.label, e.start, e.end) for e in entities]
        require(found == spans, f"{found} are not the entities of {labels}")
        for e in entities:
            least = confidence[e.start : e.end].min()
            require(e.confidence == least, "an entity exceeds its tokens")


def _serves_spans(tagger, example):
    methods = getattr(example, "confidence_methods_", {}).values()
    return any(m.spans for m in methods) and any(m.sequences for m in methods)


@law(when=_serves_spans)
def check_the_more_must_be_right_the_less_sure_it_is(tagger):
    """Order confidence: a sequence below its entities, and they below tokens."""
    tagger, X = short_sequences(tagger)
    found = {event: tagger.predict_entities(X, event) for event in SPAN_EVENTS}
    whole = tagger.predict_sequence_confidence(X)
    good = whole.shape == (len(X),) and ((whole >= 0) & (whole <= 1)).all()
    require(good, f"the confidence in whole sequences is {whole}")
    for s in range(len(X)):
        rows = {name: entities[s] for name, entities in found.items()}
        spans = {name: [e[:3] for e in row] for name, row in rows.items()}
        equal = all(row == spans["least-word"] for row in spans.values())
        require(equal, "the event that confidence is about changes the entities")
        sure = {name: np.array([e[3] for e in row]) for name, row in rows.items()}
        for less, more in (("all-words", "least-word"), ("exact", "boundary")):
            good = (sure[less] <= sure[more] + SUM_TOLERANCE).all()
            require(good, f"by {less} an entity is more confident than by {more}")
            good = (whole[s] <= sure[less] + SUM_TOLERANCE).all()
            require(good, f"a sequence is more confident than an entity by {less}")


def _serves_tuning(tagger, example):
    methods = getattr(example, "confidence_methods_", {})
    default = getattr(example, "default_method_", None)
    return hasattr(tagger, "fit_confidence") and bool(methods[default].tunes)


@law(when=_serves_tuning)
def check_fitting_confidence_changes_confidence_alone(tagger):
    """Choose parameters of a method, but leave labels and weights as they are."""
    train = make_tagged(tagger, noise=0.5)
    tagger = prepared(tagger, min_count=1).fit(*train)
    X, y = make_tagged(tagger, seed=1, noise=0.5)
    before = weights(tagger), outputs(tagger, X)
    sure = before[1].pop("predict_confidence")
    # Marginals are one of the methods, so they may change with it.
    before[1].pop("predict_marginals", None)
    done = tagger.fit_confidence(X, y, metric="log_loss")
    require(done is tagger, "fit_confidence does not return self")
    after = outputs(tagger, X)
    changed = after.pop("predict_confidence")
    after.pop("predict_marginals", None)
    require(after == before[1], "fit_confidence changed other answers")
    for name, array in weights(tagger).items():
        same = np.array_equal(array, before[0][name])
        require(same, f"fit_confidence changed {name}")
    require(changed != sure, "fit_confidence changed no confidence")
    require(not hasattr(clone(tagger), "confidence_"), "clone keeps confidence_")
    again = prepared(tagger).fit(*train)
    tagger.fit(*train)
    require(outputs(tagger, X) == outputs(again, X), "fit keeps an old confidence")


@law()
def check_one_object_answers_what_single_calls_do(tagger):
    """Give by ``predict_all`` the very answers that the methods give one by one."""
    tagger, X = short_sequences(tagger)
    X = [[], *X]
    answers, y = tagger.predict_all(X), tagger.predict(X)
    judge = next(n for n, m in tagger.confidence_methods_.items() if m.any_label)
    pairs = {
        "labels": (answers.labels(), y),
        "confidence": (answers.confidence(), tagger.predict_confidence(X)),
        "entities": (answers.entities(), tagger.predict_entities(X)),
        "nbest": (answers.nbest(2), tagger.predict_nbest(X, 2)),
        "marginals": (answers.marginals(), tagger.predict_marginals(X)),
        "predict_label_confidence": (
            answers.label_confidence(y, judge),
            tagger.predict_label_confidence(X, y, judge),
        ),
    }
    for name, (one, other) in pairs.items():
        plain = one.shape == (len(X),) and one.dtype == object
        require(plain, f"{name} is not a 1-D object array: {one!r}")
        same = all(str(a) == str(b) for a, b in zip(one, other, strict=True))
        require(same, f"{name} of predict_all differs from the single call")
    require(answers.lengths.tolist() == [len(x) for x in X], "lengths are wrong")


@law()
def check_a_table_holds_the_confidence_of_every_label(tagger):
    """Judge all labels at once as ``predict_label_confidence`` judges each."""
    tagger, X = short_sequences(tagger)
    answers = tagger.predict_all(X)
    able = [n for n, m in tagger.confidence_methods_.items() if m.any_label]
    for name in able:
        table = answers.label_table(name)
        shape = (int(answers.lengths.sum()), len(answers.classes))
        require(table.shape == shape, f"the table of {name} has shape {table.shape}")
        for code, label in enumerate(answers.classes):
            rows = tagger.predict_label_confidence(
                X, [[label] * len(x) for x in X], name
            )
            flat = np.concatenate([np.empty(0), *rows])
            same = np.allclose(table[:, code], flat, rtol=0, atol=SUM_TOLERANCE)
            require(same, f"{name} of {label} differs in a table")


@law()
def check_what_is_not_served_is_named(tagger):
    """Name in ``confidence_methods_`` all methods there are, and refuse any other."""
    tagger, X = short_sequences(tagger)
    served = tagger.confidence_methods_
    require(tagger.default_method_ in served, "the default method is not served")
    asked = tagger.predict_confidence, X, "no such method"
    require_error("method", "an unknown method", *asked, types=ValueError)
