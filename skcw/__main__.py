"""``python -m skcw`` is the command ``skcw``."""

import sys

from skcw.cli import main

if __name__ == "__main__":
    sys.exit(main())
