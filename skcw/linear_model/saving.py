"""Files of classifiers: which of their attributes go where, and back."""

from os import PathLike

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcw._model.row_gaussian import TableBelief, table_width
from skcw._util.limits import LARGEST_LEARNED
from skcw.data.saved import (
    FLOATS,
    saved_array,
    saved_kind,
    saved_number,
    saved_texts,
)
from skcw.io.loading import SavedModelMixin, without_seconds
from skcw.io.model_files import write_model

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
UNLEARNED = ("noise_", "shrinkage_")
# Those that are numbers, none of them negative.
NUMBERS = (
    "n_features_in_",
    "n_iter_",
    "phi_",
    "variance_scale_",
    "noise_",
    "shrinkage_",
)
# The hashes of the training rows, and how often each occurred.
MEMORY = ("training_hashes", "training_counts")
# What names of columns and labels can be in a file: numbers, truth values and text.
LABEL_KINDS = "biufUO"


class SavedClassifier(SavedModelMixin):
    """Mixin of the classifiers that a file can hold."""

    def save(
        self,
        path: str | PathLike[str],
        dtype: str | None = None,
        *,
        train_hashes: bool = False,
    ) -> None:
        """Write the fitted classifier to a file, without pickle.

        A ``random_state`` that is not an integer is saved as None. No training row is
        in the file, nor a hash of one unless ``train_hashes`` is set.

        Parameters
        ----------
        path : str or path-like
            The file; an older one is replaced only when the new one is complete.
            ``skcw.load`` opens it.
        dtype : {"float16"} or None, default=None
            None keeps the weights and variances as they are. "float16" stores them in
            half precision, each table with a scale of its own: smaller files, and
            hardly a label changes. Loaded, they have the precision that they had, but
            are rounded to three digits.
        train_hashes : bool, default=False
            Whether to write a hash of each training row, for ``train_overlap``: anyone
            who has the file can then test whether a row was used.
        """
        header, arrays = self.to_saved()
        memory = getattr(self, "training_hashes_", None)
        if train_hashes and memory is not None:
            arrays = arrays | dict(zip(MEMORY, memory, strict=True))
        write_model(path, header, arrays, dtype=dtype)

    def _saved_state(self):
        check_is_fitted(self, "belief_")
        fitted = vars(self)
        state = {name: fitted[name] for name in PLAIN if name in fitted}
        # The same training gives the same file.
        state["history_"] = without_seconds(state["history_"])
        state["classes"] = _packed(self.classes_)
        if "feature_names_in_" in fitted:
            state["feature_names"] = self.feature_names_in_.tolist()
        state["rounds"] = self.belief_.rounds
        return state, self.belief_.arrays()

    def _restore(self, state, arrays):
        if isinstance(self.class_weight, list):
            self.class_weight = {
                label: saved_number(weight, "class_weight", 0)
                for label, weight in self.class_weight
            }
        if getattr(self, "scale_cv", None) is not None:
            saved_number(self.scale_cv, "scale_cv", 2, whole=True)
        self._validate_params()
        classes = _unpacked(state["classes"])
        rounds = saved_number(state["rounds"], "rounds", 0.0)
        belief = TableBelief.from_arrays(arrays, rounds)
        _check_tables(belief, state["n_features_in_"], len(classes))
        if (belief.variance is None) != (self._initial_variance() is None):
            raise ValueError("there are variances too many, or none")
        fitted = self._fitted(belief, classes)
        # What `_fitted` knows of confidence is what the parameters say.
        known = {*fitted, *self.get_params(deep=False)}
        vars(self).update(fitted | _plain_state(state, known))
        self.training_hashes_ = None
        if all(name in arrays for name in MEMORY):
            hashes = saved_array(arrays, MEMORY[0], ("u8",), (None,))
            counts = saved_array(arrays, MEMORY[1], ("i8",), hashes.shape)
            self.training_hashes_ = hashes, counts

    def _plain_params(self):
        params = super()._plain_params()
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


def _plain_state(state, known):
    """Return the attributes that are plain values; raise unless all are there."""
    needed = [
        name
        for name in PLAIN
        if name in ALWAYS or name in known or name.rstrip("_") in known
    ]
    found = {name: state[name] for name in needed}
    for name in set(NUMBERS) & set(found):
        if found[name] is not None or name not in UNLEARNED:
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
    saved_array(known, "mean", FLOATS, shape, largest=LARGEST_LEARNED)
    if belief.variance is not None and belief.variance.min(initial=0.0) < 0.0:
        raise ValueError("a variance is negative")


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
