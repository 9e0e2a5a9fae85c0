"""Options that add-ons add to our commands.

Each is a frozen dataclass with a default for every field, derived from the class of its command. Its methods do nothing
unless it overrides them.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import fields, make_dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from referee.harness.addons import hooks

if TYPE_CHECKING:
    from referee.games.contract import Player
    from referee.harness.match.match import Match
    from referee.harness.match.series import People, Series
    from referee.harness.process.limits import Limits
    from referee.harness.programs.entrant import Entrant
    from referee.harness.replay.reader import Replay
    from referee.harness.seats.roster import MakeSeat
    from referee.harness.seats.seat import Seat


class PlayOptions:
    """Options of `referee play`."""

    @property
    def one_by_one(self) -> str:
        """The option because of which games cannot be played side by side; empty if they can."""
        return ""

    def check(self, no_replay: bool) -> None:
        """Raises UsageError for options that cannot be combined."""

    def seats(self, match: "Match") -> "AbstractAsyncContextManager[MakeSeat | None]":
        """Returns a block with what makes the seats of players elsewhere; with None if this makes none."""
        return nullcontext()

    def people(self, series: "Series") -> "AbstractAsyncContextManager[People | None]":
        """Returns a block with how people take part in a series; with None if this does not change it."""
        return nullcontext()


class NewOptions:
    """Options of `referee new`."""

    def instead(self, game: str | None, lang: str | None) -> int | None:
        """Writes something else than a bot, and returns the exit code; None if that was not asked for."""
        return None


class VerifyOptions:
    """Options of `referee replay verify`, and of the command that verifies many replays."""

    def check(self, files: Sequence[Path]) -> bool:
        """Returns whether this takes the files after the replay. Raises UsageError for a wrong combination."""
        return False

    def after(self, replay: "Replay", files: Sequence[Path]) -> int | None:
        """Does more with a replay that was verified, and returns the exit code; None if there is nothing to do.

        Raises `referee.harness.replay.simulate.Difference`.
        """
        return None

    def able(self, programs: "Mapping[str, Entrant]") -> "dict[str, Entrant]":
        """Returns those of these programs that can play games again, by the same keys."""
        return {}

    def again(self, replay: "Replay", programs: "Mapping[Player, Entrant]", limits: "Limits") -> None:
        """Lets programs play a game again at their seats. `limits`: those of builds. Raises Difference."""


class Added:
    """The options of all add-ons for one command."""

    def each(self) -> list[Any]:
        """Returns those of each add-on."""
        return [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]

    @asynccontextmanager
    async def seats(self, match: "Match") -> "AsyncIterator[MakeSeat]":
        """Yields what makes the seats of players elsewhere, by whichever add-on knows them."""
        async with AsyncExitStack() as stack:
            made = [await stack.enter_async_context(each.seats(match)) for each in self.each()]

            def make(entrant: "Entrant", limits: "Limits") -> "Seat | None":
                found = (one(entrant, limits) for one in made if one is not None)
                return next((seat for seat in found if seat is not None), None)

            yield make

    @asynccontextmanager
    async def people(self, series: "Series") -> "AsyncIterator[People | None]":
        """Yields how people take part, by whichever add-on changes it; None if none does."""
        async with AsyncExitStack() as stack:
            found = [await stack.enter_async_context(each.people(series)) for each in self.each()]
            yield next((people for people in found if people is not None), None)


def added(command: str) -> type[Added]:
    """Returns a group with the options that add-ons add to a command."""
    kinds = chain.from_iterable(hooks().options(command=command))
    made = [(f"added_{number}", Annotated[kind, Parameter(name="*")], kind()) for number, kind in enumerate(kinds)]
    options = make_dataclass("Options", made, bases=(Added,), frozen=True, namespace={"__module__": __name__})
    return Parameter(name="*")(options)
