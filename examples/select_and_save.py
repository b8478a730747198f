"""
Does a tagger behave like any other scikit-learn estimator?
===========================================================

Sentences have different lengths, which breaks most sequence libraries inside
scikit-learn. Here a tagger is searched, cross-validated, saved and loaded.
"""

# %%
# A corpus and its features
# -------------------------

import tempfile
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.preprocessing import FunctionTransformer

import skcw
from skcw import CWSequenceTagger, TaggingPipeline
from skcw.data import SequenceEncoder
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import get_scorer
from skcw.features.basic import basic_features
from skcw.metrics import token_accuracy_score

corpus = make_tagged_corpus(400, random_state=0)


def features(sentences):
    """Turn sentences of (word, part of speech) into feature strings."""
    return [basic_features(sentence) for sentence in sentences]


# %%
# Search ``phi`` inside a pipeline, with an integer ``cv``
# --------------------------------------------------------

pipeline = TaggingPipeline(
    [
        ("features", FunctionTransformer(features)),
        ("tagger", CWSequenceTagger(random_state=0)),
    ]
)
search = GridSearchCV(
    pipeline, {"tagger__phi": [0.1, 0.5, 1.0, 2.0]}, scoring=get_scorer("span_f1"), cv=3
)
search.fit(corpus.tokens, corpus.labels)
for phi, score in zip(
    search.cv_results_["param_tagger__phi"],
    search.cv_results_["mean_test_score"],
    strict=True,
):
    print(f"phi {phi}: span F1 {score:.4f}")

# %%
# Cross-validated labels, for folds of equal and of ragged lengths
# ----------------------------------------------------------------
#
# The answer is always one row per sentence, in a 1-D array.

X = features(corpus.tokens)
equal_X = [x[:3] for x in X if len(x) >= 3]
equal_y = [y[:3] for y in corpus.labels if len(y) >= 3]
for name, (some_X, some_y) in {
    "ragged": (X, corpus.labels),
    "equal": (equal_X, equal_y),
}.items():
    labels = cross_val_predict(CWSequenceTagger(random_state=0), some_X, some_y, cv=3)
    accuracy = token_accuracy_score(some_y, labels)
    print(f"{name} lengths: {labels.shape}, {labels.dtype}, accuracy {accuracy:.4f}")

# %%
# Encode once, cross-validate in compiled form
# --------------------------------------------

batch = SequenceEncoder().fit_transform(X)
scores = cross_val_score(
    CWSequenceTagger(random_state=0),
    batch,
    corpus.labels,
    scoring=get_scorer("span_f1"),
    cv=5,
)
print("span F1 of five folds:", np.round(scores, 4))

# %%
# Save, load, and predict the same bits
# -------------------------------------

tagger = CWSequenceTagger(random_state=0).fit(X[:300], corpus.labels[:300])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "tagger.skcw"
    tagger.save(path)
    again = skcw.load(path)
    same = all(
        a == b for a, b in zip(tagger.predict(X), again.predict(X), strict=True)
    ) and all(
        np.array_equal(a, b)
        for a, b in zip(
            tagger.predict_confidence(X), again.predict_confidence(X), strict=True
        )
    )
    print(f"{path.stat().st_size} bytes; same labels and same bits: {same}")
