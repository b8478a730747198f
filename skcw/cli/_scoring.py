"""Counts of right and wrong spans and words: conlleval's table, margins of error."""

from collections import Counter

import numpy as np

from skcw.data import Span, extract_spans

N_RESAMPLES = 500
# 95 of 100 resampled figures lie between these percentiles.
LIMITS = (2.5, 97.5)


class SpanTally:
    """Adds up what is right and wrong, sentence by sentence, in little memory.

    Parameters
    ----------
    raw : bool, default=False
        Take each word for a span of its own whose type is the whole label, as for
        parts of speech.

    Examples
    --------
    >>> from skcw.cli._scoring import SpanTally
    >>> tally = SpanTally()
    >>> tally.add([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]])
    >>> print(tally.text())
    processed 4 tokens with 2 phrases; found: 1 phrases; correct: 1.
    accuracy:  75.00%; precision: 100.00%; recall:  50.00%; FB1:  66.67
                  LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
                  PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
    """

    def __init__(self, raw=False):
        self.raw = raw
        self.words = 0
        self.right_words = 0
        self.true = Counter()
        self.found = Counter()
        self.correct = Counter()

    def add(self, y_true, y_pred):
        """Count the labels of sentences.

        Parameters
        ----------
        y_true : iterable of sequences of str
            True labels.
        y_pred : iterable of sequences of str
            Predicted labels.
        """
        for gold, guess in zip(y_true, y_pred, strict=True):
            self.words += len(gold)
            self.right_words += sum(a == b for a, b in zip(gold, guess, strict=True))
            true, found = self._spans(gold), self._spans(guess)
            self.true.update(span.label for span in true)
            self.found.update(span.label for span in found)
            self.correct.update(span.label for span in set(true).intersection(found))

    def _spans(self, labels):
        if not self.raw:
            return extract_spans(labels)
        words = enumerate(labels)
        return [Span(label, t, t + 1) for t, label in words if label != "O"]

    def figures(self):
        """Return all figures: counts, and shares from 0 to 1."""
        kinds = sorted(self.true.keys() | self.found.keys())
        return {
            "tokens": self.words,
            "accuracy": _share(self.right_words, self.words),
            **_scores(self.true.total(), self.found.total(), self.correct.total()),
            "types": {
                kind: _scores(self.true[kind], self.found[kind], self.correct[kind])
                for kind in kinds
            },
        }

    def text(self):
        """Return the figures laid out as conlleval lays them out."""
        figures = self.figures()
        lines = [
            f"processed {figures['tokens']} tokens with {figures['true']} phrases; "
            f"found: {figures['found']} phrases; correct: {figures['correct']}.",
            f"accuracy: {100 * figures['accuracy']:6.2f}%; {_line(figures)}",
        ]
        for kind, scores in figures["types"].items():
            lines.append(f"{kind:>17}: {_line(scores)}  {scores['found']}")
        return "\n".join(lines)


def _share(part, whole):
    return part / whole if whole else 0.0


def _scores(true, found, correct):
    return {
        "precision": _share(correct, found),
        "recall": _share(correct, true),
        "f1": _share(2 * correct, true + found),
        "true": true,
        "found": found,
        "correct": correct,
    }


def _line(scores):
    return (
        f"precision: {100 * scores['precision']:6.2f}%; "
        f"recall: {100 * scores['recall']:6.2f}%; "
        f"FB1: {100 * scores['f1']:6.2f}"
    )


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
    rows = []
    for true, found in zip(y_true, y_pred, strict=True):
        spans, guesses = set(extract_spans(true)), set(extract_spans(found))
        wrong = sum(a != b for a, b in zip(true, found, strict=True))
        rows.append(
            (len(spans & guesses), len(guesses), len(spans), wrong, len(true)),
        )
    return np.array(rows, dtype=float).reshape(-1, 5)


def margins_of_error(counts, seed):
    """Return the ± of span F1 and of the share of wrong words.

    By the bootstrap over sentences: words of one sentence stay together, because their
    labels depend on each other.

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
