"""How far figures would move if the test had other sentences."""

N_RESAMPLES = 500
# Of 100 resampled figures, 95 lie within the limits that are told.
LIMITS = (2.5, 97.5)


def sentence_counts(y_true, y_pred):
    """Count spans and words sentence by sentence.

    Parameters
    ----------
    y_true, y_pred : sequences of str
        True and predicted labels.

    Returns
    -------
    counts : ndarray of shape (n_sentences, 5)
        Spans found, spans predicted, true spans, wrong words, words.
    """
    import numpy as np

    from skcw.metrics import extract_spans

    rows = []
    for true, found in zip(y_true, y_pred, strict=True):
        spans, guesses = set(extract_spans(true)), set(extract_spans(found))
        wrong = sum(a != b for a, b in zip(true, found, strict=True))
        rows.append(
            (len(spans & guesses), len(guesses), len(spans), wrong, len(true)),
        )
    return np.array(rows, dtype=float).reshape(-1, 5)


def uncertainty(counts, seed):
    """Return the ± of span F1 and of the share of wrong words.

    Sentences are drawn again with replacement, as many as there are, and both figures
    computed again; words of one sentence stay together, for their labels depend on
    each other.

    Parameters
    ----------
    counts : ndarray of shape (n_sentences, 5)
        What ``sentence_counts`` gives.
    seed : int
        Seed of the draws: learners that are compared get the same ones.

    Returns
    -------
    span_f1, token_error : float
        Half the width of the interval that holds 95 % of the figures.
    """
    import numpy as np

    rng = np.random.RandomState(seed)
    n = len(counts)
    drawn = np.empty((N_RESAMPLES, counts.shape[1]))
    for row in drawn:
        # One draw at a time: memory does not grow with the number of them.
        times = np.bincount(rng.randint(n, size=n), minlength=n)
        row[:] = times @ counts
    found, guesses, spans, wrong, words = drawn.T
    f1 = 2 * found / np.maximum(guesses + spans, 1)
    return tuple(
        float(np.diff(np.percentile(figures, LIMITS))[0] / 2)
        for figures in (f1, wrong / np.maximum(words, 1))
    )
