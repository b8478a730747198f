"""The lead of the best labeling over the second, against every labeling there is."""

from itertools import pairwise

import numpy as np
import pytest

from skcw._model.decoding import Decoder
from skcw._model.gaussian import Belief
from skcw.confidence.tallies import labeling_lead
from skcw.data import SequenceEncoder
from tests.confidence.lattices import N_FEATURES, PLAIN, small_problem
from tests.reference import labelings

# Weights are in single precision.
RTOL = 2e-5


def dense_rows(batch):
    rows = np.zeros((batch.n_tokens, N_FEATURES))
    tokens = np.repeat(np.arange(batch.n_tokens), np.diff(batch.indptr))
    np.add.at(rows, (tokens, batch.indices), batch.values)
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_the_lead_is_that_of_enumeration(seed):
    decoder, batch, _ = small_problem(PLAIN, seed=seed)
    belief, rows = decoder.belief, dense_rows(batch)
    tables = [
        table(kind).astype(float)
        for kind in ("weights", "variance")
        for table in (belief.feature_weights, belief.transition_weights)
    ]
    expected = np.full((len(batch), 2), np.inf)
    for number, (a, b) in enumerate(pairwise(batch.offsets)):
        if b > a:
            expected[number] = labelings.lead(*tables, rows[a:b])
    full = batch.lengths > 0
    scored = decoder.open(batch)
    np.testing.assert_allclose(labeling_lead(scored), expected[:, 0], rtol=1e-3)
    found = labeling_lead(scored, in_deviations=True)
    assert np.isinf(found[~full]).all()
    deviation = labeling_lead(scored)[full] / found[full]
    np.testing.assert_allclose(deviation, expected[full, 1], rtol=RTOL)


def test_a_model_without_variances_has_no_deviations():
    decoder, batch, _ = small_problem(PLAIN)
    decoder.belief.variance = None
    with pytest.raises(ValueError, match="keeps no variances"):
        labeling_lead(decoder.open(batch), in_deviations=True)


def test_a_tie_that_no_weight_could_break_has_no_lead_in_deviations_either():
    # One word without features: two labelings that share all of their weights, none.
    batch = SequenceEncoder().fit_transform([[{}], [["a"]]])
    scored = Decoder(Belief.start(1, 2, 1.0)).open(batch)
    assert labeling_lead(scored, in_deviations=True).tolist() == [0.0, 0.0]
