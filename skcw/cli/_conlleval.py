"""Counts of spans and words, and the table that the conlleval program prints."""

from collections import Counter

from skcw.metrics import Span, extract_spans


class SpanTally:
    """Adds up what is right and wrong, sentence by sentence, in little memory.

    Parameters
    ----------
    raw : bool, default=False
        Take each word for a span of its own whose type is the whole label, as for
        parts of speech.

    Examples
    --------
    >>> from skcw.cli._conlleval import SpanTally
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
