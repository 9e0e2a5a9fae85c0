"""The process that plays a hosted contest: `python -m referee.addons.host.play_process FOLDER SETTINGS`.

`referee host` starts it, beside its web process, and starts it again when it has ended. It ends when its standard input
does, or at a signal. SETTINGS is JSON.
"""

import sys
import time
from pathlib import Path

import msgspec

from referee.addons.host.orders import DatabaseOrders
from referee.addons.host.play import PlaySettings, run
from referee.addons.host.store import Store
from referee.harness.common.errors import RunError, UsageError
from referee.harness.process.parent import end_with_parent
from referee.protocol.text import printable

END_S = 15.0
"""How long the last games may take."""
FAILED, WRONG = 3, 2
"""Exit codes: the run failed; the folder holds no contest, or another process plays it."""


def note(text: str) -> None:
    """Prints a line of the log."""
    sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {printable(text)}\n")
    sys.stderr.flush()


def main() -> int:
    """Runs the program."""
    folder = Path(sys.argv[1])
    end_with_parent(END_S)
    try:
        settings = msgspec.json.decode(sys.argv[2], type=PlaySettings)
        run(folder, DatabaseOrders(Store(folder)), settings, note)
    except UsageError as error:
        note(str(error))
        return WRONG
    except RunError as error:
        note(str(error))
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
