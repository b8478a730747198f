"""A calibrated tagger in a file, with the tagger inside."""

from numbers import Integral

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from skcw.calibration._label_maps import LabelMaps
from skcw.exceptions import ModelFileError
from skcw.tagging import BaseSequenceTagger

PREFIT = "prefit"

# How to read what a header describes. Pipelines, which stand above, add themselves.
READERS = {"tagger": BaseSequenceTagger._from_model}


def restored_tagger(header, arrays):
    """Return the fitted tagger that was saved as part of another."""
    kind = "pipeline" if "features" in header else "tagger"
    if kind not in READERS:
        raise ModelFileError(
            "the file holds a calibrated pipeline; open it with skcw.load"
        )
    return READERS[kind]("the tagger in the file", header, arrays)


class SavedCalibration:
    """What ``save`` and ``load`` of the taggers ask of a calibrated one."""

    def _has_prefit(self):
        return isinstance(self.cv, str) and self.cv == PREFIT

    def _plain_params(self):
        # Folds that are no number cannot be written, and no longer matter.
        params = super()._plain_params()
        if not isinstance(self.cv, Integral | str | None):
            params["cv"] = None
        return {**params, "tagger": None}

    def _state(self):
        check_is_fitted(self)
        if not hasattr(self.tagger_, "_model"):
            raise ValueError(
                f"a {type(self.tagger_).__name__} cannot be saved without pickle; "
                "pickle the calibrated tagger, or save one of skcw's"
            )
        header, arrays = self.tagger_._model()
        state = {
            "tagger": header,
            "frozen": isinstance(self.tagger, FrozenEstimator),
            "maps": [maps.state() for maps in self.maps_],
            "entity_maps": [maps.state() for maps in self.entity_maps_],
            "options": self.confidence_options_,
        }
        return state, arrays

    def _restore(self, state, arrays):
        self.maps_, self.entity_maps_ = (
            [LabelMaps.from_state(maps) for maps in state[name]]
            for name in ("maps", "entity_maps")
        )
        self.confidence_options_ = state["options"]
        self.tagger_ = restored_tagger(state["tagger"], arrays)
        if state["frozen"]:
            self.tagger = FrozenEstimator(self.tagger_)
        else:
            self.tagger = self.tagger_ if self._has_prefit() else clone(self.tagger_)
