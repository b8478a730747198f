"""Checkpoints: an interrupted training continues with bit-identical results."""

import os
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from skcw._util.files import take_lock
from skcw._util.version import __version__
from skcw.exceptions import CheckpointError, CheckpointWarning, ModelFileError
from skcw.io.model_files import read_model, write_model

SUFFIX, LOCK, FOLD = ".checkpoint", "training.lock", "fold-"
_NAME = re.compile(r"(?P<model>[a-z]+(-\d+)?)\.(?P<number>\d+)" + re.escape(SUFFIX))
# The newest of each model, and the one before it.
KEPT = 2
# Checkpoints within a pass can come after about so many words: a fraction of a second.
PIECE_WORDS = 100_000
# Parameters that change no bit of the result, or show in where the training starts.
NEUTRAL = ("n_jobs", "verbose", "warm_start")


class Checkpoint:
    """Where and how often a training is saved, so that it can go on after a crash.

    Give it to ``fit`` of CW, AROW, PA or the perceptron, be they taggers or
    classifiers. If the process ends, even by ``kill -9`` or a power cut, the same call
    with ``resume=True`` continues from the last checkpoint, and its result is
    bit-identical to that of a training that was never interrupted. So ``random_state``
    must be an integer.

    A checkpoint appears complete or not at all, carries a checksum, and the one before
    it is kept. One of other data or other parameters is refused. After ``fit`` the
    folder holds the finished training, until ``clear`` removes it: save the model
    first.

    Parameters
    ----------
    folder : str or path-like
        Where to keep the checkpoints of one training; it is made if it is missing.
    every_passes : int or None, default=1
        Save after so many passes over the data; None to go by time alone. The last
        pass is always saved.
    every_minutes : float or None, default=None
        Save whenever so many minutes have gone by, within a pass as well (with
        ``n_shards``, and classifiers, after it).
    resume : bool, default=False
        Continue from the checkpoints that are in the folder, if there are any. If
        False, a folder with checkpoints is refused.

    See Also
    --------
    skcw.CWSequenceTagger.fit : Takes it.
    skcw.MultiClassCW.fit : Takes it too.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from skcw import Checkpoint, CWSequenceTagger
    >>> X = [[["w=anna"], ["w=runs"]], [["w=bob"], ["w=runs"], ["w=home"]]]
    >>> y = [["NAME", "O"], ["NAME", "O", "O"]]
    >>> with TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(folder, every_minutes=10, resume=True)
    ...     tagger = CWSequenceTagger(random_state=0)
    ...     tagger = tagger.fit(X, y, checkpoint=checkpoint)
    ...     tagger.save(f"{folder}/names.skcw")
    ...     checkpoint.clear()
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        *,
        every_passes: int | None = 1,
        every_minutes: float | None = None,
        resume: bool = False,
    ) -> None:
        self.folder = folder
        self.every_passes = every_passes
        self.every_minutes = every_minutes
        self.resume = resume

    def __repr__(self):
        return (
            f"Checkpoint({str(self.folder)!r}, every_passes={self.every_passes}, "
            f"every_minutes={self.every_minutes}, resume={self.resume})"
        )

    def of_fold(self, number: Any) -> Self:
        """Return one for a fold of the training, in a folder of its own."""
        return Checkpoint(
            Path(self.folder) / f"{FOLD}{number}",
            every_passes=self.every_passes,
            every_minutes=self.every_minutes,
            resume=self.resume,
        )

    def clear(self) -> None:
        """Remove the checkpoints from the folder, and the folder if nothing is left."""
        folder = Path(self.folder)
        for _, _, path in _found(folder):
            path.unlink(missing_ok=True)
        for fold in folder.glob(f"{FOLD}[0-9]*"):
            Checkpoint(fold).clear()
        (folder / LOCK).unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()

    def check(self) -> None:
        """Raise unless the parameters can be used, and the folder as well."""
        if not isinstance(self.folder, (str, os.PathLike)):
            raise TypeError(
                f"folder is {self.folder!r}; it must be the path of a folder"
            )
        passes, minutes = self.every_passes, self.every_minutes
        if passes is not None and (not isinstance(passes, Integral) or passes < 1):
            raise ValueError(
                f"every_passes is {passes!r}; it must be 1 or more, or None"
            )
        if passes is None and minutes is None:
            raise ValueError("give every_passes or every_minutes, or both")
        if minutes is not None and (not isinstance(minutes, Real) or not minutes >= 0):
            raise ValueError(
                f"every_minutes is {minutes!r}; it must be 0 or more, or None"
            )
        self._models_found()

    def _models_found(self):
        """Return the models in the folder by name; raise if they are in the way."""
        found = {model for model, _, _ in _found(Path(self.folder))}
        if found and not self.resume:
            raise CheckpointError(
                f"{self.folder} holds the checkpoints of an earlier training. Continue "
                "it with resume=True (on the command line --resume), or remove the "
                "folder"
            )
        return found

    @contextmanager
    def opened(self, about: dict[Any, Any]) -> Iterator[Any]:
        """Lock the folder and give what saves each model of one training.

        Parameters
        ----------
        about : dict of str to str or number
            What the training is about: checkpoints of another one are refused.

        Yields
        ------
        keeper_of : callable
            ``keeper_of(name)`` gives the `Keeper` of a model.
        """
        self.check()
        folder = Path(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        about = {"version of skcw": __version__, **about}
        with open(folder / LOCK, "ab", buffering=0) as lock:
            if not take_lock(lock):
                raise CheckpointError(
                    f"another training keeps its checkpoints in {folder} right now; "
                    "wait for its end, or choose another folder"
                )
            found = self._models_found()
            states = {model: _newest(folder, model, about) for model in sorted(found)}
            # Large tables are not kept once a training has taken them.
            yield lambda model: Keeper(self, model, about, states.pop(model, None))


class Keeper:
    """Saves the state of one model, and gives back what was saved of it.

    Parameters
    ----------
    checkpoint : Checkpoint
        Where and how often.
    model : str
        The name of the model.
    about : dict
        What the training is about.
    state : tuple of dict and dict, or None
        The header and the arrays that were saved last.
    """

    def __init__(self, checkpoint, model, about, state):
        self.checkpoint, self.model, self.about = checkpoint, model, about
        self.state = state
        self.last_save = time.monotonic()

    def resume(self, training, monitor):
        """Continue from the last checkpoint, whose training was compared before.

        Return how many words to learn between two looks at the clock; None for a pass.
        """
        timed = self.checkpoint.every_minutes is not None
        piece_words = PIECE_WORDS if timed else None
        if self.state is None:
            return piece_words
        (header, arrays), self.state = self.state, None
        training.restore(header, arrays)
        monitor.presented, monitor.found = (
            header["presented"],
            np.array(header["found"]),
        )
        monitor.is_over, monitor.idle = header["is_over"], header["idle"]
        monitor.history = list(header["history"])
        for _ in monitor.history:
            # The orders of the passes that were made before.
            training.order()
        if "best_score" in header:
            monitor.best = training.best_of(arrays, header["best_rounds"])
            monitor.best_score = header["best_score"]
        return piece_words

    def end_piece(self, training, monitor):
        """Save within a pass, if it is time and the training can continue there."""
        if training.divisible and self._is_due():
            self._save_training(training, monitor)

    def end_pass(self, training, monitor):
        """Save after a pass, if it is time or this was the last one."""
        if monitor.is_over or self._is_due(len(monitor.history)):
            self._save_training(training, monitor)

    def _is_due(self, n_passes=None):
        """Tell whether to save now: within a pass, or after so many passes."""
        minutes, passes = self.checkpoint.every_minutes, self.checkpoint.every_passes
        if n_passes is not None and passes is not None and n_passes % passes == 0:
            return True
        return minutes is not None and time.monotonic() - self.last_save >= 60 * minutes

    def _save_training(self, training, monitor):
        """Write where a training is."""
        header, arrays = training.state()
        header |= {
            "is_over": monitor.is_over,
            "history": monitor.history,
            "idle": monitor.idle,
            "presented": monitor.presented,
            "found": np.array(monitor.found).tolist(),
        }
        if monitor.best is not None:
            header["best_score"] = monitor.best_score
            header["best_rounds"] = monitor.best.rounds
            arrays |= monitor.best.arrays()
        self.save(header, arrays)

    def save(self, header, arrays):
        """Write a checkpoint; only then remove the one before the last."""
        folder = Path(self.checkpoint.folder)
        mine = sorted((n, path) for m, n, path in _found(folder) if m == self.model)
        number = 1 + max((n for n, _ in mine), default=0)
        path = folder / f"{self.model}.{number:06d}{SUFFIX}"
        try:
            write_model(path, {"about": self.about, **header}, arrays)
        except OSError as error:
            error.add_note(
                f"The checkpoint could not be written; that before it is still in "
                f"{folder}, and resume=True (--resume) continues from there."
            )
            raise
        for _, older in mine[: len(mine) + 1 - KEPT]:
            older.unlink(missing_ok=True)
        self.last_save = time.monotonic()


@contextmanager
def keeping(checkpoint, estimator, about):
    """Give what saves the models of one training.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        Where and how often.
    estimator : object
        The estimator that learns.
    about : callable
        Tells what the training is about, if it is saved.

    Yields
    ------
    keeper_of : callable
        ``keeper_of(name)`` gives the keeper of a model; None if nothing is saved.
    """
    if checkpoint is None:
        yield None
        return
    if not isinstance(checkpoint, Checkpoint):
        raise TypeError(
            f"checkpoint is {checkpoint!r}; it must be a skcw.Checkpoint, such as "
            "skcw.Checkpoint('folder', resume=True)"
        )
    if not isinstance(estimator.random_state, Integral):
        raise ValueError(
            f"random_state is {estimator.random_state!r}; a training with checkpoints "
            "needs an integer, or it could not continue with the same shuffles"
        )
    with checkpoint.opened(about()) as keeper_of:
        yield keeper_of


def _found(folder):
    """Return the model, the number and the path of each checkpoint in a folder."""
    if not folder.is_dir():
        return []
    names = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return [(m["model"], int(m["number"]), path) for m, path in names if m]


def _newest(folder, model, about):
    """Return the newest complete checkpoint of a model, or None if there is none."""
    mine = sorted((n, path) for m, n, path in _found(folder) if m == model)
    for _, path in reversed(mine):
        try:
            header, arrays = read_model(path)
        except ModelFileError as error:
            warnings.warn(
                f"a checkpoint is left out: {error}. The training continues from the "
                "one before it, or begins again",
                CheckpointWarning,
                stacklevel=2,
            )
            continue
        _check_same(folder, header.get("about", {}), about)
        return header, arrays
    return None


def _check_same(folder, before, now):
    """Raise if a checkpoint is of another training; say in what they differ."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if names:
        found = "; ".join(f"{n} was {before.get(n)} and is {now.get(n)}" for n in names)
        raise CheckpointError(
            f"{folder} holds the checkpoints of another training: {found}. "
            "Continue with what it began with, or choose another folder"
        )


