"""explain: why a token got its label."""

import numpy as np
import pytest

from skcw import AROWSequenceTagger, CWSequenceTagger, PerceptronSequenceTagger
from skcw.data import SequenceEncoder
from skcw.utils.check_predictions import Lattice
from skcw.utils.laws import make_tagged

TAGGERS = [
    CWSequenceTagger(random_state=0, dtype="float64"),
    CWSequenceTagger(random_state=0, constraints="BIO", dtype="float64"),
    AROWSequenceTagger(random_state=0, n_models=2, dtype="float64"),
    PerceptronSequenceTagger(random_state=0, dtype="float64"),
]


@pytest.fixture(params=TAGGERS, ids=str)
def tagger(request):
    tagger = request.param
    return tagger.fit(*make_tagged(tagger, n_sequences=40, valued=True, noise=0.3))


@pytest.fixture
def X(tagger):
    return make_tagged(tagger, seed=1, n_sequences=10, valued=True, noise=0.3).X


def best_with(lattice, sequence, t, labels):
    """Return the score of the best legal labeling with one of some labels at t."""
    codes, total = lattice.labelings(sequence)
    allowed = [lattice.labels.index(label) for label in labels]
    return total[np.isin(codes[:, t], allowed)].max(initial=-np.inf)


def test_a_label_can_be_asked_why_it_was_not_chosen(tagger, X):
    lattice = Lattice(tagger)
    sequence = next(x for x in X if len(x) == 4)
    best = lattice.labelings(sequence)[1].max()
    for t, label in enumerate(tagger.predict_single(sequence)):
        for against in {*lattice.labels} - {label}:
            rival = best_with(lattice, sequence, t, [against])
            if rival == -np.inf:
                with pytest.raises(ValueError, match="do not allow"):
                    tagger.explain(sequence, token=t, against=against)
                continue
            (why,) = tagger.explain(sequence, t, against=against)
            assert (why.label, why.rival) == (label, against)
            assert why.margin == pytest.approx(best - rival, rel=1e-9, abs=1e-9)
            total = sum(part.value for part in why.contributions)
            assert total == pytest.approx(why.margin, rel=1e-9, abs=1e-9)
        with pytest.raises(ValueError, match="already"):
            tagger.explain(sequence, token=t, against=label)


def test_a_rival_brings_the_neighbors_that_it_needs():
    X = [["Ann", "Lee", "left"], ["in", "New", "York"]] * 3
    y = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "I-LOC"]] * 3
    tagger = CWSequenceTagger(random_state=0, constraints="BIO").fit(X, y)
    assert tagger.explain(X[1], token=2, against="PER")[0].rival in y[0][:2]
    found = tagger.explain(X[1], token=2, against="I-PER")
    (why,) = found
    assert (why.label, why.rival) == ("I-LOC", "I-PER") and why.margin > 0
    names = {part.feature for part in why.contributions}
    assert {"York", "New at -1", "after B-LOC / B-PER"} <= names
    assert "O > B-LOC / O > B-PER at -1" in names
    assert repr(found).splitlines()[2].split()[:4] == ["2", "York", "I-LOC", "I-PER"]
    for token, against, match in (
        (None, "PER", "give token"),
        (3, None, "has 3 tokens"),
        (True, None, "has 3 tokens"),
        (0, "ORG", "neither a label nor a type"),
        (1, "LOC", "already"),
        (0, "I-PER", "do not allow"),
    ):
        with pytest.raises(ValueError, match=match):
            tagger.explain(X[1], token=token, against=against)


def test_every_feature_and_every_neighbor_contributes(tagger, X):
    for sequence in X:
        for t, why in enumerate(tagger.explain(sequence)):
            names = [part.feature for part in why.contributions]
            if any(" at " in name for name in names):
                continue
            neighbors = (t > 0) + (t + 1 < len(sequence))
            known = [name for name in sequence[t] if name in tagger.feature_names_]
            assert len(names) == len(known) + neighbors
            assert set(known) < set(names) or not neighbors
            sizes = [abs(part.value) for part in why.contributions]
            assert sizes == sorted(sizes, reverse=True)


def test_deviations_are_those_of_the_weights(tagger, X):
    if not hasattr(tagger, "coef_variance_"):
        assert all(why.std == 0 for x in X for why in tagger.explain(x))
        return
    row_of = {name: i for i, name in enumerate(tagger.feature_names_)}
    place = {label: j for j, label in enumerate(tagger.classes_)}
    for sequence in X:
        for t, why in enumerate(tagger.explain(sequence)):
            label, rival = place[why.label], place[why.rival]
            for part in why.contributions:
                if part.feature in row_of:
                    variance = tagger.coef_variance_[row_of[part.feature]]
                    spread = variance[label] + variance[rival]
                    std = sequence[t][part.feature] * np.sqrt(spread)
                    assert part.std == pytest.approx(std, rel=1e-9)
            assert why.std > 0


def test_a_weight_that_counts_twice_counts_as_one_weight():
    # The middle token stands between its own label: one transition, used twice.
    tagger = CWSequenceTagger(random_state=0, dtype="float64")
    tagger.fit([["a", "a", "a"], ["b"]] * 3, [["A", "A", "A"], ["B"]] * 3)
    why = tagger.explain(["a", "a", "a"])[1]
    assert (why.label, why.rival) == ("A", "B")
    A, B = (list(tagger.classes_).index(label) for label in "AB")
    row = list(tagger.feature_names_).index("a")
    links = tagger.transition_variance_
    spread = tagger.coef_variance_[row].sum()
    spread += 4 * links[A, A] + links[A, B] + links[B, A]
    assert why.std == pytest.approx(np.sqrt(spread), rel=1e-9)


def test_an_empty_sequence_needs_no_explanation(tagger):
    assert tagger.explain([]) == []


def test_unknown_features_explain_nothing(tagger):
    (why,) = tagger.explain([["never", "seen"]])
    if tagger.belief_.unknown_row is None:
        assert why.contributions == ()
        assert why.margin == 0
    else:
        (only,) = why.contributions
        assert only.feature == "nothing known"
        assert why.margin == only.value


def test_columns_are_named_by_their_numbers():
    tagger = CWSequenceTagger(random_state=0).fit([np.eye(3)], [["A", "B", "A"]])
    names = {part.feature for part in tagger.explain(np.eye(3))[0].contributions}
    assert names == {"x0", "before B"}


def test_a_single_label_has_no_rival():
    tagger = CWSequenceTagger().fit([["a", "b"]], [["A", "A"]])
    why = tagger.explain(["a", "b"])[0]
    assert (why.label, why.rival, why.margin) == ("A", None, np.inf)


def test_repeated_features_contribute_each_time():
    tagger = CWSequenceTagger(random_state=0)
    tagger.fit([[["a"], ["b"]], [["b"], ["a"]]] * 3, [["A", "B"], ["B", "A"]] * 3)
    (why,) = tagger.explain([["a", "a"]])
    (once,) = tagger.explain([["a"]])
    assert why.margin == pytest.approx(2 * once.margin, rel=1e-6)
    assert why.std == pytest.approx(2 * once.std, rel=1e-6)


def test_a_tagger_fitted_on_a_batch_explains_words(tagger):
    data = make_tagged(tagger, n_sequences=20)
    batch = SequenceEncoder().fit_transform(data.X)
    copy = CWSequenceTagger(random_state=0).fit(batch, data.y)
    names = {part.feature for part in copy.explain(data.X[0])[0].contributions}
    assert set(data.X[0][0]) <= names
