"""Sequence taggers against CRFsuite, and against the paper they come from.

Parts, each of which can be run by itself; results are merged into one JSON file:

speed    CoNLL-2000 chunking: time, memory and F1 beside CRFsuite's, and the goals
scaling  time per pass against the number of tokens and of labels
table2   F of the online learners in 10-fold cross-validation, with paired tests
fig1     precision against recall after every pass (the same fits as table2)
table3   CW against a tuned CRF on a 75/25 split

    python benchmarks/bench_tagging.py --data-home DIR
    python benchmarks/bench_tagging.py --data-home DIR --parts speed,scaling
    python benchmarks/bench_tagging.py --quick

``--quick`` shows on small subsets that every part works; without the corpora it
uses one that is made. Its figures are no measurement.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import _tagging_fig1
import _tagging_scaling
import _tagging_speed
import _tagging_table2
import _tagging_table3
from _corpora import check_corpora
from _tables import save_parts

NAME = "tagging"
RESULTS = Path(__file__).resolve().parent / "results"
QUICK_SEEDS = 2
PARTS = {
    "speed": _tagging_speed,
    "scaling": _tagging_scaling,
    "table2": _tagging_table2,
    "fig1": _tagging_fig1,
    "table3": _tagging_table3,
}


@dataclass(frozen=True)
class Settings:
    """What all parts need to know."""

    data_home: Path | None
    quick: bool
    seeds: int
    folds: int
    output: Path


def parse(arguments=None):
    """Return the chosen parts and the settings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", type=Path, help="folder of the corpora")
    parser.add_argument("--quick", action="store_true", help="small subsets only")
    parser.add_argument(
        "--parts", default=",".join(PARTS), help="names, joined by commas"
    )
    parser.add_argument("--output", type=Path, help="folder of the results")
    parser.add_argument("--seeds", type=int, default=5, help="runs to take medians of")
    parser.add_argument("--folds", type=int, default=10, help="folds of table2, fig1")
    given = parser.parse_args(arguments)
    parts = given.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(
            f"no part is called {min(unknown)!r}; there are {', '.join(PARTS)}"
        )
    if given.seeds < 1 or given.folds < 2:
        parser.error("at least one seed and two folds are needed")
    return [part for part in PARTS if part in parts], Settings(
        data_home=given.data_home,
        quick=given.quick,
        seeds=min(given.seeds, QUICK_SEEDS) if given.quick else given.seeds,
        folds=given.folds,
        output=given.output or (RESULTS / "quick" if given.quick else RESULTS),
    )


def main():
    """Run the chosen parts, print and save what each of them finds."""
    parts, settings = parse()
    check_corpora(settings.data_home, settings.quick)
    renderers = {part: module.render for part, module in PARTS.items()}
    for part in parts:
        found = PARTS[part].run(settings)
        print(renderers[part](found), end="\n\n", flush=True)
        # Saved at once: what is done stays, should a later part be interrupted.
        save_parts({part: found}, settings.output, NAME, renderers)
    print(f"Saved as {NAME}.json and {NAME}.txt in {settings.output}")


if __name__ == "__main__":
    main()
