"""The rules of AIBG 5.0 in the order of aibg5.md: play, moves, attacks, the boss, respawn, what is refused.

Seat 0 is `playerIdx` 1 on the wire. A cell is (q, r) there; inside, it is one number, by r, then q
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
    NOUNS,
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
from referee.games.aibg5.types import (
    ASTEROID_HEALTH,
    ASTEROID_XP,
    ATTACK_RANGE,
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
from referee.games.brief_text import in_brief
from referee.games.contract import Event, Fault, FaultKind, Method, Notice, Result, Ruling, Setup, State
from referee.games.contract import Player as Seat
from referee.games.dice import Dice
from referee.games.hexgrid import NOWHERE, length

_encode = msgspec.json.Encoder().encode

_JOINING: Mapping[Seat, Method] = dict.fromkeys(range(SEATS), JOIN_GAME)
_TURN: tuple[Mapping[Seat, Method], ...] = tuple([{seat: DO_ACTION} for seat in range(SEATS)])
_OVER: Mapping[Seat, Method] = {}


class AIBG5(State):
    """A position of a match. The tiles, rows and states that it hands out are never changed, only replaced."""

    METHODS = METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        """ValueError, one line, if the option `map` is no map."""
        super().__init__(setup, dice)
        self.options: Options = setup.options
        self.ground = ground_of(setup.options)
        self.ships = [Ship(cell) for cell in STARTS]
        self.on = {cell: seat for seat, cell in enumerate(STARTS)}
        """Who stands where; those who are out stand nowhere."""
        self.messages: list[str | None] = [None] * SEATS
        self.kinds = bytearray(self.ground.kinds)
        self.asteroids = dict.fromkeys(self.ground.asteroids, ASTEROID_HEALTH)
        self.rows = self.ground.rows
        """The tiles of the wire, boss tiles without what the boss did."""
        self.rounds = 0
        self.boss_action = False
        self.attacked: tuple[Cell, ...] = ()
        """Where the boss's last turn struck."""
        self.step_of_boss = 0
        """Which of PATTERNS comes next."""
        self.idle, self.pause = 0, 1
        """Boss turns without a pattern since the last one, and how many there are to be. The first has none."""
        self.result: Result | None = None
        self.awaited = _JOINING
        self._bossed: tuple[Boss, tuple[tuple[Tile, ...], ...]] | None = None
        self._state: GameState | None = None
        for item in ITEMS:
            self._place_item(item)

    @property
    def joining(self) -> bool:
        """The game has not begun: everybody is asked to join."""
        return next(iter(self.awaited.values()), None) is JOIN_GAME

    # The contract of every engine.

    def params(self, player: Seat) -> JoinGame | DoAction:
        if self.awaited[player] is JOIN_GAME:
            return JoinGame(player + 1, self.game_state())
        return DoAction(player + 1, self.game_state(), self.messages[player])

    def refusal(self, player: Seat, answer: Any) -> str | None:
        """The checks of section 5 in their order; the message begins with the code of the first that applies. What a
        trapped player answers does not matter."""
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
            return self._move_refusal(player, target)
        if word == "attack":
            return self._attack_refusal(player, target)
        return f"unknown_action: {in_brief(word)}; wanted move or attack"

    def step(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """An answer that is no action, be it an error, costs health and the turn. Who does not answer at all is out
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
        """They are disqualified (section 12); who is on the move and left stays so."""
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

    def legal(self, player: Seat) -> Iterator[Any]:
        """Moves E, SE, SW, W, NW, NE, then attacks by r, then q. One answer stands for all where none matters.

        Nothing at all for a player between wormholes with blocked exits: whatever it does is illegal.
        """
        if self.joining:
            yield {}
        elif self.ships[player].trap:
            yield {"action": ""}
        else:
            here = self.ships[player].at
            for word, targets, refusal in (
                ("move", NEIGHBOURS[here], self._move_refusal),
                ("attack", LINES[here], self._attack_refusal),
            ):
                for target in targets:
                    if target != NOWHERE and refusal(player, target) is None:
                        q, r = CELLS[target]
                        yield {"action": f"{word},{q},{r}"}

    def view(self, player: Seat | None) -> Any:
        """A `GameState`; None: a `View`."""
        if player is not None:
            return self.game_state()
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
        """A seed replaces what is still to be drawn, and the boss's pause by another that fits what was seen of it."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.ships = [copy(ship) for ship in self.ships]
        twin.on = self.on.copy()
        twin.messages = self.messages.copy()
        twin.kinds = self.kinds.copy()
        twin.asteroids = self.asteroids.copy()
        twin.dice = self.dice.copy() if seed is None else Dice(seed)
        if seed is not None and self.pause in PAUSES and self._between_patterns():
            twin.pause = twin.dice.choice([pause for pause in PAUSES if pause >= self.idle])
        return twin

    def key(self) -> bytes:
        """The kind of every cell, then JSON. The asteroids are in the map's order."""
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
        """The board with the players as 0 to 3: . empty, # asteroid, o black hole, w wormhole, + health, * experience,
        B boss."""
        signs = [str(self.on[cell]) if cell in self.on else SIGNS[kind] for cell, kind in enumerate(self.kinds)]
        lines = []
        for start, row in zip(BOARD.row_starts, self.rows, strict=True):
            lines.append(" " * (SIZE - len(row)) + " ".join(signs[start : start + len(row)]))
        for player, ship in enumerate(self.ships):
            standing = "disqualified" if ship.out else f"at {place(ship.at)}" + ", trapped" * (ship.trap > 0)
            lines.append(
                f"{player} {self.setup.names[player]}: score {ship.score}, health {ship.health}, "
                f"level {ship.level}, {ship.xp} XP, {ship.kills} kills, {ship.deaths} deaths, {standing}"
            )
        calls = ", ".join(f"{method.name} of {player}" for player, method in self.awaited.items())
        lines.append(f"{self.rounds} rounds over, " + (calls or f"the end: {self.result and self.result.reason}"))
        return "\n".join(lines)

    # The start and the order of play (sections 1, 5 and 12).

    def _join(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """What is answered does not matter, so that an error does not either; who does not answer is out."""
        events: list[Event] = []
        for player, answer in answers.items():
            if isinstance(answer, Fault):
                if _answers_still(answer):
                    events.append(Ruling(player, answer, "none: no answer to joinGame matters"))
                else:
                    events.append(self._disqualify(player, answer))
        return events + (self._end_if_one_is_left() or self._give_turn(0))

    def _turn(self, player: Seat, answer: Any) -> list[Event]:
        ship = self.ships[player]
        events: list[Event] = []
        if isinstance(answer, Fault):
            if not _answers_still(answer):
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
        """The next player who is left; after the last of the round, the boss's turn first."""
        if any(not ship.out for ship in self.ships[player + 1 :]):
            return self._give_turn(player + 1)
        events = self._boss_turn()
        self.rounds += 1
        if self.rounds == self.options.rounds:
            return events + self._finish("rounds")
        return events + self._give_turn(0)

    def _give_turn(self, first: Seat) -> list[Event]:
        """To the first from `first` on who is left."""
        self.awaited = next(_TURN[seat] for seat in range(first, SEATS) if not self.ships[seat].out)
        return []

    def _disqualify(self, player: Seat, fault: Fault) -> Ruling:
        """Off the board and out of the order of play (section 12)."""
        ship = self.ships[player]
        ship.out, ship.trap = True, 0
        self.out |= {player}
        del self.on[ship.at]
        return Ruling(player, fault, "disqualified", out=True)

    def _end_if_one_is_left(self) -> list[Event]:
        """The end of the game if three or all are disqualified (section 12); else nothing."""
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
        """Best first: six keys, then the lower index; the disqualified after all others (section 12)."""
        keyed = [
            (ship.out, -ship.score, -ship.kd, -ship.kills, ship.deaths, -ship.level, -ship.health, player)
            for player, ship in enumerate(self.ships)
        ]
        return [key[-1] for key in sorted(keyed)]

    # Moves (sections 6, 8 and 9).

    def _move(self, player: Seat, target: Cell) -> list[Event]:
        kind = self.kinds[target]
        if kind == WORMHOLE:
            self._go(player, self._exit(self.ships[player].at, target))
            return []
        self._go(player, target)
        if kind == BLACKHOLE:
            self.ships[player].trap = TRAP_TURNS
        return self._pick_up(player, kind) if kind in ITEMS else []

    def _pick_up(self, player: Seat, item: int) -> list[Event]:
        """The new item is placed while the old one is still there."""
        ship = self.ships[player]
        if item == HEALTH:
            ship.health = ship.max_health
        else:
            ship.gain(EXPERIENCE_XP)
        self._place_item(item)
        self._put(ship.at, EMPTY)
        return [Notice("pickedUp", PickedUp(player + 1, "HEALTH" if item == HEALTH else "EXPERIENCE"))]

    def _place_item(self, item: int) -> None:
        """Anywhere in its rings where nothing is and nobody stands; nowhere if there is no such cell."""
        kinds, on = self.kinds, self.on
        if cells := [cell for cell in ITEM_CELLS[item] if kinds[cell] == EMPTY and cell not in on]:
            self._put(self.dice.choice(cells, KINDS[item]), item)

    def _sit(self, player: Seat) -> None:
        """A turn in a black hole (section 8)."""
        ship = self.ships[player]
        if self.options.trapped_penalty:
            ship.health -= penalty_of(ship)
        self.messages[player] = f"trapped: you are trapped in a black hole on {place(ship.at)}"
        ship.trap -= 1

    def _exit(self, here: Cell, wormhole: Cell) -> Cell:
        """Where a step from `here` into `wormhole` ends; NOWHERE if that is off the board."""
        return NEIGHBOURS[self.ground.partner[wormhole]][NEIGHBOURS[here].index(wormhole)]

    def _go(self, player: Seat, cell: Cell) -> None:
        ship = self.ships[player]
        del self.on[ship.at]
        ship.at = cell
        self.on[cell] = player

    # Attacks (section 7).

    def _attack(self, player: Seat, target: Cell) -> list[Event]:
        cell = self._first_obstacle(player, target)
        shooter, (q, r) = self.ships[player], CELLS[cell]
        if cell in self.on:
            return [Notice("shot", Shot(player + 1, q, r, "PLAYER")), *self._hit(player, self.on[cell])]
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

    def _first_obstacle(self, player: Seat, target: Cell) -> Cell:
        """Where a shot at `target` ends."""
        for cell in LINES[self.ships[player].at][target]:
            if cell in self.on or self.kinds[cell] in OBSTACLES:
                return cell
        return target

    def _hit(self, player: Seat, victim: Seat) -> list[Event]:
        """In the order of section 7, Kill."""
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
        direct = [player for player in left if RINGS[ships[player].at] in DIRECT_RINGS]
        struck = [player for player in left if ships[player].at in cells]
        self._show_boss(True, (*[ships[player].at for player in direct], *cells))
        attack = BossAttack(pattern, [player + 1 for player in direct], [player + 1 for player in struck])
        events: list[Event] = [Notice("bossAttack", attack)]
        for player in direct + struck:
            ships[player].health -= BOSS_POWER
            if ships[player].health <= 0:
                ships[player].deaths += 1
                events.append(self._respawn(player, None))
        return events

    def _pattern(self) -> tuple[Any, tuple[Cell, ...]]:
        """The pattern of this turn of the boss, none during a pause; moves the schedule on."""
        if self.idle < self.pause:
            self.idle += 1
            return None, ()
        pattern = PATTERNS[self.step_of_boss]
        self.step_of_boss = (self.step_of_boss + 1) % len(PATTERNS)
        if self._between_patterns():
            self.idle, self.pause = 0, self.dice.choice(PAUSES, "pause")
        return pattern

    def _between_patterns(self) -> bool:
        """Not in the middle of pattern 1."""
        return self.step_of_boss % 4 in (0, 3)

    def _show_boss(self, action: bool, attacked: tuple[Cell, ...]) -> None:
        if action is not self.boss_action or attacked is not self.attacked:
            self.boss_action, self.attacked, self._bossed = action, attacked, None

    # Death and respawn (section 11).

    def _respawn(self, player: Seat, by: int | None) -> Notice:
        ship = self.ships[player]
        ship.health, ship.trap = ship.max_health, 0
        self._go(player, self._spawn(player))
        return Notice("died", Died(player + 1, by, *CELLS[ship.at]))

    def _spawn(self, player: Seat) -> Cell:
        """The start tile, or else the tile above, the one below, the nearest empty cell; where it died, if there is
        none (assumed: the document has no such case). The search walks over everything (assumed)."""
        start = STARTS[player]
        if self.on.get(start, player) == player:
            return start
        for cell in BESIDE_STARTS[player]:
            if self._is_free(player, cell, (EMPTY, *ITEMS)):
                return cell
        reached = [start]
        for cell in reached:
            for beside in NEIGHBOURS[cell]:
                if beside != NOWHERE and beside not in reached:
                    if self._is_free(player, beside, (EMPTY,)):
                        return beside
                    reached.append(beside)
        return self.ships[player].at

    def _is_free(self, player: Seat, cell: Cell, kinds: Sequence[int]) -> bool:
        """Nobody else stands there, and it is of one of the `kinds`."""
        return self.on.get(cell, player) == player and self.kinds[cell] in kinds

    # What is refused: checks 6 to 10 (section 5).

    def _move_refusal(self, player: Seat, target: Cell) -> str | None:
        here = self.ships[player].at
        if target not in NEIGHBOURS[here]:
            return f"move_not_adjacent: {place(target)} is not next to {place(here)}; a move is one step"
        there = f"move_onto_full_or_player: on {place(target)}"
        if target in self.on:
            return f"{there} stands player {self.on[target] + 1}"
        kind = self.kinds[target]
        if kind in (ASTEROID, BOSS):
            return f"{there} is {NOUNS[kind]}"
        if kind == WORMHOLE:
            out = self._exit(here, target)
            if out == NOWHERE or not self._is_free(player, out, (EMPTY,)):
                blocked = "off the board" if out == NOWHERE else f"{place(out)}, which is not free"
                return f"{there} is a wormhole whose exit is {blocked}"
        return None

    def _attack_refusal(self, player: Seat, target: Cell) -> str | None:
        """A shot that would end at a black hole or a wormhole is refused too: all it does is cost (section 7)."""
        here = self.ships[player].at
        if target == here:
            return "self_attack: you cannot attack your own tile"
        if target not in LINES[here]:
            (q, r), (to_q, to_r) = CELLS[here], CELLS[target]
            away = length(to_q - q, to_r - r)
            return f"out_of_range: {place(target)} is {away} away from {place(here)}; an attack goes {ATTACK_RANGE}"
        if target not in self.on and self.kinds[target] not in (ASTEROID, BOSS):
            return f"not_attackable: on {place(target)} is {NOUNS[self.kinds[target]]}, and no player"
        hit = self._first_obstacle(player, target)
        if hit not in self.on and self.kinds[hit] in (BLACKHOLE, WORMHOLE):
            return f"not_attackable: the shot at {place(target)} ends at {NOUNS[self.kinds[hit]]} on {place(hit)}"
        return None

    # What is shown (section 13.1).

    def game_state(self) -> GameState:
        """The same object until the next step."""
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
        """The boss, and the rows with its tiles filled in."""
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
        """A cell of that kind, an asteroid with the health that it has now."""
        self.kinds[cell] = kind
        entity = Entity("ASTEROID", health=self.asteroids[cell]) if kind == ASTEROID else ENTITIES[kind]
        self.rows = with_tile(self.rows, cell, Tile(*CELLS[cell], entity, TILE_TYPES[kind]))
        self._bossed = None


def _answers_still(fault: Fault) -> bool:
    """The bot has said something, even if it is an error (assumed: as good as no action; the document has no such
    answers). Every other fault is as bad as a timeout."""
    return fault.kind in (FaultKind.ILLEGAL, FaultKind.ERROR)
