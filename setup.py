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


# Wheels travel, so there is no -march=native and no -ffast-math. Python's own flags ask
# for debug information, four fifths of the size of a library: -g0 takes that back.
FLAGS = ["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-O3", "-g0"]

# Cython's code for memoryviews, compiled once instead of in every module.
SHARED = "skcw._shared_views"


def extension(path):
    """Return the extension module built from one .pyx file."""
    return Extension(
        ".".join(path.with_suffix("").parts),
        [str(path)],
        include_dirs=["skcw/_kernels"],
        depends=[str(header) for header in sorted(Path("skcw").rglob("*.h"))],
        define_macros=[("SKCW_DEBUG", "1")] if DEBUG else [],
        extra_compile_args=FLAGS,
    )


def shared_views():
    """Return the module that Cython writes by itself."""
    path = f"{BUILD}/cython/{SHARED.replace('.', '/')}.c"
    return Extension(SHARED, [path], extra_compile_args=FLAGS)


setup(
    ext_modules=cythonize(
        [shared_views(), *map(extension, sorted(Path("skcw").rglob("*.pyx")))],
        build_dir=f"{BUILD}/cython",
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
        nthreads=os.cpu_count() or 1,
    ),
    options={
        "build": {"build_base": BUILD},
        "build_ext": {"parallel": os.cpu_count() or 1},
    },
)
