"""`python -m referee.tools.manual`: writes the man page from the help.

It is not committed. `make setup` and the build of a wheel write it.
"""

import sys
from pathlib import Path

from referee.harness.cli.command_line import app
from referee.harness.cli.help import manual
from referee.tools import generated


def manual_files() -> dict[Path, str]:
    """Returns the man page, by its path in the project."""
    return {Path("docs/referee.1"): manual(app)}


if __name__ == "__main__":
    sys.exit(generated.main(manual_files(), sys.argv[1:]))
