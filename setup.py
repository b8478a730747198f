"""Build the compiled kernels; all else stands in pyproject.toml and setup.cfg.

Three variables of the environment change what is built: ``SKCW_DEBUG=1`` checks every
index, ``SKCW_SANITIZE=1`` lets GCC or Clang watch every access to memory and everything
that C leaves undefined, ``SKCW_PORTABLE=1`` does without the vector types of these two.
"""

import os
import shutil
import sys
import sysconfig
from configparser import ConfigParser
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("SKCW_DEBUG", "0") != "0"
SANITIZE = os.environ.get("SKCW_SANITIZE", "0") != "0"
PORTABLE = os.environ.get("SKCW_PORTABLE", "0") != "0"

# Each mode has a folder of its own for C files, objects and libraries, so that
# no build ever picks up what another one left behind.
CONFIG = ConfigParser()
CONFIG.read("setup.cfg")
BUILD = CONFIG["build"]["build_base"]
BUILD += "-debug" * DEBUG + "-sanitized" * SANITIZE + "-portable" * PORTABLE

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": not DEBUG,
    "freethreading_compatible": True,
}

MACROS = [("SKCW_DEBUG", "1")] * DEBUG + [("SKCW_PORTABLE", "1")] * PORTABLE

# Wheels travel, so there is no -march=native and no -ffast-math; compilers that join a
# product and a sum by themselves are told not to, or the bits would depend on the
# machine. Python's own flags ask for debug information, four fifths of the size of a
# library: -g0 takes that back.
UNIX_FLAGS = ["-ffp-contract=off"]
UNIX_FLAGS += ["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-O3", "-g0"]
# A finding ends the process: a test that goes on would be a test that passes.
WATCHED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] * SANITIZE
UNIX_FLAGS += [*WATCHED, "-O1", "-g", "-fno-omit-frame-pointer"] if SANITIZE else []
MSVC_FLAGS = ["/std:c11", "/fp:precise", "/Od" if DEBUG else "/O2"]

# Cython's code for memoryviews, compiled once instead of in every module.
SHARED = "skcw._shared_views"

# Commands that compile; others, such as sdist, need no compiler.
COMPILING = {"bdist_wheel", "editable_wheel", "build", "build_ext", "install"}


def extension(path):
    """Return the extension module built from one .pyx file."""
    return Extension(
        ".".join(path.with_suffix("").parts),
        [str(path)],
        include_dirs=["skcw/_kernels"],
        depends=[str(header) for header in sorted(Path("skcw").rglob("*.h"))],
        define_macros=MACROS,
    )


def shared_views():
    """Return the module that Cython writes by itself."""
    return Extension(SHARED, [f"{BUILD}/cython/{SHARED.replace('.', '/')}.c"])


def missing_tools():
    """Return what a build needs and this system lacks, each with its Debian package."""
    missing = []
    # Windows has compilers that are not on the path.
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    if os.name != "nt" and shutil.which(compiler.split()[0]) is None:
        missing.append((f"a C compiler ({compiler.split()[0]})", "gcc"))
    folders = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
    if not any(Path(folder, "Python.h").is_file() for folder in folders):
        missing.append(("Python's headers (Python.h)", "python3-dev"))
    return missing


def stop_without_tools():
    """End in one line, before anything else is said, where nothing can be compiled."""
    missing = missing_tools()
    if missing:
        what = " and ".join(name for name, _ in missing)
        packages = " ".join(package for _, package in missing)
        sys.exit(
            f"skcw has to be compiled, and this system lacks {what}. "
            f"On Debian and Ubuntu: apt-get install {packages}"
        )


class Build(build):
    """Put what is built into the folder of the mode."""

    def finalize_options(self):
        """Set all folders by that of the mode."""
        self.build_base = BUILD
        super().finalize_options()


class BuildKernels(build_ext):
    """Translate the kernels to C and compile them."""

    def run(self):
        """Let Cython write the C files, then compile them."""
        workers = os.cpu_count() or 1
        self.parallel = self.parallel or workers
        self.translate(workers)
        super().run()

    def translate(self, workers):
        """Replace the Cython sources of the modules by C files."""
        from Cython.Build import cythonize

        translated = cythonize(
            self.extensions,
            build_dir=f"{BUILD}/cython",
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=SHARED,
            nthreads=workers,
        )
        sources = {module.name: module.sources for module in translated}
        for module in self.extensions:
            module.sources = sources[module.name]

    def build_extensions(self):
        """Compile with the flags of the compiler that was found."""
        msvc = self.compiler.compiler_type == "msvc"
        for module in self.extensions:
            module.extra_compile_args = MSVC_FLAGS if msvc else UNIX_FLAGS
            module.extra_link_args = [] if msvc else WATCHED
        super().build_extensions()


# Where processes are spawned, each of Cython's workers reads this file once more.
if __name__ == "__main__":
    if COMPILING & set(sys.argv):
        stop_without_tools()
    setup(
        ext_modules=[
            shared_views(),
            *map(extension, sorted(Path("skcw").rglob("*.pyx"))),
        ],
        cmdclass={"build": Build, "build_ext": BuildKernels},
    )
