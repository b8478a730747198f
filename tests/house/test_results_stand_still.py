"""Labels and weights stay bit for bit what they were, confidences to a millionth.

Whoever changes the shape of the package runs this; whoever changes a result on purpose
writes the figures again, ``SKCW_DATA=FOLDER python test_results_stand_still.py``, and
says why.
"""

import gzip
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import skcw
from skcw.features import WindowFeatures

pytestmark = pytest.mark.real_data

FIGURES = Path(__file__).with_suffix(".json")

ONLINE = {
    "CW": skcw.CWSequenceTagger(random_state=0),
    "CW of four": skcw.CWSequenceTagger(n_models=4, random_state=0),
    "AROW": skcw.AROWSequenceTagger(random_state=0),
    "PA": skcw.PASequenceTagger(random_state=0),
    "perceptron": skcw.PerceptronSequenceTagger(random_state=0),
}
TAGGERS = ONLINE | {
    "HMM": skcw.HMMSequenceTagger(word_prefix="word[0]="),
    "MaxEnt": skcw.MaxEntSequenceTagger(tol=0.1, random_state=0),
    "CRF": skcw.CRFSequenceTagger(c2=0.1, trainer_params={"max_iterations": 10}),
}
CLASSIFIERS = {
    "CW": skcw.MultiClassCW(random_state=0),
    "AROW": skcw.MultiClassAROW(random_state=0),
    "PA": skcw.MultiClassPA(random_state=0),
    "perceptron": skcw.MultiClassPerceptron(random_state=0),
}
CHEAP = ("delta", "delta-max", "marginal", "kbv", "wkbv", "kd-fixed")
DRAWN = ("delta-std", "delta-probit", "kd-independent", "kd-pc", "draw-marginal")
METHODS = {
    "CW": (*CHEAP, *DRAWN, "noisy-marginal", "blend"),
    "AROW": ("delta-std", "delta-probit", "kd-pc"),
    "HMM": CHEAP,
    "MaxEnt": ("marginal", "local", "nbest"),
    "CRF": ("marginal",),
}
# Ready sets may grow; what is made of these lines may not change.
CHUNKS = [
    "bias", "word[-2..2]", "bigram(word)[-1..0]", "suffix(1..3)", "short_shape",
    "pos[-2..2]", "bigram(pos)[-2..1]", "trigram(pos)[-2..0]", "word[-1..1] & pos",
]  # fmt: skip
# Their solvers round in their own way.
FOREIGN = ("MaxEnt", "CRF")


def read_columns(path, n_sentences):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        blocks = file.read().split("\n\n")[:n_sentences]
    rows = [[line.split("\t") for line in b.splitlines()] for b in blocks if b.strip()]
    words = [[tuple(token[:-1]) for token in row] for row in rows]
    return words, [[token[-1] for token in row] for row in rows]


def tagged(home, corpus):
    """Return encoded sequences and labels to learn from, and sequences to tag."""
    features, n_train, n_test = {
        "conll2000": (CHUNKS, 1500, 500),
        "ark-twitter-pos": ("pos", 1000, 300),
    }[corpus]
    X, y = read_columns(home / corpus / "train.txt.gz", n_train)
    new, _ = read_columns(home / corpus / "test.txt.gz", n_test)
    extractor = WindowFeatures(features)
    return extractor.fit_transform(X), y, extractor.transform(new)


def newsgroups(home):
    """Return word counts and groups of messages to learn from, and others' counts."""
    path = home / "20newsgroups-bydate" / "data.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for number, line in enumerate(file) if number % 8 == 0]
    X = CountVectorizer(binary=True).fit_transform([row["text"] for row in rows])
    y = np.array([row["label"] for row in rows])
    test = np.arange(len(y)) % 4 == 0
    return X[~test], y[~test], X[test]


def digest(array):
    array = np.ascontiguousarray(array)
    return f"{array.dtype} {hashlib.sha256(array.tobytes()).hexdigest()[:16]}"


