"""CPU seconds of ``skcw tag``, with and without confidence."""

from _house_versions import cpu_seconds, in_turns, rendered, trained
from _measure import progress
from _tables import at_most

# The work of one run is short beside the start of Python: ratios need more of it.
COPIES = 5
LABELS = {
    "start": "start (one sentence)",
    "tag": "test columns",
    "confidence": "test columns with confidence",
    "work": f"work of {COPIES} copies",
    "confidence_work": f"work of {COPIES} copies with confidence",
    "ratio": "with confidence / without",
}
NOTE = """\
CPU seconds of whole processes; work is what remains without the start."""


def run(settings):
    """Return the medians of each version, and the goals."""
    with trained(settings) as (folders, file, models):
        text = file.read_text(encoding="utf-8")
        one, many = file.with_name("one.conll"), file.with_name("many.conll")
        one.write_text(text[: text.index("\n\n") + 2], encoding="utf-8")
        many.write_text(text * COPIES, encoding="utf-8")
        output = file.with_name("out.conll")

        def tag(name, source, *options):
            command = ["tag", "-q", models[name], source, "-o", output, *options]
            return cpu_seconds(folders[name], "-m", "skcw", *command)

        def measure(name):
            progress("command:", name)
            start = tag(name, one)
            work = tag(name, many) - start
            confidence_work = tag(name, many, "--confidence") - start
            return {
                "start": start,
                "tag": tag(name, file),
                "confidence": tag(name, file, "--confidence"),
                "work": work,
                "confidence_work": confidence_work,
                # The work of a quick run may drown in the noise.
                "ratio": confidence_work / max(work, 1e-3),
            }

        figures = in_turns(measure, list(folders), settings.seeds)
    now = figures["now"]
    goals = [
        at_most("CPU seconds of skcw tag", now["tag"], 0.4, ".2f"),
        at_most("skcw tag --confidence / skcw tag", now["ratio"], 1.4, ".2f"),
    ]
    return {"quick": settings.quick, "figures": figures, "goals": goals}


def render(found):
    """Return the results as text."""
    title = "skcw tag of the CoNLL-2000 test columns"
    return rendered(title, found, LABELS, NOTE)
