"""The grid as a table, and what it says about every goal."""

import numpy as np
from _tables import at_least, at_most, format_goals, format_table
from _travel_cells import from_lines
from _travel_corpora import CORPORA, FEATURES, SIZES

CW, CW_MEAN, OTHERS, CRF = "CW", "CW x8", ("AROW", "PA", "perceptron"), "CRF"
SCORES = (CW, CW_MEAN, *OTHERS, CRF)
# How far CW may stay behind: with few sentences chance is larger.
BEHIND, BEHIND_SMALL, BEHIND_CRF = 0.005, 0.015, 0.01
CALIBRATED = 0.05
SMALL = "100"


def render(found):
    """Return the table and the goals of every label."""
    parts = [
        "Taggers with their defaults: span F1 (accuracy for ARK and EWT) on the test "
        "sets; means of\nseeds (all sentences) or random subsets; the CRF's penalties "
        "are tuned"
    ]
    for label in found["runs"]:
        cells = cells_of(found, label)
        parts += [f"Label: {label}", _table(cells)]
        parts.append(format_goals(_goals(cells), found["quick"]))
    if missing := _without_crf(found):
        parts.append("Cells without the CRF:\n" + "\n".join(missing))
    return "\n\n".join(parts)


def _without_crf(found):
    """Return the cells that took too long, and those that nobody has run."""
    measured = {place for label in found["runs"] for place in cells_of(found, label)}
    missing = sorted(", ".join(place) for place in measured - set(_crf(found)))
    too_long = [f"{one}: too long" for one in found["left_out"]]
    known = [one for one in missing if any(x.startswith(one) for x in too_long)]
    return [*too_long, *(f"{one}: not run" for one in missing if one not in known)]


def cells_of(found, label):
    """Return the cells of a label with the CRF's, in the order of the grid."""
    cells, crf = from_lines(found["runs"][label]), _crf(found)
    grid = [(c, f, str(s)) for c in CORPORA for f in FEATURES for s in SIZES]
    return {
        place: cells[place] | crf.get(place, {}) for place in grid if place in cells
    }


def _crf(found):
    return from_lines(found["crf"])


def lead_over_others(cell):
    """Return how far CW is ahead of the best of the other three, or None."""
    if CW not in cell or not set(OTHERS) <= set(cell):
        return None
    return cell[CW]["score"] - max(cell[name]["score"] for name in OTHERS)


def lead_over_crf(cell):
    """Return how far the mean of eight is ahead of the CRF, or None."""
    return cell[CW_MEAN]["lead"] if CW_MEAN in cell else None


def _table(cells):
    header = ["corpus, features, sentences", *SCORES, "CW - best", "CW x8 - CRF"]
    header += [f"cal. {name}" for name in (CW, CW_MEAN, CRF)]
    rows = []
    for place, cell in cells.items():
        scores = [_short(cell.get(name, {}).get("score")) for name in SCORES]
        leads = [_signed(lead_over_others(cell)), _signed(lead_over_crf(cell))]
        errors = [cell.get(name, {}).get("calibration") for name in (CW, CW_MEAN, CRF)]
        rows.append([", ".join(place), *scores, *leads, *map(_short, errors)])
    note = "cal.: root of CalibMSE of predict_confidence as it comes"
    return f"{format_table(header, rows)}\n{note}"


def _short(value):
    return "-" if value is None else f"{value:.3f}".lstrip("0")


def _signed(value):
    return "-" if value is None else f"{value:+.3f}".replace("0.", ".", 1)


def _goals(cells):
    """Return the goals that the cells of a label can speak of."""
    goals = []
    if any(lead_over_others(cell) is not None for cell in cells.values()):
        goals += _against_others(cells)
    if any(lead_over_crf(cell) is not None for cell in cells.values()):
        goals += _against_crf(cells)
    for name in (CW, CW_MEAN):
        if any(name in cell for cell in cells.values()):
            goals += _calibration(cells, name)
    return goals


def _against_others(cells):
    leads = {place: lead_over_others(cell) for place, cell in cells.items()}
    leads = {place: lead for place, lead in leads.items() if lead is not None}
    small = [lead for place, lead in leads.items() if place[-1] == SMALL]
    large = [lead for place, lead in leads.items() if place[-1] != SMALL]
    goals = []
    for what, found, bound in (
        ("100 sentences", small, BEHIND_SMALL),
        ("more sentences", large, BEHIND),
    ):
        if found:
            goals.append(
                at_least(
                    f"CW - best of three, {what}, worst", min(found), -bound, ".4f"
                )
            )
            behind = sum(lead < -bound for lead in found)
            name = f"CW more than {bound} behind, {what}, of {len(found)} cells"
            goals.append(at_most(name, behind, 0, ".0f"))
    mean = float(np.mean(list(leads.values())))
    return [*goals, at_least("CW - best of three, mean", mean, 0.0, ".4f")]


def _against_crf(cells):
    rows = [cell[CW_MEAN] | {"size": place[-1]} for place, cell in cells.items()]
    rows = [row for row in rows if row["lead"] is not None]
    leads = np.array([row["lead"] for row in rows])
    behind = [row for row in rows if row["lead"] < -BEHIND_CRF]
    sure = sum(row["lead"] + 2 * _chance(row, rows) < -BEHIND_CRF for row in behind)
    share, n = float((leads > 0).mean()), len(rows)
    return [
        at_least(f"CW x8 ahead of the CRF, share of {n} cells", share, 0.75, ".2f"),
        at_most("CW x8 more than .01 behind the CRF, cells", len(behind), 0, ".0f"),
        at_most("the same, beyond two standard errors", sure, 0, ".0f"),
        at_least("CW x8 - CRF, worst", float(leads.min()), -BEHIND_CRF, ".4f"),
        at_least("CW x8 - CRF, mean", float(leads.mean()), 0.0, ".4f"),
    ]


def _chance(row, rows):
    """Return the standard error of a lead; two subsets are too few to say.

    So the spread is that of all cells of the size.
    """
    spreads = [other["lead_spread"] for other in rows if other["size"] == row["size"]]
    spreads = [spread for spread in spreads if spread is not None]
    if not spreads:
        return 0.0
    return float(np.sqrt(np.mean(np.square(spreads)) / row["lead_n"]))


def _calibration(cells, name):
    large = [cell for place, cell in cells.items() if place[-1] != SMALL]
    errors = [cell[name]["calibration"] for cell in large if name in cell]
    goals = []
    if errors:
        above = sum(error > CALIBRATED for error in errors)
        what = f"cells above .05, 1,000 or more, of {len(errors)}"
        goals.append(at_most(f"root CalibMSE of {name}: {what}", above, 0, ".0f"))
        goals.append(
            at_most(f"root CalibMSE of {name}, worst", max(errors), CALIBRATED, ".3f")
        )
    pairs = [
        (cell[name]["calibration"], cell[CRF]["calibration"])
        for cell in cells.values()
        if name in cell and CRF in cell
    ]
    if pairs:
        ours, crfs = map(float, np.mean(pairs, axis=0))
        what = f"root CalibMSE of {name}, mean of {len(pairs)} cells; the CRF's"
        goals.append(at_most(what, ours, crfs, ".4f"))
    return goals
