"""Cards, minions on a board and how they fight: cardgame.md, sections 1 and 6."""

from msgspec import Struct

from referee.games.cardgame.types import (
    ALPHA,
    ARCANE_SHOT,
    BOARD_SIZE,
    COBRA,
    FIREBALL,
    HAND_SIZE,
    HOUND,
    KILL_COMMAND,
    RHINO,
    SCAVENGER,
    START_HEALTH,
    TIMBER_WOLF,
    Buff,
    Card,
    Hero,
    Minion,
    Spell,
)


class Print(Struct, frozen=True):
    """The text of a card (1.1)."""

    label: str
    copies: int
    cost: int
    attack: int = 0
    health: int = 0
    """0 = a spell."""
    effect: str = ""
    """Its effect, for people."""

    @property
    def words(self) -> str:
        """Returns everything but its name, for people."""
        strength = [f"{self.attack}/{self.health}"] if self.health else []
        return ", ".join([f"{self.cost} mana", *strength, *([self.effect] if self.effect else [])])


PRINTS = (
    Print("Mole", 2, 1, 1, 3),
    Print("Cobra", 2, 3, 2, 3, effect="poisonous"),
    Print("Deadly Shot", 2, 3, effect="destroys one enemy minion, chosen at random"),
    Print("Arcane Shot", 1, 2, effect="2 damage to one enemy target"),
    Print("Hatchling", 1, 1, 1, 1),
    Print("Rhino", 1, 5, 2, 5, effect="aura: your minions may attack in the turn they arrive"),
    Print("Snapjaw", 2, 4, 2, 7),
    Print("Timber Wolf", 2, 1, 1, 1, effect="aura: your other minions have +1 attack"),
    Print("Raptor", 2, 2, 3, 2),
    Print("Fireball", 1, 4, effect="6 damage to one enemy target"),
    Print("Ultrasaur", 2, 10, 7, 14),
    Print("Scavenger", 1, 2, 2, 2, effect="+2 attack and +1 health whenever another of your minions dies"),
    Print("Kill Command", 1, 3, effect="3 damage to one enemy target; 5 if you have at least one minion on the board"),
    Print("Hounds", 1, 3, effect="summons a 1/1 hound with charge per enemy minion"),
    Print("Highmane", 2, 6, 6, 5, effect="when it dies: summons two 2/2 tokens"),
    Print("Alpha", 2, 2, 2, 2, effect="aura: adjacent minions have +1 attack"),
    Print("Hound", 0, 1, 1, 1, effect="charge: may attack at once"),
    Print("Cub", 0, 2, 2, 2),
)
LABELS = tuple([card.label for card in PRINTS])
COST = tuple([card.cost for card in PRINTS])
ATTACKS = tuple([card.attack for card in PRINTS])
HEALTH = tuple([card.health for card in PRINTS])
DECK = tuple([card for card, printed in enumerate(PRINTS) for _ in range(printed.copies)])
AIMED_SPELLS = (ARCANE_SHOT, FIREBALL, KILL_COMMAND)
OPENING_HAND = (3, 4)  # cards of the first player, and of the other
SCAVENGER_ATTACK, SCAVENGER_HEALTH = 2, 1  # gained whenever another minion of its side dies
CUBS = 2

_GROWTH = Buff(SCAVENGER, SCAVENGER_ATTACK, SCAVENGER_HEALTH, False)
_AURAS = {
    TIMBER_WOLF: Buff(TIMBER_WOLF, 1, 0, False),
    ALPHA: Buff(ALPHA, 1, 0, False),
    RHINO: Buff(RHINO, 0, 0, True),
}


def _in_hand(card: int, index: int) -> Card:
    """Returns the card as sent to a bot, at that place of a hand."""
    cost, health, place = COST[card], HEALTH[card], index + 1
    if not health:
        return Spell(card, cost, place)
    attack, poisonous = ATTACKS[card], card == COBRA
    return Minion(card, attack, health, health, False, cost, poisonous, (), 0, place, False, False, False)


