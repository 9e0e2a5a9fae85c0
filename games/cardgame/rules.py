"""The rules of the card game in the order of cardgame.md: set-up, turns, actions, deaths, the end.

Seat 0 moves first unless the option `first` says otherwise. A player is asked once for every action, with the state as
it then is, until it ends its turn; what it may not see is in no state that it is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy as twin_of
from typing import Any, Self

import msgspec

from referee.games.brief_text import in_brief
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
    Action,
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

_LISTS = (list, tuple)


_Move = tuple[int, int, int]
"""An action with its two indices, 0 where it has none."""


class CardGame(State):
    """A position."""

    METHODS = METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.options: Options = setup.options
        self.turn = 0
        self.active: Player = self.options.first
        """Whose turn it is; before the first turn, who will have it."""
        self.result: Result | None = None
        self.awaited = _START
        sides = [self._dealt(count) for count in OPENING_HAND]
        self.sides = (sides[0], sides[1]) if self.active == 0 else (sides[1], sides[0])

    def params(self, player: Player) -> Start | Play | End:
        method = self.awaited[player]
        if method is PLAY:
            return Play(self._shown(player))
        if method is START:
            return Start()
        return End(self.result is not None and self.result.scores[player] == 1.0)

    def refusal(self, player: Player, answer: Any) -> str | None:
        """What the answers to `start` and `end` hold is ignored."""
        if self.awaited[player] is not PLAY:
            return None
        move = self._move(player, answer)
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
        move = self._move(player, answer)
        assert isinstance(move, tuple)
        self._act(player, *move)
        return []

    def stop(self, reason: str) -> list[Event]:
        """A draw (assumed: the document knows no end from outside); `end` follows, false for both."""
        self._finish(draw(reason))
        return []

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """As a process that is gone (11.3): who is left wins, and is told so by `end`."""
        self._finish(self._walkover(faults))
        return [Ruling(player, fault, "loses", True) for player, fault in faults.items()]

    def legal(self, player: Player) -> Iterator[Any]:
        """`play`: every valid action once, in its shortest full form `[action, [indices]]`: the hero power, minions by
        hand index, spells by hand index and target, attacks by source and target, the end of the turn. `start` and
        `end`: null.
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

    def view(self, player: Player | None) -> GameState | View:
        """What a player may see (11.2), also while it is not its turn; None: a `View`."""
        if player is not None:
            return self._shown(player)
        return View(self.turn, self.active, (self._owned(0), self._owned(1)), self.standing())

    def copy(self, seed: int | None = None) -> Self:
        """A seed replaces all luck still to come, and what the player who is asked to `play` cannot know is dealt anew:
        the order of its deck, and which of the rival's cards are in its hand and which in its deck. A burnt card was
        seen by nobody and goes back into that deal. Cards that were played count as seen. The number of cards stays
        everywhere. Outside a turn both hands stay.
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
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
        """Minions as attack/health; `*` may attack now. Decks top first."""
        return self._drawing(None)

    def shown_to(self, player: Player) -> str:
        """Without the rival's hand and both decks, of which there are numbers (11.2)."""
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
        """A side with its deck shuffled and `hand` cards drawn."""
        deck = list(DECK)
        self.dice.shuffle(deck, "deck")
        return Side(deck=tuple(deck[hand:]), hand=tuple(deck[:hand]))

    def _started(self, answers: Mapping[Player, Any]) -> list[Event]:
        """Whoever failed has lost; if both did, nobody has won (11.3)."""
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

    # What an answer means (5, 5.1, 5.2).

    def _move(self, player: Player, answer: Any) -> _Move | str:
        """The valid action that `answer` names; else why it is none."""
        if isinstance(answer, Action):
            answer = (answer.action, answer.arguments)
        if not isinstance(answer, _LISTS) or not answer:
            return f"the answer is {in_brief(answer)}; wanted [action, [arguments]]"
        action = answer[0]
        if type(action) is not int or not HERO_POWER <= action <= END_TURN:
            return (
                f"the action is {in_brief(action)}; "
                "wanted 0 hero power, 1 place minion, 2 play spell, 3 attack or 4 end turn"
            )
        if action == END_TURN:
            return (END_TURN, 0, 0)
        if action == HERO_POWER:
            return self._power_move(player)
        arguments = answer[1] if len(answer) > 1 else None
        if action == ATTACK:
            return self._attack_move(player, arguments)
        return self._card_move(player, action, arguments)

    def _power_move(self, player: Player) -> _Move | str:
        side = self.sides[player]
        if side.power_used:
            return "the hero power was used in this turn"
        if side.mana < HERO_POWER_COST:
            return f"the hero power costs {HERO_POWER_COST} mana; you have {side.mana}"
        return (HERO_POWER, 0, 0)

    def _card_move(self, player: Player, action: int, arguments: Any) -> _Move | str:
        side = self.sides[player]
        listed = isinstance(arguments, _LISTS)
        index = arguments if not listed else arguments[0] if arguments else None
        if type(index) is not int:
            return f"the hand index is {in_brief(index)}; wanted an integer"
        if not 0 <= index < len(side.hand):
            return f"the hand index is {in_brief(index)}; {_range_words(len(side.hand), 'your hand')}"
        card = side.hand[index]
        label = LABELS[card]
        if action == PLACE_MINION and not HEALTH[card]:
            return f"card {index} of your hand is {label}, a spell; action 1 places minions"
        if action == PLAY_SPELL and HEALTH[card]:
            return f"card {index} of your hand is {label}, a minion; action 2 plays spells"
        if COST[card] > side.mana:
            return f"{label} costs {COST[card]} mana; you have {side.mana}"
        if (action == PLACE_MINION or card == HOUNDS) and len(side.board) >= BOARD_SIZE:
            return f"no room for {label}: your board is full"
        if action == PLACE_MINION:
            return (PLACE_MINION, index, 0)
        enemies = len(self.sides[1 - player].board)
        if card not in AIMED_SPELLS:
            return (PLAY_SPELL, index, 0) if enemies else f"{label} needs an enemy minion; there is none"
        if not listed or len(arguments) < 2:
            return f"{label} needs a target index; wanted [hand index, target index]"
        return _target_misfit(arguments[1], enemies) or (PLAY_SPELL, index, arguments[1])

    def _attack_move(self, player: Player, arguments: Any) -> _Move | str:
        if not isinstance(arguments, _LISTS) or len(arguments) < 2:
            return f"the arguments are {in_brief(arguments)}; wanted [source index, target index]"
        source, target = arguments[0], arguments[1]
        side = self.sides[player]
        if type(source) is not int:
            return f"the source index is {in_brief(source)}; wanted an integer"
        if source == 0:
            return "source index 0 is your hero, who cannot attack"
        if not 1 <= source <= len(side.board):
            return f"the source index is {in_brief(source)}; {_range_words(len(side.board), 'your board', 1)}"
        if not ready(side.board, source - 1):
            minion = side.board[source - 1]
            why = "has attacked in this turn" if minion.attacks else "has to wait for your next turn"
            return f"your minion {source}, {LABELS[minion.id]}, {why}"
        return _target_misfit(target, len(self.sides[1 - player].board)) or (ATTACK, source, target)

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
        """Pays for a card of the hand; a minion arrives on the board. Returns the card."""
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
        """All that died in this action of `player` leaves together; then the triggers, unless a hero died."""
        dead: list[list[int]] = []
        for side in self.sides:
            gone = [m.id for m in side.board if m.damage >= m.max_health]
            if gone:
                side.board = tuple([m for m in side.board if m.damage < m.max_health])
            dead.append(gone)
        if self.sides[1 - player].health == 0:
            both = self.sides[player].health == 0  # cannot come about: all damage hits one hero only
            self._finish(draw("both_heroes_dead") if both else win(player, "hero_dead"))
            return
        for side, gone in zip(self.sides, dead, strict=True):
            for card in gone:
                grow(side)
                if card == HIGHMANE:
                    summon(side, CUB, CUBS)

    def _ruling(self, player: Player, fault: Fault) -> Ruling:
        """What a fault in `play` costs: the turn, or the game when nobody is left to play on."""
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
        """`end` is called on everybody whose process is still there."""
        self.result, self.awaited = result, {seat: END for seat in (0, 1) if seat not in self.out}

    # What is shown (11.1, 11.2).

    def _shown(self, player: Player) -> GameState:
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
        """The game has not begun: everybody is asked to start."""
        return next(iter(self.awaited.values()), None) is START

    def _plays(self, player: Player) -> bool:
        """It is this player's turn."""
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


def _target_misfit(target: Any, enemies: int) -> str | None:
    if type(target) is not int:
        return f"the target index is {in_brief(target)}; wanted an integer"
    if 0 <= target <= enemies:
        return None
    return f"the target index is {in_brief(target)}; wanted 0..{enemies}, 0 is the enemy hero"


def _range_words(count: int, place: str, first: int = 0) -> str:
    return f"wanted {first}..{first + count - 1}" if count else f"{place} is empty"


def _labels(cards: Sequence[int]) -> str:
    return ", ".join([LABELS[card] for card in cards]) or "-"


def _deal_anew(side: Side, dice: Dice, hand_too: bool) -> None:
    """Deals the hidden cards of a side again. Sorted first: only which they are may count, not where they lie."""
    hand, deck = len(side.hand), len(side.deck)
    hidden = sorted(side.deck + side.burnt + (side.hand if hand_too else ()))
    dice.shuffle(hidden)
    if hand_too:
        side.hand, hidden = tuple(hidden[:hand]), hidden[hand:]
    side.deck, side.burnt = tuple(hidden[:deck]), tuple(hidden[deck:])
