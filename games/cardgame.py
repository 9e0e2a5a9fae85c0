"""The card game: a mirror match of two heroes with the same 25 cards. Rules: cardgame.md.

Seat 0 moves first unless the option `first` says otherwise. A player is asked once for every action, with the state as
it then is, until it ends its turn; what it may not see is in no state that it is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy as twin_of
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta, Struct

from games.api import (
    Event,
    Fault,
    FaultKind,
    Game,
    Method,
    Player,
    Result,
    Ruling,
    Setup,
    State,
    TimeControl,
    draw,
    win,
)
from games.dice import Dice
from games.words import said

# Sections 1, 3 and 5: the document's own names and numbers.
HERO_POWER, PLACE_MINION, PLAY_SPELL, ATTACK, END_TURN = range(5)
MOLE, COBRA, DEADLY_SHOT, ARCANE_SHOT, HATCHLING, RHINO, SNAPJAW, TIMBER_WOLF, RAPTOR = range(9)
FIREBALL, ULTRASAUR, SCAVENGER, KILL_COMMAND, HOUNDS, HIGHMANE, ALPHA, HOUND, CUB = range(9, 18)
BOARD_SIZE = 7
HAND_SIZE = 10
START_HEALTH = 30
MAX_MANA = 10
HERO_POWER_COST = 2
HERO_POWER_DAMAGE = 2

# The wire (section 11.1).


class Buff(Struct, frozen=True):
    """One thing that strengthens a minion now."""

    id: Annotated[int, Meta(ge=0, le=17, description="the card that it comes from")]
    atk: Annotated[int, Meta(description="attack that it adds")]
    health: Annotated[int, Meta(description="maximum health that it adds")]
    charge: Annotated[bool, Meta(description="it lets the minion attack in the turn in which it arrives")]


class Minion(Struct, frozen=True, tag_field="type", tag="minion"):
    """A minion in the hand (as printed) or on a board (as it now is)."""

    id: Annotated[int, Meta(ge=0, le=17, description="the card")]
    atk: Annotated[int, Meta(ge=0, description="attack, with growth and auras")]
    health: Annotated[int, Meta(ge=0, description="health left")]
    max_health: Annotated[int, Meta(ge=1, description="health without damage, with growth")]
    damaged: Annotated[bool, Meta(description="it has taken damage")]
    cost: Annotated[int, Meta(ge=0, description="mana that it costs to place")]
    poisonous: Annotated[bool, Meta(description="minions that it damages are destroyed")]
    buffs: Annotated[Sequence[Buff], Meta(description="its own growth first, then the auras that reach it")]
    turns_in_play: Annotated[int, Meta(ge=0, description="turns of either player begun since it arrived")]
    zone_position: Annotated[int, Meta(ge=1, description="its place in the hand or on the board, from 1")]
    cant_attack: Annotated[bool, Meta(description="always false; look at can_attack")]
    powered_up: Annotated[bool, Meta(description="always false")]
    can_attack: Annotated[bool, Meta(description="it may attack now; always false for the opponent's")]


class Spell(Struct, frozen=True, tag_field="type", tag="spell"):
    """A spell in the hand."""

    id: Annotated[int, Meta(ge=0, le=17, description="the card")]
    cost: Annotated[int, Meta(ge=0, description="mana that it costs to play")]
    zone_position: Annotated[int, Meta(ge=1, description="its place in the hand, from 1")]


class Hero(Struct, frozen=True, tag_field="type", tag="hero"):
    """A player's hero: number 0 of the player's targets."""

    id: Annotated[str, Meta(description="always HERO_05")]
    health: Annotated[int, Meta(ge=0, le=30, description="health left")]
    damaged: Annotated[bool, Meta(description="its health is below 30")]
    dead: Annotated[bool, Meta(description="its health is 0")]
    zone_position: Annotated[int, Meta(ge=0, le=0, description="always 0")]


Card = Minion | Spell
Target = Hero | Minion


class GameState(Struct, frozen=True):
    """The state as the player who is asked may see it."""

    player_hand: Annotated[Sequence[Card], Meta(description="the own hand, left to right")]
    player_target: Annotated[Sequence[Target], Meta(description="the own hero, then the own minions, left to right")]
    opponent_target: Annotated[
        Sequence[Target], Meta(description="the enemy hero, then the enemy minions, left to right")
    ]
    hero_health: Annotated[int, Meta(ge=0, le=30, description="of the own hero")]
    player_health: Annotated[int, Meta(ge=0, le=30, description="of the own hero, once more")]
    opponent_health: Annotated[int, Meta(ge=0, le=30, description="of the enemy hero")]
    player_mana: Annotated[int, Meta(ge=0, le=10, description="mana left in this turn")]
    opponent_mana: Annotated[int, Meta(ge=0, le=10, description="mana that the opponent had left after its turn")]
    n_opponent_hand: Annotated[int, Meta(ge=0, le=10, description="number of cards in the opponent's hand")]


class Action(Struct, frozen=True, array_like=True):
    """An answer to `play`."""

    action: Annotated[
        int,
        Meta(
            ge=0, le=4, title="action", description="0 hero power, 1 place minion, 2 play spell, 3 attack, 4 end turn"
        ),
    ]
    arguments: Annotated[
        Annotated[Sequence[int], Meta(max_length=2)] | None,
        Meta(
            title="arguments",
            description="1: [hand index]. 2: [hand index, target index]. 3: [source index in player_target, target "
            "index]. A target index points into opponent_target. Else null",
        ),
    ] = None


class Start(Struct, frozen=True):
    """Parameters of `start`: none."""


class Play(Struct, frozen=True):
    """Parameters of `play`."""

    state: GameState


class End(Struct, frozen=True):
    """Parameters of `end`."""

    victory: Annotated[bool, Meta(description="you have won; false for both in a draw")]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of the card game."""

    first: Annotated[int, Meta(ge=0, le=1, description="the seat that moves first")] = 0
    timeouts: Annotated[int, Meta(ge=1, description="time-outs in `play` with which a player loses")] = 3


