"""Trainings that end right after a checkpoint, as if their process had been killed."""

import signal
from contextlib import contextmanager, suppress

import pytest

from skcw._model import checkpoint as module
from tests.processes import run_code


class Killed(BaseException):
    """Stands for the end of a process."""


def content(model, folder):
    """Return the bytes of the file of a model."""
    model.save(folder / "m.skcw")
    return (folder / "m.skcw").read_bytes()


@contextmanager
def killed_after(n, words=120):
    """Let the process die right after its n-th checkpoint, if there are so many."""
    save, left = module.Keeper.save, [n]

    def dying(self, header, arrays):
        save(self, header, arrays)
        left[0] -= 1
        if left[0] <= 0:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.Keeper, "save", dying)
        patch.setattr(module, "PIECE_WORDS", words)
        with suppress(Killed):
            yield


def files_in(folder):
    """Return the bytes of each file by its name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def noted_saves():
    """Give a list that grows by the number of passes of each checkpoint."""
    seen, save = [], module.Keeper.save

    def noting(self, header, arrays):
        seen.append(len(header["history"]))
        save(self, header, arrays)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.Keeper, "save", noting)
        yield seen


DYING = """
import os, signal
from skcw._model import checkpoint as module

save, left = module.Keeper.save, [int(sys.argv.pop(1))]
module.PIECE_WORDS = 100

def dying(self, header, arrays):
    save(self, header, arrays)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

module.Keeper.save = dying
"""


def really_killed(code, n, *arguments):
    """Run code in a process that is killed by signal after its n-th checkpoint."""
    found = run_code(DYING + code, n, *arguments, check=False)
    assert found.returncode == -signal.SIGKILL, found.stderr


FULL = """
import resource, signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, 2 * (int(sys.argv.pop(1)),))
"""


def told_on_a_full_disk(code, n_bytes, folder):
    """Return the error of code in a process whose files have room for so many bytes.

    It must be an `OSError`, and leave the folder as it was.
    """
    pytest.importorskip("resource")
    before = files_in(folder)
    lines = "".join(f"    {line}\n" for line in code.strip().splitlines())
    program = f"{FULL}\ntry:\n{lines}"
    program += "except OSError as error:\n    print(error.strerror, *error.__notes__)\n"
    found = run_code(program, n_bytes, folder)
    assert files_in(folder) == before
    return found.stdout
