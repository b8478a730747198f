"""What every test shares: the right package, the random seeds, the real corpora."""

import importlib.util
import os
import sys
from pathlib import Path

# Before anything imports matplotlib: tests have no screen.
os.environ["MPLBACKEND"] = "Agg"
# A Python that a test starts must not find the sources in the current folder either.
os.environ["PYTHONSAFEPATH"] = "1"
# Workers use all cores already: threads of BLAS and OpenMP would wait for each other,
# and waiting takes several times the time of the tests themselves.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
import sklearn
from hypothesis import settings

PROJECT = Path(__file__).resolve().parents[1]

# Timings differ from machine to machine; a slow example is no failure.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
# A part of those examples, where the whole of them has run on another build already.
settings.register_profile("repeat", settings.get_profile("ci"), max_examples=20)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def missing_kernels():
    """Return the kernels whose compiled module the imported package lacks."""
    sources = sorted((PROJECT / "skcw").rglob("*.pyx"))
    names = [".".join(p.relative_to(PROJECT).with_suffix("").parts) for p in sources]
    return [name for name in names if importlib.util.find_spec(name) is None]


# The oldest matplotlib that we support calls a newer pyparsing by its former names.
OLD_PYPARSING_NAMES = r"ignore:'\w+' (argument is )?deprecated:DeprecationWarning"


def pytest_addoption(parser):
    parser.addoption(
        "--each-value-once",
        action="store_true",
        help="of a parametrized test, leave out cases whose every value was in others",
    )


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", OLD_PYPARSING_NAMES)
    if importlib.util.find_spec("skcw") is None:
        raise pytest.UsageError(
            "skcw is not installed: pip install '.[test]', then run pytest"
        )
    import skcw

    missing = missing_kernels()
    if missing:
        raise pytest.UsageError(
            f"skcw was imported from {Path(skcw.__file__).parent}, which has no "
            f"compiled {', '.join(missing)}. `python -m pytest` in the project folder "
            "finds the sources before the installed package: run plain `pytest`, "
            "or build in place (see CONTRIBUTING.md)."
        )


def pytest_report_header(config):
    import skcw

    return (
        f"skcw {skcw.__version__} from {Path(skcw.__file__).parent}; "
        f"scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    )


def repeated(items):
    """Return the cases whose parameters all had their values in cases before them."""
    seen, found = set(), []
    for item in items:
        if not hasattr(item, "callspec"):
            continue
        test = item.nodeid.split("[")[0]
        # A check of scikit-learn is a partial function, another one per estimator.
        values = {
            (test, name, id(getattr(value, "func", value)))
            for name, value in item.callspec.params.items()
        }
        if values <= seen:
            found.append(item)
        seen |= values
    return found


def pytest_collection_modifyitems(config, items):
    if config.getoption("each_value_once"):
        left_out = set(repeated(items))
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    if os.environ.get("SKCW_DATA"):
        return
    reason = "SKCW_DATA does not name the folder of the real corpora"
    for item in items:
        if item.get_closest_marker("real_data"):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def data_home():
    """Folder of the real corpora; tests that use it are marked ``real_data``.

    Once SKCW_DATA is set nothing is skipped any more: what is not there fails.
    """
    named = os.environ.get("SKCW_DATA")
    if not named:
        pytest.fail("a test that asks for data_home must be marked real_data")
    folder = Path(named).resolve()
    if not folder.is_dir():
        pytest.fail(f"SKCW_DATA names {folder}, which is no folder")
    return folder


@pytest.fixture(autouse=True)
def no_open_figures():
    """Close the figures a test leaves open, so that they do not pile up."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
