"""Ants (reantics.md, 4 and 11.2)."""

import itertools as _itertools

from _names import kit_name
from Constants import *
from referee_kit.ants import UNIT_STATS

_numbers = _itertools.count(1 << 30)  # far above the ids on the wire


class Ant:
    """One ant."""

    has_moved = kit_name("hasMoved")

    def __init__(self, inputCoordinates, inputType, inputPlayer):
        self.coords = inputCoordinates
        self.type = inputType
        self.hasMoved = False
        self.carrying = False
        self.player = inputPlayer
        self.health = UNIT_STATS[inputType][HEALTH]
        self.UniqueID = next(_numbers)

    def clone(self):
        """Returns a copy with the same UniqueID."""
        copied = Ant.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied
