"""What a class declares to be saved in a file, and ``skcw.load``, which opens it."""

from copy import deepcopy
from importlib import import_module
from os import PathLike
from typing import Any, Self

import numpy as np

from skcw.data.saved import saved_kind
from skcw.exceptions import ModelFileError
from skcw.io.model_files import naming, read_model

# The name of a class in a file -> the class, once its module is imported. Classes of
# users go by their modules too, so that none takes the place of ours.
SAVED_CLASSES = {}
# Where ours are, in the order in which they are looked for.
ROOMS = (
    "skcw.tagging",
    "skcw.linear_model",
    "skcw.pipeline.tagging_pipeline",
    "skcw.calibration",
    "skcw.reranking",
)


def without_seconds(history):
    """Return a history without times, so that equal trainings make equal files.

    Parameters
    ----------
    history : list of dict
        A record for each pass.

    Returns
    -------
    history : list of dict
        The same without "seconds".

    Examples
    --------
    >>> from skcw.io.loading import without_seconds
    >>> without_seconds([{"epoch": 1, "seconds": 0.3}])
    [{'epoch': 1}]
    """
    return [{k: v for k, v in record.items() if k != "seconds"} for record in history]


class SavedModelMixin:
    """Mixin of the estimators that a file can hold.

    A class declares what is saved by two methods: ``_saved_state()`` returns plain
    values and named arrays, ``_restore(state, arrays)`` sets the fitted attributes of a
    new object from them and raises ``ValueError`` where they do not fit together. If
    some parameters are not plain values, ``_plain_params`` says what stands for them.
    What is inside of a model is in its state as ``to_saved`` returns it.

    The same training gives the same file, whatever writes it: none holds the times of
    passes, nor, unless it is asked for, ``training_hashes_``. A copy in memory does.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        SAVED_CLASSES[_name_of(cls)] = cls

    def __getstate__(self):
        state = super().__getstate__()
        if "history_" in state:
            state = {**state, "history_": without_seconds(state["history_"])}
        return {name: v for name, v in state.items() if name != "training_hashes_"}

    def __deepcopy__(self, memo):
        copy = object.__new__(type(self))
        memo[id(self)] = copy
        memory = {k: v for k, v in vars(self).items() if k == "training_hashes_"}
        vars(copy).update(deepcopy(self.__getstate__() | memory, memo))
        return copy

    def to_saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the model as a header of plain values, and named arrays."""
        state, arrays = self._saved_state()
        return {**self._unfitted_header(), "state": state}, arrays

    def _unfitted_header(self):
        """Return the class and the parameters as plain values."""
        return {"class": _name_of(type(self)), "params": self._plain_params()}

    def _plain_params(self):
        params = self.get_params(deep=False)
        if isinstance(params.get("random_state"), np.random.RandomState):
            params["random_state"] = None
        return params

    @classmethod
    def from_saved(cls, header: dict[Any, Any], arrays: dict[Any, Any]) -> Self:
        """Return the model that `to_saved` described.

        Parameters
        ----------
        header : dict
            Its class, parameters and state.
        arrays : dict of str to ndarray
            Its arrays, perhaps among others.

        Returns
        -------
        model : SavedModelMixin
            The fitted model, of the class that was saved.
        """
        model = cls._from_header(header)
        model._restore(saved_kind(header["state"], "state", dict), arrays)
        # Now, not when the model learns on; a model inside is there by now, too.
        model._validate_params()
        return model

    @classmethod
    def _from_header(cls, header):
        """Return the unfitted model that a header describes."""
        name = saved_kind(header, "a model", dict).get("class")
        found = _class_of(str(name))
        if found is None:
            raise ModelFileError(
                f"it holds an unknown {name!r}: it is damaged, or of a newer skcw, or "
                "of a class of your own; then import its module first"
            )
        if not issubclass(found, cls):
            raise ModelFileError(
                f"it holds a {name}, not a {cls.__name__}; open it with skcw.load"
            )
        return found(**saved_kind(header["params"], "params", dict))

    @classmethod
    def load(cls, path: str | PathLike[str], *, mapped: bool = False) -> Any:
        """Return a model of this class that ``save`` wrote.

        Parameters
        ----------
        path : str or path-like
            The file.
        mapped : bool, default=False
            As in :func:`skcw.load`.

        Returns
        -------
        model : estimator
            The fitted model, of the class that was saved.
        """
        header, arrays = read_model(path, mapped=mapped)
        with naming(path):
            model = cls.from_saved(header, arrays)
        if "reading" in header:
            model.reading_ = header["reading"]
        return model


def _name_of(cls):
    """Return the name by which a file calls a class."""
    if cls.__module__.startswith("skcw."):
        return cls.__name__
    return f"{cls.__module__}.{cls.__qualname__}"


def _class_of(name):
    """Return the class that a file calls so, or None."""
    for room in ROOMS:
        if name in SAVED_CLASSES:
            break
        import_module(room)
    return SAVED_CLASSES.get(name)


def load(path: str | PathLike[str], *, mapped: bool = False) -> Any:
    """Return what was saved in a file: a tagger, a pipeline, a classifier and so on.

    Opening a model runs no code that is in it. A file that is damaged, or that does not
    fit together, is a ``ModelFileError``; but whoever makes a file decides what the
    model says, so take models from those you trust.

    Parameters
    ----------
    path : str or path-like
        A file that ``save`` of a tagger, of a ``TaggingPipeline``, of a classifier or
        of a reranker wrote.
    mapped : bool, default=False
        Whether to map the arrays into memory instead of reading them. Processes that
        open the same large model then share its memory if ``save(path, mapped=True)``
        has stored it as it is in memory; what is packed each unpacks for itself. The
        file must stay as it is while one of them lives: changing it in place ends them,
        replacing it as ``save`` does is safe.

    Returns
    -------
    model : BaseSequenceTagger, TaggingPipeline, MultiClass classifier or BaseReranker
        The fitted model, of the class that was saved.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import skcw
    >>> X, y = [["Ann", "left"]], [["B-PER", "O"]]
    >>> pipeline = skcw.make_tagging_pipeline(["word"]).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "names.skcw"
    ...     pipeline.save(path)
    ...     skcw.load(path).predict_single(["Ann"])
    ['B-PER']
    """
    return SavedModelMixin.load(path, mapped=mapped)
