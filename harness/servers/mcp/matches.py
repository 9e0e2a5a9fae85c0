"""The matches of a client, in each of which it has a seat. They end when the client goes."""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from referee.games.contract import Call, Fault, FaultKind, Notice, Player, State
from referee.games.dice import Dice
from referee.games.game import Game, TimeControl
from referee.harness.errors import RunError, UsageError
from referee.harness.match import maps, rule_options
from referee.harness.match.match import Match
from referee.harness.match.series import People, Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.nurseries import ungrouped
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import WORD, check_seats, entrants, split_name
from referee.harness.replay.writer import claim_folder
from referee.harness.seats.person import Person

NAME = "assistant"
"""The client's name at its seat."""
MAX_RUNNING = 8
"""Most matches at a time. Each has its own processes."""
RESIGNED_S = 5.0
"""How long a resignation waits for the end of the match, which goes on if others are left."""


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

    async def play(self, series: Series, limits: Limits) -> None:
        """Plays the match to its end."""
        try:
            with ungrouped():
                outcome = await play_series(series, limits, people=People(lambda entrant: self.seat))
            self.verdict = outcome.matches[0]
        except RunError as error:
            self.failure = str(error)
        finally:
            self.seat.asked = None
            self.ended.set()
            self.seat.changed.set()


class Conditions(Struct, frozen=True):
    """How all matches are played."""

    limits: Limits = Limits()
    time: Callable[[TimeControl], TimeControl] = lambda time: time
    """Returns the time control of the programs, from the game's own."""
    command: Callable[[Game, str | None, Sequence[str]], tuple[str, ...]] = lambda game, map, settings: ()
    """Returns the command line that plays with a map and settings such as `rows=4`, without seed and bots."""
    folder: Path | None = None
    """The folder for replays; None: a new one in ./replays, made with the first match."""
    keeps: bool = True
    """Whether there are replays."""


class MatchTable:
    """All matches of the client. Made by `open_matches`."""

    def __init__(self, conditions: Conditions, nursery: trio.Nursery, at_end: ExitStack) -> None:
        self._conditions = conditions
        self._nursery, self._at_end = nursery, at_end
        self._folder: Path | None = None
        self._matches: dict[str, ClientMatch] = {}

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
        if sum(not match.ended.is_set() for match in self._matches.values()) >= MAX_RUNNING:
            raise UsageError(f"{MAX_RUNNING} matches are running; finish or resign one first")
        specs = _seated(game, opponents, player)
        conditions = self._conditions
        content = {} if map is None else {"map": maps.read(game.name, map)}
        values = rule_options.options(game, {**options, **content}, len(specs))
        seed = secrets.randbits(64) if seed is None else rule_options.checked_seed(seed)
        build = partial(entrants, specs, game.name, conditions.limits, people=True)
        programs = await trio.to_thread.run_sync(build, abandon_on_cancel=True)
        ident = f"{game.name}-{1 + sum(match.game is game for match in self._matches.values())}"
        replay = self._replay(ident) if conditions.keeps else None
        first = Match(game, programs, seed, values, conditions.time(game.time), replay=replay, bundles=True)
        rule_options.first_position(game, first.setup)
        match = self._matches[ident] = ClientMatch(ident, game, player)
        settings = [f"{name}={_typed(value)}" for name, value in options.items()]
        series = Series(first, again=conditions.command(game, map, settings), bots=tuple(specs))
        self._nursery.start_soon(match.play, series, conditions.limits)
        await match.settled()
        return match

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
    for bot in bots:
        if split_name(bot)[1] == WORD:
            raise UsageError(f"{bot}: the other seats are for programs; name a built-in bot or a file")
    specs = [*bots[:player], f"{NAME}={WORD}", *bots[player:]]
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
