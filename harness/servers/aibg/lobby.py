"""AIBG's games as its front knows them: who plays where, on which map, for how long (aibg5.md, 13.3, 13.4)."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from math import inf
from pathlib import Path
from random import SystemRandom
from typing import Any

import trio
from msgspec import Raw

from referee.games import registry
from referee.games.aibg5 import AIBG5, SEATS, Shot
from referee.games.contract import Call, Event, Notice, Player, State, TimeControl
from referee.games.dice import derive_seed
from referee.harness.bell import Bell
from referee.harness.match import maps, rule_options
from referee.harness.match.play import Match, play
from referee.harness.match.verdict import Verdict
from referee.harness.process.stall_clock import now
from referee.harness.programs.spec import Entrant
from referee.harness.seats.roster import Roster
from referee.harness.seats.seat import Seat
from referee.harness.servers.aibg.aibg_seat import HexPlayer, Texts
from referee.harness.servers.builtin_rivals import Hosted

GAME = registry.game("aibg5")
ORIGINAL_MAPS: Mapping[str, str] = {
    "test1": "practice1",
    "test2": "practice2",
    "FirstRoundTopicAIBGaziBre": "first_round",
    "FinalMapTopicAIBGaziBre": "final",
}
"""What clients call maps that they know from the competition (13.5), and what is played on instead."""
JOIN_S = 100.0
"""How long joinGame waits for the others."""
TRAINING_MINUTES = 10.0
GAME_MINUTES = 60.0
FIRST_TRAINING = 1000
"""Games and training games have ids of their own."""
KEPT = 200
"""So many games that are over are remembered."""
TRAINING_ROOMS = 200

log = logging.getLogger("referee.servers.aibg")


class Refused(Exception):
    """What was asked for cannot be; in words for whoever asked."""


class Room:
    """One game."""

    def __init__(self, number: int, names: Sequence[str], user: str | None, minutes: float, map_name: str) -> None:
        self.number = number
        self.names = tuple(names)
        self.map_name = map_name
        self.minutes = minutes
        self.trainee = user
        """Who trains here; None: it is a game of four."""
        make = HexPlayer if user is None else HexPlayer.in_training
        self.players = {name: make(name) for name in names if user in (None, name)}
        self.joined: set[str] = set()
        self.waiting: Counter[str] = Counter()
        """How many requests of each wait for the others: a client that gives up and asks anew leaves one behind."""
        self.begun = trio.Event()
        self.over = False
        self.verdict: Verdict | None = None
        self.texts = Texts(frozenset(n for n, name in enumerate(names, start=1) if name not in self.players))
        self.shot = "null"
        """The attack of the last action, as JSON."""
        self.changed = Bell()
        """For viewers."""
        self.scope = trio.CancelScope()
        self._ends_at = inf

    @property
    def state(self) -> AIBG5 | None:
        """The position; None before the game."""
        return next((player.state for player in self.players.values()), None)

    def start_clock(self) -> None:
        """The time of the game runs from now on."""
        self._ends_at = now() + self.minutes * 60
        if self.trainee is not None:
            for player in self.players.values():
                player.until = self._ends_at

    @property
    def left_ms(self) -> int:
        """What is left of the game's time."""
        left_s = self.minutes * 60 if self._ends_at == inf else self._ends_at - now()
        return 0 if self.over else max(0, round(left_s * 1000))

    def position(self) -> Raw:
        """The position as everybody sees it, as JSON within a JSON text."""
        return Raw(b'"null"') if self.state is None else self.texts.of(self.state.game_state())

    def watch(
        self, state: State, calls: Sequence[Call], answers: Mapping[Player, Any], events: Sequence[Event]
    ) -> None:
        """After every action."""
        self.shot = "null"
        for event in events:
            if isinstance(event, Notice) and isinstance(event.params, Shot):
                shot = event.params
                self.shot = f'{{"playerIdx":{shot.playerIdx},"q":{shot.q},"r":{shot.r}}}'
        self.changed.ring()


