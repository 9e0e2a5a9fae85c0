"""The rules of AI Arena 21 in the order of aiarena21.md: a turn, its auctions, refusals.

Seat 0 is `Team 1`, the first bot on the command line. A cell is (row, col) on the wire, row 0 at the top. The engine
uses one number, row * cols + col.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self

import msgspec

from referee.games.aiarena21.board import Batch, Cell, Ground, drawn, ground_of, names_of, new_items, points_of
from referee.games.aiarena21.fruit import drawn_batch, heat_distance, heatmap
from referee.games.aiarena21.types import (
    AUCTION_TURNS,
    AUCTIONS_A_TURN,
    BIKE,
    BIKE_COST,
    BIKE_STEPS,
    BIKE_TURNS,
    DEPLOYMENT_TURNS,
    METHODS,
    OPENING_TURNS,
    PLAY_AUCTION,
    PLAY_POWERUP,
    PLAY_TRANSPORT,
    PLAY_TURN,
    PORTAL_GUN_COST,
    PORTAL_GUN_TURNS,
    POWER_UPS,
    START_SCORE,
    Auction,
    Deployed,
    FaultCount,
    GameEnded,
    Moved,
    PickedUp,
    Pile,
    Player,
    PowerUp,
    Purchase,
    Situation,
    Spawned,
    Teleported,
    TurnEnded,
    View,
)
from referee.games.contract import Event, Fault, FaultKind, Method, Notice, Result, Ruling, Setup, State, in_brief
from referee.games.contract import Player as Seat
from referee.games.dice import Dice

_encode = msgspec.json.Encoder().encode

_POWERUP: tuple[Mapping[Seat, Method], ...] = ({0: PLAY_POWERUP}, {1: PLAY_POWERUP})
_TURN: Mapping[Seat, Method] = {0: PLAY_TURN, 1: PLAY_TURN}
_AUCTION: Mapping[Seat, Method] = {0: PLAY_AUCTION, 1: PLAY_AUCTION}
_TRANSPORT: tuple[Mapping[Seat, Method], ...] = ({0: PLAY_TRANSPORT}, {1: PLAY_TRANSPORT})
_OVER: Mapping[Seat, Method] = {}
_PENALTIES = {
    "play_powerup": "buys nothing",
    "play_turn": "stays",
    "play_auction": "bids 0",
    "play_transport": "the loser goes to a random cell",
}


_FORMAT = re.compile(r"[0-9]+,[0-9]+")
_BID = re.compile(r"\s*([+-]?)([0-9]+)\s*")
_LONGEST_NUMBER = 18  # digits without leading zeros; more than any row or score has


# Answers (sections 5 and 6).


def legal_answers(method: Method, ground: Ground, me: Player) -> Iterator[Any]:
    """Yields every legal answer of a player to a function, in one form each.

    Power-ups in the order of POWER_UPS, bids from 0 up, cells in row-major order without leading zeros.
    """
    if method is PLAY_POWERUP:
        yield from POWER_UPS
    elif method is PLAY_AUCTION:
        yield from range(me.score + 1)
    else:
        row, col = me.location
        at = row * ground.cols + col
        cells = ground.reach(at, me.bike, me.portal_gun) if method is PLAY_TURN else ground.free
        for cell in cells:
            row, col = ground.location[cell]
            yield f"{row},{col}"


def bid_of(answer: Any) -> int | None:
    """Reads a bid: a JSON integer, or ASCII digits with a sign and blanks around them. None if it is neither."""
    if type(answer) is int:
        return answer
    found = _BID.fullmatch(answer) if isinstance(answer, str) else None
    if found is None:
        return None
    sign, digits = found[1], found[2].lstrip("0")
    size = int(digits[:_LONGEST_NUMBER] or "0") if len(digits) <= _LONGEST_NUMBER else 10**_LONGEST_NUMBER
    return -size if sign == "-" else size


def cell_of(answer: Any, ground: Ground) -> Cell | str:
    """Returns the free cell that "row,col" names, or why it names none."""
    if not isinstance(answer, str) or _FORMAT.fullmatch(answer) is None:
        return f'{in_brief(answer)} is no cell; wanted "row,col" in digits, such as "6,11"'
    row, col = [number.lstrip("0") or "0" for number in answer.split(",")]
    if max(len(row), len(col)) > _LONGEST_NUMBER or int(row) >= ground.rows or int(col) >= ground.cols:
        return f"{in_brief(answer)} is off the map; rows are 0..{ground.rows - 1}, columns 0..{ground.cols - 1}"
    cell = int(row) * ground.cols + int(col)
    return cell if ground.is_free[cell] else f"{in_brief(answer)} is blocked; wanted a free cell"


class AIArena21(State):
    """A position of a match."""

    METHODS = METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        """ValueError, one line, if the option `map` is no map."""
        super().__init__(setup, dice)
        self.turns: int = setup.options.turns
        self.ground = ground_of(setup.options)
        self.warnings = self.ground.warnings
        self.turn = 0
        self.score = [START_SCORE, START_SCORE]
        self.spawns = self._spawns()
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
        self.result: Result | None = None
        self.awaited = _POWERUP[0]
        self._begin_turn()

    # The contract of every engine.

    def opening(self) -> list[Event]:
        return [Notice("spawned", Spawned(self._located(self.spawns)))]

    def _view(self, player: Seat) -> Situation:
        """Of the next fruit a player sees only the heat; everything else is open."""
        return Situation(
            self.ground.map,
            self._player(player),
            self._player(1 - player),
            self.fruit.points,
            self.new_items,
            self.heat,
            self.turns - self.turn,
        )

    def refusal(self, player: Seat, answer: Any) -> str | None:
        """A power-up that the player cannot pay for is no fault: nothing happens (section 5)."""
        method = self.awaited[player]
        if method is PLAY_POWERUP:
            known = isinstance(answer, str) and answer in POWER_UPS
            return None if known else f'{in_brief(answer)} is no power-up; wanted "bike", "portal gun" or ""'
        if method is PLAY_AUCTION:
            return self._bid_refusal(player, answer)
        cell = cell_of(answer, self.ground)
        if isinstance(cell, str):
            return cell
        return self._move_refusal(player, cell) if method is PLAY_TURN else None

    def step(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """No fault ends the game (section 9). A player whose process has ended buys nothing, stays and bids 0 from then
        on. The game ends if both have."""
        events: list[Event] = []
        for player, answer in answers.items():
            if isinstance(answer, Fault):
                self._count(player, answer)
                events.append(self.rule(player, answer, _PENALTIES[self.awaited[player].name]))
        if len(self.out) == 2:
            return events + self._finish("nobody_left")
        method = next(iter(self.awaited.values()))
        if method is PLAY_POWERUP:
            events += self._buy(*next(iter(answers.items())))
        elif method is PLAY_TURN:
            events += self._move(answers)
        elif method is PLAY_AUCTION:
            events += self._bid(answers)
        else:
            events += self._transport(*next(iter(answers.items())))
        return events

    def stop(self, reason: str) -> list[Event]:
        """The higher score wins, as at the regular end."""
        return self._finish(reason)

    def _forfeited(self, faults: Mapping[Seat, Fault]) -> list[Event]:
        """The other player wins at once, whatever the points (assumed: the document has only faults in an answer, after
        which the game goes on)."""
        for player, fault in faults.items():
            self._count(player, fault)
        over = self._walkover(faults)
        rulings: list[Event] = [Ruling(player, fault, "loses", True) for player, fault in faults.items()]
        return rulings + self._finish(over.reason, over.ranks)

    def _legal(self, player: Seat) -> Iterator[Any]:
        """In the order of `legal_answers`."""
        return legal_answers(self.awaited[player], self.ground, self._player(player))

    def _full_view(self) -> View:
        return View(
            self.turn,
            self.turns,
            self.ground.map,
            (self._player(0), self._player(1)),
            (self.bike_turns[0], self.bike_turns[1]),
            self.fruit.piles,
            self._piles(self.incoming),
            self.heat,
            self.last_auction,
            (self.portal_gun_turns[0], self.portal_gun_turns[1]),
            self._located(self.spawns),
            self._piles(self.deployed),
            self.auctions,
            self.bids,
            self._fault_counts(),
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
        return self.fruit.key() + _encode(
            (
                self.turn,
                self.score,
                self.cells,
                self.bike_turns,
                self.portal_gun_turns,
                self.last_auction,
                self.auctions,
                self.bids,
                [(player, method.name) for player, method in self.awaited.items()],
                self.faults,
                self.result,
                self.incoming,
                self.deployed,
                self.dice.state,
                *sorted(self.out),
            )
        )

    def __str__(self) -> str:
        """Draws the map, then a line for each player."""
        lines = drawn(self.ground.map.cells, self._located(self.cells), self.fruit.piles)
        for player, name in enumerate(self.setup.names):
            row, col = self.ground.location[self.cells[player]]
            bike = f", bike for {self.bike_turns[player]} turns" if self.bike_turns[player] else ""
            gun = ", portal gun" if self.portal_gun_turns[player] else ""
            lines.append(f"{player} {name}: {self.score[player]} points at ({row},{col}){bike}{gun}")
        calls = " and ".join(f"{method.name} of {player}" for player, method in self.awaited.items())
        lines.append(f"turn {self.turn} of {self.turns}, " + (calls or f"over: {self.result and self.result.reason}"))
        return "\n".join(lines)

    # The start (section 3).

    def _spawns(self) -> tuple[Cell, Cell]:
        spawns = list(self.ground.spawns[:2])
        while len(spawns) < 2:
            spawns.append(self.dice.choice([cell for cell in self.ground.free if cell not in spawns], "spawn"))
        first, second = spawns
        return (second, first) if self.dice.below(2, "swap") else (first, second)

    # A turn, in the order of section 4.

    def _begin_turn(self) -> list[Event]:
        """Deploys fruit and makes the heatmap; then the first player may buy a power-up."""
        events: list[Event] = []
        self._ask(_POWERUP[1] if 0 in self.out else _POWERUP[0])
        self.in_opening = self.opening_turn()
        self.auctions = 0
        self.deployed, self.new_items = {}, self.ground.no_items
        if self.turn % DEPLOYMENT_TURNS == 0:
            if self.turn:
                events = self._deploy()
            self.incoming = self.dice.roll(partial(drawn_batch, self.ground), "batch")
        if self.turn % 2 == 0:  # heat changes in even turns only
            self.heat = heatmap(self.ground, self.incoming, heat_distance(self.turn))
        return events

    def _deploy(self) -> list[Event]:
        ground, self.deployed = self.ground, self.incoming
        self.fruit = self.fruit.with_batch(self.deployed)
        self.new_items = new_items(ground, self.deployed)
        return [Notice("deployed", Deployed(self.turn, self._piles(self.deployed)))]

    def _buy(self, player: Seat, answer: PowerUp | Fault) -> list[Event]:
        """Applies a purchase (section 5); then the other player buys, or both move."""
        self._ask(_POWERUP[1] if player == 0 and 1 not in self.out else _TURN)
        if isinstance(answer, Fault) or answer == "":
            return []
        cost = BIKE_COST if answer == BIKE else PORTAL_GUN_COST
        bought = self.score[player] >= cost
        if bought:
            self.score[player] -= cost
            if answer == BIKE:
                self.bike_turns[player] += BIKE_TURNS
            else:
                self.portal_gun_turns[player] += PORTAL_GUN_TURNS
        return [Notice("purchase", Purchase(player, answer, bought, self.score[player]))]

    def _move(self, answers: Mapping[Seat, Any]) -> list[Event]:
        before = list(self.cells)
        for player, answer in answers.items():
            if not isinstance(answer, Fault):
                self.cells[player] = self._named(answer)
        rows_cols = self._located(self.cells)
        deltas = [
            (row - from_row, col - from_col)
            for (row, col), (from_row, from_col) in zip(rows_cols, self._located(before), strict=True)
        ]
        return [Notice("moved", Moved(rows_cols, (deltas[0], deltas[1]))), *self._auctions()]

    def _auctions(self) -> list[Event]:
        """Asks for bids if an auction is due; else ends the turn. Called again after each auction."""
        if self._cause() is None:
            return self._end_turn()
        if self.auctions == AUCTIONS_A_TURN:
            shared = self.cells[0]
            elsewhere = [cell for cell in self.ground.free if cell != shared]
            return [self._teleport(self._loser(), self.dice.choice(elsewhere, "teleport"), False), *self._end_turn()]
        self._ask(_AUCTION)
        return []

    def _cause(self) -> Literal["meeting", "clock"] | None:
        if self.cells[0] == self.cells[1]:
            return "meeting"
        return "clock" if self.turn - self.last_auction == AUCTION_TURNS else None

    def _end_turn(self) -> list[Event]:
        """Picks up fruit and counts power-ups down; then the next turn, or the end."""
        events: list[Event] = []
        for player in (0, 1):
            events += self._pick_up(player)
        for counts in (self.bike_turns, self.portal_gun_turns):
            counts[:] = [max(0, count - 1) for count in counts]
        ended = TurnEnded(self.turn, self._located(self.cells), (self.score[0], self.score[1]))
        events.append(Notice("turn_ended", ended))
        self.turn += 1
        if self.turn == self.turns:
            return events + self._finish("equal_points" if self.score[0] == self.score[1] else "points")
        return events + self._begin_turn()

    def _pick_up(self, player: Seat) -> list[Event]:
        row, col = self.ground.location[self.cells[player]]
        letters = self.fruit.piles[row][col]
        if not letters:
            return []
        self.fruit = self.fruit.without(row, col)
        self.score[player] += points_of(letters)
        return [Notice("picked_up", PickedUp(player, (row, col), names_of(letters), self.score[player]))]

    def _finish(self, reason: str, ranks: tuple[int, ...] | None = None) -> list[Event]:
        """Ends the game, ranked by points unless `ranks` is given."""
        first, second = self.score
        ranks = ranks or ((1, 1) if first == second else (1, 2) if first > second else (2, 1))
        self.result = Result(ranks, (float(first), float(second)), reason)
        self.awaited = _OVER
        winner = None if ranks == (1, 1) else ranks.index(1)
        return [Notice("game_ended", GameEnded(winner, (first, second), self._fault_counts()))]

    # Auctions (section 6).

    def _bid(self, answers: Mapping[Seat, Any]) -> list[Event]:
        """A tie teleports both players; else the winner is asked for the loser's cell."""
        cause = self._cause()
        assert cause is not None
        bids = {player: bid_of(answer) or 0 for player, answer in answers.items() if not isinstance(answer, Fault)}
        self.bids = (bids.get(0, 0), bids.get(1, 0))
        self.auctions += 1
        self.last_auction = self.turn
        winner = self._winner()
        if winner is not None:
            self.awaited = _TRANSPORT[winner]
            return [Notice("auction", Auction(cause, self.bids, winner, self._price()))]
        events: list[Event] = [Notice("auction", Auction(cause, self.bids, None, 0))]
        for player in (0, 1):
            events.append(self._teleport(player, self.dice.choice(self.ground.free, "teleport"), False))
        return events + self._auctions()

    def _transport(self, winner: Seat, answer: str | Fault) -> list[Event]:
        """Moves the loser to the winner's cell, or a random one after a fault; the winner pays."""
        chosen = not isinstance(answer, Fault)
        cell = self._named(answer) if isinstance(answer, str) else self.dice.choice(self.ground.free, "teleport")
        self.score[winner] -= self._price()
        return [self._teleport(1 - winner, cell, chosen), *self._auctions()]

    def _winner(self) -> Seat | None:
        """Returns the winner of the last auction; None = a tie."""
        first, second = self.bids
        return None if first == second else int(second > first)

    def _loser(self) -> Seat:
        """Returns the player that moves away after ten auctions on one cell: player 1 after a tie."""
        winner = self._winner()
        return 1 if winner is None else 1 - winner

    def _price(self) -> int:
        return sum(self.bids) // 2

    def _teleport(self, player: Seat, cell: Cell, chosen: bool) -> Notice:
        self.cells[player] = cell
        return Notice("teleported", Teleported(player, self.ground.location[cell], chosen))

    # Refusals.

    def _bid_refusal(self, player: Seat, answer: Any) -> str | None:
        bid = bid_of(answer)
        if bid is None:
            return f"{in_brief(answer)} is no bid; wanted a whole number, 0..{self.score[player]}"
        if 0 <= bid <= self.score[player]:
            return None
        return f"the bid is {in_brief(answer)}; wanted 0..{self.score[player]}, your score"

    def _move_refusal(self, player: Seat, target: Cell) -> str | None:
        """Applies section 5 in order; `target` is a free cell."""
        ground, at = self.ground, self.cells[player]
        distance = ground.distance(at, target)
        if distance <= 1 or self.portal_gun_turns[player]:
            return None
        bike = self.bike_turns[player] > 0
        if bike and distance <= BIKE_STEPS and target in ground.within(at, BIKE_STEPS):
            return None
        (row, col), (to_row, to_col) = ground.location[at], ground.location[target]
        there = f"({to_row},{to_col}) is {distance} away from ({row},{col})"
        if not bike:
            return f"{there}; without a power-up a move goes 1 far"
        if distance > BIKE_STEPS:
            return f"{there}; a bike goes {BIKE_STEPS} far"
        return f"{there}, but no path of {BIKE_STEPS} steps through free cells leads there"

    # Small parts.

    def opening_turn(self) -> bool:
        """Returns whether the calls of this turn have more time."""
        return self.turn < OPENING_TURNS

    def _ask(self, methods: Mapping[Seat, Method]) -> None:
        """Awaits those seats that are not out; at least one is not."""
        if self.out:
            methods = {player: method for player, method in methods.items() if player not in self.out}
        self.awaited = methods

    def _count(self, player: Seat, fault: Fault) -> None:
        self.faults[player][fault.kind] = self.faults[player].get(fault.kind, 0) + 1

    def _fault_counts(self) -> list[FaultCount]:
        return [FaultCount(player, *count) for player in (0, 1) for count in self.faults[player].items()]

    def _named(self, answer: str) -> Cell:
        """Returns the cell that a legal answer names."""
        row, _, col = answer.partition(",")
        return int(row.lstrip("0") or "0") * self.ground.cols + int(col.lstrip("0") or "0")

    def _player(self, player: Seat) -> Player:
        return Player(
            self.setup.names[player],
            self.score[player],
            self.ground.location[self.cells[player]],
            self.bike_turns[player] > 0,
            self.portal_gun_turns[player] > 0,
        )

    def _located(self, cells: Sequence[Cell]) -> tuple[tuple[int, int], tuple[int, int]]:
        return self.ground.location[cells[0]], self.ground.location[cells[1]]

    def _piles(self, batch: Batch) -> list[Pile]:
        return [Pile(self.ground.location[cell], names_of(letters)) for cell, letters in batch.items()]
