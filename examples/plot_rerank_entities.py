"""
Which global features changed a decision?
=========================================

A tagger sees a few words at a time. Whether a whole quotation is one title, or how a
name ends, only a labeling as a whole can tell. A reranker reads such features: it
chooses among the best labelings of a tagger. Here we ask it why.
"""

# %%
# A corpus with quoted titles
# ---------------------------
#
# Reviews quote titles, which are entities, and what people say, which is none. Of a
# title most words begin with a capital, of speech few do. A window of words cannot
# count them. Words are invented: most have never been seen before.

import matplotlib.pyplot as plt
import numpy as np

from skcw import CWSequenceTagger, make_tagging_pipeline
from skcw.metrics import span_f1_score
from skcw.reranking import CWReranker, RerankedTagger, oracle_scores

SYLLABLES = ["ba", "do", "fi", "ga", "ku", "le", "mi", "no", "pe", "ra", "so", "tu"]
CITIES = ["Berlin", "Lima", "Oslo", "Quito", "Riga", "Seoul", "Tunis", "Vilnius"]


def word(rng):
    """Return an invented word."""
    return "".join(rng.choice(SYLLABLES, size=rng.randint(2, 4)))


def phrase(rng, is_title):
    """Return a quotation whose words are mostly capitalized, or mostly not."""
    n = int(rng.choice([3, 5, 7]))
    most = n // 2 + 1
    n_capitals = rng.randint(most, n + 1) if is_title else rng.randint(1, most)
    capital = np.zeros(n, dtype=bool)
    # The first word is always one of them.
    capital[[0, *(1 + rng.permutation(n - 1)[: n_capitals - 1])]] = True
    return [word(rng).capitalize() if up else word(rng) for up in capital]


def sentence(rng):
    """Return a sentence with a quotation, and its labels."""
    is_title = rng.rand() < 0.5
    quoted = phrase(rng, is_title)
    labels = ["O"] * len(quoted)
    if is_title:
        labels = ["B-WORK", *["I-WORK"] * (len(quoted) - 1)]
    head = [word(rng).capitalize(), str(rng.choice(["wrote", "said", "sang", "heard"]))]
    tail = ["in", str(rng.choice(CITIES)), "."]
    return [*head, '"', *quoted, '"', *tail], [
        *["B-PER", "O", "O"],
        *labels,
        *["O", "O", "B-LOC", "O"],
    ]


rng = np.random.RandomState(0)
corpus = [sentence(rng) for _ in range(700)]
X, y = [words for words, _ in corpus], [labels for _, labels in corpus]
X_new, y_new, X, y = X[200:], y[200:], X[:200], y[:200]
for words in X[:3]:
    print(" ".join(words))

# %%
# A tagger, and a reranker on top of it
# -------------------------------------
#
# The tagger sees each word, its shape and the label before. The reranker learns from
# the lists of five copies of it, each of which has not seen the sentences that it
# labels.

base = make_tagging_pipeline(["word[0]", "shape[0]"], CWSequenceTagger(random_state=0))
# The templates of the paper, whose features can be told in words below.
templates = ("entities", "quotations")
tagger = RerankedTagger(
    base, CWReranker(random_state=0), n_best=20, cv=5, templates=templates
).fit(X, y)

plain, chosen = tagger.estimator_.predict(X_new), tagger.predict(X_new)
lists = tagger.estimator_.predict_nbest(X_new, 20)
print(f"F1 of the tagger     {span_f1_score(y_new, plain):.3f}")
print(f"F1 of the reranker   {span_f1_score(y_new, chosen):.3f}")
for n, (_, _, f1) in oracle_scores(y_new, lists, n=(5, 20)).items():
    print(f"F1 of the best of {n:2d} {f1:.3f}")

# %%
# What changed its mind, in words
# -------------------------------
#
# For every sentence whose labels have changed we take the feature that spoke loudest.
# Names of features on entities begin with the type of the entity.

MEANINGS = {
    "WE": "the whole name is “{}”",
    "FF": "the words of the name look like {}",
    "GF": "the words of the name look like {} (1: mostly in small letters)",
    "LW": "the name ends with “{}”",
    "LWLC": "the last word of the name is in small letters: {}",
    "PF": "the name begins with words like {}",
    "SF": "the name ends, read backwards, with words like {}",
    "BO": "the name begins after and with “{}”",
    "BE": "the name ends with and before “{}”",
    "TO": "around the beginning of the name stands “{}”",
    "TE": "around the end of the name stands “{}”",
    "Q": "a quotation is labeled like this: {}",
    "QF": "of a quotation (entity, words in capitals, in small letters, ends): {}",
    "QF2": "of a quotation (entity, whether capitals are most, ends): {}",
}


def in_words(feature):
    """Return the meaning of a feature."""
    kind, rest = ("", feature) if feature[0] == "Q" else feature.split(" ", 1)
    template, value = rest.split("=", 1)
    name = template if template in MEANINGS else template.rstrip("0123456789")
    return f"{kind} {MEANINGS[name].format(value)}".strip()


def loudest(words):
    """Return what spoke loudest for a choice, and whether the old labels had it."""
    choice = tagger.explain_choice(words)
    found = [(weight, name, False) for name, weight in choice.gained]
    found += [(-weight, name, True) for name, weight in choice.lost]
    return max(found)[1:]


changed = [s for s, labels in enumerate(chosen) if labels != plain[s]]
reasons = {s: loudest(X_new[s]) for s in changed}
better = sum(chosen[s] == y_new[s] for s in changed)
worse = sum(plain[s] == y_new[s] for s in changed)
print(f"{len(changed)} sentences changed: {better} are right now, {worse} were before")
for s in changed[:5]:
    feature, is_old = reasons[s]
    side = "against the old labels" if is_old else "for the new labels"
    print(f"\n{' '.join(X_new[s])}")
    print(f"  before: {' '.join(plain[s])}")
    print(f"  now:    {' '.join(chosen[s])}")
    print(f"  {side} speaks: {in_words(feature)}")

# %%
# Which templates speak loudest
# -----------------------------
#
# Features of quotations see what no window of words can see.

spoken = [feature.split("=")[0] for feature, _ in reasons.values()]
names, counts = np.unique(spoken, return_counts=True)
order = np.argsort(counts)[-8:]
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.barh(names[order], counts[order])
axes.set_xlabel("changed sentences in which the template speaks loudest")
plt.show()
