"""What the parameters of the classifiers change."""

from functools import cache, partial
from itertools import islice

import numpy as np
from _defaults_table import render_groups
from _measure import progress
from _multiclass_data import AMAZON, ENRON_A, ENRON_B, MADE, NEWS
from _travel_row_sets import BINARY, DIGITS, SENTIMENT, SMS, TF_IDF, Part, parts_of
from scipy.stats import norm
from sklearn.metrics import log_loss, roc_auc_score
from threadpoolctl import threadpool_limits

from skcw import MultiClassAROW, MultiClassCW

TITLE = "Parameters of the classifiers"
NOTE = """\
Accuracy on a quarter of the rows, one split, means of the seeds; "update": log loss of
the probabilities; "ranking": area under the ROC curve of M / sqrt(V), which
decision_function returns, and of M. The paper's update: MultiClassCW(norm.ppf(0.9),
update="single", step="variance", C=inf, variance_scale=1.0). Digits are shades;
"noisy": 40 features, 5 classes by random weights, a tenth of the labels wrong."""
NOISY = "noisy"
PAPERS = {
    "phi": norm.ppf(0.9),
    "update": "single",
    "step": "variance",
    "C": float("inf"),
}
NO_SHADOW = {"variance_scale": 1.0}


def _cw(**options):
    return partial(MultiClassCW, **NO_SHADOW, **options)


def _papers(**options):
    return partial(MultiClassCW, **NO_SHADOW, **PAPERS, **options)


def _accuracy(model, part):
    return model.score(part.X_test, part.y_test)


def _log_loss(model, part):
    return log_loss(part.y_test, model.predict_proba(part.X_test))


def _areas(model, part):
    """Return the areas of the scores in standard deviations, and of the mean ones."""
    means = np.ravel(part.X_test @ model.coef_.T + model.intercept_)
    scores = model.decision_function(part.X_test), means
    return [roc_auc_score(part.y_test, one) for one in scores]


# For each group the measure, the sets with their forms, and the settings.
GROUPS = {
    "phi": (
        _accuracy,
        ((NEWS, BINARY), (DIGITS, TF_IDF)),
        {f"phi = {phi}": _cw(phi=phi) for phi in (1.0, 2.0, 3.0, "auto")},
    ),
    "C": (
        _accuracy,
        ((NOISY, BINARY),),
        {f"C = {C}": _cw(C=C) for C in (float("inf"), 2.0)},
    ),
    "update": (
        _log_loss,
        ((ENRON_A, BINARY), (ENRON_A, TF_IDF), (ENRON_B, BINARY), (ENRON_B, TF_IDF)),
        {name: partial(MultiClassCW, update=name) for name in ("joint", "single")},
    ),
    "diagonal": (
        _accuracy,
        ((NEWS, BINARY),),
        {
            f"the paper's, {name}": _papers(diagonal=name)
            for name in ("precision", "covariance")
        },
    ),
    "averaging": (
        _accuracy,
        ((NEWS, BINARY), (AMAZON, BINARY), (ENRON_A, BINARY)),
        {
            f"the paper's, averaging {yes}": _papers(averaging=yes)
            for yes in (False, True)
        },
    ),
    "r": (
        _accuracy,
        ((NEWS, BINARY), (NEWS, TF_IDF), (AMAZON, BINARY)),
        {
            f"r = {r}": partial(MultiClassAROW, r=r, **NO_SHADOW)
            for r in (0.1, 1.0, 3.0, 10.0)
        },
    ),
    "ranking": (
        _areas,
        ((SMS, BINARY), (SENTIMENT, BINARY)),
        {"as it comes": _cw()},
    ),
}


def run(settings):
    """Return what every setting reaches on every set of its group."""
    loaded = cache(partial(_loaded, settings=settings))
    with threadpool_limits(1):
        groups = {name: _group(name, loaded, settings) for name in GROUPS}
    return {"quick": settings.quick, "seeds": settings.seeds, "groups": groups}


def _group(name, loaded, settings):
    measure, sets, learners = GROUPS[name]
    if settings.quick:
        sets = ((SMS if measure is _areas else MADE, BINARY),)
    found = {}
    for setting, make in learners.items():
        progress(f"{name}: {setting}")
        found[setting] = {
            f"{one}, {form}": _judged(measure, make, loaded(one, form), settings.seeds)
            for one, form in sets
        }
    return found


def _loaded(name, form, settings):
    if name == NOISY or (name == SMS and settings.data_home is None):
        return _noisy(5 if name == NOISY else 2)
    return next(islice(parts_of(name, form, settings), 1))


def _noisy(n_classes, n_rows=2_000, n_features=40, share=0.1):
    """Return rows whose labels random weights gave, a share of them another one."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(2 * n_rows, n_features))
    y = np.argmax(X @ rng.normal(size=(n_features, n_classes)), axis=1)
    wrong = rng.uniform(size=n_rows) < share
    y[:n_rows][wrong] = rng.randint(n_classes, size=wrong.sum())
    return Part(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def _judged(measure, make, part, seeds):
    found = [
        measure(make(random_state=seed).fit(part.X, part.y), part)
        for seed in range(seeds)
    ]
    mean = np.mean(found, axis=0)
    return float(mean) if mean.ndim == 0 else mean.tolist()


render = partial(render_groups, TITLE, NOTE)
