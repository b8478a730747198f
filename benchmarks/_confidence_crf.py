"""The tuned CRF that confidences are compared with; its answers are kept in a cache."""

import numpy as np
from _corpora import load_paper_set
from _measure import progress

from skcw import CRFSequenceTagger

# Chosen on a quarter of the training part of the first split: see table3 of
# bench_tagging.py. A CRF with its default penalties would flatter the others.
PENALTIES = {"Spanish": (0.01, 0.05), "Dutch": (0.01, 0.05)}
DEFAULT_PENALTIES = (0.05, 0.05)
ITERATIONS, QUICK_ITERATIONS = 150, 20


def three_quarters(n_sentences, split):
    """Return the positions of the training and of the test sentences of a split."""
    order = np.random.RandomState(split).permutation(n_sentences)
    cut = n_sentences * 3 // 4
    return order[:cut], order[cut:]


def crf_answers(name, split, settings):
    """Return which test words the CRF labels right, and their marginals."""
    stored = settings.cache / f"crf-{name}-{split}.npz" if settings.cache else None
    if stored and stored.exists():
        found = np.load(stored)
        return found["correct"], found["confidence"]
    corpus = load_paper_set(name, settings.data_home, settings.quick)
    train, test = map(corpus.part, three_quarters(len(corpus.tokens), split))
    progress(f"confidence: CRF on {name}, split {split}")
    c1, c2 = PENALTIES.get(name, DEFAULT_PENALTIES)
    crf = CRFSequenceTagger(
        c1=c1,
        c2=c2,
        max_iter=QUICK_ITERATIONS if settings.quick else ITERATIONS,
        all_possible_transitions=True,
    ).fit(train.features(), train.labels)
    X = test.features()
    predicted = [label for row in crf.predict(X) for label in row]
    gold = [label for row in test.labels for label in row]
    correct = np.array([a == b for a, b in zip(predicted, gold, strict=True)])
    confidence = np.concatenate(crf.predict_confidence(X))
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(stored, correct=correct, confidence=confidence)
    return correct, confidence
