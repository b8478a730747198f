"""Defaults on data they were not made for: learning and confidence that travel.

Parts, each of which can be run by itself; results are merged into one JSON file:

words       taggers: 7 corpora x 4 feature sets x 3 sizes, beside a tuned CRF
confidence  the paper's three sets: errors left after review, beside a tuned CRF
rows        classifiers: corpora of documents, beside tuned ones of scikit-learn

    python benchmarks/bench_travel.py --data-home DIR --cache DIR --label after
    python benchmarks/bench_travel.py --quick

Options of this benchmark alone:

--label NAME       what the installed package is called, such as before or after: all
                   labels that the cache holds are shown side by side
--learners NAMES   of CW,CW x8,AROW,PA,perceptron,CRF: measure these only
--corpora NAMES    of built-in,ARK,NP,Dutch,Spanish,CoNLL-2000,EWT XPOS: these only
--show             measure nothing: write and draw what the cache holds
--resume           go on with an interrupted run: figures that the label has stay

``--cache`` names a folder that keeps what is done: the CRF is never run again, our
learners are, unless ``--resume`` is given. ``--quick`` shows on a small corpus that is
made that every part works. Its figures are no measurement.
"""

import argparse
import importlib.util
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import _travel_confidence
import _travel_words
from _corpora import check_corpora
from _runner import Settings, parse, run_parts
from _travel_corpora import BUILT_IN, CORPORA
from _travel_crf import CRF

NAME = "travel"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {"words": _travel_words, "confidence": _travel_confidence}
if importlib.util.find_spec("_travel_rows"):
    PARTS["rows"] = importlib.import_module("_travel_rows")
PICTURES = {"words": "travel.png", "rows": "travel-rows.png"}
LEARNERS = (*_travel_words.TAGGERS, CRF)


@dataclass(frozen=True)
class TravelSettings(Settings):
    """What the parts of this benchmark need to know besides."""

    label: str = "after"
    learners: tuple = LEARNERS
    corpora: tuple = CORPORA
    resume: bool = False


def settings_of(arguments=None):
    """Return the chosen parts and the settings."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--label", default="after")
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--resume", action="store_true")
    given, others = parser.parse_known_args(arguments)
    parts, settings = parse(__doc__, PARTS, RESULTS, others)
    learners, corpora = given.learners.split(","), given.corpora.split(",")
    for named, known in ((learners, LEARNERS), (corpora, CORPORA)):
        if unknown := set(named) - set(known):
            parser.error(f"no {min(unknown)!r} here; there are {', '.join(known)}")
    if settings.quick:
        settings, corpora = replace(settings, splits=1), [BUILT_IN]
    return parts, TravelSettings(
        **asdict(settings),
        label=given.label,
        learners=() if given.show else tuple(learners),
        corpora=tuple(corpora),
        resume=given.resume,
    )


def main():
    """Run the chosen parts, print, save and draw what each of them finds."""
    parts, settings = settings_of()
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)
    found = json.loads((settings.output / f"{NAME}.json").read_text("utf-8"))
    for part, picture in PICTURES.items():
        if part in parts:
            PARTS[part].picture(found[part], settings.output / picture)


if __name__ == "__main__":
    main()
