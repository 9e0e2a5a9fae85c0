"""A tile of the board (reantics.md, 11.2)."""


class Location:
    """A tile, with at most one ant and one construction."""

    def __init__(self, inputCoordinates):
        self.ant = None
        self.constr = None
        self.coords = inputCoordinates

    def getMoveCost(self):
        """Returns the cost of a step onto this tile."""
        return 1 if self.constr is None else self.constr.movementCost

    def clone(self):
        """Returns a copy, with copies of the ant and the construction."""
        copied = Location(self.coords)
        copied.ant = None if self.ant is None else self.ant.clone()
        copied.constr = None if self.constr is None else self.constr.clone()
        return copied
