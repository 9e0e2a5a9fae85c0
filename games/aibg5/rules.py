"""The rules of AIBG 5.0 in the order of aibg5.md: play, moves, attacks, the boss, respawn.

At the end: positions from views.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from referee.games.aibg5 import board, types
from referee.games.aibg5.answers import NO_ACTION, legal, read_action, refusal, text_of
from referee.games.aibg5.board import CELLS, EMPTY, INDEX, NEIGHBOURS, Cell, Ship, place
from referee.games.aibg5.position import Position
from referee.games.aibg5.presentation import DISQUALIFIED
from referee.games.contract import Event, Fault, FaultKind, Notice, Player, Result, Ruling, Setup
from referee.games.hexgrid import NOWHERE


class AIBG5(Position):
    """A position with its rules."""

    refusal = refusal
    _legal = legal

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        """An answer that is no action, even an error, costs health and the turn.

        A player that gives no answer is out (section 12).
        """
        self._state = None
        if self.joining:
            return self._join(answers)
        ((player, answer),) = answers.items()
        self.show_boss(False, self.attacked)
        events = self._turn(player, answer)
        return events if self.result is not None else events + self._next_turn(player)

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """They are disqualified (section 12). The player to move stays the same if it is still there."""
        self._state = None
        events: list[Event] = [self._disqualify(player, fault) for player, fault in faults.items()]
        if ended := self._end_if_one_is_left():
            return events + ended
        if self.joining:
            self.awaited = {player: types.JOIN_GAME for player in self.awaited if player not in self.out}
            return events
        (mover,) = self.awaited
        if mover not in faults:
            return events
        self.show_boss(False, self.attacked)
        return events + self._next_turn(mover)

    # The start and the order of play (sections 1, 5 and 12).

    def _join(self, answers: Mapping[Player, Any]) -> list[Event]:
        """No answer matters, not even an error. A player that gives none is out."""
        events: list[Event] = []
        for player, answer in answers.items():
            if isinstance(answer, Fault):
                if _answered(answer):
                    events.append(Ruling(player, answer, "none: no answer to joinGame matters"))
                else:
                    events.append(self._disqualify(player, answer))
        return events + (self._end_if_one_is_left() or self._give_turn(0))

    def _turn(self, player: Player, answer: Any) -> list[Event]:
        """A turn in a black hole is lost, whatever the answer (section 8)."""
        ship = self.ships[player]
        events: list[Event] = []
        if isinstance(answer, Fault):
            if not _answered(answer):
                return [self._disqualify(player, answer), *self._end_if_one_is_left()]
            loses = not ship.trap or self.options.trapped_penalty
            cost = f"loses {ship.penalty} health and the turn" if loses else "loses the turn"
            events.append(Ruling(player, answer, cost))
        self.messages[player] = None
        if ship.trap:
            if self.options.trapped_penalty:
                ship.health -= ship.penalty
            self.messages[player] = f"trapped: you are trapped in a black hole on {place(ship.cell)}"
            ship.trap -= 1
        elif isinstance(answer, Fault):
            ship.health -= ship.penalty
            self.messages[player] = answer.detail if answer.kind is FaultKind.ILLEGAL else NO_ACTION
        else:
            action = read_action(text_of(answer))
            assert not isinstance(action, str)
            word, q, r = action
            events += (self._move if word == "move" else self._attack)(player, INDEX[q, r])
        return events

    def _next_turn(self, player: Player) -> list[Event]:
        """Passes the turn to the next player; after the last of the round, the boss moves first."""
        if any(not ship.out for ship in self.ships[player + 1 :]):
            return self._give_turn(player + 1)
        events = self._boss_turn()
        self.rounds += 1
        if self.rounds == self.options.rounds:
            return events + self.stop("rounds")
        return events + self._give_turn(0)

    def _give_turn(self, first: Player) -> list[Event]:
        """Gives the turn to the first player from `first` on that is not out."""
        self.awaited = {next(seat for seat in range(first, types.SEATS) if not self.ships[seat].out): types.DO_ACTION}
        return []

    def _disqualify(self, player: Player, fault: Fault) -> Ruling:
        """Takes a player off the board and out of the order of play (section 12)."""
        ship = self.ships[player]
        ship.out, ship.trap = True, 0
        self.out |= {player}
        del self.seat_at[ship.cell]
        return Ruling(player, fault, DISQUALIFIED, out=True)

    def _end_if_one_is_left(self) -> list[Event]:
        """Ends the game if three or all players are disqualified (section 12)."""
        left = types.SEATS - sum([ship.out for ship in self.ships])
        return self.stop("last_one_left" if left else "nobody_left") if left <= 1 else []

    def stop(self, reason: str) -> list[Event]:
        """Ends the game; every end ranks the players alike."""
        order = self.ranking()
        ranks = tuple([order.index(player) + 1 for player in range(types.SEATS)])
        self.result = Result(ranks, tuple([float(ship.score) for ship in self.ships]), reason)
        self.awaited, self._state = {}, None
        left = tuple([player for player, ship in enumerate(self.ships) if not ship.out])
        return [Notice("gameOver", types.GameOver(reason, self.game_state().scoreBoard.players), left)]

    # Moves (sections 6, 8 and 9).

    def _move(self, player: Player, target: Cell) -> list[Event]:
        kind = self.kinds[target]
        if kind == board.WORMHOLE:
            self._go(player, self.wormhole_exit(self.ships[player].cell, target))
            return []
        self._go(player, target)
        if kind == board.BLACKHOLE:
            self.ships[player].trap = types.TRAP_TURNS
        return self._pick_up(player, kind) if kind in board.ITEMS else []

    def _pick_up(self, player: Player, item: int) -> list[Event]:
        """The new item is placed before the old one is removed."""
        ship = self.ships[player]
        if item == board.HEALTH:
            ship.health = ship.max_health
        else:
            ship.gain(types.EXPERIENCE_XP)
        self.place_item(item)
        self.put(ship.cell, EMPTY)
        return [Notice("pickedUp", types.PickedUp(player + 1, "HEALTH" if item == board.HEALTH else "EXPERIENCE"))]

    def _go(self, player: Player, cell: Cell) -> None:
        ship = self.ships[player]
        del self.seat_at[ship.cell]
        ship.cell = cell
        self.seat_at[cell] = player

    # Attacks (section 7).

    def _attack(self, player: Player, target: Cell) -> list[Event]:
        cell = self.first_obstacle(player, target)
        shooter, (q, r) = self.ships[player], CELLS[cell]
        if cell in self.seat_at:
            return [Notice("shot", types.Shot(player + 1, q, r, "PLAYER")), *self._hit(player, self.seat_at[cell])]
        if self.kinds[cell] == board.BOSS:
            shooter.score += shooter.power
            return [Notice("shot", types.Shot(player + 1, q, r, "BOSS"))]
        self.asteroids[cell] -= shooter.power
        if self.asteroids[cell] > 0:
            self.put(cell, board.ASTEROID)
        else:
            del self.asteroids[cell]
            self.put(cell, EMPTY)
            shooter.gain(types.ASTEROID_XP)
        return [Notice("shot", types.Shot(player + 1, q, r, "ASTEROID"))]

    def _hit(self, player: Player, victim: Player) -> list[Event]:
        """Follows the order of section 7, Kill."""
        shooter, hit = self.ships[player], self.ships[victim]
        hit.health -= shooter.power
        shooter.gain(types.HIT_XP)
        if hit.health > 0:
            return []
        hit.deaths += 1
        shooter.gain(types.KILL_XP)
        shooter.score += types.KILL_SCORE
        shooter.kills += 1
        return [self._respawn(victim, player + 1)]

    # The boss (section 10).

    def _boss_turn(self) -> list[Event]:
        ships = self.ships
        pattern, cells = self._pattern()
        left = [player for player, ship in enumerate(ships) if not ship.out]
        direct = [player for player in left if board.RINGS[ships[player].cell] in types.DIRECT_RINGS]
        struck = [player for player in left if ships[player].cell in cells]
        self.show_boss(True, (*[ships[player].cell for player in direct], *cells))
        attack = types.BossAttack(pattern, [player + 1 for player in direct], [player + 1 for player in struck])
        events: list[Event] = [Notice("bossAttack", attack)]
        for player in direct + struck:
            ships[player].health -= types.BOSS_POWER
            if ships[player].health <= 0:
                ships[player].deaths += 1
                events.append(self._respawn(player, None))
        return events

    def _pattern(self) -> tuple[Any, tuple[Cell, ...]]:
        """Returns the pattern of this boss turn, none during a pause, and advances the schedule."""
        if self.idle < self.pause:
            self.idle += 1
            return None, ()
        pattern = board.PATTERNS[self.step_of_boss]
        self.step_of_boss = (self.step_of_boss + 1) % len(board.PATTERNS)
        if self.between_patterns():
            self.idle, self.pause = 0, self.dice.choice(types.PAUSES, "pause")
        return pattern

    # Death and respawn (section 11).

    def _respawn(self, player: Player, by: int | None) -> Notice:
        ship = self.ships[player]
        ship.health, ship.trap = ship.max_health, 0
        self._go(player, self._spawn(player))
        return Notice("died", types.Died(player + 1, by, *CELLS[ship.cell]))

    def _spawn(self, player: Player) -> Cell:
        """Returns the start tile, or else the tile above, the one below, or the nearest empty cell.

        Assumed: without any, it is where the player died, and the search passes through occupied cells.
        """
        start = board.STARTS[player]
        if self.seat_at.get(start, player) == player:
            return start
        for cell in board.BESIDE_STARTS[player]:
            if self.is_free(player, cell, (EMPTY, *board.ITEMS)):
                return cell
        reached = [start]
        for cell in reached:
            for adjacent in NEIGHBOURS[cell]:
                if adjacent != NOWHERE and adjacent not in reached:
                    if self.is_free(player, adjacent, (EMPTY,)):
                        return adjacent
                    reached.append(adjacent)
        return self.ships[player].cell


def _answered(fault: Fault) -> bool:
    """Returns whether the bot gave any answer, even an error (assumed: like no action, since the document is silent).

    Every other fault counts as a time-out.
    """
    return fault.kind in (FaultKind.ILLEGAL, FaultKind.ERROR)


# Positions from views.


def from_view(view: types.GameState, player: Player, options: types.Options, seed: int = 0) -> AIBG5:
    """Returns the position of a call to `player`, so that it can search with the engine.

    Facts that no view has are assumed: no experience points, no finished round, and a boss at the start of its
    schedule.
    """
    names = [shown.name for shown in sorted(view.scoreBoard.players, key=attrgetter("playerIdx"))]
    position = _on_board(Setup(seed, tuple(names), options), view)
    position.awaited = {player: types.DO_ACTION}
    return position


def rebuilt(setup: Setup, view: types.View) -> AIBG5:
    """Returns the position of a full view on the setup's map. ValueError if it is no position."""
    if not 0 <= view.bossStep < len(board.PATTERNS):
        raise ValueError(f"bossStep is {view.bossStep}; expected 0..{len(board.PATTERNS) - 1}")
    state = _on_board(setup, view.gameState)
    for ship, xp in zip(state.ships, view.xp, strict=True):
        ship.xp = xp
    state.messages, state.rounds = list(view.messages), view.rounds
    state.step_of_boss, state.idle, state.pause = view.bossStep, view.idle, view.pauseLength
    state.resume(view.standing)
    return state


