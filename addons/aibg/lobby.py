"""AIBG's games: who is at which seat, on which map, for how long (aibg5.md, 13.3, 13.4)."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import trio
from msgspec import Raw
from starlette.exceptions import HTTPException

from referee.addons.aibg.aibg_seat import AibgSeat, StateTexts
from referee.addons.web.server.link import WebLink
from referee.addons.web.serving.builtin_rivals import BuiltinRival
from referee.addons.web.serving.match_host import MatchHost
from referee.games import registry
from referee.games.aibg5 import AIBG5, SEATS, Shot
from referee.games.contract import Call, Event, Notice, Player, State
from referee.games.game import TimeControl
from referee.harness.common import maps
from referee.harness.match import rule_options
from referee.harness.match.bell import Bell
from referee.harness.match.match import Match
from referee.harness.match.verdict import Verdict
from referee.harness.programs.entrant import Entrant

GAME = registry.game("aibg5")
ORIGINAL_MAPS: Mapping[str, str] = {
    "test1": "practice1",
    "test2": "practice2",
    "FirstRoundTopicAIBGaziBre": "first_round",
    "FinalMapTopicAIBGaziBre": "final",
}
"""Our maps for the names that clients know from the competition (13.5)."""
JOIN_S = 100.0
"""How long joinGame waits for the other players."""
TRAINING_MINUTES = 10.0
GAME_MINUTES = 60.0
FIRST_TRAINING = 1000
"""The smallest id of a training game. Games count from 0."""
KEPT = 200
"""How many games that are over are kept."""
TRAINING_GAMES = 200
"""The most that may go on at a time."""

log = logging.getLogger("referee.servers.aibg")


class AibgGame:
    """One game."""

    def __init__(
        self, link: WebLink, number: int, names: Sequence[str], trainee: str | None, minutes: float, map_name: str
    ) -> None:
        self.number = number
        self.names = tuple(names)
        self.map_name = map_name
        self.minutes = minutes
        self.trainee = trainee
        """The user who trains here; None for a game of four users."""
        self.seats = {name: AibgSeat(link, trainee is not None) for name in names if trainee in (None, name)}
        self.joined: set[str] = set()
        self.waiting: Counter[str] = Counter()
        """Requests of each user that wait for the others. A client that gives up and retries leaves one behind."""
        self.started = trio.Event()
        self.over = False
        self.verdict: Verdict | None = None
        self.texts = StateTexts(frozenset(n for n, name in enumerate(names, start=1) if name not in self.seats))
        self.shot = "null"
        """The attack of the last action, as JSON."""
        self.changed = Bell()
        """Rings for viewers."""
        self.scope = trio.CancelScope()
        self._now = link.clock.now
        self._ends_at = inf

    @property
    def state(self) -> AIBG5 | None:
        """The position; None before the game."""
        return next((seat.state for seat in self.seats.values()), None)

    def start_clock(self) -> None:
        """Starts the game's time."""
        self._ends_at = self._now() + self.minutes * 60
        if self.trainee is not None:
            self.seats[self.trainee].until = self._ends_at

    @property
    def left_ms(self) -> int:
        """What remains of the game's time."""
        left_s = self.minutes * 60 if self._ends_at == inf else self._ends_at - self._now()
        return 0 if self.over else max(0, round(left_s * 1000))

    def position(self) -> Raw:
        """Returns the position as JSON within a JSON text."""
        return Raw(b'"null"') if self.state is None else self.texts.encode(self.state.game_state())

    def watch(
        self, state: State, calls: Sequence[Call], answers: Mapping[Player, Any], events: Sequence[Event]
    ) -> None:
        """Notes what the viewers see after an action."""
        self.shot = "null"
        for event in events:
            if isinstance(event, Notice) and isinstance(event.params, Shot):
                shot = event.params
                self.shot = f'{{"playerIdx":{shot.playerIdx},"q":{shot.q},"r":{shot.r}}}'
        self.changed.ring()

    def end(self) -> None:
        """Answers every open request, and tells the viewers."""
        self.over = True
        for seat in self.seats.values():
            seat.leave()
        self.changed.ring()


