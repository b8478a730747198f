"""Files of classifiers: which of their attributes go where, and back."""

import numpy as np

from skcw._model.row_gaussian import TableBelief, table_width
from skcw._model.training import without_seconds
from skcw._util.limits import LARGEST_LEARNT
from skcw._util.version import __version__
from skcw.data.saved import (
    FLOATS,
    half_precision,
    saved_array,
    saved_kind,
    saved_number,
    saved_texts,
)
from skcw.exceptions import ModelFileError
from skcw.io.model_files import write_model

# The entry of a header that names the class; taggers have another one.
KIND = "classifier"
# The fitted attributes that are plain values; some classifiers lack some of them.
PLAIN = (
    "n_features_in_",
    "n_iter_",
    "history_",
    "phi_",
    "variance_scale_",
    "noise_",
    "shrinkage_",
)
# Those that every classifier has.
ALWAYS = ("n_features_in_", "n_iter_", "history_")
# None until there were enough rows to learn them from.
UNLEARNT = ("noise_", "shrinkage_")
# Those that are numbers, none of them negative.
NUMBERS = (
    "n_features_in_",
    "n_iter_",
    "phi_",
    "variance_scale_",
    "noise_",
    "shrinkage_",
)
# What names of columns and labels can be in a file: numbers, truth values and text.
LABEL_KINDS = "biufUO"


def save_classifier(classifier, path, dtype=None):
    """Write a fitted classifier to a file, in half precision if asked to."""
    header, arrays = _saved(classifier)
    write_model(path, header, arrays, halved=half_precision(arrays, dtype))


def _saved(classifier):
    """Return the header and the arrays of the file of a fitted classifier."""
    fitted, belief = vars(classifier), classifier.belief_
    if not type(classifier).__module__.startswith("skcw."):
        raise ValueError(
            f"{type(classifier).__name__} is a class of your own, which skcw.load does "
            "not know; use skops or joblib"
        )
    state = {name: fitted[name] for name in PLAIN if name in fitted}
    # The same training gives the same file.
    state["history_"] = without_seconds(state["history_"])
    state["classes"] = _packed(classifier.classes_)
    if "feature_names_in_" in fitted:
        state["feature_names"] = classifier.feature_names_in_.tolist()
    state["rounds"] = belief.rounds
    header = {
        "version": __version__,
        KIND: type(classifier).__name__,
        "params": _plain_params(classifier),
        "state": state,
    }
    return header, belief.arrays()


def restored_classifier(path, header, arrays):
    """Return the classifier that the header and the arrays of a file describe."""
    # The classes import the base class, and that one this module.
    from skcw import linear_model

    name = str(header[KIND])
    cls = getattr(linear_model, name, None)
    if not name.startswith("MultiClass") or cls is None:
        raise ModelFileError(
            f"{path} holds an unknown classifier {name!r}; update skcw"
        )
    try:
        return _restored(cls, header["params"], header["state"], arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is damaged: {error!r}") from error


def _restored(cls, params, state, arrays):
    weight = params.get("class_weight")
    if isinstance(weight, list):
        weight = {label: saved_number(w, "class_weight", 0) for label, w in weight}
        params = {**params, "class_weight": weight}
    if params.get("scale_cv") is not None:
        saved_number(params["scale_cv"], "scale_cv", 2, whole=True)
    classifier = cls(**params)
    classifier._validate_params()
    classes = _unpacked(state["classes"])
    rounds = saved_number(state["rounds"], "rounds", 0.0)
    belief = TableBelief.from_arrays(arrays, rounds)
    _check_tables(belief, state["n_features_in_"], len(classes))
    if (belief.variance is None) != (classifier._initial_variance() is None):
        raise ValueError("there are variances too many, or none")
    fitted = classifier._fitted(belief, classes)
    # What `_fitted` knows of confidence is what the parameters say.
    vars(classifier).update(fitted | _plain_state(state, {*fitted, *params}))
    return classifier


def _plain_state(state, known):
    """Return the attributes that are plain values; raise unless all are there."""
    needed = [
        name
        for name in PLAIN
        if name in ALWAYS or name in known or name.rstrip("_") in known
    ]
    found = {name: state[name] for name in needed}
    for name in set(NUMBERS) & set(found):
        if found[name] is not None or name not in UNLEARNT:
            saved_number(found[name], name, 0.0, whole=name in ALWAYS)
    if found.get("variance_scale_") == 0:
        raise ValueError("variance_scale_ is zero")
    for record in saved_kind(found["history_"], "history_", list):
        saved_kind(record, "a record of history_", dict)
    if "feature_names" in state:
        names = saved_texts(state["feature_names"], "feature_names")
        if len(names) != found["n_features_in_"]:
            raise ValueError(f"there are {len(names)} names of features")
        found["feature_names_in_"] = np.array(names, dtype=object)
    return found


def _check_tables(belief, n_features, n_classes):
    """Raise unless the tables fit together: kernels read them unchecked."""
    shape = (n_features + 1, table_width(n_classes))
    for name, table in belief.tables().items():
        if table is None:
            continue
        saved_array({name: table}, name, (belief.mean.dtype.str[1:],), shape)
    known = {"mean": belief.mean}
    saved_array(known, "mean", FLOATS, shape, largest=LARGEST_LEARNT)
    if belief.variance is not None and belief.variance.min(initial=0.0) < 0.0:
        raise ValueError("a variance is negative")


def _plain_params(classifier):
    params = classifier.get_params(deep=False)
    if isinstance(params.get("random_state"), np.random.RandomState):
        params["random_state"] = None
    if isinstance(params.get("class_weight"), dict):
        # The keys of JSON are strings alone; labels may be numbers.
        params["class_weight"] = [
            [getattr(label, "item", lambda label=label: label)(), float(weight)]
            for label, weight in params["class_weight"].items()
        ]
    cv = params.get("scale_cv")
    if cv is not None and not isinstance(cv, int):
        raise ValueError(
            f"scale_cv is {cv!r}, which cannot be saved without pickle; it is not "
            "needed any more: call set_params(scale_cv=None) before save"
        )
    return params


def _packed(classes):
    """Return labels and their type as plain values."""
    plain = classes.dtype.kind in LABEL_KINDS
    if not plain or (classes.dtype == object and not all(map(_is_text, classes))):
        raise ValueError(
            f"labels are {classes!r}; only strings, numbers and truth values can be "
            "saved without pickle"
        )
    return {"dtype": classes.dtype.str, "labels": classes.tolist()}


def _is_text(label):
    return isinstance(label, str)


def _unpacked(packed):
    """Return the labels that `_packed` describes."""
    dtype = np.dtype(packed["dtype"])
    if dtype.kind not in LABEL_KINDS:
        raise ValueError(f"labels of type {dtype} are none of a classifier")
    classes = np.array(packed["labels"], dtype=dtype)
    if classes.ndim != 1 or len(classes) < 2 or len(np.unique(classes)) != len(classes):
        raise ValueError(f"the labels are {packed['labels']}")
    return classes