class Owned(Struct, frozen=True):
    """All that belongs to one player; cards are ids."""

    health: int
    mana: int
    max_mana: int
    power_used: bool
    fatigue: int
    hand: tuple[int, ...]
    deck: tuple[int, ...]
    """Top first."""
    burnt: tuple[int, ...]
    board: Sequence[Minion]


class View(Struct, frozen=True):
    """Everything, for viewers and records."""

    turn: int
    """1 = the first; 0 = before it."""
    active: Player
    players: tuple[Owned, Owned]


START = Method(
    "start",
    Start,
    type(None),
    "The game begins: set up what you need. The answer is null; whoever fails here loses.",
    accepts=Any,
)
PLAY = Method(
    "play",
    Play,
    Action,
    "One action of your turn. Asked again until you end the turn; an action that is not valid ends it too.",
    rules="cardgame.md, 5",
    accepts=Any,  # what cannot be read is an invalid action, and more can be read than is documented (5.2)
)
END = Method(
    "end",
    End,
    type(None),
    "The game is over. The answer is null; a fault here changes nothing.",
    accepts=Any,
    time_s=2.0,
)
METHODS = {method.name: method for method in (START, PLAY, END)}


class Print(Struct, frozen=True):
    """What stands on a card (1.1)."""

    label: str
    copies: int
    cost: int
    attack: int = 0
    health: int = 0
    """0 = a spell."""


