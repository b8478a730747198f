"""Laws of input: all forms mean the same, and mistakes are named."""

import re

import numpy as np
from scipy import sparse

from skcw._util.ragged import object_rows
from skcw.data import SequenceEncoder
from skcw.utils.laws import (
    PLAIN,
    law,
    make_tagged,
    outputs,
    prepared,
    require,
    require_error,
    require_same_bits,
    state_of,
)

ERRORS = (TypeError, ValueError)


def _symbolic_forms(X):
    """Return one corpus in every form for features without values."""
    return {
        "tuples of tuples": tuple(tuple(map(tuple, sequence)) for sequence in X),
        "dicts": [[dict.fromkeys(token, 1) for token in sequence] for sequence in X],
        "arrays of str": [[np.array(token) for token in sequence] for sequence in X],
        "object array": object_rows(X),
        "generator": (iter(sequence) for sequence in X),
        "SequenceBatch": SequenceEncoder().fit_transform(X),
    }


@law()
def check_all_forms_of_features_mean_the_same(tagger):
    """Learn and predict the same bits from lists, dicts, arrays, batches, ..."""
    X, y = make_tagged(tagger)
    reference = prepared(tagger, min_count=1).fit(X, y)
    said = outputs(reference, X)
    for what, form in _symbolic_forms(X).items():
        labels = iter(y) if what == "generator" else object_rows(y)
        other = prepared(tagger, min_count=1).fit(form, labels)
        require_same_bits(reference, other, X, f"fit on {what}")
    for what in _symbolic_forms(X):
        for name, rows in said.items():
            arguments = (3,) if name == "predict_nbest" else ()
            # Made anew each time: a generator can be read only once.
            form = _symbolic_forms(X)[what]
            found = getattr(reference, name)(form, *arguments)
            found = [r.tolist() if isinstance(r, np.ndarray) else r for r in found]
            require(found == rows, f"{name} differs on {what}")


@law()
def check_a_plain_string_is_one_feature(tagger):
    """Read the token "abc" as ["abc"], and {"a": "b"} as ["a:b"]."""
    X, y = make_tagged(tagger)
    words = [[token[1] for token in sequence] for sequence in X]
    reference = prepared(tagger, min_count=1).fit(
        [[[word] for word in sequence] for sequence in words], y
    )
    other = prepared(tagger, min_count=1).fit(words, y)
    require_same_bits(reference, other, words, "a plain string as token")
    pairs = [[{"w": word} for word in sequence] for sequence in words]
    joined = [[[f"w:{word}"] for word in sequence] for sequence in words]
    reference = prepared(tagger, min_count=1).fit(joined, y)
    other = prepared(tagger, min_count=1).fit(pairs, y)
    require_same_bits(reference, other, joined, "a dict with a string as value")


@law()
def check_arrays_and_sparse_matrices_mean_the_same(tagger):
    """Learn the same bits from 2-D arrays, CSR matrices and a batch of columns."""
    data = make_tagged(tagger, valued=True)
    dense = _columns(data.X)
    reference = prepared(tagger, min_count=1).fit(dense, data.y)
    n_columns = dense[0].shape[1]
    require(reference.n_features_in_ == n_columns, "n_features_in_ is not set")
    forms = {
        "CSR matrices": [sparse.csr_matrix(rows) for rows in dense],
        "CSR arrays": [sparse.csr_array(rows) for rows in dense],
        "SequenceBatch": SequenceEncoder().fit_transform(dense),
    }
    for what, form in forms.items():
        other = prepared(tagger, min_count=1).fit(form, data.y)
        require_same_bits(reference, other, dense, f"fit on {what}")
        require(outputs(reference, form) == outputs(reference, dense), f"on {what}")
    narrow = [dense[0], dense[1][:, :-1]]
    require_error(
        ERRORS,
        re.compile(r"sequence 1 .*columns"),
        lambda: reference.predict(narrow),
        "a sequence with a column too few",
    )


def _columns(X):
    """Return dicts of values as 2-D arrays, a column per feature."""
    names = list(dict.fromkeys(name for x in X for token in x for name in token))
    return [
        np.array([[token.get(name, 0.0) for name in names] for token in sequence])
        for sequence in X
    ]


@law()
def check_empty_sequences_are_legal(tagger):
    """Learn nothing from empty sequences and give them empty rows."""
    X, y = make_tagged(tagger)
    # An average over rounds counts the rounds in which nothing happened, too.
    plain = prepared(tagger, **PLAIN, averaging=False)
    reference = prepared(plain).fit(X, y)
    other = prepared(plain).fit([[], *X, []], [[], *y, []])
    require_same_bits(reference, other, X, "an empty sequence in fit")
    rows = reference.predict([[], *X, []])
    require(rows[0] == [] and rows[-1] == [], "an empty sequence has labels")
    for name in ("predict_confidence", "predict_marginals", "predict_entities"):
        row = getattr(reference, name)([[]])[0]
        require(len(row) == 0, f"{name} of an empty sequence is {row!r}")
    if hasattr(reference, "predict_nbest"):
        row = reference.predict_nbest([[]], 3)[0]
        good = len(row) == 1 and row[0][0] == []
        require(good, f"predict_nbest of an empty sequence is {row!r}")


