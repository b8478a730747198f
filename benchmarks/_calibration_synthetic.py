"""CalibMSE where the truth is known, by the size of bins and of samples."""

import numpy as np
from _measure import progress
from _pictures import new_figure, save_picture
from _tables import at_most, format_goals, format_table

from skcw.metrics import calibration_mse

FIGURE = "calibration-synthetic.png"
SHIFTS = (0.0, 0.05, 0.1, 0.2)
COLOURS = ("#0072B2", "#009E73", "#E69F00", "#D62728")
PAIRS, QUICK_PAIRS = 100_000, 2_000
NOTE = """\
True probabilities p are uniform; a model claims min(1, p + k) above one half and
max(0, p - k) below. Truth: k^2 (1 - 1.5 k), for claims of 0 and 1 are off by k / 2.
Chance adds about 1 / (6 b) with b pairs in a bin. Means of several samples."""


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
        self.range = np.linspace(*((20, 1000) if quick else (1_000, 50_000)), 25)
        start, stop = (200, 1000) if quick else (10_000, 50_000)
        self.samples = [int(n) for n in np.linspace(start, stop, 9)]
        self.repeats, self.sample_repeats = (1, 2) if quick else (3, 20)


def draw_pairs(n, shift, rng):
    """Return what came true, and claims that are off by a shift."""
    p = rng.uniform(size=n)
    claimed = miscalibrated(p, shift)
    return rng.uniform(size=n) < p, claimed


def miscalibrated(p, shift):
    """Return probabilities moved away from one half."""
    return np.where(p > 0.5, np.minimum(1, p + shift), np.maximum(0, p - shift))


def true_mse(shift):
    """Return CalibMSE of endless pairs in endless bins.

    Claims between the ends are off by k; those that were cut to 0 or 1, a share of k
    at each end, have a mean probability of k / 2 or 1 - k / 2.
    """
    return (1 - 2 * shift) * shift**2 + 2 * shift * (shift / 2) ** 2


def run(settings):
    """Return the scores of every study; draw them."""
    plan = Plan(settings.quick)
    found = {
        "quick": settings.quick,
        "pairs": plan.n_pairs,
        "powers": plan.powers,
        "range": [int(b) for b in plan.range],
        "samples": plan.samples,
        "by_power": {},
        "by_range": {},
        "by_sample": {},
    }
    for shift in SHIFTS:
        progress(f"synthetic: k = {shift}")
        by_bins = _by_bin_size(plan, shift, [*found["powers"], *found["range"]])
        found["by_power"][str(shift)] = by_bins[: len(plan.powers)]
        found["by_range"][str(shift)] = by_bins[len(plan.powers) :]
        found["by_sample"][str(shift)] = _by_sample_size(plan, shift)
    _draw(found, settings.output)
    return found | {"goals": _goals(found)}


def _by_bin_size(plan, shift, sizes):
    scores = []
    for repeat in range(plan.repeats):
        y, q = draw_pairs(plan.n_pairs, shift, np.random.default_rng(repeat))
        scores.append([calibration_mse(y, q, bin_size=size) for size in sizes])
    return np.mean(scores, axis=0).tolist()


def _by_sample_size(plan, shift):
    """Return the mean score of samples of each size, in bins of its root."""
    rng = np.random.default_rng(0)
    return [
        float(
            np.mean(
                [
                    calibration_mse(*draw_pairs(n, shift, rng))
                    for _ in range(plan.sample_repeats)
                ]
            )
        )
        for n in plan.samples
    ]


def _goals(found):
    calibrated = np.array(found["by_power"]["0.0"])
    last = {shift: found["by_sample"][str(shift)][-1] for shift in SHIFTS}
    n = found["samples"][-1]
    goals = [
        at_most(
            "calibrated: times that doubling the bins raised it",
            int(np.sum(np.diff(calibrated) > 0)),
            0,
            "d",
        ),
        at_most(f"calibrated: CalibMSE of {n} pairs", last[0.0], 0.001, ".5f"),
    ]
    for shift in SHIFTS[1:]:
        off = abs(last[shift] / true_mse(shift) - 1)
        what = f"k = {shift}: off the truth, {n} pairs"
        # Chance alone adds a part of this size.
        bound = 0.05 + 1 / (6 * np.sqrt(n)) / true_mse(shift)
        goals.append(at_most(what, off, float(bound), ".3f"))
    return goals


def _draw(found, output):
    figure = new_figure(figsize=(12, 4.2))
    if figure is None:
        return
    panels = figure.subplots(1, 3)
    for panel, study, sizes, what in zip(
        panels,
        ("by_power", "by_range", "by_sample"),
        (found["powers"], found["range"], found["samples"]),
        ("pairs in a bin", "pairs in a bin", "pairs, in bins of their root"),
        strict=True,
    ):
        for shift, colour in zip(SHIFTS, COLOURS, strict=True):
            roots = np.sqrt(found[study][str(shift)])
            name = "calibrated" if shift == 0 else f"k = {shift}"
            style = {"marker": "" if study == "by_range" else "o", "markersize": 3}
            panel.plot(sizes, roots, color=colour, label=name, **style)
            if shift:
                truth = np.sqrt(true_mse(shift))
                panel.axhline(truth, color=colour, linestyle=":", linewidth=1)
        panel.set(xlabel=what, ylabel="root of CalibMSE")
        panel.grid(alpha=0.3)
    panels[0].set(xscale="log", yscale="log")
    chance = [np.sqrt(1 / (6 * size)) for size in found["powers"]]
    panels[0].plot(found["powers"], chance, "k--", linewidth=1, label="chance alone")
    panels[0].legend(fontsize="small", loc="lower left")
    for panel in panels[1:]:
        panel.set_ylim(bottom=0)
    figure.suptitle(
        f"Claims off by k; {found['pairs']:,} pairs on the left. Dotted: the truth"
    )
    save_picture(figure, output / FIGURE)


def render(found):
    """Return the results as text."""
    title = f"Synthetic studies ({FIGURE}): CalibMSE of {found['pairs']} pairs"
    if found["quick"]:
        title += " (quick: small samples, no measurement)"
    header = ["", *("calibrated" if k == 0 else f"k = {k}" for k in SHIFTS)]
    truth = ["truth", *(f"{true_mse(shift):.6f}" for shift in SHIFTS)]
    tables = [
        _table(["pairs in a bin", *header[1:]], found, "powers", "by_power", truth),
        _table(["pairs in a bin", *header[1:]], found, "range", "by_range", truth, 4),
        _table(["pairs", *header[1:]], found, "samples", "by_sample", truth),
    ]
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, *tables, NOTE, goals])


def _table(header, found, sizes, study, truth, every=1):
    rows = [
        [size, *(f"{found[study][str(shift)][i]:.6f}" for shift in SHIFTS)]
        for i, size in enumerate(found[sizes])
        if i % every == 0
    ]
    return format_table(header, [*rows, truth])
