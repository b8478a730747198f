"""Displays of words ranked by confidence: what they share."""

import numpy as np

from skcw.display._base import AnswersDisplay
from skcw.display._captions import score_title
from skcw.metrics._questions import LABEL
from skcw.metrics._weighted_pairs import check_ranked_pairs

# More points than a picture has dots make files large and nothing clearer.
N_POINTS = 500


def ranking_grid(n_words):
    """Return numbers of words from 1 to all: evenly spread, and dense at both ends."""
    even = np.linspace(1, n_words, N_POINTS)
    dense = np.geomspace(1, n_words, N_POINTS // 2)
    grid = np.concatenate([even, dense, n_words + 1 - dense])
    return np.unique(np.rint(grid).astype(np.int64))


class RankingDisplay(AnswersDisplay):
    """Base of the displays of a ranking, which only errors can be ranked by.

    A display of its own has ``_curve(pairs)``, the two arrays that it is made of,
    ``_score(confidence, correct, **options)`` and ``_score_name``.
    """

    def _keep_captions(self, score, score_name, name, unit):
        self.score = score
        self.score_name = score_name
        self.name = name
        self.unit = unit

    @classmethod
    def _wording(cls, question):
        if question.kind == LABEL:
            raise ValueError(
                f"{cls.__name__} ranks what was predicted, so query must be None or "
                f"ask about spans; ConfidenceCalibrationDisplay draws '{question}'"
            )
        return super()._wording(question)

    @classmethod
    def from_predictions(
        cls,
        confidence,
        correct,
        *,
        groups=None,
        sample_weight=None,
        interval="bootstrap",
        confidence_level=0.95,
        n_resamples=1000,
        random_state=0,
        name=None,
        unit="words",
        ax=None,
        **options,
    ):
        """Draw the ranking of words by given confidences.

        Parameters
        ----------
        confidence : array of shape (n_words,), or a sequence of such
            How sure a model is of each label, on any scale.
        correct : array of bool of shape (n_words,), or a sequence of such
            Whether that label is right, in the same layout.
        groups : array of shape (n_words,) or (n_rows,), default=None
            The sentence of each word. Words of one sentence are not independent, and
            the interval takes that into account. If None each row is a group, and in
            flat arrays each word is one.
        sample_weight : array of shape (n_words,), or a sequence of such, default=None
            How often each word counts, a whole number, in the same layout.
        interval : str or None, default="bootstrap"
            The method of the score's interval; None for none.
        confidence_level : float, default=0.95
            The level of the interval.
        n_resamples : int, default=1000
            Number of resamples for the interval.
        random_state : int, RandomState instance or None, default=0
            Rules the resamples.
        name : str, default=None
            The name of the model.
        unit : str, default="words"
            What is counted, for the labels of the axes.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options : object
            Those of :meth:`plot`.

        Returns
        -------
        display : object
            What was drawn, with ``line_``, ``ax_`` and ``figure_``.
        """
        pairs = check_ranked_pairs(
            confidence, correct, sample_weight, groups, needed_for="a curve"
        )
        score = cls._score(
            pairs.q,
            pairs.y,
            groups=pairs.group,
            sample_weight=pairs.weight,
            interval=interval,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        display = cls(
            *cls._curve(pairs),
            score=score,
            score_name=score_title(cls._score_name, interval, confidence_level),
            name=name,
            unit=unit,
        )
        return display.plot(ax, **options)
