"""A position of AI Arena 21: what it consists of, and how it is shown (aiarena21.md, sections 3 and 9)."""

from collections.abc import Mapping, Sequence
from typing import Literal, Self

import msgspec

from referee.games.aiarena21 import types
from referee.games.aiarena21.board import Batch, Cell, drawn, ground_of, names_of
from referee.games.aiarena21.presentation import ENDINGS
from referee.games.contract import Event, FaultKind, Method, Notice, Player, Setup, State
from referee.games.dice import Dice
from referee.games.ending import headline

_encode = msgspec.json.Encoder().encode


class Position(State):
    """A position of a match."""

    METHODS = types.METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        """ValueError, one line, if the option `map` is no map."""
        super().__init__(setup, dice)
        self.turns: int = setup.options.turns
        self.ground = ground_of(setup.options)
        self.warnings = self.ground.warnings
        self.turn = 0
        self.score = [types.START_SCORE, types.START_SCORE]
        self.spawns = self._drawn_spawns()
        self.cells = list(self.spawns)
        self.bike_turns = [0, 0]
        self.portal_gun_turns = [0, 0]
        self.fruit = self.ground.bare
        self.incoming: Batch = {}
        self.deployed: Batch = {}
        """The fruit put down in this turn."""
        self.new_items = self.ground.no_items
        self.heat = self.ground.cold
        self.last_auction = 0
        self.auctions = 0
        """The number of auctions in this turn."""
        self.bids = (0, 0)
        """The bids of the last auction."""
        self.faults: tuple[dict[FaultKind, int], dict[FaultKind, int]] = ({}, {})
        self.awaited: Mapping[Player, Method] = {0: types.PLAY_POWERUP}

    def opening(self) -> list[Event]:
        return [Notice("spawned", types.Spawned(self.located(self.spawns)))]

    def _view(self, player: Player) -> types.Situation:
        """Of the next fruit a player sees only the heat; everything else is open."""
        return types.Situation(
            self.ground.map,
            self.shown(player),
            self.shown(1 - player),
            self.fruit.points,
            self.new_items,
            self.heat,
            self.turns - self.turn,
        )

    def _full_view(self) -> types.View:
        return types.View(
            self.turn,
            self.turns,
            self.ground.map,
            (self.shown(0), self.shown(1)),
            (self.bike_turns[0], self.bike_turns[1]),
            self.fruit.piles,
            self.piles(self.incoming),
            self.heat,
            self.last_auction,
            (self.portal_gun_turns[0], self.portal_gun_turns[1]),
            self.located(self.spawns),
            self.piles(self.deployed),
            self.auctions,
            self.bids,
            self.fault_counts(),
            self.standing(),
        )

    def copy(self, seed: int | None = None) -> Self:
        """With a seed the incoming batch stays, since the heatmap shows it already."""
        twin = self._twin()
        twin.dice = self.dice.copy() if seed is None else Dice(seed)
        twin.score = self.score.copy()
        twin.cells = self.cells.copy()
        twin.bike_turns = self.bike_turns.copy()
        twin.portal_gun_turns = self.portal_gun_turns.copy()
        twin.faults = (self.faults[0].copy(), self.faults[1].copy())
        return twin

    def key(self) -> bytes:
        """JSON."""
        players = self.score, self.cells, self.bike_turns, self.portal_gun_turns
        auctions = self.last_auction, self.auctions, self.bids
        asked = [(player, method.name) for player, method in self.awaited.items()]
        rest = asked, self.faults, self.result, self.incoming, self.deployed, self.dice.state, *sorted(self.out)
        return self.fruit.key() + _encode((self.turn, *players, *auctions, *rest))

    def __str__(self) -> str:
        """Draws the map, then a line for each player."""
        lines = drawn(self.ground.map.cells, self.located(self.cells), self.fruit.piles)
        for player, name in enumerate(self.setup.names):
            row, col = self.ground.location[self.cells[player]]
            bike = f", bike for {self.bike_turns[player]} turns" if self.bike_turns[player] else ""
            gun = ", portal gun" if self.portal_gun_turns[player] else ""
            lines.append(f"{player} {name}: {self.score[player]} points at ({row},{col}){bike}{gun}")
        calls = " and ".join(f"{method.name} of {player}" for player, method in self.awaited.items())
        over = self.result and headline(ENDINGS, self.result, self.setup.names)
        lines.append(f"turn {self.turn} of {self.turns}, {calls or over}")
        return "\n".join(lines)

    def _drawn_spawns(self) -> tuple[Cell, Cell]:
        spawns = list(self.ground.spawns[:2])
        while len(spawns) < 2:
            spawns.append(self.dice.choice([cell for cell in self.ground.free if cell not in spawns], "spawn"))
        first, second = spawns
        return (second, first) if self.dice.below(2, "swap") else (first, second)

    # What the rules ask.

    def opening_turn(self) -> bool:
        """Returns whether the calls of this turn have more time."""
        return self.turn < types.OPENING_TURNS

    def cause(self) -> Literal["meeting", "clock"] | None:
        if self.cells[0] == self.cells[1]:
            return "meeting"
        return "clock" if self.turn - self.last_auction == types.AUCTION_TURNS else None

    def winner(self) -> Player | None:
        """Returns the winner of the last auction; None = a tie."""
        first, second = self.bids
        return None if first == second else int(second > first)

    def price(self) -> int:
        return sum(self.bids) // 2

    # Small parts.

    def fault_counts(self) -> list[types.FaultCount]:
        return [types.FaultCount(player, *count) for player in (0, 1) for count in self.faults[player].items()]

    def shown(self, player: Player) -> types.Player:
        return types.Player(
            self.setup.names[player],
            self.score[player],
            self.ground.location[self.cells[player]],
            self.bike_turns[player] > 0,
            self.portal_gun_turns[player] > 0,
        )

    def located(self, cells: Sequence[Cell]) -> tuple[tuple[int, int], tuple[int, int]]:
        return self.ground.location[cells[0]], self.ground.location[cells[1]]

    def piles(self, batch: Batch) -> list[types.Pile]:
        return [types.Pile(self.ground.location[cell], names_of(letters)) for cell, letters in batch.items()]
