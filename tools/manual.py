"""`python -m referee.tools.manual`: writes the man page and the reference of the command line from its help.

Neither is committed. `make setup`, `make docs` and the build of a wheel write them.
"""

import sys
from pathlib import Path

from referee.harness.cli.command_line import app
from referee.harness.cli.help import manual, reference
from referee.tools import generated


def manual_files() -> dict[Path, str]:
    """Returns the man page and the page of the reference, by their paths in the project."""
    return {Path("docs/referee.1"): manual(app), Path("docs/reference/command-line.md"): reference(app)}


if __name__ == "__main__":
    sys.exit(generated.main(manual_files(), sys.argv[1:]))
