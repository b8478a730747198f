"""What the loaders of texts share."""

import gzip
import json

import numpy as np
from sklearn.utils import Bunch


def is_json_lines(path):
    """Tell whether a file is in the uniform layout: one JSON object a line."""
    return ".jsonl" in path.suffixes


def read_json_lines(path):
    """Yield the objects of a file, plain or gzipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    # Texts may hold characters that str.splitlines takes for the end of a line.
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def text_bunch(rows, labels, target_names, descr, *, return_X_y, **more):
    """Return texts and their classes.

    Parameters
    ----------
    rows : list of dict
        Each with a "text".
    labels : list of str
        The class of each.
    target_names : sequence of str
        All classes, in the order of their numbers.
    descr : str
        The description.
    return_X_y : bool
        Return the texts and numbers alone.
    **more
        Further attributes.

    Returns
    -------
    texts : Bunch, or a tuple if ``return_X_y``
    """
    numbers = {name: number for number, name in enumerate(target_names)}
    unknown = sorted(set(labels) - set(numbers))
    if unknown:
        raise ValueError(f"the data have the labels {unknown}, which are not known.")
    data = [row["text"] for row in rows]
    target = np.array([numbers[label] for label in labels], dtype=np.int64)
    if return_X_y:
        return data, target
    return Bunch(
        data=data, target=target, target_names=list(target_names), DESCR=descr, **more
    )


def chosen(name, given, known):
    """Return the chosen ones of some known names, all of them for None."""
    if given is None:
        return list(known)
    if isinstance(given, str) or not len(given) or not set(given) <= set(known):
        raise ValueError(
            f"{name} must be a list of some of {list(known)}, got {given!r}."
        )
    return list(dict.fromkeys(given))
