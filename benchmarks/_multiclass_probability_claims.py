"""What section 7 of Crammer, Dredze & Kulesza (2009) says of probabilities.

Each claim is a number that is positive where the claim holds, made of the figures of
Fig. 2: those of CW after every pass, and those of maximum entropy.
"""

import numpy as np
from _multiclass_learners import MAXENT
from _tables import format_table

# Bins of the predictions' probability begin at .1, .2 ... .9.
LOW_BINS, TOP_BIN = 2, -1
FEWEST_ROWS = 20
PAPERS_PASSES = 7
# "In nearly all cases": in nine of ten bins.
NEARLY_ALL = 0.9
NOTE = f"""\
By how much a claim holds: below 0 it does not. Low: a probability below .3, sure: .9
and more. Compared with maxent is CW after the pass at the head of the column; the paper
shows {PAPERS_PASSES}. Bins of fewer than {FEWEST_ROWS} rows are not compared."""


def probability_claims(steps):
    """Return every claim, and by how much it holds after so many passes."""
    passes = [steps[step] for step in sorted(filter(str.isdigit, steps), key=int)]
    leads = {
        str(n): _leads(passes[:n], steps[MAXENT])
        for n in sorted({min(PAPERS_PASSES, len(passes)), len(passes)})
    }
    texts = next(iter(leads.values()))
    return [
        {"claim": text, "leads": {n: float(leads[n][text]) for n in leads}}
        for text in texts
    ]


def _leads(passes, maxent):
    return {
        "every pass of CW lowers the error": _every_pass_lowers(passes, "error"),
        "every pass of CW lowers the entropy": _every_pass_lowers(passes, "entropy"),
        "CW is more accurate than maxent from its second pass on": min(
            maxent["error"] - one["error"] for one in passes[1:]
        ),
        "entropy: CW above maxent": (passes[-1]["entropy"] - maxent["entropy"]),
        "right predictions: CW gives them less than maxent (.75, .83)": (
            maxent["right"] - passes[-1]["right"]
        ),
        "wrong predictions: CW gives them less than maxent (.44, .56)": (
            maxent["wrong"] - passes[-1]["wrong"]
        ),
        "skew: CW has more low than sure rows after one pass, share": (
            _share(passes[0], slice(LOW_BINS)) - _share(passes[0], TOP_BIN)
        ),
        "skew: CW has fewer sure rows than maxent, share": (
            _share(maxent, TOP_BIN) - _share(passes[-1], TOP_BIN)
        ),
        "errors among sure rows: CW has fewer than maxent, share of rows": (
            _wrong_share(maxent, TOP_BIN) - _wrong_share(passes[-1], TOP_BIN)
        ),
        "conditional error falls from bin to bin: CW": _falls(passes[-1]),
        "conditional error falls from bin to bin: maxent": _falls(maxent),
        "conditional error rises with the passes of CW, mean of the bins": (
            _mean_rise(passes[0], passes[-1])
        ),
        "conditional error: CW below maxent in 9 of 10 bins, share": (
            _bins_below(passes[-1], maxent) - NEARLY_ALL
        ),
    }


def _every_pass_lowers(passes, key):
    values = np.array([one[key] for one in passes])
    return np.min(values[:-1] - values[1:])


def _share(one, bins):
    return np.sum(np.array(one["count"])[bins]) / np.sum(one["count"])


def _wrong_share(one, bins):
    return np.sum(np.array(one["wrong_count"])[bins]) / np.sum(one["count"])


def _conditional(one):
    """Return the share of wrong rows of every bin, nan where it holds too few."""
    count, wrong = np.array(one["count"]), np.array(one["wrong_count"])
    return np.where(count >= FEWEST_ROWS, wrong / np.maximum(count, 1), np.nan)


def _falls(one):
    error = _conditional(one)
    error = error[~np.isnan(error)]
    # With a single bin in use, as in a quick run, nothing falls.
    return np.min(error[:-1] - error[1:]) if len(error) > 1 else -np.inf


def _mean_rise(first, last):
    return np.nanmean(_conditional(last) - _conditional(first))


def _bins_below(one, other):
    difference = _conditional(other) - _conditional(one)
    return np.mean(difference[~np.isnan(difference)] > 0)


def probability_claims_table(steps, quick):
    """Return the claims as text."""
    claims = probability_claims(steps)
    passes = list(claims[0]["leads"])
    rows = [
        [one["claim"], *(_verdict(one["leads"][n], quick) for n in passes)]
        for one in claims
    ]
    header = ["section 7 of the paper", *(f"{n} passes" for n in passes)]
    return f"{format_table(header, rows)}\n\n{NOTE}"


def _verdict(lead, quick):
    return f"{lead:+.4f} {'(quick)' if quick else 'yes' if lead > 0 else ' NO'}"
