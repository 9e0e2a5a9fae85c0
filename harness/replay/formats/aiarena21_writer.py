"""Writes AI Arena 21's own `replay.txt`, which its viewer plays: aiarena21.md, section 10."""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, Struct

from referee.games.aiarena21 import (
    METHODS,
    START_SCORE,
    AIArena21,
    Auction,
    Moved,
    PickedUp,
    PowerUp,
    Purchase,
    TurnEnded,
)
from referee.games.contract import Event, Notice
from referee.harness.replay.formats.replay_txt import Finish, Init, Position, Tick
from referee.harness.replay.lines import Forfeit, Injection, Opening, Stop, Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions


def content(replay: Replay) -> bytes:
    """The file of a record that verifies. A turn that was not played to its end has no line."""
    encode = msgspec.json.Encoder().encode
    return b"".join([b"[Replay] " + encode(record) + b"\n" for record in _records(replay)])


def _records(replay: Replay) -> Iterator[Init | Tick | Finish]:
    for _, state, line in positions(replay):
        assert isinstance(state, AIArena21)
        if isinstance(line, Opening):
            yield _init(state)
            turn = _Turn(state)
            continue
        for event in _notices(line):
            turn.follow(event)
            if isinstance(event, TurnEnded):
                yield turn.tick(event, state)
                turn = _Turn(state)
    yield Finish()


def _notices(line: Turn | Injection | Forfeit | Stop) -> Iterator[Struct]:
    """What the viewers heard of it."""
    for event in msgspec.convert(line.events, list[Event]):
        if isinstance(event, Notice):
            yield msgspec.convert(event.params, METHODS[event.method].params)


def _init(state: AIArena21) -> Init:
    first, second = [state.ground.location[cell] for cell in state.spawns]
    grid = [list(row) for row in state.ground.map.cells]
    one, two = state.setup.names
    return Init(grid, (START_SCORE, START_SCORE), (one, two), (first, second), state.turns)


class _Turn:
    """Collects a turn, from the position in which it begins."""

    def __init__(self, state: AIArena21) -> None:
        self.heatmap = state.heat
        self.fruit = state.fruit
        self.powerups: list[PowerUp] = ["", ""]
        self.moved: Moved | None = None
        self.auction: Auction | None = None

    def follow(self, event: Struct) -> None:
        match event:
            case Purchase(bought=True):
                self.powerups[event.player] = event.power_up
            case Moved():
                self.moved = event
            case Auction():
                self.auction = event
            case PickedUp():
                self.fruit = self.fruit.without(*event.location)

    def tick(self, ended: TurnEnded, state: AIArena21) -> Tick:
        """The line. `state` may have put down the next turn's fruit already: only its bikes are of this turn."""
        assert self.moved is not None
        first, second = map(Position, self.moved.locations, self.moved.deltas)
        return Tick(
            heatmap=self.heatmap,
            positions=(first, second),
            items=[[list(letters) for letters in row] for row in self.fruit.piles],
            bike=(state.bike_turns[0] > 0, state.bike_turns[1] > 0),
            teleport=(False, False),
            scores=ended.scores,
            remaining_rounds=state.turns - ended.turn,
            powerups=(self.powerups[0], self.powerups[1]),
            wagers=UNSET if self.auction is None else self.auction.bids,
            wager_positions=UNSET if self.auction is None else ended.locations,
        )
