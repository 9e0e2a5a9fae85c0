"""The Arena's runs: battles that a coordinator orders for a team, scored as `referee judge` does.

Rules and interface: tictactoe.md, part C. The requests are in `referee.addons.arena.arena_routes`.
"""

import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import SystemRandom
from typing import Any

import trio
from msgspec import Struct, field
from starlette.exceptions import HTTPException

from referee.addons.arena.arena_seat import ArenaSeat, Terms
from referee.addons.arena.callbacks import CALL_S, CallFailed, Coordinator, call, plain_url
from referee.addons.arena.judge import JUDGE_PLANS, Case, JudgePlan
from referee.addons.arena.kind import SERVICE
from referee.addons.web.server.shards import Shard
from referee.addons.web.serving.builtin_rivals import BuiltinRival
from referee.addons.web.serving.match_host import MatchHost
from referee.games import registry
from referee.games.contract import Player
from referee.games.game import Game
from referee.harness.match.match import Match
from referee.harness.match.pause import PauseControl
from referee.harness.opponents import OPPONENTS
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import CHEAT, PATH

PATHS = {"tictactoe": "tic-tac-toe", "connectfour": "connect4"}
"""The original's name of a game in addresses, where it differs from ours."""
REFUSAL_S = 0.3
"""How long we wait for a team to refuse a battle. A team may play it first and reply afterwards."""
REPLY_S = 3600.0
BATTLES = 2000
"""The most that may go on at a time."""
KEPT_RUNS = 1000
"""How many runs are kept. The oldest that are over are dropped."""

log = logging.getLogger("referee.servers.arena")


class ArenaBattle(Struct, eq=False):
    """A battle of a run."""

    ident: str
    game: Game
    case: Case
    seat: Player
    """The client's."""
    client: ArenaSeat
    score: int | None = None
    """None until the battle is over."""
    error: str | None = None
    """Why the battle could not be announced to the team, or failed."""
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    paid: trio.Event = field(default_factory=trio.Event)
    """Set with the score."""
    record: dict[str, Any] | None = None
    """The view when it was over."""

    def close(self, score: int) -> None:
        """Ends the battle and keeps only its record."""
        self.score = score
        self.record = self.view()
        self.client.close()
        self.paid.set()

    async def settled(self) -> None:
        """Waits for the score of a battle that is decided: its last event is sent a moment earlier."""
        battle = self.client.battle
        if battle is not None and battle.result is not None:
            await self.paid.wait()

    def view(self) -> dict[str, Any]:
        """Returns the battle's record, without what is not decided yet."""
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
        """Returns the outcome in words for the team."""
        if self.error is not None:
            return self.error
        view = self.view()
        if "result" not in view:
            return "the battle was broken off"
        reason = None if self.score else view.get("flippedReason")
        return reason or f"scored {self.score}"


class Run(Struct, eq=False):
    """An order of a coordinator: one battle for each case."""

    ident: str
    game: Game
    course: JudgePlan
    team_url: str
    callback_url: str | None
    battles: list[ArenaBattle] = []
    reported: bool = False

    @property
    def over(self) -> bool:
        """Whether every battle has its score."""
        return all(battle.score is not None for battle in self.battles)

    @property
    def score(self) -> int:
        """The sum of the battles; 0 if one could not be announced."""
        return 0 if self.errors else sum(battle.score or 0 for battle in self.battles)

    @property
    def errors(self) -> dict[str, str]:
        """By battle, why it could not be announced."""
        return {battle.ident: battle.error for battle in self.battles if battle.error is not None}

    def message(self) -> str:
        """Returns a line for each battle, or the errors."""
        if self.errors:
            return ", ".join(dict.fromkeys(self.errors.values()))
        return "\n".join(f"{battle.ident}: {battle.message()}" for battle in self.battles)


class Settings(Struct, frozen=True):
    """The options of a server."""

    allow: frozenset[str] = frozenset({"127.0.0.1", "localhost", "::1"})
    """The hosts of teams and coordinators that we may call."""
    coordinator: Coordinator | None = None
    callback_token: str | None = None
    """Sent to the coordinator as `Authorization`, and to no other address."""
    replays: Path | None = None
    """The folder for the replays, one per battle; None keeps none."""
    seed: int | None = None
    """All battles' seeds are derived from it; None draws each."""


