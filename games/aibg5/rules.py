"""The rules of AIBG 5.0 in the order of aibg5.md: play, moves, attacks, the boss, respawn, refusals.

Seat 0 is `playerIdx` 1 on the wire. A cell is (q, r) there; the engine numbers cells by r, then q
(`referee.games.hexgrid`).
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Self

import msgspec

from referee.games.aibg5.board import (
    ASTEROID,
    BESIDE_STARTS,
    BLACKHOLE,
    BOARD,
    BOSS,
    BOSS_CELLS,
    CELLS,
    EMPTY,
    ENTITIES,
    HEALTH,
    INDEX,
    ITEM_CELLS,
    ITEMS,
    KINDS,
    LINES,
    NEIGHBOURS,
    NO_ACTION,
    OBSTACLES,
    PATTERNS,
    RINGS,
    SIGNS,
    STARTS,
    TILE_TYPES,
    TWO_WAYS,
    WORMHOLE,
    Cell,
    Ship,
    ground_of,
    penalty_of,
    place,
    read_action,
    text_of,
    with_tile,
)
from referee.games.aibg5.refusals import attack_refusal, move_refusal
from referee.games.aibg5.types import (
    ASTEROID_HEALTH,
    ASTEROID_XP,
    BOSS_POWER,
    DIRECT_RINGS,
    DO_ACTION,
    EXPERIENCE_XP,
    HIT_XP,
    JOIN_GAME,
    KILL_SCORE,
    KILL_XP,
    METHODS,
    PAUSES,
    RADIUS,
    SEATS,
    SIZE,
    TRAP_TURNS,
    AttackedTile,
    Boss,
    BossAttack,
    Died,
    DoAction,
    Entity,
    GameOver,
    GameState,
    JoinGame,
    Map,
    Options,
    PickedUp,
    ScoreBoard,
    Shot,
    Terrain,
    Tile,
    View,
)
from referee.games.contract import Event, Fault, FaultKind, Method, Notice, Result, Ruling, Setup, State, in_brief
from referee.games.contract import Player as Seat
from referee.games.dice import Dice
from referee.games.hexgrid import NOWHERE

_encode = msgspec.json.Encoder().encode

_JOINING: Mapping[Seat, Method] = dict.fromkeys(range(SEATS), JOIN_GAME)
_TURN: tuple[Mapping[Seat, Method], ...] = tuple([{seat: DO_ACTION} for seat in range(SEATS)])
_OVER: Mapping[Seat, Method] = {}


class AIBG5(State):
    """A position of a match. It replaces tiles, rows and states, and never changes them."""

    METHODS = METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        """ValueError, one line, if the option `map` is no map."""
        super().__init__(setup, dice)
        self.options: Options = setup.options
        self.ground = ground_of(setup.options)
        self.ships = [Ship(cell) for cell in STARTS]
        self.seat_at = {cell: seat for seat, cell in enumerate(STARTS)}
        """The seat of the ship on each cell, without seats that are out."""
        self.messages: list[str | None] = [None] * SEATS
        self.kinds = bytearray(self.ground.kinds)
        self.asteroids = dict.fromkeys(self.ground.asteroids, ASTEROID_HEALTH)
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
        self.result: Result | None = None
        self.awaited = _JOINING
        self._bossed: tuple[Boss, tuple[tuple[Tile, ...], ...]] | None = None
        self._state: GameState | None = None
        for item in ITEMS:
            self._place_item(item)

    @property
    def joining(self) -> bool:
        """Whether all players are still asked to join."""
        return next(iter(self.awaited.values()), None) is JOIN_GAME

    # The contract of every engine.

    def params(self, player: Seat) -> JoinGame | DoAction:
        if self.awaited[player] is JOIN_GAME:
            return JoinGame(player + 1, self.game_state())
        return DoAction(player + 1, self.game_state(), self.messages[player])

    def refusal(self, player: Seat, answer: Any) -> str | None:
        """Applies the checks of section 5 in order. The message begins with the code of the first that fails. A trapped
        player's answer does not matter."""
        if self.awaited[player] is JOIN_GAME or self.ships[player].trap:
            return None
        text = text_of(answer)
        if not isinstance(text, str):
            return NO_ACTION if text is None else f"null: the action is {in_brief(text)}; wanted text, {TWO_WAYS}"
        action = read_action(text)
        if isinstance(action, str):
            return action
        word, q, r = action
        target = INDEX.get((q, r))
        if target is None:
            return f"off_map: ({q},{r}) is not on the board; |q|, |r| and |q+r| are at most {RADIUS}"
        if word == "move":
            return move_refusal(self, player, target)
        if word == "attack":
            return attack_refusal(self, player, target)
        return f"unknown_action: {in_brief(word)}; wanted move or attack"

    def step(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """An answer that is no action, even an error, costs health and the turn. A player that gives no answer is out
        (section 12)."""
        self._state = None
        if self.joining:
            return self._join(answers)
        ((player, answer),) = answers.items()
        self._show_boss(False, self.attacked)
        events = self._turn(player, answer)
        return events if self.result is not None else events + self._next_turn(player)

    def stop(self, reason: str) -> list[Event]:
        """Ranked as at any end."""
        return self._finish(reason)

    def _forfeited(self, faults: Mapping[Seat, Fault]) -> list[Event]:
        """They are disqualified (section 12). The player to move stays the same if it is still there."""
        self._state = None
        events: list[Event] = [self._disqualify(player, fault) for player, fault in faults.items()]
        if ended := self._end_if_one_is_left():
            return events + ended
        if self.joining:
            self.awaited = {player: JOIN_GAME for player in self.awaited if player not in self.out}
            return events
        (mover,) = self.awaited
        if mover not in faults:
            return events
        self._show_boss(False, self.attacked)
        return events + self._next_turn(mover)

    def _legal(self, player: Seat) -> Iterator[Any]:
        """Moves E, SE, SW, W, NW, NE, then attacks by r, then q; a single answer if it does not matter.

        Nothing for a player between wormholes with blocked exits: all its actions are illegal.
        """
        if self.joining:
            yield {}
        elif self.ships[player].trap:
            yield {"action": ""}
        else:
            here = self.ships[player].cell
            for word, targets, refusal in (
                ("move", NEIGHBOURS[here], move_refusal),
                ("attack", LINES[here], attack_refusal),
            ):
                for target in targets:
                    if target != NOWHERE and refusal(self, player, target) is None:
                        q, r = CELLS[target]
                        yield {"action": f"{word},{q},{r}"}

    def _view(self, player: Seat) -> GameState:
        return self.game_state()

    def _full_view(self) -> View:
        return View(
            self.game_state(),
            [ship.xp for ship in self.ships],
            list(self.messages),
            [player + 1 for player in self.awaited],
            self.rounds,
            PATTERNS[self.step_of_boss][0],
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
        if seed is not None and self.pause in PAUSES and self._between_patterns():
            twin.pause = twin.dice.choice([pause for pause in PAUSES if pause >= self.idle])
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
        signs = [str(self.seat_at.get(cell, SIGNS[kind])) for cell, kind in enumerate(self.kinds)]
        lines = []
        for start, row in zip(BOARD.row_starts, self.rows, strict=True):
            lines.append(" " * (SIZE - len(row)) + " ".join(signs[start : start + len(row)]))
        for player, ship in enumerate(self.ships):
            standing = "disqualified" if ship.out else f"at {place(ship.cell)}" + ", trapped" * (ship.trap > 0)
            lines.append(
                f"{player} {self.setup.names[player]}: score {ship.score}, health {ship.health}, "
                f"level {ship.level}, {ship.xp} XP, {ship.kills} kills, {ship.deaths} deaths, {standing}"
            )
        calls = ", ".join(f"{method.name} of {player}" for player, method in self.awaited.items())
        lines.append(f"{self.rounds} rounds over, " + (calls or f"the end: {self.result and self.result.reason}"))
        return "\n".join(lines)

    # The start and the order of play (sections 1, 5 and 12).

    def _join(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """No answer matters, not even an error. A player that gives none is out."""
        events: list[Event] = []
        for player, answer in answers.items():
            if isinstance(answer, Fault):
                if _answered(answer):
                    events.append(Ruling(player, answer, "none: no answer to joinGame matters"))
                else:
                    events.append(self._disqualify(player, answer))
        return events + (self._end_if_one_is_left() or self._give_turn(0))

    def _turn(self, player: Seat, answer: Any) -> list[Event]:
        ship = self.ships[player]
        events: list[Event] = []
        if isinstance(answer, Fault):
            if not _answered(answer):
                return [self._disqualify(player, answer), *self._end_if_one_is_left()]
            loses = not ship.trap or self.options.trapped_penalty
            cost = f"loses {penalty_of(ship)} health and the turn" if loses else "loses the turn"
            events.append(Ruling(player, answer, cost))
        self.messages[player] = None
        if ship.trap:
            self._sit(player)
        elif isinstance(answer, Fault):
            ship.health -= penalty_of(ship)
            self.messages[player] = answer.detail if answer.kind is FaultKind.ILLEGAL else NO_ACTION
        else:
            action = read_action(text_of(answer))
            assert not isinstance(action, str)
            word, q, r = action
            events += (self._move if word == "move" else self._attack)(player, INDEX[q, r])
        return events

    def _next_turn(self, player: Seat) -> list[Event]:
        """Passes the turn to the next player; after the last of the round, the boss moves first."""
        if any(not ship.out for ship in self.ships[player + 1 :]):
            return self._give_turn(player + 1)
        events = self._boss_turn()
        self.rounds += 1
        if self.rounds == self.options.rounds:
            return events + self._finish("rounds")
        return events + self._give_turn(0)

    def _give_turn(self, first: Seat) -> list[Event]:
        """Gives the turn to the first player from `first` on that is not out."""
        self.awaited = next(_TURN[seat] for seat in range(first, SEATS) if not self.ships[seat].out)
        return []

    def _disqualify(self, player: Seat, fault: Fault) -> Ruling:
        """Takes a player off the board and out of the order of play (section 12)."""
        ship = self.ships[player]
        ship.out, ship.trap = True, 0
        self.out |= {player}
        del self.seat_at[ship.cell]
        return Ruling(player, fault, "disqualified", out=True)

    def _end_if_one_is_left(self) -> list[Event]:
        """Ends the game if three or all players are disqualified (section 12)."""
        left = SEATS - sum([ship.out for ship in self.ships])
        return self._finish("last_one_left" if left else "nobody_left") if left <= 1 else []

    def _finish(self, reason: str) -> list[Event]:
        order = self._ranking()
        ranks = tuple([order.index(player) + 1 for player in range(SEATS)])
        self.result = Result(ranks, tuple([float(ship.score) for ship in self.ships]), reason)
        self.awaited, self._state = _OVER, None
        left = tuple([player for player, ship in enumerate(self.ships) if not ship.out])
        return [Notice("gameOver", GameOver(reason, self.game_state().scoreBoard.players), left)]

    def _ranking(self) -> list[Seat]:
        """Returns the players, best first: six keys, then the lower index; disqualified ones last (section 12)."""
        keyed = [
            (ship.out, -ship.score, -ship.kd, -ship.kills, ship.deaths, -ship.level, -ship.health, player)
            for player, ship in enumerate(self.ships)
        ]
        return [key[-1] for key in sorted(keyed)]

    # Moves (sections 6, 8 and 9).

    def _move(self, player: Seat, target: Cell) -> list[Event]:
        kind = self.kinds[target]
        if kind == WORMHOLE:
            self._go(player, self.wormhole_exit(self.ships[player].cell, target))
            return []
        self._go(player, target)
        if kind == BLACKHOLE:
            self.ships[player].trap = TRAP_TURNS
        return self._pick_up(player, kind) if kind in ITEMS else []

    def _pick_up(self, player: Seat, item: int) -> list[Event]:
        """The new item is placed before the old one is removed."""
        ship = self.ships[player]
        if item == HEALTH:
            ship.health = ship.max_health
        else:
            ship.gain(EXPERIENCE_XP)
        self._place_item(item)
        self._put(ship.cell, EMPTY)
        return [Notice("pickedUp", PickedUp(player + 1, "HEALTH" if item == HEALTH else "EXPERIENCE"))]

    def _place_item(self, item: int) -> None:
        """Places an item on a random empty cell of its rings, if there is one."""
        kinds, on = self.kinds, self.seat_at
        if cells := [cell for cell in ITEM_CELLS[item] if kinds[cell] == EMPTY and cell not in on]:
            self._put(self.dice.choice(cells, KINDS[item]), item)

    def _sit(self, player: Seat) -> None:
        """Plays a turn in a black hole (section 8)."""
        ship = self.ships[player]
        if self.options.trapped_penalty:
            ship.health -= penalty_of(ship)
        self.messages[player] = f"trapped: you are trapped in a black hole on {place(ship.cell)}"
        ship.trap -= 1

    def wormhole_exit(self, here: Cell, wormhole: Cell) -> Cell:
        """Returns where a step from `here` into `wormhole` ends; NOWHERE if off the board."""
        return NEIGHBOURS[self.ground.partner[wormhole]][NEIGHBOURS[here].index(wormhole)]

    def _go(self, player: Seat, cell: Cell) -> None:
        ship = self.ships[player]
        del self.seat_at[ship.cell]
        ship.cell = cell
        self.seat_at[cell] = player

    # Attacks (section 7).

    def _attack(self, player: Seat, target: Cell) -> list[Event]:
        cell = self.first_obstacle(player, target)
        shooter, (q, r) = self.ships[player], CELLS[cell]
        if cell in self.seat_at:
            return [Notice("shot", Shot(player + 1, q, r, "PLAYER")), *self._hit(player, self.seat_at[cell])]
        if self.kinds[cell] == BOSS:
            shooter.score += shooter.power
            return [Notice("shot", Shot(player + 1, q, r, "BOSS"))]
        self.asteroids[cell] -= shooter.power
        if self.asteroids[cell] > 0:
            self._put(cell, ASTEROID)
        else:
            del self.asteroids[cell]
            self._put(cell, EMPTY)
            shooter.gain(ASTEROID_XP)
        return [Notice("shot", Shot(player + 1, q, r, "ASTEROID"))]

    def first_obstacle(self, player: Seat, target: Cell) -> Cell:
        """Returns where a shot at `target` ends."""
        for cell in LINES[self.ships[player].cell][target]:
            if cell in self.seat_at or self.kinds[cell] in OBSTACLES:
                return cell
        return target

    def _hit(self, player: Seat, victim: Seat) -> list[Event]:
        """Follows the order of section 7, Kill."""
        shooter, hit = self.ships[player], self.ships[victim]
        hit.health -= shooter.power
        shooter.gain(HIT_XP)
        if hit.health > 0:
            return []
        hit.deaths += 1
        shooter.gain(KILL_XP)
        shooter.score += KILL_SCORE
        shooter.kills += 1
        return [self._respawn(victim, player + 1)]

    # The boss (section 10).

    def _boss_turn(self) -> list[Event]:
        ships = self.ships
        pattern, cells = self._pattern()
        left = [player for player, ship in enumerate(ships) if not ship.out]
        direct = [player for player in left if RINGS[ships[player].cell] in DIRECT_RINGS]
        struck = [player for player in left if ships[player].cell in cells]
        self._show_boss(True, (*[ships[player].cell for player in direct], *cells))
        attack = BossAttack(pattern, [player + 1 for player in direct], [player + 1 for player in struck])
        events: list[Event] = [Notice("bossAttack", attack)]
        for player in direct + struck:
            ships[player].health -= BOSS_POWER
            if ships[player].health <= 0:
                ships[player].deaths += 1
                events.append(self._respawn(player, None))
        return events

    def _pattern(self) -> tuple[Any, tuple[Cell, ...]]:
        """Returns the pattern of this boss turn, none during a pause, and advances the schedule."""
        if self.idle < self.pause:
            self.idle += 1
            return None, ()
        pattern = PATTERNS[self.step_of_boss]
        self.step_of_boss = (self.step_of_boss + 1) % len(PATTERNS)
        if self._between_patterns():
            self.idle, self.pause = 0, self.dice.choice(PAUSES, "pause")
        return pattern

    def _between_patterns(self) -> bool:
        """Returns whether the boss is not in the middle of pattern 1."""
        return self.step_of_boss % 4 in (0, 3)

    def _show_boss(self, action: bool, attacked: tuple[Cell, ...]) -> None:
        if action is not self.boss_action or attacked is not self.attacked:
            self.boss_action, self.attacked, self._bossed = action, attacked, None

    # Death and respawn (section 11).

    def _respawn(self, player: Seat, by: int | None) -> Notice:
        ship = self.ships[player]
        ship.health, ship.trap = ship.max_health, 0
        self._go(player, self._spawn(player))
        return Notice("died", Died(player + 1, by, *CELLS[ship.cell]))

    def _spawn(self, player: Seat) -> Cell:
        """Returns the start tile, or else the tile above, the one below, or the nearest empty cell.

        Assumed: without any, it is where the player died, and the search passes through occupied cells.
        """
        start = STARTS[player]
        if self.seat_at.get(start, player) == player:
            return start
        for cell in BESIDE_STARTS[player]:
            if self.is_free(player, cell, (EMPTY, *ITEMS)):
                return cell
        reached = [start]
        for cell in reached:
            for adjacent in NEIGHBOURS[cell]:
                if adjacent != NOWHERE and adjacent not in reached:
                    if self.is_free(player, adjacent, (EMPTY,)):
                        return adjacent
                    reached.append(adjacent)
        return self.ships[player].cell

    def is_free(self, player: Seat, cell: Cell, kinds: Sequence[int]) -> bool:
        """Returns whether no other player is there and the cell is of one of the `kinds`."""
        return self.seat_at.get(cell, player) == player and self.kinds[cell] in kinds

    # Views (section 13.1).

    def game_state(self) -> GameState:
        """Returns the same object until the next step."""
        if self._state is None:
            players = [ship.shown(player, self.setup.names[player]) for player, ship in enumerate(self.ships)]
            boss, rows = self._bossed = self._bossed or self._boss()
            one, two, three, four = [
                None if ship.out else player for ship, player in zip(self.ships, players, strict=True)
            ]
            board = ScoreBoard([players[player] for player in self._ranking()])
            self._state = GameState(Map(SIZE, rows), one, two, three, four, boss, board)
        return self._state

    def _boss(self) -> tuple[Boss, tuple[tuple[Tile, ...], ...]]:
        """Returns the boss, and the rows with its tiles filled in."""
        attacked = tuple([self._attacked_tile(cell) for cell in self.attacked])
        entity = Entity("BOSS", bossAction=self.boss_action, bossAttackedTiles=attacked)
        rows = self.rows
        for cell in BOSS_CELLS:
            rows = with_tile(rows, cell, Tile(*CELLS[cell], entity, "FULL"))
        return Boss("BOSS", self.boss_action, attacked), rows

    def _attacked_tile(self, cell: Cell) -> AttackedTile:
        q, r = CELLS[cell]
        tile = self.rows[r + RADIUS][cell - BOARD.row_starts[r + RADIUS]]
        entity = tile.entity
        return AttackedTile(q, r, Terrain(entity.type, entity.id, entity.health), tile.tileType)

    def _put(self, cell: Cell, kind: int) -> None:
        """Sets the kind of a cell; an asteroid keeps its health."""
        self.kinds[cell] = kind
        entity = Entity("ASTEROID", health=self.asteroids[cell]) if kind == ASTEROID else ENTITIES[kind]
        self.rows = with_tile(self.rows, cell, Tile(*CELLS[cell], entity, TILE_TYPES[kind]))
        self._bossed = None


def _answered(fault: Fault) -> bool:
    """Returns whether the bot gave any answer, even an error (assumed: like no action, since the document is silent).

    Every other fault counts as a time-out.
    """
    return fault.kind in (FaultKind.ILLEGAL, FaultKind.ERROR)
