"""Files that appear complete or not at all, and files with one writer at a time."""

import errno
import gzip
import os
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# Where Windows locks a byte: beyond the end of any file, since locked bytes cannot be
# read.
_FAR = 1 << 40
_TAKEN = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}


@contextmanager
def replacing(path):
    """Give a draft of a file; it takes the file's place once it is complete.

    An error, Ctrl-C or the end of the process leaves the file as it was. Where the
    system can, the draft has no name, so that nothing is left of one that was never
    finished; otherwise it lies beside the file. It is on the disk before it takes the
    file's place. A file that is there keeps its permissions, a new one has the usual
    ones; a link stays a link, and what it points to is replaced. Pipes and devices
    cannot be replaced and are written to directly.

    Parameters
    ----------
    path : str or path-like
        The file to write.

    Yields
    ------
    draft : pathlib.Path
        The path to write to: an empty file, or `path` itself for a pipe or a device.
        Open it and write; another file in its place would not be seen.

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
    nameless = _nameless(target.parent)
    if nameless is None:
        draft = target.parent / f".{target.name}.{os.urandom(4).hex()}.draft"
    else:
        draft = _entry_of(nameless)
    try:
        if nameless is None:
            # Made here, the draft has the usual permissions whatever writes to it.
            draft.touch(exist_ok=False)
        mode = (target if target.exists() else draft).stat().st_mode & 0o7777
        yield draft
        draft.chmod(mode)
        _flush(draft)
        if nameless is None:
            os.replace(draft, target)
        else:
            _give_name(draft, target, nameless)
        _flush(target.parent)
    except BaseException as error:
        # The name that the caller gave says more than the name of a draft, and a full
        # disk names nothing.
        names = None, draft, str(draft)
        if getattr(error, "errno", None) and error.filename in names:
            error.filename = str(path)
        raise
    finally:
        if nameless is not None:
            os.close(nameless)
        else:
            with suppress(OSError):
                os.unlink(draft)


@contextmanager
def rewriting(path):
    """Give the draft of a file, open for writing, compressed if its name ends in .gz.

    Parameters
    ----------
    path : str or path-like
        As for :func:`replacing`.

    Yields
    ------
    file : binary file
        The file to write to.
    """
    with replacing(path) as draft, open(draft, "wb") as file:
        if not str(path).endswith(".gz"):
            yield file
            return
        # The same content gives the same bytes at any time, under any name.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed


def _nameless(folder):
    """Return a new file without a name, open, or None where there is no such thing."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        number = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:
        # Not on this disk. A folder that is missing is reported by what comes next.
        return None
    if not _entry_of(number).exists():
        os.close(number)
        return None
    return number


def _entry_of(number):
    """Return the path under which the system shows an open file."""
    return Path(f"/proc/self/fd/{number}")


def _give_name(draft, target, number):
    """Put a file without a name in the place of another, which only a rename can.

    Between two calls the draft has a name. Whoever dies there leaves a complete file,
    which the next one to write the same file takes away.
    """
    named = target.parent / f".{target.name}.draft"
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        with suppress(OSError):
            # Where folders cannot be locked, two must not write a file at once.
            fcntl.flock(folder, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            os.unlink(named)
        # With a folder given, even one of no importance, the link is followed.
        os.link(draft, named, src_dir_fd=number)
        try:
            os.replace(named, target)
        except BaseException:
            os.unlink(named)
            raise
    finally:
        os.close(folder)


def _flush(path):
    """Wait until a file, or the list of files in a folder, is on the disk."""
    try:
        number = os.open(path, os.O_RDONLY)
    except OSError:
        # Not every system opens folders.
        return
    try:
        os.fsync(number)
    except OSError as error:
        # Some disks cannot flush folders; that a file is not on the disk is serious.
        if not os.path.isdir(path):
            error.filename = str(path)
            raise
    finally:
        os.close(number)


def take_lock(file):
    """Lock an open file; return whether it was free.

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
