"""`python -m referee.tools.manual [--check]`: writes the man page, docs/referee.1."""

import sys
from pathlib import Path

from referee.harness.cli.help import manual
from referee.harness.cli.main import app
from referee.tools import generated


def manual_files() -> dict[Path, str]:
    """Returns the man page by its path in the project."""
    return {Path("docs/referee.1"): manual(app)}


if __name__ == "__main__":
    sys.exit(generated.main(manual_files(), sys.argv[1:]))
