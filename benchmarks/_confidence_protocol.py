"""What is compared: learners, methods, and how each of them is tuned."""

import json
from pathlib import Path
from typing import NamedTuple

from _tagging_folds import LEARNERS as LEARNERS_OF_TABLE2
from _tagging_folds import augmented
from sklearn.base import clone

from skcw import CWSequenceTagger, PASequenceTagger
from skcw.confidence.methods import METHODS

PASSES = 10
N_MODELS = 8
CW, CW_MEAN, PA, CRF = "CW", f"mean of {N_MODELS} CW", "PA", "tuned CRF"
LEARNERS = (CW, CW_MEAN, PA, CRF)

# The paper's learners look for their rival by score alone; beside them stand the same
# ones, trained by cost-augmented decoding: {decoder: (CW, PA)}.
PLAIN, AUGMENTED = "plain", "cost-augmented"
PAPERS = {
    PLAIN: (f"CW, {PLAIN}", f"PA, {PLAIN}"),
    AUGMENTED: (f"CW, {AUGMENTED}", f"PA, {AUGMENTED}"),
}
PAPERS_LEARNERS = (*PAPERS[PLAIN], *PAPERS[AUGMENTED])
IN_TABLE2 = dict(
    zip(
        PAPERS_LEARNERS,
        ("CW", "5-best PA", augmented("CW"), augmented("5-best PA")),
        strict=True,
    )
)
# The paper takes phi and C from its Table 2.
TABLE2 = Path(__file__).resolve().parent / "results" / "tagging.json"
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
MANY_DRAWS = f"KD-PC, {OUR_DRAWS} draws"
MORE_DRAWS = Row(MANY_DRAWS, "kd-pc", OUR_DRAWS, PAPERS_RULE)
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


def tagger_of(learner, split, name=None):
    """Return a learner that has not learned yet, for the set of that name."""
    if learner in PAPERS_LEARNERS:
        return _papers(learner, name).set_params(max_iter=PASSES, random_state=split)
    if learner == PA:
        return PASequenceTagger(max_iter=PASSES, random_state=split)
    n_models = N_MODELS if learner == CW_MEAN else 1
    return CWSequenceTagger(max_iter=PASSES, n_models=n_models, random_state=split)


def _papers(learner, name):
    """Return a learner of the paper with the parameter that Table 2 has chosen."""
    tagger, parameter, _ = LEARNERS_OF_TABLE2[IN_TABLE2[learner]]
    sets = json.loads(TABLE2.read_text("utf-8"))["table2"]["sets"]
    chosen = sets.get(name, {}).get("tuning", {}).get(IN_TABLE2[learner])
    return clone(tagger).set_params(**{parameter: chosen["chosen"]} if chosen else {})


def rows_of(learner):
    """Return the rows that a learner can serve."""
    if learner == CRF:
        return ()
    papers = learner in PAPERS_LEARNERS
    rows = (*PAPERS_ROWS, *([MORE_DRAWS] if papers else OUR_ROWS))
    without_variance = learner.startswith(PA)
    return [
        row
        for row in rows
        if not (without_variance and METHODS[row.method].needs_variance)
    ]


def conditions(quick):
    """Return what all rows depend on: results under others are not used.

    The library is no part of it: empty the cache when a method has changed.
    """
    return {"passes": PASSES, "effort": list(effort(quick))}
