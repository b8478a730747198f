"""Laws of confidence, checked for every method that a tagger supports."""

import re

import numpy as np
from sklearn.base import clone

from skcw.confidence.tallies import SPAN_EVENTS
from skcw.data.schemes import extract_spans
from skcw.utils.check_decoding import Lattice, short_sequences
from skcw.utils.laws import (
    is_linear,
    law,
    make_tagged,
    outputs,
    prepared,
    require,
    require_error,
    weights,
)

# Sums in another order differ by this much, in single precision.
ROUNDING = 1e-5


def _answers(tagger, X):
    """Yield (method, whether it gives probabilities, rows) of all methods served."""
    yield "the default method", False, tagger.predict_confidence(X)
    for name, method in tagger.confidence_methods_.items():
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
    """Give one number per word by every method, and none to an empty sequence."""
    tagger, X = short_sequences(tagger)
    for name, probability, rows in _answers(tagger, [[], *X]):
        sizes = [len(row) for row in rows]
        require(sizes == [0, *map(len, X)], f"{name} gives {sizes} numbers")
        require(all(row.dtype == np.float64 for row in rows), f"{name} is not float64")
        below = all((row <= 1).all() for row in rows)
        require(below or not probability, f"{name} is not a probability: {rows}")


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


def _serves_spans(tagger, example):
    methods = getattr(example, "confidence_methods_", {}).values()
    return any(m.spans for m in methods) and any(m.sequences for m in methods)


@law(when=_serves_spans)
def check_the_more_must_be_right_the_less_sure_it_is(tagger):
    """Be no surer of a sequence than of its entities, nor of them than of words."""
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
            good = (sure[less] <= sure[more] + ROUNDING).all()
            require(good, f"by {less} an entity is surer than by {more}")
            good = (whole[s] <= sure[less] + ROUNDING).all()
            require(good, f"a sequence is surer than an entity by {less}")


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
        require(plain, f"{name} is no 1-D object array: {one!r}")
        same = all(str(a) == str(b) for a, b in zip(one, other, strict=True))
        require(same, f"{name} of ask differs from the single call")
    require(answers.lengths.tolist() == [len(x) for x in X], "lengths are wrong")


@law()
def check_a_table_holds_the_confidence_of_every_label(tagger):
    """Judge all labels at all tokens at once as ``predict_label_confidence`` judges each."""
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
            same = np.allclose(table[:, code], flat, rtol=0, atol=ROUNDING)
            require(same, f"{name} says other things of {label} in a table")


@law()
def check_what_is_not_served_is_named(tagger):
    """Name in ``confidence_methods_`` all methods there are, and refuse any other."""
    tagger, X = short_sequences(tagger)
    served = tagger.confidence_methods_
    require(tagger.default_method_ in served, "the default method is not served")
    what = "an unknown method"
    ask = lambda: tagger.predict_confidence(X, "no such method")  # noqa: E731
    require_error((ValueError,), re.compile("method"), ask, what)
