"""Section 5 of Mejer & Crammer (2010) with the paper's learners and both decoders.

The paper's learners look for their rival by score alone. The same learners trained by
cost-augmented decoding stand beside them, and every claim is judged for both.
"""

from _confidence_claims import judge
from _confidence_figures import PAPERS_FIGURES, draw_papers_figures
from _confidence_methods import (
    claim_rows,
    figures_table,
    inference_of,
    inference_table,
    set_of,
    values_chosen,
)
from _confidence_protocol import CRF, CW, PA, PAPERS, PAPERS_LEARNERS, PLAIN
from _confidence_runs import all_trials
from _tables import format_table

CLAIMS_NOTE = """\
By how much the claim holds: below 0 it does not. Mean over the splits; in brackets on
how many of {} splits."""
NOTE = """\
Learners as in Table 2 of bench_tagging.py, with phi and C chosen there: hard CW on the
whole rival, five-best PA. Plain: the paper's. Cost-augmented: wrong labels are made
better when the learner looks for its rival; labels to rate are found plainly in both.
Columns as in the part methods; 50 draws, but for the row that says 200; values
chosen by AP on a quarter of the training part, as in the paper."""


def run(settings):
    """Return figures, and the claims for plain and for cost-augmented decoding."""
    trials = all_trials(settings, (*PAPERS_LEARNERS, CRF))
    draw_papers_figures(_as_in_the_paper(trials, PLAIN), settings.output)
    return {
        "quick": settings.quick,
        "splits": settings.splits,
        "sets": {name: set_of(one) for name, one in trials.items()},
        "inference": {name: inference_of(one) for name, one in trials.items()},
        "chosen": {name: values_chosen(one) for name, one in trials.items()},
        "claims": {
            decoder: judge(_as_in_the_paper(trials, decoder)) for decoder in PAPERS
        },
    }


def _as_in_the_paper(trials, decoder):
    """Return the trials of one decoder under the names that claims ask for."""
    cw, pa = PAPERS[decoder]
    return {
        name: {CW: one[cw], PA: one[pa], CRF: one[CRF]} for name, one in trials.items()
    }


def render(found):
    """Return the results as text."""
    title = f"Confidence as in the paper: {found['splits']} splits, 75/25"
    if found["quick"]:
        title += " (quick: a subset, no measurement)"
    blocks = [title]
    for decoder, claims in found["claims"].items():
        header = [f"claim, {decoder} decoding", *found["sets"], "held"]
        blocks.append(format_table(header, claim_rows(claims, found)))
    blocks.append(CLAIMS_NOTE.format(found["splits"]))
    for name, learners in found["sets"].items():
        blocks += [figures_table(name, *one) for one in learners.items()]
    pictures = f"Pictures, plain decoding: {', '.join(PAPERS_FIGURES)}"
    return "\n\n".join([*blocks, NOTE, inference_table(found), pictures])
