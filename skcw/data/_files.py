"""Atomic writing: a file appears complete under its name, or not at all."""

import os
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path):
    """Give a draft beside a file; it takes the file's place once it is complete.

    An error, or Ctrl-C, leaves the file as it was. A file that is there keeps its
    permissions, a new one has the usual ones; a link stays a link, and what it points
    to is replaced. Pipes and devices cannot be replaced and are written to directly.

    Parameters
    ----------
    path : str or path-like
        The file to write.

    Yields
    ------
    draft : pathlib.Path
        The path to write to: an empty file, or `path` itself for a pipe or a device.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "results.txt")
    ...     with replacing(path) as draft:
    ...         _ = draft.write_text("all or nothing")
    ...         path.exists()
    ...     path.read_text()
    False
    'all or nothing'
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()
    draft = target.parent / f".{target.name}.{os.urandom(4).hex()}"
    try:
        # Made here, the draft has the usual permissions whatever writes to it.
        draft.touch(exist_ok=False)
        mode = (target if target.exists() else draft).stat().st_mode & 0o7777
        yield draft
        draft.chmod(mode)
        os.replace(draft, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(draft)
        if isinstance(error, OSError) and str(error.filename) == str(draft):
            # The name that the caller gave says more than the name of a draft.
            error.filename = str(path)
        raise
