"""The parameters of a confidence method, chosen on labelled sequences."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv

from skcw.confidence.settings import check_count
from skcw.confidence.tuning import METRICS, best_of, grid_of, scores_of, unit_of
from skcw.data.checks import check_same_lengths
from skcw.data.labels import encode_labels
from skcw.data.ragged import object_rows


class ConfidenceFitting:
    """The half of the confidence of a tagger that learns."""

    def fit_confidence(
        self,
        X,
        y,
        method=None,
        *,
        metric=None,
        cv=None,
        n_values=20,
        n_draws=50,
        random_state=None,
    ):
        """Choose the scale, temperature or K of a method; weights stay as they are.

        Parameters
        ----------
        X : iterable of sequences
            Labelled sequences that the tagger has not learnt from; or, with `cv`,
            those it has learnt from.
        y : iterable of sequences of str
            Their labels.
        method : str, default=None
            The method of ``predict_confidence`` to tune.
        metric : {"log_loss", "average_precision", "rmse"}, default=None
            What to be best at: the logarithmic loss of "this label is right", the
            default for methods that give probabilities; finding wrong words, for
            which any temperature does that ranks well; or the calibration error over
            20 bins.
        cv : int, splitter or None, default=None
            With folds, copies of the tagger are fitted without each fold and judged on
            it; the values chosen are in units of the model's own scale, so they
            serve this tagger.
        n_values : int, default=20
            How many values of the scale and of the temperature to try.
        n_draws : int, default=50
            How many weight vectors to draw for each value.
        random_state : int, default=None
            As in ``predict_confidence``.

        Returns
        -------
        self : object
            The tagger; ``confidence_[method]`` has the ``values`` chosen and, for
            plotting, the ``curves`` they come from.
        """
        name, chosen = self._chosen_method(method)
        if metric is None:
            metric = "log_loss" if chosen.probability else "average_precision"
        if metric not in METRICS:
            raise ValueError(f"metric is {metric!r}; there are {', '.join(METRICS)}")
        if metric != "average_precision" and not chosen.probability:
            raise ValueError(
                f"{name!r} gives no probabilities, so metric must be "
                f"'average_precision', got {metric!r}"
            )
        check_count("n_values", n_values)
        fit = {"metric": metric, "values": {}, "curves": {}}
        trials = list(self._trials(X, y, cv))
        _check_informative(trials, metric)
        for parameter in chosen.tunes:
            grid = grid_of(parameter, n_values, chosen.fixed)
            options = {
                **fit["values"], "n_draws": n_draws, "random_state": random_state
            }  # fmt: skip
            scores = np.zeros(len(grid))
            for trial in trials:
                scores += _scores(name, chosen, parameter, grid, trial, metric, options)
            usual = self._usual_values(chosen)[parameter]
            fit["values"][parameter] = best_of(grid, scores, usual)
            fit["curves"][parameter] = {
                "grid": grid.tolist(),
                "scores": (scores / len(trials)).tolist(),
            }
        self.confidence_ = {**getattr(self, "confidence_", {}), name: fit}
        return self

    def _trials(self, X, y, cv):
        """Yield taggers with sequences they have not learnt from, and what they say."""
        batch = self.encode(X)
        y = list(y) if isinstance(y, Iterator) else y
        _, lengths, _ = encode_labels(y)
        check_same_lengths(batch.lengths, lengths)
        y = object_rows(y)
        if cv is None:
            yield _Trial(self, batch, *self._answers(batch, y))
            return
        fresh = clone(self)
        if "min_count" in fresh.get_params(deep=False):
            # Encoding has left rare features out already, and cannot do so twice.
            fresh.set_params(min_count=1)
        for train, test in check_cv(cv).split(batch, y):
            tagger = clone(fresh).fit(batch[train], y[train])
            yield _Trial(tagger, batch[test], *tagger._answers(batch[test], y[test]))

    def _answers(self, batch, y):
        """Return the predicted codes and which of them are right."""
        codes, _ = self._decoder(batch).viterbi(batch)
        gold, _, _ = encode_labels(y, self.classes_.tolist(), grow=False)
        return codes, codes == gold


class _Trial(NamedTuple):
    """A tagger, sequences that are new to it, and what it says of them."""

    tagger: object
    batch: object
    codes: np.ndarray
    correct: np.ndarray


def _check_informative(trials, metric):
    correct = np.concatenate([trial.correct for trial in trials])
    if not len(correct):
        raise ValueError("there is nothing to choose by: X has no token")
    if metric == "average_precision" and correct.all():
        raise ValueError(
            "no predicted label is wrong, so that average precision tells nothing; "
            "give sequences that the tagger has not learnt from, or another metric"
        )


def _scores(name, method, parameter, grid, trial, metric, options):
    """Return the metric of one trial for every value of the grid."""
    tagger, batch, codes, correct = trial
    decoder = tagger._decoder(batch)
    settings = tagger._settings(name, method, **options)
    unit = unit_of(parameter, tagger.belief_, tagger._margin(), method.fixed)
    return scores_of(
        name, parameter, grid, unit, decoder, batch, codes, correct, metric, settings
    )
