"""What scikit-learn asks of its own classifiers; nothing is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skcw import MultiClassAROW, MultiClassCW, MultiClassPA, MultiClassPerceptron

CHECKS = parametrize_with_checks(
    [
        MultiClassCW(),
        MultiClassCW(update="single", diagonal="optimal"),
        MultiClassCW(update="sequential", step="stdev", diagonal="covariance"),
        MultiClassCW(update="parallel", bound="inner", averaging=True),
        MultiClassCW(update="exact", n_rivals=2, dtype="float64"),
        MultiClassAROW(),
        MultiClassPA(),
        MultiClassPA(n_rivals="all", averaging=False),
        MultiClassPerceptron(),
    ]
)
# Old versions of scikit-learn give a generator, which pytest 9 takes only from a list.
NAMES, CASES = CHECKS.args


@pytest.mark.parametrize(NAMES, list(CASES), **CHECKS.kwargs)
def test_a_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
