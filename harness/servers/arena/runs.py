"""The Arena's runs: battles that a coordinator orders for a team, judged and paid as `referee judge` does.

Rules and interface: tictactoe.md, part C. The requests stand in `referee.harness.servers.arena.arena_routes`.
"""

import logging
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import SystemRandom
from typing import Any
from urllib.parse import urlsplit

import trio
from msgspec import Struct, field

from referee.games import registry
from referee.games.contract import Game, Player
from referee.games.dice import derive_seed
from referee.harness.match.judge import COURSES, Case, Course
from referee.harness.match.play import Match, play
from referee.harness.opponents import OPPONENTS
from referee.harness.programs.spec import Entrant
from referee.harness.seats.roster import Roster
from referee.harness.seats.seat import Seat
from referee.harness.servers.arena.arena_seat import RemotePlayer, Terms
from referee.harness.servers.arena.callbacks import CALL_S, CallFailed, call
from referee.harness.servers.arena.workers import Crew
from referee.harness.servers.builtin_rivals import Hosted, Switch

PATHS = {"tictactoe": "tic-tac-toe", "connectfour": "connect4"}
"""What the original calls a game in its addresses, where that is not our name."""
REFUSAL_S = 0.3
"""A team that refuses a battle says so at once; one that plays it first, and replies then, is not waited for."""
REPLY_S = 3600.0
BATTLES = 2000
"""So many may go on at a time, in each worker."""
KEPT_RUNS = 1000
"""So many runs are remembered, in each worker; the oldest that are over are forgotten."""

log = logging.getLogger("referee.servers.arena")


class NoRoom(Exception):
    """There are as many battles as there may be."""


class NotAllowed(Exception):
    """An address that we were told to call, but may not."""


class Ordered(Struct, eq=False):
    """A battle of a run."""

    ident: str
    game: Game
    case: Case
    seat: Player
    """The client's."""
    client: RemotePlayer
    score: int | None = None
    """Set when it is decided."""
    error: str | None = None
    """Why the team could not be told of it."""
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    paid: trio.Event = field(default_factory=trio.Event)
    """Set with the score."""
    record: dict[str, Any] | None = None
    """Its view when it was over."""

    def close(self, score: int) -> None:
        """It is over; of the position nothing is kept but its record."""
        self.score = score
        self.record = self.view()
        self.client.close()
        self.paid.set()

    async def settled(self) -> None:
        """Waits for the score of a battle that is decided: its last event is told a moment before."""
        battle = self.client.battle
        if battle is not None and battle.result is not None:
            await self.paid.wait()

    def view(self) -> dict[str, Any]:
        """The battle's record; what is not decided yet is not there."""
        if self.record is not None:
            return self.record
        shown = {
            "id": self.ident,
            "caseType": self.case.name,
            "externalPlayer": self.client.side or None,
            "clock": round(self.client.clock_ms),
            "score": self.score,
        }
        if (state := self.client.battle) is not None:
            record = state.record((0, 0))
            shown |= {name: record[name] for name in ("result", "flippedBy", "flippedReason", "moves")}
        return {name: value for name, value in shown.items() if value is not None}

    def message(self) -> str:
        """What became of it, in words for the team."""
        if self.error is not None:
            return self.error
        view = self.view()
        if "result" not in view:
            return "the battle was broken off"
        reason = None if self.score else view.get("flippedReason")
        return reason or f"scored {self.score}"


class Run(Struct, eq=False):
    """What a coordinator has ordered: a battle a case."""

    ident: str
    game: Game
    course: Course
    team_url: str
    callback_url: str | None
    battles: list[Ordered] = []
    reported: bool = False
    since: float = field(default_factory=time.perf_counter)
    """When it was ordered."""

    @property
    def over(self) -> bool:
        """Whether every battle has its score."""
        return all(battle.score is not None for battle in self.battles)

    @property
    def score(self) -> int:
        """The plain sum; nothing if the team could not be told of a battle."""
        return 0 if self.errors else sum(battle.score or 0 for battle in self.battles)

    @property
    def errors(self) -> dict[str, str]:
        """By battle, why the team could not be told of it."""
        return {battle.ident: battle.error for battle in self.battles if battle.error is not None}

    def message(self) -> str:
        """A line a battle; where the team could not be told, why."""
        if self.errors:
            return ", ".join(dict.fromkeys(self.errors.values()))
        return "\n".join(f"{battle.ident}: {battle.message()}" for battle in self.battles)


