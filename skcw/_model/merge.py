"""``skcw.merge``: one model of several that were trained where their data lives."""

import numpy as np

from skcw._model.mixing import RULES
from skcw._model.row_merging import merge_classifiers
from skcw._model.sequence_merging import merge_taggers
from skcw.linear_model.base import RowClassifier
from skcw.tagging.online import OnlineTagger


def merge(models, weights=None, *, rule="gain"):
    """Merge fitted taggers or classifiers into one, without their data.

    Every model has a Gaussian over its weights. Features and labels that only some of
    them know are matched by name. So models can be trained on several machines, by
    several owners or night after night; only the models travel.

    Parameters
    ----------
    models : sequence of estimators
        Fitted taggers of one class (CW, AROW, PA or the perceptron), or classifiers of
        one class. They stay as they are.
    weights : array-like of shape (n_models,), default=None
        How much each model counts, for instance by how many sentences it was trained
        on; positive numbers. All the same by default.
    rule : {"gain", "mean"}, default="gain"
        ``"gain"`` weighs each model's weight by the precision that it has gained in
        training, and leaves out models that have never met it: what one alone knows
        stays as it is. ``"mean"`` averages means and precisions over all models, those
        that know nothing included. Learners without variances leave out weights that
        are zero, or do not. A model merged with itself is that model by both rules.

    Returns
    -------
    model : estimator
        A fitted model of the same class with the parameters of the first, which
        predicts, is saved and may learn on by ``partial_fit`` like any other. How sure
        it may be is the mean of what the models have learned.

    Examples
    --------
    >>> import skcw
    >>> here = skcw.CWSequenceTagger().fit([["Ann", "left"]], [["PER", "O"]])
    >>> there = skcw.CWSequenceTagger().fit([["Oslo", "calls"]], [["LOC", "O"]])
    >>> both = skcw.merge([here, there])
    >>> both.predict([["Ann", "calls"], ["Oslo"]]).tolist()
    [['PER', 'O'], ['LOC']]
    """
    if hasattr(models, "fit"):
        raise TypeError("models is one model; give a list of those to merge")
    models = list(models)
    if not models:
        raise ValueError("there are no models to merge")
    if rule not in RULES:
        raise ValueError(f"rule is {rule!r}; it must be one of {', '.join(RULES)}")
    kinds = {type(model) for model in models}
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"models of one class can be merged, but these are {names}")
    shares = _shares(weights, len(models))
    if isinstance(models[0], OnlineTagger):
        return merge_taggers(models, shares, rule)
    if isinstance(models[0], RowClassifier):
        return merge_classifiers(models, shares, rule)
    raise TypeError(
        f"a {kinds.pop().__name__} cannot be merged: taggers by CW, AROW, PA and the "
        "perceptron can, and MultiClass classifiers; of a pipeline, merge the last step"
    )


def _shares(weights, n_models):
    """Return what each model counts, in all one."""
    if weights is None:
        return np.full(n_models, 1.0 / n_models)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_models,):
        raise ValueError(
            f"weights have the shape {weights.shape}, but there are {n_models} models"
        )
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError(f"weights must be positive numbers, got {weights.tolist()}")
    return weights / weights.sum()
