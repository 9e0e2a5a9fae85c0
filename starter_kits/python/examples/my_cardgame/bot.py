"""A bot to fill in. It plays random legal actions as it stands; make it win. The kit seeds `random`: the same match
gives the same luck."""

import random
from collections.abc import Iterator

from referee_kit.cardgame import (
    BOARD_SIZE,
    HERO_POWER_COST,
    Action,
    ActionType,
    CardGameBot,
    CardId,
    GameState,
    Minion,
    run,
)


class MyBot(CardGameBot):
    def __init__(self) -> None:
        self.power_used = False  # in this turn; the state does not tell

    def play(self, state: GameState) -> Action:
        action = random.choice(list(self.legal(state)))
        self.power_used = action.action == ActionType.HERO_POWER or (
            self.power_used and action.action != ActionType.END_TURN
        )
        return action

    def legal(self, state: GameState) -> Iterator[Action]:
        """All that may be done now. Target 0 is the enemy hero, 1 the first enemy minion."""
        own, enemies = len(state.player_target) - 1, len(state.opponent_target) - 1  # without the heroes
        yield Action(ActionType.END_TURN)
        if state.player_mana >= HERO_POWER_COST and not self.power_used:
            yield Action(ActionType.HERO_POWER)
        for index, card in enumerate(state.player_hand):
            if card.cost > state.player_mana:
                continue
            if isinstance(card, Minion):
                if own < BOARD_SIZE:
                    yield Action(ActionType.PLACE_MINION, [index])
            elif card.id in (CardId.ARCANE_SHOT, CardId.FIREBALL, CardId.KILL_COMMAND):
                for target in range(enemies + 1):
                    yield Action(ActionType.PLAY_SPELL, [index, target])
            elif enemies and (card.id != CardId.HOUNDS or own < BOARD_SIZE):
                yield Action(ActionType.PLAY_SPELL, [index])
        for source, minion in enumerate(state.player_target):
            if isinstance(minion, Minion) and minion.can_attack:
                for target in range(enemies + 1):
                    yield Action(ActionType.ATTACK, [source, target])


if __name__ == "__main__":
    run(MyBot)
