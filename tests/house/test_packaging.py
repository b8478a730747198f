"""What is installed and what the project says about itself agree."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import skcw

PROJECT = Path(__file__).resolve().parents[2]
INSTALLED = Path(skcw.__file__).resolve().parent
IN_PLACE = INSTALLED == PROJECT / "skcw"

METADATA = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = METADATA["project"]["version"]
KERNELS = sorted((PROJECT / "skcw").rglob("*.pyx"))


# What the commands are told, by command and option.
SETUP_CFG = {
    ("build", "build_base"): "build/release",
    ("sdist", "formats"): "gztar",
}


def test_package_and_metadata_have_one_version():
    assert skcw.__version__ == VERSION


def test_the_citation_has_that_version_too():
    citation = (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == VERSION


def test_the_installed_package_holds_modules_and_the_tables_of_datasets_only():
    # Sources of the kernels travel in the sdist; a wheel has no use for them.
    allowed = {".py", ".so", ".pyd", ".typed", ".pyi", ".toml"}
    if IN_PLACE:
        allowed |= {".pyx", ".pxd", ".pxi", ".h", ".c"}
    files = [p for p in INSTALLED.rglob("*") if p.is_file() and p.suffix != ".pyc"]
    assert not [p.name for p in files if p.suffix not in allowed]


def test_type_checkers_find_the_annotations():
    # The wheel takes no other data: it has to be named.
    assert (INSTALLED / "py.typed").is_file()
    assert METADATA["tool"]["setuptools"]["package-data"]["skcw"] == ["py.typed"]


def test_the_commands_of_setuptools_read_setup_cfg():
    dist = pytest.importorskip("setuptools").Distribution()
    dist.parse_config_files([PROJECT / "setup.cfg"])
    told = {
        (command, option): dist.get_option_dict(command)[option][1]
        for command, option in SETUP_CFG
    }
    assert told == SETUP_CFG


@pytest.mark.parametrize(("debug", "folder"), [("0", ""), ("1", "-debug")])
def test_each_kind_of_build_has_a_folder_of_its_own(debug, folder):
    pytest.importorskip("setuptools")
    code = "import runpy; print(runpy.run_path('setup.py')['BUILD'])"
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={**os.environ, "SKCW_DEBUG": debug},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == f"build/release{folder}"


def test_every_module_of_the_sources_is_installed():
    installed = {p.relative_to(INSTALLED) for p in INSTALLED.rglob("*.py")}
    sources = PROJECT / "skcw"
    assert installed == {p.relative_to(sources) for p in sources.rglob("*.py")}


def test_another_process_imports_the_same_package():
    code = "import skcw; print(skcw.__file__)"
    command = [sys.executable, "-c", code]
    found = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()).resolve().parent == INSTALLED


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_kernel_is_compiled(path):
    folder = INSTALLED / path.parent.relative_to(PROJECT / "skcw")
    assert [p for p in folder.glob(f"{path.stem}.*") if p.suffix in {".so", ".pyd"}]


@pytest.mark.parametrize(
    "requirement",
    METADATA["project"]["dependencies"]
    + [
        requirement
        for extra in METADATA["project"]["optional-dependencies"].values()
        for requirement in extra
    ],
)
def test_every_requirement_names_its_lowest_version(requirement):
    assert requirement.startswith("skcw[") or re.fullmatch(
        r"[\w.-]+(>=|==|~=)[\d.*]+", requirement
    )
