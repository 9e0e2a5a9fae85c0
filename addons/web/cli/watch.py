"""`referee --watch`: a match in a browser while it is played, with pause and step, and with people at its seats."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from referee.harness.cli.added import PlayOptions
from referee.harness.cli.options import MORE, MORE_TITLE, NOT_NEGATIVE, given
from referee.harness.cli.screen import err
from referee.harness.common.errors import UsageError
from referee.harness.match.match import Match
from referee.harness.match.series import People, Series
from referee.harness.seats.kinds import PERSON


@Parameter(name="*", group="Output")
@dataclass(frozen=True, kw_only=True)
class WatchOptions(PlayOptions):
    """How a match is shown while it is played."""

    watch: bool = False
    """Show the match in a browser while it is played, with buttons to pause, step and stop it. A bot may then be
    `human`: a person who plays in the browser, without a clock."""
    paused: Annotated[bool, MORE] = False
    """Start paused: the first turn waits for the page."""
    bind: Annotated[str, MORE] = "127.0.0.1"
    """The address on which the pages are served."""
    port: Annotated[int, Parameter(group=MORE_TITLE, validator=NOT_NEGATIVE)] = 0
    """Their port; 0 means any free port."""
    no_browser: Annotated[bool, MORE] = False
    """Print the links only, and open no browser."""

    def check(self, no_replay: bool) -> None:
        """Raises UsageError for options that cannot be combined."""
        if self.watch:
            from referee.addons.web.cli.view import need_web

            need_web("--watch")
            if no_replay:
                raise UsageError("--watch cannot be combined with --replay none: the pages show the replay as it grows")
            return
        for option, _ in given(self):
            raise UsageError(f"--{option.name.replace('_', '-')} requires --watch")

    @property
    def one_by_one(self) -> str:
        return "--watch" if self.watch else ""

    def people(self, series: Series) -> AbstractAsyncContextManager[People | None]:
        return watched(series, self)


def _role(name: str) -> str:
    """Returns what a link is for."""
    if name == "watch":
        return "shows everything, plays nothing"
    return "plays for everyone at one screen" if name == "people" else "plays this seat only"


@asynccontextmanager
async def watched(series: Series, pages: WatchOptions) -> AsyncIterator[People | None]:
    """Yields what a watched series needs; None for one that is not watched."""
    if not pages.watch:
        yield None
        return
    from referee.addons.web.cli.view import opened
    from referee.addons.web.watch import open_viewer

    people = [index for index, entrant in enumerate(series.match.entrants) if PERSON.plays(entrant)]
    with ExitStack() as stack:
        async with open_viewer(pages.bind, pages.port, len(people)) as link:
            if pages.paused:
                link.pace.pause()
            for name, url in link.links.items():
                err.print(f"{name:10}{_role(name):40}{url}", soft_wrap=True)
            if not pages.no_browser:
                stack.enter_context(opened(link.links.get("people", link.links["watch"])))

            async def begin(match: Match, order: tuple[int, ...]) -> None:
                assert match.replay is not None
                await link.playing(match.replay, [order.index(index) for index in people])

            yield People(link.person, link.pace, begin)
