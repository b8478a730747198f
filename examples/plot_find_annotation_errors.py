"""
Where did the annotator go wrong?
=================================

Hand-made labels contain mistakes. A tagger that was trained without a sentence can say
how sure it is of the labels that this sentence was given. Words whose labels it
believes least are read again first. How many of the mistakes does a reader find who
looks at one word in twenty?
"""

# %%
# A corpus with known mistakes
# ----------------------------
#
# About one mention in twenty was missed, cut or given another type, and some
# capitalized words were taken for names. Since the corpus is made, the true labels are
# known as well; only the figures at the end look at them.

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold

from skcw import CRFSequenceTagger, CWSequenceTagger
from skcw.datasets import make_tagged_corpus
from skcw.display import ErrorRankingDisplay, RiskCoverageDisplay
from skcw.features import WindowFeatures
from skcw.metrics import error_average_precision, errors_at_k

corpus = make_tagged_corpus(800, label_noise=0.05, random_state=0)
labels = corpus.labels
right = np.concatenate([~noisy for noisy in corpus.noisy])
n_words, n_wrong = len(right), np.count_nonzero(~right)
print(f"{n_wrong} of {n_words} words have a wrong label")

# %%
# How sure are models of labels they have not seen?
# -------------------------------------------------
#
# ``predict_confidence`` is about the label that a tagger predicts. Here the label is
# given, so its marginal is what counts. Words are encoded once for all folds: features
# do not look at labels.

batch = WindowFeatures("ner").fit_transform(corpus.tokens)


def marginals_across_folds(tagger, n_folds=4):
    """Return the marginals of each sentence by a tagger trained without it."""
    marginals = np.empty(len(batch), dtype=object)
    for train, test in KFold(n_folds).split(batch):
        tagger.fit(batch[train], [labels[i] for i in train])
        marginals[test] = tagger.predict_marginals(batch[test])
    return marginals


def of_given_labels(marginals):
    """Return the marginal of the given label for each word of the corpus."""
    return np.array(
        [
            word.get(label, 0.0)  # a fold may lack a rare label
            for words, row in zip(marginals, labels, strict=True)
            for word, label in zip(words, row, strict=True)
        ]
    )


cw = CWSequenceTagger(random_state=0)
crf = CRFSequenceTagger(c1=0.1, c2=0.1, max_iter=30, all_possible_transitions=True)
start = time.perf_counter()
by_cw = marginals_across_folds(cw)
half = time.perf_counter()
by_crf = marginals_across_folds(crf)
print(f"CW {half - start:.1f} s, CRF {time.perf_counter() - half:.1f} s")

confidence = {
    "CW, sentence unseen": of_given_labels(by_cw),
    "CRF, sentence unseen": of_given_labels(by_crf),
    "CW, trained on the sentence": of_given_labels(
        cw.fit(batch, labels).predict_marginals(batch)
    ),
}

# %%
# One word in twenty
# ------------------
#
# In a random order a reader finds as large a share of the mistakes as of the words. A
# model that was trained on a sentence believes much of what it was told there, and
# finds far less. The conditional random field puts the words into a somewhat better
# order and takes many times as long; after the review both have found about the same.

review = n_words // 20
print(f"{'':27} average precision   found in {review} words")
for name, sure in confidence.items():
    found = errors_at_k(right, sure, review)[0] / n_wrong
    print(f"{name:27} {error_average_precision(right, sure):17.3f}   {found:.1%}")
print(f"{'random order':27} {n_wrong / n_words:17.3f}   {review / n_words:.1%}")

# %%
# What the reader sees first
# --------------------------
#
# The words whose labels are least believed, one per sentence, with the label that the
# tagger finds likelier. It may be wrong itself, so the true label is shown too.

lengths = [len(row) for row in labels]
sentence = np.repeat(np.arange(len(lengths)), lengths)
place = np.concatenate([np.arange(length) for length in lengths])
shown = set()
for word in np.argsort(confidence["CW, sentence unseen"], kind="stable"):
    s, t = sentence[word], place[word]
    if s in shown:
        continue
    shown.add(s)
    words = [w for w, _ in corpus.tokens[s]]
    words[t] = f">>{words[t]}<<"
    better = max(by_cw[s][t], key=by_cw[s][t].get)
    print(*words[max(t - 4, 0) : t + 5])
    print(
        f"    given {labels[s][t]}, rather {better}; "
        f"in truth {corpus.clean_labels[s][t]}"
    )
    if len(shown) == 8:
        break

# %%
# The answer in a picture
# -----------------------
#
# Nearly all mistakes lie among the first twentieth of the words. On the right the same
# order from its other end: how many labels are wrong among those that are kept, the
# best believed first? Average precisions and areas come with intervals that allow for
# errors that cluster within sentences.

figure, (ranking, risk) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for name, sure in confidence.items():
    for display, ax in ((ErrorRankingDisplay, ranking), (RiskCoverageDisplay, risk)):
        display.from_predictions(right, sure, groups=sentence, name=name, ax=ax)
ranking.set(title="Least believed labels first", xlim=(0, n_words / 8))
risk.set(title="Best believed labels first")
plt.show()
