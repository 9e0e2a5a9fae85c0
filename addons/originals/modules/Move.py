"""Moves (reantics.md, 11.2)."""

from _names import kit_name
from Constants import *


class Move:
    """A move of an ant, a build or the end of a turn. Agents parse its text, which is exactly the original's."""

    move_type = kit_name("moveType")
    coord_list = kit_name("coordList")
    build_type = kit_name("buildType")

    def __init__(self, inputMoveType, inputCoordList=None, inputBuildType=None):
        self.moveType = inputMoveType
        self.coordList = inputCoordList
        self.buildType = inputBuildType

    def __str__(self):
        built = buildTypeToStr(self.buildType) if self.moveType == BUILD else ""
        coords = "" if self.coordList is None else str(self.coordList)
        return f"<Move: {moveTypeToStr(self.moveType)} {built} {coords}>"
