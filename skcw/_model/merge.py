"""``skcw.merge``: one model of several that were trained where their data lives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skcw._model.gaussian import Belief
from skcw._model.mixing import RULES, GaussianMerge
from skcw._model.row_gaussian import TableBelief
from skcw._model.rows import are_text
from skcw._model.training_hashes import merged_rows, remembered
from skcw.data.edges import edge_features
from skcw.data.schemes import transition_constraints
from skcw.data.vocabulary import Vocabulary


def merge(
    models: Sequence[Any], weights: ArrayLike | None = None, *, rule: str = "gain"
) -> Any:
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
        predicts, is saved and continues by ``partial_fit`` like any other. Its settings
        of confidence are the mean of those of the models.

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
    if not hasattr(models[0], "_merged"):
        raise TypeError(
            f"a {kinds.pop().__name__} cannot be merged: taggers by CW, AROW, PA and "
            "the perceptron can, and MultiClass classifiers; of a pipeline, merge the "
            "last step"
        )
    for model in models:
        check_is_fitted(model, "belief_")
    merged = models[0]._merged(models, shares, rule)
    merged.history_ = []
    merged.n_iter_ = max(model.n_iter_ for model in models)
    return merged


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


def merge_taggers(taggers, shares, rule):
    """Return the merge of fitted taggers of one class.

    Parameters
    ----------
    taggers : list of OnlineTagger
        The taggers.
    shares : ndarray of float
        What each of them counts; they sum to one.
    rule : {"gain", "mean"}
        How weights are merged.

    Returns
    -------
    tagger : OnlineTagger
        One with the parameters of the first.
    """
    _check_taggers(taggers)
    vocabulary = _all_features(taggers)
    labels = _all_labels(taggers)
    beliefs = [_realigned_belief(tagger, vocabulary, labels) for tagger in taggers]
    merged = clone(taggers[0])
    forbidden = _constraints_of(taggers, labels)
    belief = _merged_belief(beliefs, shares, rule)
    if merged.averaging:
        belief = belief.replaced(average=belief.mean)
    merged._keep(
        merged._fitted(belief, vocabulary, labels)
        | {"forbidden_": forbidden, "constraints_": taggers[0].constraints_}
        | _merged_confidence(taggers, shares)
        | {"training_hashes_": _merged_hashes(taggers, vocabulary)}
    )
    merged.scheme_faults_ = {
        name: sum(tagger.scheme_faults_.get(name, 0) for tagger in taggers)
        for name in taggers[0].scheme_faults_
    }
    return merged


def _check_taggers(taggers):
    """Raise if the weights of taggers cannot be compared."""
    named = [tagger.vocabulary_ is not None for tagger in taggers]
    if len(set(named)) > 1:
        raise ValueError(
            f"model {named.index(False)} has hashed or numeric features and model "
            f"{named.index(True)} has features with names; only models of the same "
            "kind can be merged"
        )
    sizes = [len(tagger.belief_.row_of) for tagger in taggers]
    if not named[0] and len(set(sizes)) > 1:
        raise ValueError(
            f"models have {sizes} features without names, which tell nothing of each "
            "other; merge models of the same columns"
        )
    unknown = [tagger.belief_.unknown_row is not None for tagger in taggers]
    if len(set(unknown)) > 1:
        raise ValueError(
            f"model {unknown.index(True)} was trained with learn_unknown_token=True "
            f"and model {unknown.index(False)} without; train all in the same way"
        )


def _all_features(taggers):
    """Return the vocabulary of all features, those of the first tagger first."""
    first = taggers[0].vocabulary_
    if first is None or all(first.agrees_with(t.vocabulary_) for t in taggers[1:]):
        longest = max(taggers, key=lambda tagger: len(tagger.belief_.row_of))
        return longest.vocabulary_
    return Vocabulary.from_names(
        name for tagger in taggers for name in tagger.vocabulary_.names()
    )


def _all_labels(taggers):
    names = [label for tagger in taggers for label in tagger.classes_.tolist()]
    return list(dict.fromkeys(names))


def _constraints_of(taggers, labels):
    """Return the matrix of constraints on all labels; raise if there are several."""
    asked = [tagger.constraints_ for tagger in taggers]
    if len(set(asked)) > 1:
        raise ValueError(
            f"models obey different constraints: {', '.join(map(str, asked))}. Train "
            "all with the same constraints, or with constraints=None"
        )
    if asked[0] != "given":
        return transition_constraints(asked[0], labels, taggers[0].dtype)
    first = taggers[0]
    for number, tagger in enumerate(taggers):
        same = tagger.classes_.tolist() == first.classes_.tolist()
        if not same or not np.array_equal(tagger.forbidden_, first.forbidden_):
            raise ValueError(
                f"model {number} obeys other constraints than model 0; constraints "
                "that are given as a function or a matrix can be merged if they, and "
                "the labels, are the same"
            )
    return first.forbidden_


def _realigned_belief(tagger, vocabulary, labels):
    """Return the belief of a tagger about all features and labels."""
    belief = tagger.belief_
    n_features = len(belief.row_of) if vocabulary is None else len(vocabulary)
    places = np.arange(len(belief.row_of))
    if vocabulary is not None and not vocabulary.agrees_with(tagger.vocabulary_):
        places = vocabulary.find_all(tagger.vocabulary_.names())
    columns = np.array([labels.index(label) for label in tagger.classes_.tolist()])
    variance = belief.prior_variance
    learns = belief.unknown_row is not None
    edges = edge_features(vocabulary)
    wide = Belief.start(
        n_features, len(labels), variance, False, tagger.dtype, learns, edges
    )
    rows = belief.all_rows()
    used = np.unique(rows[rows != belief.width])
    new = np.full(belief.n_rows, wide.width, dtype=np.int32)
    new[used] = np.arange(wide.width + 1, wide.width + 1 + len(used))
    row_of, edge_rows = wide.row_of, wide.edge_rows
    row_of[places] = new[belief.row_of]
    if len(belief.edges):
        at = np.searchsorted(edges, places[belief.edges])
        edge_rows[np.ix_(at, columns)] = new[belief.edge_rows]
    unknown_row = int(new[belief.unknown_row]) if learns else None
    known = np.setdiff1d(places, places[belief.unseen])
    return wide.replaced(
        mean=_moved(belief.weights, belief, wide, used, columns, 0.0),
        variance=_moved(belief.variance, belief, wide, used, columns, variance),
        row_of=row_of,
        edge_rows=edge_rows,
        unknown_row=unknown_row,
        unseen=np.setdiff1d(np.arange(n_features), known) if learns else (),
    )


def _moved(flat, belief, wide, used, columns, prior):
    """Return a table in the rows and columns of a wider belief."""
    if flat is None:
        return None
    old = flat.reshape(-1, belief.width)
    new = np.full((wide.width + 1 + len(used), wide.width), prior, wide.mean.dtype)
    n_labels = len(columns)
    new[np.ix_(columns, columns)] = old[:n_labels, :n_labels]
    after = np.arange(wide.width + 1, len(new))
    new[np.ix_(after, columns)] = old[used, :n_labels]
    return new.ravel()


def _merged_belief(beliefs, shares, rule):
    """Return the merge of beliefs about the same features and labels."""
    first = beliefs[0]
    width = first.width
    rows = [belief.all_rows() for belief in beliefs]
    touched = np.flatnonzero(np.any([own != width for own in rows], axis=0))
    fixed = np.arange(width + 1)
    merge = GaussianMerge(rule, _prior_of(first))
    for belief, own, share in zip(beliefs, rows, shares, strict=True):
        here = np.concatenate([fixed, own[touched]])
        tables = (
            None if flat is None else flat.reshape(-1, width)[here]
            for flat in (belief.mean, belief.variance)
        )
        merge.add(*tables, share, _prior_of(belief))
    mean, variance = merge.result()
    row_of = np.full(len(rows[0]), width, dtype=np.int32)
    row_of[touched] = np.arange(width + 1, width + 1 + len(touched))
    unseen = first.unseen
    for belief in beliefs[1:]:
        unseen = np.intersect1d(unseen, belief.unseen)
    return first.replaced(
        mean=mean.ravel(),
        variance=None if variance is None else variance.ravel(),
        unseen=unseen,
        **first.split_rows(row_of),
    )


def _prior_of(belief):
    variance = belief.prior_variance
    return None if variance is None else float(variance)


def _merged_confidence(taggers, shares):
    """Return the settings of confidence: those that all share, or their mean."""
    # A model that has learned nothing of it is loaded without these.
    learned = [getattr(tagger, "confidence_", {}) for tagger in taggers]
    source = getattr(taggers[0], "confidence_source_", "off")
    found = {"confidence_": learned[0], "confidence_source_": source}
    if any(own != learned[0] for own in learned):
        merged = _mean_values(learned, shares)
        source = "merged" if merged else "rule"
        found = {"confidence_": merged, "confidence_source_": source}
    for name in ("token_norm_", "token_breadth_"):
        sizes = [getattr(tagger, name) for tagger in taggers]
        same = len(set(sizes)) == 1
        found[name] = sizes[0] if same else float(np.dot(shares, sizes))
    return found


def _mean_values(learned, shares):
    """Return the mean of the values of the methods that all models have learned."""
    found = {}
    for method, fit in learned[0].items():
        if not all(method in own for own in learned):
            continue
        values = [own[method]["values"] for own in learned]
        mean = {
            name: float(np.dot(shares, [own[name] for own in values]))
            for name in fit["values"]
            if all(name in own for own in values)
        }
        found[method] = {"metric": fit["metric"], "source": "merged", "values": mean}
    return found


def _merged_hashes(taggers, vocabulary):
    """Return what all remember of their sentences, where features have one number."""
    memories = [getattr(tagger, "training_hashes_", None) for tagger in taggers]
    agree = vocabulary is None or all(
        vocabulary.agrees_with(tagger.vocabulary_) for tagger in taggers
    )
    if not agree or any(memory is None for memory in memories):
        return None
    return remembered(np.concatenate(memories))


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
    first = classifiers[0]
    prior = first._initial_variance()
    _check_classifiers(classifiers)
    columns = _all_columns(classifiers)
    classes = _all_classes(classifiers)
    merge = GaussianMerge(rule, prior)
    for classifier, share in zip(classifiers, shares, strict=True):
        merge.add(*_realigned_tables(classifier, columns, classes), share)
    mean, variance = merge.result()
    merged = clone(first)
    vars(merged).update(merged._fitted(TableBelief(mean, variance, None), classes))
    vars(merged).update(_mean_numbers(classifiers, shares))
    merged.training_hashes_ = _merged_rows(classifiers, columns)
    merged.n_features_in_ = len(mean) - 1
    if columns is not None:
        merged.feature_names_in_ = np.array(columns, dtype=object)
    return merged


def _merged_rows(classifiers, columns):
    """Return what all remember of their rows, where columns have one number."""
    memories = [getattr(one, "training_hashes_", None) for one in classifiers]
    agree = columns is None or all(
        columns == one.feature_names_in_.tolist() for one in classifiers
    )
    if not agree or any(memory is None for memory in memories):
        return None
    return merged_rows(memories)


def _check_classifiers(classifiers):
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


def _realigned_tables(classifier, columns, classes):
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
