# SPDX-License-Identifier: Apache-2.0
"""``python -m pincite``: the command line, also where no ``pincite`` is on the path."""

from pincite.cli import main

if __name__ == "__main__":
    main()
