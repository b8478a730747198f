"""Pictures of the benchmarks: how they begin and how they are saved."""

import io
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

# ---- Results as text and as JSON; parts run at different times are merged ----

PACKAGES = ("skcw", "numpy", "scipy", "scikit-learn", "python-crfsuite")
SIGNIFICANT_DIGITS = 6


def format_table(header, rows):
    """Return a text table: the first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *others in cells:
        line = [first.ljust(widths[0])]
        line += [c.rjust(w) for c, w in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(line).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def number(value, form):
    """Return a formatted number, or a dash where there is none."""
    return "-" if value is None else format(value, form)


def at_least(what, measured, bound, form=".1f"):
    """Return a goal that is met by values from the bound upwards."""
    return _goal(what, measured, bound, form, ">=", measured >= bound)


def at_most(what, measured, bound, form=".1f"):
    """Return a goal that is met by values up to the bound."""
    return _goal(what, measured, bound, form, "<=", measured <= bound)


def _goal(what, measured, bound, form, sign, met):
    return {
        "what": what,
        "measured": measured,
        "bound": bound,
        "form": form,
        "sign": sign,
        "met": bool(met),
    }


def format_goals(goals, quick=False):
    """Return the goals as a table; a quick run meets or misses none."""
    rows = [
        [
            goal["what"],
            f"{goal['sign']} {goal['bound']:{goal['form']}}",
            f"{goal['measured']:{goal['form']}}",
            "(quick)" if quick else "yes" if goal["met"] else "NO",
        ]
        for goal in goals
    ]
    return format_table(["goal", "needed", "measured", "met"], rows)


def save_parts(found, output, name, parts):
    """Merge what parts have found into ``name.json``; write all as ``name.txt``."""
    output.mkdir(parents=True, exist_ok=True)
    stored = output / f"{name}.json"
    results = json.loads(stored.read_text("utf-8")) if stored.exists() else {}
    results |= {part: {"ran_on": environment(), **one} for part, one in found.items()}
    results = {part: results[part] for part in parts if part in results}
    stored.write_text(json.dumps(_rounded(results), indent=1) + "\n", "utf-8")
    text = "\n\n".join(
        f"{parts[part].render(one)}\n\n{_signature(one)}"
        for part, one in results.items()
    )
    (output / f"{name}.txt").write_text(text + "\n", "utf-8")


def environment():
    """Return what timings depend on: the processor and the versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
    }


def _processor():
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def _version(package):
    if package == "skcw":
        import skcw

        return skcw.__version__
    return version(package)


def _signature(found):
    # Parts that were run before may name other packages.
    ran_on = dict(found["ran_on"])
    machine = f"{ran_on.pop('processor')}, {ran_on.pop('cores')} cores"
    return f"[{machine}; {', '.join(f'{key} {ran_on[key]}' for key in ran_on)}]"


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return value


# ---- Pictures of the benchmarks: how they begin and how they are saved ----

N_COLORS = 96


def new_figure(**options):
    """Return an empty figure, or None (and say so) without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("Note: without matplotlib there are no pictures", file=sys.stderr)
        return None
    return Figure(layout="constrained", **options)


def save_picture(figure, path, n_colors=N_COLORS):
    """Write a picture of few colors: a third of the size, and no one can tell.

    Where many bands overlap, lines need more colors to keep their own.
    """
    # Pillow comes with matplotlib.
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=90)
    Image.open(drawn).convert("RGB").quantize(n_colors).save(path, optimize=True)
