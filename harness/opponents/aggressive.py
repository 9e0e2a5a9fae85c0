"""`@aggressive`: spends all mana, and directs all damage at the enemy hero."""

from referee.games.cardgame import ATTACK, COST, END_TURN, HERO_POWER, PLACE_MINION, PLAY_SPELL, CardGame
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._cardgame import Answer, lethal
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve


def charge(position: CardGame, player: Player, dice: Dice) -> Answer:
    """Plays the most expensive minion first, since auras and charge help at once; then spells, attacks, hero power."""
    if (answer := lethal(position, player)) is not None:
        return answer
    hand = position.sides[player].hand
    # Actions without a target, or with the enemy hero as the target.
    answers: list[Answer] = [answer for answer in position.legal(player) if answer[1][1:] in ([], [0])]
    placed = [answer for answer in answers if answer[0] == PLACE_MINION]
    if placed:
        return max(placed, key=lambda answer: COST[hand[answer[1][0]]])
    for action in (PLAY_SPELL, ATTACK, HERO_POWER):
        for answer in answers:
            if answer[0] == action:
                return answer
    return [END_TURN, []]


GAMES: dict[str, Start] = {"cardgame": follow(charge)}


if __name__ == "__main__":
    serve("aggressive", GAMES)
