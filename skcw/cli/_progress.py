"""Progress on standard error, where someone is there to see it."""

import sys


def progress_bar(items=None, *, quiet=False, **about):
    """Return a bar of tqdm; it shows itself on terminals only.

    Parameters
    ----------
    items : iterable, default=None
        What to go through.
    quiet : bool, default=False
        Show nothing at all.
    **about
        Further arguments of tqdm.

    Returns
    -------
    bar : tqdm.tqdm
        The bar.
    """
    from tqdm import tqdm

    return tqdm(
        items,
        disable=True if quiet else None,
        file=sys.stderr,
        leave=False,
        dynamic_ncols=True,
        **about,
    )
