"""Grass and food, which belong to no player (reantics.md, 4 and 11.2)."""

from _names import kit_name
from Constants import *
from referee_kit.ants import CONSTR_STATS


class Construction:
    """Grass or food."""

    movement_cost = kit_name("movementCost")

    def __init__(self, inputCoordinates, inputType):
        self.coords = inputCoordinates
        self.type = inputType
        self.movementCost = CONSTR_STATS[inputType][MOVE_COST]

    def clone(self):
        """Returns a copy."""
        copied = Construction.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied
