"""Build the compiled kernels; everything else is declared in pyproject.toml.

Set ``SKCW_DEBUG=1`` for the bounds-checked build.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("SKCW_DEBUG", "0") != "0"

# Each mode has a folder of its own for C files, objects and libraries, so that
# neither build ever picks up what the other one left behind.
BUILD = "build/debug" if DEBUG else "build/release"

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": not DEBUG,
    "freethreading_compatible": True,
}


def compile_args():
    """Return compiler flags; wheels travel, so no -march=native or -ffast-math."""
    if os.name == "nt":
        return ["/O2"]
    return ["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-O3"]


def extension(path):
    """Return the extension module built from one .pyx file."""
    return Extension(
        ".".join(path.with_suffix("").parts),
        [str(path)],
        include_dirs=["skcw/_kernels"],
        depends=[str(header) for header in sorted(Path("skcw").rglob("*.h"))],
        define_macros=[("SKCW_DEBUG", "1")] if DEBUG else [],
        extra_compile_args=compile_args(),
    )


setup(
    ext_modules=cythonize(
        [extension(path) for path in sorted(Path("skcw").rglob("*.pyx"))],
        build_dir=f"{BUILD}/cython",
        compiler_directives=DIRECTIVES,
    ),
    options={
        "build": {"build_base": BUILD},
        "build_ext": {"parallel": os.cpu_count() or 1},
    },
)
