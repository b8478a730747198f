"""Run the command ``skcw`` as ``python -m skcw``."""

import sys

from skcw.cli import main

if __name__ == "__main__":
    sys.exit(main())
