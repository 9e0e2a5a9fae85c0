"""`referee --watch`: a match in a browser while it is played, with pause and step, and with people at its seats."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, fields
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from referee.harness.cli.screen import err
from referee.harness.cli.view import need_web, opened
from referee.harness.errors import UsageError
from referee.harness.match.play import Match
from referee.harness.match.series import People, Series


@Parameter(name="*", group="Watching")
@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """How it is shown while it is played."""

    watch: Annotated[bool, Parameter(negative=())] = False
    """Show the match in a browser while it is played, where it can be held between turns. A bot may then be `human`: a
    person who plays there, on no clock."""
    paused: Annotated[bool, Parameter(negative=())] = False
    """Begin held: the first turn waits for the page."""
    bind: str = "127.0.0.1"
    """The address at which the pages are."""
    port: int = 0
    """Their port; 0 = any that is free."""
    no_browser: Annotated[bool, Parameter(negative=())] = False
    """Only print the links to them."""

    def check(self, no_replay: bool) -> None:
        """UsageError for what does not go together."""
        if self.watch:
            need_web("--watch")
            if no_replay:
                raise UsageError("--watch --no-replay: one of the two; the pages show the record as it grows")
            return
        for option in fields(self):
            if getattr(self, option.name) != option.default:
                raise UsageError(f"--{option.name.replace('_', '-')}: needs --watch")


@asynccontextmanager
async def watched(series: Series, pages: WatchOptions) -> AsyncIterator[People | None]:
    """What a series needs that is played before somebody's eyes; None if it is not."""
    if not pages.watch:
        yield None
        return
    from referee.harness.web.watch import beside

    people = [index for index, entrant in enumerate(series.match.entrants) if entrant.human]
    with ExitStack() as stack:
        async with beside(pages.bind, pages.port, len(people)) as end:
            if pages.paused:
                end.hold()
            for name, url in end.links.items():
                err.print(Text(f"{name:8}{url}"))
            if not pages.no_browser:
                stack.enter_context(opened(end.links.get("people", end.links["watch"])))

            async def begin(match: Match, order: tuple[int, ...]) -> None:
                assert match.replay is not None
                await end.playing(match.replay, [order.index(index) for index in people])

            yield People(end.person, end.pace, begin)
