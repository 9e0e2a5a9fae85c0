"""`@trader`: kills the enemy hero if it can, and otherwise takes the action that improves its position most."""

from referee.games.cardgame import COST, END_TURN, CardGame, Side, attack_of
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._cardgame import Answer, lethal
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve

# In points of attack and health: the worth of one mana of a card in the hand, of one health point of the enemy hero,
# and of each minion in addition.
CARD_COST = 0.7
HERO_HEALTH = 0.4
PRESENCE = 0.5


def trade(position: CardGame, player: Player, dice: Dice) -> Answer:
    """Returns the action that gains most, according to the engine; END_TURN if none gains anything."""
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
    """Returns the worth of a position for `player`, in points of attack and health."""
    side, rival = position.sides[player], position.sides[1 - player]
    hand = CARD_COST * sum([COST[card] for card in side.hand])
    return army(side) - army(rival) + hand - HERO_HEALTH * rival.health


def army(side: Side) -> float:
    """Returns the worth of all minions of a side."""
    board = side.board
    return sum([attack_of(board, i) + m.max_health - m.damage + PRESENCE for i, m in enumerate(board)], 0.0)


GAMES: dict[str, Start] = {"cardgame": follow(trade)}


if __name__ == "__main__":
    serve("trader", GAMES)
