"""Pictures of the benchmarks: how they begin and how they are saved."""

import io
import sys

COLOURS = 96


def new_figure(**options):
    """Return an empty figure, or None (and say so) without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("Note: without matplotlib there are no pictures", file=sys.stderr)
        return None
    return Figure(layout="constrained", **options)


def save_picture(figure, path, n_colors=COLOURS):
    """Write a picture of few colors: a third of the size, and no one can tell.

    Where many bands overlap, lines need more colors to keep their own.
    """
    # Pillow comes with matplotlib.
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=90)
    Image.open(drawn).convert("RGB").quantize(n_colors).save(path, optimize=True)
