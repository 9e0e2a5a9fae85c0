"""A position of AIBG 5.0: what it consists of, and how it is shown (aibg5.md, section 13.1)."""

from collections.abc import Sequence
from copy import copy
from typing import Self

import msgspec

from referee.games.aibg5 import board, types
from referee.games.aibg5.board import ASTEROID, BOARD, CELLS, EMPTY, KINDS, Cell, Ship, place
from referee.games.aibg5.presentation import ENDINGS
from referee.games.contract import Player, Setup, State
from referee.games.dice import Dice
from referee.games.ending import headline

_encode = msgspec.json.Encoder().encode


class Position(State):
    """A position of a match. It replaces tiles, rows and states, and never changes them."""

    METHODS = types.METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        """ValueError, one line, if the option `map` is no map."""
        super().__init__(setup, dice)
        self.options: types.Options = setup.options
        self.ground = board.ground_of(setup.options)
        self.ships = [Ship(cell) for cell in board.STARTS]
        self.seat_at = {cell: seat for seat, cell in enumerate(board.STARTS)}
        """The seat of the ship on each cell, without seats that are out."""
        self.messages: list[str | None] = [None] * types.SEATS
        self.kinds = bytearray(self.ground.kinds)
        self.asteroids = dict.fromkeys(self.ground.asteroids, types.ASTEROID_HEALTH)
        self.rows = self.ground.rows
        """The tiles as sent to bots, but boss tiles without the boss's actions."""
        self.rounds = 0
        self.boss_action = False
        self.attacked: tuple[Cell, ...] = ()
        """The cells that the boss hit in its last turn."""
        self.step_of_boss = 0
        """The index of the next one of PATTERNS."""
        self.idle, self.pause = 0, 1
        """Boss turns without a pattern since the last one, and how many there will be in all."""
        self.awaited = dict.fromkeys(range(types.SEATS), types.JOIN_GAME)
        self._bossed: tuple[types.Boss, board.Rows] | None = None
        self._state: types.GameState | None = None
        for item in board.ITEMS:
            self.place_item(item)

    @property
    def joining(self) -> bool:
        """Whether all players are still asked to join."""
        return next(iter(self.awaited.values()), None) is types.JOIN_GAME

    def params(self, player: Player) -> types.JoinGame | types.DoAction:
        if self.awaited[player] is types.JOIN_GAME:
            return types.JoinGame(player + 1, self.game_state())
        return types.DoAction(player + 1, self.game_state(), self.messages[player])

    def _view(self, player: Player) -> types.GameState:
        return self.game_state()

    def _full_view(self) -> types.View:
        return types.View(
            self.game_state(),
            [ship.xp for ship in self.ships],
            list(self.messages),
            [player + 1 for player in self.awaited],
            self.rounds,
            board.PATTERNS[self.step_of_boss][0],
            max(0, self.pause - self.idle),
            self.step_of_boss,
            self.idle,
            self.pause,
            self.standing(),
        )

    def copy(self, seed: int | None = None) -> Self:
        """A seed also draws the boss's pause again, among those that fit its turns so far."""
        twin = self._twin()
        twin.ships = [copy(ship) for ship in self.ships]
        twin.seat_at = self.seat_at.copy()
        twin.messages = self.messages.copy()
        twin.kinds = self.kinds.copy()
        twin.asteroids = self.asteroids.copy()
        twin.dice = self.dice.copy() if seed is None else Dice(seed)
        if seed is not None and self.pause in types.PAUSES and self.between_patterns():
            twin.pause = twin.dice.choice([pause for pause in types.PAUSES if pause >= self.idle])
        return twin

    def key(self) -> bytes:
        """The kind of every cell, then JSON. Asteroids are in the map's order."""
        return bytes(self.kinds) + _encode(
            (
                list(self.asteroids.values()),
                self.ships,
                self.messages,
                list(self.awaited),
                self.joining,
                self.rounds,
                self.boss_action,
                self.attacked,
                self.step_of_boss,
                self.idle,
                self.pause,
                self.dice.state,
                self.result,
            )
        )

    def __str__(self) -> str:
        """Draws the board with the players as 0 to 3, then a line for each player."""
        signs = [str(self.seat_at.get(cell, board.SIGNS[kind])) for cell, kind in enumerate(self.kinds)]
        lines = []
        for start, row in zip(BOARD.row_starts, self.rows, strict=True):
            lines.append(" " * (types.SIZE - len(row)) + " ".join(signs[start : start + len(row)]))
        for player, ship in enumerate(self.ships):
            standing = "disqualified" if ship.out else f"at {place(ship.cell)}" + ", trapped" * (ship.trap > 0)
            lines.append(
                f"{player} {self.setup.names[player]}: score {ship.score}, health {ship.health}, "
                f"level {ship.level}, {ship.xp} XP, {ship.kills} kills, {ship.deaths} deaths, {standing}"
            )
        calls = ", ".join(f"{method.name} of {player}" for player, method in self.awaited.items())
        over = self.result and headline(ENDINGS, self.result, self.setup.names)
        lines.append(f"{self.rounds} rounds over, {calls or over}")
        return "\n".join(lines)

    # What the rules ask.

    def wormhole_exit(self, here: Cell, wormhole: Cell) -> Cell:
        """Returns where a step from `here` into `wormhole` ends; NOWHERE if off the board."""
        return board.NEIGHBOURS[self.ground.partner[wormhole]][board.NEIGHBOURS[here].index(wormhole)]

    def first_obstacle(self, player: Player, target: Cell) -> Cell:
        """Returns where a shot at `target` ends."""
        for cell in board.LINES[self.ships[player].cell][target]:
            if cell in self.seat_at or self.kinds[cell] in board.OBSTACLES:
                return cell
        return target

    def is_free(self, player: Player, cell: Cell, kinds: Sequence[int]) -> bool:
        """Returns whether no other player is there and the cell is of one of the `kinds`."""
        return self.seat_at.get(cell, player) == player and self.kinds[cell] in kinds

    def between_patterns(self) -> bool:
        """Returns whether the boss is not in the middle of pattern 1."""
        return self.step_of_boss % 4 in (0, 3)

    def ranking(self) -> list[Player]:
        """Returns the players, best first: six keys, then the lower index; disqualified ones last (section 12)."""
        keyed = [
            (ship.out, -ship.score, -ship.kd, -ship.kills, ship.deaths, -ship.level, -ship.health, player)
            for player, ship in enumerate(self.ships)
        ]
        return [key[-1] for key in sorted(keyed)]

    # Changes of the board, with the tiles that show it.

    def put(self, cell: Cell, kind: int) -> None:
        """Sets the kind of a cell; an asteroid keeps its health."""
        self.kinds[cell] = kind
        entity = types.Entity("ASTEROID", health=self.asteroids[cell]) if kind == ASTEROID else board.ENTITIES[kind]
        self.rows = board.with_tile(self.rows, cell, types.Tile(*CELLS[cell], entity, board.TILE_TYPES[kind]))
        self._bossed = None

    def place_item(self, item: int) -> None:
        """Places an item on a random empty cell of its rings, if there is one."""
        kinds, on = self.kinds, self.seat_at
        if cells := [cell for cell in board.ITEM_CELLS[item] if kinds[cell] == EMPTY and cell not in on]:
            self.put(self.dice.choice(cells, KINDS[item]), item)

    def show_boss(self, action: bool, attacked: tuple[Cell, ...]) -> None:
        if action is not self.boss_action or attacked is not self.attacked:
            self.boss_action, self.attacked, self._bossed = action, attacked, None

    # Views.

    def game_state(self) -> types.GameState:
        """Returns the same object until the next step."""
        if self._state is None:
            players = [ship.shown(player, self.setup.names[player]) for player, ship in enumerate(self.ships)]
            boss, rows = self._bossed = self._bossed or self._boss()
            one, two, three, four = [
                None if ship.out else player for ship, player in zip(self.ships, players, strict=True)
            ]
            ranked = types.ScoreBoard([players[player] for player in self.ranking()])
            self._state = types.GameState(types.Map(types.SIZE, rows), one, two, three, four, boss, ranked)
        return self._state

    def _boss(self) -> tuple[types.Boss, board.Rows]:
        """Returns the boss, and the rows with its tiles filled in."""
        attacked = tuple([self._attacked_tile(cell) for cell in self.attacked])
        entity = types.Entity("BOSS", bossAction=self.boss_action, bossAttackedTiles=attacked)
        rows = self.rows
        for cell in board.BOSS_CELLS:
            rows = board.with_tile(rows, cell, types.Tile(*CELLS[cell], entity, "FULL"))
        return types.Boss("BOSS", self.boss_action, attacked), rows

    def _attacked_tile(self, cell: Cell) -> types.AttackedTile:
        q, r = CELLS[cell]
        tile = self.rows[r + types.RADIUS][cell - BOARD.row_starts[r + types.RADIUS]]
        entity = tile.entity
        return types.AttackedTile(q, r, types.Terrain(entity.type, entity.id, entity.health), tile.tileType)
