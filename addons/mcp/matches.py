"""The matches of a client, in each of which it has a seat. They end when the client goes."""

import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.addons.mcp.allowed import Allowed
from referee.addons.mcp.checks import Check, Checked, Checks, Wanted
from referee.games.contract import Call, Fault, FaultKind, Notice, Player, State
from referee.games.dice import Dice
from referee.games.game import Game, TimeControl
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.nurseries import ungrouped
from referee.harness.match import rule_options
from referee.harness.match.match import Match
from referee.harness.match.series import People, Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrants
from referee.harness.replay.writer import claim_folder
from referee.harness.seats.kinds import PERSON
from referee.harness.seats.person import Person
from referee.harness.seats.roster import MakeSeat, in_processes

NAME = "assistant"
"""The client's name at its seat."""
MAX_RUNNING = 8
"""Most matches at a time. Each has its own processes."""
MAX_ENDED = 32
"""Most matches that are over and can still be looked at. Those that began first are forgotten first."""
RESIGNED_S = 5.0
"""How long a resignation waits for the end of the match, which goes on if others are left."""

log = logging.getLogger("referee.servers.mcp")


class ClientSeat(Person):
    """The client's seat. It has no clock, and is asked again after an illegal answer."""

    def __init__(self) -> None:
        super().__init__(self._choose, self._refuse)
        self.asked: Call | None = None
        """The call that waits for an answer."""
        self.refusal: str | None = None
        """Why the last answer was refused."""
        self.events: list[Notice] = []
        """The notices since the last legal answer."""
        self.resigned = False
        self.changed = trio.Event()
        """Set when the seat is asked, or the match is over. It is replaced when an answer is given."""
        self._given: Any = None
        self._answered = trio.Event()

    @property
    def state(self) -> State:
        return self.context.state

    def give(self, answer: Any) -> None:
        """Gives the answer to `asked`."""
        self.asked, self.refusal, self._given = None, None, answer
        self.changed = trio.Event()
        self._answered.set()

    def resign(self) -> None:
        """Leaves the match, now or at the seat's next turn."""
        self.resigned = True
        if self.asked is not None:
            self.give(None)

    async def _choose(self, state: State, player: Player) -> Any:
        (self.asked,) = [call for call in state.calls() if call.player == player]
        self._answered = trio.Event()
        if not self.resigned:
            self.changed.set()
            await self._answered.wait()
        self.asked = None
        return Fault(FaultKind.CRASH, "resigned") if self.resigned else self._given

    def _refuse(self, player: Player, fault: Fault) -> None:
        self.refusal = fault.detail

    async def answer(self, call: Call) -> Any:
        answer = await super().answer(call)
        self.events.clear()
        return answer

    def notify(self, notice: Notice) -> None:
        self.events.append(notice)


class ClientMatch:
    """A match with the client at a seat."""

    def __init__(self, ident: str, game: Game, seat: Player) -> None:
        self.ident, self.game, self.player = ident, game, seat
        self.seat = ClientSeat()
        self.examples = Dice(0)
        """For answers that are shown as examples."""
        self.explained: set[str] = set()
        """The functions for which the client has the schema of an answer."""
        self.ended = trio.Event()
        self.verdict: Verdict | None = None
        self.failure: str | None = None
        """Why the match could not go on."""

    async def settled(self) -> None:
        """Waits until the client is asked, or the match is over. RunError if the match could not go on."""
        while not self.ended.is_set() and self.seat.asked is None:
            await self.seat.changed.wait()
        if self.failure is not None:
            raise RunError(self.failure)

    async def play(self, series: Series, conditions: "Conditions") -> None:
        """Plays the match to its end. A match that fails does not end the others, whatever the reason."""
        try:
            with ungrouped():
                async with conditions.services(series.match) as services:
                    people = People(lambda entrant: self.seat)
                    outcome = await play_series(series, conditions.limits, people=people, services=services)
            self.verdict = outcome.matches[0]
        except (RunError, UsageError) as error:
            self.failure = str(error)
        except Exception as error:
            log.exception("match %s failed", self.ident)
            self.failure = f"{self.ident} failed: {type(error).__name__}: {error}; the server's log has the place"
        finally:
            self.seat.asked = None
            self.ended.set()
            self.seat.changed.set()


@asynccontextmanager
async def _no_services(match: Match) -> AsyncIterator[MakeSeat]:
    yield in_processes


async def _no_checks(*_: Any) -> Checked:
    raise UsageError("this server checks no bots")


class Conditions(Struct, frozen=True):
    """How all matches are played."""

    allowed: Allowed
    """The names that the client may use."""
    limits: Limits = Limits()
    time: Callable[[TimeControl], TimeControl] = lambda time: time
    """Returns the time control of the programs, from the game's own."""
    command: Callable[[Game, str | None, Sequence[str]], tuple[str, ...]] = lambda game, map, settings: ()
    """Returns the command line that plays with a map and settings such as `rows=4`, without seed and bots."""
    folder: Path | None = None
    """The folder for replays; None: a new one in ./replays, made with the first match."""
    keeps: bool = True
    """Whether there are replays."""
    services: Callable[[Match], AbstractAsyncContextManager[MakeSeat]] = _no_services
    """Returns what makes the seats of web services."""
    check: Check = _no_checks
    """Builds and checks a bot."""