def described_learner(estimator):
    """Return an estimator's class and parameters as text, to compare it with others.

    Parameters
    ----------
    estimator : object
        The estimator.

    Returns
    -------
    described : dict of str to str
        Each parameter as text, functions by their names. Those that change no result
        are left out.

    Examples
    --------
    >>> from skcw import MultiClassPA
    >>> from skcw._model.checkpoint import described_learner
    >>> described = described_learner(MultiClassPA(max_iter=3))
    >>> described["the learner"], described["max_iter"], "verbose" in described
    ('MultiClassPA', '3', False)
    """
    params = estimator.get_params().items()
    described = {
        name: _described(value) for name, value in params if name not in NEUTRAL
    }
    return {"the learner": type(estimator).__name__, **described}


def _described(value):
    if callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return f"the function {name}"
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return repr(value)


def digest_of(*arrays):
    """Return a short hash of arrays, any of which may be None.

    Parameters
    ----------
    *arrays : ndarray or None
        The arrays.

    Returns
    -------
    digest : str
        Sixteen hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> from skcw._model.checkpoint import digest_of
    >>> digest_of(np.arange(3)) == digest_of(np.arange(3), None)
    False
    """
    digest = blake2b(digest_size=8)
    for array in arrays:
        kind = None if array is None else (array.dtype.str, array.shape)
        digest.update(repr(kind).encode())
        if array is not None and array.size:
            digest.update(np.ascontiguousarray(array).data.cast("B"))
    return digest.hexdigest()
