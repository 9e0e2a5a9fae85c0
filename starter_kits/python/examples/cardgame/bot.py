"""Kills the enemy hero when it can; else it does what gains most, counted in minions, while anything gains. Spends its
mana before it attacks: auras and charge help at once."""

from collections.abc import Iterator

from referee_kit.cardgame import (
    BOARD_SIZE,
    HERO_POWER_COST,
    HERO_POWER_DAMAGE,
    Action,
    ActionType,
    Card,
    CardGameBot,
    CardId,
    GameState,
    Minion,
    run,
)

# Points: what one of a minion's attack or health, its existence, one of the enemy hero's health, and a card in the
# hand for each mana that it costs are worth.
STRENGTH, EXISTENCE, HERO_HEALTH, MANA = 10, 5, 4, 7
CUB_WORTH = 4 * STRENGTH + EXISTENCE
HOUND_WORTH = 2 * STRENGTH + EXISTENCE

Choice = tuple[int, Action]
"""An action with its gain in points."""


class Trader(CardGameBot):
    def __init__(self) -> None:
        self.power_used = False  # in this turn; the state does not tell

    def play(self, state: GameState) -> Action:
        turn = Turn(state, self.power_used)
        action = turn.lethal() or turn.best()
        self.power_used = action.action == ActionType.HERO_POWER or (
            self.power_used and action.action != ActionType.END_TURN
        )
        return action


class Turn:
    """What can be done now."""

    def __init__(self, state: GameState, power_used: bool) -> None:
        self.mana = state.player_mana
        self.has_power = not power_used and self.mana >= HERO_POWER_COST
        self.hero_health = state.opponent_health
        self.hand = state.player_hand
        self.own = [target for target in state.player_target if isinstance(target, Minion)]
        self.enemies = [target for target in state.opponent_target if isinstance(target, Minion)]

    def lethal(self) -> Action | None:
        """The next step of a turn that kills for certain: what costs mana first, then all attacks."""
        attackers = [minion for minion in self.own if minion.can_attack]
        missing = self.hero_health - sum(minion.atk for minion in attackers)
        if missing <= 0:
            return Action(ActionType.ATTACK, [attackers[0].zone_position, 0])
        burn = list(self.burn())
        for chosen in range(1, 1 << len(burn)):  # a bit for each
            parts = [part for bit, part in enumerate(burn) if chosen >> bit & 1]
            if sum(cost for cost, _, _ in parts) <= self.mana and sum(damage for _, damage, _ in parts) >= missing:
                return parts[0][2]
        return None

    def burn(self) -> Iterator[tuple[int, int, Action]]:
        """What hurts the enemy hero for mana: cost, damage, action."""
        if self.has_power:
            yield HERO_POWER_COST, HERO_POWER_DAMAGE, Action(ActionType.HERO_POWER)
        for index, card in enumerate(self.hand):
            if self.damage(card):
                yield card.cost, self.damage(card), Action(ActionType.PLAY_SPELL, [index, 0])

    def best(self) -> Action:
        """What gains most, the first of several."""
        for choices in (self.purchases(), self.attacks()):
            gain, action = max(choices, key=lambda choice: choice[0], default=(0, Action(ActionType.END_TURN)))
            if gain > 0:
                return action
        return Action(ActionType.END_TURN)

    def purchases(self) -> Iterator[Choice]:
        """All that the mana buys."""
        if self.has_power:
            yield HERO_POWER_DAMAGE * HERO_HEALTH, Action(ActionType.HERO_POWER)
        room = BOARD_SIZE - len(self.own)
        for index, card in enumerate(self.hand):
            price = MANA * card.cost
            if card.cost > self.mana:
                continue
            if isinstance(card, Minion):
                if room:
                    yield worth(card) - price, Action(ActionType.PLACE_MINION, [index])
            elif self.damage(card):
                for target, enemy in enumerate(self.enemies, 1):
                    yield hurt(enemy, self.damage(card)) - price, Action(ActionType.PLAY_SPELL, [index, target])
            elif card.id == CardId.DEADLY_SHOT and self.enemies:  # it kills any of them
                yield sum(map(loss, self.enemies)) // len(self.enemies) - price, Action(ActionType.PLAY_SPELL, [index])
            elif card.id == CardId.HOUNDS and self.enemies and room:
                yield min(len(self.enemies), room) * HOUND_WORTH - price, Action(ActionType.PLAY_SPELL, [index])

    def attacks(self) -> Iterator[Choice]:
        for source, minion in enumerate(self.own, 1):
            if minion.can_attack:
                yield minion.atk * HERO_HEALTH, Action(ActionType.ATTACK, [source, 0])
                for target, enemy in enumerate(self.enemies, 1):
                    yield struck(enemy, minion) - struck(minion, enemy), Action(ActionType.ATTACK, [source, target])

    def damage(self, card: Card) -> int:
        """The card's damage to one target; 0 for another kind of card."""
        if card.id == CardId.KILL_COMMAND:
            return 5 if self.own else 3
        return {CardId.ARCANE_SHOT: 2, CardId.FIREBALL: 6}.get(card.id, 0)


def worth(minion: Minion) -> int:
    return STRENGTH * (minion.atk + minion.health) + EXISTENCE


def loss(minion: Minion) -> int:
    """The loss of its owner when it dies: a Highmane leaves two cubs."""
    return worth(minion) - (2 * CUB_WORTH if minion.id == CardId.HIGHMANE else 0)


def hurt(minion: Minion, damage: int) -> int:
    """The loss of its owner by this damage."""
    return loss(minion) if damage >= minion.health else STRENGTH * damage


def struck(minion: Minion, by: Minion) -> int:
    """The loss of its owner in a fight."""
    return loss(minion) if by.poisonous else hurt(minion, by.atk)


if __name__ == "__main__":
    run(Trader)
