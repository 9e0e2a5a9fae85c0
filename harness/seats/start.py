"""How the process of a program starts, and which seat it gets."""

from collections.abc import Callable
from pathlib import Path

from referee.harness.isolation.spawner import Ends
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import sized_command
from referee.harness.seats.program import Bot

MakePipes = Callable[[BotProcess], Pipes]
"""Makes the pipes of a process that was just started: `Pipes` or a subclass."""


class Start:
    """A program that speaks the protocol on its pipes. Kinds of players that run otherwise have a subclass."""

    def command(self, argv: tuple[str, ...], memory_bytes: int | None) -> tuple[str, ...]:
        """Returns the command that is started: it says where the memory ends, if the program has to know."""
        return sized_command(argv, memory_bytes)

    def limits(self, limits: Limits) -> Limits:
        """Returns the limits of the process."""
        return limits

    def folders(self) -> tuple[str, ...]:
        """Returns folders that the process sees in addition to those of its command."""
        return ()

    def process(self, ends: Ends, limits: Limits, scratch: Path) -> BotProcess:
        """Returns the process that was just started."""
        return BotProcess(ends, limits, scratch)

    def seat(self, process: BotProcess, make_pipes: MakePipes, limits: Limits, entrant: Entrant) -> Bot:
        """Returns the seat of a process that `process` has made."""
        return Bot(make_pipes(process), process, limits)
