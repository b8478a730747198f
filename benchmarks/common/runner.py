"""The command line of a benchmark that has several parts."""

import argparse
import json
import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from common.tables import save_parts

QUICK_SEEDS = 2
QUICK_SPLITS = 2


class Part(NamedTuple):
    """How a part is run, and how what it finds becomes text and perhaps a picture."""

    run: Callable
    render: Callable
    picture: tuple = ()  # the function that draws it, and the end of the file's name


@dataclass(frozen=True)
class Settings:
    """What all parts need to know."""

    data_home: Path | None
    quick: bool
    seeds: int
    folds: int
    output: Path
    splits: int
    jobs: int
    cache: Path | None
    corpora: tuple = ()
    learners: tuple = ()


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
    parser.add_argument("--corpora", default="", help="these only, likewise")
    parser.add_argument("--learners", default="", help="these only, likewise")
    given = parser.parse_args(arguments)
    chosen = given.parts.split(",")
    if unknown := set(chosen) - set(parts):
        parser.error(
            f"no part is called {min(unknown)!r}; there are {', '.join(parts)}"
        )
    if min(given.seeds, given.splits, given.jobs) < 1 or given.folds < 2:
        parser.error("at least one seed, split and process, and two folds are needed")
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
        corpora=tuple(filter(None, given.corpora.split(","))),
        learners=tuple(filter(None, given.learners.split(","))),
    )


def main(script, parts, corpora=()):
    """Run the chosen parts of a script; print, save and draw what each of them finds.

    The results lie beside the script under its name without ``bench_``. ``corpora`` are
    the folders without which there is no full run.
    """
    script = Path(script).resolve()
    name = script.stem.removeprefix("bench_")
    description = sys.modules["__main__"].__doc__
    chosen, settings = parse(description, parts, script.parent)
    settings = _checked(settings, corpora)
    for part in chosen:
        found = parts[part].run(settings)
        print(parts[part].render(found), end="\n\n", flush=True)
        # Saved at once: what is done stays, should a later part be interrupted.
        save_parts({part: found}, settings.output, name, parts)
    draw_parts(chosen, settings.output, name, parts)
    print(f"Saved as {name}.json and {name}.txt in {settings.output}")


def _checked(settings, corpora):
    """Return settings without a data home if it lacks a corpus; stop a full run."""
    home = settings.data_home
    absent = [name for name in corpora if home is None or not (home / name).is_dir()]
    if not absent:
        return settings
    reason = "No --data-home was given" if home is None else f"{home} lacks {absent}"
    if not settings.quick:
        sys.exit(
            f"{reason}: the full benchmark needs a folder with {', '.join(corpora)}. "
            "With --quick data that are made take their place."
        )
    print(f"Note: {reason}: data that are made take their place.\n", file=sys.stderr)
    return replace(settings, data_home=None)


def draw_parts(chosen, output, name, parts):
    """Draw the pictures of parts from their stored results."""
    stored = json.loads((output / f"{name}.json").read_text("utf-8"))
    for part in chosen:
        if parts[part].picture:
            draw, ending = parts[part].picture
            draw(stored[part], output / f"{name}-{ending}.png")


def process_pool(jobs):
    """Return a pool of new processes to use in ``with``, or None in place of one."""
    if jobs == 1:
        return nullcontext()
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context)
