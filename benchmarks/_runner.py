"""The command line of a benchmark that has several parts."""

import argparse
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from _tables import save_parts

QUICK_SEEDS = 2
QUICK_SPLITS = 2


@dataclass(frozen=True)
class Settings:
    """What all parts need to know."""

    data_home: Path | None
    quick: bool
    seeds: int
    folds: int
    output: Path
    splits: int = 5
    jobs: int = 1
    cache: Path | None = None
    before: Path | None = None


def parse(description, parts, results, arguments=None):
    """Return the chosen parts and the settings."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", type=Path, help="folder of the corpora")
    parser.add_argument("--quick", action="store_true", help="small subsets only")
    parser.add_argument(
        "--parts", default=",".join(parts), help="names, joined by commas"
    )
    parser.add_argument("--output", type=Path, help="folder of the results")
    parser.add_argument("--seeds", type=int, default=5, help="runs to take medians of")
    parser.add_argument("--folds", type=int, default=10, help="folds, where a part has")
    parser.add_argument("--splits", type=int, default=5, help="splits, likewise")
    parser.add_argument("--jobs", type=int, default=1, help="processes, likewise")
    parser.add_argument("--cache", type=Path, help="folder of what is done, likewise")
    parser.add_argument("--before", type=Path, help="another version, likewise")
    given = parser.parse_args(arguments)
    chosen = given.parts.split(",")
    if unknown := set(chosen) - set(parts):
        parser.error(
            f"no part is called {min(unknown)!r}; there are {', '.join(parts)}"
        )
    if given.seeds < 1 or given.folds < 2:
        parser.error("at least one seed and two folds are needed")
    if given.splits < 1 or given.jobs < 1:
        parser.error("at least one split and one process are needed")
    return [part for part in parts if part in chosen], Settings(
        data_home=given.data_home,
        quick=given.quick,
        seeds=min(given.seeds, QUICK_SEEDS) if given.quick else given.seeds,
        folds=given.folds,
        output=given.output or (results / "quick" if given.quick else results),
        splits=min(given.splits, QUICK_SPLITS) if given.quick else given.splits,
        jobs=given.jobs,
        # What a quick run has done is no part of a full one.
        cache=given.cache / "quick" if given.cache and given.quick else given.cache,
        before=given.before,
    )


def run_parts(chosen, parts, settings, name):
    """Run the chosen parts, print and save what each of them finds."""
    renderers = {part: module.render for part, module in parts.items()}
    for part in chosen:
        found = parts[part].run(settings)
        print(renderers[part](found), end="\n\n", flush=True)
        # Saved at once: what is done stays, should a later part be interrupted.
        save_parts({part: found}, settings.output, name, renderers)
    print(f"Saved as {name}.json and {name}.txt in {settings.output}")


def process_pool(jobs):
    """Return a pool of new processes to use in ``with``, or None in place of one."""
    if jobs == 1:
        return nullcontext()
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context)
