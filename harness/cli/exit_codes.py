"""How a command ends: exit codes, and what was reached before the end."""

from typing import Any

from rich.console import RenderableType

PLAYED = 0
"""Played, verified, passed."""
AT_FAULT = 1
"""Played, but a bot was at fault under `--strict`; a replay differs; a check refuses the bot."""
USAGE = 2
"""What was asked for cannot be."""
FAILED = 3
"""The run itself failed."""
INCONCLUSIVE = 4
"""A cap in games or minutes came before the decision, or before the last game of a tournament."""
NOT_ISOLATED = 5
"""`--isolation required` asked for what this machine does not have; no bot was started."""
NO_ROOM = 6
"""The system gives us too few file descriptors to run with."""
BY_SIGNAL = 128
"""And the signal's number."""
INTERRUPTED = BY_SIGNAL + 2
"""By Ctrl-C."""


class SoFar(BaseException):
    """A run of several matches was broken off, or what it came to cannot be written: `cause` says by what."""

    def __init__(self, cause: BaseException, reached: Any, shown: RenderableType) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.reached = reached
        """The matches that were played, or what they came to, as for `--json`."""
        self.shown = shown
        """The same for people."""
