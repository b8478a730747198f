"""Merge classifiers that know other classes and columns: each by its name."""

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skcw._model.mixing import GaussianMerge
from skcw._model.row_gaussian import TableBelief
from skcw.linear_model.base import are_text

# Learned numbers that are averaged, where all classifiers have them.
NUMBERS = ("phi_", "variance_scale_", "noise_", "shrinkage_")


def merge_classifiers(classifiers, shares, rule):
    """Return the merge of fitted classifiers of one class.

    Parameters
    ----------
    classifiers : list of RowClassifier
        The classifiers.
    shares : ndarray of float
        What each of them counts; they sum to one.
    rule : {"gain", "mean"}
        How weights are merged.

    Returns
    -------
    classifier : RowClassifier
        One with the parameters of the first.
    """
    for classifier in classifiers:
        check_is_fitted(classifier, "belief_")
    first = classifiers[0]
    prior = first._initial_variance()
    _check_alike(classifiers)
    columns = _all_columns(classifiers)
    classes = _all_classes(classifiers)
    merge = GaussianMerge(rule, prior)
    for classifier, share in zip(classifiers, shares, strict=True):
        merge.add(*_realigned(classifier, columns, classes), share)
    mean, variance = merge.result()
    merged = clone(first)
    vars(merged).update(merged._fitted(TableBelief(mean, variance, None), classes))
    vars(merged).update(_mean_numbers(classifiers, shares))
    merged.n_features_in_ = len(mean) - 1
    if columns is not None:
        merged.feature_names_in_ = np.array(columns, dtype=object)
    merged.history_ = []
    merged.n_iter_ = max(classifier.n_iter_ for classifier in classifiers)
    return merged


def _check_alike(classifiers):
    """Raise if the weights of classifiers cannot be compared."""
    priors = [classifier._initial_variance() for classifier in classifiers]
    if len(set(priors)) > 1:
        raise ValueError(
            f"models began with different variances, initial_variance {priors}; train "
            "all in the same way"
        )
    with_intercept = [classifier.fit_intercept for classifier in classifiers]
    if len(set(with_intercept)) > 1:
        raise ValueError(
            f"model {with_intercept.index(True)} has an intercept and model "
            f"{with_intercept.index(False)} has none; train all in the same way"
        )
    kinds = [are_text(classifier.classes_) for classifier in classifiers]
    if len(set(kinds)) > 1:
        raise ValueError(
            f"the labels of model {kinds.index(True)} are strings and those of model "
            f"{kinds.index(False)} numbers; train all with the same labels"
        )


def _all_columns(classifiers):
    """Return the names of all columns, or None where they have none."""
    named = [hasattr(classifier, "feature_names_in_") for classifier in classifiers]
    if all(named):
        names = [n for own in classifiers for n in own.feature_names_in_.tolist()]
        return list(dict.fromkeys(names))
    if any(named):
        raise ValueError(
            f"the columns of model {named.index(True)} have names and those of model "
            f"{named.index(False)} have none, being hashed or counted by somebody "
            "else; only models of the same kind can be merged"
        )
    sizes = [classifier.n_features_in_ for classifier in classifiers]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"models have {sizes} columns without names, which tell nothing of each "
            "other; merge models of the same columns, or fit them on data frames"
        )
    return None


def _all_classes(classifiers):
    classes = classifiers[0].classes_
    for classifier in classifiers[1:]:
        classes = np.union1d(classes, classifier.classes_)
    return classes


def _realigned(classifier, columns, classes):
    """Return mean and variance about all columns and classes."""
    belief = TableBelief(classifier.weights_, classifier.belief_.variance, None)
    belief = belief.copied_as(classifier.dtype)
    prior = classifier._initial_variance()
    if len(classes) > len(classifier.classes_):
        places = np.searchsorted(classes, classifier.classes_)
        belief = belief.extended(places, len(classes), prior)
    tables = belief.mean, belief.variance
    if columns is None or columns == classifier.feature_names_in_.tolist():
        return tables
    number = {name: k for k, name in enumerate(columns)}
    rows = [number[name] for name in classifier.feature_names_in_]
    wide = []
    for table, blank in zip(tables, (0.0, prior), strict=True):
        if table is not None:
            longer = np.full((len(columns) + 1, table.shape[1]), blank, table.dtype)
            longer[[*rows, -1]] = table
            table = longer
        wide.append(table)
    return tuple(wide)


def _mean_numbers(classifiers, shares):
    """Return the learned numbers: what all say, or the mean of what they do."""
    found = {}
    for name in NUMBERS:
        own = [getattr(classifier, name, None) for classifier in classifiers]
        if not hasattr(classifiers[0], name):
            continue
        if len(set(own)) == 1 or None in own:
            # Where one could not learn it, the merge has to do without.
            found[name] = own[0] if len(set(own)) == 1 else None
        else:
            found[name] = float(np.dot(shares, own))
    return found
