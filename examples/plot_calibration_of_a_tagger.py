"""
Does 0.9 mean nine in ten?
==========================

A tagger says how sure it is of every label. If a program is to act on that, "0.9" must
come true nine times in ten. Does it, and what can be done where it does not, without
changing a single label?
"""

# %%
# Two taggers and what they claim
# -------------------------------
#
# AROW is trained for margins: its scores have no natural scale. ``fit`` learns one, but
# here it does not (``calibrate_confidence=False``), and at the usual temperature the
# marginals are a little too modest. The other tagger is a CRF, whose marginals mean to
# be probabilities, but this one has hardly any regularization and has learned its
# training sentences by heart. There are three sets of sentences: for training, for
# calibration and for testing.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from skcw import AROWSequenceTagger, CRFSequenceTagger
from skcw.calibration import CalibratedTagger
from skcw.datasets import make_tagged_corpus
from skcw.display import ConfidenceCalibrationDisplay
from skcw.evaluation import confidence_pairs, get_scorer
from skcw.features import WindowFeatures
from skcw.metrics import (
    brier_loss,
    calibration_bins,
    error_average_precision,
    log_loss,
    root_calibration_mse,
)

train = make_tagged_corpus(600, random_state=0)
held_out = make_tagged_corpus(400, random_state=1)
test = make_tagged_corpus(1000, random_state=2)

window = WindowFeatures("ner")
X_train, y_train = window.fit_transform(train.tokens), train.labels
X_held_out, y_held_out = window.transform(held_out.tokens), held_out.labels
X_test, y_test = window.transform(test.tokens), test.labels

arow = AROWSequenceTagger(calibrate_confidence=False, random_state=0)
arow.fit(X_train, y_train)
crf = CRFSequenceTagger(c2=0.001, max_iter=40).fit(X_train, y_train)

# %%
# Calibrate them
# --------------
#
# ``CalibratedTagger`` learns a monotone map from confidence to the share of right
# labels, on words that the tagger has not learned from. They come from folds of the
# training sentences, for which copies of the tagger are fitted; or a tagger that is
# fitted already stays as it is (``FrozenEstimator``) and other sentences are given.
# Words are few here, so the map is one of three parameters.

arow_mended = CalibratedTagger(arow, method="beta").fit(X_train, y_train)
crf_mended = CalibratedTagger(FrozenEstimator(crf), method="beta")
crf_mended.fit(X_held_out, y_held_out)

taggers = {"AROW": (arow, arow_mended), "CRF": (crf, crf_mended)}

figure, panels = plt.subplots(1, 2, figsize=(11, 6), layout="constrained")
for (name, pair), axes in zip(taggers.items(), panels, strict=True):
    for tagger, state in zip(pair, ("by default", "calibrated"), strict=True):
        ConfidenceCalibrationDisplay.from_estimator(
            tagger, X_test, y_test, bin_size=300, name=f"{name}, {state}", ax=axes
        )
figure.suptitle("Above the diagonal a tagger is too modest, below it too sure")
plt.show()

# %%
# What changes and what does not
# ------------------------------
#
# Labels are the tagger's own, so accuracy stays. Words keep their order: a map never
# falls, and where it is flat, words that the tagger told apart are still told apart. So
# the average precision of finding wrong words stays, too. What improves is every score
# that asks for probabilities.


def figures(tagger):
    """Return the scores of a tagger in one line."""
    right, sure, _ = confidence_pairs(tagger, X_test, y_test)
    return (
        f"{right.mean():8.4f} {error_average_precision(right, sure):6.3f} "
        f"{root_calibration_mse(right, sure):8.4f} {brier_loss(right, sure):7.4f} "
        f"{log_loss(right, sure):7.4f}"
    )


HEADINGS = f"{'':24}accuracy     AP CalibMSE*   Brier log loss    (* its root)"
print(HEADINGS)
for name, (before, after) in taggers.items():
    print(f"{name + ' by default':24}{figures(before)}")
    print(f"{name + ' calibrated':24}{figures(after)}")

# %%
# Which map?
# ----------
#
# Isotonic regression, the default, takes any shape and pays for it where words are few.
# The others have two, one or three parameters. A temperature leaves one half where it
# is, which does not suit AROW. Here are the maps, with the shares of right labels they
# should meet on the test set.

maps = {
    name: CalibratedTagger(arow, method=name, ensemble=False).fit(X_train, y_train)
    for name in ("isotonic", "sigmoid", "temperature", "beta")
}
print(HEADINGS)
for name, tagger in maps.items():
    print(f"{name:24}{figures(tagger)}")

right, sure, _ = confidence_pairs(arow, X_test, y_test)
bins = calibration_bins(right, sure, bin_size=300)
grid = np.linspace(0, 1, 501)
figure, axes = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
axes.plot([0, 1], [0, 1], ":", color="gray", label="leave it as it is")
for name, tagger in maps.items():
    axes.plot(grid, tagger.calibrators_[0].common(grid), label=name)
axes.scatter(bins.confidence, bins.accuracy, 16, color="black", zorder=3,
             label="300 words of the test set")  # fmt: skip
axes.set(xlabel="confidence of AROW", ylabel="probability that the label is right")
axes.legend()
plt.show()

# %%
# Not on the training words
# -------------------------
#
# The CRF is right about nearly every word of its training data. A map fitted there
# would make it overconfident, so training data are refused.
# ``allow_training_data=True`` shows the effect.

try:
    clone(crf_mended).fit(X_train, y_train)
except ValueError as error:
    print("refused:", error)

careless = clone(crf_mended).set_params(allow_training_data=True)
careless.fit(X_train, y_train)
print(HEADINGS)
for name, tagger in zip(
    ("CRF by default", "training words", "other words"),
    (crf, careless, crf_mended),
    strict=True,
):
    print(f"{name:24}{figures(tagger)}")

# %%
# Distances become probabilities
# ------------------------------
#
# ``method="delta"`` is the cheapest answer to "how sure?": what the labeling loses if
# one word gets its next best label. It has no upper end. Isotonic and sigmoid maps
# take it all the same.

distances = CalibratedTagger(arow, confidence_method="delta", method="sigmoid").fit(
    X_train, y_train
)
print(HEADINGS)
print(f"{'delta by a sigmoid':24}{figures(distances)}")

# %%
# Let a search choose
# -------------------
#
# How to ask the tagger and how to map the answer are parameters, so that a grid search
# can tune a tagger's confidence by a score of its calibration. CalibMSE alone does not
# ask whether a tagger tells words apart: a tagger that gives all of them the same
# probability can be calibrated. So watch a proper loss, such as the log loss, as well.

scores = "neg_calibration_mse", "neg_log_loss"
search = GridSearchCV(
    CalibratedTagger(arow, cv=3),
    [
        {
            "confidence_method": ["marginal", "delta"],
            "method": ["isotonic", "sigmoid"],
        },
        {
            "confidence_method": ["kd-fixed"],
            "method": ["sigmoid"],
            "variance_scale": [1.0, 4.0],
        },
    ],
    scoring={name: get_scorer(name) for name in scores},
    refit="neg_calibration_mse",
    cv=2,
).fit(X_train, y_train)
print("root CalibMSE    log loss")
found = [-search.cv_results_[f"mean_test_{name}"] for name in scores]
for calibration, log, chosen in zip(*found, search.cv_results_["params"], strict=True):
    print(f"{np.sqrt(calibration):13.4f} {log:11.4f}  ", chosen)
print(HEADINGS)
print(f"{'the best calibrated':24}{figures(search.best_estimator_)}")
