"""The state of fitted features as plain values and arrays, for models in files."""

import warnings

from skcw.data.vocabulary import Vocabulary
from skcw.features.lines import templates_of
from skcw.features.window import WindowFeatures

# The arrays of a vocabulary, under the names that the taggers give them, too.
PARTS = ("blob", "ends", "slots")


def features_state(features):
    """Return what fitted features consist of.

    Parameters
    ----------
    features : WindowFeatures
        Fitted features.

    Returns
    -------
    state : dict
        Values that JSON can hold.
    arrays : dict of str to ndarray
        The names of the features.
    """
    state = {"params": _plain_params(features), "columns": features.columns_}
    names = features.vocabulary_
    if names is None:
        return state, {}
    return state, {f"vocabulary.{part}": getattr(names, part) for part in PARTS}


def restored_features(state, arrays):
    """Return features from what `features_state` told of them.

    Parameters
    ----------
    state : dict
        The plain values.
    arrays : dict of str to ndarray
        The names of the features, besides any other arrays.

    Returns
    -------
    features : WindowFeatures
        Fitted features.
    """
    features = WindowFeatures(**state["params"])
    features.columns_ = list(state["columns"])
    with warnings.catch_warnings():
        # Whoever fitted the features was warned.
        warnings.simplefilter("ignore")
        features.templates_ = templates_of(
            features.features, features.columns_, features.lexicons or ()
        )
    if features.n_hashed is not None:
        features.vocabulary_, features.n_features_out_ = None, features.n_hashed
        return features
    names = Vocabulary(*(arrays[f"vocabulary.{part}"] for part in PARTS))
    names.check(len(names))
    features.vocabulary_, features.n_features_out_ = names, len(names)
    return features


def _plain_params(features):
    """Return the parameters of features with lexicons that JSON can hold."""
    params = features.get_params(deep=False)
    if params["lexicons"] is not None:
        params["lexicons"] = {
            name: sorted(words) if isinstance(words, (set, frozenset)) else list(words)
            for name, words in params["lexicons"].items()
        }
    return params