class Rooms:
    """All games. They are played in `nursery`."""

    def __init__(
        self, roster: Roster, seats: dict[Entrant, Seat], nursery: trio.Nursery, folder: Path | None, seed: int | None
    ) -> None:
        self.rooms: dict[int, Room] = {}
        self._roster = roster
        self._seats = seats
        self._nursery = nursery
        self._folder = folder
        self._seed = seed
        self._random = SystemRandom()
        self._count = 0

    def create(self, names: Sequence[str], minutes: float, map_name: str) -> Room:
        """A game of these four, in the order of their numbers. Refused."""
        if len(names) != SEATS or len(set(names)) != SEATS:
            raise Refused(f"a game has {SEATS} different players")
        for name in names:
            if (other := self.of(name)) is not None and not other.over:
                raise Refused(f"{name} is in game {other.number}, which is not over")
        return self._room(names, None, _minutes(minutes, GAME_MINUTES), map_name)

    async def train(self, user: str, index: int, minutes: float, map_name: str) -> Room:
        """A training game, in which that user has that `playerIdx`; it is on the move or the game is over. Refused."""
        if (other := self.of(user, training=True)) is not None and not other.over:
            raise Refused("you are in a training game already")
        if not 1 <= index <= SEATS:
            raise Refused(f"playerIdx is 1 to {SEATS}")
        if sum(room.trainee is not None and not room.over for room in self.rooms.values()) >= TRAINING_ROOMS:
            raise Refused("as many training games go on as there may be; come again")
        names = [user if number == index else f"Bot{number}" for number in range(1, SEATS + 1)]
        if len(set(names)) < SEATS:
            raise Refused(f"{user} is the name of a training bot")
        room = self._room(names, user, _minutes(minutes, TRAINING_MINUTES), map_name)
        self._begin(room)
        await room.players[user].first.ready.wait()
        return room

    async def join(self, room: Room, user: str) -> None:
        """Waits until all are there. Refused if that takes too long, or if the game is over."""
        if room.over:
            raise Refused("The game is over.")
        room.joined.add(user)
        if len(room.joined) == SEATS and not room.begun.is_set():
            self._begin(room)
        room.waiting[user] += 1
        with trio.move_on_after(JOIN_S) as waiting:
            await room.begun.wait()
        room.waiting[user] -= 1
        if waiting.cancelled_caught:
            if not room.waiting[user]:
                room.joined.discard(user)
            raise Refused("You have waited too long for the others.")
        await room.players[user].first.ready.wait()
        if room.state is None:
            raise Refused("The game is over.")

    def delete(self, number: int, training: bool) -> None:
        """Ends a game and forgets it. Refused."""
        room = self.rooms.get(number)
        if room is None or (room.trainee is not None) is not training:
            raise Refused(f"there is no {'training ' if training else ''}game {number}")
        room.scope.cancel()
        self._end(room)
        del self.rooms[number]

    def of(self, user: str, training: bool = False) -> Room | None:
        """The user's latest game, or training game."""
        found = [
            room for room in self.rooms.values() if user in room.players and (room.trainee is not None) is training
        ]
        return found[-1] if found else None

    # One game.

    def _room(self, names: Sequence[str], user: str | None, minutes: float, map_name: str) -> Room:
        map_name = map_name.removesuffix(".txt")
        map_name = ORIGINAL_MAPS.get(map_name, map_name)
        if map_name not in maps.names("aibg5"):
            raise Refused(f"there is no map of that name; there are {', '.join(maps.names('aibg5'))}")
        for old in [number for number, room in self.rooms.items() if room.over][: max(0, len(self.rooms) - KEPT)]:
            del self.rooms[old]
        first = 0 if user is None else FIRST_TRAINING
        number = next(number for number in count(first) if number not in self.rooms)
        self.rooms[number] = room = Room(number, names, user, minutes, map_name)
        return room

    def _begin(self, room: Room) -> None:
        room.begun.set()
        self._nursery.start_soon(self._play, room)

    async def _play(self, room: Room) -> None:
        self._count += 1
        entrants = tuple(self._entrants(room))
        seed = self._random.getrandbits(64) if self._seed is None else derive_seed(self._seed, "game", self._count)
        per_call_s = GAME.time.per_call_s if room.trainee is None else None
        folder = self._folder
        try:
            options = rule_options.options(GAME, {"map": maps.read(GAME.name, room.map_name)}, SEATS)
            name = f"aibg-{self._count:04d}-{'game' if room.trainee is None else 'training'}-{room.number}.jsonl"
            match = Match(
                game=GAME,
                entrants=entrants,
                seed=seed,
                options=options,
                time=TimeControl(per_call_s=per_call_s, match_s=room.minutes * 60),
                replay=None if folder is None else folder / name,
            )
            with room.scope:
                room.start_clock()
                room.verdict = await play(match, self._roster, room.watch)
        except Exception as error:
            log.exception("game %d failed: %s", room.number, type(error).__name__)
        finally:
            for entrant in entrants:
                self._seats.pop(entrant, None)
            self._end(room)

    def _entrants(self, room: Room) -> Iterator[Entrant]:
        for name in room.names:
            entrant = Entrant(name, ("client" if name in room.players else "@trainer", str(self._count)), Path())
            self._seats[entrant] = room.players.get(name) or Hosted("trainer")
            yield entrant

    def _end(self, room: Room) -> None:
        room.over = True
        for player in room.players.values():
            player.leave()
        room.changed.ring()


def _minutes(minutes: float, most: float) -> float:
    if not 0 < minutes <= most:
        raise Refused(f"time is in minutes, more than 0 and {most:g} at most")
    return minutes