@law()
def check_what_was_never_seen_is_harmless(tagger):
    """Ignore unseen features, and take unseen labels in ``score`` for mistakes."""
    tagger = prepared(tagger)
    X, y = make_tagged(tagger)
    tagger.fit(X, y)
    more = [[[*token, "never", "seen"] for token in sequence] for sequence in X]
    require(outputs(tagger, more) == outputs(tagger, X), "an unseen feature counts")
    rows = tagger.predict([[["never"], ["seen"], []]])
    known = set(tagger.classes_)
    require(len(rows[0]) == 3 and known.issuperset(rows[0]), "no label for new words")
    strange = [["?"] * len(labels) for labels in y]
    require(tagger.score(X, strange) == 0.0, "an unseen label counts as right")


def _bad_training(X, y):
    """Yield (what is wrong, X, y, sample_weight, pattern of the message)."""
    s = next(s for s, labels in enumerate(y) if len(labels) > 2)
    nan, inf = float("nan"), float("inf")
    place = rf"sequence {s}\b.*token 2\b"

    def token(value):
        return [*X[:s], [*X[s][:2], value, *X[s][3:]], *X[s + 1 :]]

    def label(value):
        return [*y[:s], [*y[s][:2], value, *y[s][3:]], *y[s + 1 :]]

    def weight(value):
        return [*[1.0] * s, value, *[1.0] * (len(y) - s - 1)]

    yield "fewer label sequences", X, y[:-1], None, rf"{len(X)} .*{len(X) - 1}\b"
    yield "a label too few", X, [*y[:s], y[s][:-1], *y[s + 1 :]], None, f"sequence {s}"
    yield "a label too many", X, [*y[:s], [*y[s], "O"], *y[s + 1 :]], None, str(s)
    yield "labels as one string", X, [*y[:s], "O", *y[s + 1 :]], None, f"sequence {s}"
    yield "no labels", X, None, None, r"\by\b"
    yield "a sequence that is a string", [*X[:s], "ab", *X[s + 1 :]], y, None, str(s)
    yield "a number as X", 3, y, None, "X"
    for bad in (None, 1, 1.5, b"O", ["O"]):
        yield f"the label {bad!r}", X, label(bad), None, place
    for bad in (None, 1, b"w", [1], [None], [b"w"], {"w": None}, {1: "w"}):
        yield f"the token {bad!r}", token(bad), y, None, place
    for bad in (nan, inf, -inf, 10**400):
        yield "a value that is not finite", token({"w": bad}), y, None, place
    for bad in (-1.0, nan, inf):
        yield f"the weight {bad}", X, y, weight(bad), rf"sample_weight.*{s}\b"
    yield "a weight too few", X, y, [1.0] * (len(y) - 1), "sample_weight"


@law()
def check_bad_training_data_are_named_and_change_nothing(tagger):
    """Name sequence and token of a mistake; leave a fitted tagger bit by bit."""
    tagger = prepared(tagger, class_weight=None)
    data = make_tagged(tagger)
    tagger.fit(*data)
    doors = [name for name in ("fit", "partial_fit") if hasattr(tagger, name)]
    before = state_of(tagger)
    for what, X, y, weight, pattern in _bad_training(*data):
        for door in doors:
            require_error(
                ERRORS,
                re.compile(pattern, re.DOTALL),
                # X, y and weight are used before the loop continues.
                lambda: getattr(tagger, door)(X, y, sample_weight=weight),  # noqa: B023
                f"{door} with {what}",
            )
            require(state_of(tagger) == before, f"{door} with {what} left a trace")


@law()
def check_bad_sequences_are_named_in_prediction(tagger):
    """Name sequence and token of a mistake in X when predicting."""
    tagger = prepared(tagger)
    data = make_tagged(tagger)
    tagger.fit(*data)
    before = state_of(tagger)
    for what, X, y, weight, pattern in _bad_training(*data):
        if y is not data.y or weight is not None:
            continue
        for name in ("predict", "predict_confidence", "predict_marginals"):
            require_error(
                ERRORS,
                re.compile(pattern, re.DOTALL),
                lambda: getattr(tagger, name)(X),  # noqa: B023
                f"{name} with {what}",
            )
    require(state_of(tagger) == before, "a failed prediction left a trace")


@law()
def check_nothing_to_learn_from_is_refused(tagger):
    """Raise ValueError where there is no token at all."""
    for X, y in (([], []), ([[]], [[]])):
        require_error(
            (ValueError,),
            re.compile("token|sequence|empty", re.IGNORECASE),
            lambda: prepared(tagger).fit(X, y),  # noqa: B023
            f"fit on {X}",
        )
