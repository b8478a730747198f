"""From ``fit`` it is not far to the compiled pass."""

import sys
from pathlib import Path

import numpy as np
import pytest

import skcw

PACKAGE = Path(skcw.__file__).parent
# Own functions between `fit` and the kernel.
MOST = 3
# So few that no second model is trained on a part of them.
SEQUENCES = [["Ann", "left"], ["Bob", "left"]], [["PER", "O"], ["PER", "O"]]
ROWS = np.eye(6)[:, :4], np.array(["a", "b", "c"] * 2)
KERNELS = {
    skcw.CWSequenceTagger: "cw_pass",
    skcw.AROWSequenceTagger: "arow_pass",
    skcw.PASequenceTagger: "pa_pass",
    skcw.PerceptronSequenceTagger: "perceptron_pass",
    skcw.MultiClassCW: "cw_row_pass",
    skcw.MultiClassAROW: "arow_row_pass",
    skcw.MultiClassPA: "pa_row_pass",
    skcw.MultiClassPerceptron: "perceptron_row_pass",
}


def own_functions(frame):
    """Return the names of our functions on the stack, the innermost first."""
    while frame is not None:
        if PACKAGE in Path(frame.f_code.co_filename).parents:
            yield frame.f_code.co_name
        frame = frame.f_back


@pytest.mark.parametrize("learner", KERNELS)
def test_few_functions_lie_between_fit_and_the_compiled_pass(learner, monkeypatch):
    name, between = f"{learner.__module__}.{KERNELS[learner]}", []
    kernel = getattr(sys.modules[learner.__module__], KERNELS[learner])

    def watched(*given, **bound):
        names = list(own_functions(sys._getframe(1)))
        between.append(names[: names.index("fit")])
        return kernel(*given, **bound)

    monkeypatch.setattr(name, watched)
    learner(random_state=0).fit(*(ROWS if "linear_model" in name else SEQUENCES))
    assert between
    assert all(len(names) <= MOST for names in between), between[0]
