"""Compare the taggers on a built-in corpus.

Each one is trained on three quarters of the same sentences and tested on the rest:

    python examples/compare_taggers.py --sequences 2000 --json results.json
"""

import argparse
import json
import time
from pathlib import Path

from sklearn.model_selection import train_test_split

from skcw import (
    AROWSequenceTagger,
    CRFSequenceTagger,
    CWSequenceTagger,
    PASequenceTagger,
    PerceptronSequenceTagger,
)
from skcw.datasets import basic_features, make_tagged_corpus
from skcw.metrics import span_f1_score, token_accuracy_score

COLUMNS = {
    "tagger": "tagger",
    "span_f1": "span F1",
    "token_accuracy": "token accuracy",
    "fit_seconds": "fit s",
    "predict_seconds": "predict s",
}


def taggers(seed):
    """Return the taggers to compare, by name, with their default parameters.

    The CRF is the exception: its own defaults would flatter the others.
    """
    return {
        "CW": CWSequenceTagger(random_state=seed),
        "AROW": AROWSequenceTagger(random_state=seed),
        "PA, 5 best": PASequenceTagger(random_state=seed),
        "perceptron": PerceptronSequenceTagger(random_state=seed),
        "CRF": CRFSequenceTagger(
            c1=0.05, c2=0.05, max_iterations=150, all_possible_transitions=True
        ),
    }


def measure(name, tagger, X_train, X_test, y_train, y_test):
    """Fit a tagger, use it, and return its row of the table."""
    start = time.perf_counter()
    tagger.fit(X_train, y_train)
    fitted = time.perf_counter()
    predicted = tagger.predict(X_test)
    done = time.perf_counter()
    return {
        "tagger": name,
        "span_f1": span_f1_score(y_test, predicted),
        "token_accuracy": token_accuracy_score(y_test, predicted),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
    }


def table(rows):
    """Return the rows as aligned text."""
    lines = [list(COLUMNS.values())]
    for row in rows:
        cells = [row["tagger"], f"{row['span_f1']:.4f}", f"{row['token_accuracy']:.4f}"]
        lines.append(
            [*cells, f"{row['fit_seconds']:.2f}", f"{row['predict_seconds']:.3f}"]
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0])]
            + [
                cell.rjust(width)
                for cell, width in zip(line[1:], widths[1:], strict=True)
            ]
        )
        for line in lines
    )


def compare(n_sequences, seed):
    """Return one row of results for each tagger."""
    corpus = make_tagged_corpus(n_sequences, random_state=seed)
    X = [basic_features(tokens) for tokens in corpus.tokens]
    split = train_test_split(X, corpus.labels, test_size=0.25, random_state=seed)
    words = sum(map(len, X))
    print(f"{n_sequences} sentences, {words} words; a quarter is held out\n")
    return [measure(name, each, *split) for name, each in taggers(seed).items()]


def main():
    """Read the command line, compare, print and store."""
    description, usage = __doc__.split("\n\n", 1)
    parser = argparse.ArgumentParser(
        description=description,
        epilog=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sequences", type=int, default=1500, help="default: 1500")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write this")
    options = parser.parse_args()
    if options.sequences < 8:
        parser.error("--sequences must be at least 8: some to learn from, some to test")
    rows = compare(options.sequences, options.seed)
    print(table(rows))
    if options.json:
        report = {"sequences": options.sequences, "seed": options.seed, "rows": rows}
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
