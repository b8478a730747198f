"""
How far can a calibration curve be trusted?
===========================================

A calibration curve is made of shares, each from a number of words. Few words make
shaky shares, and a curve that leaves the diagonal may do so by chance. Bands and
intervals say by how much. What do they show, and which ones tell the truth?
"""

# %%
# The same tagger, judged by few and by many sentences
# ----------------------------------------------------
#
# Each point stands for the words in one tenth of the scale. The band shows where their
# true share of right labels may lie; the score in the legend comes with its interval.
# A hundred sentences cannot tell how well the tagger is calibrated. Judged by fifteen
# hundred it nearly is, and only its unsure words are too few to tell exactly.

import matplotlib.pyplot as plt
import numpy as np

from skcw import CRFSequenceTagger, CWSequenceTagger
from skcw.datasets import make_tagged_corpus
from skcw.display import ConfidenceCalibrationDisplay
from skcw.evaluation import confidence_pairs
from skcw.features import WindowFeatures
from skcw.metrics import calibration_bins, compare_scores
from skcw.metrics.bands import calibration_bands

train = make_tagged_corpus(600, random_state=0)
test = make_tagged_corpus(1500, random_state=1)

window = WindowFeatures("ner")
X_train, X_test = window.fit_transform(train.tokens), window.transform(test.tokens)
cw = CWSequenceTagger(random_state=0).fit(X_train, train.labels)

figure, panels = plt.subplots(1, 2, figsize=(11, 6), layout="constrained")
for n, axes in zip((100, len(X_test)), panels, strict=True):
    ConfidenceCalibrationDisplay.from_estimator(
        cw,
        X_test[:n],
        test.labels[:n],
        strategy="uniform",
        n_bins=10,
        name=f"{n} sentences",
        ax=axes,
    )
plt.show()

# %%
# Where no word is wrong
# ----------------------
#
# The textbook band, p ± 1.96 standard errors, has no width where all words of a bin are
# right, as if the next word could not be wrong. The bands of skcw say how many wrong
# ones may have been missed.

few = confidence_pairs(cw, X_test[:100], test.labels[:100])
bins = calibration_bins(few.correct, few.confidence, strategy="quantile")
bands = {
    method: calibration_bands(
        few.correct,
        few.confidence,
        groups=few.groups,
        method=method,
        strategy="quantile",
    )
    for method in ("wilson", "clopper-pearson")
}
error = np.sqrt(bins.accuracy * (1 - bins.accuracy) / bins.count)
bands = {"p ± 1.96 errors": bins.accuracy + 1.96 * np.outer([-1, 1], error)} | bands
print("confidence  words  right" + "".join(f"{name:>18}" for name in bands))
for b, words in enumerate(bins.count):
    print(f"{bins.confidence[b]:10.3f} {words:6.0f} {bins.accuracy[b]:6.3f}", end="")
    print("".join(f"{low[b]:10.3f} – {high[b]:.3f}" for low, high in bands.values()))

# %%
# Words of one sentence are not independent
# -----------------------------------------
#
# A name that is not known makes several words of its sentence wrong at once. So a
# sentence tells less than as many words from anywhere would, and bands that know which
# words belong together are wider. Displays know it from the sequences they are given.


def width(groups):
    """Return the mean width of the band."""
    low, high = calibration_bands(
        few.correct,
        few.confidence,
        groups=groups,
        strategy="quantile",
    )
    return np.mean(high - low)


print(f"each word by itself: {width(None):.4f}; by sentence: {width(few.groups):.4f}")

# %%
# Would the curve of a calibrated tagger look like this?
# ------------------------------------------------------
#
# Turn the question round: draw outcomes that do follow the confidences, again and
# again, and see where their curves lie. A curve that leaves this band around the
# diagonal is not calibrated, whatever the bins. There are no bins here at all: the
# curve is the best one that never falls.

figure, panels = plt.subplots(1, 2, figsize=(11, 6), layout="constrained")
for n, axes in zip((100, len(X_test)), panels, strict=True):
    ConfidenceCalibrationDisplay.from_estimator(
        cw,
        X_test[:n],
        test.labels[:n],
        strategy="isotonic",
        band="consistency",
        name=f"{n} sentences",
        ax=axes,
    )
plt.show()

# %%
# Another question, another curve
# -------------------------------
#
# Nearly all words are outside of any entity, and their labels are easy: "is the label
# right?" is mostly about them. Ask about what matters instead: is this word part of an
# entity, and is what was taken for a person one, from the first word to the last?

figure, panels = plt.subplots(1, 2, figsize=(11, 6), layout="constrained")
questions = {"not O": {}, "span:PER": {"entity_confidence": "exact"}}
for (query, options), axes in zip(questions.items(), panels, strict=True):
    ConfidenceCalibrationDisplay.from_estimator(
        cw,
        X_test,
        test.labels,
        query=query,
        confidence_options=options,
        strategy="uniform",
        n_bins=10,
        ax=axes,
    )
plt.show()

# %%
# Is one tagger better calibrated than another?
# ---------------------------------------------
#
# Two intervals that overlap do not answer that: both scores are of the same sentences
# and rise and fall together. So sentences are drawn again for both at once, and the
# interval is that of the difference.

crf = CRFSequenceTagger(c2=0.3, max_iter=40).fit(X_train, train.labels)
figure, axes = plt.subplots(figsize=(6, 6.4), layout="constrained")
answers = []
for name, tagger in (("CW", cw), ("CRF", crf)):
    answers.append(confidence_pairs(tagger, X_test, test.labels))
    ConfidenceCalibrationDisplay.from_predictions(
        answers[-1].correct,
        answers[-1].confidence,
        groups=answers[-1].groups,
        strategy="uniform",
        n_bins=10,
        name=name,
        ax=axes,
    )
plt.show()

by_cw, by_crf = answers
found = compare_scores(
    "root_calibration_mse",
    by_cw.correct,
    by_cw.confidence,
    by_crf.correct,
    by_crf.confidence,
    groups=by_cw.groups,
)
print(
    f"CW - CRF: {found.difference:.4f} ({found.low:.4f} to {found.high:.4f}), "
    f"p = {found.p_value:.3f}"
)
