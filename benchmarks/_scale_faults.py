"""A training that is killed by signal, again and again, and resumed: the log of it."""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measure import progress
from _tables import at_least, format_goals

from skcw.datasets import make_tagged_corpus
from skcw.io import write_columns

SENTENCES = {False: 4000, True: 300}
# Seconds after the first checkpoint at which each run is killed.
KILLED_AFTER = (0.0, 0.3, 0.7)
NOTE = """\
skcw train on a corpus that is made; it is killed (SIGKILL) while it trains, and the
same command with --resume continues. Digest: SHA-256 of the model file."""


def run(settings):
    """Return the log and whether the digests are the same."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        corpus = make_tagged_corpus(SENTENCES[settings.quick], random_state=0)
        write_columns(folder / "train.conll", corpus.tokens, corpus.labels)
        command = [sys.executable, "-P", "-m", "skcw", "train"]
        command += [str(folder / "train.conll"), "--passes", "30", "-q"]
        progress("faults: a whole run")
        subprocess.run([*command, "-o", str(folder / "whole")], check=True, **SILENT)
        log = [f"never killed: digest {_digest(folder / 'whole')}"]
        saved = ["-o", str(folder / "model"), "--checkpoint", str(folder / "saved")]
        saved += ["--checkpoint-every", "0.001m", "--resume"]
        for wait in KILLED_AFTER:
            progress(f"faults: killed after {wait} s")
            log.append(_killed([*command, *saved], folder / "saved", wait))
        subprocess.run([*command, *saved], check=True, **SILENT)
        log.append(f"resumed to the end: digest {_digest(folder / 'model')}")
        same = _digest(folder / "whole") == _digest(folder / "model")
    goal = at_least("models with the digest of the whole run", int(same), 1, "d")
    return {"quick": settings.quick, "log": log, "goals": [goal]}


SILENT = {"stdout": subprocess.DEVNULL}


def _killed(command, saved, wait):
    """Start a run, kill it when it has saved something new, and tell what is left."""
    before = _newest(saved)
    process = subprocess.Popen(command, **SILENT)
    while process.poll() is None and _newest(saved) == before:
        time.sleep(0.01)
    time.sleep(wait)
    if process.poll() is not None:
        return f"ended with {process.returncode} before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    return f"killed (exit code {process.returncode}); left: {', '.join(_newest(saved))}"


def _newest(folder):
    names = os.listdir(folder) if folder.is_dir() else []
    return sorted(name for name in names if name.endswith(".checkpoint"))


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def render(found):
    """Return the results as text."""
    title = "A killed training resumes"
    if found["quick"]:
        title += " (quick)"
    goals = format_goals(found["goals"], found["quick"])
    return "\n\n".join([title, "\n".join(found["log"]), NOTE, goals])
