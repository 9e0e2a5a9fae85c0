"""`referee check` for a process of the referee: `python -m referee.harness.cli.check_process BESIDE ARGUMENTS`.

It ends in order with that process. BESIDE is a value of `Beside`: how to keep out of the way of games.
"""

import sys

from referee.harness.cli.main import main
from referee.harness.process.core_locks import Beside, keep_aside
from referee.harness.process.parent import end_with_parent

END_S = 10.0
"""How long its bots and builds may take to end."""

if __name__ == "__main__":
    end_with_parent(END_S)
    keep_aside(Beside(sys.argv[1]))
    sys.exit(main(["check", *sys.argv[2:]]))
