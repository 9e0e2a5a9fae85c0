"""What the opponents share at the card game: every call shows the state, but not whether the own power was used."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import msgspec

from referee.games.cardgame import (
    ARCANE_SHOT,
    ATTACK,
    COST,
    END_TURN,
    FIREBALL,
    HERO_POWER,
    HERO_POWER_COST,
    HERO_POWER_DAMAGE,
    KILL_COMMAND,
    METHODS,
    PLAY_SPELL,
    CardGame,
    GameState,
    attack_of,
    from_view,
    ready,
)
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._serve import Handler, UnknownMethod
from referee.protocol.messages import Initialize

Answer = list[Any]

Choose = Callable[[CardGame, Player, Dice], Answer]
"""Takes the position as far as it is known, the own seat and the own luck; gives the answer."""


def follow(match: Initialize, choose: Choose) -> Handler:
    """Plays a game by the states that are shown, and remembers the hero power from one to the next."""
    dice = Dice(match.seed)
    power_used = False

    def handle(method: str, params: dict[str, Any]) -> Any:
        nonlocal power_used
        if method not in METHODS:
            raise UnknownMethod(method)
        if method != "play":
            return None
        view = msgspec.convert(params["state"], GameState)
        answer = choose(from_view(view, match.seat, power_used, dice.bits()), match.seat, dice)
        power_used = answer[0] == HERO_POWER or (power_used and answer[0] != END_TURN)
        return answer

    return handle


def lethal(position: CardGame, player: Player) -> Answer | None:
    """The next action of a turn that kills the enemy hero for certain; None if there is no such turn.

    Counts the attacks of all minions that are ready, and of the spells and the power what the mana allows.
    """
    side, rival = position.sides[player], position.sides[1 - player]
    attackers = [index for index in range(len(side.board)) if ready(side.board, index)]
    missing = rival.health - sum([attack_of(side.board, index) for index in attackers])
    burn = list(_burn(position, player))
    for count in range(len(burn) + 1):
        for chosen in combinations(burn, count):
            cost, damage = sum([cost for cost, _, _ in chosen]), sum([damage for _, damage, _ in chosen])
            if cost <= side.mana and damage >= missing:
                return chosen[0][2] if chosen else [ATTACK, [attackers[0] + 1, 0]]
    return None


def _burn(position: CardGame, player: Player) -> Iterator[tuple[int, int, Answer]]:
    """What damages the enemy hero for mana: cost, damage, action."""
    side = position.sides[player]
    if not side.power_used:
        yield HERO_POWER_COST, HERO_POWER_DAMAGE, [HERO_POWER, []]
    damage = {ARCANE_SHOT: 2, FIREBALL: 6, KILL_COMMAND: 5 if side.board else 3}
    for index, card in enumerate(side.hand):
        if card in damage:
            yield COST[card], damage[card], [PLAY_SPELL, [index, 0]]
