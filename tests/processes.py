"""Code that tests run in a Python of its own."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def run_code(code, *arguments, check=True):
    """Run code that may import tests; return its exit code and what it printed.

    The project comes last on its path: its sources must not hide the installed package.
    """
    program = f"import sys; sys.path.append({str(PROJECT)!r})\n{code}"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, check=check, capture_output=True, text=True)
