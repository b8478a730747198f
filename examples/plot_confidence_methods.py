"""
Which confidence method should I use?
=====================================

A tagger can say in many ways how sure it is of a label: by distances of scores, by
marginals, by the vote of its best labelings, or by the vote of models drawn from its
belief. All of them are asked here about the same labels. What does each cost, does it
find the wrong words, and are its numbers the probabilities they look like?
"""

# %%
# One tagger, three sets of sentences
# -----------------------------------
#
# The first set is for the weights. The second one is for the scale, the temperature or
# the number of votes that a method depends on. The third one is for the figures.

import time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from skcw import CWSequenceTagger
from skcw.confidence.methods import METHODS
from skcw.datasets import make_tagged_corpus
from skcw.features import WindowFeatures
from skcw.metrics import (
    calibration_bins,
    error_average_precision,
    errors_at_k,
    residual_errors_at_k,
    root_calibration_mse,
    token_correct,
)

train = make_tagged_corpus(1000, random_state=0)
held_out = make_tagged_corpus(300, random_state=1)
test = make_tagged_corpus(1000, random_state=2)

window = WindowFeatures("ner")
tagger = CWSequenceTagger(random_state=0)
tagger.fit(window.fit_transform(train.tokens), train.labels)
X_held_out, X_test = window.transform(held_out.tokens), window.transform(test.tokens)

correct = np.concatenate(token_correct(test.labels, tagger.predict(X_test)))
n_words, n_wrong = len(correct), np.count_nonzero(~correct)
review = n_words // 20
print(f"{n_wrong} of {n_words} labels are wrong; a reader has time for {review} words")

# %%
# Every method by default, and fitted
# ------------------------------------
#
# Methods run from cheap to costly. Those that depend on a parameter are asked twice:
# with its default, and with the value that ``fit_confidence`` finds best on the
# held-out sentences. It goes by the logarithmic loss here, which is about
# probabilities: methods that draw models come closer to the truth (RMSE over 20 bins).
# The order of the words may gain or lose (AP, the average precision of finding wrong
# ones, and the wrong ones left after the review). The distances of ``delta`` and its
# kin are not probabilities.

# Twenty bins of the same width, each of which claims its center.
CENTERED: dict[str, Any] = {"strategy": "uniform", "n_bins": 20, "claim": "center"}
fitting = {"metric": "log_loss", "n_values": 9, "n_draws": 24}


def figures(sure, probability):
    """Return average precision, RMSE and the errors left after the review."""
    rmse = ""
    if probability:
        rmse = f"{root_calibration_mse(correct, sure, **CENTERED):.3f}"
    precision = error_average_precision(correct, sure)
    [left] = residual_errors_at_k(correct, sure, review)
    return f"{precision:.3f} {rmse:>6} {left:5.0f}"


by_default, fitted = {}, {}
print(f"{'':24}  {'by default':18}    fitted")
print(f"{'':15}  seconds" + "     AP   RMSE  left" * 2)
for name, method in METHODS.items():
    start = time.perf_counter()
    rows = tagger.predict_confidence(X_test, name)
    seconds = time.perf_counter() - start
    by_default[name] = fitted[name] = np.concatenate(rows)
    line = f"{name:15} {seconds:8.3f}  {figures(fitted[name], method.probability)}"
    if method.tunes:
        tagger.fit_confidence(X_held_out, held_out.labels, name, **fitting)
        fitted[name] = np.concatenate(tagger.predict_confidence(X_test, name))
        line += f"  {figures(fitted[name], method.probability)}"
    print(line)

# %%
# Who finds the wrong words?
# --------------------------
#
# Least confident words first, all methods fitted; dashed ones are not probabilities. On
# the right the same curves as gain over ``delta``, in wrong words. For a short review
# ``delta`` is as good as any here. Methods that let the neighbors of a word change
# their labels too gain beyond the first twentieth, while the vote of the few best
# labelings lags behind.