PRINTS = (
    Print("Mole", 2, 1, 1, 3),
    Print("Cobra", 2, 3, 2, 3),
    Print("Deadly Shot", 2, 3),
    Print("Arcane Shot", 1, 2),
    Print("Hatchling", 1, 1, 1, 1),
    Print("Rhino", 1, 5, 2, 5),
    Print("Snapjaw", 2, 4, 2, 7),
    Print("Timber Wolf", 2, 1, 1, 1),
    Print("Raptor", 2, 2, 3, 2),
    Print("Fireball", 1, 4),
    Print("Ultrasaur", 2, 10, 7, 14),
    Print("Scavenger", 1, 2, 2, 2),
    Print("Kill Command", 1, 3),
    Print("Hounds", 1, 3),
    Print("Highmane", 2, 6, 6, 5),
    Print("Alpha", 2, 2, 2, 2),
    Print("Hound", 0, 1, 1, 1),
    Print("Cub", 0, 2, 2, 2),
)
LABELS = tuple([card.label for card in PRINTS])
COST = tuple([card.cost for card in PRINTS])
ATTACKS = tuple([card.attack for card in PRINTS])
HEALTH = tuple([card.health for card in PRINTS])
DECK = tuple([card for card, printed in enumerate(PRINTS) for _ in range(printed.copies)])
AIMED_SPELLS = (ARCANE_SHOT, FIREBALL, KILL_COMMAND)
OPENING_HAND = (3, 4)  # cards of the player who moves first, and of the other
SCAVENGER_ATTACK, SCAVENGER_HEALTH = 2, 1  # that it grows by each time
CUBS = 2

_GROWTH = Buff(SCAVENGER, SCAVENGER_ATTACK, SCAVENGER_HEALTH, False)
_AURAS = {
    TIMBER_WOLF: Buff(TIMBER_WOLF, 1, 0, False),
    ALPHA: Buff(ALPHA, 1, 0, False),
    RHINO: Buff(RHINO, 0, 0, True),
}


def _in_hand(card: int, index: int) -> Card:
    """The card as the wire has it at that place of a hand."""
    cost, health, place = COST[card], HEALTH[card], index + 1
    if not health:
        return Spell(card, cost, place)
    attack, poisonous = ATTACKS[card], card == COBRA
    return Minion(card, attack, health, health, False, cost, poisonous, (), 0, place, False, False, False)


_HAND = tuple([tuple([_in_hand(card, index) for index in range(HAND_SIZE)]) for card in range(len(PRINTS))])
_HEROES = tuple([Hero("HERO_05", health, health < START_HEALTH, health == 0, 0) for health in range(START_HEALTH + 1)])

_START: Mapping[Player, Method] = {0: START, 1: START}
_PLAY: tuple[Mapping[Player, Method], ...] = ({0: PLAY}, {1: PLAY})
_OVER: Mapping[Player, Method] = {}

_GONE = (FaultKind.CRASH, FaultKind.CPU, FaultKind.MEMORY, FaultKind.OUTPUT, FaultKind.PROCESSES)
"""The faults of which no process is left that could answer `end` (11.3)."""

_LISTS = (list, tuple)
_encode = msgspec.json.Encoder().encode

_Move = tuple[int, int, int]
"""An action with its two indices, 0 where it has none."""


class Placed(Struct, frozen=True, array_like=True, gc=False):
    """A minion on a board, inside the engine (1.3). One that is dead leaves with the next deaths."""

    id: int
    damage: int = 0
    growth: int = 0
    turns_in_play: int = 0
    attacks: int = 0

    @property
    def max_health(self) -> int:
        return HEALTH[self.id] + SCAVENGER_HEALTH * self.growth


Board = tuple[Placed, ...]


class Side(Struct, array_like=True):
    """One player's part of the position (1.2)."""

    deck: tuple[int, ...]
    """Top first."""
    hand: tuple[int, ...] = ()
    burnt: tuple[int, ...] = ()
    """Cards that found the hand full."""
    board: Board = ()
    health: int = START_HEALTH
    max_mana: int = 0
    mana: int = 0
    power_used: bool = False
    fatigue: int = 0
    timeouts: int = 0


