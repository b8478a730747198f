"""
Accept or review at a controlled risk
=====================================

A tagger labels most words right, and a person who reads all of them has little to do.
Which labels can be accepted as they are, so that at most one in a hundred of them is
wrong? And is the true risk below that bound?
"""

# %%
# Train and calibrate
# -------------------
#
# The tagger is trained on some sentences. On others, which it has not seen,
# ``SelectiveTagger`` finds a threshold of confidence for each of several risks: each
# bound holds with a probability of 95 %.

import matplotlib.pyplot as plt
import numpy as np

from skcw import CWSequenceTagger, SelectiveTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.display import RiskControlDisplay
from skcw.evaluation import confidence_pairs

train = make_tagged_corpus(1500, random_state=0)
held_out = make_tagged_corpus(2000, random_state=1)
new = make_tagged_corpus(2000, random_state=2)

tagger = make_tagging_pipeline("ner", CWSequenceTagger(random_state=0))
tagger.fit(train.tokens, train.labels)
selective = SelectiveTagger(tagger, risk=[0.01, 0.02], cv="prefit")
selective.fit(held_out.tokens, held_out.labels)
for threshold in selective.thresholds_:
    print(threshold)

# %%
# The true risk
# -------------
#
# On new sentences the share of wrong words among the accepted ones is below its bound.
# Everything else is left for review.

correct, _, _ = confidence_pairs(tagger, new.tokens, new.labels)
for threshold in selective.thresholds_:
    accepted = np.concatenate(selective.accept(new.tokens, threshold.risk))
    print(
        f"at most {threshold.risk:.0%}: accepted {accepted.mean():.1%}, of which "
        f"{1 - correct[accepted].mean():.2%} are wrong; {(~accepted).sum()} of "
        f"{len(accepted)} words are left to review, "
        f"{1 - correct[~accepted].mean():.0%} of them wrong"
    )

# %%
# Many risks at once
# ------------------
#
# The same for 25 risks, from the confidences of any model.

pairs = [confidence_pairs(tagger, c.tokens, c.labels) for c in (held_out, new)]
display = RiskControlDisplay.from_predictions(
    pairs[0].correct,
    pairs[0].confidence,
    pairs[1].correct,
    pairs[1].confidence,
    groups=pairs[0].groups,
    name="CW",
)
display.ax_.set_title("True risk and its bound")

# %%
# Text of another kind
# --------------------
#
# The bound holds for sentences like those of calibration. Of others ``exchangeability``
# says how they differ, and ``accept`` warns.

shouted = [[(word.upper(), tag) for word, tag in row] for row in new.tokens[:200]]
for difference in selective.exchangeability(shouted):
    print(difference)

# %%
# Sets instead of labels
# ----------------------
#
# Where a word is not accepted, a reader may choose from a few labels: the sets below
# contain the true label of all but one word in a hundred.

sets = selective.predict_sets(new.tokens)
sizes = np.array([len(labels) for row in sets for labels in row])
missed = np.mean(
    [
        label not in labels
        for row, truth in zip(sets, new.labels, strict=True)
        for labels, label in zip(row, truth, strict=True)
    ]
)
print(f"mean size {sizes.mean():.3f}, {missed:.2%} of the labels missed")
plt.show()
