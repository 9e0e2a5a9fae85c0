"""`@trader`: kills when it can; else it takes the action after which the boards stand best for it, while one helps."""

from referee.games.cardgame import COST, END_TURN, CardGame, Side, attack_of
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._cardgame import Answer, follow, lethal
from referee.harness.opponents._serve import Start, serve

# Measured in attack and health of minions: what one mana's worth of a card in the hand, a point of the enemy hero's
# health, and the mere presence of a minion count.
CARD_COST = 0.7
HERO_HEALTH = 0.4
PRESENCE = 0.5


def trade(position: CardGame, player: Player, dice: Dice) -> Answer:
    """The action that gains most, by the engine's own reckoning of what it does."""
    if (answer := lethal(position, player)) is not None:
        return answer
    best, best_worth = [END_TURN, []], worth(position, player)
    for answer in position.legal(player):
        if answer[0] == END_TURN:
            continue
        after = position.copy()
        after.apply({player: answer})
        if (gained := worth(after, player)) > best_worth:
            best, best_worth = answer, gained
    return best


def worth(position: CardGame, player: Player) -> float:
    """How good a position is for `player`, in attack and health of minions."""
    side, rival = position.sides[player], position.sides[1 - player]
    hand = CARD_COST * sum([COST[card] for card in side.hand])
    return army(side) - army(rival) + hand - HERO_HEALTH * rival.health


def army(side: Side) -> float:
    """Attack with auras, and health, of all minions of a side."""
    board = side.board
    return sum([attack_of(board, i) + m.max_health - m.damage + PRESENCE for i, m in enumerate(board)], 0.0)


GAMES: dict[str, Start] = {"cardgame": lambda match: follow(match, trade)}


if __name__ == "__main__":
    serve("trader", GAMES)
