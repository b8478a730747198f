"""Ask a saved pipeline and print the CPU seconds of each question as JSON.

    python benchmarks/_house_questions.py MODEL FILE

It runs with older versions of the package too.
"""

import json
import sys
import time

import skcw
from skcw.io import read_columns

try:
    from skcw.evaluation import confidence_pairs
except ImportError:
    from skcw.metrics import confidence_pairs

CALLS = 3


def least_seconds(work):
    """Return the CPU seconds of the fastest of some calls."""
    seconds = []
    for _ in range(CALLS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main(model, file):
    """Ask, and print."""
    pipeline = skcw.load(model)
    X, y = read_columns(file).split_label()
    labels = [str(label) for label in pipeline.tagger.classes_[:10]]
    questions = {
        "predict": lambda: pipeline.predict(X),
        "confidence": lambda: pipeline.predict_confidence(X),
        "query": lambda: confidence_pairs(pipeline, X, y),
        "one": lambda: confidence_pairs(pipeline, X, y, labels[0]),
        "ten": lambda: confidence_pairs(pipeline, X, y, labels),
    }
    print(json.dumps({name: least_seconds(ask) for name, ask in questions.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
