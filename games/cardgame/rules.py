"""The rules of the card game in the order of cardgame.md: set-up, turns, actions, deaths, the end.

Seat 0 moves first unless the option `first` says otherwise. A player is asked for one action at a time, with the
current state, until it ends its turn. The state contains nothing that the player may not see.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy as twin_of
from typing import Any, Self

import msgspec

from referee.games.cardgame.answers import read_move
from referee.games.cardgame.board import (
    AIMED_SPELLS,
    COST,
    CUBS,
    DECK,
    HEALTH,
    HEROES,
    IN_HAND,
    LABELS,
    OPENING_HAND,
    Placed,
    Side,
    destroyed,
    fight,
    grow,
    hit,
    minions_shown,
    ready,
    replace_minion,
    summon,
)
from referee.games.cardgame.types import (
    ARCANE_SHOT,
    ATTACK,
    BOARD_SIZE,
    CUB,
    DEADLY_SHOT,
    END,
    END_TURN,
    FIREBALL,
    HAND_SIZE,
    HERO_POWER,
    HERO_POWER_COST,
    HERO_POWER_DAMAGE,
    HIGHMANE,
    HOUND,
    HOUNDS,
    MAX_MANA,
    METHODS,
    PLACE_MINION,
    PLAY,
    PLAY_SPELL,
    START,
    End,
    GameState,
    Options,
    Owned,
    Play,
    Start,
    View,
)
from referee.games.contract import (
    Event,
    Fault,
    FaultKind,
    Method,
    Player,
    Result,
    Ruling,
    Setup,
    State,
    draw,
    walkover,
    win,
)
from referee.games.dice import Dice

_encode = msgspec.json.Encoder().encode

_START: Mapping[Player, Method] = {0: START, 1: START}
_PLAY: tuple[Mapping[Player, Method], ...] = ({0: PLAY}, {1: PLAY})
_OVER: Mapping[Player, Method] = {}


class CardGame(State):
    """A position."""

    METHODS = METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.options: Options = setup.options
        self.turn = 0
        self.active: Player = self.options.first
        """The player whose turn it is, or will be before the first turn."""
        self.result: Result | None = None
        self.awaited = _START
        sides = [self._dealt(count) for count in OPENING_HAND]
        self.sides = (sides[0], sides[1]) if self.active == 0 else (sides[1], sides[0])

    def params(self, player: Player) -> Start | Play | End:
        method = self.awaited[player]
        if method is PLAY:
            return Play(self._view(player))
        if method is START:
            return Start()
        return End(self.result is not None and self.result.scores[player] == 1.0)

    def refusal(self, player: Player, answer: Any) -> str | None:
        """Answers to `start` and `end` are ignored."""
        if self.awaited[player] is not PLAY:
            return None
        move = read_move(self, player, answer)
        return move if isinstance(move, str) else None

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        if self.starting:
            return self._started(answers)
        if self.result is not None:
            self.awaited = _OVER
            return [self.rule(seat, answer, "none") for seat, answer in answers.items() if isinstance(answer, Fault)]
        ((player, answer),) = answers.items()
        if isinstance(answer, Fault):
            return [self._ruling(player, answer)]
        move = read_move(self, player, answer)
        assert isinstance(move, tuple)
        self._act(player, *move)
        return []

    def stop(self, reason: str) -> list[Event]:
        """A draw (assumed: the document knows no end from outside); `end` follows, false for both."""
        self._finish(draw(reason))
        return []

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """As for a process that has ended (11.3): the other player wins, and `end` says so."""
        self._finish(self._walkover(faults))
        return [Ruling(player, fault, "loses", True) for player, fault in faults.items()]

    def _legal(self, player: Player) -> Iterator[Any]:
        """`play`: every valid action once, as `[action, [indices]]`.

        The hero power, minions by hand index, spells by hand index and target, attacks by source and target, the end of
        the turn. `start` and `end`: null.
        """
        if self.awaited[player] is not PLAY:
            yield None
            return
        side, enemies = self.sides[player], self.sides[1 - player].board
        targets = range(len(enemies) + 1)
        if side.mana >= HERO_POWER_COST and not side.power_used:
            yield [HERO_POWER, []]
        if len(side.board) < BOARD_SIZE:
            for index, card in enumerate(side.hand):
                if HEALTH[card] and COST[card] <= side.mana:
                    yield [PLACE_MINION, [index]]
        for index, card in enumerate(side.hand):
            if HEALTH[card] or COST[card] > side.mana:
                continue
            if card in AIMED_SPELLS:
                for target in targets:
                    yield [PLAY_SPELL, [index, target]]
            elif enemies and (card != HOUNDS or len(side.board) < BOARD_SIZE):
                yield [PLAY_SPELL, [index]]
        for index in range(len(side.board)):
            if ready(side.board, index):
                for target in targets:
                    yield [ATTACK, [index + 1, target]]
        yield [END_TURN, []]

    def _full_view(self) -> View:
        return View(self.turn, self.active, (self._owned(0), self._owned(1)), self.standing())

    def copy(self, seed: int | None = None) -> Self:
        """A seed also deals again what the player to move cannot know: the order of its deck, and the rival's hand and
        deck, with burnt cards, which nobody saw. Played cards count as seen. The number of cards stays the same
        everywhere. Outside a turn both hands stay as they are.
        """
        twin = self._twin()
        twin.sides = (twin_of(self.sides[0]), twin_of(self.sides[1]))
        if seed is None:
            twin.dice = self.dice.copy()
            return twin
        twin.dice = Dice(seed)
        for player, side in enumerate(twin.sides):
            _deal_anew(side, twin.dice, hand_too=self._plays(1 - player))
        return twin

    def key(self) -> bytes:
        """JSON."""
        asked = [(player, method.name) for player, method in self.awaited.items()]
        return _encode((self.active, self.sides, self.dice.state, asked, self.result and self.result.scores))

    def __str__(self) -> str:
        """Minions are drawn as attack/health, `*` may attack now; decks top first."""
        return self._drawing(None)

    def shown_to(self, player: Player) -> str:
        """Of the rival's hand and both decks, it shows the number of cards (11.2)."""
        return self._drawing(player)

    def _drawing(self, seen_by: Player | None) -> str:
        lines = [f"turn {self.turn}, {self._situation()}"]
        for player, (side, name) in enumerate(zip(self.sides, self.setup.names, strict=True)):
            power = ", power used" if side.power_used else ""
            fatigue = f", fatigue {side.fatigue}" if side.fatigue else ""
            lines.append(f"{player} {name}: health {side.health}, mana {side.mana}/{side.max_mana}{power}{fatigue}")
            lines.append(f"  board {', '.join(self._drawn(player)) or '-'}")
            hand = _labels(side.hand) if seen_by in (None, player) else f"{len(side.hand)} cards"
            deck = _labels(side.deck) if seen_by is None else f"{len(side.deck)} cards"
            lines += [f"  hand  {hand}", f"  deck  {deck}"]
        return "\n".join(lines)

    # Set-up (section 2) and `start`.

    def _dealt(self, hand: int) -> Side:
        """Returns a side with its deck shuffled and `hand` cards drawn."""
        deck = list(DECK)
        self.dice.shuffle(deck, "deck")
        return Side(deck=tuple(deck[hand:]), hand=tuple(deck[:hand]))

    def _started(self, answers: Mapping[Player, Any]) -> list[Event]:
        """A player at fault loses; if both are, nobody wins (11.3)."""
        faults = {seat: answer for seat, answer in answers.items() if isinstance(answer, Fault)}
        if not faults:
            self._begin_turn(self.options.first)
            return []
        rulings: list[Event] = [self.rule(seat, fault, "loses") for seat, fault in faults.items()]
        self._finish(walkover(2, faults, next(iter(faults.values())).kind.value))
        return rulings

    # A turn (sections 3 and 4).

    def _begin_turn(self, player: Player) -> None:
        self.turn += 1
        self.active = player
        side = self.sides[player]
        side.max_mana = side.mana = min(MAX_MANA, side.max_mana + 1)
        side.power_used = False
        for each in self.sides:
            if each.board:
                each.board = tuple([Placed(m.id, m.damage, m.growth, m.turns_in_play + 1) for m in each.board])
        self._draw_card(side)
        if side.health == 0:
            self._finish(win(1 - player, "fatigue"))
        else:
            self.awaited = _PLAY[player]

    def _draw_card(self, side: Side) -> None:
        if not side.deck:
            side.fatigue += 1
            side.health = max(0, side.health - side.fatigue)
            return
        card = side.deck[0]
        side.deck = side.deck[1:]
        if len(side.hand) < HAND_SIZE:
            side.hand += (card,)
        else:
            side.burnt += (card,)

    # Actions (sections 5 and 6).

    def _act(self, player: Player, action: int, first: int, second: int) -> None:
        side, rival = self.sides[player], self.sides[1 - player]
        if action == END_TURN:
            self._begin_turn(1 - player)
            return
        if action == PLACE_MINION:
            self._take(side, first)
            return
        if action == HERO_POWER:
            side.mana -= HERO_POWER_COST
            side.power_used = True
            hit(rival, 0, HERO_POWER_DAMAGE)
        elif action == PLAY_SPELL:
            self._cast(side, rival, first, second)
        else:
            fight(side, rival, first - 1, second)
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
        if card == DEADLY_SHOT:
            victim = self.dice.below(len(rival.board), "victim")
            replace_minion(rival, victim, destroyed(rival.board[victim]))
        elif card == HOUNDS:
            summon(side, HOUND, len(rival.board))
        elif card == ARCANE_SHOT:
            hit(rival, target, 2)
        elif card == FIREBALL:
            hit(rival, target, 6)
        else:
            hit(rival, target, 5 if side.board else 3)

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
            self._finish(draw("both_heroes_dead") if both else win(player, "hero_dead"))
            return
        for side, gone in zip(self.sides, dead, strict=True):
            for card in gone:
                grow(side)
                if card == HIGHMANE:
                    summon(side, CUB, CUBS)

    def _ruling(self, player: Player, fault: Fault) -> Ruling:
        """A fault in `play` costs the turn, or the game if the process has ended or the time-outs are used up."""
        side = self.sides[player]
        penalty = "turn ends"
        if fault.kind is FaultKind.TIMEOUT:
            side.timeouts += 1
            penalty = f"turn ends, time-out {side.timeouts} of {self.options.timeouts}"
        if fault.fatal or side.timeouts >= self.options.timeouts:
            ruling = self.rule(player, fault, "loses")
            self._finish(win(1 - player, fault.kind.value))
            return ruling
        self._begin_turn(1 - player)
        return self.rule(player, fault, penalty)

    def _finish(self, result: Result) -> None:
        """Calls `end` on every player whose process still runs."""
        self.result, self.awaited = result, {seat: END for seat in (0, 1) if seat not in self.out}

    # Views and drawings (11.1, 11.2).

    def _view(self, player: Player) -> GameState:
        """Follows 11.2, even out of the player's turn."""
        side, rival = self.sides[player], self.sides[1 - player]
        own_turn = self._plays(player)
        return GameState(
            [IN_HAND[card][index] for index, card in enumerate(side.hand)],
            [HEROES[side.health], *minions_shown(side.board, own_turn)],
            [HEROES[rival.health], *minions_shown(rival.board, False)],
            side.health,
            side.health,
            rival.health,
            side.mana,
            rival.mana,
            len(rival.hand),
        )

    @property
    def starting(self) -> bool:
        """Whether both players are still asked to start."""
        return next(iter(self.awaited.values()), None) is START

    def _plays(self, player: Player) -> bool:
        """Returns whether it is this player's turn."""
        return self.awaited.get(player) is PLAY

    def _owned(self, player: Player) -> Owned:
        side = self.sides[player]
        return Owned(
            side.health,
            side.mana,
            side.max_mana,
            side.power_used,
            side.fatigue,
            side.hand,
            side.deck,
            side.burnt,
            minions_shown(side.board, self._plays(player)),
            [minion.attacks for minion in side.board],
            side.timeouts,
        )

    def _situation(self) -> str:
        if self.result is not None:
            outcome = {1.0: "seat 0 wins", 0.0: "seat 1 wins"}.get(self.result.scores[0], "a draw")
            return f"{outcome}, {self.result.reason}"
        return "both to start" if self.starting else f"seat {self.active} to play"

    def _drawn(self, player: Player) -> list[str]:
        minions = minions_shown(self.sides[player].board, self._plays(player))
        return [f"{LABELS[m.id]} {m.atk}/{m.health}{'*' if m.can_attack else ''}" for m in minions]


# Small parts.


def _labels(cards: Sequence[int]) -> str:
    return ", ".join([LABELS[card] for card in cards]) or "-"


def _deal_anew(side: Side, dice: Dice, hand_too: bool) -> None:
    """Deals the hidden cards of a side again. Sorts them first, so that their places do not influence the deal."""
    hand, deck = len(side.hand), len(side.deck)
    hidden = sorted(side.deck + side.burnt + (side.hand if hand_too else ()))
    dice.shuffle(hidden)
    if hand_too:
        side.hand, hidden = tuple(hidden[:hand]), hidden[hand:]
    side.deck, side.burnt = tuple(hidden[:deck]), tuple(hidden[deck:])
