"""Print precision, recall and F1.

Predicted labels are compared with true ones in the table of conlleval. All figures are
percentages except the last one of a line, the number of phrases found of that type.

With a model, two kinds of lines follow: how far its confidences are from the share of
right labels and, if it was trained with --calibrate, which share of the words it
accepts and how many of those are wrong.

Give either a model and a file with true labels, or one file (or standard input) whose
last two columns are the true and the predicted labels, as `skcw tag` writes them for a
file that has true labels.

Examples
--------
  skcw evaluate names.skcw test.conll
  skcw tag names.skcw test.conll | skcw evaluate
  skcw evaluate tagged.conll --label-column 2 --predicted-column 3
  skcw evaluate pos.skcw test.conll --raw --json
"""

from collections import Counter

import numpy as np

from skcw.cli.inputs import (
    LabelColumns,
    check_file,
    for_model,
    open_input,
    open_model,
    place_in,
    rescheme,
    tell_of_unknown,
)
from skcw.cli.messages import UsageError, looks_like_model, report, warn
from skcw.cli.options import (
    LEARNED_COLUMNS,
    add_file,
    add_flag,
    add_json,
    add_label_column,
    add_reading,
    add_scheme,
    command_parser,
    number_or_name,
)
from skcw.cli.risk import ConfidenceTally
from skcw.data import extract_spans
from skcw.data.schemes import Span, odd_outside

N_RESAMPLES = 500
# 95 of 100 resampled figures lie between these percentiles.
LIMITS = (2.5, 97.5)


class SpanTally:
    """Counts right and wrong labels, sentence by sentence, in little memory.

    Parameters
    ----------
    raw : bool, default=False
        Take each word for a span of its own whose type is the whole label, as for
        parts of speech.

    Examples
    --------
    >>> from skcw.cli.evaluate import SpanTally
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
        The result of ``sentence_counts``.
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


def add_parser(commands):
    """Add the command to a command line."""
    parser = command_parser(commands, "evaluate", run)
    parser.usage = "skcw evaluate [options] [FILE | MODEL FILE]"
    add_file(parser, "inputs", "see above", nargs="*")
    add_label_column(
        parser,
        "the column of the true labels; the first is 0, the last -1 (default: with a "
        "model as in training, else -2; 3 in CoNLL-U); a name in CSV and JSON lines",
    )
    parser.add_argument(
        "--predicted-column",
        type=number_or_name,
        metavar="COLUMN",
        help="the column of the predicted labels, without a model (default: -1; "
        "predicted in CSV and JSON lines)",
    )
    text = "count each word as a phrase: for parts of speech"
    add_flag(parser, "-r", "--raw", text=text)
    add_scheme(parser, "convert true and predicted labels to this scheme first")
    add_json(parser)
    add_reading(parser, LEARNED_COLUMNS)


def run(options):
    """Compare labels, and report."""
    if len(options.inputs) > 2:
        raise UsageError("give a model and a file, or a file alone")
    tally, confidence = SpanTally(options.raw), None
    if len(options.inputs) == 2:
        if options.predicted_column is not None:
            raise UsageError("--predicted-column cannot be used with a model")
        labels, confidence, corpus = _labels_of_model(*options.inputs, options)
        same = _same_labels(corpus, options, of_model=True)
    else:
        name = options.inputs[0] if options.inputs else "-"
        if looks_like_model(name):
            raise UsageError(
                f"{name} is a model; name a file with true labels after it"
            )
        corpus = open_input(name, options)
        labels = corpus.pairs(options.predicted_column)
        same = _same_labels(corpus, options, of_model=False)
    n_sentences = 0
    for gold, guess in labels:
        same.add(gold, guess)
        place = place_in(corpus.title, before=n_sentences)
        tally.add(rescheme(gold, options, place), rescheme(guess, options, place))
        n_sentences += len(gold)
    if not tally.words:
        raise ValueError("there are no words to evaluate")
    same.check()
    if not options.raw:
        _warn_of_outside(same.true | same.predicted, options)
    figures, text = tally.figures(), tally.text()
    if confidence is not None:
        found = confidence.labels, confidence.classes
        tell_of_unknown(*found, options.inputs[1], options)
        figures["confidence"] = confidence.figures()
        text = f"{text}\n{confidence.text()}"
    report(options, figures, text)


def _warn_of_outside(labels, options):
    """Warn if a label seems to stand for "O", which alone is no span."""
    odd = odd_outside(labels)
    if odd is not None:
        warn(
            options.command,
            f'the label {odd!r} seems to mark words outside of all spans, but only "O" '
            f"does: it is counted as a span. Use --outside {odd} to read it as O",
        )


def _same_labels(corpus, options, of_model):
    """Return a check that both columns hold labels."""
    true = corpus.label_title(of_model)
    if of_model:
        hint = "--label-column chooses that of the true labels (the last is -1)"
        return LabelColumns(true, "the labels of the model", hint)
    hint = (
        "--label-column and --predicted-column choose those of the true and predicted "
        "labels (the last is -1; after `skcw tag` with --confidence or --accept they "
        "are -3 and -2, with both -4 and -3)"
    )
    predicted = options.predicted_column
    return LabelColumns(true, f"column {-1 if predicted is None else predicted}", hint)


def _labels_of_model(model, name, options):
    """Return labels block by block, a tally of confidence, and the file."""
    features, ask, selection, reading, tokenizer = open_model(model)
    if options.scheme is None and reading is not None:
        # The true labels are compared in the scheme that the model has learned.
        options.scheme = reading.get("scheme")
    corpus = open_input(name, options, reading, tokenizer)
    tally = ConfidenceTally(selection)
    return _judged_blocks(features, ask, corpus, tally), tally, corpus


def _judged_blocks(features, ask, corpus, tally):
    """Yield the true and the predicted labels, and count confidences."""
    n_sentences = 0
    for number, (X, gold) in enumerate(corpus.labeled()):
        X = for_model(corpus, X, features)
        if not number:
            check_file(features, X, corpus.title, "evaluate", " besides the labels")
        answers = ask(X)
        place = place_in(corpus.title, X.lines, X.offsets, n_sentences)
        tally.add(answers, rescheme(gold, corpus.options, place))
        n_sentences += len(X)
        yield gold, answers.labels()