class Lobby:
    """All games. `replays` is the folder of their replays."""

    link: WebLink
    """To the web process, by whose clock players are charged. Set once it is there."""

    def __init__(self, host: MatchHost, replays: Path | None) -> None:
        self.games: dict[int, AibgGame] = {}
        self._host = host
        self._replays = replays
        self._count = 0

    def create(self, names: Sequence[str], minutes: float, map_name: str) -> AibgGame:
        """Creates a game of four users, in the order of their numbers. Raises HTTPException."""
        if len(names) != SEATS or len(set(names)) != SEATS:
            raise HTTPException(400, f"a game has {SEATS} different players")
        for name in names:
            if (other := self.game_of(name)) is not None and not other.over:
                raise HTTPException(400, f"{name} is in game {other.number}, which is not over")
        return self._add(names, None, _minutes(minutes, GAME_MINUTES), map_name)

    async def train(self, user: str, index: int, minutes: float, map_name: str) -> AibgGame:
        """Starts a training game with the user as `playerIdx` `index`, and returns at the user's first turn.

        Raises HTTPException.
        """
        if (other := self.game_of(user, training=True)) is not None and not other.over:
            raise HTTPException(400, "you are in a training game already")
        if not 1 <= index <= SEATS:
            raise HTTPException(400, f"playerIdx must be 1 to {SEATS}")
        if sum(game.trainee is not None and not game.over for game in self.games.values()) >= TRAINING_GAMES:
            raise HTTPException(400, "too many training games are being played; try again later")
        names = [user if number == index else f"Bot{number}" for number in range(1, SEATS + 1)]
        if len(set(names)) < SEATS:
            raise HTTPException(400, f"{user} is the name of a training bot")
        game = self._add(names, user, _minutes(minutes, TRAINING_MINUTES), map_name)
        self._start(game)
        await game.seats[user].first.ready.wait()
        return game

    async def join(self, game: AibgGame, user: str) -> None:
        """Waits until all four have joined. Raises HTTPException if that takes too long or the game is over."""
        if game.over:
            raise HTTPException(400, "The game is over.")
        game.joined.add(user)
        if len(game.joined) == SEATS and not game.started.is_set():
            self._start(game)
        game.waiting[user] += 1
        with trio.move_on_after(JOIN_S) as waiting:
            await game.started.wait()
        game.waiting[user] -= 1
        if waiting.cancelled_caught:
            if not game.waiting[user]:
                game.joined.discard(user)
            raise HTTPException(400, "You have waited too long for the others.")
        await game.seats[user].first.ready.wait()
        if game.state is None:
            raise HTTPException(400, "The game is over.")

    def delete(self, number: int, training: bool) -> None:
        """Ends a game and forgets it. Raises HTTPException."""
        game = self.games.get(number)
        if game is None or (game.trainee is not None) is not training:
            raise HTTPException(400, f"there is no {'training ' if training else ''}game {number}")
        game.scope.cancel()
        game.end()
        del self.games[number]

    def game_of(self, user: str, training: bool = False) -> AibgGame | None:
        """Returns the user's latest game or training game."""
        games = [game for game in self.games.values() if user in game.seats and (game.trainee is not None) is training]
        return games[-1] if games else None

    def _add(self, names: Sequence[str], trainee: str | None, minutes: float, map_name: str) -> AibgGame:
        map_name = map_name.removesuffix(".txt")
        map_name = ORIGINAL_MAPS.get(map_name, map_name)
        if map_name not in maps.names("aibg5"):
            raise HTTPException(400, f"unknown mapName; expected one of {', '.join(maps.names('aibg5'))}")
        for old in [number for number, game in self.games.items() if game.over][: max(0, len(self.games) - KEPT)]:
            del self.games[old]
        smallest = 0 if trainee is None else FIRST_TRAINING
        number = next(number for number in count(smallest) if number not in self.games)
        self.games[number] = game = AibgGame(self.link, number, names, trainee, minutes, map_name)
        return game

    def _start(self, game: AibgGame) -> None:
        game.started.set()
        self._host.nursery.start_soon(self._play, game)

    async def _play(self, game: AibgGame) -> None:
        self._count += 1
        try:
            match = self._match(game, self._count)
            seats = [game.seats.get(name) or BuiltinRival("trainer") for name in game.names]
            with game.scope:
                game.start_clock()
                game.verdict = await self._host.play(match, seats, game.watch)
        except Exception as error:
            log.exception("game %d failed: %s", game.number, type(error).__name__)
        finally:
            game.end()

    def _match(self, game: AibgGame, number: int) -> Match:
        kind = "game" if game.trainee is None else "training"
        return Match(
            game=GAME,
            entrants=tuple(
                Entrant(name, ("client" if name in game.seats else "@trainer", str(number)), Path())
                for name in game.names
            ),
            seed=self._host.match_seed("game", number),
            options=rule_options.options(GAME, {"map": maps.read(GAME.name, game.map_name)}, SEATS),
            time=TimeControl(
                per_call_s=GAME.time.per_call_s if game.trainee is None else None, match_s=game.minutes * 60
            ),
            replay=self._replays and self._replays / f"aibg-{number:04d}-{kind}-{game.number}.jsonl",
        )


def _minutes(minutes: float, limit: float) -> float:
    if not 0 < minutes <= limit:
        raise HTTPException(400, f"time must be more than 0 and at most {limit:g} minutes")
    return minutes
