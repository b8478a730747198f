"""Fetch one file and make sure that it is the right one."""

import contextlib
import hashlib
import os
import secrets
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

BLOCK = 1 << 16
TIMEOUT = 60.0


def download_file(url, path, sha256, *, verbose=False, timeout=TIMEOUT):
    """Fetch a file to `path`; it appears there whole and checked, or not at all.

    Parameters
    ----------
    url : str
        Where it is.
    path : pathlib.Path
        Where it shall be; the folder is made.
    sha256 : str
        The checksum that it must have.
    verbose : bool, default=False
        Show a progress bar.
    timeout : float, default=60.0
        Seconds to wait for an answer.

    Raises
    ------
    OSError
        If it cannot be fetched, ends early or has another checksum.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with open(draft, "xb") as file:
            found = _fetch(url, file, path.name, verbose, timeout)
        if found != sha256:
            raise OSError(
                f"{url} has the SHA-256 checksum {found}, but {sha256} is expected. "
                f"What was fetched is deleted; get {path.name} elsewhere and put it "
                f"into {path.parent}."
            )
        os.replace(draft, path)
    finally:
        # After an error, or Ctrl-C, the draft is still there.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)


def _fetch(url, file, name, verbose, timeout):
    """Copy what lies at `url` into `file`; return its checksum."""
    request = Request(url, headers={"User-Agent": "skcw"})
    try:
        with urlopen(request, timeout=timeout) as answer:
            return _copy(answer, file, url, name, verbose)
    except HTTPError as error:
        error.close()
        raise OSError(f"{url} cannot be fetched: {error}") from None
    except (HTTPException, OSError) as error:
        if isinstance(error, _EndedEarly):
            raise
        raise OSError(f"{url} cannot be fetched: {error}") from error


class _EndedEarly(OSError):
    """The connection was closed before the file was complete."""


def _copy(answer, file, url, name, verbose):
    length = answer.headers.get("Content-Length")
    total = int(length) if length else None
    digest, n_bytes = hashlib.sha256(), 0
    with _progress_bar(name, total, verbose) as bar:
        while block := answer.read(BLOCK):
            file.write(block)
            digest.update(block)
            n_bytes += len(block)
            bar.update(len(block))
    if total is not None and n_bytes < total:
        raise _EndedEarly(
            f"{url} ended after {n_bytes} of {total} bytes. What was fetched is "
            "deleted; try again."
        )
    return digest.hexdigest()


class _NoBar:
    """Stands in for a progress bar."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def update(self, n_bytes):
        """Show nothing."""


def _progress_bar(name, total, verbose):
    if not verbose:
        return _NoBar()
    try:
        from tqdm import tqdm
    except ImportError:
        return _NoBar()
    return tqdm(desc=name, total=total, unit="B", unit_scale=True)
