"""The rules of AI Arena 21 in the order of aiarena21.md: a turn, its auctions; then positions from views.

Seat 0 is `Team 1`, the first bot on the command line. A cell is (row, col) on the wire, row 0 at the top. The engine
uses one number, row * cols + col.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from referee.games.aiarena21 import types
from referee.games.aiarena21.answers import bid_of, cell_named, legal_answers, refusal
from referee.games.aiarena21.board import (
    Cell,
    Fruit,
    batch_of,
    drawn_batch,
    heat_distance,
    heatmap,
    names_of,
    new_items,
    points_of,
)
from referee.games.aiarena21.position import Position
from referee.games.contract import Event, Fault, Method, Notice, Player, Result, Setup, draw, win
from referee.games.dice import Dice

_BOTH_MOVE = {0: types.PLAY_TURN, 1: types.PLAY_TURN}
_BOTH_BID = {0: types.PLAY_AUCTION, 1: types.PLAY_AUCTION}
_PENALTIES = {
    "play_powerup": "buys nothing",
    "play_turn": "stays",
    "play_auction": "bids 0",
    "play_transport": "the loser goes to a random cell",
}


class AIArena21(Position):
    """A position with its rules."""

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self._begin_turn()

    refusal = refusal

    def _legal(self, player: Player) -> Iterator[Any]:
        """In the order of `legal_answers`."""
        return legal_answers(self.awaited[player], self.ground, self.shown(player))

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        """No fault ends the game (section 9).

        A player whose process has ended buys nothing, stays and bids 0 from then on. The game ends if both have.
        """
        events: list[Event] = []
        for player, answer in answers.items():
            if isinstance(answer, Fault):
                self._count(player, answer)
                events.append(self.rule(player, answer, _PENALTIES[self.awaited[player].name]))
        if len(self.out) == 2:
            return events + self.stop("nobody_left")
        method = next(iter(self.awaited.values()))
        if method is types.PLAY_POWERUP:
            events += self._buy(*next(iter(answers.items())))
        elif method is types.PLAY_TURN:
            events += self._move(answers)
        elif method is types.PLAY_AUCTION:
            events += self._bid(answers)
        else:
            events += self._transport(*next(iter(answers.items())))
        return events

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """The other player wins at once, whatever the points.

        Assumed: the document has only faults in an answer, after which the game goes on.
        """
        for player, fault in faults.items():
            self._count(player, fault)
        return super()._forfeited(faults)

    # A turn, in the order of section 4.

    def _begin_turn(self) -> list[Event]:
        """Deploys fruit and makes the heatmap; then the first player may buy a power-up."""
        events: list[Event] = []
        self._ask({int(0 in self.out): types.PLAY_POWERUP})
        self.in_opening = self.opening_turn()
        self.auctions = 0
        self.deployed, self.new_items = {}, self.ground.no_items
        if self.turn % types.DEPLOYMENT_TURNS == 0:
            if self.turn:
                self.deployed = self.incoming
                self.fruit = self.fruit.with_batch(self.deployed)
                self.new_items = new_items(self.ground, self.deployed)
                events = [Notice("deployed", types.Deployed(self.turn, self.piles(self.deployed)))]
            self.incoming = self.dice.roll(partial(drawn_batch, self.ground), "batch")
        if self.turn % 2 == 0:  # heat changes in even turns only
            self.heat = heatmap(self.ground, self.incoming, heat_distance(self.turn))
        return events

    def _buy(self, player: Player, answer: types.PowerUp | Fault) -> list[Event]:
        """Applies a purchase (section 5); then the other player buys, or both move."""
        self._ask({1: types.PLAY_POWERUP} if player == 0 and 1 not in self.out else _BOTH_MOVE)
        if isinstance(answer, Fault) or answer == "":
            return []
        cost = types.BIKE_COST if answer == types.BIKE else types.PORTAL_GUN_COST
        bought = self.score[player] >= cost
        if bought:
            self.score[player] -= cost
            if answer == types.BIKE:
                self.bike_turns[player] += types.BIKE_TURNS
            else:
                self.portal_gun_turns[player] += types.PORTAL_GUN_TURNS
        return [Notice("purchase", types.Purchase(player, answer, bought, self.score[player]))]

    def _move(self, answers: Mapping[Player, Any]) -> list[Event]:
        before = list(self.cells)
        for player, answer in answers.items():
            if not isinstance(answer, Fault):
                self.cells[player] = cell_named(answer, self.ground)
        rows_cols = self.located(self.cells)
        deltas = [
            (row - from_row, col - from_col)
            for (row, col), (from_row, from_col) in zip(rows_cols, self.located(before), strict=True)
        ]
        return [Notice("moved", types.Moved(rows_cols, (deltas[0], deltas[1]))), *self._auctions()]

    def _auctions(self) -> list[Event]:
        """Asks for bids if an auction is due; else ends the turn. Called again after each auction."""
        if self.cause() is None:
            return self._end_turn()
        if self.auctions == types.AUCTIONS_A_TURN:
            loser = 0 if self.winner() == 1 else 1  # after a tie, player 1 moves away
            elsewhere = [cell for cell in self.ground.free if cell != self.cells[0]]
            return [self._teleport(loser, self.dice.choice(elsewhere, "teleport"), False), *self._end_turn()]
        self._ask(_BOTH_BID)
        return []

    def _end_turn(self) -> list[Event]:
        """Picks up fruit and counts power-ups down; then the next turn, or the end."""
        events: list[Event] = []
        for player in (0, 1):
            events += self._pick_up(player)
        for counts in (self.bike_turns, self.portal_gun_turns):
            counts[:] = [max(0, count - 1) for count in counts]
        ended = types.TurnEnded(self.turn, self.located(self.cells), (self.score[0], self.score[1]))
        events.append(Notice("turn_ended", ended))
        self.turn += 1
        if self.turn == self.turns:
            return events + self.stop("equal_points" if self.score[0] == self.score[1] else "points")
        return events + self._begin_turn()

    def _pick_up(self, player: Player) -> list[Event]:
        row, col = self.ground.location[self.cells[player]]
        letters = self.fruit.piles[row][col]
        if not letters:
            return []
        self.fruit = self.fruit.without(row, col)
        self.score[player] += points_of(letters)
        return [Notice("picked_up", types.PickedUp(player, (row, col), names_of(letters), self.score[player]))]

    def stop(self, reason: str) -> list[Event]:
        """Ends the game; the higher score wins."""
        first, second = self.score
        return self.finish(draw(reason) if first == second else win(int(second > first), reason))

    def finish(self, result: Result) -> list[Event]:
        """The scores are points, for the winner too."""
        first, second = self.score
        self.result, self.awaited = Result(result.ranks, (float(first), float(second)), result.reason), {}
        winner = None if result.ranks == (1, 1) else result.ranks.index(1)
        return [Notice("game_ended", types.GameEnded(winner, (first, second), self.fault_counts()))]

    # Auctions (section 6).

    def _bid(self, answers: Mapping[Player, Any]) -> list[Event]:
        """A tie teleports both players; else the winner is asked for the loser's cell."""
        cause = self.cause()
        assert cause is not None
        bids = {player: bid_of(answer) or 0 for player, answer in answers.items() if not isinstance(answer, Fault)}
        self.bids = (bids.get(0, 0), bids.get(1, 0))
        self.auctions += 1
        self.last_auction = self.turn
        winner = self.winner()
        if winner is not None:
            self.awaited = {winner: types.PLAY_TRANSPORT}
            return [Notice("auction", types.Auction(cause, self.bids, winner, self.price()))]
        events: list[Event] = [Notice("auction", types.Auction(cause, self.bids, None, 0))]
        for player in (0, 1):
            events.append(self._teleport(player, self.dice.choice(self.ground.free, "teleport"), False))
        return events + self._auctions()

    def _transport(self, winner: Player, answer: Any) -> list[Event]:
        """Moves the loser to the winner's cell, or a random one after a fault; the winner pays."""
        chosen = not isinstance(answer, Fault)
        cell = cell_named(answer, self.ground) if chosen else self.dice.choice(self.ground.free, "teleport")
        self.score[winner] -= self.price()
        return [self._teleport(1 - winner, cell, chosen), *self._auctions()]

    def _teleport(self, player: Player, cell: Cell, chosen: bool) -> Notice:
        self.cells[player] = cell
        return Notice("teleported", types.Teleported(player, self.ground.location[cell], chosen))

    # Small parts.

    def _ask(self, methods: Mapping[Player, Method]) -> None:
        """Awaits those seats that are not out; at least one is not."""
        if self.out:
            methods = {player: method for player, method in methods.items() if player not in self.out}
        self.awaited = methods

    def _count(self, player: Player, fault: Fault) -> None:
        self.faults[player][fault.kind] = self.faults[player].get(fault.kind, 0) + 1


