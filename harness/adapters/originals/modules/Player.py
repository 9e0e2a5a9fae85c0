"""What every agent derives from (reantics.md, 11.2)."""

from Constants import *


class Player:
    """An agent that does nothing."""

    def __init__(self, inputPlayerId, inputAuthor):
        self.playerId = inputPlayerId
        self.author = inputAuthor

    def getPlacement(self, currentState):
        """The tiles of the set-up."""

    def getMove(self, currentState):
        """One move."""

    def getAttack(self, currentState, attackingAnt, enemyLocations):
        """One of `enemyLocations`."""

    def registerWin(self, hasWon):
        """The game is over."""
