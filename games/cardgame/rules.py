"""The rules of the card game in the order of cardgame.md: turns, actions, deaths, the end.

At the end: positions from views.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from referee.games.cardgame import board, types
from referee.games.cardgame.answers import legal, read_move, refusal
from referee.games.cardgame.board import COST, DECK, HEALTH, Board, Placed, Side
from referee.games.cardgame.position import Position
from referee.games.contract import LOSES, Event, Fault, FaultKind, Player, Ruling, Setup, draw, win
from referee.games.dice import Dice


class CardGame(Position):
    """A position with its rules."""

    refusal = refusal
    _legal = legal

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        if self.starting:
            return self._started(answers)
        if self.result is not None:
            return self._closed(answers)
        ((player, answer),) = answers.items()
        if isinstance(answer, Fault):
            return [self._ruling(player, answer)]
        move = read_move(self, player, answer)
        assert isinstance(move, tuple)
        self._act(player, *move)
        return []

    # A turn (sections 2 to 4).

    def _started(self, answers: Mapping[Player, Any]) -> list[Event]:
        """A player at fault loses; if both are, nobody wins (11.3)."""
        faults = {seat: answer for seat, answer in answers.items() if isinstance(answer, Fault)}
        if not faults:
            self._begin_turn(self.options.first)
            return []
        rulings: list[Event] = [self.rule(seat, fault, LOSES) for seat, fault in faults.items()]
        return rulings + self.finish(self._walkover(faults))

    def _begin_turn(self, player: Player) -> None:
        self.turn += 1
        self.active = player
        side = self.sides[player]
        side.max_mana = side.mana = min(types.MAX_MANA, side.max_mana + 1)
        side.power_used = False
        for each in self.sides:
            if each.board:
                each.board = tuple([Placed(m.id, m.damage, m.growth, m.turns_in_play + 1) for m in each.board])
        self._draw_card(side)
        if side.health == 0:
            self.finish(win(1 - player, "fatigue"))
        else:
            self.awaited = {player: types.PLAY}

    def _draw_card(self, side: Side) -> None:
        if not side.deck:
            side.fatigue += 1
            side.health = max(0, side.health - side.fatigue)
            return
        card = side.deck[0]
        side.deck = side.deck[1:]
        if len(side.hand) < types.HAND_SIZE:
            side.hand += (card,)
        else:
            side.burnt += (card,)

    # Actions (sections 5 and 6).

    def _act(self, player: Player, action: int, first: int, second: int) -> None:
        side, rival = self.sides[player], self.sides[1 - player]
        if action == types.END_TURN:
            self._begin_turn(1 - player)
            return
        if action == types.PLACE_MINION:
            self._take(side, first)
            return
        if action == types.HERO_POWER:
            side.mana -= types.HERO_POWER_COST
            side.power_used = True
            board.hit(rival, 0, types.HERO_POWER_DAMAGE)
        elif action == types.PLAY_SPELL:
            self._cast(side, rival, first, second)
        else:
            board.fight(side, rival, first - 1, second)
        self._bury(player)

    def _take(self, side: Side, index: int) -> int:
        """Pays for a card of the hand and puts a minion on the board. Returns the card."""
        card = side.hand[index]
        side.mana -= COST[card]
        side.hand = side.hand[:index] + side.hand[index + 1 :]
        if HEALTH[card]:
            side.board += (Placed(card),)
        return card

    def _cast(self, side: Side, rival: Side, index: int, target: int) -> None:
        card = self._take(side, index)
        if card == types.DEADLY_SHOT:
            victim = self.dice.below(len(rival.board), "victim")
            board.replace_minion(rival, victim, board.destroyed(rival.board[victim]))
        elif card == types.HOUNDS:
            board.summon(side, types.HOUND, len(rival.board))
        elif card == types.ARCANE_SHOT:
            board.hit(rival, target, 2)
        elif card == types.FIREBALL:
            board.hit(rival, target, 6)
        else:
            board.hit(rival, target, 5 if side.board else 3)

    # Deaths and the end (sections 7, 8 and 11.3).

    def _bury(self, player: Player) -> None:
        """Removes all minions that died in this action together; then the triggers, unless a hero died."""
        dead: list[list[int]] = []
        for side in self.sides:
            gone = [m.id for m in side.board if m.damage >= m.max_health]
            if gone:
                side.board = tuple([m for m in side.board if m.damage < m.max_health])
            dead.append(gone)
        if self.sides[1 - player].health == 0:
            both = self.sides[player].health == 0  # cannot happen: damage hits one hero only
            self.finish(draw("both_heroes_dead") if both else win(player, "hero_dead"))
            return
        for side, gone in zip(self.sides, dead, strict=True):
            for card in gone:
                board.grow(side)
                if card == types.HIGHMANE:
                    board.summon(side, types.CUB, board.CUBS)

    def _ruling(self, player: Player, fault: Fault) -> Ruling:
        """A fault in `play` costs the turn, or the game if the process has ended or the time-outs are used up."""
        side = self.sides[player]
        penalty = "turn ends"
        if fault.kind is FaultKind.TIMEOUT:
            side.timeouts += 1
            penalty = f"turn ends, time-out {side.timeouts} of {self.options.timeouts}"
        if fault.fatal or side.timeouts >= self.options.timeouts:
            ruling = self.rule(player, fault, LOSES)
            self.finish(win(1 - player, fault.kind.value))
            return ruling
        self._begin_turn(1 - player)
        return self.rule(player, fault, penalty)


# Positions from views.


def from_view(view: types.GameState, player: Player, power_used: bool = False, seed: int = 0) -> CardGame:
    """Returns the position of a call to `player`, so that a bot can search in its turn.

    Facts that no view has are assumed: `seed` deals the rival's hand and both decks from all cards out of sight, played
    ones included; crystals equal the mana shown, and there was no fatigue or time-out. The bot has to remember
    whether it used the hero power in this turn.
    """
    position = CardGame(Setup(seed, ("0", "1"), types.Options()))
    position.turn, position.active, position.awaited = 1, player, {player: types.PLAY}
    own, rival = position.sides[player], position.sides[1 - player]
    own.hand = tuple([card.id for card in view.player_hand])
    own.board, rival.board = _board(view.player_target, True), _board(view.opponent_target, False)
    own.health, rival.health = view.hero_health, view.opponent_health
    own.mana = own.max_mana = view.player_mana
    rival.mana = rival.max_mana = view.opponent_mana
    own.power_used = power_used
    own.deck = _unseen(own.hand, own.board, position.dice)
    hidden = _unseen((), rival.board, position.dice)
    rival.hand, rival.deck = hidden[: view.n_opponent_hand], hidden[view.n_opponent_hand :]
    return position


def _board(targets: Sequence[types.Target], own: bool) -> Board:
    minions = [target for target in targets if isinstance(target, types.Minion)]
    return tuple([_seen(minion, own) for minion in minions])


def _seen(minion: types.Minion, own: bool) -> Placed:
    """The player's own minion that need not wait and may not attack has attacked."""
    charge = minion.id == types.HOUND or any([buff.charge for buff in minion.buffs])
    attacks = int(own and not minion.can_attack and (minion.turns_in_play > 0 or charge))
    return _whole(minion, attacks)


def _unseen(hand: Sequence[int], minions: Board, dice: Dice) -> tuple[int, ...]:
    """Returns the 25 cards without those of a hand and a board, in random order."""
    cards = list(DECK)
    for card in (*hand, *[minion.id for minion in minions]):
        if card in cards:  # a token is not among the 25 cards
            cards.remove(card)
    dice.shuffle(cards)
    return tuple(cards)


def rebuilt(setup: Setup, view: types.View) -> CardGame:
    """Returns the position of a full view."""
    state = CardGame(setup)
    state.turn, state.active = view.turn, view.active
    state.sides = (_side(view.players[0]), _side(view.players[1]))
    state.resume(view.standing)
    return state


def _side(owned: types.Owned) -> Side:
    members = asdict(owned)
    attacks = members.pop("attacks")
    board = tuple([_whole(minion, count) for minion, count in zip(owned.board, attacks, strict=True)])
    return Side(**{**members, "board": board})


def _whole(minion: types.Minion, attacks: int) -> Placed:
    growth = sum([buff.id == types.SCAVENGER for buff in minion.buffs])
    return Placed(minion.id, minion.max_health - minion.health, growth, minion.turns_in_play, attacks)