# Positions from views.


def rebuilt(setup: Setup, view: types.View) -> AIArena21:
    """Returns the position of a full view. ValueError if its map is not the setup's."""
    state = AIArena21(setup)
    ground = state.ground
    if tuple(view.game_map.cells) != tuple(ground.map.cells):
        raise ValueError("the view is of another map than the setup's")
    state.turn = view.turn
    state.score = [player.score for player in view.players]
    state.cells = [row * ground.cols + col for row, col in (player.location for player in view.players)]
    first, second = view.spawns
    state.spawns = (first[0] * ground.cols + first[1], second[0] * ground.cols + second[1])
    state.bike_turns, state.portal_gun_turns = list(view.bike_turns), list(view.portal_gun_turns)
    piles = tuple(map(tuple, view.items))
    state.fruit = Fruit(piles, tuple([tuple(map(points_of, row)) for row in piles]))
    state.incoming, state.deployed = batch_of(ground, view.incoming), batch_of(ground, view.deployed)
    state.new_items = new_items(ground, state.deployed) if state.deployed else ground.no_items
    state.heat = heatmap(ground, state.incoming, heat_distance(view.turn))
    state.last_auction, state.auctions, state.bids = view.last_auction, view.auctions, view.bids
    for count in view.faults:
        state.faults[count.player][count.kind] = count.count
    state.resume(view.standing)
    state.in_opening = state.opening_turn()
    return state
