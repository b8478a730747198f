"""Print requirements declared in pyproject.toml, one a line, for pip.

    requirements.py lowest         the lowest version of each dependency, pinned
    requirements.py pick NAME ...  the named requirements of the extras, as declared

So no version is written down twice.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def name_of(requirement):
    """Return the project name a requirement starts with."""
    return re.match(r"[\w.-]+", requirement)[0]


def lowest(project):
    """Return the run-time dependencies and matplotlib at their lowest versions."""
    declared = project["dependencies"] + project["optional-dependencies"]["plot"]
    return [requirement.replace(">=", "==") for requirement in declared]


def pick(project, names):
    """Return the requirements of the extras that have one of these names."""
    extras = project["optional-dependencies"].values()
    declared = {name_of(r): r for extra in extras for r in extra}
    return [declared[name] for name in names]


def main(arguments):
    """Print what the first argument asks for."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    match arguments:
        case ["lowest"]:
            found = lowest(project)
        case ["pick", *names] if names:
            found = pick(project, names)
        case _:
            sys.exit(__doc__)
    print("\n".join(found))


if __name__ == "__main__":
    main(sys.argv[1:])
