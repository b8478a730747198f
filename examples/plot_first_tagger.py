"""
Does a tagger know which words it got wrong?
============================================

A tagger is trained on made-up news with names of people, places and firms. It is then
asked for the labels of new sentences, and for its confidence in each of them. If the
confidence is worth its name, a reader who checks the least confident words first finds
most mistakes early.
"""

# %%
# A corpus without a download
# ---------------------------
#
# Tokens are pairs (word, part of speech). The pipeline turns them into features of
# names (the ready set ``"ner"``) and hands these to a confidence-weighted tagger.

import matplotlib.pyplot as plt
import numpy as np

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus

corpus = make_tagged_corpus(1200, random_state=0)
X_train, X_test = corpus.tokens[:800], corpus.tokens[800:]
y_train, y_test = corpus.labels[:800], corpus.labels[800:]

# %%
# Fit and predict
# ---------------
#
# Every answer has one row per sentence: a list of labels, or an array of numbers.

tagger = make_tagging_pipeline("ner", CWSequenceTagger(random_state=0))
tagger.fit(X_train, y_train)
labels = tagger.predict(X_test)
confidence = tagger.predict_confidence(X_test)

for (word, _), label, sure in zip(X_test[0], labels[0], confidence[0], strict=True):
    print(f"{word:15} {label:8} {sure:8.3f}")

# %%
# Read the least confident words first
# ------------------------------------
#
# The confidence here is ``marginal``, the default: the probability of the label, all
# labelings of the sentence considered. There are others, and they can be fitted to
# held-out sentences; see the example on confidence methods.

sure = np.concatenate(confidence)
wrong = np.concatenate(
    [np.not_equal(a, b) for a, b in zip(labels, y_test, strict=True)]
)
order = np.argsort(sure, kind="stable")
found = np.cumsum(wrong[order]) / wrong.sum()
read = np.arange(1, len(order) + 1) / len(order)

tenth = len(order) // 10
print(f"{wrong.sum()} of {len(wrong)} words are wrong;")
print(f"a reader of the least confident tenth finds {found[tenth - 1]:.0%} of them")

# %%
# The answer in two pictures
# --------------------------
#
# Left: the confidence of right and of wrong words. Most words are right and sure, hence
# the logarithmic scale. Right: the share of all mistakes found after reading a share of
# the words; a random order would follow the diagonal.

figure, (values, curve) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")

bins = np.linspace(0, 1, 21)
for mask, name in ((~wrong, "right"), (wrong, "wrong")):
    values.hist(sure[mask], bins=bins, alpha=0.6, label=name, log=True)
values.set(
    xlabel="confidence (marginal)", ylabel="number of words", title="Two kinds of words"
)
values.legend(loc="upper left")

curve.plot(read, found, label="least confident first")
curve.plot([0, 1], [0, 1], linestyle="--", color="gray", label="in any order")
curve.set(
    xlabel="share of the words read",
    ylabel="share of the mistakes found",
    title="What a reader finds",
)
curve.legend(loc="lower right")
plt.show()
