"""
When should a classifier ask a person?
======================================

Reviews are sorted by the thing they are about. The classifier knows how sure it is of
each answer, so the doubtful ones can go to a person: how many must she read?
"""

# %%
# Text in, labels out
# -------------------
#
# ``MultiClassCW`` is an ordinary scikit-learn classifier of sparse rows. It trains in a
# few passes, each of which costs as much as reading the data.

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skcw import MultiClassCW
from skcw.datasets import make_reviews
from skcw.display import ConfidenceCalibrationDisplay
from skcw.metrics import risk_coverage_curve

train = make_reviews(3000, target="domain", random_state=0)
test = make_reviews(2000, target="domain", random_state=1)


def pipeline(classifier):
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    return make_pipeline(words, classifier)


for classifier in (MultiClassCW(random_state=0), LinearSVC(random_state=0)):
    model = pipeline(classifier)
    rows = model[0].fit_transform(train.data)
    start = time.perf_counter()
    classifier.fit(rows, train.target)
    seconds = time.perf_counter() - start
    accuracy = classifier.score(model[0].transform(test.data), test.target)
    name = type(classifier).__name__
    print(f"{name:14} accuracy {accuracy:.3f}, fit {seconds:.3f} s")

# %%
# Probabilities from a Gaussian
# -----------------------------
#
# Every weight has a mean and a variance, so the scores of the labels are Gaussians too,
# and the probability of a label is the probability that its score is the highest. How
# wide the Gaussians are, and how much noise to add, is learned from rows that the first
# passes leave out.

for scale in (1.0, "held-out"):
    model = pipeline(MultiClassCW(variance_scale=scale, random_state=0))
    model.fit(train.data, train.target)
    loss = log_loss(test.target, model.predict_proba(test.data))
    chosen = model[-1].variance_scale_
    print(f"variances times {chosen:5.2f}: log-loss {loss:.3f}")

# %%
# Ask where it is least sure
# --------------------------
#
# With the rows sorted by confidence, the curve tells the share of wrong labels among
# those that no person has read. The random reader reads as many rows, but not the
# doubtful ones.

correct = model.predict(test.data) == test.target
vectors = model[0].transform(test.data)
curves = {
    "probability": model[-1].predict_confidence(vectors),
    "margin M": model[-1].predict_confidence(vectors, "margin"),
    "margin M / √V": model[-1].predict_confidence(vectors, "normalized-margin"),
}

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, confidence in curves.items():
    coverage, risk, _ = risk_coverage_curve(correct, confidence)
    axes.plot(1 - coverage, risk, label=name)
axes.axhline(1 - correct.mean(), color="gray", linestyle="--", label="a random reader")
axes.set(
    xlabel="share of the reviews that a person reads",
    ylabel="share of wrong labels among the rest",
    title="Who reads the doubtful tenth finds most of the errors",
    xlim=(0, 0.6),
    ylim=(0, None),
)
axes.legend()
plt.show()

read = np.argsort(curves["probability"])[: len(correct) // 10]
found = (~correct[read]).sum() / (~correct).sum()
print(f"the doubtful tenth holds {found:.0%} of the errors")

# %%
# Does 0.9 mean nine in ten?
# --------------------------
#
# With the variances as they are the classifier is too modest: of the labels it gives
# three chances in four, nearly nine in ten are right. ``CalibratedClassifierCV`` of
# scikit-learn takes ``MultiClassCW`` like any other classifier, and learns sigmoids on
# folds of the training reviews, which do not help here. By default, with what the rows
# held out have taught it, the classifier is nearest to the line.
# ``ConfidenceCalibrationDisplay`` draws all of them, for it asks classifiers for
# ``predict_proba`` as it asks taggers for their confidence.

classifier = MultiClassCW(variance_scale=1.0, random_state=0)
models = {
    "variances as they are": pipeline(classifier),
    "CalibratedClassifierCV": pipeline(CalibratedClassifierCV(classifier, cv=3)),
    "by default": pipeline(MultiClassCW(random_state=0)),
}
figure, axes = plt.subplots(figsize=(6, 6.2), layout="constrained")
for name, model in models.items():
    model.fit(train.data, train.target)
    ConfidenceCalibrationDisplay.from_estimator(
        model, test.data, test.target, strategy="quantile", name=name, ax=axes
    )
    loss = log_loss(test.target, model.predict_proba(test.data))
    print(f"{name:22} log-loss {loss:.3f}")
figure.suptitle("Above the diagonal a classifier is too modest, below it too sure")
plt.show()