class Arena:
    """All runs and their battles."""

    def __init__(self, host: MatchHost, terms: Terms, settings: Settings, shard: Shard = Shard()) -> None:  # noqa: B008
        self.games = {path_of(game): game for game in games()}
        """The games with a scored run, by the name in addresses."""
        self.terms = terms
        self.settings = settings
        self.shard = shard
        self.runs: dict[str, Run] = {}
        self.battles: dict[str, ArenaBattle] = {}
        self.pause = PauseControl()
        """While it is paused, no opponent replies."""
        self._host = host
        self._open = 0
        self._count = 0
        self._random = SystemRandom()

    async def evaluate(
        self, game: Game, ident: str, team_url: str, callback_url: str | None, case_type: str | None = None
    ) -> Run:
        """Starts a run: one battle for each case, or for the named one, and announces each to the team.

        The callback reports the score later. Raises HTTPException.
        """
        self.check_url(team_url)
        if callback_url is not None and not self._is_coordinator(callback_url):
            self.check_url(callback_url)
        course = JUDGE_PLANS[game.name]
        cases = [case for case in course.cases if case.name == case_type] or list(course.cases)
        if self._open + len(cases) > BATTLES:
            raise HTTPException(503, "too many battles are being played; try again later")
        run = Run(ident, game, course, team_url, callback_url)
        run.battles = [self._new_battle(game, case) for case in cases]
        self._remember(run)
        for battle in run.battles:
            self._host.nursery.start_soon(self._play, run, battle)
        for battle in self._random.sample(run.battles, len(run.battles)):
            await self._announce(run, battle)
            if run.errors:
                self._cancel(run)
                break
        return run

    def check_url(self, url: str) -> None:
        """Raises HTTPException 400 unless we may call this URL."""
        try:
            host = plain_url(url).host
        except CallFailed as error:
            raise HTTPException(400, str(error)) from None
        if "*" not in self.settings.allow and host not in self.settings.allow:
            raise HTTPException(400, f"{host} may not be called from here; --allow adds it")

    def _is_coordinator(self, url: str) -> bool:
        return self.settings.coordinator is not None and self.settings.coordinator.has(url)

    # One battle.

    def _new_battle(self, game: Game, case: Case) -> ArenaBattle:
        rival_seat = OPPONENTS[case.name].seats[game.name]
        client = ArenaSeat(self.shard.new_ident(), self.terms, self.pause)
        return ArenaBattle(client.ident, game, case, 1 if rival_seat == 0 else 0, client)

    async def _play(self, run: Run, battle: ArenaBattle) -> None:
        """Plays a battle and scores it. Reports the run after its last one."""
        self._open += 1
        score = 0
        try:
            with battle.scope:
                seats = [BuiltinRival(battle.case.name, self.pause), battle.client]
                verdict = await self._host.play(self._match(run, battle), seats if battle.seat == 1 else seats[::-1])
                score = battle.case.pay(verdict, battle.seat, battle.case.points)
        except Exception as error:
            log.exception("battle %s of run %s failed", battle.ident, run.ident)
            battle.error = f"the arena failed: {type(error).__name__}"
        finally:
            self._open -= 1
            battle.close(score)
        if run.over:
            await self._report(run)

    def _match(self, run: Run, battle: ArenaBattle) -> Match:
        game, case = battle.game, battle.case
        kind = CHEAT if OPPONENTS[case.name].injects else PATH
        rival = Entrant(f"@{case.name}", ("hosted", battle.ident), Path(), kind.name)
        client = Entrant("team", ("client", battle.ident), Path(), SERVICE.name)
        self._count += 1
        folder = self.settings.replays
        return Match(
            game=game,
            entrants=(rival, client) if battle.seat == 1 else (client, rival),
            seed=self._host.match_seed("battle", self._count),
            options=game.options(**run.course.options),
            time=game.time,
            replay=None if folder is None else folder / f"{path_of(game)}-{battle.ident}.jsonl",
        )

    # The team and the coordinator.

    async def _announce(self, run: Run, battle: ArenaBattle) -> None:
        """Announces a battle to the team, or sets `battle.error`. The team's reply may come much later."""
        sent = trio.Event()
        self._host.nursery.start_soon(self._call_team, run, battle, sent)
        with trio.move_on_after(CALL_S):
            await sent.wait()
            with trio.move_on_after(REFUSAL_S):
                await battle.client.announced.wait()

    async def _call_team(self, run: Run, battle: ArenaBattle, sent: trio.Event) -> None:
        url = f"{run.team_url.rstrip('/')}/{path_of(run.game)}"
        try:
            await call(url, {"battleId": battle.ident}, {}, REPLY_S, sent)
        except CallFailed as error:
            if battle.score is None:
                battle.error = f"{url}: {error}"
                if not battle.client.announced.is_set():
                    self._cancel(run)
        finally:
            sent.set()
            battle.client.announced.set()

    def _cancel(self, run: Run) -> None:
        for battle in run.battles:
            battle.scope.cancel()

    async def _report(self, run: Run) -> None:
        """Reports the score to the coordinator, once."""
        if run.reported or run.callback_url is None:
            return
        run.reported = True
        token = self.settings.callback_token
        headers = {"Authorization": token} if token is not None and self._is_coordinator(run.callback_url) else {}
        report = {"runId": run.ident, "score": run.score, "message": run.message()}
        try:
            await call(run.callback_url, report, headers, CALL_S)
        except CallFailed as error:
            log.warning("run %s: the coordinator did not take the score: %s", run.ident, error)

    def _remember(self, run: Run) -> None:
        """Adds a run, drops the oldest that are over, and cancels another run of the same id."""
        too_many = max(0, len(self.runs) - KEPT_RUNS + 1)
        for ident in list(islice((ident for ident, old in self.runs.items() if old.over), too_many)):
            for battle in self.runs.pop(ident).battles:
                self.battles.pop(battle.ident, None)
        if (replaced := self.runs.get(run.ident)) is not None:
            replaced.reported = True
            self._cancel(replaced)
            self.runs[replaced.battles[0].ident] = self.runs.pop(run.ident)  # its battles can still be viewed
        self.runs[run.ident] = run
        self.battles.update((battle.ident, battle) for battle in run.battles)


def games() -> Iterator[Game]:
    """Yields the Arena's games that have a scored run."""
    for name in JUDGE_PLANS:
        if name in registry.names():
            yield registry.game(name)


def path_of(game: Game) -> str:
    """Returns the game's name in addresses."""
    return PATHS.get(game.name, game.name)