IN_HAND = tuple([tuple([_in_hand(card, index) for index in range(HAND_SIZE)]) for card in range(len(PRINTS))])
HEROES = tuple([Hero("HERO_05", health, health < START_HEALTH, health == 0, 0) for health in range(START_HEALTH + 1)])


class Placed(Struct, frozen=True, array_like=True, gc=False):
    """A minion on a board inside the engine (1.3). A dead one leaves with the next deaths."""

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
    """Cards drawn to a full hand."""
    board: Board = ()
    health: int = START_HEALTH
    max_mana: int = 0
    mana: int = 0
    power_used: bool = False
    fatigue: int = 0
    timeouts: int = 0


# Boards (1.3 and section 6).


def attack_of(board: Board, index: int) -> int:
    """Returns the attack of a minion with its growth and auras."""
    minion = board[index]
    attack = ATTACKS[minion.id] + SCAVENGER_ATTACK * minion.growth
    for place, other in enumerate(board):
        if other.id == TIMBER_WOLF:
            attack += place != index
        elif other.id == ALPHA:
            attack += abs(place - index) == 1
    return attack


def ready(board: Board, index: int) -> bool:
    """Returns whether a minion may attack in its owner's turn."""
    minion = board[index]
    if minion.attacks:
        return False
    return minion.turns_in_play > 0 or minion.id == HOUND or any([other.id == RHINO for other in board])


def fight(side: Side, rival: Side, index: int, target: int) -> None:
    """Plays a combat (6.1). Both attacks are read before any damage. `target` 0 is the enemy hero."""
    attacker, attack = side.board[index], attack_of(side.board, index)
    defender, defence = (rival.board[target - 1], attack_of(rival.board, target - 1)) if target else (None, 0)
    hit(rival, target, attack)
    damage = attacker.damage + defence
    tired = Placed(attacker.id, damage, attacker.growth, attacker.turns_in_play, attacker.attacks + 1)
    replace_minion(side, index, tired)
    if defender is None:
        return
    if attacker.id == COBRA:
        replace_minion(rival, target - 1, destroyed(defender))
    if defender.id == COBRA:
        replace_minion(side, index, destroyed(tired))


def hit(rival: Side, target: int, damage: int) -> None:
    """Damages the enemy hero (`target` 0) or a minion."""
    if target == 0:
        rival.health = max(0, rival.health - damage)
        return
    m = rival.board[target - 1]
    replace_minion(rival, target - 1, Placed(m.id, m.damage + damage, m.growth, m.turns_in_play, m.attacks))


def destroyed(minion: Placed) -> Placed:
    """Returns the minion without health. It dies with the next deaths."""
    m = minion
    return Placed(m.id, m.max_health, m.growth, m.turns_in_play, m.attacks)


def grow(side: Side) -> None:
    """Strengthens a side's scavengers after a death (6.7)."""
    for index, m in enumerate(side.board):
        if m.id == SCAVENGER:
            replace_minion(side, index, Placed(m.id, m.damage, m.growth + 1, m.turns_in_play, m.attacks))


def summon(side: Side, card: int, count: int) -> None:
    """Adds up to `count` tokens at the right end, as far as there is room."""
    side.board += (Placed(card),) * min(count, BOARD_SIZE - len(side.board))


def replace_minion(side: Side, index: int, minion: Placed) -> None:
    side.board = (*side.board[:index], minion, *side.board[index + 1 :])


def minions_shown(board: Board, own_turn: bool) -> list[Minion]:
    """Returns the minions as sent to a bot."""
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
    """Returns the minion's own growth, then the auras from left to right."""
    buffs = [_GROWTH] * board[index].growth
    for place, other in enumerate(board):
        card = other.id
        reached = place != index if card == TIMBER_WOLF else abs(place - index) == 1 if card == ALPHA else card == RHINO
        if reached:
            buffs.append(_AURAS[card])
    return buffs
