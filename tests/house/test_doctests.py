"""Every example in a docstring of the package runs and prints what it says."""

import doctest
import importlib
import re

import pytest

from tests.house.public_names import module_names

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

# NumPy 2 writes np.float64(0.5) where NumPy 1 wrote 0.5; both are right.
SCALAR = re.compile(r"np\.(?:float|int|uint|str_|bool)\w*\(([^()]*)\)")


class NumpyScalars(doctest.OutputChecker):
    """Compare outputs as text after taking the type off NumPy's scalars."""

    def check_output(self, want, got, optionflags):
        want, got = SCALAR.sub(r"\1", want), SCALAR.sub(r"\1", got)
        return super().check_output(want, got, optionflags)


def run_examples(module):
    """Run a module's doctests; return what failed, as doctest reports it."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(checker=NumpyScalars(), optionflags=FLAGS)
    report = []
    for test in finder.find(module, module.__name__):
        runner.run(test, out=report.append)
    return "".join(report)


@pytest.mark.parametrize("name", list(module_names()))
def test_examples_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may save a model
    failures = run_examples(importlib.import_module(name))
    assert not failures, failures


@pytest.mark.parametrize("printed", ["0.5", "np.float64(0.5)"])
def test_a_scalar_prints_the_same_for_every_numpy(printed):
    assert NumpyScalars().check_output("np.float64(0.5)\n", f"{printed}\n", FLAGS)
    assert not NumpyScalars().check_output("np.float64(0.6)\n", f"{printed}\n", FLAGS)