figure, (curves, gains) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
n = np.unique(np.geomspace(50, n_words // 3, 200).astype(int))
base = errors_at_k(correct, fitted["delta"], n)
colors = plt.get_cmap("turbo")(np.linspace(0, 1, len(METHODS)))
for (name, method), color in zip(METHODS.items(), colors, strict=True):
    found = errors_at_k(correct, fitted[name], n)
    style = {"color": color, "linestyle": "-" if method.probability else "--"}
    curves.plot(n / n_words, found / n_wrong, label=name, **style)
    gains.plot(n / n_words, found - base, **style)
for axes in (curves, gains):
    axes.axvline(0.05, color="lightgray", zorder=0)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.set_xlabel("words read (log scale)")
curves.yaxis.set_major_formatter(lambda y, _: f"{y:.0%}")
curves.set(ylabel="wrong labels found", title="What a reader finds")
gains.set(ylabel="wrong labels found more than by delta", title="Gain over delta")
figure.legend(loc="outside right center")
plt.show()

# %%
# Are they probabilities?
# -----------------------
#
# In each of 20 bins of confidence, how many labels are right? The diagonal is perfect.
# Above it a method is too modest, below it too sure. Points grow with the number of
# words in their bin: nearly all words are in the last one, and the first ones are left
# to chance.

probabilities = [name for name, method in METHODS.items() if method.probability]
figure, panels = plt.subplots(
    -(-len(probabilities) // 3), 3, figsize=(9, 9), sharex=True, sharey=True,
    layout="constrained",
)  # fmt: skip
for name, axes in zip(probabilities, panels.flat, strict=False):
    axes.plot([0, 1], [0, 1], "--", color="gray", linewidth=1)
    for answers, color, label in (
        (by_default, "tab:orange", "by default"),
        (fitted, "tab:blue", "fitted"),
    ):
        bins = calibration_bins(correct, answers[name], **CENTERED)
        axes.plot(bins.confidence, bins.accuracy, color=color, label=label)
        axes.scatter(bins.confidence, bins.accuracy, np.sqrt(bins.count), color=color)
    axes.set_title(name)
for axes in panels.flat[len(probabilities) :]:
    axes.set_axis_off()
panels[0, 0].legend()
figure.supxlabel("confidence")
figure.supylabel("share of right labels")
plt.show()

# %%
# What ``fit_confidence`` has seen
# --------------------------------
#
# It keeps the whole curve of every parameter in ``confidence_``. Values are in units
# of the model's own scale, so they can be compared between models. Around the best
# value there is some room; a scale or a temperature that is far too large is what does
# harm.

figure, panels = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for parameter, axes in zip(
    ("variance_scale", "temperature", "n_best"), panels, strict=True
):
    for name, fit in tagger.confidence_.items():
        # Methods with two parameters would only repeat what is there.
        if parameter not in fit["curves"] or len(fit["curves"]) > 1:
            continue
        curve = fit["curves"][parameter]
        (line,) = axes.plot(curve["grid"], curve["scores"], marker=".", label=name)
        best = fit["values"][parameter]
        axes.plot(best, max(curve["scores"]), "o", color=line.get_color())
    axes.set_xscale("log")
    axes.set(xlabel=parameter, title=f"Choosing the {parameter}")
    axes.legend(loc="lower left" if parameter != "n_best" else "best", fontsize="small")
panels[0].set_ylabel("mean log-likelihood")
plt.show()

# %%
# How sure of a name?
# -------------------
#
# Entities have several words, and users differ in what must be right about them: every
# single word (its least sure one, or all of them together), where the name begins and
# ends, or this and its type. Of the first fifty sentences, here is the one where the
# definitions differ most.

DEFINITIONS = ("least-word", "all-words", "boundary", "exact")
some = X_test[:50]
by_definition = [tagger.predict_entities(some, name) for name in DEFINITIONS]
# For each sentence its entities, each as often as there are definitions.
entities = [list(zip(*rows, strict=True)) for rows in zip(*by_definition, strict=True)]


def difference(same):
    """Return how far the confidences of one entity are apart."""
    return np.ptp([entity.confidence for entity in same])


s = max(
    range(len(entities)), key=lambda s: max(map(difference, entities[s]), default=0.0)
)
words = [word for word, _ in test.tokens[s]]
print(*words)
print(f"{'':30}", *(f"{name:>11}" for name in DEFINITIONS))
for same in entities[s]:
    label, start, end, _ = same[0]
    name = f"{label} {' '.join(words[start:end])}"
    print(f"{name:30}", *(f"{entity.confidence:11.3f}" for entity in same))
