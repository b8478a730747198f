"""Laws of confidence, by every method that a tagger knows."""

import numpy as np
from sklearn.base import clone

from skcw.confidence import METHODS
from skcw.metrics import extract_spans
from skcw.utils._check_data import make_tagged
from skcw.utils._check_decoding import Lattice, short_sequences
from skcw.utils._laws import (
    is_linear,
    law,
    outputs,
    prepared,
    require,
    weights,
)

# Sums in another order differ by this much, in single precision.
ROUNDING = 1e-5


def _knows(call, *asked):
    """Tell whether a call is not refused."""
    try:
        call(*asked)
    except (TypeError, ValueError):
        return False
    return True


def _answers(tagger, X):
    """Yield (method, whether it gives probabilities, rows) of all methods known."""
    yield "the default method", False, tagger.predict_confidence(X)
    for name, method in METHODS.items():
        if _knows(tagger.predict_confidence, X, name):
            yield name, method.probability, tagger.predict_confidence(X, name)


@law()
def check_confidence_is_finite_and_not_negative(tagger):
    """Be unsure or sure to some degree, never less than nothing, at every word."""
    tagger, X = short_sequences(tagger)
    for name, _, rows in _answers(tagger, X):
        for row in rows:
            require(not np.isnan(row).any(), f"{name} is not a number: {row}")
            require((row >= 0).all(), f"{name} is negative: {row}")
            # Constraints may leave a word no other label at all.
            bound = getattr(tagger, "constraints_", None) is not None
            finite = np.isfinite(row).all() or bound
            require(finite, f"{name} is not finite: {row}")


@law()
def check_every_word_has_a_confidence(tagger):
    """Give one number a word by every method, and none to an empty sequence."""
    tagger, X = short_sequences(tagger)
    for name, probability, rows in _answers(tagger, [[], *X]):
        sizes = [len(row) for row in rows]
        require(sizes == [0, *map(len, X)], f"{name} gives {sizes} numbers")
        require(all(row.dtype == np.float64 for row in rows), f"{name} is not float64")
        below = all((row <= 1).all() for row in rows)
        require(below or not probability, f"{name} is no probability: {rows}")


@law()
def check_confidence_depends_on_the_sequence_alone(tagger):
    """Say the same again, in another order, and of each sequence by itself."""
    tagger, X = short_sequences(tagger)
    backwards = {name: rows for name, _, rows in _answers(tagger, X[::-1])}
    pieces = [dict(_named(tagger, [sequence])) for sequence in X]
    for name, _, rows in _answers(tagger, X):
        for s, row in enumerate(rows):
            same = np.array_equal(row, backwards[name][len(X) - 1 - s])
            require(same, f"{name} of {s} depends on the order of sequences")
            same = np.array_equal(row, pieces[s][name][0])
            require(same, f"{name} of {s} depends on the sequences beside it")


def _named(tagger, X):
    return ((name, rows) for name, _, rows in _answers(tagger, X))


def _knows_delta_max(tagger, example):
    try:
        example.predict_confidence(make_tagged(tagger).X, method="delta-max")
    except (TypeError, ValueError):
        return False
    return is_linear(tagger, example)


@law(when=_knows_delta_max)
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


@law()
def check_entities_agree_with_labels(tagger):
    """Give the spans of the predicted labels, as sure as their least sure word."""
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
            require(e.confidence == least, "an entity is surer than its words")


def _definitions(tagger, X):
    """Return {definition: entities} of those that the tagger knows."""
    names = ("least-word", "all-words", "boundary", "exact")
    return {
        name: tagger.predict_entities(X, name)
        for name in names
        if _knows(tagger.predict_entities, X, name)
    }


def _knows_definitions(tagger, example):
    return bool(_definitions(example, make_tagged(tagger).X))


@law(methods=("predict_sequence_confidence",), when=_knows_definitions)
def check_the_more_must_be_right_the_less_sure_it_is(tagger):
    """Be no surer of a sequence than of its entities, nor of them than of words."""
    tagger, X = short_sequences(tagger)
    found = _definitions(tagger, X)
    whole = tagger.predict_sequence_confidence(X)
    good = whole.shape == (len(X),) and ((whole >= 0) & (whole <= 1)).all()
    require(good, f"the confidence in whole sequences is {whole}")
    for s in range(len(X)):
        rows = {name: entities[s] for name, entities in found.items()}
        spans = {name: [e[:3] for e in row] for name, row in rows.items()}
        equal = all(row == spans["least-word"] for row in spans.values())
        require(equal, "the definition of confidence changes the entities")
        sure = {name: np.array([e[3] for e in row]) for name, row in rows.items()}
        for less, more in (("all-words", "least-word"), ("exact", "boundary")):
            good = (sure[less] <= sure[more] + ROUNDING).all()
            require(good, f"by {less} an entity is surer than by {more}")
            good = (whole[s] <= sure[less] + ROUNDING).all()
            require(good, f"a sequence is surer than an entity by {less}")


@law(methods=("fit_confidence",))
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