def label_digest(rows):
    text = "\n".join(" ".join(row) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def summary(numbers):
    """Return sums that no change of a number can leave alone."""
    numbers = np.asarray(numbers, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    places = np.cos(np.arange(len(numbers)))
    return [len(numbers), float(numbers.sum()), float(numbers @ places)]


def weights_of(name, tagger):
    if name == "CRF":
        return {
            "states": summary(list(tagger.state_features_.values())),
            "transitions": summary(list(tagger.transition_features_.values())),
        }
    names = [n for n in ("coef_", "transition_coef_") if hasattr(tagger, n)]
    names += [n for n in ("coef_variance_",) if hasattr(tagger, n)]
    if name in FOREIGN:
        return {n: summary(getattr(tagger, n).ravel()) for n in names}
    return {n: digest(getattr(tagger, n)) for n in names}


def of_entities(rows):
    return summary([entity.confidence for row in rows for entity in row])


def tagger_figures(name, tagger, X, y, new):
    tagger.fit(X, y)
    few = new[:80]
    found = {"labels": label_digest(tagger.predict(new))}
    found |= weights_of(name, tagger)
    found["default"] = summary(np.concatenate(tagger.predict_confidence(few)))
    for method in METHODS.get(name, ()):
        rows = tagger.predict_confidence(few, method=method)
        found[method] = summary(np.concatenate(rows))
    found["entities"] = of_entities(tagger.predict_entities(few))
    if name in ("CW", "HMM"):
        found["exact"] = of_entities(tagger.predict_entities(few, "exact"))
        found["sequences"] = summary(tagger.predict_sequence_confidence(few))
    table = [
        list(t.values()) for row in tagger.predict_marginals(few[:20]) for t in row
    ]
    found["marginals"] = summary(np.ravel(table))
    nbest = tagger.predict_nbest(few[:20], 3)
    found["nbest"] = label_digest(labels for row in nbest for labels, _ in row)
    found["nbest scores"] = summary([score for row in nbest for _, score in row])
    return found


def classifier_figures(name, classifier, X, y, new):
    classifier.fit(X, y)
    found = {
        "labels": label_digest([classifier.predict(new).tolist()]),
        "coef_": digest(np.asarray(classifier.coef_)),
        "scores": summary(np.ravel(classifier.decision_function(new))),
    }
    if hasattr(classifier, "predict_confidence"):
        found["default"] = summary(classifier.predict_confidence(new))
    return found


CORPORA = {
    "conll2000": (tagged, TAGGERS, tagger_figures),
    "ark-twitter-pos": (tagged, TAGGERS, tagger_figures),
    "newsgroups": (lambda home, _: newsgroups(home), CLASSIFIERS, classifier_figures),
}
CASES = [
    (corpus, name) for corpus, (_, learners, _) in CORPORA.items() for name in learners
]
READ = {}


def figures(home, corpus, name):
    """Return what a learner says of a corpus, by what is asked."""
    read, learners, measure = CORPORA[corpus]
    if corpus not in READ:
        READ[corpus] = read(home, corpus)
    return measure(name, learners[name], *READ[corpus])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("corpus", "name"), CASES)
def test_results_are_those_of_before(data_home, corpus, name):
    kept = json.loads(FIGURES.read_text())[corpus][name]
    found = figures(data_home, corpus, name)
    assert found.keys() == kept.keys()
    for what, before in kept.items():
        if isinstance(before, str):
            assert found[what] == before, what
        else:
            np.testing.assert_allclose(
                found[what], before, rtol=1e-6, atol=1e-6, err_msg=what
            )


if __name__ == "__main__":
    home = Path(os.environ["SKCW_DATA"])
    written = {corpus: {} for corpus in CORPORA}
    for corpus, name in CASES:
        written[corpus][name] = figures(home, corpus, name)
    FIGURES.write_text(json.dumps(written, indent=1) + "\n")
