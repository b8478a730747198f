"""
What does a feature set buy?
============================

Features are described in lines of text. Here they are added one line at a time, and
each time a tagger is trained and asked for the names in new sentences.
"""

# %%
# Lines of features
# -----------------
#
# ``"word[-1..1]"`` is the word before, the word itself and the next one;
# ``"shape[-1] & shape[0]"`` looks at two shapes together. The class
# :class:`~skcw.features.WindowFeatures` lists all that a line can say.

import time

import matplotlib.pyplot as plt

from skcw import CWSequenceTagger
from skcw.datasets import make_tagged_corpus
from skcw.features import WindowFeatures
from skcw.metrics import span_f1_score

train = make_tagged_corpus(1000, random_state=0)
test = make_tagged_corpus(500, random_state=1)

STEPS = {
    "the word": ["bias", "word"],
    "+ its neighbors": ["word[-2,-1,1,2]"],
    "+ pairs of words": ["bigram(word)[-1..0]"],
    "+ beginnings and endings": ["prefix(1..4)", "suffix(1..4)"],
    "+ shapes": ["short_shape[-2..2]", "bigram(short_shape)[-1..0]"],
    "+ parts of speech": ["pos[-2..2]", "bigram(pos)[-1..0]"],
}

# %%
# One line more at a time
# -----------------------

lines, scores, sizes = [], [], []
for step, added in STEPS.items():
    lines += added
    window = WindowFeatures(lines)
    start = time.perf_counter()
    batch = window.fit_transform(train.tokens)
    seconds = time.perf_counter() - start
    tagger = CWSequenceTagger(random_state=0).fit(batch, train.labels)
    labels = tagger.predict(window.transform(test.tokens))
    scores.append(span_f1_score(test.labels, labels))
    sizes.append(batch.n_features)
    print(f"{step:26} F1 {scores[-1]:.4f}  {sizes[-1]:6d} features  {seconds:.3f} s")

# %%
# A template file says the same
# -----------------------------
#
# Lines of CRF++ templates are understood as they are, and give the same features as
# ours, under the names that CRF++ gives them.

ours = WindowFeatures(["word[-1..0]", "word[-1] & word[0]"])
theirs = WindowFeatures(["U00:%x[-1,0]", "U01:%x[0,0]", "U02:%x[-1,0]/%x[0,0]", "B"])
a, b = ours.fit_transform(train.tokens), theirs.fit_transform(train.tokens)
print("same numbers:", (a.indices == b.indices).all())
print(ours.get_feature_names_out()[2], "is", theirs.get_feature_names_out()[2])

# %%
# The answer in a picture
# -----------------------

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.barh(list(STEPS), scores, color="tab:blue", alpha=0.7)
for y, (score, size) in enumerate(zip(scores, sizes, strict=True)):
    axes.text(score + 0.01, y, f"{score:.3f}  ({size:,} features)", va="center")
axes.invert_yaxis()
axes.set(xlim=(0, 1.35), xlabel="span F1 on new sentences", title="Line by line")
plt.show()
