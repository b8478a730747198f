"""Trainings that end right after a checkpoint, as if their process had been killed."""

import signal
from contextlib import contextmanager, suppress

import pytest

from skcw import _checkpoint as module
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


DYING = """
import os, signal
from skcw import _checkpoint as module

save, left = module.Keeper.save, [int(sys.argv[2])]
module.PIECE_WORDS = 100

def dying(self, header, arrays):
    save(self, header, arrays)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

module.Keeper.save = dying
"""


def really_killed(code, folder, n):
    """Run code in a process that is killed after its n-th checkpoint in a folder.

    Return the names of what it leaves there.
    """
    found = run_code(DYING + code, folder, n, check=False)
    assert found.returncode == -signal.SIGKILL, found.stderr
    return sorted(path.name for path in folder.iterdir())
