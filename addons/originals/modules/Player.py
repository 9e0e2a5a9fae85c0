"""The base class of every agent (reantics.md, 11.2)."""

from Constants import *


class Player:
    """An agent that does nothing."""

    def __init__(self, inputPlayerId, inputAuthor):
        self.playerId = inputPlayerId
        self.author = inputAuthor

    def getPlacement(self, currentState):
        """Returns the tiles for the set-up."""

    def getMove(self, currentState):
        """Returns one move."""

    def getAttack(self, currentState, attackingAnt, enemyLocations):
        """Returns one of `enemyLocations`."""

    def registerWin(self, hasWon):
        """Hears the result of the game."""
