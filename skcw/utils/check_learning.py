"""Laws of input, of which all forms mean the same, and of learning from it."""

import numpy as np
from scipy import sparse
from sklearn.base import clone

from skcw._util.ragged import object_rows
from skcw.data import SequenceEncoder
from skcw.utils.laws import (
    PLAIN,
    fitted,
    has_free_labels,
    law,
    make_tagged,
    outputs,
    prepared,
    require,
    require_close,
    require_error,
    require_same_bits,
    state_of,
    unlimited,
    weights,
)

# Two fits in double precision whose sums are taken in another order.
REORDERED = 1e-5
# An average that was turned into a sum and back between two pieces.
REAVERAGED = 1e-9


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
    what = "a sequence with a column too few"
    require_error(r"sequence 1 .*columns", what, reference.predict, narrow)


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
    tagger, X, y = fitted(tagger)
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
    tagger, *data = fitted(tagger, class_weight=None)
    doors = [name for name in ("fit", "partial_fit") if hasattr(tagger, name)]
    before = state_of(tagger)
    for what, X, y, weight, pattern in _bad_training(*data):
        for door in doors:
            done, learn = f"{door} with {what}", getattr(tagger, door)
            require_error(pattern, done, learn, X, y, sample_weight=weight)
            require(state_of(tagger) == before, f"{done} left a trace")


@law()
def check_bad_sequences_are_named_in_prediction(tagger):
    """Name sequence and token of a mistake in X when predicting."""
    tagger, *data = fitted(tagger)
    before = state_of(tagger)
    for what, X, y, weight, pattern in _bad_training(*data):
        if y is not data[1] or weight is not None:
            continue
        for name in ("predict", "predict_confidence", "predict_marginals"):
            require_error(pattern, f"{name} with {what}", getattr(tagger, name), X)
    require(state_of(tagger) == before, "a failed prediction left a trace")


@law()
def check_nothing_to_learn_from_is_refused(tagger):
    """Raise ValueError where there is no token at all."""
    pattern = "(?i)token|sequence|empty"
    for X, y in (([], []), ([[]], [[]])):
        fit = prepared(tagger).fit
        require_error(pattern, f"fit on {X}", fit, X, y, types=ValueError)


@law()
def check_fit_starts_afresh(tagger):
    """Learn the same from the second ``fit`` as from the first."""
    X, y = make_tagged(tagger)
    once = prepared(tagger).fit(X, y)
    other = make_tagged(tagger, seed=5)
    twice = prepared(tagger).fit(*other).fit(X, y)
    require_same_bits(once, twice, X, "an earlier fit")


@law(parameters=("random_state",))
def check_same_seed_gives_same_bits(tagger):
    """Depend on the seed alone, not on what was drawn before."""
    X, y = make_tagged(tagger)
    one = prepared(tagger, random_state=7).fit(X, y)
    np.random.RandomState(0).rand(3)
    other = prepared(tagger, random_state=7).fit(X, y)
    require_same_bits(one, other, X, "fitting again with the same seed")
    third = prepared(tagger, random_state=np.random.RandomState(7)).fit(X, y)
    require_same_bits(one, third, X, "the seed as a RandomState")


@law(parameters=("n_jobs",))
def check_n_jobs_changes_no_bit(tagger):
    """Learn and predict the same bits with any number of workers."""
    X, y = make_tagged(tagger)
    # Enough sequences for several workers to get some.
    many = X * 200
    for n_models in (1, 3):
        one = prepared(tagger, n_jobs=None, n_models=n_models).fit(X, y)
        labels = one.predict(many).tolist()
        confidence = np.concatenate(one.predict_confidence(many))
        for n_jobs in (2, 3):
            what = f"n_jobs={n_jobs} with n_models={n_models}"
            other = prepared(tagger, n_jobs=n_jobs, n_models=n_models).fit(X, y)
            require_same_bits(one, other, X, what)
            require(other.predict(many).tolist() == labels, f"{what} changed labels")
            theirs = np.concatenate(other.predict_confidence(many))
            require(np.array_equal(theirs, confidence), f"{what} changed confidences")


