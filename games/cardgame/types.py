"""The documented names, numbers and shapes of the card game: cardgame.md, sections 1, 3, 5 and 11.1."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from referee.games.contract import Method, Player, Standing
from referee.games.game import choice

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
ActionType = Annotated[
    int, Meta(extra_json_schema=choice(globals(), "HERO_POWER PLACE_MINION PLAY_SPELL ATTACK END_TURN"))
]
CardId = Annotated[
    int,
    Meta(
        extra_json_schema=choice(
            globals(),
            "MOLE COBRA DEADLY_SHOT ARCANE_SHOT HATCHLING RHINO SNAPJAW TIMBER_WOLF RAPTOR FIREBALL ULTRASAUR "
            "SCAVENGER KILL_COMMAND HOUNDS HIGHMANE ALPHA HOUND CUB",
        )
    ),
]


class Buff(Struct, frozen=True):
    """An effect that strengthens a minion now."""

    id: Annotated[CardId, Meta(ge=0, le=17, description="the card that causes it")]
    atk: Annotated[int, Meta(description="attack that it adds")]
    health: Annotated[int, Meta(description="maximum health that it adds")]
    charge: Annotated[bool, Meta(description="it lets the minion attack in the turn in which it arrives")]


class Minion(Struct, frozen=True, tag_field="type", tag="minion"):
    """A minion in the hand (as printed) or on a board (as it now is)."""

    id: Annotated[CardId, Meta(ge=0, le=17, description="the card")]
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

    id: Annotated[CardId, Meta(ge=0, le=17, description="the card")]
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
    """The state as the player to move may see it."""

    player_hand: Annotated[Sequence[Card], Meta(description="your hand, left to right")]
    player_target: Annotated[Sequence[Target], Meta(description="your hero, then your minions, left to right")]
    opponent_target: Annotated[
        Sequence[Target], Meta(description="the enemy hero, then the enemy minions, left to right")
    ]
    hero_health: Annotated[int, Meta(ge=0, le=30, description="of your hero")]
    player_health: Annotated[int, Meta(ge=0, le=30, description="of your hero, again")]
    opponent_health: Annotated[int, Meta(ge=0, le=30, description="of the enemy hero")]
    player_mana: Annotated[int, Meta(ge=0, le=10, description="mana left in this turn")]
    opponent_mana: Annotated[int, Meta(ge=0, le=10, description="mana that the opponent had left after its turn")]
    n_opponent_hand: Annotated[int, Meta(ge=0, le=10, description="number of cards in the opponent's hand")]


class Action(Struct, frozen=True, array_like=True):
    """An answer to `play`."""

    action: Annotated[
        ActionType,
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
    timeouts: Annotated[int, Meta(ge=1, description="the number of time-outs in `play` that loses the game")] = 3


class Owned(Struct, frozen=True):
    """Everything that belongs to one player. Cards are ids."""

    health: Annotated[int, Meta(description="the hero's health, 0 to 30")]
    mana: Annotated[int, Meta(description="the mana left in this turn, or at the end of its last one")]
    max_mana: Annotated[int, Meta(description="crystals, 0 to 10; a turn adds one and fills the mana (section 1.2)")]
    power_used: Annotated[bool, Meta(description="whether it has used the hero power in this turn")]
    fatigue: Annotated[int, Meta(description="turns begun with an empty deck; the last cost as much health")]
    hand: Annotated[tuple[int, ...], Meta(description="left to right, 10 at most")]
    deck: Annotated[tuple[int, ...], Meta(description="top first")]
    burnt: Annotated[tuple[int, ...], Meta(description="drawn to a full hand and destroyed, in order (section 4)")]
    board: Annotated[Sequence[Minion], Meta(description="left to right, 7 at most")]
    attacks: Annotated[Sequence[int], Meta(description="the attacks of each of those minions in this turn")]
    timeouts: Annotated[int, Meta(description="calls of `play` not answered in time (section 11.3)")]


class View(Struct, frozen=True):
    """Everything, for viewers and replays."""

    turn: Annotated[int, Meta(description="1 = the first; 0 = before it")]
    active: Annotated[Player, Meta(description="the seat whose turn it is")]
    players: Annotated[tuple[Owned, Owned], Meta(description="by seat")]
    standing: Standing


START = Method(
    "start",
    Start,
    type(None),
    "The game begins: set up what you need. The answer is null; a player who fails here loses.",
    accepts=Any,
    rules="cardgame.md, 2",
)
PLAY = Method(
    "play",
    Play,
    Action,
    "One action of your turn. The referee asks again until you end the turn. An invalid action ends it too.",
    rules="cardgame.md, 5",
    accepts=Any,  # an unreadable answer is an invalid action, and more forms are accepted than documented (5.2)
)
END = Method(
    "end",
    End,
    type(None),
    "The game is over. The answer is null; a fault here changes nothing.",
    accepts=Any,
    time_s=2.0,
    rules="cardgame.md, 8",
)
METHODS = {method.name: method for method in (START, PLAY, END)}
