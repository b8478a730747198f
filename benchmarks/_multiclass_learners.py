"""The learners of Tables 2 and 3, and between which values one may choose."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron

PASSES, QUICK_PASSES = 10, 2
PERCEPTRON, PA_1, PA_5 = "perceptron", "PA k=1", "PA k=5"
CW_1, CW_5, CW_ALL = "CW k=1", "CW k=5", "CW all"
PARALLEL, EXACT = "CW all, parallel", "CW all, exact"
SVM_PAIRS, SVM_MC, MAXENT = "SVM 1-vs-1", "SVM MC", "maxent"
AROW, DEFAULTS = "AROW", "CW as it comes"

ONLINE_BASELINES = (PERCEPTRON, PA_1, PA_5)
BASELINES = (*ONLINE_BASELINES, SVM_PAIRS, SVM_MC, MAXENT)
PAPERS_CW = (CW_1, CW_5, CW_ALL)
TABLE_2 = (CW_ALL, PARALLEL, EXACT)
TABLE_3 = (*ONLINE_BASELINES, *PAPERS_CW, SVM_PAIRS, SVM_MC, MAXENT)
BESIDE = (AROW, DEFAULTS)

ETAS = (0.53, 0.6, 0.75, 0.9, 0.99)
# A step of PA on a row of 150 ones is never longer than 1/300.
PA_LIMITS = (0.001, 0.003, 0.01, 0.1, 1.0)
AROW_RS = (0.1, 1.0, 10.0, 100.0, 1000.0)
SVM_CS = (0.001, 0.01, 0.1, 1.0)
MAXENT_CS = (0.01, 0.1, 1.0, 10.0)
# Enough for all of these to converge; a warning that one does not stops the run.
MOST_ITERATIONS = 1_000_000


@dataclass(frozen=True)
class Learner:
    """A classifier for each value of its parameter."""

    make: Callable
    values: tuple = (None,)
    online: bool = True
    # A slow one keeps what was chosen inside the first fold.
    slow: bool = False
    tuned: bool = True

    def grid(self, quick):
        """Return the values to choose from."""
        if quick:
            return self.values[: 1 if self.slow else 2]
        return self.values


def _cw(eta, **options):
    """Return CW as in the paper, whatever the defaults of the class are."""
    options = {"update": "sequential", "n_rivals": "all"} | options
    return MultiClassCW(
        norm.ppf(eta),
        C=np.inf,
        step="variance",
        bound="outer",
        diagonal="precision",
        initial_variance=1.0,
        variance_scale=1.0,
        averaging=False,
        **options,
    )


LEARNERS = {
    PERCEPTRON: Learner(lambda _: MultiClassPerceptron()),
    PA_1: Learner(partial(MultiClassPA, n_rivals=1), PA_LIMITS),
    PA_5: Learner(partial(MultiClassPA, n_rivals=5), PA_LIMITS),
    CW_1: Learner(partial(_cw, update="single", n_rivals=1), ETAS),
    CW_5: Learner(partial(_cw, n_rivals=5), ETAS),
    CW_ALL: Learner(_cw, ETAS),
    PARALLEL: Learner(partial(_cw, update="parallel"), ETAS),
    EXACT: Learner(partial(_cw, update="exact"), ETAS, slow=True),
    AROW: Learner(MultiClassAROW, AROW_RS),
    DEFAULTS: Learner(lambda _: MultiClassCW(), tuned=False),
    SVM_PAIRS: Learner(
        lambda C: OneVsOneClassifier(LinearSVC(C=C, max_iter=MOST_ITERATIONS)),
        SVM_CS,
        online=False,
        slow=True,
    ),
    SVM_MC: Learner(
        lambda C: LinearSVC(
            C=C, multi_class="crammer_singer", max_iter=MOST_ITERATIONS
        ),
        SVM_CS,
        online=False,
        slow=True,
    ),
    MAXENT: Learner(
        lambda C: LogisticRegression(C=C, tol=1e-3, max_iter=MOST_ITERATIONS),
        MAXENT_CS,
        online=False,
        slow=True,
    ),
}
