"""Small models whose labelings can all be written down."""

from itertools import pairwise

import numpy as np

from skcw._model.decoding import Decoder
from skcw.confidence.methods import METHODS
from skcw.confidence.tallies import span_borders
from skcw.data.batch import SequenceBatch
from skcw.data.schemes import extract_spans, transition_constraints
from tests.kernels.problems import random_belief, random_corpus
from tests.reference import lattice

N_FEATURES = 9
LENGTHS = (3, 0, 1, 4, 2, 0, 4, 1, 3)

BIO = ["O", "B-x", "I-x", "B-y", "I-y"]
IOBES = ["O", "B-x", "I-x", "E-x", "S-x", "S-y"]
PLAIN = ["street", "city", "O"]


def small_problem(labels=BIO, constraints=None, seed=0, lengths=LENGTHS, n_jobs=None):
    """Return a decoder, a batch and the best labeling."""
    rng = np.random.default_rng(seed)
    belief = random_belief(rng, N_FEATURES, len(labels), dtype=np.float32)
    belief.average = 0.7 * belief.mean
    corpus = random_corpus(rng, len(labels), lengths, N_FEATURES, real_values=True)
    batch = SequenceBatch(
        corpus.offsets, corpus.indptr, corpus.indices, corpus.values, N_FEATURES
    )
    forbidden = transition_constraints(constraints, labels, np.float32)
    decoder = Decoder(belief, forbidden, n_jobs)
    return decoder, batch, decoder.open(batch).viterbi()[0]


def enumerated(scored, temperature=1.0):
    """Yield (slice, legal labelings, scores, probabilities) of full sequences."""
    n = scored.n_labels
    scores = scored.scores[:, :n].astype(float)
    transitions = scored.decoder.transitions[:n, :n].astype(float)
    for a, b in pairwise(scored.offsets):
        if a == b:
            continue
        rows = lattice.all_labelings(b - a, n)
        total = lattice.path_scores(scores[a:b], transitions, rows)
        rows, total = rows[total > -np.inf], total[total > -np.inf]
        best = np.argsort(-total, kind="stable")
        rows, total = rows[best], total[best]
        share = np.exp((total - total[0]) / temperature)
        yield slice(a, b), rows, total, share / share.sum()


JOINT_METHODS = [name for name, method in METHODS.items() if method.spans]
DRAWN = [name for name in METHODS if name.startswith("kd-")]


def span_confidence(scored, codes, spans, event, name, settings, labels):
    """Return the confidence in spans by a method of that name."""
    borders = span_borders(labels, codes, np.asarray(spans[0]), event)
    return METHODS[name].spans(scored, codes, spans, borders, settings)


def sequence_confidence(scored, codes, name, settings):
    """Return the confidence in whole sequences by a method of that name."""
    return METHODS[name].sequences(scored, codes, settings)


def spans_of(codes, offsets, labels):
    """Return the spans of a labeling, and where they start and stop in the batch."""
    found = [
        (a, span)
        for a, b in pairwise(offsets)
        for span in extract_spans([labels[code] for code in codes[a:b]])
    ]
    starts = np.array([a + span.start for a, span in found], dtype=np.int64)
    stops = np.array([a + span.end for a, span in found], dtype=np.int64)
    return [span.label for _, span in found], starts, stops


def agrees(row, codes, label, start, stop, definition, labels):
    """Tell whether a labeling has a span of the predicted one, by a definition."""
    if definition == "all-words":
        return (row[start:stop] == codes[start:stop]).all()
    return any(
        (span.start, span.end) == (start, stop)
        and (definition == "boundary" or span.label == label)
        for span in extract_spans([labels[code] for code in row])
    )
