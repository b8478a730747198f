"""Active learning: the protocols of both papers, a CRF at equal words, and speed.

Parts, each of which can be run by itself; results are merged into one JSON file:

rows       Dredze & Crammer (2008): binary tasks, labels to reach 80 % of full accuracy
sequences  Mejer & Crammer (2010), section 6: F against the number of words labeled
speed      utilities of large pools and a whole round, beside CRFsuite's marginals

    python benchmarks/bench_active.py --data-home DIR --cache DIR
    python benchmarks/bench_active.py --quick

Options of this benchmark alone:

--folds-run N   of the ten folds of each binary task run the first N only
--max-rows N    rows: label up to N of them; 500 in the paper
--max-sentences N  sequences: as many with the strategies of the paper; 5,000 there
--growth SHARE  sequences: after the first 500 a batch is this share of what is
                labeled; the paper's protocol, 10 in every round, is 0
--strategies NAMES  sequences: these only, joined by commas
--corpora NAMES     sequences: these only, likewise
--fewer NAMES       sequences: only so many runs of these, such as
                    "CRF (20 fits)=3,Spanish CRF (20 fits)=1"

``--cache`` names a folder that keeps each run, so that a benchmark that was interrupted
goes on where it stopped, and one with more runs adds to it. What is in the cache and
not asked for is not shown. ``--quick`` shows on small data that every part works. Its
figures are no measurement.
"""

import argparse
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import _active_pictures
import _active_rows
import _active_sequences
import _active_speed
from _corpora import check_corpora, has_corpora
from _runner import Settings, parse, run_parts

NAME = "active"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {"rows": _active_rows, "sequences": _active_sequences, "speed": _active_speed}


@dataclass(frozen=True)
class ActiveSettings(Settings):
    """What the parts of this benchmark need to know besides."""

    folds_run: int = 10
    max_rows: int = 500
    max_sentences: int = 5000
    growth: float = 0.0
    strategies: tuple = ()
    corpora: tuple = ()
    fewer: tuple = ()


def settings_of(arguments=None):
    """Return the chosen parts and the settings."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--folds-run", type=int, default=10)
    parser.add_argument("--max-rows", type=int, default=500)
    parser.add_argument("--max-sentences", type=int, default=5000)
    parser.add_argument("--growth", type=float, default=0.0)
    parser.add_argument("--strategies", default="")
    parser.add_argument("--corpora", default="")
    parser.add_argument("--fewer", default="")
    given, others = parser.parse_known_args(arguments)
    parts, settings = parse(__doc__, PARTS, RESULTS, others)
    if settings.quick:
        settings = replace(settings, splits=1)
    return parts, ActiveSettings(
        **asdict(settings),
        folds_run=1 if settings.quick else given.folds_run,
        max_rows=30 if settings.quick else given.max_rows,
        max_sentences=given.max_sentences,
        growth=0.5 if settings.quick else given.growth,
        strategies=tuple(filter(None, given.strategies.split(","))),
        corpora=tuple(filter(None, given.corpora.split(","))),
        fewer=tuple(_run_counts(given.fewer)),
    )


def _run_counts(text):
    for part in filter(None, text.split(",")):
        name, _, count = part.partition("=")
        yield name, int(count)


def main():
    """Run the chosen parts, print, save and draw what each of them finds."""
    parts, settings = settings_of()
    check_corpora(settings.data_home, settings.quick)
    if settings.quick or not has_corpora(settings.data_home):
        settings = ActiveSettings(**{**vars(settings), "data_home": None})
    run_parts(parts, PARTS, settings, NAME)
    found = json.loads((settings.output / f"{NAME}.json").read_text("utf-8"))
    _active_pictures.draw(found, settings.output)


if __name__ == "__main__":
    main()
