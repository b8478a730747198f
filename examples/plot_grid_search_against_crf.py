"""
Which tagger should I use, and with which parameters?
=====================================================

A grid search tries confidence-weighted taggers and a conditional random field on the
same features, inside one pipeline. It answers two questions at once: which of them
labels best here, and what does each second of training buy?
"""

# %%
# One pipeline, two kinds of taggers
# ----------------------------------
#
# Tokens are pairs (word, part of speech). ``WindowFeatures("ner")`` turns them into
# features; the tagger is a parameter of the search like any other.

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV

from skcw import CRFSequenceTagger, CWSequenceTagger, make_tagging_pipeline
from skcw.datasets import make_tagged_corpus
from skcw.evaluation import get_scorer
from skcw.metrics import span_f1_score

train = make_tagged_corpus(500, random_state=0)
test = make_tagged_corpus(500, random_state=1)

pipeline = make_tagging_pipeline("ner")
crf = CRFSequenceTagger(all_possible_transitions=True, max_iter=60)
grid = [
    {
        "tagger": [CWSequenceTagger(random_state=0)],
        "tagger__phi": [0.25, 1.0, 2.0],
        "tagger__n_models": [1, 8],
    },
    {"tagger": [crf], "tagger__c1": [0.01, 0.1], "tagger__c2": [0.01, 0.1]},
]

# %%
# Search
# ------

search = GridSearchCV(pipeline, grid, scoring=get_scorer("span_f1"), cv=3)
search.fit(train.tokens, train.labels)

results = search.cv_results_
is_crf = ["phi" not in str(params) for params in results["params"]]


def described(params):
    """Return the parameters of a candidate as a short text."""
    return ", ".join(
        f"{name.removeprefix('tagger__')} {value}"
        for name, value in params.items()
        if name != "tagger"
    )


for params, crf_here, score, seconds in zip(
    results["params"],
    is_crf,
    results["mean_test_score"],
    results["mean_fit_time"],
    strict=True,
):
    name = "CRF" if crf_here else "CW "
    print(f"{name} {described(params):22} F1 {score:.4f}   {seconds:6.2f} s a fit")

# %%
# The winner on new sentences
# ---------------------------

winner = search.best_estimator_.tagger
print("best:", type(winner).__name__, described(search.best_params_))
labels = search.predict(test.tokens)
print(f"F1 on new sentences: {span_f1_score(test.labels, labels):.4f}")

# %%
# The answer in a picture
# -----------------------
#
# Each point is a candidate: further up is better, further left is faster.

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, wanted, marker in (("CW", False, "o"), ("CRF", True, "s")):
    chosen = [i for i, crf_here in enumerate(is_crf) if crf_here == wanted]
    axes.errorbar(
        [results["mean_fit_time"][i] for i in chosen],
        [results["mean_test_score"][i] for i in chosen],
        yerr=[results["std_test_score"][i] for i in chosen],
        fmt=marker,
        capsize=3,
        label=name,
    )
axes.set_xscale("log")
axes.xaxis.set_major_formatter("{x:g}")
axes.xaxis.set_minor_formatter("")
axes.set(
    xlabel="seconds to fit, features included",
    ylabel="span F1, mean and spread of three folds",
    title="Quality against training time",
)
axes.legend()
plt.show()
