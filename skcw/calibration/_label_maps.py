"""Calibration maps per label, and a common map for labels with too few words."""

from functools import partial

import numpy as np

from skcw.calibration._maps import MAPS, SigmoidMap
from skcw.confidence import METHODS
from skcw.data._saved import saved_array, saved_number


def map_maker(name, method, keep_order):
    """Return a function that makes maps fit for the confidences of a method."""
    kind = MAPS[name]
    if method not in METHODS or METHODS[method].probability:
        return partial(kind, keep_order=keep_order)
    if kind is SigmoidMap:
        return partial(kind, logit=False, keep_order=keep_order)
    if kind.of_probabilities:
        raise ValueError(
            f"method {method!r} gives distances, which are not probabilities: "
            f"map={name!r} cannot take them, 'isotonic' and 'sigmoid' can"
        )
    return partial(kind, keep_order=keep_order)


class LabelMaps:
    """A common map, and maps of single labels that take its place.

    Parameters
    ----------
    common : ConfidenceMap
        The map of all labels without their own map.
    by_label : dict of str to ConfidenceMap
        The others.
    """

    def __init__(self, common, by_label):
        self.common = common
        self.by_label = by_label

    @classmethod
    def learn(cls, make, words, least=None):
        """Fit maps to words; without `least`, the common one alone.

        Parameters
        ----------
        make : callable
            Returns a map that is not fitted.
        words : HeldOut
            The words.
        least : int, default=None
            How many words a label needs to get its own map. Some must be right and
            some wrong.
        """
        common = make().fit(words.confidence, words.correct, words.weight)
        by_label = {}
        for label in () if least is None else np.unique(words.label):
            own = words.where((words.label == label) & (words.weight > 0))
            if len(own.label) >= least and 0 < own.correct.sum() < len(own.label):
                fitted = make().fit(own.confidence, own.correct, own.weight)
                by_label[str(label)] = fitted
        return cls(common, by_label)

    def __call__(self, confidence, label):
        """Return the probability that each of these labels is right."""
        probability = self.common(confidence)
        for name, own in self.by_label.items():
            here = label == name
            probability[here] = own(confidence[here])
        return probability

    def state(self):
        """Return the maps in numbers, strings and lists."""
        labels = {label: _state(own) for label, own in self.by_label.items()}
        return {"common": _state(self.common), "by_label": labels}

    @classmethod
    def from_state(cls, state):
        """Return the maps that `state` described."""
        by_label = {label: _restored(own) for label, own in state["by_label"].items()}
        return cls(_restored(state["common"]), by_label)


def _state(fitted):
    kind = next(name for name, cls in MAPS.items() if type(fitted) is cls)
    return {"kind": kind, **vars(fitted)}


def _restored(state):
    state = dict(state)
    fitted = MAPS[state.pop("kind")]()
    if set(state) != {*vars(fitted), *fitted.learns}:
        raise ValueError(f"a map has other values than {', '.join(fitted.learns)}")
    for name, value in state.items():
        setattr(fitted, name, _restored_value(value, name))
    # A damaged file shows here, not at the first prediction.
    with np.errstate(all="raise", under="ignore"):
        given = np.linspace(0.0, 1.0, 17)
        found = fitted(given)
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError("a map gives something that is not a probability")
    return fitted


def _restored_value(value, name):
    if isinstance(value, bool):
        return value
    if not isinstance(value, list):
        return saved_number(value, name)
    numbers = {name: np.asarray(value, dtype=np.float64)}
    # Distances may have any size that is finite.
    most = np.finfo(np.float64).max
    corners = saved_array(numbers, name, ("f8",), (None,), largest=most)
    if not len(corners) or (np.diff(corners) < 0).any():
        raise ValueError(f"{name} of a map is empty, or does not rise")
    return corners
