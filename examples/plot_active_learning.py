"""
Which sentences should an annotator see first?
==============================================

Labels cost money, and some are worth more than others. A tagger that knows what it does
not know can choose the sentences that teach it most. Here the labels are known from the
beginning, so that several ways to choose can be compared; then the loop is shown as it
would be run with a person.
"""

# %%
# A study with known labels
# -------------------------
#
# The sentences are encoded once. Every strategy begins with the same 20 sentences and
# adds ten in each round, from 200 random candidates. The cost is counted in words: a
# strategy that likes long sentences buys fewer of them.

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

from skcw import CWSequenceTagger
from skcw.active import (
    ActiveLearner,
    AuditedErrorRate,
    Budget,
    PredictedErrorRate,
    simulate,
)
from skcw.active.simulation import Strategy
from skcw.active.utilities import least_confident_word
from skcw.datasets import make_tagged_corpus
from skcw.display import LearningCurveDisplay
from skcw.evaluation import get_scorer
from skcw.features import WindowFeatures

corpus = make_tagged_corpus(900, random_state=0)
features = WindowFeatures("ner")
X = features.fit_transform(corpus.tokens[:600])
X_test = features.transform(corpus.tokens[600:])
y, y_test = corpus.labels[:600], corpus.labels[600:]

study = simulate(
    CWSequenceTagger(),
    X,
    y,
    {
        "random": "random",
        "least sure word, kd-pc": partial(least_confident_word, method="kd-pc"),
        "improbable labelings": "normalized-log-prob",
        "the same, diverse": Strategy("normalized-log-prob", max_overlap=0.5),
    },
    test=(X_test, y_test),
    n_initial=20,
    n_candidates=200,
    budget=Budget(labels=200),
    evaluate_every=3,
    n_repeats=3,
    scoring=get_scorer("span_f1"),
)
print(study)

# %%
# The curves
# ----------
#
# A band reaches from the worst to the best of the three runs.

displays = LearningCurveDisplay.from_study(study, score_name="F1 of entities")
displays[0].figure_.savefig("active-learning.png", dpi=90)
plt.show()

# %%
# The loop with a person
# ----------------------
#
# A learner asks, a person answers, and the journal keeps every answer. If the machine
# fails, the study goes on from the journal as if nothing had happened.

folder = TemporaryDirectory()
journal = Path(folder.name) / "study.jsonl"
tagger = CWSequenceTagger(random_state=0)
learner = ActiveLearner(
    tagger, X, utility="normalized-log-prob", update="refit", journal=journal
)
enough = PredictedErrorRate(0.06)
while not enough.should_stop(learner):
    asked = learner.query(words=150)
    learner.teach(asked, [y[i] for i in asked])
print(learner, "-", enough.reason_)

learner.close()  # One learner at a time writes to a journal; a crash closes it, too.
learner = ActiveLearner.resume(journal, tagger, X)
print(learner)

# %%
# How many errors are left?
# -------------------------
#
# What the tagger expects is as good as its confidence. An audit draws sentences at
# random, so that its result holds whatever the tagger believes.

asked = learner.audit(60)
learner.teach(asked, [y[i] for i in asked])
audit = AuditedErrorRate(0.15, confidence_level=0.95)
print("stop:", audit.should_stop(learner), "- bound:", round(audit.values_[0], 3))
learner.close()
folder.cleanup()
