"""Checks of bots for the client, one at a time. A check goes on while the client does not wait for it."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import msgspec
import trio
from msgspec import Meta, Struct

from referee.games.game import Game
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.nurseries import ungrouped

WAIT_S = 40.0
"""How long the client waits at most: many clients give up after a minute."""

log = logging.getLogger("referee.servers.mcp")


class FindingLine(Struct, frozen=True):
    """A defect or an observation."""

    level: Annotated[str, Meta(description="error refuses the bot; warning and note do not")]
    text: str
    where: Annotated[str, Meta(description="the seat, call and encoding")]
    last_words: Annotated[list[str], Meta(description="the last lines of its standard error, or of the build")]
    again: Annotated[str, Meta(description="the command that reproduces it")]


class RuleLine(Struct, frozen=True):
    """A rule of the check that was tried."""

    rule: str
    title: str
    status: Annotated[str, Meta(description="passed, failed, skipped or not decided")]
    note: str
    advice: Annotated[str, Meta(description="how to fix a failure")]
    findings: list[FindingLine]


class Checked(Struct, frozen=True):
    """A check, as far as it is."""

    over: Annotated[bool, Meta(description="false: call check again with the same arguments")]
    passed: Annotated[bool | None, Meta(description="null while it is not over")]
    verdict: str
    rules: Annotated[list[RuleLine], Meta(description="in the order in which they were tried")]


class Wanted(Struct, frozen=True):
    """A check that the client asks for."""

    bot: str
    """As the client names it."""
    game: Game
    seed: int
    map: str | None
    options: Mapping[str, Any]
    only: frozenset[str]

    @property
    def key(self) -> bytes:
        """Equal keys, equal checks."""
        values = [self.bot, self.game.name, self.seed, self.map, self.options, sorted(self.only)]
        return msgspec.json.encode(values, order="deterministic")


Check = Callable[[Wanted, str, Mapping[str, Any], Callable[[RuleLine], None]], Awaitable[Checked]]
"""Builds and checks a bot. Takes the request, the bot spec, the options with the content of the map, and a function
that receives each rule that was tried. UsageError for wrong arguments, RunError if the check itself fails."""


class _Running:
    """A check that goes on, or is over."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.tried: list[RuleLine] = []
        self.result: Checked | None = None
        self.failure: Exception | None = None
        """Why the check itself failed."""
        self.ended = trio.Event()


class Checks:
    """The checks of one client."""

    def __init__(self, check: Check, nursery: trio.Nursery) -> None:
        self._check, self._nursery = check, nursery
        self._current: _Running | None = None

    async def result(self, wanted: Wanted, spec: str, options: Mapping[str, Any]) -> Checked:
        """Begins a check, or goes on to wait for the same one. Returns it when it is over, or after `WAIT_S`.

        UsageError if another one is running, and for wrong arguments; RunError if it fails.
        """
        current = self._current
        if current is None or current.wanted.key != wanted.key:
            if current is not None and not current.ended.is_set():
                running = f"{current.wanted.bot} at {current.wanted.game.name}"
                raise UsageError(f"a check is running: {running}; ask for that one again until it is over")
            current = self._current = _Running(wanted)
            self._nursery.start_soon(self._run, current, spec, options)
        with trio.move_on_after(WAIT_S):
            await current.ended.wait()
        if not current.ended.is_set():
            return Checked(False, None, "the check goes on", current.tried)
        if self._current is current:
            self._current = None
        if current.result is None:
            raise current.failure or RunError("the check was stopped")
        return current.result

    async def _run(self, current: _Running, spec: str, options: Mapping[str, Any]) -> None:
        try:
            with ungrouped():
                current.result = await self._check(current.wanted, spec, options, current.tried.append)
        except (RunError, UsageError) as error:
            current.failure = error
        except Exception as error:
            log.exception("the check of %s failed", current.wanted.bot)
            current.failure = RunError(f"the check failed: {type(error).__name__}: {error}; the log has the place")
        finally:
            current.ended.set()
