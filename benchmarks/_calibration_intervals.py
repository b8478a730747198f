"""How often intervals and bands hold the truth: the defaults, then all others."""

from _measure import progress
from _tables import at_least, at_most, format_goals, format_table

# The methods that are used unless another is named.
DEFAULTS = ("auto", "wilson", "paired")
LEAST, MOST = 93.0, 97.0
NOTE = """\
Nominal 95 %. Words come in sentences and err together. Mean: over all predictors and
sizes, each trial counting one; lowest, highest: of a single predictor and size, which
chance alone moves by 3 to 7. A consistency band is to hold what is
seen if confidences are true, so of miscalibrated ones it tells how often they pass."""


def run(settings):
    """Return the rows of the simulation and a summary of each method."""
    from _calibration_coverage import FULL, QUICK, coverage_rows

    plans = QUICK if settings.quick else FULL
    rows = coverage_rows(
        plans, report=lambda done: progress(f"coverage: {done}"), jobs=settings.jobs
    )
    rows = [row._asdict() for row in rows]
    rows.sort(key=lambda row: not _is_default(row))
    summary = _summary(rows)
    rows = [row for row in rows if _is_default(row)]
    return {
        "quick": settings.quick,
        "summary": summary,
        "rows": rows,
        "goals": _goals(summary),
    }


def _is_default(row):
    if row["what"].startswith("band"):
        return row["method"] == "wilson"
    return row["method"] in DEFAULTS


def _summary(rows):
    cells = {}
    for row in rows:
        cells.setdefault((row["what"], row["method"]), []).append(row)
    return [
        {
            "what": what,
            "method": method,
            "default": _is_default(found[0]),
            "mean": sum(r["coverage"] * r["trials"] for r in found)
            / sum(r["trials"] for r in found),
            "lowest": min(r["coverage"] for r in found),
            "highest": max(r["coverage"] for r in found),
            "trials": sum(r["trials"] for r in found),
        }
        for (what, method), found in cells.items()
    ]


def _goals(summary):
    defaults = [one for one in summary if one["default"]]
    goals = []
    for one in defaults:
        goals += [
            at_least(f"{one['what']}: mean coverage %", one["mean"], LEAST),
            at_most(f"{one['what']}: mean coverage %", one["mean"], MOST),
        ]
    return goals


def render(found):
    """Return the results as text."""
    title = "Coverage of intervals and bands, by simulation"
    if found["quick"]:
        title += " (quick: a few trials, no measurement)"
    header = ["what", "method", "mean %", "lowest", "highest", "trials"]
    parts = [
        _summary_table(header, [one for one in found["summary"] if one["default"]]),
        "All other methods:",
        _summary_table(header, [one for one in found["summary"] if not one["default"]]),
        NOTE,
        format_goals(found["goals"], found["quick"]),
        "The defaults one by one:",
        _whole_table(found["rows"]),
    ]
    return "\n\n".join([title, *parts])


def _summary_table(header, summary):
    rows = [
        [
            one["what"],
            one["method"],
            *(f"{one[key]:.1f}" for key in ("mean", "lowest", "highest")),
            one["trials"],
        ]
        for one in summary
    ]
    return format_table(header, rows)


def _whole_table(rows):
    header = ["what", "method", "predictor", "words", "coverage %", "width", "trials"]
    body = [
        [
            row["what"],
            row["method"],
            row["predictor"],
            row["n"],
            f"{row['coverage']:.1f}",
            f"{row['width']:.3g}",
            row["trials"],
        ]
        for row in rows
    ]
    return format_table(header, body)
