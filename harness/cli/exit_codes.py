"""How a command ends: exit codes, and what it achieved before an error."""

from typing import Any

from rich.console import RenderableType

PLAYED = 0
AT_FAULT = 1
USAGE = 2
FAILED = 3
INCONCLUSIVE = 4
NOT_ISOLATED = 5
NO_ROOM = 6
NOT_TESTED = 125
"""`git bisect run` skips a commit with this code."""
BY_SIGNAL = 128
"""Plus the number of the signal."""
INTERRUPTED = BY_SIGNAL + 2
"""By Ctrl-C."""

MEANINGS = {
    str(PLAYED): "Played, verified, or passed.",
    str(AT_FAULT): "A bot had a fault under --strict, a replay differs, or a check refuses the bot.",
    str(USAGE): "The command line is wrong. Nothing was started.",
    str(FAILED): "The run itself failed, such as a build or a full disk.",
    str(INCONCLUSIVE): "Not decided: a limit of games or minutes came first, or the machine was busy.",
    str(NOT_ISOLATED): "--isolation required needs a layer that this machine does not have. No bot was started.",
    str(NO_ROOM): "The system allows too few file descriptors, or files that are too short.",
    str(NOT_TESTED): "repro: the bot cannot be built or started, so git bisect skips it.",
    f"{BY_SIGNAL}+N": "Ended by signal N.",
}


class SoFar(BaseException):
    """An error that ended a command after it had achieved something."""

    def __init__(self, cause: BaseException, reached: Any, shown: RenderableType) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.reached = reached
        """The result so far, for `--json`: the matches played, or the report that could not be written."""
        self.shown = shown
        """The same for people."""
