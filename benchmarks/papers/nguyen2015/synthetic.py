"""The thesis's synthetic study: CalibMSE by the size of bins and of samples."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from common.measure import progress
from common.tables import (
    at_least,
    at_most,
    format_goals,
    format_table,
    new_figure,
    save_picture,
)
from skcw.metrics.calibration_errors import calibration_mse

# ---- Pairs of a prediction and an outcome whose CalibMSE is known ----

N_QUANTILES = 100_000


def moved(p, shift):
    """Return probabilities moved away from one half, and cut to what may be one."""
    return np.where(p > 0.5, np.minimum(1, p + shift), np.maximum(0, p - shift))


@dataclass(frozen=True)
class BetaPredictions:
    """The thesis's set-up: predictions of a beta distribution, outcomes moved.

    The prediction q is drawn from Beta(a, b), the outcome from Bernoulli(t(q)), where t
    moves q away from one half by a shift k of at most one half.
    """

    a: float
    b: float

    def draw(self, n, shift, rng):
        """Return n outcomes and their predictions."""
        q = rng.beta(self.a, self.b, size=n)
        return rng.uniform(size=n) < moved(q, shift), q

    def true_mse(self, shift):
        """Return E[(t(q) - q)^2], which CalibMSE estimates.

        q is moved by k, except that it cannot go further than to 0 or 1: where q < k
        it is moved by q, where q > 1 - k by 1 - q.
        """
        between = beta.cdf(1 - shift, self.a, self.b) - beta.cdf(shift, self.a, self.b)
        ends = (
            _square_below(shift, self.a, self.b),
            _square_below(shift, self.b, self.a),
        )
        return float(sum(ends) + shift**2 * between)

    def chance(self, shift):
        """Return what outcomes add to CalibMSE, times the size of the bins."""
        q = beta.ppf((np.arange(N_QUANTILES) + 0.5) / N_QUANTILES, self.a, self.b)
        p = moved(q, shift)
        return float(np.mean(p * (1 - p)))


def _square_below(limit, a, b):
    """Return E[q^2; q < limit] of Beta(a, b): q^2 makes it Beta(a + 2, b)."""
    second_moment = a * (a + 1) / ((a + b) * (a + b + 1))
    return second_moment * beta.cdf(limit, a + 2, b)


@dataclass(frozen=True)
class MovedClaims:
    """The other way round: true probabilities p are uniform, the claims are t(p).

    Claims of 0 and of 1 gather what was cut there, of many probabilities.
    """

    def draw(self, n, shift, rng):
        """Return n outcomes and the claims about them."""
        p = rng.uniform(size=n)
        claimed = moved(p, shift)
        return rng.uniform(size=n) < p, claimed

    def true_mse(self, shift):
        """Return CalibMSE of endless pairs in endless bins.

        Claims between the ends are off by k; those that were cut to 0 or 1, a share of
        k at each end, have a mean probability of k / 2 or 1 - k / 2.
        """
        return (1 - 2 * shift) * shift**2 + 2 * shift * (shift / 2) ** 2

    def chance(self, shift):
        """Return what outcomes add to CalibMSE, times the size of the bins."""
        return 1 / 6


DESIGNS = {
    "beta(1, 1)": BetaPredictions(1, 1),
    "beta(0.5, 0.5)": BetaPredictions(0.5, 0.5),
    "beta(5, 1)": BetaPredictions(5, 1),
    "beta(2, 5)": BetaPredictions(2, 5),
    "claims moved": MovedClaims(),
}


# ---- The thesis's synthetic study: CalibMSE by the size of bins and of samples ----

# The thesis shows none and one tenth.
SHIFTS = (0.0, 0.05, 0.1, 0.2)
COLORS = ("#0072B2", "#009E73", "#E69F00", "#D62728")
PAIRS, QUICK_PAIRS = 100_000, 2_000
STUDIES = {
    "by_power": ("powers", "pairs in a bin, powers of two"),
    "by_step": ("steps", "pairs in a bin, steps of 1,000"),
    "by_sample": ("samples", "pairs, in bins of their root"),
}
NOTE = """\
beta(a, b): the prediction q is drawn from that distribution, the outcome from
Bernoulli(t(q)), as in the thesis; t(q) is min(1, q + k) above one half and
max(0, q - k) below. Truth: the mean of (t(q) - q)^2. "Claims moved", which is not the
thesis's, has uniform true probabilities p and claims of t(p), so that claims of 0 and 1
gather what was cut there: off by k / 2 on average. By bins: one sample, as in the
thesis. By samples: means of several. Chance adds about E[t(q) (1 - t(q))] / b with b
pairs in a bin. Rises: how many times CalibMSE is higher than at the size before."""


class Plan:
    """Which sizes are tried, and how many samples of each.

    Parameters
    ----------
    quick : bool
        Whether to try a few small ones only.
    """

    def __init__(self, quick):
        self.n_pairs = QUICK_PAIRS if quick else PAIRS
        self.powers = [2**i for i in range(1, 11 if quick else 17)]
        step, n_steps = (20, 50) if quick else (1_000, 50)
        self.steps = [step * (i + 1) for i in range(n_steps)]
        start, stop = (200, 1000) if quick else (10_000, 50_000)
        self.samples = [int(n) for n in np.linspace(start, stop, 9)]
        self.sample_repeats = 2 if quick else 20


def run(settings):
    """Return the scores of every study."""
    plan = Plan(settings.quick)
    found = {
        "quick": settings.quick,
        "pairs": plan.n_pairs,
        "powers": plan.powers,
        "steps": plan.steps,
        "samples": plan.samples,
        "designs": {name: _studied(name, plan) for name in DESIGNS},
    }
    return found | {"goals": _goals(found)}


def _studied(name, plan):
    """Return the scores of one way to draw pairs, by shift and by study."""
    design, studied = DESIGNS[name], {}
    for shift in SHIFTS:
        progress(f"synthetic: {name}, k = {shift}")
        pairs = design.draw(plan.n_pairs, shift, np.random.default_rng(0))
        studied[str(shift)] = {
            "truth": design.true_mse(shift),
            "chance": design.chance(shift),
            "by_power": [calibration_mse(*pairs, bin_size=b) for b in plan.powers],
            "by_step": [calibration_mse(*pairs, bin_size=b) for b in plan.steps],
            "by_sample": _by_sample_size(plan, design, shift),
        }
    return studied


def _by_sample_size(plan, design, shift):
    """Return the mean score of samples of each size, in bins of its root."""
    rng = np.random.default_rng(0)
    return [
        float(
            np.mean(
                [
                    calibration_mse(*design.draw(n, shift, rng))
                    for _ in range(plan.sample_repeats)
                ]
            )
        )
        for n in plan.samples
    ]


def rises(scores):
    """Return how many times a score is higher than the one before."""
    return int(np.sum(np.diff(scores) > 0))


def _goals(found):
    designs = found["designs"].items()
    goals = []
    for name, studied in designs:
        ideal, off = studied["0.0"], studied["0.1"]
        goals += [
            at_most(
                f"{name}, calibrated: rises, bins doubled",
                rises(ideal["by_power"]),
                0,
                "d",
            ),
            at_most(
                f"{name}, calibrated: last sample over first",
                ideal["by_sample"][-1] / ideal["by_sample"][0],
                1.0,
                ".3f",
            ),
            at_least(
                f"{name}, k = 0.1: rises over those of calibrated, steps",
                rises(off["by_step"]),
                rises(ideal["by_step"]) + 1,
                "d",
            ),
        ]
        n = found["samples"][-1]
        for shift in SHIFTS[1:]:
            one = studied[str(shift)]
            # Chance alone adds a part of this size.
            expected = one["truth"] + one["chance"] / np.sqrt(n)
            distance = abs(one["by_sample"][-1] / expected - 1)
            what = f"{name}, k = {shift}: off truth and chance, {n} pairs"
            goals.append(at_most(what, distance, 0.05, ".3f"))
    return goals


def draw(found, path):
    """Draw every study of every design."""
    figure = new_figure(figsize=(12, 3.4 * len(found["designs"])))
    if figure is None:
        return
    panels = figure.subplots(len(found["designs"]), len(STUDIES), squeeze=False)
    for row, (name, studied) in zip(panels, found["designs"].items(), strict=True):
        for panel, (study, (sizes, what)) in zip(row, STUDIES.items(), strict=True):
            _draw_study(panel, found[sizes], studied, study)
            panel.set(xlabel=what, ylabel="root of CalibMSE")
            panel.set_title(name, fontsize="medium")
        row[0].set(xscale="log", yscale="log")
        chance = [np.sqrt(studied["0.0"]["chance"] / size) for size in found["powers"]]
        row[0].plot(found["powers"], chance, "k--", linewidth=1, label="chance alone")
        for panel in row[1:]:
            panel.set_ylim(bottom=0)
    panels[0][0].legend(fontsize="small", loc="lower left")
    figure.suptitle(
        f"Outcomes moved by k; one sample of {found['pairs']:,} pairs on the left and "
        "in the middle. Dotted: the truth"
    )
    save_picture(figure, path)


def _draw_study(panel, sizes, studied, study):
    for shift, color in zip(SHIFTS, COLORS, strict=True):
        one = studied[str(shift)]
        name = "calibrated" if shift == 0 else f"k = {shift}"
        style = {"marker": "o", "markersize": 2, "linewidth": 1}
        panel.plot(sizes, np.sqrt(one[study]), color=color, label=name, **style)
        if shift:
            truth = np.sqrt(one["truth"])
            panel.axhline(truth, color=color, linestyle=":", linewidth=1)
    panel.grid(alpha=0.3)


def render(found):
    """Return the results as text."""
    title = f"Synthetic study: CalibMSE of {found['pairs']} pairs"
    if found["quick"]:
        title += " (quick: small samples, no measurement)"
    tables = [
        _table(f"{name}: {what}", found[sizes], studied, study)
        for name, studied in found["designs"].items()
        for study, (sizes, what) in STUDIES.items()
    ]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, NOTE, *tables, goals])


def _table(title, sizes, studied, study):
    """Return one study of one design; of many steps every seventh is shown."""
    every = 7 if study == "by_step" else 1
    columns = [studied[str(shift)] for shift in SHIFTS]
    rows = [
        [size, *(f"{one[study][i]:.6f}" for one in columns)]
        for i, size in enumerate(sizes)
        if i % every == 0
    ]
    rows.append(["truth", *(f"{one['truth']:.6f}" for one in columns)])
    rows.append(["rises", *(rises(one[study]) for one in columns)])
    names = ["calibrated" if k == 0 else f"k = {k}" for k in SHIFTS]
    return format_table([title, *names], rows)
