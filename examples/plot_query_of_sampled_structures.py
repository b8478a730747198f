"""
May I ask a question that nobody has thought of?
================================================

Users of a tagger ask about whatever they need: is this span an entity, do these two
words belong to one name, does the sentence mention a person? No formula gives the
probability of each such answer. But a tagger with a belief over its weights can draw
labelings, and the share of them that say yes is an answer to any question about a
labeling. Systems for coreference are asked in this way which mentions belong together.
Are such shares probabilities?
"""

# %%
# A tagger that draws labelings
# -----------------------------
#
# ``sample`` draws weights around what was learned and decodes with each of
# them. Every draw is a whole labeling, whose labels fit together. Some sentences are
# kept apart: they will be needed to correct what turns out to be wrong.

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from skcw import CWSequenceTagger
from skcw.calibration import BetaCalibrator
from skcw.data import extract_spans
from skcw.datasets import make_tagged_corpus
from skcw.display import ConfidenceCalibrationDisplay
from skcw.evaluation import sampled_pairs
from skcw.features import WindowFeatures
from skcw.metrics import root_calibration_mse, score_decomposition

train = make_tagged_corpus(600, random_state=0)
held_out = make_tagged_corpus(400, random_state=1)
test = make_tagged_corpus(800, random_state=2)

window = WindowFeatures("ner")
tagger = CWSequenceTagger(random_state=0)
tagger.fit(window.fit_transform(train.tokens), train.labels)

N_LABELINGS = 200
samples = tagger.sample(window.transform(test.tokens), N_LABELINGS)

# %%
# Of the first hundred sentences that are not too short, the one about which the draws
# are most nearly in two minds.


def drawn_most_often(s, n):
    """Return the n labelings of a sentence that were drawn most often."""
    return Counter(map(tuple, samples[s])).most_common(n)


def evenness(s):
    """Return how near the labeling drawn most often is to half of the draws."""
    return -abs(drawn_most_often(s, 1)[0][1] / N_LABELINGS - 0.5)


split = max((s for s in range(100) if len(test.tokens[s]) > 5), key=evenness)
print("     ", *(word for word, _ in test.tokens[split]))
for labels, times in drawn_most_often(split, 4):
    print(f"{times / N_LABELINGS:5.1%}", *labels)
print("true ", *test.labels[split])

# %%
# Questions about a labeling
# --------------------------
#
# A question is a function of one labeling, drawn or true. It tells of all places it
# asks about, in the same order for every labeling of a sentence, if the answer is yes.
# Nothing else is needed: ``sampled_pairs`` counts the share of the sample that says
# yes, which is what the tagger claims, and the true labels are one more labeling.

LONGEST = 4


def is_entity(labels):
    """Tell of every span of a few words whether it is an entity, of whatever type."""
    found = {(span.start, span.end) for span in extract_spans(labels)}
    n_words = len(labels)
    return [
        (start, end) in found
        for start in range(n_words)
        for end in range(start + 1, min(start + LONGEST, n_words) + 1)
    ]


def in_one_entity(labels):
    """Tell of every two neighbors whether they belong to one entity."""
    spans = extract_spans(labels)
    joined = {t for span in spans for t in range(span.start, span.end - 1)}
    return [t in joined for t in range(len(labels) - 1)]


def mentions_person(labels):
    """Tell whether the sentence mentions a person: the only thing to ask about."""
    return [any(label.endswith("PER") for label in labels)]


QUESTIONS = {
    "span is an entity": is_entity,
    "neighbors are in one entity": in_one_entity,
    "sentence mentions a person": mentions_person,
}

answers = {
    name: sampled_pairs(samples, test.labels, question)
    for name, question in QUESTIONS.items()
}
for question, (true, claimed, _) in answers.items():
    unsure = np.mean((claimed > 0) & (claimed < 1))
    print(f"{question}: {len(true)} times asked, {true.mean():.1%} yes, ", end="")
    print(f"{unsure:.1%} neither surely yes nor surely no")

# %%
# Are the shares probabilities?
# -----------------------------
#
# Most spans are not entities, and the tagger knows it; the curve shows the others too.
# The shares of the first question are nearly right as they are. Those of the other two
# are too sure in the middle: what is claimed with 0.6 comes true about five times in
# ten. So no single correction suits all questions: each needs its own.

colors = dict(zip(QUESTIONS, ("tab:blue", "tab:orange", "tab:green"), strict=True))


def draw(answers, title):
    """Draw the curves of all questions side by side."""
    figure, panels = plt.subplots(1, 3, figsize=(14, 5.6), layout="constrained")
    for (question, asked), axes in zip(answers.items(), panels, strict=True):
        ConfidenceCalibrationDisplay.from_predictions(
            **asked._asdict(),
            strategy="quantile" if "sentence" in question else "adaptive",
            query=question,
            unit="questions",
            ax=axes,
            curve_kwargs={"color": colors[question]},
        )
    figure.suptitle(title)
    plt.show()


draw(answers, "The share of drawn labelings that say yes")

# %%
# Calibrate each question separately
# ----------------------------------
#
# Answers to the same question about the held-out sentences tell how often a share comes
# true. A monotone map learned from them leaves the order of the answers as it is, so
# discrimination stays; what goes is miscalibration.

others = tagger.sample(window.transform(held_out.tokens), N_LABELINGS)
mended = {}
print(f"{'':30}root CalibMSE      miscalibration    discrimination")
for question, asked in answers.items():
    yes, share, _ = sampled_pairs(others, held_out.labels, QUESTIONS[question])
    true, claimed, _ = asked
    mapped = BetaCalibrator().fit(yes, share)(claimed)
    mended[question] = asked._replace(confidence=mapped)
    scores = [root_calibration_mse(true, q) for q in (claimed, mapped)]
    parts = [score_decomposition("brier_loss", true, q) for q in (claimed, mapped)]
    print(
        f"{question:30}{scores[0]:.4f} -> {scores[1]:.4f}   "
        f"{parts[0].miscalibration:.5f} -> {parts[1].miscalibration:.5f}   "
        f"{parts[0].discrimination:.4f} -> {parts[1].discrimination:.4f}"
    )

draw(mended, "The same after a map learned on other sentences")
