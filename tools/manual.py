"""`python -m referee.tools.manual [--check]`: docs/referee.1, the page for `man`, from the command line's own text."""

import sys
from pathlib import Path

from referee.harness.cli.help import manual
from referee.harness.cli.main import app
from referee.tools import generated


def manual_files() -> dict[Path, str]:
    """The page's content, by its path below the project's root."""
    return {Path("docs/referee.1"): manual(app)}


if __name__ == "__main__":
    sys.exit(generated.main(manual_files(), sys.argv[1:]))
