"""Files that appear complete or not at all, and files with one writer at a time."""

import errno
import os
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# Where Windows locks a byte: beyond the end of any file, as nobody can read what is
# locked there.
_FAR = 1 << 40
_TAKEN = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}


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


def take_lock(file):
    """Lock an open file; tell whether nobody else had done so.

    The lock belongs to the open file, within a process as between processes. The
    system takes it back when the file is closed, by a crash as well: none is left over.

    Parameters
    ----------
    file : file object
        Open for writing, without a buffer.

    Returns
    -------
    is_taken : bool
        False if it is locked already.

    Raises
    ------
    OSError
        If the file system keeps no locks.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile(buffering=0) as file:
    ...     with open(file.name, "r+b", buffering=0) as other:
    ...         take_lock(file), take_lock(other)
    (True, False)
    """
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            file.seek(_FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    return True
