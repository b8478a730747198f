"""Saving that is cut short: the old model or the new one is there, never half of one.

``python -m tests.fuzz.kills`` kills a thousand times.
"""

import argparse
import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import skcw
from skcw.io.model_files import read_model
from tests.fuzz.saved_models import X, Y, short

OLD, NEW, BROKEN, DRAFT = "old model", "new model", "broken model", "draft left"


def large_models():
    """Return two fitted models of some megabytes, and how to tell them apart."""
    found = []
    for n_iter in (1, 2):
        tagger = short().fit(X, Y)
        belief = tagger.belief_
        zeros = np.zeros(400_000, dtype=belief.mean.dtype)
        belief.mean = np.append(belief.mean, zeros)
        belief.variance = np.append(belief.variance, zeros + 1)
        belief.average = np.append(belief.average, zeros)
        tagger.n_iter_ = n_iter
        found.append(tagger)
    return found


def killed_while_saving(old, new, delay, folder):
    """Kill a process that saves a new model over an old one; return what is left.

    Parameters
    ----------
    old, new : BaseSequenceTagger
        The models.
    delay : float
        How many seconds after the start of saving.
    folder : pathlib.Path
        Where they are saved.

    Returns
    -------
    found : list of str
        Which model there is, and whether a draft is beside it.
    """
    path = folder / "model"
    old.save(path)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, b"!")
        new.save(path)
        signal.pause()
    os.read(reader, 1)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)
    try:
        read_model(path)
        found = [OLD if skcw.load(path).n_iter_ == old.n_iter_ else NEW]
    except Exception as error:
        found = [f"{BROKEN}: {error}"]
    return found + [DRAFT] * (os.listdir(folder) != ["model"])


def kill_many(n_kills, seed=0):
    """Return how often what was found after a kill at a random moment."""
    counts = Counter()
    old, new = large_models()
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        new.save(folder / "model")
        usual = time.perf_counter() - began
        for _ in range(n_kills):
            delay = rng.uniform(0, 1.3 * usual)
            counts.update(killed_while_saving(old, new, delay, folder))
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(dict(kill_many(options.kills, options.seed)))
