"""
Can a trained tagger learn a new label?
=======================================

A tagger has been in use for a while when its users ask for a label that it never saw:
dates. Training it again on everything would take the old data along for ever.
``partial_fit`` continues from where the tagger is.
"""

# %%
# The past: a corpus in which dates were not marked
# --------------------------------------------------

import matplotlib.pyplot as plt

from skcw import make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.metrics.label_scores import span_precision_recall_fscore_support


def without_dates(labels):
    """Return label sequences in which DATE is O."""
    return [["O" if x.endswith("DATE") else x for x in row] for row in labels]


old = make_tagged_corpus(800, random_state=0)
new = make_tagged_corpus(300, random_state=1)
test = make_tagged_corpus(500, random_state=2)

tagger = make_tagging_pipeline("ner")
tagger.fit(old.tokens, without_dates(old.labels))
print("labels known:", *tagger.classes_)

# %%
# The present: new sentences arrive, 25 at a time
# ------------------------------------------------
#
# Words, features and labels that were never seen before join the model as they come.

types = ["DATE", "LOC", "MISC", "ORG", "PER"]


def f_of_types():
    """Return the F of every type on the test sentences."""
    _, _, f, _ = span_precision_recall_fscore_support(
        test.labels, tagger.predict(test.tokens), labels=types, zero_division=0
    )
    return f


curve = [f_of_types()]
for start in range(0, 300, 25):
    part = slice(start, start + 25)
    tagger.partial_fit(new.tokens[part], new.labels[part])
    curve.append(f_of_types())
print("labels known:", *tagger.classes_)
for name, before, after in zip(types, curve[0], curve[-1], strict=True):
    print(f"{name:5} F before {before:.3f}, after {after:.3f}")

# %%
# The answer in a picture
# -----------------------
#
# The new label is learned from a few dozen sentences, and the others are kept.

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, values in zip(types, zip(*curve, strict=True), strict=True):
    axes.plot(
        range(0, 301, 25), values, marker=".", linewidth=3 if name == "DATE" else 1.2,
        label=name,
    )  # fmt: skip
axes.set(
    xlabel="new sentences seen",
    ylabel="F on other sentences",
    title="A label that joins later",
    ylim=(-0.02, 1),
)
axes.legend(loc="lower right")
plt.show()
