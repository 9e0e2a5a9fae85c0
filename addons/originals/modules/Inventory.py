"""The possessions of a player (reantics.md, 11.2)."""

from _names import kit_name
from Constants import *


class Inventory:
    """The ants, constructions and food of a player, or of no player."""

    food_count = kit_name("foodCount")

    def __init__(self, inputPlayer, inputAnts, inputConstrs, inputFoodCount):
        self.player = inputPlayer
        self.ants = inputAnts
        self.constrs = inputConstrs
        self.foodCount = inputFoodCount

    def getQueen(self):
        """Returns the first queen, or None."""
        return next((ant for ant in self.ants or () if ant.type == QUEEN), None)

    def getAnthill(self):
        """Returns the first anthill, or None."""
        return next((constr for constr in self.constrs or () if constr.type == ANTHILL), None)

    def getTunnels(self):
        """Returns all tunnels."""
        return [constr for constr in self.constrs or () if constr.type == TUNNEL]

    def clone(self):
        """Returns a copy that shares the lists."""
        return Inventory(self.player, self.ants, self.constrs, self.foodCount)
