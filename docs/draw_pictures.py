"""Draw the pictures of this folder again: those of examples, and that of the README.

    python docs/draw_pictures.py                            # all of them
    python docs/draw_pictures.py plot_classify_with_confidence README

Each example runs as it is; what it shows is written to a file here, in few colors.
"""

import io
import os
import re
import runpy
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
from PIL import Image

DOCS = Path(__file__).resolve().parent
PROJECT = DOCS.parent
DOTS_PER_INCH, N_COLORS = 80, 96
README = "README"
# What an example shows, in this order; None is not kept.
PICTURES = {
    "plot_calibration_of_a_tagger": ("calibration-of-a-tagger", "maps"),
    "plot_classify_with_confidence": (None, "classifier"),
    "plot_reliability_with_bands": ("bands", "consistency-bands", "queries", None),
    "plot_query_of_sampled_structures": ("sampled-structures", None),
    "plot_coreference": ("coreference",),
    "plot_find_annotation_errors": ("rankings",),
    "plot_active_learning": ("active-learning",),
}


def save(figure, name):
    """Write a picture of few colors."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=DOTS_PER_INCH)
    picture = Image.open(drawn).convert("RGB").quantize(N_COLORS)
    picture.save(DOCS / f"{name}.png", optimize=True)


def draw_example(example):
    """Run an example and keep what it shows."""
    names = iter(PICTURES[example])

    def show():
        name = next(names)
        if name is not None:
            save(plt.gcf(), name)
        plt.close("all")

    plt.show = show
    runpy.run_path(str(PROJECT / "examples" / f"{example}.py"), run_name="__main__")
    left = list(names)
    assert not left, f"{example} did not show {left}"


def draw_readme():
    """Run the code of the README up to its picture, and keep that."""
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    samples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    last = next(i for i, code in enumerate(samples) if "calibration.png" in code)
    names = {}
    exec(compile("\n".join(samples[: last + 1]), "README.md", "exec"), names)
    save(names["display"].figure_, "calibration")


def main():
    """Draw the pictures that are named, or all, away from the sources."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for one in sys.argv[1:] or [*PICTURES, README]:
            print(one, flush=True)
            if one == README:
                draw_readme()
            else:
                draw_example(one)
        os.chdir(DOCS)


if __name__ == "__main__":
    main()