def _on_board(setup: Setup, view: types.GameState) -> AIBG5:
    """Returns a position with everything that all players see."""
    shown = {shown.playerIdx - 1: shown for shown in view.scoreBoard.players}
    position = AIBG5(setup)
    position.rows = tuple([tuple(row) for row in view.map.tiles])
    tiles = [tile for row in position.rows for tile in row]
    position.kinds = bytearray([board.KINDS.index(tile.entity.type) for tile in tiles])
    position.asteroids = {
        cell: tile.entity.health for cell, tile in enumerate(tiles) if isinstance(tile.entity.health, int)
    }
    for seat, seen in shown.items():
        out = (view.player1, view.player2, view.player3, view.player4)[seat] is None
        numbers = seen.health, seen.level, 0, seen.kills, seen.deaths, seen.score, seen.trapDuration
        position.ships[seat] = Ship(INDEX[seen.q, seen.r], *numbers, out)
    position.seat_at = {ship.cell: seat for seat, ship in enumerate(position.ships) if not ship.out}
    position.boss_action = view.boss.bossAction
    position.attacked = tuple([INDEX[tile.q, tile.r] for tile in view.boss.bossAttackedTiles])
    position.out = frozenset(seat for seat, ship in enumerate(position.ships) if ship.out)
    return position
