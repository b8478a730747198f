"""What is compared: learners, methods, and how each of them is tuned."""

from typing import NamedTuple

from skcw import CWSequenceTagger, PASequenceTagger
from skcw.confidence._methods import METHODS

PASSES = 10
N_MODELS = 8
CW, CW_MEAN, PA, CRF = "CW", f"mean of {N_MODELS} CW", "PA", "tuned CRF"
LEARNERS = (CW, CW_MEAN, PA, CRF)
RANDOM = "random order"

# The paper chooses by average precision. All else is chosen by the logarithmic loss:
# a proper score, it asks for a good order and for true probabilities at once.
PAPERS_RULE, OUR_RULE, UNTUNED = "error_average_precision", "log_loss", "untuned"
PAPERS_DRAWS, OUR_DRAWS, QUICK_DRAWS = 50, 200, 10
REVIEWED = (1000, 5000)


class Row(NamedTuple):
    """A method with its number of draws, and the rule that its parameters follow."""

    name: str
    method: str
    n_draws: int = 1
    rule: str = OUR_RULE


PAPERS_ROWS = (
    Row("KD-Fixed", "kd-fixed", PAPERS_DRAWS, PAPERS_RULE),
    Row("KD-PC", "kd-pc", PAPERS_DRAWS, PAPERS_RULE),
    Row("Delta", "delta"),
    Row("WKBV", "wkbv", rule=PAPERS_RULE),
    Row("KBV", "kbv", rule=PAPERS_RULE),
)
OUR_ROWS = (
    Row("delta-std", "delta-std"),
    Row("delta-probit", "delta-probit"),
    Row("delta-max", "delta-max"),
    Row("marginal", "marginal"),
    Row("kd-independent", "kd-independent", OUR_DRAWS),
    Row(f"kd-fixed, {OUR_DRAWS} draws", "kd-fixed", OUR_DRAWS),
    Row(f"kd-fixed, {OUR_DRAWS} draws, by AP", "kd-fixed", OUR_DRAWS, PAPERS_RULE),
    Row(f"kd-pc, {OUR_DRAWS} draws", "kd-pc", OUR_DRAWS),
    Row(f"kd-pc, {OUR_DRAWS} draws, by AP", "kd-pc", OUR_DRAWS, PAPERS_RULE),
    Row("draw-marginal", "draw-marginal", OUR_DRAWS),
    Row("blend", "blend", OUR_DRAWS),
    Row("marginal, untuned", "marginal", rule=UNTUNED),
    Row("kd-fixed, untuned", "kd-fixed", OUR_DRAWS, UNTUNED),
    Row("blend, untuned", "blend", OUR_DRAWS, UNTUNED),
)


class Effort(NamedTuple):
    """How many values of a parameter are tried, with how many draws each."""

    n_values: int = 12
    tuning_draws: int = 30
    most_draws: int = OUR_DRAWS


def effort(quick):
    """Return the effort of a full or of a quick run."""
    return Effort(3, 5, QUICK_DRAWS) if quick else Effort()


def tagger_of(learner, split):
    """Return a learner that has not learnt yet."""
    if learner == PA:
        return PASequenceTagger(max_iter=PASSES, random_state=split)
    n_models = N_MODELS if learner == CW_MEAN else 1
    return CWSequenceTagger(max_iter=PASSES, n_models=n_models, random_state=split)


def rows_of(learner):
    """Return the rows that a learner can serve."""
    rows = (*PAPERS_ROWS, *OUR_ROWS)
    if learner == CRF:
        return ()
    return [
        row for row in rows if learner != PA or not METHODS[row.method].needs_variance
    ]


def conditions(quick):
    """Return what all rows depend on: results under others are not used.

    The library is no part of it: empty the cache when a method has changed.
    """
    return {"passes": PASSES, "effort": list(effort(quick))}