class MatchTable:
    """All matches of the client. Made by `open_matches`."""

    def __init__(self, conditions: Conditions, nursery: trio.Nursery, at_end: ExitStack) -> None:
        self.allowed = conditions.allowed
        self._conditions = conditions
        self._nursery, self._at_end = nursery, at_end
        self._checks = Checks(conditions.check, nursery)
        self._folder: Path | None = None
        self._matches: dict[str, ClientMatch] = {}
        self._begun: Counter[str] = Counter()
        """How many matches of each game have begun."""
        self._starting = 0
        """How many matches are being prepared, which may take a build."""

    async def start(
        self,
        game: Game,
        opponents: Sequence[str],
        player: Player,
        seed: int | None,
        map: str | None,
        options: Mapping[str, Any],
    ) -> ClientMatch:
        """Builds the opponents, begins a match and waits for the client's first turn.

        UsageError for wrong arguments, RunError for a failed build or start.
        """
        with self._start_of_one():
            conditions = self._conditions
            specs = _seated(game, [conditions.allowed.bot(each) for each in opponents], player)
            seed = secrets.randbits(64) if seed is None else rule_options.checked_seed(seed)

            def prepared() -> tuple[Any, tuple[Entrant, ...]]:
                content = {} if map is None else {"map": conditions.allowed.map(game.name, map)}
                values = rule_options.options(game, {**options, **content}, len(specs))
                return values, entrants(specs, game.name, conditions.limits, people=True)

            values, programs = await trio.to_thread.run_sync(prepared, abandon_on_cancel=True)
            self._begun[game.name] += 1
            ident = f"{game.name}-{self._begun[game.name]}"
            replay = self._replay(ident) if conditions.keeps else None
            first = Match(game, programs, seed, values, conditions.time(game.time), replay=replay, fault_reports=True)
            rule_options.first_position(game, first.setup)
            self._forget()
            match = self._matches[ident] = ClientMatch(ident, game, player)
            settings = [f"{name}={_typed(value)}" for name, value in options.items()]
            series = Series(first, again=conditions.command(game, map, settings), bots=tuple(specs))
            self._nursery.start_soon(match.play, series, conditions)
        await match.settled()
        return match

    async def check(self, wanted: Wanted) -> Checked:
        """Checks a bot, or returns how far a check is. UsageError for wrong arguments, RunError if it fails."""
        spec = self.allowed.check(wanted.bot)
        content = {} if wanted.map is None else {"map": self.allowed.map(wanted.game.name, wanted.map)}
        return await self._checks.result(wanted, spec, {**wanted.options, **content})

    @contextmanager
    def _start_of_one(self) -> Iterator[None]:
        """Counts a match that is being prepared. UsageError if there are too many."""
        if len(self.running) + self._starting >= MAX_RUNNING:
            raise UsageError(f"{MAX_RUNNING} matches are running; finish or resign one first")
        self._starting += 1
        try:
            yield
        finally:
            self._starting -= 1

    @property
    def running(self) -> list[ClientMatch]:
        """The matches that go on."""
        return [match for match in self._matches.values() if not match.ended.is_set()]

    def all(self) -> list[ClientMatch]:
        """Returns the matches that go on and the latest that are over, in the order in which they began."""
        return list(self._matches.values())

    def _forget(self) -> None:
        over = [ident for ident, match in self._matches.items() if match.ended.is_set()]
        for ident in over[: max(0, len(over) - MAX_ENDED)]:
            del self._matches[ident]

    def _replay(self, ident: str) -> Path:
        """Returns the file of a match, whose name is new."""
        if self._folder is None:
            self._folder = self._conditions.folder or self._at_end.enter_context(claim_folder("mcp"))
        names = (f"{ident}.jsonl" if number == 1 else f"{ident}.{number}.jsonl" for number in count(1))
        return next(path for path in map(self._folder.joinpath, names) if not path.exists())

    def find(self, ident: str) -> ClientMatch:
        """Returns the match with this identifier. UsageError if there is none, RunError if it could not go on."""
        if ident not in self._matches:
            known = ", ".join(self._matches) or "none yet: new_match starts one"
            raise UsageError(f"there is no match {ident!r}; there are {known}")
        match = self._matches[ident]
        if match.failure is not None:
            raise RunError(match.failure)
        if not match.seat.greeted:
            raise UsageError(f"{ident} is still starting; try again a little later")
        return match


def _seated(game: Game, opponents: Sequence[str], player: Player) -> list[str]:
    """Returns the bots in seat order, with the client's seat. UsageError if they cannot play."""
    bots = [*opponents] or ["@random"] * (game.seats.start - 1)
    rule_options.check_count(game, len(bots) + 1)
    if not 0 <= player <= len(bots):
        raise UsageError(f"seat={player}: expected a seat from 0 to {len(bots)}")
    specs = [*bots[:player], f"{NAME}={PERSON.word}", *bots[player:]]
    check_seats(specs, game.name)
    return specs


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


@asynccontextmanager
async def open_matches(conditions: Conditions) -> AsyncIterator[MatchTable]:
    """Yields a table of matches. Those that are running end with the block, and so do all of their programs."""
    with ExitStack() as at_end, ungrouped():
        async with trio.open_nursery() as nursery:
            yield MatchTable(conditions, nursery, at_end)
            nursery.cancel_scope.cancel()
