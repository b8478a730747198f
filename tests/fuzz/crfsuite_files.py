"""Files of CRFsuite that are damaged; its format has no checksum.

``python -m tests.fuzz.crfsuite_files`` opens a hundred thousand of them.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from skcw import CRFSequenceTagger
from skcw.exceptions import ModelFileError
from tests.fuzz.isolation import long_run
from tests.fuzz.model_files import ACCIDENTS

CRFSUITE_OPTIONS = {"documented": (ModelFileError,), "memory": 2**31}


def _whole():
    X, y = [["Ann", "met", "Bob"], ["Bob", "left"]], [["P", "O", "P"], ["P", "O"]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        CRFSequenceTagger().fit(X, y).to_crfsuite(path)
        return path.read_bytes()


def crfsuite_case():
    """Return the case that opens a mutated file of CRFsuite and asks it everything."""
    whole, folder = _whole(), tempfile.mkdtemp(prefix="fuzz-")

    def case(seed):
        rng = np.random.default_rng(seed)
        changed = ACCIDENTS[rng.integers(len(ACCIDENTS))](whole, rng)
        if rng.random() < 0.7:
            # The size of the file is the first thing that is looked at.
            changed = changed[:4] + len(changed).to_bytes(4, "little") + changed[8:]
        path = Path(folder, f"model-{os.getpid()}")
        path.write_bytes(changed)
        tagger = CRFSequenceTagger.from_crfsuite(path)
        answers = tagger.predict_all([["Ann", "left", "Bob", "again"], []])
        said = answers.labels(), answers.marginals(), answers.nbest(3)
        tagger.save(path.with_suffix(".ours"))
        tagger.to_crfsuite(path)
        again = CRFSequenceTagger.from_crfsuite(path)
        return said, vars(tagger), vars(again)

    return case


if __name__ == "__main__":
    cases = {"CRFsuite": crfsuite_case()}
    sys.exit(long_run(__doc__, lambda: cases, 100_000, **CRFSUITE_OPTIONS))