@law(when=has_free_labels)
def check_renaming_labels_changes_nothing(tagger):
    """Give the same bits under other names of the labels, in any alphabetical order."""
    X, y = make_tagged(tagger)
    labels = sorted({label for row in y for label in row})
    # Their alphabetical order is turned round.
    name_of = {label: f"{99 - i} ♥{label}" for i, label in enumerate(labels)}
    renamed = [[name_of[label] for label in row] for row in y]
    # Passes are judged by spans, if labels are spans; the new names do not mark spans.
    every_pass = unlimited(tagger)
    if "early_stopping" in every_pass.get_params(deep=False):
        every_pass.set_params(early_stopping=False)
    one, other = clone(every_pass).fit(X, y), clone(every_pass).fit(X, renamed)
    theirs = weights(other)
    for name, array in weights(one).items():
        require(np.array_equal(array, theirs[name]), f"renaming labels changed {name}")
    said, heard = outputs(one, X), outputs(other, X)
    same = heard["predict"] == [[name_of[x] for x in row] for row in said["predict"]]
    require(same, "renaming labels changed predict")
    same = heard["predict_confidence"] == said["predict_confidence"]
    require(same, "renaming labels changed predict_confidence")


@law()
def check_renaming_features_changes_nothing(tagger):
    """Give the same bits under other names, unless asked to look at their spelling."""
    X, y = make_tagged(tagger)
    renamed = [[[f"{name[::-1]}é" for name in token] for token in x] for x in X]
    blind = {"unseen": "vocabulary", "word_prefix": None, "templates": ()}
    one = prepared(tagger, **blind).fit(X, y)
    other = prepared(tagger, **blind).fit(renamed, y)
    theirs = weights(other)
    for name, array in weights(one).items():
        require(np.array_equal(array, theirs[name]), f"renaming changed {name}")
    same = outputs(one, X) == outputs(other, renamed)
    require(same, "renaming features changed predictions")


@law()
def check_order_of_features_changes_nothing(tagger):
    """Read the features of a token in any order, up to rounding.

    Real values keep ties away. Where k rivals are compared they cannot: a step leaves
    all those it met with the same score, so that rounding chooses among them.
    """
    X, y = make_tagged(tagger, valued=True)
    turned = [[dict(reversed(token.items())) for token in x] for x in X]
    one = prepared(tagger, dtype="float64", n_rivals=1).fit(X, y)
    other = prepared(tagger, dtype="float64", n_rivals=1).fit(turned, y)
    require_close(one, other, X, REORDERED, "turning the features of tokens round")


@law(methods=("partial_fit",))
def check_partial_fit_in_pieces_equals_one_pass(tagger):
    """Learn from pieces what one unshuffled pass learns from all of the data.

    The labels are known from the start: one that is not yet there is no rival.
    """
    X, y = make_tagged(tagger)
    for averaging in (False, True):
        plain = prepared(
            tagger, **PLAIN, max_iter=1, averaging=averaging, dtype="float64"
        )
        whole, pieces = prepared(plain).fit(X, y), prepared(plain)
        pieces.partial_fit(X[:1], y[:1], classes=whole.classes_)
        for start, stop in ((1, 2), (2, 9), (9, 9), (9, len(X))):
            pieces.partial_fit(X[start:stop], y[start:stop])
        require(
            list(whole.classes_) == list(pieces.classes_), "pieces changed classes_"
        )
        theirs = weights(pieces)
        for name, array in weights(whole).items():
            if averaging and not name.endswith("variance_"):
                atol = REAVERAGED * max(np.abs(array).max(), 1.0)
                same = np.allclose(array, theirs[name], rtol=REAVERAGED, atol=atol)
            else:
                same = np.array_equal(array, theirs[name])
            require(
                same, f"partial_fit in pieces changed {name}, averaging={averaging}"
            )
        require_close(whole, pieces, X, REORDERED, "partial_fit in pieces")


