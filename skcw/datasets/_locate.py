"""Find the file of a split, or say exactly what is missing and where to get it."""

from skcw.datasets._download import download_file
from skcw.datasets._homes import DEFAULT, VARIABLE, get_data_home


def locate(source, split, *, data_home=None, download=False, verbose=False):
    """Return the path that holds a split of a corpus.

    Parameters
    ----------
    source : Source
        The corpus.
    split : str
        A key of its `original`.
    data_home : str, path-like or None, default=None
        As in :func:`~skcw.datasets.get_data_home`.
    download : bool, default=False
        Fetch what is not there.
    verbose : bool, default=False
        Show a progress bar while fetching.

    Returns
    -------
    path : pathlib.Path
        A file, or a folder where the corpus comes in one.
    """
    home = get_data_home(data_home)
    places = source.candidates(split)
    for place in places:
        if (home / place).exists():
            return home / place
    remote = source.remote.get(split)
    if not download or remote is None:
        raise FileNotFoundError(_missing(source, split, home, places))
    path = home / source.folder / remote.name
    download_file(remote.url, path, remote.sha256, verbose=verbose)
    return path


def _missing(source, split, home, places):
    """Return a message that says what was looked for, where, and how to get it."""
    part = "" if split == "all" else f", {split} part,"
    if split in source.remote:
        offer = f"download=True fetches it from {source.remote[split].url}"
    else:
        offer = "It has to be fetched by hand"
    return (
        f"{source.title}{part} is not in {home}: none of {', '.join(places)} is there. "
        f"{offer}; it comes from {source.origin}. Terms of use: {source.terms}. "
        f"The folder is the one given, else what the environment variable {VARIABLE} "
        f"names, else {DEFAULT}."
    )
