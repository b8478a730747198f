"""Section 5 of Mejer & Crammer (2010): which confidence finds wrong words."""

import numpy as np
from _confidence_measures import SCALARS
from _confidence_protocol import CRF, LEARNERS
from _confidence_runs import all_trials
from _tables import format_table, number

FORMS = {"ap": ".4f", "rmse": ".4f", "area": ".5f"}
HEADER = {"ap": "AP", "rmse": "RMSE", "area": "area"}


def run(settings):
    """Return the figures of all methods, means and spreads over the splits."""
    trials = all_trials(settings)
    return {
        "quick": settings.quick,
        "splits": settings.splits,
        "sets": {
            name: {learner: _rows(by_learner[learner]) for learner in LEARNERS}
            for name, by_learner in trials.items()
        },
    }


def _rows(trials):
    return {
        row: {
            key: _mean_and_spread([t["rows"][row][key] for t in trials])
            for key in SCALARS
        }
        for row in trials[0]["rows"]
    }


def _mean_and_spread(values):
    if values[0] is None:
        return None
    return [float(np.mean(values)), float(np.std(values, ddof=len(values) > 1))]


def render(found):
    """Return the results as text."""
    blocks = [
        f"Confidence in words, means and spreads of {found['splits']} splits"
        + (" (quick: a subset, no measurement)" if found["quick"] else "")
    ]
    for name, learners in found["sets"].items():
        for learner, rows in learners.items():
            title = name if learner == CRF else f"{name}, {learner}"
            header = [
                title,
                *[HEADER.get(key, key.replace("_", " ")) for key in SCALARS],
            ]
            table = [
                [row, *[_cell(key, one[key]) for key in SCALARS]]
                for row, one in rows.items()
            ]
            blocks.append(format_table(header, table))
    return "\n\n".join(blocks)


def _cell(key, value):
    if value is None:
        return number(None, "")
    mean, spread = value
    form = FORMS.get(key, ".0f")
    return f"{mean:{form}} ±{spread:{form}}"