class CardGame(State):
    """A position."""

    METHODS = METHODS

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.options: Options = setup.options
        self.dice = Dice(setup.seed)
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
        if self.awaited is _START:
            return self._started(answers)
        if self.result is not None:
            self.awaited = _OVER
            return [Ruling(seat, answer, "none") for seat, answer in answers.items() if isinstance(answer, Fault)]
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
        return View(self.turn, self.active, (self._owned(0), self._owned(1)))

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
            _deal_anew(side, twin.dice, hand_too=self.awaited is _PLAY[1 - player])
        return twin

    def key(self) -> bytes:
        """JSON."""
        asked = [(player, method.name) for player, method in self.awaited.items()]
        return _encode((self.active, self.sides, self.dice.state, asked, self.result and self.result.scores))

    def __str__(self) -> str:
        """Minions as attack/health; `*` may attack now. Decks top first."""
        lines = [f"turn {self.turn}, {self._situation()}"]
        for player, (side, name) in enumerate(zip(self.sides, self.setup.names, strict=True)):
            power = ", power used" if side.power_used else ""
            fatigue = f", fatigue {side.fatigue}" if side.fatigue else ""
            lines.append(f"{player} {name}: health {side.health}, mana {side.mana}/{side.max_mana}{power}{fatigue}")
            lines.append(f"  board {', '.join(self._drawn(player)) or '-'}")
            lines.append(f"  hand  {_labels(side.hand)}")
            lines.append(f"  deck  {_labels(side.deck)}")
        return "\n".join(lines)

    # Set-up (section 2) and `start`.

    def _dealt(self, hand: int) -> Side:
        """A side with its deck shuffled and `hand` cards drawn."""
        deck = list(DECK)
        self.dice.shuffle(deck)
        return Side(deck=tuple(deck[hand:]), hand=tuple(deck[:hand]))

    def _started(self, answers: Mapping[Player, Any]) -> list[Event]:
        """Whoever failed has lost; if both did, nobody has won (11.3)."""
        faults = {seat: answer for seat, answer in answers.items() if isinstance(answer, Fault)}
        if not faults:
            self._begin_turn(self.options.first)
            return []
        if len(faults) == 2:
            result = draw("no_winner")
        else:
            ((loser, fault),) = faults.items()
            result = win(1 - loser, fault.kind.value)
        self._finish(result, gone=[seat for seat, fault in faults.items() if fault.kind in _GONE])
        return [Ruling(seat, fault, "loses", out=fault.kind in _GONE) for seat, fault in faults.items()]

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
            return f"the answer is {said(answer)}; wanted [action, [arguments]]"
        action = answer[0]
        if type(action) is not int or not HERO_POWER <= action <= END_TURN:
            return (
                f"the action is {said(action)}; "
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
            return f"the hand index is {said(index)}; wanted an integer"
        if not 0 <= index < len(side.hand):
            return f"the hand index is {said(index)}; {_range_words(len(side.hand), 'your hand')}"
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
            return f"the arguments are {said(arguments)}; wanted [source index, target index]"
        source, target = arguments[0], arguments[1]
        side = self.sides[player]
        if type(source) is not int:
            return f"the source index is {said(source)}; wanted an integer"
        if source == 0:
            return "source index 0 is your hero, who cannot attack"
        if not 1 <= source <= len(side.board):
            return f"the source index is {said(source)}; {_range_words(len(side.board), 'your board', 1)}"
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
            _hit(rival, 0, HERO_POWER_DAMAGE)
        elif action == PLAY_SPELL:
            self._cast(side, rival, first, second)
        else:
            _fight(side, rival, first - 1, second)
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
            victim = self.dice.below(len(rival.board))
            _replace(rival, victim, _destroyed(rival.board[victim]))
        elif card == HOUNDS:
            _summon(side, HOUND, len(rival.board))
        elif card == ARCANE_SHOT:
            _hit(rival, target, 2)
        elif card == FIREBALL:
            _hit(rival, target, 6)
        else:
            _hit(rival, target, 5 if side.board else 3)

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
                _grow(side)
                if card == HIGHMANE:
                    _summon(side, CUB, CUBS)

    def _ruling(self, player: Player, fault: Fault) -> Ruling:
        """What a fault in `play` costs: the turn, or the game when nobody is left to play on."""
        side = self.sides[player]
        penalty = "turn ends"
        if fault.kind is FaultKind.TIMEOUT:
            side.timeouts += 1
            penalty = f"turn ends, time-out {side.timeouts} of {self.options.timeouts}"
        out = fault.kind in _GONE
        if out or side.timeouts >= self.options.timeouts:
            self._finish(win(1 - player, fault.kind.value), gone=[player] if out else [])
            return Ruling(player, fault, "loses", out)
        self._begin_turn(1 - player)
        return Ruling(player, fault, penalty)

    def _finish(self, result: Result, gone: Sequence[Player] = ()) -> None:
        """`end` is called on everybody whose process is still there."""
        self.result, self.awaited = result, {seat: END for seat in (0, 1) if seat not in gone}

    # What is shown (11.1, 11.2).

    def _shown(self, player: Player) -> GameState:
        side, rival = self.sides[player], self.sides[1 - player]
        own_turn = self.awaited is _PLAY[player]
        return GameState(
            [_HAND[card][index] for index, card in enumerate(side.hand)],
            [_HEROES[side.health], *_minions(side.board, own_turn)],
            [_HEROES[rival.health], *_minions(rival.board, False)],
            side.health,
            side.health,
            rival.health,
            side.mana,
            rival.mana,
            len(rival.hand),
        )

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
            _minions(side.board, self.awaited is _PLAY[player]),
        )

    def _situation(self) -> str:
        if self.result is not None:
            outcome = {1.0: "seat 0 wins", 0.0: "seat 1 wins"}.get(self.result.scores[0], "a draw")
            return f"{outcome}, {self.result.reason}"
        return "both to start" if self.awaited is _START else f"seat {self.active} to play"

    def _drawn(self, player: Player) -> list[str]:
        minions = _minions(self.sides[player].board, self.awaited is _PLAY[player])
        return [f"{LABELS[m.id]} {m.atk}/{m.health}{'*' if m.can_attack else ''}" for m in minions]


