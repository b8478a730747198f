"""Write docs/api.md: every public name with its first sentence, room by room.

Run it after a public name has come, gone or changed its first sentence:
``python docs/make_api.py``.
"""

import importlib
import inspect
from pathlib import Path

PAGE = Path(__file__).with_name("api.md")
ROOMS = [
    "skcw",
    "skcw.tagging",
    "skcw.linear_model",
    "skcw.pipeline",
    "skcw.features",
    "skcw.data",
    "skcw.io",
    "skcw.confidence",
    "skcw.calibration",
    "skcw.evaluation",
    "skcw.metrics",
    "skcw.active",
    "skcw.reranking",
    "skcw.display",
    "skcw.datasets",
    "skcw.exceptions",
]


def names_of(room):
    """Return {public name: object} of a room, errors included."""
    module = importlib.import_module(room)
    if room == "skcw.exceptions":
        return {n: thing for n, thing in vars(module).items() if inspect.isclass(thing)}
    return {n: getattr(module, n) for n in module.__all__ if not n.startswith("_")}


def first_sentence(thing):
    """Return the first paragraph of a docstring on one line."""
    return " ".join(inspect.getdoc(thing).partition("\n\n")[0].split())


def page():
    """Return the text of the page; the first room with a name describes it."""
    lines = ["# Public names", "", "`help(name)` shows parameters and an example.", ""]
    shown = {}
    for room in ROOMS:
        found = names_of(room)
        lines += [f"## {room}", "", first_sentence(importlib.import_module(room)), ""]
        lines += ["| name | |", "|---|---|"]
        for name in sorted(found, key=str.lower):
            home = shown.setdefault(name, room)
            text = first_sentence(found[name]) if home == room else f"See {home}."
            lines.append(f"| `{name}` | {text} |".replace("\\", ""))
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
