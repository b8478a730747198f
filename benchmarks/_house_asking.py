"""What ``confidence_pairs`` costs beside one question to the model."""

import json
from pathlib import Path

from _house_versions import in_turns, rendered, run_python, trained
from _measure import progress
from _tables import at_most

QUESTIONS = Path(__file__).with_name("_house_questions.py")
LABELS = {
    "predict": "predict",
    "confidence": "predict_confidence",
    "query": "confidence_pairs",
    "one": "confidence_pairs of one label",
    "ten": "confidence_pairs of ten labels",
    "query_ratio": "confidence_pairs / predict_confidence",
    "label_ratio": "ten labels / one label",
}
NOTE = """\
CPU seconds inside a process that has opened a pipeline; each figure is the least of
three calls, because the first ones warm up."""


def run(settings):
    """Return the medians of each version, and the goals."""
    with trained(settings) as (folders, file, models):

        def measure(name):
            progress("asking:", name)
            printed = run_python(folders[name], QUESTIONS, models[name], file)
            seconds = json.loads(printed)
            return {
                **seconds,
                "query_ratio": seconds["query"] / seconds["confidence"],
                "label_ratio": seconds["ten"] / seconds["one"],
            }

        figures = in_turns(measure, list(folders), settings.seeds)
    now = figures["now"]
    goals = [
        at_most(
            "confidence_pairs / predict_confidence", now["query_ratio"], 1.2, ".2f"
        ),
        at_most("ten labels / one label", now["label_ratio"], 1.2, ".2f"),
    ]
    return {"quick": settings.quick, "figures": figures, "goals": goals}


def render(found):
    """Return the results as text."""
    title = "Asking a pipeline about the CoNLL-2000 test columns"
    return rendered(title, found, LABELS, NOTE)