# Boards (1.3 and section 6).


def attack_of(board: Board, index: int) -> int:
    """The attack of a minion, with its growth and the auras that reach it."""
    minion = board[index]
    attack = ATTACKS[minion.id] + SCAVENGER_ATTACK * minion.growth
    for place, other in enumerate(board):
        if other.id == TIMBER_WOLF:
            attack += place != index
        elif other.id == ALPHA:
            attack += abs(place - index) == 1
    return attack


def ready(board: Board, index: int) -> bool:
    """Whether a minion may attack, if it is its owner's turn."""
    minion = board[index]
    if minion.attacks:
        return False
    return minion.turns_in_play > 0 or minion.id == HOUND or any([other.id == RHINO for other in board])


def _fight(side: Side, rival: Side, index: int, target: int) -> None:
    """Combat (6.1): both attacks are read before any damage. `target` 0 is the enemy hero."""
    attacker, attack = side.board[index], attack_of(side.board, index)
    defender, defence = (rival.board[target - 1], attack_of(rival.board, target - 1)) if target else (None, 0)
    _hit(rival, target, attack)
    damage = attacker.damage + defence
    tired = Placed(attacker.id, damage, attacker.growth, attacker.turns_in_play, attacker.attacks + 1)
    _replace(side, index, tired)
    if defender is None:
        return
    if attacker.id == COBRA:
        _replace(rival, target - 1, _destroyed(defender))
    if defender.id == COBRA:
        _replace(side, index, _destroyed(tired))


def _hit(rival: Side, target: int, damage: int) -> None:
    """Damage to the enemy hero (`target` 0) or to a minion."""
    if target == 0:
        rival.health = max(0, rival.health - damage)
        return
    m = rival.board[target - 1]
    _replace(rival, target - 1, Placed(m.id, m.damage + damage, m.growth, m.turns_in_play, m.attacks))


def _destroyed(minion: Placed) -> Placed:
    """The minion without health: it dies with the next deaths, and nothing can save it."""
    m = minion
    return Placed(m.id, m.max_health, m.growth, m.turns_in_play, m.attacks)


