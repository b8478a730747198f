"""Files of classifiers: which of their attributes go where, and back."""

import numpy as np

from skcw._monitor import without_seconds
from skcw._persistence import write_model
from skcw._version import __version__
from skcw.data._saved import saved_array, saved_kind, saved_number
from skcw.exceptions import ModelFileError
from skcw.linear_model._training import TableBelief, table_width

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
    "caution_",
)
# Those of them that are numbers, none of them negative.
NUMBERS = ("n_features_in_", "n_iter_", "phi_", "variance_scale_", "noise_", "caution_")
BELIEF = "belief."
# What names of columns and labels can be in a file: numbers, truth values and text.
LABEL_KINDS = "biufUO"


def save_classifier(classifier, path):
    """Write a fitted classifier to a file."""
    write_model(path, *_saved(classifier))


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
    tables = belief.tables().items()
    return header, {BELIEF + name: table for name, table in tables if table is not None}


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
        params = {**params, "class_weight": dict(map(tuple, weight))}
    classifier = cls(**params)
    classifier._validate_params()
    classes = _unpacked(state["classes"])
    for name in NUMBERS:
        if state.get(name) is not None:
            saved_number(state[name], name, 0.0)
    saved_kind(state.get("history_", []), "history_", list)
    found = {name: state[name] for name in PLAIN if name in state}
    if "feature_names" in state:
        found["feature_names_in_"] = np.array(state["feature_names"], dtype=object)
    variance, drift = (arrays.get(BELIEF + name) for name in ("variance", "drift"))
    rounds = saved_number(state["rounds"], "rounds", 0.0)
    belief = TableBelief(arrays[f"{BELIEF}mean"], variance, drift, rounds)
    _check_tables(belief, state["n_features_in_"], len(classes))
    vars(classifier).update(found | classifier._fitted(belief, classes))
    # What `_fitted` knows of confidence is what the parameters say.
    vars(classifier).update(found)
    return classifier


def _check_tables(belief, n_features, n_classes):
    """Raise unless the tables fit together: kernels read them unchecked."""
    shape = (n_features + 1, table_width(n_classes))
    for name, table in belief.tables().items():
        if table is None:
            continue
        saved_array({name: table}, name, (belief.mean.dtype.str[1:],), shape)
    saved_array({"mean": belief.mean}, "mean", ("f4", "f8"), shape)
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