class Settings(Struct, frozen=True):
    """How an Arena is run."""

    allow: frozenset[str] = frozenset({"127.0.0.1", "localhost", "::1"})
    """The hosts that we call: teams and coordinators."""
    callback_token: str | None = None
    """What a coordinator knows us by."""
    replays: Path | None = None
    """The folder of the records, one a battle; None = none is kept."""
    seed: int | None = None
    """What the seeds of all battles are derived from; None = each is drawn."""


class Arena:
    """All runs. `seats` are given by the roster to whom they belong; battles are played in the nursery."""

    def __init__(
        self,
        roster: Roster,
        seats: dict[Entrant, Seat],
        nursery: trio.Nursery,
        terms: Terms,
        settings: Settings,
        crew: Crew,
    ) -> None:
        self.games: dict[str, Game] = {}
        """By the name in addresses: those with a judged run."""
        for game in games():
            self.games[path_of(game)] = game
        self.terms = terms
        self.settings = settings
        self.runs: dict[str, Run] = {}
        self.battles: dict[str, Ordered] = {}
        self.crew = crew
        self.switch = Switch()
        """While it is off no opponent replies."""
        self._roster = roster
        self._running = 0
        self._count = crew.number
        self._elsewhere: dict[str, tuple[float, int]] = {}
        """Runs of other workers: since when, and whose."""
        self._nursery = nursery
        self._seats = seats
        self._random = SystemRandom()

    async def evaluate(
        self, game: Game, ident: str, team_url: str, callback_url: str | None, case_type: str | None = None
    ) -> Run:
        """Makes a run's battles, all cases or the one that is named, and has the team know of each.

        NotAllowed, NoRoom. What happens in the battles is reported by the callback.
        """
        for url in filter(None, (team_url, callback_url)):
            self.check_url(url)
        course = COURSES[game.name]
        cases = [case for case in course.cases if case.name == case_type] or list(course.cases)
        if self._running + len(cases) > BATTLES:
            raise NoRoom
        run = Run(ident, game, course, team_url, callback_url)
        run.battles = [self._order(game, case) for case in cases]
        self._remember(run)
        for battle in run.battles:
            self._nursery.start_soon(self._fight, run, battle)
        await self.crew.tell(ident, run.since)
        for battle in self._random.sample(run.battles, len(run.battles)):
            await self._announce(run, battle)
            if run.errors:
                break
        if run.errors:
            self._break_off(run)
        return run

    def check_url(self, url: str) -> None:
        """NotAllowed unless it is one that we may call."""
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            _ = parts.port
        except ValueError:
            raise NotAllowed(f"{url[:100]} is no URL") from None
        if parts.scheme not in ("http", "https") or parts.username is not None:
            raise NotAllowed(f"{url[:100]} is no plain http URL")
        if "*" not in self.settings.allow and host not in self.settings.allow:
            raise NotAllowed(f"{host} is no host that is called from here; --allow adds it")

    # Of several workers.

    def place_of_run(self, ident: str) -> int | None:
        """The number of the other worker that has the run."""
        return None if ident in self.runs or ident not in self._elsewhere else self._elsewhere[ident][1]

    def taken(self, ident: str, since: float, number: int) -> None:
        """Another worker has a run of this id: as in one process, the later of two is left."""
        if (own := self.runs.get(ident)) is not None:
            if (own.since, self.crew.number) > (since, number):
                return
            self._replace(own)
        seen = since, number
        self._elsewhere[ident] = max(seen, self._elsewhere.pop(ident, seen))
        if len(self._elsewhere) > KEPT_RUNS * (self.crew.of - 1):
            del self._elsewhere[next(iter(self._elsewhere))]

    # One battle.

    def _order(self, game: Game, case: Case) -> Ordered:
        rival_seat = OPPONENTS[case.name].seats[game.name]
        client = RemotePlayer(self.crew.draw(), self.terms, self.switch)
        return Ordered(client.ident, game, case, 1 if rival_seat == 0 else 0, client)

    async def _fight(self, run: Run, battle: Ordered) -> None:
        """Plays it to its score."""
        game, case = battle.game, battle.case
        rival = Entrant(f"@{case.name}", ("hosted", battle.ident), Path(), OPPONENTS[case.name].injects)
        client = Entrant("team", ("client", battle.ident), Path(), remote=True)
        self._seats[rival] = Hosted(case.name, self.switch)
        self._seats[client] = battle.client
        self._count += self.crew.of  # no two workers ever have the same number
        seed = self.settings.seed
        folder = self.settings.replays
        match = Match(
            game=game,
            entrants=(rival, client) if battle.seat == 1 else (client, rival),
            seed=self._random.getrandbits(64) if seed is None else derive_seed(seed, "battle", self._count),
            options=game.options(**run.course.options),
            time=game.time,
            replay=None if folder is None else folder / f"{path_of(game)}-{battle.ident}.jsonl",
        )
        self._running += 1
        score = 0
        try:
            with battle.scope:
                verdict = await play(match, self._roster)
                score = case.pay(verdict, battle.seat, case.points)
        except Exception as error:
            log.exception("battle %s of run %s failed", battle.ident, run.ident)
            battle.error = f"the arena failed: {type(error).__name__}"
        finally:
            self._running -= 1
            self._seats.pop(rival, None)
            self._seats.pop(client, None)
            battle.close(score)
        if run.over:
            await self._report(run)

    # The team and the coordinator.

    async def _announce(self, run: Run, battle: Ordered) -> None:
        """Has the team know of a battle; `battle.error` says why it does not. Its reply may come much later."""
        sent = trio.Event()
        self._nursery.start_soon(self._invite, run, battle, sent)
        with trio.move_on_after(CALL_S):
            await sent.wait()
            with trio.move_on_after(REFUSAL_S):
                await battle.client.announced.wait()

    async def _invite(self, run: Run, battle: Ordered, sent: trio.Event) -> None:
        url = f"{run.team_url.rstrip('/')}/{path_of(run.game)}"
        try:
            await call(url, {"battleId": battle.ident}, {}, REPLY_S, sent)
        except CallFailed as error:
            if battle.score is None:
                battle.error = f"{url}: {error}"
                if battle.client.announced.is_set():
                    return
                self._break_off(run)
        finally:
            sent.set()
            battle.client.announced.set()

    def _break_off(self, run: Run) -> None:
        for battle in run.battles:
            battle.scope.cancel()

    async def _report(self, run: Run) -> None:
        """Tells the coordinator, once."""
        if run.reported or run.callback_url is None:
            return
        run.reported = True
        token = self.settings.callback_token
        headers = {} if token is None else {"Authorization": token}
        report = {"runId": run.ident, "score": run.score, "message": run.message()}
        try:
            await call(run.callback_url, report, headers, CALL_S)
        except CallFailed as error:
            log.warning("run %s: the coordinator did not take the score: %s", run.ident, error)

    def _remember(self, run: Run) -> None:
        too_many = max(0, len(self.runs) - KEPT_RUNS + 1)
        for ident in list(islice((ident for ident, old in self.runs.items() if old.over), too_many)):
            self._forget(self.runs.pop(ident))
        if (same := self.runs.get(run.ident)) is not None:
            self._replace(same)
        self.runs[run.ident] = run
        self._elsewhere.pop(run.ident, None)
        self.battles.update((battle.ident, battle) for battle in run.battles)

    def _replace(self, run: Run) -> None:
        """Another has its id now, and reports; what its own battles were is remembered as long as of any run."""
        run.reported = True
        self._break_off(run)
        self.runs[run.battles[0].ident] = self.runs.pop(run.ident)

    def _forget(self, run: Run) -> None:
        for battle in run.battles:
            self.battles.pop(battle.ident, None)


def games() -> Iterator[Game]:
    """The Arena games that have a judged run."""
    for name in COURSES:
        if name in registry.names():
            yield registry.game(name)


def path_of(game: Game) -> str:
    """The game's name in addresses."""
    return PATHS.get(game.name, game.name)