def _grow(side: Side) -> None:
    """Another minion of this side has died (6.7)."""
    for index, m in enumerate(side.board):
        if m.id == SCAVENGER:
            _replace(side, index, Placed(m.id, m.damage, m.growth + 1, m.turns_in_play, m.attacks))


def _summon(side: Side, card: int, count: int) -> None:
    """Up to `count` tokens, as many as there is room for, at the right end."""
    side.board += (Placed(card),) * min(count, BOARD_SIZE - len(side.board))


def _replace(side: Side, index: int, minion: Placed) -> None:
    side.board = (*side.board[:index], minion, *side.board[index + 1 :])


def _minions(board: Board, own_turn: bool) -> list[Minion]:
    """The minions as the wire has them."""
    auras = [m.id in _AURAS for m in board]
    bare = True not in auras
    shown = []
    for index, m in enumerate(board):
        card, max_health = m.id, m.max_health
        shown.append(
            Minion(
                card,
                ATTACKS[card] + SCAVENGER_ATTACK * m.growth if bare else attack_of(board, index),
                max_health - m.damage,
                max_health,
                m.damage > 0,
                COST[card],
                card == COBRA,
                (_GROWTH,) * m.growth if bare else _buffs(board, index),
                m.turns_in_play,
                index + 1,
                False,
                False,
                own_turn and ready(board, index),
            )
        )
    return shown


def _buffs(board: Board, index: int) -> list[Buff]:
    """The own growth, then the auras from left to right."""
    buffs = [_GROWTH] * board[index].growth
    for place, other in enumerate(board):
        card = other.id
        reached = place != index if card == TIMBER_WOLF else abs(place - index) == 1 if card == ALPHA else card == RHINO
        if reached:
            buffs.append(_AURAS[card])
    return buffs


# Small parts.


def _target_misfit(target: Any, enemies: int) -> str | None:
    if type(target) is not int:
        return f"the target index is {said(target)}; wanted an integer"
    if 0 <= target <= enemies:
        return None
    return f"the target index is {said(target)}; wanted 0..{enemies}, 0 is the enemy hero"


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


def from_view(view: GameState, player: Player, power_used: bool = False, seed: int = 0) -> CardGame:
    """The position that a bot in seat `player` was shown when it was asked, so that it can look ahead in its turn.

    What a view does not hold is assumed: hand and deck of the rival and the own deck are dealt with `seed` from all
    cards that are not in sight, those that were played long ago among them; crystals are the mana that is shown, and
    nobody had fatigue or time-outs. Whether the hero power was used in this turn the bot has to remember.
    """
    position = CardGame(Setup(seed, ("0", "1"), Options()))
    position.turn, position.active, position.awaited = 1, player, _PLAY[player]
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


def _board(targets: Sequence[Target], own: bool) -> Board:
    minions = [target for target in targets if isinstance(target, Minion)]
    return tuple([_seen(minion, own) for minion in minions])


def _seen(minion: Minion, own: bool) -> Placed:
    """An own minion that may not attack although it need not wait has attacked."""
    charge = minion.id == HOUND or any([buff.charge for buff in minion.buffs])
    attacks = int(own and not minion.can_attack and (minion.turns_in_play > 0 or charge))
    growth = sum([buff.id == SCAVENGER for buff in minion.buffs])
    return Placed(minion.id, minion.max_health - minion.health, growth, minion.turns_in_play, attacks)


def _unseen(hand: Sequence[int], board: Board, dice: Dice) -> tuple[int, ...]:
    """The 25 cards without those of a hand and a board, in random order."""
    cards = list(DECK)
    for card in (*hand, *[minion.id for minion in board]):
        if card in cards:  # tokens are not
            cards.remove(card)
    dice.shuffle(cards)
    return tuple(cards)


GAME = Game(
    name="cardgame",
    title="Card game",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=1.0),  # assumed: the document leaves the limit to the harness (section 12, row 29)
    new=CardGame,
    fresh=True,  # section 10
)