@law(methods=("partial_fit",), when=has_free_labels)
def check_partial_fit_knows_labels_before_and_after(tagger):
    """Keep the order of ``classes``, and append labels and features as they come."""
    X, y = make_tagged(tagger)
    tagger = prepared(tagger, class_weight=None)
    tagger.partial_fit(X[:3], y[:3], classes=["never", "O", "never"])
    known = list(tagger.classes_)
    require(known[:2] == ["never", "O"], f"classes_ begins with {known}")
    tagger.partial_fit([[["brand-new"]]], [["late"]])
    require(list(tagger.classes_) == [*known, "late"], "a late label is not appended")
    for _ in range(20):
        tagger.partial_fit([[["brand-new"]]], [["late"]])
    row = tagger.predict([[["brand-new"]]])[0]
    require(row == ["late"], "a late label of a late feature is not learned")


@law(methods=("partial_fit",), fitted=("coef_variance_", "transition_variance_"))
def check_variance_is_positive_and_never_grows(tagger):
    """Never let a variance grow, nor become zero."""
    tagger = prepared(tagger, class_weight=None, min_count=1)
    before = None
    for seed in range(12):
        # So much noise that there are mistakes in every pass.
        tagger.partial_fit(*make_tagged(tagger, seed=seed, n_sequences=8, noise=0.5))
        found = weights(tagger)
        for name in ("coef_variance_", "transition_variance_"):
            now = found[name]
            require((now > 0).all(), f"{name} is not positive everywhere")
            if before is not None:
                old = before[name]
                grown = now[: old.shape[0], : old.shape[1]] > old
                require(not grown.any(), f"{name} grew in partial_fit {seed}")
        before = found


@law()
def check_a_sample_weight_is_a_number_of_copies(tagger):
    """Treat weight w as w copies in a row, and 0 as no copy."""
    X, y = make_tagged(tagger)
    copies = np.array([1 + s % 3 for s in range(len(X) - 1)] + [0])
    plain = prepared(tagger, **PLAIN)
    weighted = prepared(plain).fit(X, y, sample_weight=copies)
    repeated = prepared(plain).fit(_repeat(X, copies), _repeat(y, copies))
    probe = make_tagged(tagger, seed=3).X
    require_close(weighted, repeated, probe, REORDERED, "copies instead of a weight")
    ones = prepared(plain).fit(X, y, sample_weight=np.ones(len(X)))
    require_same_bits(prepared(plain).fit(X, y), ones, probe, "a weight of one")


def _repeat(rows, copies):
    return [row for row, n in zip(rows, copies, strict=True) for _ in range(n)]


@law(methods=("train_overlap",))
def check_it_knows_what_it_has_learned_from(tagger):
    """Tell training data (of positive weight) from new data."""
    plain = {"class_weight": None, "early_stopping": False, "min_count": 1}
    tagger = prepared(tagger, **plain)
    seen, new = make_tagged(tagger, valued=True), make_tagged(tagger, 1, valued=True)
    weight = np.arange(len(seen.X)) > 0
    tagger.fit(*seen, sample_weight=weight)
    share = tagger.train_overlap(seen.X)
    words = [len(labels) for labels in seen.y]
    expected = 1 - words[0] / sum(words)
    require(np.isclose(share, expected, rtol=1e-12), f"{share} instead of {expected}")
    require(tagger.train_overlap(new.X) == 0.0, "it claims to know what is new")
    require(tagger.train_overlap([]) == 0.0, "it claims to know nothing at all")
    if hasattr(tagger, "partial_fit"):
        tagger.partial_fit(*new)
        known = [*seen.X[1:], *new.X]
        require(tagger.train_overlap(known) == 1.0, "partial_fit forgets")
    tagger.fit(*new)
    require(tagger.train_overlap(seen.X) == 0.0, "fit remembers an earlier fit")
