"""The search for a turn that kills the enemy hero, for the opponents of the card game."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from referee.games import cardgame
from referee.games.contract import Player

Answer = list[Any]


def lethal(position: cardgame.CardGame, player: Player) -> Answer | None:
    """Returns the next action of a turn that certainly kills the enemy hero; None if there is no such turn.

    Counts the attacks of all ready minions, and the spells and the hero power that the mana allows.
    """
    side, rival = position.sides[player], position.sides[1 - player]
    attackers = [index for index in range(len(side.board)) if cardgame.ready(side.board, index)]
    missing = rival.health - sum([cardgame.attack_of(side.board, index) for index in attackers])
    burn = list(_burn(position, player))
    for count in range(len(burn) + 1):
        for chosen in combinations(burn, count):
            cost, damage = sum([cost for cost, _, _ in chosen]), sum([damage for _, damage, _ in chosen])
            if cost <= side.mana and damage >= missing:
                return chosen[0][2] if chosen else [cardgame.ATTACK, [attackers[0] + 1, 0]]
    return None


def _burn(position: cardgame.CardGame, player: Player) -> Iterator[tuple[int, int, Answer]]:
    """Yields the cost, the damage and the action of everything that damages the enemy hero for mana."""
    side = position.sides[player]
    if not side.power_used:
        yield cardgame.HERO_POWER_COST, cardgame.HERO_POWER_DAMAGE, [cardgame.HERO_POWER, []]
    damage = {cardgame.ARCANE_SHOT: 2, cardgame.FIREBALL: 6, cardgame.KILL_COMMAND: 5 if side.board else 3}
    for index, card in enumerate(side.hand):
        if card in damage:
            yield cardgame.COST[card], damage[card], [cardgame.PLAY_SPELL, [index, 0]]
