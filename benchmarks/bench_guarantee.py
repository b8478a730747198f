"""Promises kept: accepted shares, broken promises, sizes of sets, planted errors.

Parts:

risks     calibration sentences are drawn again and again from pools of real and of
          synthetic sentences; how often is the true risk above the promised one, and
          how much is accepted, beside an oracle and word-level methods (MAPIE)
sets      how large sets are that miss at most a promised share of the truth
planted   wrong labels are planted into a corpus: how many are among the first ones that
          `skcw check` and cleanlab list, and how long does it take

MAPIE and cleanlab come with ``pip install 'skcw[benchmark]'``; without them their rows
are missing. ``--cache FOLDER`` keeps what taggers say of the corpora. ``--quick`` shows
on a small corpus that every part works. Its figures are no measurement.
"""

import json
from pathlib import Path

import _guarantee_picture
import _guarantee_planted
import _guarantee_risks
import _guarantee_sets
from _corpora import check_corpora
from _runner import parse, run_parts

NAME = "guarantee"
RESULTS = Path(__file__).resolve().parent / "results"
PARTS = {
    "risks": _guarantee_risks,
    "sets": _guarantee_sets,
    "planted": _guarantee_planted,
}


def main():
    """Run the chosen parts, print, save and draw what each of them finds."""
    parts, settings = parse(__doc__, PARTS, RESULTS)
    check_corpora(settings.data_home, settings.quick)
    run_parts(parts, PARTS, settings, NAME)
    found = json.loads((settings.output / f"{NAME}.json").read_text("utf-8"))
    if "risks" in parts:
        path = settings.output / f"{NAME}.png"
        _guarantee_picture.picture(found["risks"], path)


if __name__ == "__main__":
    main()
